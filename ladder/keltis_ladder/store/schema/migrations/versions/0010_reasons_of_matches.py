"""Why a match is played is a code, and its details stand beside it.

Until now it was a sentence, and pages looked for known sentences to say it in another language.
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

FIXED = {
    "close and uncertain": "close",
    "new version": "new-version",
    "has waited longest": "waited",
    "have not met for long": "not-met",
    "a challenge": "challenge",
}
FIRST = re.compile(r"first match of (?P<variant>\S+)")
SHARE = re.compile(r"the share of (?P<variant>\S+) with (?P<players>\d+) players")
CHALLENGE = re.compile(r"a challenge by (?P<author>.+)")
TOURNAMENT = re.compile(r"(?P<tournament>.*): (?P<label>.*)")

JOB = sa.table(
    "job",
    sa.column("reason", sa.String()),
    sa.column("reason_details", sa.JSON()),
    sa.column("tournament_id", sa.Integer()),
)


def upgrade() -> None:
    """Take the step."""
    op.add_column("job", sa.Column("reason_details", sa.JSON(), nullable=True))
    connection = op.get_bind()
    of_tournament = JOB.c.tournament_id.is_not(None)
    said = sa.select(JOB.c.reason, of_tournament).where(JOB.c.reason != "").distinct()
    for text, is_leg in connection.execute(said).all():
        code, details = _reason(text, bool(is_leg))
        values: dict[str, Any] = {"reason": code}
        if details:
            values["reason_details"] = details
        here = of_tournament if is_leg else ~of_tournament
        connection.execute(sa.update(JOB).where(JOB.c.reason == text, here).values(values))


def _reason(text: str, is_leg: bool) -> tuple[str, dict[str, Any]]:
    """Return what a sentence said; what no release ever wrote says nothing."""
    if is_leg:
        found = TOURNAMENT.fullmatch(text)
        return ("tournament", found.groupdict()) if found else ("", {})
    if text in FIXED:
        return FIXED[text], {}
    if found := FIRST.fullmatch(text):
        return "first-of-variant", found.groupdict()
    if found := SHARE.fullmatch(text):
        return "share", {"variant": found["variant"], "players": int(found["players"])}
    if found := CHALLENGE.fullmatch(text):
        return "challenge", found.groupdict()
    return "", {}


def downgrade() -> None:
    """Take it back; the sentences are gone."""
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_column("reason_details")

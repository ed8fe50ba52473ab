"""What a table of a tournament is called is a code, and its parameters stand beside it.

Until now the reason of a tournament's match had it in English. It is read here for the last time.
"""

from __future__ import annotations

import re

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

MANY = 500  # rows in one statement
FIXED = {
    "Final": "final",
    "Third place": "third-place",
    "Winners' final": "winners-final",
    "Losers' final": "losers-final",
    "Grand final": "grand-final",
    "Grand final, again": "grand-final-again",
}
ROUND = re.compile(r"(?P<name>Round|Round of|Winners' round|Losers' round) (\d+)(?:, table (\d+))?")
ROUNDS = {
    "Round": "round",
    "Round of": "round-of",
    "Winners' round": "winners-round",
    "Losers' round": "losers-round",
}
LAST = re.compile(r"(?P<name>Quarter-final|Semi-final)(?: (\d+))?")

JOB = sa.table(
    "job",
    sa.column("id", sa.String()),
    sa.column("reason", sa.String()),
    sa.column("reason_details", sa.JSON()),
)


def upgrade() -> None:
    """Take the step."""
    connection = op.get_bind()
    legs = sa.select(JOB.c.id, JOB.c.reason_details).where(JOB.c.reason == "tournament")
    rows = [{"job": id, **_reason(details or {})} for id, details in connection.execute(legs).all()]
    change = (
        sa.update(JOB)
        .where(JOB.c.id == sa.bindparam("job"))
        .values(reason=sa.bindparam("why"), reason_details=sa.bindparam("details"))
    )
    for first in range(0, len(rows), MANY):
        connection.execute(change, rows[first : first + MANY])


def _reason(details: dict[str, str | int]) -> dict[str, object]:
    """Return the reason of a match with these details; what no release wrote says nothing."""
    label = _label(str(details.get("label", "")))
    if label is None or "tournament" not in details:
        return {"why": "", "details": None}
    return {"why": "tournament", "details": {"tournament": details["tournament"], **label}}


def _label(text: str) -> dict[str, str | int] | None:
    """Return the code of a label with its parameters."""
    if text in FIXED:
        return {"label": FIXED[text]}
    if found := LAST.fullmatch(text):
        table = {} if found[2] is None else {"table": int(found[2])}
        return {"label": found["name"].lower(), **table}
    if found := ROUND.fullmatch(text):
        table = {} if found[3] is None else {"table": int(found[3])}
        return {"label": ROUNDS[found["name"]], "number": int(found[2]), **table}
    return None


def downgrade() -> None:
    """Take it back; the sentences are gone."""
    op.execute(
        sa.update(JOB).where(JOB.c.reason == "tournament").values(reason="", reason_details=None)
    )

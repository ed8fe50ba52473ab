"""Why a version is in its state is a code with parameters, and who was removed is marked so.

Until now both were sentences, and sentences were compared. They are read here for the last time.
"""

from __future__ import annotations

import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

GONE = "removed with its author"
REMOVED = "removed-"
NO_PROGRAM = " cannot be made ready: "
NEWER_UPLOADED = re.compile(r"version (\d+) was uploaded")
NEWER_PLAYS = re.compile(r"version (\d+) plays(?: now)?")
FAULTS = re.compile(r"faults in (\d+) of its last (\d+) (rated )?matches")
OFF = {"bot-disabled": "the bot is disabled: ", "author-disabled": "its author is disabled: "}

VERSION = sa.table(
    "version",
    sa.column("id", sa.Integer()),
    sa.column("state", sa.String()),
    sa.column("archive_digest", sa.String()),
    sa.column("reason", sa.Text()),
    sa.column("cause", sa.String()),
    sa.column("details", sa.JSON()),
)


def upgrade() -> None:
    """Take the step."""
    for table in ("author", "bot"):
        op.add_column(
            table, sa.Column("removed", sa.Boolean(), server_default=sa.false(), nullable=False)
        )
    connection = op.get_bind()
    connection.execute(
        sa.text("UPDATE author SET removed = true WHERE disabled AND name LIKE :name"),
        {"name": f"{REMOVED}%"},
    )
    connection.execute(
        sa.text("UPDATE bot SET removed = true WHERE disabled = :gone"), {"gone": GONE}
    )
    op.add_column("version", sa.Column("cause", sa.String(), nullable=True))
    op.add_column("version", sa.Column("details", sa.JSON(), nullable=True))
    columns = (VERSION.c.id, VERSION.c.state, VERSION.c.archive_digest, VERSION.c.reason)
    for id, state, archive, reason in connection.execute(sa.select(*columns)).all():
        cause, details = _cause(state, archive is not None, reason)
        connection.execute(
            sa.update(VERSION).where(VERSION.c.id == id).values(cause=cause, details=details)
        )
    with op.batch_alter_table("version", schema=None) as batch_op:
        batch_op.alter_column("cause", existing_type=sa.String(), nullable=False)
        batch_op.alter_column("details", existing_type=sa.JSON(), nullable=False)
        batch_op.drop_column("reason")


def _cause(state: str, uploaded: bool, reason: str) -> tuple[str, dict[str, Any]]:
    """Return what a state and its reason say."""
    words = {"text": reason} if reason not in ("", GONE) else {}
    match state:
        case "checking":
            return "uploaded", {}
        case "active":
            return ("passed" if uploaded else "entered"), {}
        case "unchecked":
            return "not-checked", {}
        case "superseded":
            if found := NEWER_UPLOADED.fullmatch(reason):
                return "newer-uploaded", {"version": int(found[1])}
            found = NEWER_PLAYS.fullmatch(reason)
            return "newer-plays", {"version": int(found[1])} if found else {}
        case "broken":
            if found := FAULTS.fullmatch(reason):
                faults, matches, rated = found.groups()
                counts = {"faults": int(faults), "matches": int(matches), "rated": bool(rated)}
                return "faults", counts
            return ("unprepared" if NO_PROGRAM in reason else "failed"), words
    if reason == GONE:
        return "author-removed", {}
    for cause, prefix in OFF.items():
        if reason.startswith(prefix):
            return cause, {"text": reason.removeprefix(prefix)}
    return "taken-back", words


def downgrade() -> None:
    """Take it back; the sentences are gone."""
    op.add_column(
        "version", sa.Column("reason", sa.Text(), server_default=sa.text("''"), nullable=False)
    )
    with op.batch_alter_table("version", schema=None) as batch_op:
        batch_op.alter_column("reason", existing_type=sa.Text(), server_default=None)
        batch_op.drop_column("details")
        batch_op.drop_column("cause")
    for table in ("bot", "author"):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.drop_column("removed")

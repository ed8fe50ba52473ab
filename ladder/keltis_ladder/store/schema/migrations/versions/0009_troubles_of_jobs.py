"""What went wrong with a job is a code, and what more there is to say of it stands beside it.

Until now it was a sentence. The known ones are read here for the last time; all others were what
the platform or a build had to say.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

FIXED = {
    "the process that played it has ended": "holder-gone",
    "its leases ended": "leases-ended",
    "a bot in it was taken off the ladder": "called-off",
}
NO_PROGRAM = " cannot be made ready: "

JOB = sa.table(
    "job",
    sa.column("trouble", sa.Text()),
    sa.column("trouble_details", sa.JSON()),
)


def upgrade() -> None:
    """Take the step."""
    op.add_column("job", sa.Column("trouble_details", sa.JSON(), nullable=True))
    connection = op.get_bind()
    said = sa.select(JOB.c.trouble).where(JOB.c.trouble != "").distinct()
    for text in connection.execute(said).scalars().all():
        if code := FIXED.get(text):
            values: dict[str, Any] = {"trouble": code}
        else:
            trouble = "unprepared" if NO_PROGRAM in text else "platform"
            values = {"trouble": trouble, "trouble_details": {"text": text}}
        connection.execute(sa.update(JOB).where(JOB.c.trouble == text).values(values))


def downgrade() -> None:
    """Take it back; the sentences are gone."""
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_column("trouble_details")

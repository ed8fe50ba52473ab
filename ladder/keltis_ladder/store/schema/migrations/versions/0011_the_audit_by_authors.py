"""The audit of later games keeps apart what the matches against each author say.

What was counted before is counted again, from the results, by the next server. Alarms stay.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "audit_author",
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("spread", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["author_id"], ["author.id"], name=op.f("fk_audit_author_author_id_author")
        ),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_audit_author_bot_id_bot")),
        sa.PrimaryKeyConstraint("bot_id", "variant", "author_id", name=op.f("pk_audit_author")),
    )
    op.execute("UPDATE audit_bot SET matches = 0, total = 0, spread = 0 WHERE test = 'later'")
    op.execute("UPDATE audit_pair SET matches = 0, total = 0, spread = 0")
    op.execute("DELETE FROM audit_strength")
    op.execute("UPDATE audit_mark SET done = begin")


def downgrade() -> None:
    """Take it back."""
    op.drop_table("audit_author")

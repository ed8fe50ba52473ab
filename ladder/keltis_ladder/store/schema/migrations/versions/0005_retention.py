"""How far old steps, replays and crash cards were removed, and checkpoints of the ratings."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

COLUMNS = ("steps_pruned", "replays_pruned", "cards_pruned")


def upgrade() -> None:
    """Take the step."""
    for column in COLUMNS:
        op.add_column("ledger", sa.Column(column, sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "rating_checkpoint",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("rating_model", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("book", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_rating_checkpoint")),
    )


def downgrade() -> None:
    """Take it back."""
    op.drop_table("rating_checkpoint")
    with op.batch_alter_table("ledger", schema=None) as batch_op:
        for column in reversed(COLUMNS):
            batch_op.drop_column(column)

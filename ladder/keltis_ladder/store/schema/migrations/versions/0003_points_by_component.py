"""What the points of a place were made of; of matches before this step nobody knows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

COLUMNS = ("part0", "part1", "part2")


def upgrade() -> None:
    """Take the step."""
    # Added one by one, not in a batch: the largest table need not be made anew for this.
    for column in COLUMNS:
        op.add_column("place", sa.Column(column, sa.Integer(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("place", schema=None) as batch_op:
        for column in reversed(COLUMNS):
            batch_op.drop_column(column)

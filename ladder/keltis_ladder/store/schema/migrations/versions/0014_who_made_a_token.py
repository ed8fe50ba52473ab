"""Which token a token was made by: it does not outlive that one.

Nobody knows it of those that there are: they end by themselves, as they always did.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

NAME = "fk_token_made_by_token"


def upgrade() -> None:
    """Take the step."""
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.add_column(sa.Column("made_by", sa.Integer(), nullable=True))
        batch_op.create_foreign_key(batch_op.f(NAME), "token", ["made_by"], ["id"])


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f(NAME), type_="foreignkey")
        batch_op.drop_column("made_by")

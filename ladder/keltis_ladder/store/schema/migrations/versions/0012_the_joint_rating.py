"""Margins of duels, and the joint rating that is fitted to them.

Margins come from stored games, and are worked out after this step, with the ratings: until then the
ledger says that there are none.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

NUMBERS = (
    ("ledger", "joint_model", sa.Integer()),
    ("rating_checkpoint", "joint_model", sa.Integer()),
    ("duel", "margin", sa.BigInteger()),
)
FIGURES = ("share", "low", "high", "own", "others", "before")


def upgrade() -> None:
    """Take the step."""
    for table, name, kind in NUMBERS:
        op.add_column(table, sa.Column(name, kind, server_default="0", nullable=False))
    op.create_table(
        "joint_mark",
        *_scope(),
        sa.Column("as_of", sa.Integer(), nullable=False),
        sa.Column("joint_model", sa.Integer(), nullable=False),
        sa.Column("serial", sa.Integer(), nullable=False),
        sa.Column("field", sa.JSON(), nullable=False),
        sa.Column("published", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("variant", "players", name=op.f("pk_joint_mark")),
    )
    op.create_table(
        "joint_rating",
        _version(),
        *_scope(),
        sa.Column("rating", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=False) for name in FIGURES),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_joint_rating_version_id_version")
        ),
        sa.PrimaryKeyConstraint("version_id", "variant", "players", name=op.f("pk_joint_rating")),
    )
    op.create_index(
        op.f("ix_joint_rating_variant_players_rating"),
        "joint_rating",
        ["variant", "players", "rating"],
    )
    op.create_table(
        "joint_history",
        _version(),
        *_scope(),
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("rating", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_joint_history_version_id_version")
        ),
        sa.ForeignKeyConstraint(
            ["match_number"], ["match.number"], name=op.f("fk_joint_history_match_number_match")
        ),
        sa.PrimaryKeyConstraint(
            "version_id", "variant", "players", "match_number", name=op.f("pk_joint_history")
        ),
    )
    op.create_index(op.f("ix_joint_history_match_number"), "joint_history", ["match_number"])


def _version() -> sa.Column[int]:
    return sa.Column("version_id", sa.Integer(), nullable=False)


def _scope() -> tuple[sa.Column[str], sa.Column[int]]:
    return (
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
    )


def downgrade() -> None:
    """Take it back."""
    for table in ("joint_history", "joint_rating", "joint_mark"):
        op.drop_table(table)
    for table, name, _ in reversed(NUMBERS):
        with op.batch_alter_table(table, schema=None) as batch_op:
            batch_op.drop_column(name)

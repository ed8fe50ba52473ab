"""The audit: evidence about bots and pairs, and how far it has come."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "audit_mark",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("begin", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_mark")),
    )
    op.create_table(
        "audit_bot",
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("test", sa.String(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("spread", sa.BigInteger(), nullable=False),
        sa.Column("alarm", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_audit_bot_bot_id_bot")),
        sa.PrimaryKeyConstraint("bot_id", "variant", "test", name=op.f("pk_audit_bot")),
    )
    op.create_table(
        "audit_pair",
        sa.Column("one_id", sa.Integer(), nullable=False),
        sa.Column("other_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("spread", sa.BigInteger(), nullable=False),
        sa.Column("alarm", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["one_id"], ["bot.id"], name=op.f("fk_audit_pair_one_id_bot")),
        sa.ForeignKeyConstraint(["other_id"], ["bot.id"], name=op.f("fk_audit_pair_other_id_bot")),
        sa.PrimaryKeyConstraint("one_id", "other_id", name=op.f("pk_audit_pair")),
    )
    op.create_index(op.f("ix_audit_pair_other_id"), "audit_pair", ["other_id"], unique=False)
    op.create_table(
        "audit_strength",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_audit_strength_version_id_version")
        ),
        sa.PrimaryKeyConstraint("version_id", "variant", "players", name=op.f("pk_audit_strength")),
    )
    op.create_table(
        "foresight",
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("look", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("spread", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match_number"], ["match.number"], name=op.f("fk_foresight_match_number_match")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_foresight_version_id_version")
        ),
        sa.PrimaryKeyConstraint("match_number", "position", name=op.f("pk_foresight")),
    )
    op.create_index(op.f("ix_foresight_version_id"), "foresight", ["version_id"], unique=False)
    # Until now the matchmaker's favourite had the first seat of the first game: the audit begins
    # with the matches that come.
    op.execute(
        "INSERT INTO audit_mark (id, begin, done) "
        "SELECT 1, coalesce(max(matches), 0), coalesce(max(matches), 0) FROM ledger"
    )


def downgrade() -> None:
    """Take it back."""
    for table in ("foresight", "audit_strength", "audit_pair", "audit_bot", "audit_mark"):
        op.drop_table(table)

"""Accounts and submissions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "invitation",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires", sa.DateTime(timezone=True), nullable=True),
        sa.Column("used", sa.DateTime(timezone=True), nullable=True),
        sa.Column("author_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["author_id"], ["author.id"], name=op.f("fk_invitation_author_id_author")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitation")),
        sa.UniqueConstraint("digest", name=op.f("uq_invitation_digest")),
    )
    op.create_table(
        "check_report",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_check_report_version_id_version")
        ),
        sa.PrimaryKeyConstraint("version_id", name=op.f("pk_check_report")),
    )
    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.add_column(sa.Column("disabled", sa.Text(), nullable=True))

    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.add_column(sa.Column("author_id", sa.Integer(), nullable=True))
        batch_op.create_foreign_key(
            batch_op.f("fk_job_author_id_author"), "author", ["author_id"], ["id"]
        )
        batch_op.create_index(
            batch_op.f("ix_job_purpose"),
            ["purpose"],
            unique=False,
            sqlite_where=sa.text("purpose <> 'ladder'"),
            postgresql_where=sa.text("purpose <> 'ladder'"),
        )

    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.add_column(sa.Column("expires", sa.DateTime(timezone=True), nullable=True))

    with op.batch_alter_table("tournament", schema=None) as batch_op:
        batch_op.add_column(sa.Column("author_id", sa.Integer(), nullable=True))
        batch_op.create_foreign_key(
            batch_op.f("fk_tournament_author_id_author"), "author", ["author_id"], ["id"]
        )

    with op.batch_alter_table("version", schema=None) as batch_op:
        batch_op.add_column(sa.Column("description", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("version", schema=None) as batch_op:
        batch_op.drop_column("description")

    with op.batch_alter_table("tournament", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_tournament_author_id_author"), type_="foreignkey")
        batch_op.drop_column("author_id")

    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.drop_column("expires")

    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_job_purpose"))
        batch_op.drop_constraint(batch_op.f("fk_job_author_id_author"), type_="foreignkey")
        batch_op.drop_column("author_id")

    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.drop_column("disabled")

    op.drop_table("check_report")
    op.drop_table("invitation")

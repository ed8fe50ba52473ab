"""The server's parts of seeds, what seeds are made of, and the digests of results.

Matches from before this step keep the seeds that they have; their results have no digest.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "seed_part",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("after_match", sa.Integer(), nullable=False),
        sa.Column("secret", sa.String(), nullable=False),
        sa.Column("commitment", sa.String(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("job_id", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_seed_part_job_id_job")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_seed_part")),
        sa.UniqueConstraint("job_id", name=op.f("uq_seed_part_job_id")),
    )
    unused = sa.text("job_id IS NULL")
    op.create_index(
        "ix_seed_part_unused",
        "seed_part",
        ["number"],
        sqlite_where=unused,
        postgresql_where=unused,
    )
    # Added one by one, not in a batch: the largest tables need not be made anew for this.
    op.add_column("job", sa.Column("origin", sa.JSON(), nullable=True))
    op.add_column("match", sa.Column("result_digest", sa.String(), nullable=True))


def downgrade() -> None:
    """Take it back."""
    with op.batch_alter_table("match", schema=None) as batch_op:
        batch_op.drop_column("result_digest")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_column("origin")
    op.drop_index("ix_seed_part_unused", table_name="seed_part")
    op.drop_table("seed_part")

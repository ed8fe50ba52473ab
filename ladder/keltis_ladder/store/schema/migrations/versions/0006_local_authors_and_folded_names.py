"""Who is a user of the machine is written down, and names are unique as they look."""

from __future__ import annotations

import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

HOUSE = "keltis-ladder"
REMOVED = "removed-"
LOOK_ALIKES = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s"})


def upgrade() -> None:
    """Take the step."""
    op.add_column("author", sa.Column("local_user", sa.String(), nullable=True))
    for table in ("author", "bot"):
        op.add_column(table, sa.Column("folded", sa.String(), nullable=False, server_default=""))
    _fold_names("author")
    _fold_names("bot")
    _mark_local_authors()
    op.create_index(op.f("ix_author_local_user"), "author", ["local_user"], unique=True)
    op.create_index(op.f("ix_author_folded"), "author", ["folded"], unique=True)
    op.create_index(op.f("ix_bot_folded"), "bot", ["folded"], unique=True)


def _fold_names(table: str) -> None:
    """Whoever came first has the folded form; those who look like it keep their names, marked."""
    connection = op.get_bind()
    taken: set[str] = set()
    rows = connection.execute(sa.text(f"SELECT id, name FROM {table} ORDER BY id")).all()
    for id, name in rows:
        folded = _fold(name)
        if folded in taken:
            folded = f"{folded}~{id}"
        taken.add(folded)
        connection.execute(
            sa.text(f"UPDATE {table} SET folded = :folded WHERE id = :id"),
            {"folded": folded, "id": id},
        )


def _mark_local_authors() -> None:
    """Whoever registered has a token, or came by an invitation; old tokens may have been removed.

    An account without either was made for a user of the machine, under that user's name, and
    nobody else can get in.
    """
    op.get_bind().execute(
        sa.text(
            "UPDATE author SET local_user = name WHERE name <> :house AND name NOT LIKE :removed"
            " AND NOT EXISTS (SELECT 1 FROM token WHERE token.author_id = author.id)"
            " AND NOT EXISTS (SELECT 1 FROM invitation WHERE invitation.author_id = author.id)"
        ),
        {"house": HOUSE, "removed": f"{REMOVED}%"},
    )


def _fold(name: str) -> str:
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    kept = "".join(letter for letter in plain if letter not in ".-_ ~")
    return kept.translate(LOOK_ALIKES)


def downgrade() -> None:
    """Take it back."""
    op.drop_index(op.f("ix_bot_folded"), table_name="bot")
    op.drop_index(op.f("ix_author_folded"), table_name="author")
    op.drop_index(op.f("ix_author_local_user"), table_name="author")
    with op.batch_alter_table("bot", schema=None) as batch_op:
        batch_op.drop_column("folded")
    with op.batch_alter_table("author", schema=None) as batch_op:
        batch_op.drop_column("folded")
        batch_op.drop_column("local_user")

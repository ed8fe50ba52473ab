"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Take the step."""
    op.create_table(
        "archive",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_archive")),
    )
    op.create_table(
        "author",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("house", sa.Boolean(), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_author")),
        sa.UniqueConstraint("name", name=op.f("uq_author_name")),
    )
    op.create_table(
        "ledger",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("rating_model", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger")),
    )
    op.create_table(
        "tournament",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("uuid", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("bank_ms", sa.Integer(), nullable=False),
        sa.Column("increment_ms", sa.Integer(), nullable=False),
        sa.Column("start_ms", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("starts", sa.DateTime(timezone=True), nullable=True),
        sa.Column("started", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=True),
        sa.Column("standings", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournament")),
        sa.UniqueConstraint("name", name=op.f("uq_tournament_name")),
        sa.UniqueConstraint("uuid", name=op.f("uq_tournament_uuid")),
    )
    op.create_table(
        "bot",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["author.id"], name=op.f("fk_bot_author_id_author")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot")),
        sa.UniqueConstraint("name", name=op.f("uq_bot_name")),
    )
    op.create_index(op.f("ix_bot_author_id"), "bot", ["author_id"])

    op.create_table(
        "job",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("ruleset_version", sa.Integer(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("bank_ms", sa.Integer(), nullable=False),
        sa.Column("increment_ms", sa.Integer(), nullable=False),
        sa.Column("start_ms", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=True),
        sa.Column("leg", sa.String(), nullable=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("holder", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("trouble", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id"], ["tournament.id"], name=op.f("fk_job_tournament_id_tournament")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("tournament_id", "leg", name=op.f("uq_job_tournament_id_leg")),
    )
    op.create_index(op.f("ix_job_state_priority_created"), "job", ["state", "priority", "created"])

    op.create_table(
        "token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["author_id"], ["author.id"], name=op.f("fk_token_author_id_author")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("digest", name=op.f("uq_token_digest")),
    )
    op.create_index(op.f("ix_token_author_id"), "token", ["author_id"])

    op.create_table(
        "tournament_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("after_match", sa.Integer(), nullable=False),
        sa.Column("entrant", sa.Integer(), nullable=True),
        sa.Column("after_round", sa.Integer(), nullable=True),
        sa.Column("leg", sa.String(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["tournament_id"],
            ["tournament.id"],
            name=op.f("fk_tournament_event_tournament_id_tournament"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournament_event")),
    )
    op.create_index(
        op.f("ix_tournament_event_tournament_id"), "tournament_event", ["tournament_id"]
    )

    op.create_table(
        "match",
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("rated", sa.Boolean(), nullable=False),
        sa.Column("decisions", sa.Integer(), nullable=False),
        sa.Column("finished", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_match_job_id_job")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_match")),
        sa.UniqueConstraint("job_id", name=op.f("uq_match_job_id")),
    )
    op.create_index(op.f("ix_match_finished"), "match", ["finished"])

    op.create_table(
        "version",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("predecessor_id", sa.Integer(), nullable=True),
        sa.Column("archive_digest", sa.String(), nullable=True),
        sa.Column("built_in", sa.String(), nullable=True),
        sa.Column("variants", sa.JSON(), nullable=False),
        sa.Column("players", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["archive_digest"], ["archive.digest"], name=op.f("fk_version_archive_digest_archive")
        ),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"], name=op.f("fk_version_bot_id_bot")),
        sa.ForeignKeyConstraint(
            ["predecessor_id"], ["version.id"], name=op.f("fk_version_predecessor_id_version")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_version")),
        sa.UniqueConstraint("bot_id", "number", name=op.f("uq_version_bot_id_number")),
    )
    op.create_index(op.f("ix_version_state"), "version", ["state"])

    op.create_table(
        "duel",
        sa.Column("one_id", sa.Integer(), nullable=False),
        sa.Column("other_id", sa.Integer(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["one_id"], ["version.id"], name=op.f("fk_duel_one_id_version")),
        sa.ForeignKeyConstraint(
            ["other_id"], ["version.id"], name=op.f("fk_duel_other_id_version")
        ),
        sa.PrimaryKeyConstraint("one_id", "other_id", "variant", "players", name=op.f("pk_duel")),
    )
    op.create_index(op.f("ix_duel_other_id"), "duel", ["other_id"])

    op.create_table(
        "fault",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("rotation", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("decision", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("card", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match_number"], ["match.number"], name=op.f("fk_fault_match_number_match")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_fault_version_id_version")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_fault")),
    )
    op.create_index(op.f("ix_fault_match_number"), "fault", ["match_number"])
    op.create_index(op.f("ix_fault_version_id"), "fault", ["version_id"])

    op.create_table(
        "game",
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("rotation", sa.Integer(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
        sa.Column("scores", sa.JSON(), nullable=False),
        sa.Column("ranks", sa.JSON(), nullable=False),
        sa.Column("moves", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match_number"], ["match.number"], name=op.f("fk_game_match_number_match")
        ),
        sa.PrimaryKeyConstraint("match_number", "rotation", name=op.f("pk_game")),
    )
    op.create_table(
        "job_entrant",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_entrant_job_id_job")),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_job_entrant_version_id_version")
        ),
        sa.PrimaryKeyConstraint("job_id", "position", name=op.f("pk_job_entrant")),
    )
    op.create_index(op.f("ix_job_entrant_version_id"), "job_entrant", ["version_id"])

    op.create_table(
        "place",
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("twelfths", sa.Integer(), nullable=False),
        sa.Column("points", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("wall_ms", sa.Float(), nullable=False),
        sa.Column("cpu_ms", sa.Float(), nullable=False),
        sa.Column("slowest_ms", sa.Float(), nullable=False),
        sa.Column("seat0", sa.Integer(), nullable=False),
        sa.Column("seat1", sa.Integer(), nullable=False),
        sa.Column("seat2", sa.Integer(), nullable=True),
        sa.Column("seat3", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["match_number"], ["match.number"], name=op.f("fk_place_match_number_match")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_place_version_id_version")
        ),
        sa.PrimaryKeyConstraint("match_number", "position", name=op.f("pk_place")),
    )
    op.create_index(
        op.f("ix_place_version_id_match_number"), "place", ["version_id", "match_number"]
    )

    op.create_table(
        "rating",
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("variant", sa.String(), nullable=False),
        sa.Column("players", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("firsts", sa.Integer(), nullable=False),
        sa.Column("shared", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("twelfths", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("seat0", sa.Integer(), nullable=False),
        sa.Column("seat1", sa.Integer(), nullable=False),
        sa.Column("seat2", sa.Integer(), nullable=False),
        sa.Column("seat3", sa.Integer(), nullable=False),
        sa.Column("seat2_games", sa.Integer(), nullable=False),
        sa.Column("seat3_games", sa.Integer(), nullable=False),
        sa.Column("last_match", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_rating_version_id_version")
        ),
        sa.PrimaryKeyConstraint("version_id", "variant", "players", name=op.f("pk_rating")),
    )
    op.create_index(op.f("ix_rating_variant_players_mu"), "rating", ["variant", "players", "mu"])

    op.create_table(
        "rating_step",
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.Column("variant_mu", sa.Float(), nullable=False),
        sa.Column("variant_sigma", sa.Float(), nullable=False),
        sa.Column("players_mu", sa.Float(), nullable=False),
        sa.Column("players_sigma", sa.Float(), nullable=False),
        sa.Column("overall_mu", sa.Float(), nullable=False),
        sa.Column("overall_sigma", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["match_number"], ["match.number"], name=op.f("fk_rating_step_match_number_match")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_rating_step_version_id_version")
        ),
        sa.PrimaryKeyConstraint("match_number", "position", name=op.f("pk_rating_step")),
    )
    op.create_index(
        op.f("ix_rating_step_version_id_match_number"),
        "rating_step",
        ["version_id", "match_number"],
    )

    op.create_table(
        "tournament_entrant",
        sa.Column("tournament_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=True),
        sa.Column("sigma", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["tournament_id"],
            ["tournament.id"],
            name=op.f("fk_tournament_entrant_tournament_id_tournament"),
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["version.id"], name=op.f("fk_tournament_entrant_version_id_version")
        ),
        sa.PrimaryKeyConstraint("tournament_id", "number", name=op.f("pk_tournament_entrant")),
    )
    op.create_index(op.f("ix_tournament_entrant_version_id"), "tournament_entrant", ["version_id"])


def downgrade() -> None:
    """Take it back."""
    op.drop_table("tournament_entrant")

    op.drop_table("rating_step")

    op.drop_table("rating")

    op.drop_table("place")

    op.drop_table("job_entrant")
    op.drop_table("game")

    op.drop_table("fault")

    op.drop_table("duel")

    op.drop_table("version")

    op.drop_table("match")

    op.drop_table("tournament_event")

    op.drop_table("token")

    op.drop_table("job")

    op.drop_table("bot")
    op.drop_table("tournament")
    op.drop_table("ledger")
    op.drop_table("author")
    op.drop_table("archive")

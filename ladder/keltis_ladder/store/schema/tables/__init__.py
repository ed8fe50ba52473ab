"""The tables of the ladder, by subject. All are loaded together: they refer to each other."""

from keltis_ladder.store.schema.tables.audit import (
    AuditAuthor,
    AuditBot,
    AuditMark,
    AuditPair,
    AuditStrength,
    Foresight,
)
from keltis_ladder.store.schema.tables.base import Table, table_of
from keltis_ladder.store.schema.tables.entrants import (
    Archive,
    Author,
    Bot,
    CheckReport,
    Invitation,
    Token,
    Version,
)
from keltis_ladder.store.schema.tables.matches import (
    FaultRecord,
    Game,
    Job,
    JobEntrant,
    JobState,
    Ledger,
    Match,
    Place,
    SeedPart,
)
from keltis_ladder.store.schema.tables.ratings import (
    Duel,
    JointHistory,
    JointMark,
    JointRating,
    Rating,
    RatingCheckpoint,
    RatingStep,
)
from keltis_ladder.store.schema.tables.tournaments import (
    TournamentEntrant,
    TournamentEvent,
    TournamentRecord,
    TournamentState,
)

__all__ = [
    "Archive",
    "AuditAuthor",
    "AuditBot",
    "AuditMark",
    "AuditPair",
    "AuditStrength",
    "Author",
    "Bot",
    "CheckReport",
    "Duel",
    "FaultRecord",
    "Foresight",
    "Game",
    "Invitation",
    "Job",
    "JobEntrant",
    "JobState",
    "JointHistory",
    "JointMark",
    "JointRating",
    "Ledger",
    "Match",
    "Place",
    "Rating",
    "RatingCheckpoint",
    "RatingStep",
    "SeedPart",
    "Table",
    "Token",
    "TournamentEntrant",
    "TournamentEvent",
    "TournamentRecord",
    "TournamentState",
    "Version",
    "table_of",
]

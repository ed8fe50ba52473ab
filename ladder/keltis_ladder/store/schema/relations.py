"""The tables themselves, for statements about many rows."""

from __future__ import annotations

from typing import Final

from keltis_ladder.store.schema.tables import (
    Archive,
    AuditAuthor,
    AuditBot,
    AuditMark,
    AuditPair,
    AuditStrength,
    Author,
    Bot,
    CheckReport,
    Duel,
    FaultRecord,
    Foresight,
    Game,
    Invitation,
    Job,
    JobEntrant,
    JointHistory,
    JointMark,
    JointRating,
    Ledger,
    Match,
    Place,
    Rating,
    RatingCheckpoint,
    RatingStep,
    SeedPart,
    Token,
    TournamentEntrant,
    TournamentRecord,
    Version,
    table_of,
)

LEDGER: Final = table_of(Ledger)
AUTHOR: Final = table_of(Author)
TOKEN: Final = table_of(Token)
INVITATION: Final = table_of(Invitation)
ARCHIVE: Final = table_of(Archive)
BOT: Final = table_of(Bot)
VERSION: Final = table_of(Version)
CHECK_REPORT: Final = table_of(CheckReport)
JOB: Final = table_of(Job)
JOB_ENTRANT: Final = table_of(JobEntrant)
SEED_PART: Final = table_of(SeedPart)
MATCH: Final = table_of(Match)
PLACE: Final = table_of(Place)
GAME: Final = table_of(Game)
FAULT: Final = table_of(FaultRecord)
RATING: Final = table_of(Rating)
RATING_STEP: Final = table_of(RatingStep)
RATING_CHECKPOINT: Final = table_of(RatingCheckpoint)
DUEL: Final = table_of(Duel)
JOINT_MARK: Final = table_of(JointMark)
JOINT_RATING: Final = table_of(JointRating)
JOINT_HISTORY: Final = table_of(JointHistory)
TOURNAMENT: Final = table_of(TournamentRecord)
TOURNAMENT_ENTRANT: Final = table_of(TournamentEntrant)
AUDIT_MARK: Final = table_of(AuditMark)
AUDIT_BOT: Final = table_of(AuditBot)
AUDIT_AUTHOR: Final = table_of(AuditAuthor)
AUDIT_PAIR: Final = table_of(AuditPair)
AUDIT_STRENGTH: Final = table_of(AuditStrength)
FORESIGHT: Final = table_of(Foresight)

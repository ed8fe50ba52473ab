"""The tables themselves, for statements about many rows."""

from __future__ import annotations

from typing import Final

from keltis_ladder.store.schema import tables
from keltis_ladder.store.schema.tables import table_of

LEDGER: Final = table_of(tables.Ledger)
AUTHOR: Final = table_of(tables.Author)
TOKEN: Final = table_of(tables.Token)
INVITATION: Final = table_of(tables.Invitation)
ARCHIVE: Final = table_of(tables.Archive)
BOT: Final = table_of(tables.Bot)
VERSION: Final = table_of(tables.Version)
CHECK_REPORT: Final = table_of(tables.CheckReport)
JOB: Final = table_of(tables.Job)
JOB_ENTRANT: Final = table_of(tables.JobEntrant)
SEED_PART: Final = table_of(tables.SeedPart)
MATCH: Final = table_of(tables.Match)
PLACE: Final = table_of(tables.Place)
GAME: Final = table_of(tables.Game)
FAULT: Final = table_of(tables.FaultRecord)
RATING: Final = table_of(tables.Rating)
RATING_STEP: Final = table_of(tables.RatingStep)
RATING_CHECKPOINT: Final = table_of(tables.RatingCheckpoint)
DUEL: Final = table_of(tables.Duel)
JOINT_MARK: Final = table_of(tables.JointMark)
JOINT_RATING: Final = table_of(tables.JointRating)
JOINT_HISTORY: Final = table_of(tables.JointHistory)
TOURNAMENT: Final = table_of(tables.TournamentRecord)
TOURNAMENT_ENTRANT: Final = table_of(tables.TournamentEntrant)
AUDIT_MARK: Final = table_of(tables.AuditMark)
AUDIT_BOT: Final = table_of(tables.AuditBot)
AUDIT_AUTHOR: Final = table_of(tables.AuditAuthor)
AUDIT_PAIR: Final = table_of(tables.AuditPair)
AUDIT_STRENGTH: Final = table_of(tables.AuditStrength)
FORESIGHT: Final = table_of(tables.Foresight)

"""The audit: whether a bot seems to know more than it may."""

from __future__ import annotations

from typing import Final

from sqlmodel import Session

from keltis_ladder.store.audit.book import looked_at, mark_of, waiting
from keltis_ladder.store.audit.reports import audit_of_bot, suspects
from keltis_ladder.store.bots.accounts import TokenScope
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import MISSING, Endpoints
from keltis_server.http.lookups import require_reader, the_bot
from keltis_server.http.parameters import NamePath
from keltis_server.models.audit import AuditLineOut, AuditOut, BotAuditOut

ENDPOINTS: Final = Endpoints("audit", "Whether bots seem to know more than they may.")


@ENDPOINTS.get("/admin/audit", returns=AuditOut, needs=TokenScope.ADMIN)
async def admin_audit(call: Call) -> AuditOut:
    """Whom the audit suspects, and how far it has come."""
    return await call.site.read(_audit, call.site.settings.suspend_suspects)


def _audit(session: Session, suspend: bool) -> AuditOut:
    return AuditOut(
        done=mark_of(session)[1],
        waiting=waiting(session),
        looked_at=looked_at(session),
        suspend=suspend,
        suspects=[
            AuditLineOut.model_validate(line, from_attributes=True) for line in suspects(session)
        ],
    )


@ENDPOINTS.get(
    "/bots/{bot}/audit",
    returns=BotAuditOut,
    needs=TokenScope.READ,
    fails=MISSING,
)
async def get_bot_audit(call: Call, path: NamePath) -> BotAuditOut:
    """What the audit says about a bot, for its author and the operator."""
    return await call.site.read(_bot_audit, call, path.bot)


def _bot_audit(session: Session, call: Call, name: str) -> BotAuditOut:
    bot = the_bot(session, name)
    require_reader(call, bot.author_id)
    return BotAuditOut.model_validate(audit_of_bot(session, bot.id), from_attributes=True)

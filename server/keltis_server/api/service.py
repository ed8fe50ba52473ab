"""The service itself: what it is, what it plays, and its own description."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Final

from aiohttp import web

from keltis_engine import VARIANTS, find_variant
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import Endpoints, Media
from keltis_server.models.accounts import QuotasOut
from keltis_server.models.service import ClockOut, LimitsOut, ServiceOut, VariantOut, VariantsOut
from keltis_server.site.encoding import JSON, dump_json

ENDPOINTS: Final = Endpoints("service", "What this ladder is and plays.")


@ENDPOINTS.get("", returns=ServiceOut)
async def service(call: Call) -> ServiceOut:
    """What this ladder is, and how much an author may ask for."""
    settings, limits = call.site.settings, call.site.share.limits
    return ServiceOut(
        name="keltis-ladder",
        version=metadata.version("keltis-ladder"),
        registration=settings.registration,
        clock=ClockOut.model_validate(settings.control, from_attributes=True),
        quotas=QuotasOut.model_validate(settings.quotas, from_attributes=True),
        limits=LimitsOut(memory_bytes=limits.memory, scratch_bytes=limits.scratch),
    )


@ENDPOINTS.get("/variants", returns=VariantsOut)
async def variants(call: Call) -> VariantsOut:
    """The games that are played here, with the options they are played with."""
    rulesets = [find_variant(id) for id in VARIANTS]
    return VariantsOut(
        variants=[
            VariantOut(
                id=ruleset.id,
                version=ruleset.version,
                players=list(ruleset.players),
                options=dict(ruleset.options),
            )
            for ruleset in rulesets
        ]
    )


@ENDPOINTS.get("/openapi.json", returns=Media((JSON,), "The OpenAPI 3.1 document."))
async def openapi(call: Call) -> web.Response:
    """The whole API as an OpenAPI 3.1 document."""
    return web.Response(body=_document(), content_type=JSON)


@cache
def _document() -> bytes:
    from keltis_server.api import PARTS
    from keltis_server.http.openapi import document

    return dump_json(document(PARTS))

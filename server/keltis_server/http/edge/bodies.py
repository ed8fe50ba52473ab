"""Bodies of requests: never unpacked, and not waited for once they are refused."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from aiohttp import hdrs, web

from keltis_server.http.problems import Handler, Problem

PLAIN: Final = "identity"
# After these a client may still be sending what nobody wants.
LAST: Final = frozenset(
    {
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.MISDIRECTED_REQUEST,
    }
)


@web.middleware
async def refuse_packed(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a body that would have to be unpacked: a small one may become a very large one."""
    codings = ",".join(request.headers.getall(hdrs.CONTENT_ENCODING, [])).split(",")
    if any(coding.strip().lower() not in ("", PLAIN) for coding in codings):
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "bodies are taken as they are: send it without Content-Encoding",
            headers={hdrs.ACCEPT_ENCODING: PLAIN},
        )
    return await handler(request)


@web.middleware
async def close_after_refusal(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Close the connection after an answer to what need not be read to its end."""
    response = await handler(request)
    if response.status in LAST and not response.prepared:
        response.force_close()
    return response

"""Bodies of requests: never unpacked, and not waited for once they are refused."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs, web

from keltis_server.http.problems import Handler, Problem

PLAIN: Final = "identity"
LONGEST_TYPE: Final = 256  # characters of a Content-Type
_TOKEN: Final = r"[!#$%&'+.^_`|~0-9A-Za-z-]+"
# Python reads this header by its parser of mail, which takes a second for a few thousand
# semicolons, and fails at parameters in several parts (a*0=, a*1=). So it gets nothing odd.
_TYPE: Final = re.compile(
    rf"{_TOKEN}/{_TOKEN}"
    rf'(?:[ \t]*;[ \t]*{_TOKEN}=(?:{_TOKEN}|"[^"\\\x00-\x1f\x7f]*")){{0,8}}[ \t]*;?[ \t]*'
)
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
async def refuse_odd_types(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse a ``Content-Type`` that it would take long to read, or that says nothing clear."""
    found = request.headers.getall(hdrs.CONTENT_TYPE, [])
    if len(found) > 1 or any(
        len(each) > LONGEST_TYPE or not _TYPE.fullmatch(each.strip()) for each in found
    ):
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "Content-Type must be TYPE/SUBTYPE, such as application/json, with a few parameters,"
            f" {LONGEST_TYPE} characters at most",
        )
    return await handler(request)


@web.middleware
async def close_after_refusal(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Close the connection after an answer to what need not be read to its end."""
    response = await handler(request)
    if response.status in LAST and not response.prepared:
        response.force_close()
    return response

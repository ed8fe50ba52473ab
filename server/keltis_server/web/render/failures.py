"""What goes wrong, told as a page to browsers; programs get problem+json."""

from __future__ import annotations

import json
import logging
from http import HTTPStatus
from typing import Final

from aiohttp import web

from keltis_server.http.endpoints import API
from keltis_server.http.problems import PREFIX, PROBLEM_JSON, Handler
from keltis_server.web.render.rendering import NOBODY, answer

# Problems that say no more than that there is nothing here.
NOTHING: Final = (PREFIX + "no-such-address", PREFIX + "bad-address")
KEPT: Final = ("Allow", "Retry-After", "WWW-Authenticate")
HTML: Final = "text/html"

log = logging.getLogger(__name__)


@web.middleware
async def tell_in_pages(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn a problem into a page, for browsers that looked for one."""
    response = await handler(request)
    if (
        not isinstance(response, web.Response)
        or response.content_type != PROBLEM_JSON
        or request.path.startswith((API, "/static/"))
        or not reads_pages(request)
    ):
        return response
    try:
        problem = json.loads(response.body if isinstance(response.body, bytes) else b"{}")
        detail = str(problem.get("detail", ""))
        nothing = problem.get("type") in NOTHING
        # A name that nothing can have is, for people, a name that nothing has.
        status = HTTPStatus.NOT_FOUND if nothing else HTTPStatus(response.status)
        page = answer(
            request,
            "problem.html",
            status,
            NOBODY,
            code=int(status),
            detail="" if nothing else detail,
        )
    except Exception:
        log.exception("the page of a problem could not be made")
        return response
    for name in KEPT:
        if name in response.headers:
            page.headers[name] = response.headers[name]
    page.headers["Cache-Control"] = "no-store"
    return page


def reads_pages(request: web.Request) -> bool:
    """Return whether the client would rather have a page than JSON."""
    accepted = request.headers.get("Accept", "").split(",")
    kinds = [part.partition(";")[0].strip() for part in accepted]
    first = next((kind for kind in kinds if kind == HTML or kind.endswith("json")), "")
    return first == HTML

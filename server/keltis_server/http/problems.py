"""What goes wrong with a request, told as ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError
from sqlalchemy.exc import InterfaceError, OperationalError

from keltis_ladder.errors import LadderError
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_ladder.store.database import OutcomeUnknown
from keltis_ladder.store.matches.replays import Pruned

PROBLEM_JSON: Final = "application/problem+json"
PREFIX: Final = "urn:keltis-ladder:problem:"
LEFT: Final = 499  # the status that nginx counts those under who did not wait for the answer

log = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Problem(Exception):
    """A request that cannot be answered as its sender would like."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        kind: str = "",
        errors: list[str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.kind = kind or status.phrase.lower().replace(" ", "-")
        self.errors = errors or []
        self.headers = dict(headers or {})

    def to_plain(self) -> dict[str, Any]:
        """Return it as it is sent."""
        return {
            "type": PREFIX + self.kind,
            "title": self.kind.replace("-", " ").capitalize(),
            "status": int(self.status),
            "detail": self.detail,
            "errors": self.errors,
        }

    def response(self) -> web.Response:
        """Return it as an answer."""
        return web.Response(
            status=self.status,
            body=json.dumps(self.to_plain()).encode(),
            content_type=PROBLEM_JSON,
            headers={"Cache-Control": "no-store", **self.headers},
        )


def not_found(what: str) -> Problem:
    """Return the problem that something does not exist, or not for the client."""
    return Problem(HTTPStatus.NOT_FOUND, what)


def forbidden(why: str) -> Problem:
    """Return the problem that the client may not."""
    return Problem(HTTPStatus.FORBIDDEN, why)


def conflict(why: str) -> Problem:
    """Return the problem that things are not as the request needs them."""
    return Problem(HTTPStatus.CONFLICT, why)


def too_many(what: str, retry_after: float) -> Problem:
    """Return the problem that somebody asks for more than is allowed, and when to come again."""
    seconds = max(1, int(retry_after + 0.999))
    return Problem(
        HTTPStatus.TOO_MANY_REQUESTS,
        f"{what}: try again in {seconds} s",
        headers={"Retry-After": str(seconds)},
    )


@web.middleware
async def tell_problems(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn whatever goes wrong into a problem; what is our own mistake is logged, not told."""
    try:
        return await handler(request)
    except Problem as problem:
        return problem.response()
    except web.HTTPException as error:
        if error.status < HTTPStatus.BAD_REQUEST:
            raise
        status = HTTPStatus(error.status)
        kept = {name: error.headers[name] for name in ("Allow",) if name in error.headers}
        kind = "no-such-address" if status == HTTPStatus.NOT_FOUND else ""
        return Problem(status, _explain(request, status), kind=kind, headers=kept).response()
    except HttpProcessingError:  # a part of a form that cannot be read
        return Problem(HTTPStatus.BAD_REQUEST, "the request is not well-formed HTTP").response()
    except MachineFailed as error:
        log.error("%s %s: %s", request.method, request.path, error)
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "the server could not do it, by a fault of its own that its operator is told of: try"
            " again later",
            headers={"Retry-After": "60"},
        ).response()
    except Pruned as error:
        return Problem(HTTPStatus.GONE, str(error)).response()
    except BadArchive as error:
        return Problem(HTTPStatus.BAD_REQUEST, str(error), kind="bad-archive").response()
    except LadderError as error:  # its text says what to do
        return conflict(str(error)).response()
    except OutcomeUnknown as error:
        log.error("the database was lost while it stored something: %s", error.orig)
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "the database was lost while it stored this, and nobody knows whether it did: look"
            " before you try again",
            kind="outcome-unknown",
        ).response()
    except (OperationalError, InterfaceError) as error:
        log.error("the database does not answer: %s", error.orig)
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "the database does not answer: try again in a moment",
            headers={"Retry-After": "5"},
        ).response()
    except Exception as error:
        if isinstance(error, ConnectionError) and _has_left(request):
            return web.Response(status=LEFT)
        log.exception("%s %s failed", request.method, request.path)
        return Problem(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            "internal error; it has been logged",
        ).response()


def _has_left(request: web.Request) -> bool:
    return request.transport is None or request.transport.is_closing()


def _explain(request: web.Request, status: HTTPStatus) -> str:
    if status == HTTPStatus.NOT_FOUND:
        return f"there is nothing at {request.path}: /api/v1/openapi.json lists what there is"
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return f"{request.path} does not take {request.method}"
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return "the request is too large"
    return status.description or status.phrase

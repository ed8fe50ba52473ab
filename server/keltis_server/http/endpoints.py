"""Endpoints: handlers with typed parameters, which make the routes and the OpenAPI document.

A handler takes a ``Call`` and, by these names, what it needs: ``path``, ``query`` and ``body``,
each a pydantic model. It returns a model, or a ``Reply``, or a response of its own making. What
the document says of an endpoint is read from the same models that check its requests.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from typing import Any, Final, TypeVar, get_type_hints

from aiohttp import web
from pydantic import BaseModel, ConfigDict, ValidationError

from keltis_ladder.store.bots.accounts import TokenScope
from keltis_server.http.auth import Call, unknown
from keltis_server.http.problems import Problem
from keltis_server.http.wire import Reply, read_plain, respond

API: Final = "/api/v1"
SERVER: Final = "keltis-ladder"
NO_CONTENT: Final = "default-src 'none'; frame-ancestors 'none'"  # for what is no page
WHOLE_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,30})")
MOST_ERRORS: Final = 10  # that are told at once
MOST_PARAMETERS: Final = 64  # of a query: more than any endpoint has, repeated ones included
LONGEST_NAME: Final = 60  # characters that are told of a name that does not exist

Answer = BaseModel | Reply | web.StreamResponse
Handler = Callable[..., Awaitable[Answer]]
H = TypeVar("H", bound=Handler)

# What every endpoint may say: the token is not valid, the request is for another host, there is no
# such parameter, too many requests, the database is away.
ALWAYS: Final = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.MISDIRECTED_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
MISSING: Final = (HTTPStatus.NOT_FOUND,)
MISSING_OR_REFUSED: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)


class Parameters(BaseModel):
    """What comes in a request; a name that does not exist is a slip of the pen, and refused."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Media:
    """A body that is not plain data: its types, and what it is."""

    types: tuple[str, ...]
    description: str


@dataclass(frozen=True)
class Endpoint:
    """One operation of the API."""

    method: str
    path: str  # below API
    handler: Handler
    tag: str
    returns: type[BaseModel] | Media | None
    status: HTTPStatus = HTTPStatus.OK
    needs: TokenScope | None = None  # none: for everybody
    fails: tuple[HTTPStatus, ...] = ()
    upload: Media | None = None
    also: tuple[HTTPStatus, ...] = ()  # other statuses of the same answer
    known: bool = False  # for everybody who has a token, whatever it allows
    models: dict[str, type[BaseModel]] = field(default_factory=dict)  # path, query, body
    cost: int = 1  # tokens that a request takes from the budgets of its client
    # Parameters of the query that do not exist are ignored: links to pages get some on their way
    # (utm_source, fbclid), and the client can do nothing about it.
    lenient: bool = False

    @property
    def name(self) -> str:
        """What it is called in the document."""
        return self.handler.__name__

    @property
    def summary(self) -> str:
        """Its first line."""
        return (inspect.getdoc(self.handler) or "").partition("\n")[0].rstrip(".")

    @property
    def description(self) -> str:
        """All that it says of itself."""
        return inspect.getdoc(self.handler) or ""

    def failures(self) -> list[HTTPStatus]:
        """Return the statuses of the problems that it may answer with."""
        found = {*ALWAYS, *self.fails}
        if self.needs is not None:
            found.add(HTTPStatus.FORBIDDEN)
        if self.method != "GET":  # a page of another site, or a packed body
            found |= {HTTPStatus.FORBIDDEN, HTTPStatus.UNSUPPORTED_MEDIA_TYPE}
        if "body" in self.models:
            found |= {
                HTTPStatus.BAD_REQUEST,
                HTTPStatus.REQUEST_TIMEOUT,
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            }
        return sorted(found)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Check a request, and have it handled."""
        call = await Call.of(request, self.needs)
        call.pay(self.cost)
        if self.known and call.caller is None:
            raise unknown("this needs a token: keltis-ladder register, or keltis-ladder login")
        if request.query_string and "query" not in self.models and not self.lenient:
            check("query", Parameters, dict(request.query))
        arguments = {
            name: check(name, model, await _plain(name, model, request, self.lenient))
            for name, model in self.models.items()
        }
        answer = await self.handler(call, **arguments)
        if isinstance(answer, web.StreamResponse):
            return answer
        return respond(
            request, answer if isinstance(answer, Reply) else Reply(answer, status=self.status)
        )


class Endpoints:
    """The endpoints of one part of the API, as decorators of their handlers."""

    def __init__(self, tag: str, description: str) -> None:
        self.tag = tag
        self.description = description
        self.all: list[Endpoint] = []

    def get(
        self,
        path: str,
        returns: type[BaseModel] | Media,
        needs: TokenScope | None = None,
        fails: tuple[HTTPStatus, ...] = (),
        known: bool = False,
        cost: int = 1,
    ) -> Callable[[H], H]:
        """Let a handler answer GET, and HEAD; ``known``: for clients with a token of any kind."""
        return self._add("GET", path, returns, needs=needs, fails=fails, known=known, cost=cost)

    def post(
        self,
        path: str,
        returns: type[BaseModel] | None = None,
        needs: TokenScope | None = None,
        fails: tuple[HTTPStatus, ...] = (),
        status: HTTPStatus = HTTPStatus.OK,
        upload: Media | None = None,
        also: tuple[HTTPStatus, ...] = (),
        cost: int = 1,
    ) -> Callable[[H], H]:
        """Let a handler answer POST; ``also`` are other statuses that its replies may have."""
        how = {"status": status, "upload": upload, "also": also, "cost": cost}
        return self._add("POST", path, returns, needs=needs, fails=fails, **how)

    def delete(
        self, path: str, needs: TokenScope | None = None, fails: tuple[HTTPStatus, ...] = ()
    ) -> Callable[[H], H]:
        """Let a handler answer DELETE, without a body."""
        status = HTTPStatus.NO_CONTENT
        return self._add("DELETE", path, None, status=status, needs=needs, fails=fails)

    def _add(
        self, method: str, path: str, returns: type[BaseModel] | Media | None, **how: Any
    ) -> Callable[[H], H]:
        def keep(handler: H) -> H:
            hints = get_type_hints(handler)
            names = [name for name in inspect.signature(handler).parameters if name != "call"]
            models = {name: hints[name] for name in names}
            found = Endpoint(method, path, handler, self.tag, returns, models=models, **how)
            self.all.append(found)
            return handler

        return keep


def add_routes(app: web.Application, endpoints: Iterable[Endpoint]) -> None:
    """Let an application answer these endpoints."""
    for endpoint in endpoints:
        path = API + endpoint.path
        if endpoint.method == "GET":
            app.router.add_get(path, endpoint.answer, allow_head=True)
        else:
            app.router.add_route(endpoint.method, path, endpoint.answer)
    app.on_response_prepare.append(guard)


async def guard(request: web.Request, response: web.StreamResponse) -> None:
    """Say no more of ourselves than need be, and let browsers make nothing of an answer."""
    response.headers["Server"] = SERVER
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    if request.path.startswith(API):
        response.headers.setdefault("Content-Security-Policy", NO_CONTENT)


async def _plain(name: str, model: type[BaseModel], request: web.Request, lenient: bool) -> Any:
    if name == "body":
        return await read_plain(request)
    kinds = kinds_of(model)
    if name == "path":
        return {key: _value(text, kinds.get(key)) for key, text in request.match_info.items()}
    if len(request.query) > MOST_PARAMETERS:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"the query has {len(request.query)} parameters: at most {MOST_PARAMETERS}",
            kind="bad-request",
        )
    found: dict[str, Any] = {}
    for key in dict.fromkeys(request.query):
        if lenient and key not in model.model_fields:
            continue
        kind = kinds.get(key)
        values = [_value(text, kind) for text in request.query.getall(key)]
        found[key] = values if len(values) > 1 or kind == "array" else values[0]
    return found


@cache
def kinds_of(model: type[BaseModel]) -> dict[str, str]:
    """Return which JSON types the fields of a model have; texts are left out."""
    found: dict[str, str] = {}
    for name, schema in model.model_json_schema().get("properties", {}).items():
        types = {each.get("type", "string") for each in schema.get("anyOf", [schema])} - {"null"}
        if len(types) == 1 and (kind := types.pop()) != "string":
            found[name] = kind
    return found


def _value(text: str, kind: str | None) -> Any:
    """Return what a text of an address means; the text itself if it means nothing."""
    if kind == "integer" and WHOLE_NUMBER.fullmatch(text):
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


def check(name: str, model: type[BaseModel], plain: Any) -> BaseModel:
    """Return the path, query or body of a request as its model; raise what is wrong with it.

    It is checked as JSON: a text is no number there, but may be a moment or one of several words.
    """
    where = {"path": "address", "query": "query", "body": "body"}[name]
    try:
        return model.model_validate_json(json.dumps(plain), strict=True)
    except RecursionError:
        raise Problem(HTTPStatus.BAD_REQUEST, f"the {where} is nested too deeply") from None
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        errors = [_explain(each, model) for each in found[:MOST_ERRORS]]
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"invalid {where}: {'; '.join(errors)}",
            kind="bad-address" if name == "path" else "bad-request",
            errors=errors,
        ) from None


def _explain(error: Any, model: type[BaseModel]) -> str:
    where = ".".join(str(part)[:LONGEST_NAME] for part in error["loc"])
    if error["type"] == "extra_forbidden" and len(error["loc"]) == 1:
        known = ", ".join(model.model_fields)
        return f"{where}: does not exist; " + (f"there is {known}" if known else "none does")
    text = str(error["msg"])
    text = text[:1].lower() + text[1:]
    return f"{where}: {text}" if where else text

"""How answers and requests are written: JSON unless msgpack is asked for."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from http import HTTPStatus
from math import isfinite
from typing import Any, Final

import msgpack
from aiohttp import web
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from keltis_server.http.edge.nesting import check_depth
from keltis_server.http.problems import Problem
from keltis_server.site.encoding import (
    JSON,
    MSGPACK,
    Encoded,
    dump_json,
    dump_msgpack,
    tag_of,
)
from keltis_server.site.site import SITE

FORMATS: Final = (JSON, MSGPACK)
REVALIDATE: Final = "no-cache"  # may be kept, but must be asked about each time
PRIVATE: Final = "private, no-cache"  # and only by whom it was meant for
NEVER: Final = "no-store"  # what was done, and tokens that are shown once
LONGEST_LIST: Final = 1_000  # of msgpack: room for what a header promises is made before it comes
LONGEST_NUMBER: Final = 40  # characters: no number of ours has more, and long ones take long
MOST_CHOICES: Final = 32  # entries of a header that lists some
_WHOLE: Final = 2.0**53  # up to here a number with a point that is whole is exactly that number


@dataclass(frozen=True)
class Reply:
    """An answer with more than a body: another status, headers, or one that is encoded already."""

    body: BaseModel | Encoded | None
    status: HTTPStatus = HTTPStatus.OK
    headers: dict[str, str] = field(default_factory=dict)


def wanted_form(request: web.Request) -> str:
    """Return the form that the client prefers; JSON if that is not said."""
    best, quality = JSON, 0.0
    for part in request.headers.get("Accept", "").split(",", MOST_CHOICES)[:MOST_CHOICES]:
        name, *parameters = (word.strip().lower() for word in part.split(";"))
        if name in FORMATS and (found := _quality(parameters)) > quality:
            best, quality = name, found
    return best


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return float(parameter[2:])
            except ValueError:
                return 0.0
    return 1.0


def respond(request: web.Request, reply: Reply) -> web.Response:
    """Return an answer; one that the client has already is not sent again."""
    if reply.body is None:
        headers = {"Cache-Control": NEVER, **reply.headers}
        return web.Response(status=reply.status, headers=headers)
    form = wanted_form(request)
    headers = {
        "Cache-Control": _caching(request),
        "Vary": "Accept, Authorization",
        **reply.headers,
    }
    encoded = reply.body if isinstance(reply.body, Encoded) else None
    if encoded is None:
        assert isinstance(reply.body, BaseModel)
        if form == JSON:
            body = reply.body.model_dump_json().encode()
        else:
            body = dump_msgpack(to_jsonable_python(reply.body))
        etag = tag_of(body)
    else:
        body, etag = encoded.in_form(form), encoded.etag
    if request.method in ("GET", "HEAD") and reply.status == HTTPStatus.OK:
        headers["ETag"] = etag
        if _has_already(request, etag):
            return web.Response(status=HTTPStatus.NOT_MODIFIED, headers=headers)
    return web.Response(status=reply.status, body=body, content_type=form, headers=headers)


def _caching(request: web.Request) -> str:
    if request.method not in ("GET", "HEAD"):
        return NEVER
    return PRIVATE if "Authorization" in request.headers else REVALIDATE


def _has_already(request: web.Request, etag: str) -> bool:
    known = request.headers.get("If-None-Match", "")
    if known.strip() == "*":
        return True
    opaque = etag.removeprefix("W/")
    tags = known.split(",", MOST_CHOICES)[:MOST_CHOICES]
    return any(each.strip().removeprefix("W/") == opaque for each in tags)


async def read_plain(request: web.Request) -> Any:
    """Return the body of a request as lists, maps, texts and numbers."""
    form = request.content_type.lower()
    if form not in FORMATS:
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"the body must be {' or '.join(FORMATS)}, not {form}",
        )
    patience = request.app[SITE].settings.deadlines.body
    try:
        async with asyncio.timeout(patience):
            data = await request.read()
    except TimeoutError:
        raise Problem(
            HTTPStatus.REQUEST_TIMEOUT, f"the body did not come within {patience:g} s"
        ) from None
    try:
        return load_json(data) if form == JSON else load_msgpack(data)
    except (ValueError, RecursionError, msgpack.UnpackException) as error:
        why = str(error) or "it cannot be read"
        raise Problem(HTTPStatus.BAD_REQUEST, f"the body is not valid {form}: {why}") from None


def load_json(data: bytes) -> Any:
    """Return what some JSON says; raise ValueError where it does not say one thing."""
    check_depth(data)
    return json.loads(
        data.decode("utf-8"),
        object_pairs_hook=_one_of_each,
        parse_constant=_refuse,
        parse_float=_number,
        parse_int=_whole,
    )


def load_msgpack(data: bytes) -> Any:
    """Return what some msgpack says; raise ValueError unless JSON could say the same."""
    plain = msgpack.unpackb(
        data,
        object_pairs_hook=_one_of_each,
        max_array_len=LONGEST_LIST,
        max_map_len=LONGEST_LIST,
        max_ext_len=0,
    )
    try:
        return load_json(dump_json(plain))
    except TypeError:
        raise ValueError("only texts, numbers, lists and maps are understood") from None


def _one_of_each(pairs: list[tuple[Any, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str):
            raise ValueError("the keys of a map must be texts")
        if key in found:
            raise ValueError(f"{key[:40]!r} is there twice")
        found[key] = value
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a number of JSON")


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"{text[:LONGEST_NUMBER]}... is too long for a number")
    return int(text)


def _number(text: str) -> int | float:
    """Return a number with a point or an exponent; for JSON, 5.0 is a whole number as 5 is."""
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"{text[:LONGEST_NUMBER]}... is too long for a number")
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text[:40]} is too large")
    return int(number) if number.is_integer() and abs(number) <= _WHOLE else number

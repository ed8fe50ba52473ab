"""The frame of the API: a document that is whole, answers in two forms, requests taken strictly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import msgpack
import pytest
from pydantic import Field

from keltis_server.api import PARTS
from keltis_server.http.auth import Call
from keltis_server.http.endpoints import API, Endpoints, Parameters, check
from keltis_server.http.openapi import document
from keltis_server.http.parameters import Page, PageQuery
from keltis_server.http.problems import Problem
from keltis_server.http.wire import load_json, load_msgpack
from keltis_server.models.problems import ProblemOut
from tests.server.support.serving import Served, served

PROBLEM = "application/problem+json"


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document(PARTS)["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def references(plain: Any) -> Iterator[str]:
    if isinstance(plain, dict):
        if isinstance(plain.get("$ref"), str):
            yield plain["$ref"]
        for value in plain.values():
            yield from references(value)
    elif isinstance(plain, list):
        for value in plain:
            yield from references(value)


def test_every_reference_leads_somewhere_and_no_schema_is_left_over() -> None:
    found = document(PARTS)
    used = {reference.rpartition("/")[2] for reference in references(found)}
    assert used == set(found["components"]["schemas"])


def test_every_operation_says_what_it_is_and_what_may_go_wrong() -> None:
    for path, method, operation in operations():
        where = f"{method} {path}"
        assert operation["summary"], where
        named = {part[1:-1] for part in path.split("/") if part.startswith("{")}
        told = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
        assert told == named, where
        responses = operation["responses"]
        assert any(status < "300" for status in responses), where
        assert {"401", "422", "429", "503"} <= set(responses), where
        assert "Retry-After" in responses["429"]["headers"]
        for status, response in responses.items():
            if status >= "400":
                assert list(response["content"]) == [PROBLEM], where
        if operation["security"] == [{"token": []}]:
            assert "401" in responses, where
        for parameter in operation["parameters"]:
            assert parameter["schema"].get("default", 0) is not None, where
            assert {"type": "null"} not in parameter["schema"].get("anyOf", []), where


def test_two_operations_cannot_have_one_name() -> None:
    async def thing(call: Call) -> ProblemOut:
        raise NotImplementedError

    part = Endpoints("things", "Things.")
    part.get("/one", returns=ProblemOut)(thing)
    part.get("/two", returns=ProblemOut)(thing)
    with pytest.raises(ValueError, match="thing"):
        document([part])


class Wish(Parameters):
    number: int = 1
    flag: bool = False
    word: Annotated[str, Field(pattern="^[a-z]*$")] = ""
    words: list[str] = Field(default=[])


NUMBERS: list[Any] = [{"number": "1"}, {"number": True}, {"number": 1.5}]
FLAGS: list[Any] = [{"flag": 1}, {"flag": "yes"}]
TEXTS: list[Any] = [{"word": 1}, {"word": "a\n"}, {"words": "a"}, {"words": [1]}]
OTHERS: list[Any] = [[], None, "x", {"nothing": 1}]


@pytest.mark.parametrize("plain", [*NUMBERS, *FLAGS, *TEXTS, *OTHERS])
def test_what_does_not_fit_the_document_is_not_bent_until_it_does(plain: Any) -> None:
    with pytest.raises(Problem) as caught:
        check("body", Wish, plain)
    assert caught.value.status == HTTPStatus.UNPROCESSABLE_ENTITY


def test_who_writes_a_name_that_does_not_exist_is_told_those_that_do() -> None:
    with pytest.raises(Problem, match="nubmer: does not exist; there is number, flag, word, words"):
        check("query", Wish, {"nubmer": 1})


def test_no_more_is_told_than_somebody_would_read() -> None:
    with pytest.raises(Problem) as caught:
        check("body", Wish, {f"{number}{'x' * 5000}": number for number in range(1000)})
    assert len(caught.value.errors) == 10
    assert len(caught.value.detail) < 2000


def test_a_whole_number_may_have_a_point() -> None:
    assert load_json(b'{"a": 5.0, "b": 5.5, "c": 1e3}') == {"a": 5, "b": 5.5, "c": 1000}
    assert type(load_json(b"5.0")) is int


@pytest.mark.parametrize(
    "plain",
    [b"raw", {b"raw": 1}, {1: 2}, msgpack.Timestamp(1), float("nan"), float("inf"), [[b"x"]]],
)
def test_what_json_cannot_say_is_not_taken_from_msgpack(plain: Any) -> None:
    with pytest.raises(ValueError, match=r"understood|key|ext|JSON"):
        load_msgpack(msgpack.packb(plain, strict_types=True))


def test_a_long_page_goes_on_where_it_ended() -> None:
    assert Page[ProblemOut](items=[], next=None).model_dump() == {"items": [], "next": None}
    assert check("query", PageQuery, {"limit": 200, "after": "a-b.c"}) is not None
    for bad in ({"limit": 0}, {"limit": 201}, {"after": "a b"}, {"after": "x" * 65}):
        with pytest.raises(Problem):
            check("query", PageQuery, bad)


BODIES: list[tuple[str, bytes, int, str]] = [
    ("application/json", b"{", 400, "not valid"),
    ("application/json", b"", 400, "not valid"),
    ("application/json", b'{"name":"ada","name":"bob"}', 400, "'name' is there twice"),
    ("application/json", b'{"name":NaN}', 400, "NaN"),
    ("application/json", b'{"name":-Infinity}', 400, "Infinity"),
    ("application/json", b'{"name":1e999}', 400, "too large"),
    ("application/json", b'{"name":' + b"9" * 5000 + b"}", 400, "too long for a number"),
    ("application/json", b'{"name":0.' + b"9" * 5000 + b"}", 400, "too long for a number"),
    ("application/json", b'{"name":"\xff\xfe"}', 400, "utf-8"),
    ("application/json", '{"name":"ada"}'.encode("utf-16"), 400, "utf-8"),
    ("application/json", b"[" * 50_000, 400, "nested too deeply"),
    ("application/json", b"[" * 33 + b"]" * 33, 400, "nested too deeply"),
    ("application/json", b"[" * 32 + b"]" * 32, 422, "invalid body"),
    ("application/json", b'{"name":"\\ud800"}', 422, "invalid body"),
    ("application/json", b'{"name":"a\\u0000"}', 422, "name"),
    ("application/json", b'{"\\ud800":1}', 422, "invalid body"),
    ("application/json", b"null", 422, "invalid body"),
    ("application/json", b'{"name":"a"' + b" " * 2**16 + b"}", 413, "too large"),
    ("application/msgpack", b"\xc1", 400, "not valid"),
    ("application/msgpack", b"", 400, "not valid"),
    ("application/msgpack", b"\xdd\x7f\xff\xff\xff", 400, "not valid"),
    ("application/msgpack", b"\x91" * 5000, 400, "not valid"),
    ("application/msgpack", b"\x82\xa4name\xa1a\xa4name\xa1b", 400, "twice"),
    ("application/msgpack", b"\x81\xa4name\xcb\x7f\xf8" + bytes(6), 400, "not valid"),
    ("application/msgpack", b"\x81\xa4name\xa1\xff", 400, "not valid"),
    ("text/plain", b'{"name":"ada"}', 415, "application/json or application/msgpack"),
    ("application/x-www-form-urlencoded", b"name=ada", 415, "application/json"),
    ("", b'{"name":"ada"}', 415, "application/json"),
]


def test_bodies_that_cannot_be_are_refused_with_the_reason(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            url = f"{server.url}{API}/accounts"
            for form, data, status, why in BODIES:
                headers = {"Content-Type": form}
                async with server.http.post(url, data=BytesIO(data), headers=headers) as response:
                    plain = await response.json(content_type=PROBLEM)
                    assert (response.status, plain["status"]) == (status, status), (form, data[:40])
                    assert why in plain["detail"], plain
                    ProblemOut.model_validate(plain)
            await server.register("ada")  # nobody has done so yet, and the server still answers

    asyncio.run(scenario())


def test_answers_come_in_two_forms_and_not_twice(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            plain = await server.get("/variants")
            for accept, form in [
                ("application/msgpack", "application/msgpack"),
                ("application/json;q=0.5, application/msgpack", "application/msgpack"),
                ("application/json, application/msgpack;q=0.9", "application/json"),
                ("application/msgpack;q=0", "application/json"),
                ("text/html, */*;q=0.1", "application/json"),
                ("application/msgpack;q=nonsense", "application/json"),
            ]:
                headers = {"Accept": accept}
                async with server.http.get(f"{server.url}{API}/variants", headers=headers) as got:
                    body = await got.read()
                    assert got.content_type == form, accept
                    assert "Accept" in got.headers["Vary"]
                    etag = got.headers["ETag"]
                    load = json.loads if form.endswith("json") else msgpack.unpackb
                    assert load(body) == plain
                for known, status in [(etag, 304), (f'"x", {etag}', 304), ("*", 304), ('"x"', 200)]:
                    headers = {"Accept": accept, "If-None-Match": known}
                    url = f"{server.url}{API}/variants"
                    async with server.http.get(url, headers=headers) as got:
                        assert got.status == status
                        assert got.headers["ETag"] == etag
                        assert (await got.read() == b"") == (status == 304)

            async with server.http.post(
                f"{server.url}{API}/accounts",
                data=msgpack.packb({"name": "ada"}),
                headers={"Content-Type": "application/msgpack", "Accept": "application/msgpack"},
            ) as got:
                assert got.status == 201
                assert got.headers["Cache-Control"] == "no-store"
                opened = msgpack.unpackb(await got.read())
            headers = {"Authorization": f"Bearer {opened['token']}"}
            async with server.http.get(f"{server.url}{API}/account", headers=headers) as got:
                assert got.headers["Cache-Control"] == "private, no-cache"
                assert "Authorization" in got.headers["Vary"]

    asyncio.run(scenario())


async def told(server: Served, method: str, path: str) -> tuple[int, Mapping[str, str], Any]:
    async with server.http.request(method, server.url + path) as response:
        body = await response.read()
        return response.status, response.headers, json.loads(body) if body else None


def test_addresses_that_cannot_be_are_refused_and_answers_give_nothing_away(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with served(tmp_path) as server:
            status, headers, plain = await told(server, "GET", f"{API}/nowhere")
            assert (status, plain["status"]) == (404, 404)
            assert "openapi.json" in plain["detail"]
            status, headers, plain = await told(server, "PUT", f"{API}/accounts")
            assert (status, headers["Allow"]) == (405, "POST")
            assert headers["Content-Type"] == PROBLEM
            status, _, plain = await told(server, "GET", f"{API}/variants?colour=blue")
            assert status == 422
            assert "colour: does not exist; none does" in plain["detail"]

            status, whole, plain = await told(server, "GET", f"{API}/variants")
            head_status, head, nothing = await told(server, "HEAD", f"{API}/variants")
            assert (status, head_status, nothing) == (200, 200, None)
            assert head["Content-Length"] == whole["Content-Length"]
            assert head["ETag"] == whole["ETag"]

            for path in (API, f"{API}/nowhere", f"{API}/account", "/healthz", "/nowhere"):
                async with server.http.get(server.url + path) as response:
                    assert response.headers["Server"] == "keltis-ladder"
                    assert response.headers["X-Content-Type-Options"] == "nosniff"
                    assert response.headers["Referrer-Policy"] == "same-origin"
                    if path.startswith(API):
                        policy = response.headers["Content-Security-Policy"]
                        assert policy == "default-src 'none'; frame-ancestors 'none'"

    asyncio.run(scenario())


def test_every_answer_is_a_model_that_clients_can_parse_with() -> None:
    answers = [endpoint.returns for part in PARTS for endpoint in part.all]
    models = [each for each in answers if isinstance(each, type)]
    elsewhere = {
        model.__name__
        for model in models
        if not model.__module__.startswith("keltis_server.models.") and not issubclass(model, Page)
    }
    assert models
    assert not elsewhere

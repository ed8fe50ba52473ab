"""Answers of newer or older servers, or of some that write what a terminal must not get."""

from datetime import UTC, datetime
from typing import Any

import pytest

from keltis_cli.remote.connect.connection import Server
from keltis_cli.remote.connect.servers import Place
from keltis_cli.remote.connect.shapes import read
from keltis_cli.remote.connect.troubles import Unreachable
from keltis_server.models.matches import MatchOut
from keltis_server.models.reports import FindingOut
from tests.cli.remote.connect.test_troubles import a_match

SERVER = Server(Place("http://127.0.0.1:9"))


def match(**changes: Any) -> dict[str, Any]:
    return a_match() | {"number": None, "state": "playing"} | changes


def test_what_a_newer_server_adds_is_ignored() -> None:
    clock = {"bank_ms": 1, "increment_ms": 2, "start_ms": 3, "delay_ms": 4}
    told = read(SERVER, MatchOut, match(state="adjourned", weather="fine", clock=clock))
    assert (told.state, told.over, told.clock.start_ms) == ("adjourned", True, 3)
    assert not hasattr(told, "weather")


def test_a_field_that_is_missing_is_named() -> None:
    plain = match()
    del plain["purpose"]
    with pytest.raises(Unreachable, match=r"\(purpose is missing\): .* as new as this"):
        read(SERVER, MatchOut, plain)
    with pytest.raises(Unreachable, match=r"an odd match \(purpose\)"):
        read(SERVER, MatchOut, match(purpose=7))


def test_what_an_older_server_does_not_have_yet_is_unknown() -> None:
    plain = match()
    for name in ("origin", "result_digest", "tournament", "leg"):
        del plain[name]
    for entrant in plain["entrants"]:
        del entrant["sigma"]
    told = read(SERVER, MatchOut, plain)
    assert (told.origin, told.result_digest, told.tournament, told.leg) == (None,) * 4
    assert [entrant.sigma for entrant in told.entrants] == [None] * len(plain["entrants"])
    assert told.entrants


def test_texts_are_one_printable_line_but_logs_keep_their_lines() -> None:
    plain = {"check": "start", "mark": "ok", "text": "a\n\x1b[2Jb", "advice": "", "log": "1\n2"}
    found = read(SERVER, FindingOut, plain)
    assert found.text == r"a \x1b[2Jb"
    assert found.log == "1\n2"


@pytest.mark.parametrize(
    "written", ["2026-11-16T12:00:00", "2026-11-16T12:00:00Z", "2026-11-16T14:00:00+02:00"]
)
def test_moments_are_in_utc_however_they_were_written(written: str) -> None:
    told = read(SERVER, MatchOut, match(created=written))
    assert told.created == datetime(2026, 11, 16, 12, tzinfo=UTC)
    assert told.created.tzinfo is UTC


def test_an_answer_that_is_nested_without_end_is_one_line() -> None:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(Unreachable, match="nested too deeply"):
        read(SERVER, MatchOut, match(more=nested))

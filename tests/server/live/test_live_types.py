"""What the server sends fits the types that the scripts of our pages are checked with.

The compiler of TypeScript compares: a field that is missing, new or of another type is an error.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from keltis_server.models.matches import MatchOut
from keltis_server.play.games import GAMES
from keltis_server.web.pages.matches import viewed
from tests.places import ROOT
from tests.server.support.serving import served
from tests.server.support.spectating import (
    CALM,
    PATIENT,
    Message,
    listen,
    next_json,
    order,
    raw_socket,
    settle_in,
)
from tests.server.web.support.positions import gallery

COMPILER = ROOT / ".venv/node/node_modules/.bin/tsc"
EVENTS = {
    "lobby": "Live.LobbyEvent",
    "match": "Live.MatchEvent",
    "leaderboard": "Live.Lines",
    "version": "Live.VersionEvent",
}
SNAPSHOTS = {
    "lobby": "Live.Lobby",
    "match": "Live.Match",
    "leaderboard": "Wire.LeaderboardOut",
    "version": "Live.Version",
}
ENOUGH = 3  # of each kind, from each topic

Sample = tuple[str, object]  # a type, and something that should have it


@pytest.mark.slow
@pytest.mark.skipif(not COMPILER.exists(), reason="there is no tsc: make lint installs it")
def test_what_is_sent_fits_the_types_of_the_scripts(tmp_path: Path) -> None:
    samples: list[Sample] = [("Views.Each", shown["view"]) for shown in gallery()]
    samples += parts(asyncio.run(heard(tmp_path / "home")))
    kinds = {kind for kind, _ in samples}
    assert kinds >= {*SNAPSHOTS.values(), "Live.LobbyEvent", "Live.MatchEvent", "Live.Message"}
    assert "Viewing.Match" in kinds
    assert complaints(tmp_path, samples) == ""


async def heard(directory: Path) -> list[Message]:
    """Return what somebody hears of a match from its beginning to its end."""
    async with served(directory, CALM) as server:
        games = server.app[GAMES]
        games.drain(True)
        async with raw_socket(server) as socket:
            messages = [await next_json(socket)]
            await socket.send_json({"op": "ping"})
            messages.append(await next_json(socket))
        one, other = [await settle_in(server, name, "random") for name in ("ann", "bob")]
        match = await order(server, "weg-der-steine", [one, other], control=PATIENT)
        topics = ["lobby", "leaderboard/all/0", f"version/{one.bot}/1", f"match/{match}"]
        there = asyncio.Event()
        work = listen(server.url, one.token, "json", topics, 1, there)
        task = asyncio.create_task(work)
        await there.wait()  # so that it is heard from its beginning
        games.drain(False)
        return [*messages, *await task]


@pytest.mark.skipif(not COMPILER.exists(), reason="there is no tsc: make lint installs it")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"tempo": "hasty"}, "hasty"),
        ({"more": 1}, "more"),
        ({"per_minute": "one"}, "'string' is not assignable"),
        ({}, ""),
    ],
)
def test_what_does_not_fit_is_found(tmp_path: Path, change: Message, complaint: str) -> None:
    found = complaints(tmp_path, [("Live.Pace", {"tempo": "full", "per_minute": None, **change})])
    assert complaint in found
    assert bool(found) == bool(change)


def parts(messages: list[Message]) -> Iterator[Sample]:
    """Yield some of each kind of messages, and what they carry."""
    seen: dict[tuple[str, str, str], int] = {}

    def is_wanted(op: str, topic: str, kind: str = "") -> bool:
        seen[op, topic, kind] = seen.get((op, topic, kind), 0) + 1
        return seen[op, topic, kind] <= ENOUGH

    for message in messages:
        op, topic, data = message["op"], str(message.get("topic")), message.get("data")
        about = topic.partition("/")[0]
        if not isinstance(data, list) and not is_wanted(op, topic):
            continue
        match op:
            case "snapshot":
                yield SNAPSHOTS[about], shortened(data)
            case "delta":
                assert isinstance(data, list)
                for event in data:
                    if is_wanted(op, topic, event["kind"]):
                        yield EVENTS[about], event
            case "end" if about == "match":
                assert isinstance(data, dict)
                yield "Live.MatchEnd", data
                yield "Viewing.Match", viewed(MatchOut.model_validate(data["match"]))
            case _:
                yield "Live.Message", message


def shortened(data: object) -> object:
    """Return the snapshot of a match with a few of its frames."""
    if isinstance(data, dict) and data.get("current"):
        current = data["current"]
        return {**data, "current": {**current, "frames": current["frames"][:ENOUGH]}}
    return data


def complaints(directory: Path, samples: list[Sample]) -> str:
    """Return what the compiler says about values that should have these types."""
    lines = [
        f"/** @type {{{kind}}} */\nexport const sample{k} = {json.dumps(value)};\n"
        for k, (kind, value) in enumerate(samples)
    ]
    (directory / "samples.js").write_text("".join(lines), encoding="utf-8")
    settings = {
        "extends": str(ROOT / "tsconfig.json"),
        "include": [str(directory / "samples.js"), str(ROOT / "server/types/*.d.ts")],
    }
    (directory / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = subprocess.run(
        [COMPILER, "--project", directory], capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr

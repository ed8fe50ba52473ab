"""A replay that was downloaded holds, and whatever is changed in it is refused by its name."""

import asyncio
import json
import tempfile
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from keltis_engine.records.replay import play_again, read_replay
from keltis_ladder.referee.verify import (
    CheckOutcome,
    Verdict,
    expanded,
    unknown_fields,
    verify_games,
)
from keltis_server.http.endpoints import API
from tests.ladder.support.small_bots import write_bot
from tests.server.support.serving import Served, served
from tests.server.support.spectating import CALM, order, settle_in

PATIENCE = 300.0
FAILS = 'if request.view["turn"] > 12: raise SystemExit(3)\nreturn request.legal[0]'
LIES = 'return -1 if request.view["turn"] > 20 else request.legal[0]'

Game = dict[str, Any]
Change = Callable[[list[Game]], None]


@cache
def downloads() -> dict[str, str]:
    """Play matches with and without faults on a real server, and download them, once."""
    with tempfile.TemporaryDirectory() as directory:
        return asyncio.run(_downloads(Path(directory)))


async def _downloads(directory: Path) -> dict[str, str]:
    async with served(directory, CALM) as server:
        one, two = [await settle_in(server, name, "random") for name in ("one", "two")]
        fails = await settle_in(server, "fails", "", write_bot(directory / "bots/fails", FAILS))
        lies = await settle_in(server, "lies", "", write_bot(directory / "bots/lies", LIES))
        tables = {
            "first": ("keltis", [one, two]),
            "sound": ("kartenspiel", [one, two]),
            "over": ("keltis", [one, fails]),  # one is left: the game is over
            "goes on": ("kartenspiel", [one, fails, two]),
            "two": ("weg-der-steine", [fails, one, lies]),
        }
        found = {}
        for name, (variant, entrants) in tables.items():
            id = await order(server, variant, entrants, rated=True)
            found[name] = await asyncio.wait_for(_download(server, id), PATIENCE)
        return found


async def _download(server: Served, id: str) -> str:
    while (await server.get(f"/matches/{id}"))["state"] != "finished":
        await asyncio.sleep(0.05)
    async with server.http.get(f"{server.url}{API}/matches/{id}/replay") as response:
        assert response.status == 200
        return await response.text()


def games_of(name: str) -> list[Game]:
    return [json.loads(line) for line in downloads()[name].splitlines()]


def verified(games: list[Game], whole: bool = True) -> list[Verdict]:
    return verify_games([read_replay(json.dumps(game)) for game in games], whole=whole)


ALL = [
    "decisions", "scores", "digest", "faults", "ending", "ranks", "names", "rotation", "match",
    "origin", "seed", "commitment", "result",
]  # fmt: skip


@pytest.mark.parametrize("name", ["first", "sound", "over", "goes on", "two"])
def test_a_replay_that_was_downloaded_holds_in_every_point(name: str) -> None:
    games = games_of(name)
    for verdict in verified(games):
        assert [check.name for check in verdict.checks] == ALL
        assert verdict.wrong == []
        assert list(unknown_fields(verdict.record)) == []
        # There was no result yet before the first match.
        expected = ["origin"] if name == "first" else []
        assert verdict.names(CheckOutcome.WEAK) == expected
        assert verdict.names(CheckOutcome.ABSENT) == []
    faults = [fault for game in games for fault in game["faults"]]
    assert bool(faults) == (name not in ("first", "sound"))


def test_a_single_game_of_a_match_can_be_verified_too() -> None:
    [verdict] = verified(games_of("goes on")[1:2], whole=False)
    assert (verdict.wrong, verdict.names(CheckOutcome.WEAK)) == ([], ["result"])
    [verdict] = verified(games_of("goes on")[1:2])
    assert [check.name for check in verdict.wrong] == ["match"]
    assert "it has 3 games, the file has 1" in verdict.wrong[0].text


def put(*path: Any) -> Change:
    """Return what puts a value into the second game, at the end of a path."""
    *way, last, value = path

    def change(games: list[Game]) -> None:
        place: Any = games[1]
        for step in way:
            place = place[step]
        assert place[last] != value
        place[last] = value

    return change


def shift(*path: Any, by: int = 1) -> Change:
    *way, last = path

    def change(games: list[Game]) -> None:
        place: Any = games[1]
        for step in way:
            place = place[step]
        place[last] += by

    return change


def swap(*path: Any) -> Change:
    """Return what changes the first digit of a text of digits."""
    *way, last = path

    def change(games: list[Game]) -> None:
        place: Any = games[1]
        for step in way:
            place = place[step]
        place[last] = ("1" if place[last][0] != "1" else "2") + place[last][1:]

    return change


def in_all(change: Change) -> Change:
    """Return what makes the same change in every game: they agree, and are wrong."""

    def changes(games: list[Game]) -> None:
        for game in games:
            change([game, game])

    return changes


def drop(name: str) -> Change:
    return lambda games: games[1].pop(name)


def without_faults(games: list[Game]) -> None:
    games[1]["faults"] = []


def last_rank_first(games: list[Game]) -> None:
    games[1]["ranks"] = games[1]["ranks"][::-1]


def rename(games: list[Game]) -> None:
    games[1]["names"][0] = "somebody"


def turn_names(games: list[Game]) -> None:
    games[1]["names"] = games[1]["names"][1:] + games[1]["names"][:1]


# What is changed, the check that fails, and a word that its sentence has: the field's name. Where
# it depends on the cards which of two fails, both are named.
CHANGES: dict[str, tuple[str, Change, str, str]] = {
    "a decision": ("sound", put("decisions", 0, "draw"), "decisions", "decision 1"),
    "no last decision": ("sound", lambda games: games[1]["decisions"].pop(), "digest", "expected"),
    "a score": ("sound", shift("scores", 0), "scores", "expected ["),
    "the digest": ("sound", swap("digest"), "digest", "the file says"),
    "the seed": ("sound", swap("seed"), "decisions|digest", ""),
    "the ending": ("sound", put("ending", "figures"), "ending", "the file says 'figures'"),
    "another ending": ("over", put("ending", "last card"), "ending", "expected 'fault'"),
    "no ending": ("over", put("ending", None), "ending", "expected 'fault'"),
    "the ranks": ("over", last_rank_first, "ranks", "expected ["),
    "ranks of three": ("goes on", put("ranks", [1, 1, 1]), "ranks", "expected ["),
    "truth for a rank": ("over", put("ranks", [True, 2]), "ranks", "True"),
    "a name": ("sound", rename, "names", "'names' or 'rotation'"),
    "the order of names": ("goes on", turn_names, "names", "'names' or 'rotation'"),
    "too few names": ("sound", put("names", ["one-bot"]), "names", "expected 2 names"),
    "the rotation": ("goes on", put("rotation", 2), "rotation", "the same one"),
    "a rotation too many": ("sound", put("rotation", 7), "rotation", "from 0 to 1"),
    "the match": ("sound", shift("match"), "match", "another game of match"),
    "the match, all": ("sound", in_all(shift("match")), "result", "'match'"),
    "no faults": ("over", without_faults, "ending", "expected None"),
    "no faults of three": ("goes on", without_faults, "ranks|result", ""),
    "whose fault": ("over", put("faults", 0, "seat", 1), "faults", "'seat'"),
    "whose fault of three": ("goes on", put("faults", 0, "seat", 2), "faults", "'seat'"),
    "nobody's fault": ("over", put("faults", 0, "seat", 5), "faults", "'seat' is from 0 to 1"),
    "when": ("over", shift("faults", 0, "decision", by=-1), "faults", "'decision'"),
    "when, of three": ("goes on", shift("faults", 0, "decision"), "result", "'decision'"),
    "when at last": ("over", shift("faults", 0, "decision", by=999), "faults", "'decision' is"),
    "the kind": ("over", put("faults", 0, "kind", "mood"), "faults", "'kind' is one of crash"),
    "another kind": ("over", put("faults", 0, "kind", "timeout"), "result", "'kind'"),
    "the code": ("over", put("faults", 0, "code", "signal"), "result", "'code'"),
    "no code": ("over", put("faults", 0, "code", None), "faults", "'code' is a text"),
    "a field of a fault": (
        "over", lambda games: games[1]["faults"][0].update(mood=1), "faults", "'mood'"
    ),
    "a fault twice": (
        "goes on", lambda games: games[1]["faults"].append(games[1]["faults"][0]), "faults",
        "drops out twice",
    ),
    "the order of faults": (
        "two", lambda games: games[1]["faults"].reverse(), "faults", "in the order"
    ),
    "the job": ("sound", put("job", "another"), "commitment", "'job' and 'seed'"),
    "the commitment": ("sound", swap("commitment"), "commitment", "'job' and 'seed'"),
    "the server's part": ("sound", swap("origin", "secret"), "origin", "'secret'"),
    "no part": ("sound", put("origin", "secret", None), "origin", "'secret'"),
    "its number": ("sound", shift("origin", "part"), "origin", "'part'"),
    "its time": ("sound", shift("origin", "after"), "origin", "'after'"),
    "its commitment": ("sound", swap("origin", "part_commitment"), "origin", "part_commitment"),
    "the result before": ("sound", shift("origin", "previous"), "seed", "'previous'"),
    "its digest": ("sound", swap("origin", "previous_digest"), "seed", "'previous_digest'"),
    "a program": ("sound", put("origin", "programs", 0, "archive x"), "seed", "'programs'"),
    "a program less": ("sound", lambda games: games[1]["origin"]["programs"].pop(), "origin",
                       "'programs'"),
    "no origin": ("sound", drop("origin"), "origin", "another game of match"),
    "whether it was rated": ("sound", in_all(put("result", "rated", False)), "result", "'rated'"),
    "the result's digest": ("sound", in_all(swap("result", "digest")), "result", "digest"),
    "what was before": ("sound", in_all(swap("result", "before")), "result", "'before'"),
    "one game's result": ("sound", swap("result", "digest"), "result", "another game of match"),
    "the players": ("goes on", put("players", 2), "decisions|digest", ""),
    "the variant": ("sound", put("variant", "keltis"), "decisions", "option"),
    "the version": ("sound", put("version", 2), "decisions", "version 2"),
    "an option": ("sound", put("options", "turn_limit", 999), "digest", "expected"),
    "another option": ("sound", put("options", "end_card_opens_row", 0), "decisions|digest", ""),
    "an option of all": ("sound", in_all(put("options", "turn_limit", 999)), "digest", "expected"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_is_changed_is_refused_by_its_name(what: str) -> None:
    name, change, check, word = CHANGES[what]
    games = games_of(name)
    kept = deepcopy(games)
    change(games)
    assert games != kept
    wrong = {found.name: found.text for found in verified(games)[1].wrong}
    found = [wrong[each] for each in check.split("|") if each in wrong]
    assert found, wrong
    assert word in found[0]


def test_every_field_is_changed_by_some_test() -> None:
    touched = set()
    for name, change, _, _ in CHANGES.values():
        games = games_of(name)
        kept = deepcopy(games)
        change(games)
        before, after = _leaves(kept[1]), _leaves(games[1])
        touched |= {path for path in before.keys() | after if before.get(path) != after.get(path)}
    every = set(_leaves(games_of("goes on")[1])) - {"format"}
    assert every - touched == set()


def _leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Return everything in a record by its path; the places of a list count as one."""
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for name, each in value.items():
            found.update(_leaves(each, f"{path}.{name}".lstrip(".")))
        return found
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return _leaves(value[0], path)
    return {path: value}


def test_an_expanded_replay_names_winners_ranks_and_faults() -> None:
    for name in ("over", "goes on", "two"):
        for game in games_of(name):
            end, _ = play_again(game)
            told = expanded(game, end)
            out = {fault["seat"] for fault in game["faults"]}
            assert (told["over"], told["ending"]) == (True, game["ending"])
            assert told["ranks"] == game["ranks"]
            assert told["faults"] == game["faults"]
            assert told["names"] == game["names"]
            best = max(score for seat, score in enumerate(game["scores"]) if seat not in out)
            expected = [
                seat
                for seat, score in enumerate(game["scores"])
                if score == best and seat not in out
            ]
            assert told["winners"] == expected
    over = games_of("over")
    assert {game["ending"] for game in over} == {"fault"}
    for game in over:  # whoever failed has lost, whatever the points were
        loser = game["names"].index("fails-bot")
        assert expanded(game, play_again(game)[0])["winners"] == [1 - loser]

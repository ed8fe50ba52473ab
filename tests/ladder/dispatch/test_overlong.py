"""Who drags matches on is told from a machine that is too busy."""

from __future__ import annotations

from pathlib import Path

from keltis_ladder.dispatch.overlong import MOST_KEPT, MOST_OVERLONG, Overlong
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.jobs import Job


def match(*names: str, id: str | None = None) -> Job:
    bots = tuple(Entrant(name, name, ("true",), Path("/")) for name in names)
    return Job("keltis", {}, 1, bots, id=id or "-".join(names))


def test_a_machine_that_is_too_busy_for_all_is_never_a_bots_doing() -> None:
    overlong = Overlong()
    for number in range(100):
        assert not overlong.meet(match("gwyn", "ada", id="the final"), core=number % 4)
        assert not overlong.meet(match("ada", "owen", id=str(number)), core=number % 4)
    assert overlong.suspects == {}


def test_a_core_on_which_nothing_ends_is_no_bots_doing_though_others_are_free() -> None:
    overlong = Overlong()
    for number in range(100):
        overlong.end(match("owen", "mair"), core=0)
        assert not overlong.meet(match("gwyn", "ada", id=str(number)), core=1)
    assert overlong.suspects == {}


def test_a_bot_whose_matches_alone_never_end_is_shown() -> None:
    overlong = Overlong()
    for number in range(1, 10):
        drags = overlong.meet(match("gwyn", f"opponent{number}", id=str(number)), core=0)
        assert drags == (number >= MOST_OVERLONG)
        overlong.end(match("owen", "mair"), core=0)
        assert overlong.suspects == ({"gwyn": number} if drags else {})
    overlong.end(match("gwyn", "ada"), core=0)
    assert overlong.suspects == {}


def test_many_at_once_are_not_many_in_a_row() -> None:
    overlong = Overlong()
    overlong.end(match("owen", "mair"), core=0)
    for core in range(8):
        assert not overlong.meet(match("gwyn", "ada", id=str(core)), core)


def test_a_match_that_never_ends_is_given_up_though_its_bots_end_others() -> None:
    overlong = Overlong()
    drags = []
    for _ in range(MOST_OVERLONG):
        drags.append(overlong.meet(match("gwyn", "ada", id="the final"), core=0))
        overlong.end(match("gwyn", "owen"), core=0)
        overlong.end(match("ada", "owen"), core=0)
    assert drags == [False] * (MOST_OVERLONG - 1) + [True]
    assert overlong.suspects == {}


def test_only_so_much_is_remembered() -> None:
    overlong = Overlong()
    for number in range(2 * MOST_KEPT):
        overlong.meet(match(f"bot{number}", f"other{number}"), core=0)
        overlong.end(match("owen", "mair"), core=0)
    assert len(overlong._matches) == len(overlong._bots) == MOST_KEPT

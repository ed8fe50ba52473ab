"""Plans that cannot be held are refused, and the text says what to do."""

import pytest

from keltis_ladder.errors import LadderError
from keltis_ladder.match.table_labels import TableCode, TableLabel
from keltis_ladder.tournaments import FORMATS, LegResult, Pairing, Plan, Tournament, walkover
from tests.ladder.tournaments.support.playing import complaint

BAD_PLANS = [
    (Plan("knockout", 8), ["'knockout'", "round-robin, swiss, single-elimination"]),
    (Plan("swiss", 8, variants=()), ["name one or more of keltis, neue-wege"]),
    (Plan("swiss", 8, variants=("keltis", "chess")), ["'chess'", "choose from keltis, neue-wege"]),
    (Plan("swiss", 8, variants=("keltis", "keltis")), ["twice", "equal shares"]),
    (Plan("swiss", 8, players=5), ["5 cannot play at a table", "2 to 4"]),
    (Plan("swiss", 8, players=1), ["1 cannot play", "2 to 4"]),
    (Plan("double-elimination", 8, players=3), ["players=2, or single-elimination"]),
    (Plan("round-robin", 1), ["1 entrants cannot fill a table of 2", "enter 2 or more"]),
    (Plan("swiss", 3, players=4), ["enter 4 or more"]),
    (Plan("round-robin", 300), ["300 entrants are too many", "256 at most, or take swiss"]),
    (Plan("round-robin", 129, players=3), ["with 3 at a table", "128 at most, or take swiss"]),
    (Plan("swiss", 600), ["512 at most, or take single-elimination"]),
    (Plan("single-elimination", 1025), ["enter 1024 at most"]),
    (Plan("double-elimination", 513), ["512 at most, or take single-elimination"]),
    (Plan("swiss", 8, rounds=0), ["0 rounds", "1 or more"]),
    (Plan("swiss", 8, rounds=8), ["at most 7, or a round-robin"]),
    (Plan("swiss", 7, rounds=8), ["at most 7, or a round-robin"]),
    (Plan("single-elimination", 8, rounds=3), ["leave out rounds (you gave 3)"]),
    (Plan("swiss", 8, challengers=2), ["only a gauntlet has challengers"]),
    (Plan("gauntlet", 8, challengers=8), ["1 to 7 can be challengers"]),
    (Plan("gauntlet", 8, players=4, challengers=6), ["1 to 5 can be challengers"]),
    (Plan("gauntlet", 8, challengers=0), ["0 challengers do not fit"]),
    (Plan("swiss", 8, matches=0), ["0 matches", "take 1 or more"]),
    (Plan("round-robin", 200, rounds=20), ["400,000 matches", "fewer entrants, rounds or matches"]),
]


@pytest.mark.parametrize(("plan", "hints"), BAD_PLANS)
def test_a_bad_plan_is_refused_with_a_hint(plan: Plan, hints: list[str]) -> None:
    text = complaint(plan)
    assert text
    for hint in hints:
        assert hint in text
    with pytest.raises(LadderError):
        Tournament(plan)


@pytest.mark.parametrize("format_", FORMATS)
def test_the_smallest_tournaments_can_be_held(format_: str) -> None:
    assert not complaint(Plan(format_, 2))
    if format_ != "double-elimination":
        assert not complaint(Plan(format_, 4, players=4))


@pytest.mark.parametrize(
    ("entrants", "rounds"), [(2, 1), (3, 3), (4, 3), (5, 4), (8, 4), (9, 5), (64, 7), (256, 9)]
)
def test_swiss_rounds_have_a_default(entrants: int, rounds: int) -> None:
    assert Plan("swiss", entrants).length == rounds


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (LegResult((1, 2, 3), (24, 0), (1, 1), (0, 0)), "3 ranks does not fit a table of 2"),
        (LegResult((1, 2), (24, 0), (1,), (0, 0)), "1 points does not fit"),
        (LegResult((2, 2), (12, 12), (1, 1), (0, 0)), "are no ranks"),
        (LegResult((0, 1), (12, 12), (1, 1), (0, 0)), "are no ranks"),
        (LegResult((1, 3), (24, 0), (1, 1), (0, 0)), "are no ranks"),
        (LegResult((1, 2), (24, 12), (1, 1), (0, 0)), "no shares of 2 wins"),
        (LegResult((1, 2), (24, -1), (1, 1), (0, 0)), "no shares of 2 wins"),
        (LegResult((1, 2), (24, 0), (1, 1), (0, 3)), "no numbers of faults in 2 games"),
        (LegResult((1, 2), (24, 0), (1, 1), (-1, 0)), "no numbers of faults in 2 games"),
    ],
)
def test_a_result_that_cannot_be_is_refused(result: LegResult, text: str) -> None:
    tournament = Tournament(Plan("round-robin", 2))
    with pytest.raises(LadderError, match=text):
        tournament.record("1/1/1", result)
    assert tournament.progress == (0, 1)


def test_a_walkover_gives_all_wins_to_those_who_are_there() -> None:
    table = Pairing(1, 1, (4, 7, 2), TableLabel(TableCode.FINAL))
    assert walkover(table, {7}) == LegResult((1, 3, 1), (18, 0, 18), (0, 0, 0), (0, 0, 0))
    assert walkover(table, {2, 4}) == LegResult((2, 1, 2), (0, 36, 0), (0, 0, 0), (0, 0, 0))
    for absent in ({9}, {2, 4, 7}):
        with pytest.raises(LadderError, match="somebody who is absent and somebody who is there"):
            walkover(table, absent)

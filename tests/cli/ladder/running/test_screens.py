"""The leaderboard, the matrix and the ladder's screen fit every terminal and say what is so."""

import re

import pytest
from rich.text import Text

from keltis_cli.draw.journal import KEPT, Journal
from keltis_cli.draw.look import Look
from keltis_cli.draw.strokes import ago, counted, cut, lasting, wins
from keltis_cli.draw.tables.leaderboard import axis, interval, leaderboard_lines
from keltis_cli.draw.tables.matrix import matrix_lines
from keltis_cli.ladder.running.screen import LadderState, ladder_lines
from keltis_ladder.dispatch.dispatcher import (
    AttemptFailed,
    MatchAbandoned,
    MatchFinished,
    MatchPostponed,
)
from keltis_ladder.match.reasons import MatchReason, Reason
from keltis_ladder.run.scheduler import PlatformTrouble
from keltis_ladder.store.ratings.leaderboards import Encounter
from tests.cli.support.made_up import NAMES, NOON, began, board, line, playing, started, told

WIDTHS = [60, 72, 80, 100, 120, 160]
SYMBOLS, LETTERS = Look(), Look(ascii=True)
CP437 = "cp437"
CUT = "…"  # older than code page 437's successors, and in every font all the same


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def plain(lines: list[Text]) -> list[str]:
    return [line.plain for line in lines]


def check_fits(lines: list[Text], width: int, look: Look) -> None:
    """Nothing is too wide, no line ends with blanks, and only the allowed signs are used."""
    for text in plain(lines):
        assert len(text) <= width
        assert text == text.rstrip()
        text.replace(CUT, "").encode("ascii" if look.ascii else CP437)


@pytest.mark.parametrize("look", [SYMBOLS, LETTERS])
@pytest.mark.parametrize("width", [*WIDTHS, 30, 12])
@pytest.mark.parametrize("in_full", [False, True])
def test_a_leaderboard_fits_and_is_aligned(width: int, look: Look, in_full: bool) -> None:
    lines = leaderboard_lines(board(), width, look, NOON, in_full=in_full)
    check_fits(lines, width, look)
    assert len(lines) == 1 + len(board())
    if width >= 60:
        head, *rows = plain(lines)
        end = head.index("rating") + len("rating")
        assert [row[:end].split()[-1] for row in rows] == [
            "34.2", "30.1", "29.5", "25.0", "12.3", "11.0"
        ]  # fmt: skip
        for heading in ("matches", "faults"):
            end = head.index(heading) + len(heading)
            assert all(row[end - 1].isdigit() and row[end : end + 1] in ("", " ") for row in rows)


def test_ranks_say_how_sure_they_are() -> None:
    rows = plain(leaderboard_lines(board(), 100, SYMBOLS, NOON))[1:]
    assert [row.split()[0] for row in rows] == ["1", "2=", "2=", "?", "4", "-"]
    assert [" v3 " in row for row in rows] == [True] * 6


def test_a_long_name_is_cut_but_not_its_version() -> None:
    row = plain(leaderboard_lines(board(), 80, SYMBOLS, NOON))[2]
    assert row.startswith("  2=  a-bot-with-")
    assert f"{CUT} v3 " in row


def test_wide_terminals_show_more_and_narrow_ones_keep_what_counts() -> None:
    heads = [
        leaderboard_lines(board(), width, SYMBOLS, NOON, in_full=True)[0].plain.split()
        for width in WIDTHS
    ]
    assert [len(head) for head in heads] == sorted(len(head) for head in heads)
    for word in ("rank", "bot", "rating", "matches", "faults"):
        assert word in heads[0]
    assert "seat" not in heads[2]
    assert "seat" in heads[-1]


def test_a_long_leaderboard_says_how_many_are_left_out() -> None:
    lines = plain(leaderboard_lines(board() * 5, 80, SYMBOLS, NOON, most=10))
    assert len(lines) == 10
    assert lines[-1] == "and 22 more: keltis-ladder ladder show"


@pytest.mark.parametrize("look", [SYMBOLS, LETTERS])
def test_intervals_are_drawn_where_they_are(look: Look) -> None:
    bar = interval(20.0, 25.0, 30.0, (20, 40), 21, look).plain
    line, mean, left, right = ("-", "o", "|", "|") if look.ascii else ("─", "■", "├", "┤")
    assert bar == f"{left}{line * 4}{mean}{line * 4}{right}{' ' * 10}"
    assert interval(33.0, 33.1, 33.2, (20, 40), 21, look).plain.strip() == mean


@pytest.mark.parametrize(("low", "high", "width"), [(20, 40, 21), (3, 47, 40), (-5, 60, 13)])
def test_the_numbers_above_the_intervals_stand_over_their_places(
    low: int, high: int, width: int
) -> None:
    text = axis(low, high, width)
    assert len(text) == width
    numbers = text.split()
    assert len(numbers) >= 2
    for number in numbers:
        begin = f" {text} ".index(f" {number} ")
        mark = interval(float(number), float(number), float(number), (low, high), width, SYMBOLS)
        place = mark.plain.index("■")
        assert begin <= place < begin + len(number)


@pytest.mark.parametrize("look", [SYMBOLS, LETTERS])
@pytest.mark.parametrize("width", [*WIDTHS, 24])
def test_a_matrix_fits(width: int, look: Look) -> None:
    lines = [line(f"bot-{number}", 30 - number) for number in range(12)]
    met = {
        (one.version, other.version): Encounter(12_345, 2, 700)
        for one in lines
        for other in lines
        if one is not other
    }
    shown = matrix_lines(lines, met, width, look)
    check_fits(shown, width, look)
    if width >= 80:
        assert len(shown) == 1 + 2 * 12
    else:
        assert " of 12 fit: use a wider" in shown[-1].plain


def test_a_matrix_has_shares_numbers_and_gaps() -> None:
    one, two, three = (line(name, 20) for name in ("one", "two", "three"))
    met = {
        (one.version, two.version): Encounter(6, 1, 3),
        (two.version, one.version): Encounter(3, 1, 6),
        (two.version, three.version): Encounter(1500, 0, 0),
        (three.version, two.version): Encounter(0, 0, 1500),
    }
    rows = [text.split() for text in plain(matrix_lines([one, two, three], met, 80, SYMBOLS))]
    assert rows == [
        ["1", "2", "3"],
        ["1", "one", "v3", "░░░", "65%", "-"],
        ["10"],
        ["2", "two", "v3", "35%", "░░░", "100%"],
        ["10", "1.5k"],
        ["3", "three", "v3", "-", "0%", "░░░"],
        ["1.5k"],
    ]


def busy_journal(clock: Clock) -> Journal:
    """Return a journal with referees at work, results, faults and trouble."""
    journal = Journal(clock)
    long = Reason(MatchReason.CHALLENGE, {"author": "a long name " * 9})
    for core in range(3):
        match = playing(*NAMES[: 2 + core], variant="kartenspiel", reason=long)
        journal.news(began(match))
        journal.event(started(match, f"core {core}"))
    for number in range(1, 41):
        clock.now += 3.0
        match = playing(*NAMES[: 2 + number % 3])
        journal.news(began(match))
        journal.news(told(match, number, fault=number % 5 == 0))
    journal.news(
        PlatformTrouble("the database does not answer: it is asleep, it seems, and so are we all")
    )
    return journal


@pytest.mark.parametrize("look", [SYMBOLS, LETTERS])
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (160, 60), (30, 9), (9, 3)])
def test_the_screen_fits_every_terminal(size: tuple[int, int], look: Look) -> None:
    width, height = size
    state = LadderState(busy_journal(Clock()), referees=3, lines=board() * 3, total=12_345)
    lines: list[Text] = []
    for state.finishing in (False, True):
        lines = ladder_lines(state, width, height, look, NOON)
        check_fits(lines, width, look)
        assert len(lines) <= height
    if width >= 60:
        told = "\n".join(plain(lines))
        for text in ("40 matches (12,345 in all)", "core 2", "latest", "Finishing"):
            assert text in told


def test_the_screen_of_a_ladder_that_begins_says_so() -> None:
    lines = plain(ladder_lines(LadderState(Journal(Clock()), 1), 80, 24, SYMBOLS, NOON))
    assert lines[0].startswith("Ladder · 0 matches · 0 a minute · 1 referee ")
    assert lines[1].startswith("0 faults · no platform trouble ")
    assert "Nobody has played yet." in lines
    assert "Nothing is being played." in lines


def test_the_screen_tells_results_faults_and_trouble() -> None:
    state = LadderState(busy_journal(Clock()), referees=3, lines=board())
    lines = plain(ladder_lines(state, 120, 40, SYMBOLS, NOON))
    assert " · 40 matches · 21 a minute · 3 referees " in lines[0]
    assert lines[0].endswith(" 2:00")
    assert lines[1].startswith("25 faults · 1 platform trouble: the database does not answer")
    first = lines.index(next(text for text in lines if text.startswith("latest "))) + 1
    last_but_one = r" +39  weg-der-steine  search > a-bot-\S+ +2 : 0 "
    last = r" +40  weg-der-steine  search > greedy > a-bot-\S+ +3 : 0 : 0 .* crash: a-bot-\S+$"
    assert re.match(last, lines[first])
    assert re.match(last_but_one, lines[first + 1])
    assert "crash" not in lines[first + 1]


def test_a_journal_counts_what_was_stored_in_the_last_minute() -> None:
    clock = Clock()
    journal = Journal(clock)
    for number in range(1, 11):
        clock.now += 1.0
        journal.news(told(playing("one", "two"), number))
    assert journal.per_minute == pytest.approx(60.0)
    clock.now += 55.0
    assert journal.per_minute == pytest.approx(6.0)  # those of the last five seconds
    clock.now += 60.0
    assert journal.per_minute == 0
    for number in range(11, KEPT + 30):
        journal.news(told(playing("one", "two"), number))
    assert journal.stored == KEPT + 29
    assert len(journal.latest) == KEPT
    assert journal.latest[0][1].stored.number == KEPT + 29


def test_a_journal_knows_which_referee_plays_what() -> None:
    journal = Journal(Clock())
    one, two, three = (playing("one", "two") for _ in range(3))
    for match, where in ((one, "core 0"), (two, "core 1"), (three, "core 0")):
        journal.news(began(match))
        if match is three:
            journal.event(MatchFinished(one.job, told(one, 1).result))
        journal.event(started(match, where))
    assert journal.busy == {"core 0": three, "core 1": two}
    assert journal.at_referees == {two.job.id, three.job.id}
    assert set(journal.unstored) == {one.job.id, two.job.id, three.job.id}
    journal.news(told(one, 1))
    journal.event(AttemptFailed(two.job, "the referee on core 1 ended with code -9", 1))
    assert journal.busy == {"core 0": three}
    journal.event(MatchAbandoned(two.job, "the match could not be finished"))
    assert set(journal.unstored) == journal.at_referees == {three.job.id}
    assert (journal.stored, journal.troubles) == (1, 1)
    journal.event(MatchPostponed(three.job, "the machine is too busy"))
    assert journal.busy == {}
    assert journal.at_referees == set(journal.unstored) == set()


def test_small_words() -> None:
    assert [wins(twelfths, SYMBOLS) for twelfths in (0, 6, 12, 18, 15, 16, 3)] == [
        "0", "½", "1", "1½", "1¼", "1.33", "¼"
    ]  # fmt: skip
    assert [wins(twelfths, LETTERS) for twelfths in (6, 18, 24)] == ["0.5", "1.5", "2"]
    assert [ago(seconds) for seconds in (0, 59.9, 60, 7200, 200_000)] == [
        "0 s", "59 s", "1 min", "2 h", "2 d"
    ]  # fmt: skip
    assert [lasting(seconds) for seconds in (9, 61, 3725)] == ["0:09", "1:01", "1:02:05"]
    assert [counted(count, "match", "matches") for count in (0, 1, 1234)] == [
        "0 matches", "1 match", "1,234 matches"
    ]  # fmt: skip
    assert [cut("abcdef", width, SYMBOLS) for width in (6, 4, 1, 0)] == ["abcdef", "abc…", "…", ""]

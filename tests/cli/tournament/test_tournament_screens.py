"""Brackets and standings fit every terminal, and their lines lead where they should."""

import re
from itertools import pairwise

import pytest
from rich.text import Text

from keltis_cli.draw.brackets import bracket_lines, table_list
from keltis_cli.draw.journal import Journal
from keltis_cli.draw.look import Look
from keltis_cli.draw.tables.standings import standings_lines
from keltis_cli.tournament.screen import Moment, TournamentState, tournament_lines
from keltis_ladder.match.reasons import tournament_reason
from keltis_ladder.match.table_labels import TableCode, TableLabel
from keltis_ladder.tournaments.plan import DOUBLE, FORMATS, GAUNTLET, SINGLE, SWISS, Plan
from keltis_ladder.tournaments.tournament import Tournament
from keltis_ladder.tournaments.views import TableState
from tests.cli.ladder.running.test_screens import LETTERS, SYMBOLS, WIDTHS, Clock, check_fits, plain
from tests.cli.support.made_up import began, played, playing, started, tables, told

UP, DOWN = set("┘┴│├┤┼"), set("┐┬│├┤┼")
ENDLESS = 10_000


def drawn(tournament: Tournament, width: int = 160, look: Look = SYMBOLS) -> list[Text]:
    """Return a bracket that has all the room in the world."""
    shown = tables(tournament)
    lines = bracket_lines(shown.bracket, shown.names, width, ENDLESS, look)
    assert lines is not None
    return lines


@pytest.mark.parametrize("matches", [0, 3, None])
@pytest.mark.parametrize("entrants", [2, 3, 5, 8, 13, 16])
@pytest.mark.parametrize("format_", [SINGLE, DOUBLE])
def test_the_lines_of_a_bracket_meet(format_: str, entrants: int, matches: int | None) -> None:
    rows = plain(drawn(played(Plan(format_, entrants), matches)))
    width = max(map(len, rows))
    grid = [row.ljust(width) for row in rows]
    for above, below in pairwise(grid):
        for upper, lower in zip(above, below, strict=True):
            assert (upper in DOWN) == (lower in UP)
    for number in range(1, entrants + 1):
        assert re.search(rf"\bbot-{number}\b", "\n".join(rows))


def test_a_bracket_looks_like_this() -> None:
    shown = tables(played(Plan(SINGLE, 3, matches=3), seed=4))
    airy = bracket_lines(shown.bracket, shown.names, 60, 6, SYMBOLS)
    assert airy is not None
    assert plain(airy) == [
        "Semi-final   Final",
        "             bot-1  2 ─┐",
        "                       ├─ bot-1",
        "bot-2  2 ─┐            │",
        "          ├─ bot-2  0 ─┘",
        "bot-3  0 ─┘",
    ]
    tight = bracket_lines(shown.bracket, shown.names, 60, 5, LETTERS)
    assert tight is not None
    assert plain(tight) == [
        "Semi-final   Final",
        "             bot-1  2 -+- bot-1",
        "bot-2  2 -+- bot-2  0 -+",
        "bot-3  0 -+",
    ]


@pytest.mark.parametrize("look", [SYMBOLS, LETTERS])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("plan", [Plan(SINGLE, 16, players=4), Plan(SINGLE, 12), Plan(DOUBLE, 7)])
def test_a_bracket_fits_or_is_not_drawn(plan: Plan, width: int, look: Look) -> None:
    shown = tables(played(plan, 5), [f"a-rather-long-name-{number}" for number in range(16)])
    for height in (8, 12, 16, 20, 40):
        lines = bracket_lines(shown.bracket, shown.names, width, height, look)
        if lines is not None:
            assert len(lines) <= height
            check_fits(lines, width, look)
    assert bracket_lines(shown.bracket, shown.names, 160, 60, look) is not None


def test_rounds_that_are_over_make_room_for_the_one_that_is_played() -> None:
    tournament = played(Plan(SINGLE, 16), 8)
    while tournament.round == 1:
        tournament = played(Plan(SINGLE, 16), len(tournament.results) + 1)
    shown = tables(tournament)
    lines = bracket_lines(shown.bracket, shown.names, 80, 11, SYMBOLS)
    assert lines is not None
    assert lines[0].plain.startswith("Quarter-final  Semi-final")
    assert bracket_lines(shown.bracket, shown.names, 80, 8, SYMBOLS) is None


def test_what_does_not_fit_is_a_list_of_what_is_played() -> None:
    shown = tables(played(Plan(SINGLE, 64), 20))
    lines = plain(table_list(shown.rounds, shown.names, 60, 12, SYMBOLS))
    assert len(lines) == 12
    decided = sum(table.state == TableState.DONE for table in shown.rounds[0].tables)
    assert lines[0] == f"Round 1: {decided} of 32 tables decided"
    assert all(text.startswith("Round of 64, table ") for text in lines[1:-1])
    assert lines[-1].startswith("and ")


def test_the_champion_stands_at_the_end_of_the_bracket() -> None:
    tournament = played(Plan(SINGLE, 8, matches=3))
    winner = tournament.standings()[0].entrant
    last = max(plain(drawn(tournament)), key=lambda text: text.find(f"─ bot-{winner + 1}"))
    assert last.endswith(f"├─ bot-{winner + 1}")


def test_the_grand_final_says_who_won_it() -> None:
    tournament = played(Plan(DOUBLE, 4, matches=3))
    winner = tournament.standings()[0].entrant
    last = drawn(tournament)[-1].plain
    scores = r"bot-\d \d½? v bot-\d \d½?"
    assert re.fullmatch(rf"Grand final(, again)?: {scores}, won by bot-{winner + 1}", last)


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("ties_first", [False, True])
def test_standings_fit(format_: str, width: int, ties_first: bool) -> None:
    for matches in (0, 4, None):
        shown = tables(played(Plan(format_, 9, matches=3), matches))
        for look in (SYMBOLS, LETTERS):
            lines = standings_lines(shown, width, look, ties_first=ties_first)
            check_fits(lines, width, look)
            rows = [text for text in plain(lines) if "bot-" in text]
            assert len(rows) == 9


def test_a_crosstable_adds_up_to_the_score() -> None:
    shown = tables(played(Plan("round-robin", 5, matches=2)))
    lines = plain(standings_lines(shown, 120, LETTERS))
    assert lines[0].split()[:10] == ["bot", "score", "W", "D", "L", "1", "2", "3", "4", "5"]
    for row in lines[1:]:
        _, _, score, won, drawn, lost, *cells = row.split()[:11]
        assert sum(float(cell) for cell in cells if cell != ".") == float(score)
        assert int(won) + int(drawn) + int(lost) == 8
        assert float(score) == int(won) + int(drawn) / 2


def test_a_swiss_table_names_opponents_by_their_places() -> None:
    shown = tables(played(Plan(SWISS, 5)))
    rows = [row.split() for row in plain(standings_lines(shown, 120, SYMBOLS))[1:]]
    rounds = [[row[6 + number] for row in rows] for number in range(4)]
    opposite = {"+": "-", "-": "+", "=": "="}
    for column in rounds:
        assert column.count("bye") == 1
        for place, cell in enumerate(column, 1):
            if cell != "bye":
                assert column[int(cell[1:]) - 1] == f"{opposite[cell[0]]}{place}"


def test_a_gauntlet_has_two_tables() -> None:
    shown = tables(played(Plan(GAUNTLET, 6, challengers=2, matches=2)))
    lines = plain(standings_lines(shown, 80, SYMBOLS))
    heads = [number for number, text in enumerate(lines) if "score" in text]
    assert [lines[number].split()[0] for number in heads] == ["challengers", "opponents"]
    assert heads == [0, 4]
    assert len(lines) == 9


@pytest.mark.parametrize("look", [SYMBOLS, LETTERS])
@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (160, 60), (30, 9), (9, 3)])
@pytest.mark.parametrize("format_", FORMATS)
def test_the_screen_fits_every_terminal(format_: str, size: tuple[int, int], look: Look) -> None:
    width, height = size
    tournament = played(Plan(format_, 12, matches=3), 7)
    journal = Journal(Clock())
    place = TableLabel(TableCode.QUARTER_FINAL, table=1)
    match = playing("bot-1", "bot-2", reason=tournament_reason("cup", place))
    journal.news(began(match))
    journal.event(started(match, "core 0"))
    journal.news(told(playing("bot-3", "bot-4"), 7, fault=True))
    moment = Moment(tables(tournament), *tournament.progress, tournament.round, False)
    state = TournamentState("cup", journal, 2, moment)
    lines: list[Text] = []
    for state.finishing in (True, False):
        lines = tournament_lines(state, width, height, look)
        check_fits(lines, width, look)
        assert len(lines) <= height
    if width >= 60:
        text = "\n".join(plain(lines))
        assert f"7 of {moment.total} matches" in text
        assert f"round {moment.round} of " in text
        assert "core 0" in text
        assert "bot-1 " in text

"""Colour rows: which card may follow which, and what a dropped card opens again."""

from itertools import pairwise, product

import pytest

from keltis_engine.cards.rows import CARD_ROWS, RowRule
from keltis_engine.cards.stacks import empty_stacks, push
from keltis_engine.games.kartenspiel_cards import NUMBER_ROWS
from tests.engine.support.situations import kartenspiel, keltis, legal, neue_wege, weg_der_steine

VALUES = range(11)

# The row, and the values that fit next.
ROWS = [
    ("", "0 1 2 3 4 5 6 7 8 9 10"),
    ("5", "0 1 2 3 4 5 6 7 8 9 10"),
    ("5 5", "0 1 2 3 4 5 6 7 8 9 10"),
    ("0", "0 1 2 3 4 5 6 7 8 9 10"),
    ("10", "0 1 2 3 4 5 6 7 8 9 10"),
    ("0 1 3 3 5", "5 6 7 8 9 10"),
    ("9 9 7 6 4", "0 1 2 3 4"),
    ("8 5", "0 1 2 3 4 5"),  # neither 7 nor 9
    ("3 3 6 7 7", "7 8 9 10"),
    ("9 8 8 5 3", "0 1 2 3"),
    ("10 10 3", "0 1 2 3"),
    ("0 10", "10"),
    ("10 0", "0"),
    ("4 4 5", "5 6 7 8 9 10"),
    ("2 3", "3 4 5 6 7 8 9 10"),
    ("3 2", "0 1 2"),
]

STRICT_ROWS = [
    ("", "0 1 2 3 4 5 6 7 8 9 10"),
    ("5", "0 1 2 3 4 6 7 8 9 10"),
    ("0 3 4 5 9", "10"),
    ("8 6 5 2 0", ""),
    ("8 5", "0 1 2 3 4"),  # neither 7 nor 9
    ("9 10", ""),
    ("0 1", "2 3 4 5 6 7 8 9 10"),
]


def numbers(text: str) -> list[int]:
    return [int(value) for value in text.split()]


def coloured(letter: str, values: str) -> str:
    return " ".join(letter + value for value in values.split())


@pytest.mark.parametrize("letter", ["R", "V", "B"])
@pytest.mark.parametrize(("row", "fitting"), ROWS)
def test_what_fits_on_a_row_in_the_board_games(letter: str, row: str, fitting: str) -> None:
    left = [v for v in VALUES if numbers(row).count(v) < 2]
    cards = " ".join(f"{letter}{value}" for value in left)
    expected = [f"lay {letter}{value}" for value in numbers(fitting) if value in left]
    assert legal(keltis(hands=[cards], rows=[coloured(letter, row)]), "lay") == expected
    assert legal(neue_wege(hands=[cards], rows=[coloured(letter, row)]), "lay") == expected


@pytest.mark.parametrize(
    ("row", "fitting"),
    [
        (row, fits)
        for row, fits in ROWS
        if not any(twins in row for twins in ("8 8", "9 9", "10 10"))  # these exist once
    ],
)
def test_what_fits_on_a_row_in_the_card_game(row: str, fitting: str) -> None:
    twice = range(3, 8)
    left = [v for v in VALUES if numbers(row).count(v) < (2 if v in twice else 1)]
    state = kartenspiel(hands=[" ".join(f"G{v}" for v in left)], rows=[coloured("G", row)])
    expected = [f"lay G{value}" for value in numbers(fitting) if value in left]
    assert legal(state, "lay") == expected


@pytest.mark.parametrize(("row", "fitting"), STRICT_ROWS)
def test_what_fits_on_a_row_of_tiles_is_strictly_higher_or_lower(row: str, fitting: str) -> None:
    left = " ".join(f"Y{value}" for value in VALUES if value not in numbers(row))
    state = weg_der_steine(rows=[coloured("Y", row)], middle=left)
    assert legal(state, "take") == [f"take Y{value}" for value in numbers(fitting)]


@pytest.mark.parametrize(
    ("refused", "rows"),
    [("R7", "R8 R5 R7"), ("R9", "R8 R5 R9"), ("R2", "R0 R3 R2"), ("R4", "R3 R3 R5 R4")],
)
def test_the_situations_of_these_tests_cannot_hold_an_unlawful_row(refused: str, rows: str) -> None:
    with pytest.raises(ValueError, match=f"{refused} does not fit"):
        keltis(rows=[rows])


def accepted_after(rule: RowRule, zero: int, row: tuple[int, ...]) -> int:
    """Return what is accepted after these values were laid on; ``zero`` is the colour's 0 card."""
    accepted = rule.all
    for top, value in pairwise(row):
        accepted = rule.after(accepted, zero + top, zero + value)
    return int(accepted)


def in_order(row: tuple[int, ...]) -> bool:
    return list(row) in (sorted(row), sorted(row, reverse=True))


@pytest.mark.parametrize(("rule", "width"), [(CARD_ROWS, 11), (NUMBER_ROWS, 12)])
def test_all_rows_of_up_to_three_cards_go_on_up_or_down_and_leave_other_colours_alone(
    rule: RowRule, width: int
) -> None:
    for colour in (0, 2, 4):
        others = int(rule.all) & ~int(rule.row[colour])
        for length in (1, 2, 3):
            for row in product(VALUES, repeat=length):
                if in_order(row):
                    accepted = accepted_after(rule, colour * width, row)
                    fitting = [v for v in VALUES if accepted >> colour * width + v & 1]
                    assert fitting == [v for v in VALUES if in_order((*row, v))], row
                    assert accepted & others == others, row


def test_end_cards_are_never_touched_by_the_values_of_a_row() -> None:
    end = 11
    for row in ((0, 10), (10, 0), (5, 5), (9, 10)):
        assert accepted_after(NUMBER_ROWS, 0, row) >> end & 1


@pytest.mark.parametrize(
    ("before", "fitting"),
    [
        ("10 3", "0 1 2 3 4 5 6 7 8 9 10"),  # 10 is left: open
        ("10 10 3", "0 1 2 3 4 5 6 7 8 9 10"),  # two equal values: still open
        ("5 3 1", "0 1 2 3"),  # still downwards, but only from 3
        ("2 4 9", "4 5 6 7 8 9 10"),
        ("2 4 4", "4 5 6 7 8 9 10"),
        ("6", "0 1 2 3 4 5 6 7 8 9 10"),  # nothing is left
        ("7 7", "0 1 2 3 4 5 6 7 8 9 10"),
        ("1 1 2", "0 1 2 3 4 5 6 7 8 9 10"),
    ],
)
def test_a_dropped_card_lets_the_direction_be_worked_out_again(before: str, fitting: str) -> None:
    row = tuple(numbers(before))
    for colour in range(5):
        stacks = empty_stacks(5)
        for value in row[:-1]:
            push(stacks, colour, colour * 11 + value)
        accepted = accepted_after(CARD_ROWS, colour * 11, row)
        again = int(CARD_ROWS.again(accepted, stacks, colour, colour))
        assert [v for v in VALUES if again >> colour * 11 + v & 1] == numbers(fitting)


def test_working_one_row_out_again_leaves_the_other_rows_as_they_were() -> None:
    accepted = accepted_after(CARD_ROWS, 0, (8, 5))
    stacks = empty_stacks(5)
    push(stacks, 3, 3 * 11 + 4)
    assert CARD_ROWS.again(accepted, stacks, 3, 3) == accepted


def test_all_kinds_of_a_rule_are_those_of_its_rows() -> None:
    for rule in (CARD_ROWS, NUMBER_ROWS):
        assert sum(int(row) for row in rule.row) == rule.all

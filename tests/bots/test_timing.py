"""Time is divided so that it lasts, whatever the clock."""

from hypothesis import given
from hypothesis import strategies as st

from keltis_bots.timing import decisions_left, thinking_ms
from keltis_engine import find_variant

BANKS = st.integers(10, 60_000)
INCREMENTS = st.integers(0, 1_000)


@given(left=st.integers(0, 100_000), increment=INCREMENTS, decisions=st.floats(1, 1_000))
def test_no_decision_takes_more_than_a_part_of_what_is_left(
    left: int, increment: int, decisions: float
) -> None:
    assert 0 <= thinking_ms(left, increment, decisions) <= left / 4


@given(bank=BANKS, increment=INCREMENTS, expected=st.floats(1, 200), late=st.floats(0, 3))
def test_the_bank_outlasts_any_number_of_decisions(
    bank: int, increment: int, expected: float, late: float
) -> None:
    """Also when many more come than expected and each takes a little longer than it should."""
    late = min(late, increment * 0.9)
    left = float(bank)
    for _ in range(500):
        left += increment
        left -= thinking_ms(left, increment, expected) + late
        assert left >= 0


@given(increment=INCREMENTS, decisions=st.floats(1, 200))
def test_a_stall_of_nearly_half_a_second_is_survived_at_any_time(
    increment: int, decisions: float
) -> None:
    left = 1_000.0
    for _ in range(300):
        left += increment
        left -= thinking_ms(left, increment, decisions)
    assert left >= 390


def test_with_the_usual_clock_most_of_the_time_is_used() -> None:
    left, spent = 1_000.0, 0.0
    for decision in range(60):
        left += 20
        thought = thinking_ms(left, 20, 2.5 * (64 - decision) / 2)
        left -= thought
        spent += thought
    assert spent > 0.6 * (1_000 + 60 * 20)


def test_more_cards_in_the_pile_mean_more_decisions() -> None:
    state = find_variant("keltis").deal(2, 1)
    many = decisions_left(state.view(0))
    for _ in range(30):
        state.apply(state.legal_actions()[-1 if state.phase == "turn" else 0])
    assert 1 <= decisions_left(state.view(0)) < many

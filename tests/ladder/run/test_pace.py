"""The pace of a ladder: slow when nothing is to be learnt, and quick again at once."""

import pytest

from keltis_ladder.errors import LadderError
from keltis_ladder.run.pace import SETTLED_BELOW, UNSETTLED_FACTOR, Pace, PaceRules, Tempo

MUCH = 100 * SETTLED_BELOW
LITTLE = SETTLED_BELOW / 2


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def begins_in(pace: Pace, clock: Clock, seconds: float) -> int:
    """Begin matches as soon as the pace allows; return how many that are."""
    end = clock.time + seconds
    count = 0
    while count < 10_000:
        wait = pace.wait()
        if clock.time + wait >= end:
            clock.time = end
            break
        clock.time += wait
        pace.begin()
        count += 1
    return count


def test_while_there_is_something_to_learn_nothing_waits() -> None:
    pace = Pace(PaceRules())
    assert not pace.judge(MUCH, house_only=False)
    assert (pace.tempo, pace.per_minute, pace.at_once) == (Tempo.FULL, None, None)
    for _ in range(100):
        assert pace.wait() == 0.0
        pace.begin()


def test_a_settled_ladder_plays_a_match_a_minute() -> None:
    clock = Clock()
    pace = Pace(PaceRules(), clock)
    assert pace.judge(LITTLE, house_only=False)
    assert pace.tempo is Tempo.SETTLED
    assert begins_in(pace, clock, 3600.0) == 60


def test_a_settled_ladder_plays_more_while_somebody_looks() -> None:
    clock = Clock()
    pace = Pace(PaceRules(), clock)
    pace.judge(LITTLE, house_only=False)
    pace.watched = True
    assert begins_in(pace, clock, 600.0) == 60
    limited = Pace(PaceRules(matches_per_minute=2), clock)
    limited.judge(LITTLE, house_only=False)
    limited.watched = True
    assert begins_in(limited, clock, 600.0) == 20


def test_a_settled_ladder_goes_on_at_once_when_something_is_to_be_learnt() -> None:
    clock = Clock()
    pace = Pace(PaceRules(), clock)
    pace.judge(LITTLE, house_only=False)
    pace.begin()
    assert pace.wait() == 60.0
    assert pace.judge(MUCH, house_only=False)
    assert pace.tempo is Tempo.FULL
    assert pace.wait() == 0.0


def test_a_gain_that_moves_around_the_threshold_does_not_change_the_tempo_each_time() -> None:
    pace = Pace(PaceRules())
    gains = [0.9, 1.1, 0.95, 1.5, 1.9, 0.8, UNSETTLED_FACTOR + 0.1, 1.5, 1.01, 0.99]
    changes = [pace.judge(gain * SETTLED_BELOW, house_only=False) for gain in gains]
    assert [place for place, changed in enumerate(changes) if changed] == [0, 6, 9]


def test_who_cannot_meet_does_not_settle_a_ladder() -> None:
    pace = Pace(PaceRules())
    assert not pace.judge(None, house_only=True)
    assert pace.tempo is Tempo.FULL


def test_no_threshold_means_no_slowing_down() -> None:
    pace = Pace(PaceRules(settled_below=0.0))
    for gain in (0.0, -1.0):
        pace.judge(gain, house_only=False)
        assert pace.tempo is Tempo.FULL


@pytest.mark.parametrize("limit", [0.5, 7.0, 600.0])
def test_in_any_minute_no_more_matches_begin_than_the_limit(limit: float) -> None:
    clock = Clock()
    pace = Pace(PaceRules(matches_per_minute=limit), clock)
    pace.judge(MUCH, house_only=False)
    assert pace.tempo is Tempo.LIMITED
    assert begins_in(pace, clock, 600.0) in (int(10 * limit), int(10 * limit) + 1)


def test_a_limit_below_the_pace_of_a_settled_ladder_holds_there_too() -> None:
    clock = Clock()
    pace = Pace(PaceRules(matches_per_minute=0.25), clock)
    pace.judge(LITTLE, house_only=False)
    assert (pace.tempo, pace.per_minute) == (Tempo.SETTLED, 0.25)
    assert begins_in(pace, clock, 3600.0) == 15


def test_our_own_bots_alone_play_one_match_at_a_time_and_settle_like_others() -> None:
    pace = Pace(PaceRules(calm=True))
    pace.judge(MUCH, house_only=True)
    assert (pace.tempo, pace.at_once, pace.per_minute) == (Tempo.CALM, 1, None)
    pace.judge(MUCH, house_only=False)
    assert (pace.tempo, pace.at_once) == (Tempo.FULL, None)
    pace.judge(LITTLE, house_only=True)
    assert (pace.tempo, pace.at_once, pace.per_minute) == (Tempo.SETTLED, 1, 1.0)


@pytest.mark.parametrize(
    "wrong", [{"matches_per_minute": 0.0}, {"matches_per_minute": -1.0}, {"settled_below": -1.0}]
)
def test_rules_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(LadderError, match="give"):
        PaceRules(**wrong)  # type: ignore[arg-type]

"""Matches are counted by entrant, whatever seat it had."""

from fractions import Fraction

from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.match.results import GameResult, Loss, MatchResult, SeatTime, rank_by
from keltis_ladder.stats.tally import Tally


def game(rotation: int, scores: list[int], out: list[int] | None = None) -> GameResult:
    """Return a game with these scores by seat; the seats in ``out`` failed at the start."""
    players = len(scores)
    fault = Fault(Kind.CRASH, "exit", "it ended")
    losses = [Loss(seat, 0, fault, {}) for seat in out or []]
    return GameResult(
        rotation=rotation,
        entrants=[(seat + rotation) % players for seat in range(players)],
        actions=[1, 2, 3],
        ending="fault" if losses else "figures",
        scores=scores,
        ranks=rank_by([(seat not in (out or []), score) for seat, score in enumerate(scores)]),
        times=[SeatTime(10, 0.1 * (seat + 1), 0.05, 0.02 * (seat + 1)) for seat in range(players)],
        losses=losses,
    )


def tally(*matches: list[GameResult]) -> Tally:
    found = Tally([f"bot{k}" for k in range(len(matches[0][0].scores))])
    for games in matches:
        found.add(MatchResult(games))
    return found


def test_two_bots_are_compared_by_the_games_they_won() -> None:
    found = tally(
        [game(0, [20, 10]), game(1, [10, 20])],  # both games for the first
        [game(0, [20, 10]), game(1, [20, 10])],  # one each, equal points: drawn
        [game(0, [20, 10]), game(1, [15, 15])],  # one and a half
        [game(0, [20, 10]), game(1, [12, 10])],  # one each, more points for the first
    )
    assert [found.balance(k) for k in range(4)] == [
        1,
        Fraction(1, 2),
        Fraction(3, 4),
        Fraction(1, 2),
    ]
    assert list(found.outcomes().values()) == [0, 0, 2, 1, 1]
    duel = found.duel(0, 1)
    assert (duel.wins, duel.draws, duel.losses) == (3, 1, 0)
    assert duel.elo.value > 0
    other = found.duel(1, 0)
    assert (other.wins, other.losses) == (0, 3)
    assert (other.elo.low, other.elo.high) == (-duel.elo.high, -duel.elo.low)
    assert found.lead().value == (10 + 0 + 5 + 4) / 4
    assert found.seat_wins == [Fraction(13, 2), Fraction(3, 2)]


def test_time_and_faults_follow_the_bot_from_seat_to_seat() -> None:
    found = tally([game(0, [5, 0], out=[1]), game(1, [0, 5], out=[0])])
    assert [found.faults_of(0), found.faults_of(1)] == [0, 2]
    assert found.faults == {(1, "crash", "exit"): 2}
    assert found.endings == {"fault": 2}
    first, second = found.efforts
    assert (first.asked, second.asked) == (20, 20)
    assert first.wall == second.wall  # each sat once in each seat
    assert first.longest == 0.04


def test_a_match_that_both_bots_failed_is_even() -> None:
    found = tally([game(0, [0, 0], out=[0, 1]), game(1, [0, 0], out=[0, 1])])
    assert found.share(0).value == found.share(1).value == 0
    assert found.balance(0) == Fraction(1, 2)
    assert found.duel(0, 1).draws == 1
    assert found.duel(0, 1).elo.value == 0


def test_three_bots_are_compared_by_rank() -> None:
    found = tally(
        [game(0, [30, 20, 10]), game(1, [20, 10, 30]), game(2, [10, 30, 20])],
        [game(0, [30, 20, 20]), game(1, [20, 20, 30]), game(2, [20, 30, 20])],
    )
    assert found.ranks == [[1, 2, 3], [1, 2, 2]]
    assert [found.share(k).value for k in range(3)] == [1, 0, 0]
    assert [found.mean_rank(k) for k in range(3)] == [1, 2, 2.5]
    assert found.mean_points(2).value == 15
    duel = found.duel(1, 2)
    assert (duel.wins, duel.draws, duel.losses) == (1, 1, 0)

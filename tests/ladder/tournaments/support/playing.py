"""Plans and results by lot, and tournaments played to the end with them."""

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from keltis_ladder.errors import LadderError
from keltis_ladder.match.results import rank_by
from keltis_ladder.tournaments import FORMATS, Leg, LegResult, Plan, Tournament

Referee = Callable[[Leg], LegResult]

VARIANT_MIXES = [
    ("keltis",),
    ("keltis", "kartenspiel"),
    ("weg-der-steine", "keltis", "neue-wege"),
]
WIN = LegResult((1, 2), (24, 0), (60, 20), (0, 0))
LOSS = LegResult((2, 1), (0, 24), (20, 60), (0, 0))
DRAW = LegResult((1, 1), (12, 12), (40, 40), (0, 0))


def lot(rng: random.Random) -> Referee:
    """Return a referee who draws lots, with many draws, faults and games that nobody won."""

    def decide(leg: Leg) -> LegResult:
        players = len(leg.pairing.entrants)
        strength = [rng.randrange(4) for _ in range(players)]
        twelfths = [0] * players
        for _ in range(players):
            winners = rng.sample(range(players), rng.randrange(players + 1))
            for winner in winners:
                twelfths[winner] += 12 // len(winners)
        return LegResult(
            ranks=tuple(rank_by(strength)),
            twelfths=tuple(twelfths),
            points=tuple(rng.randrange(-10, 80) for _ in range(players)),
            faults=tuple(rng.randrange(2) for _ in range(players)),
        )

    return decide


def play(
    tournament: Tournament, referee: Referee, rng: random.Random | None = None
) -> Iterator[Leg]:
    """Play on to the end, in order or by lot, and yield each leg after it was recorded."""
    while not tournament.finished:
        due = tournament.due()
        assert due, "nothing to play, but not finished"
        if rng:
            due = rng.sample(due, rng.randint(1, len(due)))
        for leg in due:
            tournament.record(leg.key, referee(leg))
            yield leg


def played(plan: Plan, seed: int = 1) -> Tournament:
    """Return a tournament that was played to its end, with results by lot."""
    tournament = Tournament(plan)
    rng = random.Random(seed)
    for _ in play(tournament, lot(rng), rng):
        pass
    return tournament


def better_seed(leg: Leg) -> LegResult:
    """Let the better seed win everything."""
    entrants = leg.pairing.entrants
    players = len(entrants)
    ranks = tuple(rank_by([-entrant for entrant in entrants]))
    return LegResult(
        ranks=ranks,
        twelfths=tuple(12 * players if rank == 1 else 0 for rank in ranks),
        points=tuple(100 - 10 * rank for rank in ranks),
        faults=(0,) * players,
    )


def winner_is(winner: int, leg: Leg) -> LegResult:
    """Return the win of one entrant at a table of two."""
    return WIN if leg.pairing.entrants[0] == winner else LOSS


@st.composite
def plans(
    draw: st.DrawFn, formats: Sequence[str] = FORMATS, most: int = 40, players: int | None = None
) -> Plan:
    """Draw a plan that passes its own check."""
    format_ = draw(st.sampled_from(formats))
    at_table = players or (
        2 if format_ == "double-elimination" else draw(st.sampled_from([2, 2, 3, 4]))
    )
    entrants = draw(st.integers(at_table, most))
    rounds = None
    if format_ == "swiss":
        rounds = draw(st.none() | st.integers(1, min(9, entrants - 1 + entrants % 2)))
    elif format_ in ("round-robin", "gauntlet"):
        rounds = draw(st.sampled_from([None, 1, 2]))
    challengers = 1
    if format_ == "gauntlet":
        challengers = draw(st.integers(1, entrants - at_table + 1))
    plan = Plan(
        format=format_,
        entrants=entrants,
        players=at_table,
        variants=draw(st.sampled_from(VARIANT_MIXES)),
        matches=draw(st.sampled_from([1, 1, 2, 3])),
        rounds=rounds,
        challengers=challengers,
        seed=draw(st.integers(0, 5)),
    )
    plan.check()
    return plan


def everything(tournament: Tournament) -> dict[str, Any]:
    """Return all that can be seen of a tournament."""
    tables = tournament.bracket if tournament.plan.elimination else tournament.crosstable
    return {
        "due": tournament.due(),
        "finished": tournament.finished,
        "progress": tournament.progress,
        "round": tournament.round,
        "rounds": tournament.rounds,
        "standings": tournament.standings(),
        "tables": tables(),
    }


def scores(tournament: Tournament) -> dict[int, Fraction]:
    """Return the scores by entrant."""
    return {standing.entrant: standing.score for standing in tournament.standings()}


def order(tournament: Tournament) -> list[int]:
    """Return the entrants in the order of the standings."""
    return [standing.entrant for standing in tournament.standings()]


def places(tournament: Tournament) -> list[int]:
    """Return the places in the order of the standings."""
    return [standing.place for standing in tournament.standings()]


def tie_break(tournament: Tournament, entrant: int, name: str) -> Fraction:
    """Return one tie-break of one entrant."""
    standing = next(s for s in tournament.standings() if s.entrant == entrant)
    return next(tie.value for tie in standing.tie_breaks if tie.name == name)


def complaint(plan: Plan) -> str:
    """Return why a plan is refused."""
    try:
        plan.check()
    except LadderError as error:
        return str(error)
    return ""

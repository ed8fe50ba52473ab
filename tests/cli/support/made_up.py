"""Made-up lines of leaderboards, and tournaments whose matches are decided by dice."""

import random
from datetime import UTC, datetime, timedelta

from keltis_cli.draw.tables.standings import Tables
from keltis_ladder.dispatch.dispatcher import MatchStarted
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.match.jobs import Job
from keltis_ladder.match.orders import Order
from keltis_ladder.match.reasons import MatchReason, Reason
from keltis_ladder.match.results import GameResult, Loss, MatchResult, SeatTime
from keltis_ladder.matchmaking.fair_shares import Flow
from keltis_ladder.run.playing import Playing
from keltis_ladder.run.scheduler import MatchAssigned, ResultStored
from keltis_ladder.store.matches.finishing import Stored
from keltis_ladder.store.ratings.lines import Line
from keltis_ladder.tournaments.pairings import LegResult
from keltis_ladder.tournaments.plan import Plan
from keltis_ladder.tournaments.tournament import Tournament

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
NAMES = ["search", "a-bot-with-a-rather-long-name-of-40-signs", "greedy", "x", "random", "mine.v2"]


def line(
    bot: str,
    mu: float,
    sigma: float = 1.0,
    rank: int | None = None,
    tied: int = 1,
    state: str = "active",
    faults: int = 0,
    seats: tuple[float | None, ...] = (0.5, 0.25, None, None),
) -> Line:
    """Return a line of a leaderboard."""
    return Line(
        version=sum(map(ord, bot)),
        bot=bot,
        number=3,
        author="ada",
        state=state,
        mu=mu,
        sigma=sigma,
        matches=1204,
        firsts=600,
        shared=4,
        games=2408,
        wins=1204.5,
        faults=faults,
        seats=seats,
        last_match=7,
        last_played=NOON - timedelta(seconds=95),
        provisional=rank is None,
        rank=rank,
        tied=tied,
    )


def board() -> list[Line]:
    """Return a leaderboard with everything that one can have."""
    return [
        line(NAMES[0], 34.25, 0.8, rank=1),
        line(NAMES[1], 30.1, 1.1, rank=2, tied=2, faults=12_345),
        line(NAMES[2], 29.5, 0.9, rank=2, tied=2, seats=(0.5, 0.5, 0.1, 0.0)),
        line(NAMES[3], 25.0, 8.2),
        line(NAMES[4], 12.3, rank=4),
        line(NAMES[5], 11.0, state="retired"),
    ]


def playing(*names: str, variant: str = "weg-der-steine", reason: Reason | None = None) -> Playing:
    """Return a match under way."""
    entrants = tuple(Entrant(name, name, ("true",), None) for name in names)
    job = Job(variant, {}, 1, entrants)
    versions = tuple(range(1, len(names) + 1))
    order = Order(variant, versions, reason=reason or Reason(MatchReason.CLOSE), id=job.id)
    return Playing(order, job, Flow(order.purpose))


def started(match: Playing, where: str) -> MatchStarted:
    """Return the event that a match begins."""
    return MatchStarted(match.job, where, 1)


def began(match: Playing) -> MatchAssigned:
    """Return the news that a match goes to a referee."""
    return MatchAssigned(match)


def told(match: Playing, number: int, winner: int = 0, fault: bool = False) -> ResultStored:
    """Return a result in which one entrant wins all games; the next may have lost by a fault."""
    count = match.order.players
    games = []
    for rotation in range(count):
        entrants = [(seat + rotation) % count for seat in range(count)]
        seat = entrants.index(winner)
        losses = []
        if fault:
            crash = Fault(Kind.CRASH, "exit", "it ended")
            losses = [Loss(entrants.index((winner + 1) % count), 5, crash, {})]
        games.append(
            GameResult(
                rotation=rotation,
                entrants=entrants,
                actions=[],
                ending="last tile",
                scores=[30 if at == seat else 7 for at in range(count)],
                ranks=[1 if at == seat else 2 for at in range(count)],
                times=[SeatTime(1, 0.1, 0.1, 0.1)] * count,
                losses=losses,
            )
        )
    return ResultStored(match, MatchResult(games), Stored(number, True, {}))


def played(plan: Plan, matches: int | None = None, seed: int = 1, favourite: int = 0) -> Tournament:
    """Return a tournament after so many matches, or all; the favourite wins more often."""
    dice = random.Random(seed)
    tournament = Tournament(plan)
    count = 0
    while (due := tournament.due()) and (matches is None or count < matches):
        leg = dice.choice(due)
        entrants = leg.pairing.entrants
        values = [dice.randint(0, 5) + 4 * (entrant == favourite) for entrant in entrants]
        ranks = tuple(1 + sum(other > value for other in values) for value in values)
        first = ranks.count(1)
        won = tuple(12 * len(ranks) // first if rank == 1 else 0 for rank in ranks)
        result = LegResult(ranks, won, tuple(values), (0,) * len(ranks))
        tournament.record(leg.key, result)
        count += 1
    return tournament


def tables(tournament: Tournament, names: list[str] | None = None) -> Tables:
    """Return what the screens show of a tournament."""
    plan = tournament.plan
    return Tables(
        plan=plan,
        names=names or [f"bot-{number}" for number in range(1, plan.entrants + 1)],
        standings=tournament.standings(),
        rounds=tournament.rounds,
        crosstable=None if plan.elimination else tournament.crosstable(),
        bracket=tournament.bracket() if plan.elimination else (),
    )

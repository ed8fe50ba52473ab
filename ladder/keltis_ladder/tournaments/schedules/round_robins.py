"""Round robins and gauntlets: who meets whom is known before the first match."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import gcd
from operator import or_

from keltis_engine import Rng
from keltis_ladder.match.table_labels import TableCode, TableLabel
from keltis_ladder.tournaments.pairings import Pairing
from keltis_ladder.tournaments.plan import GAUNTLET, TWO, Plan
from keltis_ladder.tournaments.schedules.designs import balanced_rounds

Table = tuple[int, ...]


def schedule(plan: Plan) -> list[list[Pairing]]:
    """Return all rounds of a round robin or a gauntlet."""
    rounds: list[list[Pairing]] = []
    for cycle in range(plan.length):
        if plan.format == GAUNTLET:
            tables, places = _gauntlet(plan, cycle)
        else:
            tables, places = _round_robin(plan, cycle)
        rounds += seated(tables, places, plan, len(rounds))
    return rounds


def seated(
    rounds: Sequence[Sequence[Table]],
    places: Sequence[Sequence[int]],
    plan: Plan,
    before: int,
) -> list[list[Pairing]]:
    """Return rounds with their tables numbered; a place says which variants a table begins with."""
    return [
        [
            Pairing(
                round=number,
                table=table,
                entrants=entrants,
                label=TableLabel(TableCode.ROUND, number, table),
                first=place * plan.matches % len(plan.variants),
            )
            for table, (entrants, place) in enumerate(zip(tables, row, strict=True), 1)
        ]
        for number, (tables, row) in enumerate(zip(rounds, places, strict=True), before + 1)
    ]


def _round_robin(plan: Plan, cycle: int) -> tuple[list[list[Table]], list[list[int]]]:
    """Return the rounds of a cycle. All tables of a round begin with the same variant.

    So everybody has played the same variants as often as everybody else, and in the next cycle two
    who meet again go on with the next one.
    """
    if plan.players == TWO:
        rounds = circle_rounds(plan.entrants)
    else:
        names = _drawn(plan.entrants, plan, cycle)
        rounds = [
            sorted(tuple(sorted(names[place] for place in table)) for table in tables)
            for tables in balanced_rounds(plan.entrants, plan.players)
        ]
    return rounds, [[number + cycle] * len(tables) for number, tables in enumerate(rounds)]


def circle_rounds(entrants: int) -> list[list[Table]]:
    """Return the rounds in which each two meet once, by the circle method."""
    circle = entrants - 1 + entrants % 2  # with an odd number nobody is in the middle: a bye
    rounds = []
    for turn in range(circle):
        middle = [(turn, circle)] if circle < entrants else []
        around = [
            tuple(sorted(((turn + step) % circle, (turn - step) % circle)))
            for step in range(1, circle // 2 + 1)
        ]
        rounds.append(sorted(middle + around))
    return rounds


def _drawn(entrants: int, plan: Plan, cycle: int) -> list[int]:
    """Return who has which place of a balanced design: by lot, again in every cycle."""
    names = list(range(entrants))
    rng = Rng(plan.seed * 1000 + cycle)
    for last in range(entrants - 1, 0, -1):
        other = int(rng.below(last + 1))
        names[last], names[other] = names[other], names[last]
    return names


def _gauntlet(plan: Plan, cycle: int) -> tuple[list[list[Table]], list[list[int]]]:
    """Return the rounds of a cycle; each table goes into the first round where all are free.

    Every challenger meets the same groups of opponents, each group in the same variant.
    """
    groups = opponent_groups(plan)
    rounds: list[list[Table]] = []
    places: list[list[int]] = []
    busy = [0] * plan.entrants  # in which rounds, as a set of bits
    for step in range(len(groups)):
        for challenger in range(plan.challengers):
            group = (step + challenger) % len(groups)
            table = (challenger, *groups[group])
            taken = reduce(or_, (busy[entrant] for entrant in table))
            free = ~taken & (taken + 1)
            number = free.bit_length() - 1
            if number == len(rounds):
                rounds.append([])
                places.append([])
            rounds[number].append(table)
            places[number].append(group + cycle)
            for entrant in table:
                busy[entrant] |= free
    return rounds, places


def opponent_groups(plan: Plan) -> list[Table]:
    """Return who sits together against a challenger: neighbours on a circle of all opponents.

    If the opponents fall into whole groups each sits in one, otherwise each in ``players - 1``.
    """
    size = plan.players - 1
    first, count = plan.challengers, plan.opponents
    return [
        tuple(sorted(first + (start + k) % count for k in range(size)))
        for start in range(0, size * (count // gcd(count, size)), size)
    ]

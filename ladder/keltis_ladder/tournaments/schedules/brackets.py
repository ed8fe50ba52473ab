"""The brackets of eliminations: which table the winner and the losers of each table go to.

A bracket is fixed by the number of entrants. It is drawn up with a place for everybody that the
full bracket has room for. Where nobody comes, the others go on without a match, and only tables
at which somebody is met remain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from keltis_ladder.match.table_labels import TableCode, TableLabel
from keltis_ladder.tournaments.plan import DOUBLE, TWO, Plan

SEED: Final = "seed"
WINNER: Final = "winner"
LOSER: Final = "loser"
WINNERS: Final = "W"
LOSERS: Final = "L"
FINALS: Final = "F"
GOES_ON: Final = -1  # in place of a rank: the losers have another chance
FOUR: Final = 4
_THIRD: Final = 2  # the rank: two are ahead
THIRD_PLACE: Final = TableLabel(TableCode.THIRD_PLACE)
WINNERS_FINAL: Final = TableLabel(TableCode.WINNERS_FINAL)
LOSERS_FINAL: Final = TableLabel(TableCode.LOSERS_FINAL)
GRAND_FINAL: Final = TableLabel(TableCode.GRAND_FINAL)
GRAND_FINAL_AGAIN: Final = TableLabel(TableCode.GRAND_FINAL_AGAIN)


@dataclass(frozen=True)
class Source:
    """Where an entrant of a table comes from: a seed, or another table."""

    kind: str
    number: int  # of the seed, or of the table within the bracket


@dataclass(frozen=True)
class Node:
    """A table of a bracket. Ranks order all who leave the tournament: 0 is the champion's."""

    round: int
    bracket: str
    sources: tuple[Source, ...]
    label: TableLabel
    table: int = 0
    out: int = GOES_ON  # the rank of its losers
    decides: int | None = None  # of a final: the rank of its first; the others have the next ones
    second_chance: bool = False  # only played if the winner of the losers' bracket won before


@dataclass
class Bracket:
    """All tables of an elimination."""

    nodes: list[Node] = field(default_factory=list)

    def meet(
        self, sources: Sequence[Source | None], draft: Node
    ) -> tuple[Source | None, Source | None]:
        """Let some entrants meet; return where the winner and, of two, the loser come from.

        Who is alone goes on without a match, and where nobody comes nobody goes on.
        """
        coming = tuple(source for source in sources if source is not None)
        if len(coming) < TWO:
            return coming[0] if coming else None, None
        self.nodes.append(replace(draft, sources=coming))
        number = len(self.nodes) - 1
        return Source(WINNER, number), Source(LOSER, number)

    def number_tables(self) -> None:
        """Number the tables of each round, and those that are called alike."""
        tables: defaultdict[int, int] = defaultdict(int)
        alike: defaultdict[TableLabel, list[int]] = defaultdict(list)
        for number in sorted(range(len(self.nodes)), key=self._order):
            node = self.nodes[number]
            tables[node.round] += 1
            self.nodes[number] = replace(node, table=tables[node.round])
            alike[node.label].append(number)
        for label, numbers in alike.items():
            if len(numbers) > 1:
                for k, number in enumerate(numbers, 1):
                    self.nodes[number] = replace(self.nodes[number], label=replace(label, table=k))

    def _order(self, number: int) -> tuple[int, int, int]:
        node = self.nodes[number]
        return node.round, (WINNERS, LOSERS, FINALS).index(node.bracket), number


def bracket_of(plan: Plan) -> Bracket:
    """Return the bracket of an elimination."""
    bracket = Bracket()
    if plan.format == DOUBLE:
        _double(bracket, plan.entrants)
    else:
        _single(bracket, plan.entrants, plan.players)
    bracket.number_tables()
    return bracket


def rounds_to_one(entrants: int, players: int) -> int:
    """Return after how many rounds one is left, if one of a full table goes on."""
    rounds = 0
    while players**rounds < entrants:
        rounds += 1
    return rounds


def seeded_slots(entrants: int, players: int) -> list[Source | None]:
    """Return the first round slot by slot, table by table; an empty slot is nobody.

    The best seeds are as far apart as can be, and each has the weakest opponents that are left for
    it. The empty slots are those of the weakest seeds, so they are at the tables of the best.
    """
    order = [0]
    for _ in range(rounds_to_one(entrants, players)):
        size = len(order)
        order = [
            slot
            for seed in order
            for slot in (seed, *((k + 1) * size - 1 - seed for k in range(1, players)))
        ]
    return [Source(SEED, seed) if seed < entrants else None for seed in order]


def _single(bracket: Bracket, entrants: int, players: int) -> None:
    last = rounds_to_one(entrants, players)
    slots = seeded_slots(entrants, players)
    semi_finals: list[Source | None] = []
    for round_ in range(1, last + 1):
        draft = Node(
            round=round_,
            bracket=FINALS if round_ == last else WINNERS,
            sources=(),
            label=_single_label(last - round_, players),
            out=players + last - round_,
            decides=0 if round_ == last else None,
        )
        third_place = players == TWO and entrants >= FOUR and round_ == last - 1
        if third_place:
            draft = replace(draft, out=_THIRD)  # until their own match decides
        met = [
            bracket.meet(slots[at : at + players], draft) for at in range(0, len(slots), players)
        ]
        slots = [winner for winner, _ in met]
        if third_place:
            semi_finals = [loser for _, loser in met]
    if semi_finals:
        bracket.meet(semi_finals, Node(last, FINALS, (), THIRD_PLACE, decides=_THIRD))


def _single_label(to_go: int, players: int) -> TableLabel:
    """Return what the tables of a round are called, by how many rounds follow."""
    if to_go == 0:
        return TableLabel(TableCode.FINAL)
    if to_go == 1:
        return TableLabel(TableCode.SEMI_FINAL)
    if to_go == 2 and players == TWO:
        return TableLabel(TableCode.QUARTER_FINAL)
    return TableLabel(TableCode.ROUND_OF, players ** (to_go + 1))


def _double(bracket: Bracket, entrants: int) -> None:
    last = rounds_to_one(entrants, TWO)
    slots = seeded_slots(entrants, TWO)
    dropped: list[list[Source | None]] = []  # the losers of each round of the winners' bracket
    for round_ in range(1, last + 1):
        label = TableLabel(TableCode.WINNERS_ROUND, round_) if round_ < last else WINNERS_FINAL
        draft = Node(round_, WINNERS, (), label)
        met = [bracket.meet(slots[at : at + TWO], draft) for at in range(0, len(slots), TWO)]
        slots = [winner for winner, _ in met]
        dropped.append([loser for _, loser in met])
    survivor = _losers_bracket(bracket, dropped)
    final = Node(2 * last, FINALS, (), GRAND_FINAL, decides=0)
    winner, loser = bracket.meet([slots[0], survivor], final)
    again = Node(2 * last + 1, FINALS, (), GRAND_FINAL_AGAIN, decides=0)
    bracket.meet([winner, loser], replace(again, second_chance=True))


def _losers_bracket(bracket: Bracket, dropped: list[list[Source | None]]) -> Source | None:
    """Let the losers meet until one is left: among themselves, then those who newly drop in.

    Everybody here has lost once and is out after the next loss.
    """
    last = len(dropped)
    crossings = drop_in_crossings(last)
    slots = dropped[0]
    for round_ in range(1, last + 1):
        if round_ > 1:
            entering = dropped[round_ - 1]
            crossed = [entering[slot ^ crossings[round_ - 1]] for slot in range(len(slots))]
            draft = _losers_draft(bracket, 2 * round_ - 2, last)
            slots = [
                bracket.meet([old, new], draft)[0] for old, new in zip(slots, crossed, strict=True)
            ]
        if round_ < last:
            draft = _losers_draft(bracket, 2 * round_ - 1, last)
            slots = [
                bracket.meet(slots[at : at + TWO], draft)[0] for at in range(0, len(slots), TWO)
            ]
    return slots[0]


def _losers_draft(bracket: Bracket, number: int, last: int) -> Node:
    """Return the draft of a losers' round, named by how many had tables before it."""
    before = {node.round for node in bracket.nodes if node.bracket == LOSERS}
    of_round = TableLabel(TableCode.LOSERS_ROUND, len(before) + 1)
    label = of_round if number < 2 * last - 2 else LOSERS_FINAL
    return Node(number + 1, LOSERS, (), label, out=2 * last - number)


def drop_in_crossings(rounds: int) -> list[int]:
    """Return how the losers of each winners' round cross over as they drop in.

    The loser of table *i* drops in at slot *i* xor the crossing of his round. If he beat somebody
    in an earlier round *q*, they are in the same slot again exactly if the crossing of *q*, halved
    once for each round since, is his own; the highest bit in which the two differ says how many
    rounds later they can meet. The crossing that keeps all of them apart for longest is taken; if
    it cannot, those who met in the first rounds may meet again, because few of them are left.
    """
    crossings = [0]
    for round_ in range(1, rounds):
        candidates = reversed(range(2 ** (rounds - 1 - round_)))
        crossings.append(max(candidates, key=partial(_apart, crossings)))
    return crossings


def _apart(crossings: list[int], crossing: int) -> list[tuple[int, int]]:
    """Return for how long those who met in each round are kept apart, the shortest first."""
    round_ = len(crossings)
    return sorted(
        (((earlier >> (round_ - q)) ^ crossing).bit_length(), -q)
        for q, earlier in enumerate(crossings)
    )

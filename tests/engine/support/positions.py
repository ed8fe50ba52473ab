"""What the engine's tests share: games played to a chosen point, and how to compare states."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from keltis_engine import COMPILED, VARIANTS, Rng, Ruleset, State, find_variant
from keltis_engine.games.variants import Option
from keltis_engine.play.policies import POLICIES

TABLES = [(variant, players) for variant in VARIANTS for players in (2, 3, 4)]
EXAMPLES = 100 if COMPILED else 40
LETTERS = "RYVGB"


@dataclass(frozen=True)
class Game:
    """A deal and the spells of play that lead from it to a position."""

    variant: str
    players: int
    seed: int
    options: dict[str, int]
    spells: list[tuple[str, int]]  # a policy, and how many decisions it makes

    @property
    def ruleset(self) -> Ruleset:
        return find_variant(self.variant, self.options)

    def states(self) -> Iterator[State]:
        """Yield the state before each decision and after the last: one object that goes on."""
        state = self.ruleset.deal(self.players, self.seed)
        rng = Rng(self.seed)
        yield state
        for policy, decisions in self.spells:
            for _ in range(decisions):
                if state.over:
                    return
                state.apply(POLICIES[policy](state, rng))
                yield state

    def position(self) -> State:
        """Return the state after all spells, or at the end of the game if that comes first."""
        *_, state = self.states()
        return state


def settings_of(option: Option) -> st.SearchStrategy[int]:
    """Values that change something: short limits as well as the default."""
    if option.highest == 1:
        return st.integers(0, 1)
    return st.one_of(st.just(option.default), st.integers(1, 80))


@st.composite
def games(draw: st.DrawFn, to_the_end: bool = False) -> Game:
    variant = draw(st.sampled_from(list(VARIANTS)))
    options = {option.name: draw(settings_of(option)) for option in VARIANTS[variant].options}
    spell = st.tuples(st.sampled_from(list(POLICIES)), st.integers(1, 80))
    spells = draw(st.lists(spell, max_size=5))
    if to_the_end:
        spells.append((draw(st.sampled_from(list(POLICIES))), 10_000))
    return Game(
        variant=variant,
        players=draw(st.integers(2, 4)),
        seed=draw(st.integers(0, 2**128 - 1)),
        options=options,
        spells=spells,
    )


def played(variant: str, players: int, seed: int, policy: str, decisions: int) -> State:
    """Return the position after so many decisions of one policy."""
    return Game(variant, players, seed, {}, [(policy, decisions)]).position()


def everything(state: State) -> dict[str, Any]:
    """Return all that a caller can find out about a state, to compare two of them."""
    return {
        "all cards": state.reveal(),
        "over": state.over,
        "legal": state.legal_actions(),
        "room": [int(state.room(seat)) for seat in range(state.players)],
        "breakdown": state.breakdown(),
        "winners": state.winners(),
    }


def box(variant: str) -> Counter[str]:
    """Return what the rules say is in the box: every card, tile and wish stone."""
    if variant == "kartenspiel":
        names = [f"{c}{v}" for c in LETTERS for v in [0, 1, 2, 8, 9, 10] + [3, 4, 5, 6, 7] * 2]
        names += [f"{c}E" for c in LETTERS] * 2 + [f"P{v}" for v in range(11)]
        return Counter(names + [f"stone {v}" for v in range(1, 10)])
    cards = [f"{c}{v}" for c in LETTERS for v in range(11)]
    if variant == "weg-der-steine":
        return Counter(cards)
    material = Counter(cards * 2)
    if variant == "keltis":
        material.update({"tile wish": 9, "tile clover": 9})
        material.update({"tile 1": 2, "tile 2": 3, "tile 3": 2})
    else:
        material.update({"tile clover": 5, "tile drop": 5, "tile 2": 5, "tile 3": 2})
        material.update({f"tile wish {c}": 6 for c in LETTERS})  # five of them in a stack
    return material


STACKS = {"2a": "R", "3b": "Y", "6e": "V", "6a": "G", "2d": "B"}


def material_of(view: dict[str, Any]) -> Counter[str]:
    """Count every card, tile and wish stone that a complete view shows, wherever it lies."""
    found = Counter(card for stream in view["pile"]["cards"] for card in stream)
    for rows in view["rows"]:
        found.update(card for row in rows.values() for card in row)
    if view["variant"] == "weg-der-steine":
        found.update(view["middle"])
        found.update([view["revealed"]] if view["revealed"] else [])
        return found
    for hand in view["hands"]:
        found.update(hand["cards"])
    for pile in view["piles"].values():
        found.update(pile)
    found.update(view["removed"]["cards"])
    found.update(f"tile {tile}" for tile in view.get("tiles", {}).values())
    if view["variant"] == "keltis":
        found["tile wish"] += sum(view["wish_stones"])
    elif view["variant"] == "neue-wege":
        for stones in [{STACKS[f]: n for f, n in view["stacks"].items()}, *view["wish_stones"]]:
            found.update({f"tile wish {colour}": count for colour, count in stones.items()})
    else:
        for row in view["points_rows"]:
            found.update(row)
        for values in [view["wish_row"], *view["wish_stones"]]:
            found.update(f"stone {value}" for value in values)
    return found

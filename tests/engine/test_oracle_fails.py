"""The oracle can fail: it refuses altered replays, and altered rules refuse the engine's games."""

import copy
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from tests.engine import oracle
from tests.engine.oracle import OracleMismatch, common, kartenspiel, keltis, neue_wege
from tests.engine.oracle import weg_der_steine as steine
from tests.engine.support.oracle_games import runners_games

pytestmark = pytest.mark.one_form  # the oracle is tested here, not the engine
VARIANTS = list(oracle.GAMES)
Replay = dict[str, Any]
DECKS = {"keltis": keltis.DECK, "neue-wege": keltis.DECK, "kartenspiel": kartenspiel.DECK}


def choices_of(replay: Replay) -> list[dict[str, Any]]:
    """Return the decisions, from the ninth on, that were more than a formality."""
    return [record for record in replay["decisions"][8:] if len(record["legal"]) > 2]


def with_card(replay: Replay, name: str) -> list[dict[str, Any]]:
    return [record for record in replay["decisions"] if name in record]


def omit_a_legal_decision(replay: Replay) -> None:
    record = choices_of(replay)[0]
    record["legal"].remove(next(text for text in record["legal"] if text != record["decision"]))


def add_a_legal_decision(replay: Replay) -> None:
    texts = {text for record in replay["decisions"] for text in record["legal"]}
    record = choices_of(replay)[0]
    record["legal"].append(min(texts - set(record["legal"])))


def list_a_legal_decision_twice(replay: Replay) -> None:
    legal = choices_of(replay)[0]["legal"]
    legal.append(legal[0])


def decide_otherwise(replay: Replay) -> None:
    record = next(record for record in replay["decisions"] if len(record["legal"]) > 1)
    record["decision"] = next(text for text in record["legal"] if text != record["decision"])


def decide_illegally(replay: Replay) -> None:
    texts = {text for record in replay["decisions"] for text in record["legal"]}
    record = choices_of(replay)[0]
    record["decision"] = min(texts - set(record["legal"]))


def swap_two_decisions(replay: Replay) -> None:
    decisions = replay["decisions"]
    decisions[10], decisions[11] = decisions[11], decisions[10]


def swap_the_choices_of_two_decisions(replay: Replay) -> None:
    """Swap what was decided in two records, with nothing else about them."""
    first, second, *_ = choices_of(replay)
    first["decision"], second["decision"] = second["decision"], first["decision"]


def leave_out_the_last_decision(replay: Replay) -> None:
    replay["decisions"].pop()


def go_on_after_the_end(replay: Replay) -> None:
    replay["decisions"].append(copy.deepcopy(replay["decisions"][-1]))


def change_a_seat(replay: Replay) -> None:
    replay["decisions"][10]["seat"] = 1 - replay["decisions"][10]["seat"]


def change_a_turn(replay: Replay) -> None:
    replay["decisions"][10]["turn"] += 1


def change_a_phase(replay: Replay) -> None:
    replay["decisions"][10]["phase"] = "over"


def tell_a_card_too_many(replay: Replay) -> None:
    record = next(r for r in replay["decisions"] if r["decision"].split()[0] in "lay keep")
    record["drawn"] = "R7"


def change_a_score(replay: Replay) -> None:
    replay["scores"][1] += 1


def change_a_part_of_a_score(replay: Replay) -> None:
    """Change two parts that leave their sum as it was."""
    replay["breakdown"][0]["wish_stones"] += 1
    replay["breakdown"][0][next(iter(replay["breakdown"][0]))] -= 1


def change_the_winners(replay: Replay) -> None:
    replay["winners"] = [0] if replay["winners"] != [0] else [1]


def change_over(replay: Replay) -> None:
    replay["over"] = False


def change_the_pile_size(replay: Replay) -> None:
    replay["setup"]["draw_pile_size"] -= 1


def draw_a_card_that_is_elsewhere(replay: Replay) -> None:
    if replay["variant"] == "weg-der-steine":
        first, second, *_ = with_card(replay, "revealed")
        second["revealed"] = first["revealed"]
        return
    setup = replay["setup"]
    known = Counter(setup["removed"] + [card for hand in setup["hands"] for card in hand])
    deck = Counter(DECKS[replay["variant"]])
    with_card(replay, "drawn")[0]["drawn"] = next(c for c in known if known[c] == deck[c])


def exchange_two_draws(replay: Replay) -> None:
    name = "revealed" if replay["variant"] == "weg-der-steine" else "drawn"
    first, *others = with_card(replay, name)
    second = next(r for r in others if r[name] != first[name] and r["seat"] != first["seat"])
    first[name], second[name] = second[name], first[name]


MUTATIONS: list[Callable[[Replay], None]] = [
    omit_a_legal_decision,
    add_a_legal_decision,
    list_a_legal_decision_twice,
    decide_otherwise,
    decide_illegally,
    swap_two_decisions,
    swap_the_choices_of_two_decisions,
    leave_out_the_last_decision,
    go_on_after_the_end,
    change_a_seat,
    change_a_turn,
    change_a_phase,
    tell_a_card_too_many,
    change_a_score,
    change_a_part_of_a_score,
    change_the_winners,
    change_over,
    change_the_pile_size,
    draw_a_card_that_is_elsewhere,
    exchange_two_draws,
]


@cache
def accepted(variant: str) -> Replay:
    """Return a game that the oracle takes as it is."""
    replay = runners_games(variant)[0]
    oracle.check(replay)
    return replay


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
@pytest.mark.parametrize("variant", VARIANTS)
def test_an_altered_replay_is_refused(variant: str, mutation: Callable[[Replay], None]) -> None:
    replay = copy.deepcopy(accepted(variant))
    mutation(replay)
    with pytest.raises(OracleMismatch):
        oracle.check(replay)


RULES: list[tuple[str, ModuleType, str]] = [
    ("keltis", common, "HAND_SIZE"),
    ("keltis", keltis, "DECK"),
    ("keltis", keltis, "STONE_VALUES"),
    ("keltis", keltis, "END_STONE"),
    ("keltis", keltis, "FIRST_GOAL_STONE"),
    ("keltis", keltis, "TILED_STONES"),
    ("keltis", keltis, "WISH_STONE_SCORES"),
    ("keltis", keltis, "FIGURES_IN_GOAL_TO_END"),
    ("neue-wege", neue_wege, "ROW_VALUES"),
    ("neue-wege", neue_wege, "COLOUR_OF"),
    ("neue-wege", neue_wege, "EDGES"),
    ("neue-wege", neue_wege, "DIFFERENT_COLOURS_SCORES"),
    ("neue-wege", neue_wege, "THREE_OF_A_COLOUR"),
    ("neue-wege", neue_wege, "FIRST_GOAL_ROW"),
    ("neue-wege", neue_wege, "FIGURES_IN_GOAL_TO_END"),
    ("kartenspiel", kartenspiel, "DECK"),
    ("kartenspiel", kartenspiel, "ROW_SCORES"),
    ("kartenspiel", kartenspiel, "WISH_STONE_SCORES"),
    ("kartenspiel", kartenspiel, "ENDED_ROWS_TO_END"),
    ("kartenspiel", kartenspiel, "FINAL_CARDS"),
    ("weg-der-steine", steine, "TILES"),
    ("weg-der-steine", steine, "WISH_STONES"),
    ("weg-der-steine", steine, "CLOVERS"),
    ("weg-der-steine", steine, "BONUS_1"),
    ("weg-der-steine", steine, "BONUS_3"),
    ("weg-der-steine", steine, "ROW_SCORES"),
    ("weg-der-steine", steine, "WISH_STONE_SCORES"),
]


def altered(rule: Any) -> Iterator[Any]:
    """Yield a rule with one thing about it altered, for each thing about it."""
    if isinstance(rule, int):
        yield from (rule - 1, rule + 1)
    elif isinstance(rule, str):
        yield "*" if rule != "*" else "R"
    elif isinstance(rule, dict):
        for key in rule:
            yield from ({**rule, key: other} for other in altered(rule[key]))
    elif isinstance(rule[0], int):
        for i, value in enumerate(rule):
            yield [*rule[:i], value + 1, *rule[i + 1 :]]
    else:
        for i in range(len(rule)):
            yield rule[:i] + rule[i + 1 :]


def refuses_a_game(variant: str) -> bool:
    for replay in runners_games(variant):
        try:
            oracle.check(replay)
        except (OracleMismatch, LookupError):
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variant", "module", "name"), RULES, ids=lambda part: getattr(part, "__name__", part)
)
def test_an_altered_rule_is_noticed(
    variant: str, module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in altered(getattr(module, name)):
        monkeypatch.setattr(module, name, other)
        assert refuses_a_game(variant), other

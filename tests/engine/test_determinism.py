"""The same numbers, deals and games on every machine, in both forms of the engine, for ever."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import keltis_engine
from keltis_engine import VARIANTS, BadDeal, Rng, find_variant
from keltis_engine.play.policies import POLICIES
from keltis_engine.records.replay import expand, make_replay
from keltis_engine.rng import DealStream
from tests.engine.support.fingerprint import fingerprints
from tests.engine.support.positions import TABLES
from tests.places import ROOT

WORDS = 2**32
GAMES = 2 if keltis_engine.COMPILED else 1  # of each kind, to compare with another process

# The first eight digits of the SHA-256 of the set-up, and of the digests of the eager and the
# random game.
PINNED_GAMES = """
keltis 2 297868c1 8d5be322 e425cdd6
keltis 3 8fb4dbc8 813f2453 fc79c7ac
keltis 4 8a09d5e6 857e1aad 760110a5
neue-wege 2 31d3a452 f110133c a7ac70a5
neue-wege 3 1a7a52d9 4ca55350 534d2e0c
neue-wege 4 06b344d5 dcc217f0 e52fb729
kartenspiel 2 ce394416 3433ebcc 03383e60
kartenspiel 3 cd5f45f5 8ba92bd4 d2d9db18
kartenspiel 4 99571a03 42f7445e aeccf6e9
weg-der-steine 2 73c38a37 60da76cd 8f05ca11
weg-der-steine 3 73c38a37 24df0f83 eb118949
weg-der-steine 4 73c38a37 68b2e97c 20f34cf0
"""


# xoshiro128++


def test_xoshiro_gives_the_words_of_its_authors() -> None:
    rng = Rng()
    rng.set_state(1, 2, 3, 4)
    assert [rng.word() for _ in range(10)] == [
        641, 1573767, 3222811527, 3517856514, 836907274,
        4247214768, 3867114732, 1355841295, 495546011, 621204420,
    ]  # fmt: skip


def test_a_seed_of_any_size_starts_its_own_numbers() -> None:
    firsts = [Rng(seed).word() for seed in (0, 1, -1, 2**32, 2**64, 2**200, -(2**200))]
    assert len(set(firsts)) == len(firsts)
    assert Rng().word() == Rng(0).word()


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 55, 1000, 2**16, 1_500_000_000, 2**31 - 1, 2**31])
def test_below_is_exact(n: int) -> None:
    """Against the definition: the high half of a product, unless its low half is too small."""
    rng = Rng(n)
    words = Rng(n)
    for _ in range(500):
        product = int(words.word()) * n
        while product % WORDS < WORDS % n:
            product = int(words.word()) * n
        assert rng.below(n) == product // WORDS


@pytest.mark.parametrize("n", [2, 6, 7, 50])
def test_numbers_below_n_are_equally_likely(n: int) -> None:
    rng = Rng(7)
    found = Counter(int(rng.below(n)) for _ in range(n * 400))
    assert set(found) == set(range(n))
    chi_square = sum((found[k] - 400) ** 2 / 400 for k in range(n))
    assert chi_square < n - 1 + 4 * (2 * n) ** 0.5


# The deal stream


def plain_words(name: str, count: int) -> list[int]:
    output = hashlib.shake_128(name.encode()).digest(4 * count)
    return [int.from_bytes(output[k : k + 4], "big") for k in range(0, 4 * count, 4)]


@pytest.mark.parametrize("name", ["", "keltis-ladder/deal/1/keltis/2/0", "x" * 500])
def test_the_deal_stream_is_shake_128(name: str) -> None:
    stream = DealStream(name)
    assert [stream.word() for _ in range(3000)] == plain_words(name, 3000)


@pytest.mark.parametrize("n", [1, 2, 3, 110, 1_500_000_000, 2**31, 2**31 + 1, 3 * 2**30, 2**32])
def test_the_deal_stream_throws_away_what_would_favour_small_numbers(n: int) -> None:
    words = iter(plain_words("below", 4000))
    stream = DealStream("below")
    for _ in range(1000):
        word = next(w for w in words if w < WORDS // n * n)
        assert stream.below(n) == word % n


def test_the_name_of_a_deal_holds_variant_players_and_seed_and_no_options() -> None:
    for variant, players in TABLES:
        deal = find_variant(variant).deal(players, 5).reveal()
        short = find_variant(variant, {"turn_limit": 9}).deal(players, 5).reveal()
        assert short | {"options": None} == deal | {"options": None}
        assert find_variant(variant).deal(players, 6).reveal() != deal


@pytest.mark.parametrize("variant", VARIANTS)
def test_seeds_go_from_0_to_2_to_the_128(variant: str) -> None:
    ruleset = find_variant(variant)
    assert ruleset.deal(2, 0).reveal() != ruleset.deal(2, 2**128 - 1).reveal()
    for seed in (-1, 2**128):
        with pytest.raises(BadDeal, match=f"seed {seed} is out of range"):
            ruleset.deal(2, seed)
    for players in (-1, 0, 1, 5, 2**70):
        with pytest.raises(BadDeal, match=f"cannot be played by {players}: it takes 2 to 4"):
            ruleset.deal(players, 1)


def test_true_is_the_seed_1_in_both_forms() -> None:
    assert Rng(True).word() == Rng(1).word()
    for variant in VARIANTS:
        ruleset = find_variant(variant)
        assert ruleset.deal(2, True).reveal() == ruleset.deal(2, 1).reveal()


# Pinned games


def game_line(variant: str, players: int) -> str:
    ruleset = find_variant(variant)
    setup = expand(make_replay(ruleset, players, 2008, []))["setup"]
    deal = hashlib.sha256(json.dumps(setup, sort_keys=True).encode()).hexdigest()
    games = [pinned_game(variant, players, policy) for policy in sorted(POLICIES)]
    return f"{variant} {players} " + " ".join(text[:8] for text in [deal, *games])


def pinned_game(variant: str, players: int, policy: str) -> str:
    """Return the digest of the game of one policy."""
    ruleset = find_variant(variant)
    state = ruleset.deal(players, 2008)
    rng = Rng(2008)
    actions = []
    while not state.over:
        actions.append(POLICIES[policy](state, rng))
        state.apply(actions[-1])
    return str(make_replay(ruleset, players, 2008, actions)["digest"])


def test_deals_and_games_are_what_they_always_were() -> None:
    now = [game_line(variant, players) for variant, players in TABLES]
    assert now == PINNED_GAMES.strip().splitlines()


# Compiled or not


def interpreted_elsewhere(folder: Path) -> dict[str, Any]:
    """Take the fingerprints in a new process that finds nothing but the engine's sources."""
    package = folder / "keltis_engine"
    engine = Path(keltis_engine.__file__).parent
    shutil.copytree(engine, package, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "KELTIS"))}
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.support.fingerprint", str(GAMES)],
        cwd=ROOT,
        env=env | {"PYTHONPATH": str(folder), "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert Path(report["file"]).parent == package
    assert report["compiled"] is False
    return report


@pytest.mark.slow
@pytest.mark.one_form
def test_the_interpreted_sources_play_the_same_in_every_detail(tmp_path: Path) -> None:
    """In the compiled run this compares the two forms; else two processes of the same."""
    here = fingerprints(GAMES)
    assert len(here) == len(TABLES) * len(POLICIES)
    assert interpreted_elsewhere(tmp_path)["fingerprints"] == here

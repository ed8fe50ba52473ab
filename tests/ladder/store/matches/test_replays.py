"""Stored games play out as they did, and damage to them is told."""

from fractions import Fraction

import pytest
from sqlalchemy import update
from sqlmodel import col, select

from keltis_engine import VARIANTS
from keltis_engine.records.replay import FORMAT, verify
from keltis_ladder.errors import LadderError
from keltis_ladder.store.database import Database
from keltis_ladder.store.matches.finishing import finish
from keltis_ladder.store.matches.records import in_twelfths, pack_moves, rows_of, unpack_moves
from keltis_ladder.store.matches.replays import Damaged, crash_card, replays_of
from keltis_ladder.store.schema.tables import FaultRecord, Game
from tests.ladder.store.support.ladders import NOON, ask_for, entered
from tests.ladder.store.support.results import CRASH, played


def store_real(
    database: Database,
    variant: str,
    players: int,
    seed: int,
    drops: dict[int, tuple[int, int]] | None = None,
) -> int:
    """Play and store a match; return its number."""
    versions = entered(database, *[f"{variant}-{number}" for number in range(players)])
    rows = rows_of(*played(variant, players, seed, drops))
    with database.writing() as session:
        job = ask_for(session, versions, variant, seed=seed)
        return finish(session, job, rows, NOON).number


@pytest.mark.parametrize("variant", VARIANTS)
def test_stored_games_verify(database: Database, variant: str) -> None:
    players = 2 + len(variant) % 3
    number = store_real(database, variant, players, seed=2**127 + 5)
    _, result = played(variant, players, 2**127 + 5)
    with database.reading() as session:
        replays = replays_of(session, number)
    assert len(replays) == players
    names = [f"{variant}-{entrant}" for entrant in range(players)]
    for rotation, replay in enumerate(replays):
        end = verify(replay)
        assert end.over
        assert replay["format"] == FORMAT
        assert replay["scores"] == result.games[rotation].scores
        assert replay["ranks"] == result.games[rotation].ranks
        assert replay["ending"] == result.games[rotation].ending == end.ending
        assert replay["names"] == names[rotation:] + names[:rotation]
        assert (replay["match"], replay["rotation"], replay["faults"]) == (number, rotation, [])


@pytest.mark.parametrize("players", [2, 3])
def test_games_with_faults_verify_and_name_them(database: Database, players: int) -> None:
    number = store_real(database, "keltis", players, seed=8, drops={1: (1, 10)})
    with database.reading() as session:
        replays = replays_of(session, number)
        fault = session.exec(select(FaultRecord)).one()
        assert fault.id is not None
        card = crash_card(session, fault.id)
    assert card == {"bot": "seat 1", "stderr": "Ouch \x00 \udcff"}
    for replay in replays:
        verify(replay)
    assert [len(replay["faults"]) for replay in replays] == [0, 1, 0][:players]
    (told,) = replays[1]["faults"]
    assert told == {
        "seat": 1, "decision": fault.decision, "kind": "crash", "code": "exit", "text": CRASH.text,
    }  # fmt: skip
    assert replays[1]["ending"] == "fault" or players == 3


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0x10]) + data[place + 1 :]


def test_a_flipped_byte_anywhere_in_a_game_is_told(database: Database) -> None:
    number = store_real(database, "kartenspiel", 2, seed=3)
    of_game = col(Game.rotation) == 1
    with database.reading() as session:
        moves, digest = session.exec(select(Game.moves, Game.digest).where(of_game)).one()
    for place in range(0, len(moves), 7):
        with database.writing() as session:
            session.execute(update(Game).where(of_game).values(moves=flipped(moves, place)))
        with database.reading() as session, pytest.raises(Damaged, match="game 1 of match 1"):
            replays_of(session, number)
    with database.writing() as session:
        session.execute(update(Game).where(of_game).values(moves=moves))
    wrong = "0" * 64
    changes: list[dict[str, object]] = [
        {"digest": wrong},
        {"digest": digest, "moves": pack_moves([*unpack_moves(moves)[:-1], 65_535])},
        {"moves": pack_moves(unpack_moves(moves)[:-2])},
        {"moves": moves[:-3]},
        {"moves": moves, "scores": [99, 99]},
    ]
    for change in changes:
        with database.writing() as session:
            session.execute(update(Game).where(of_game).values(**change))
        with database.reading() as session, pytest.raises(Damaged, match="restore a backup"):
            replays_of(session, number)


def test_a_damaged_crash_card_is_told(database: Database) -> None:
    store_real(database, "keltis", 2, seed=8, drops={0: (1, 4)})
    with database.writing() as session:
        fault = session.exec(select(FaultRecord)).one()
        fault.card = flipped(fault.card, 4)
        session.add(fault)
    with database.reading() as session, pytest.raises(Damaged, match="restore a backup"):
        crash_card(session, fault.id or 0)


def test_what_is_not_there_is_told(database: Database) -> None:
    with database.reading() as session:
        with pytest.raises(LadderError, match="no match 7"):
            replays_of(session, 7)
        with pytest.raises(LadderError, match="no fault 7"):
            crash_card(session, 7)


def test_moves_are_packed_small_and_come_back() -> None:
    _, result = played("keltis", 2, seed=1)
    for game in result.games:
        packed = pack_moves(game.actions)
        assert unpack_moves(packed) == game.actions
        assert len(packed) < len(game.actions) * 2
    assert unpack_moves(pack_moves([])) == []
    assert unpack_moves(pack_moves([0, 1, 255, 256, 65_535])) == [0, 1, 255, 256, 65_535]
    with pytest.raises(OverflowError):
        pack_moves([65_536])


def test_every_share_is_a_whole_number_of_twelfths() -> None:
    assert [in_twelfths(Fraction(1, winners)) for winners in (1, 2, 3, 4)] == [12, 6, 4, 3]
    with pytest.raises(ValueError, match="1/5"):
        in_twelfths(Fraction(1, 5))

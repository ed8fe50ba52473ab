"""Whatever is killed, and whenever: no result is lost, none counts twice, all ratings are right."""

import random
from pathlib import Path

import pytest

from keltis_ladder.store.home import Home
from tests.ladder.store.support.postgres import PostgresMissing, running
from tests.system.support.siege import Siege, die_with_the_lock, kill_a_referee

STRIKES = 30  # on each of two databases


@pytest.mark.slow
def test_a_ladder_on_sqlite_survives_every_kill(tmp_path: Path) -> None:
    siege = Siege(Home(tmp_path, str(tmp_path / "ladder.db")), random.Random(1))
    siege.prepare()
    kinds = {"referee": kill_a_referee, "lock": die_with_the_lock(tmp_path / "ladder.db")}
    siege.endure(STRIKES, kinds, lambda _: None)
    siege.finish()
    assert siege.verdict() == []
    assert siege.told
    assert siege.strikes["runner"] > 2


@pytest.mark.slow
def test_a_ladder_on_postgresql_survives_every_kill(tmp_path: Path) -> None:
    try:
        with running() as server:
            server.execute("CREATE DATABASE ladder")
            siege = Siege(Home(tmp_path, server.url("ladder")), random.Random(2))
            siege.prepare()
            kinds = {
                "referee": kill_a_referee,
                "connection": lambda _: server.cut_connections("ladder"),
            }
            siege.endure(STRIKES, kinds, lambda _: None)
            siege.finish()
            assert siege.verdict() == []
            assert siege.strikes["connection"] > 2
    except PostgresMissing as missing:
        pytest.skip(str(missing))

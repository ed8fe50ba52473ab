"""Bots whose processes can be told from all others."""

import uuid
from pathlib import Path

import pytest

from keltis_ladder.match.entrants import Entrant
from tests.ladder.dispatch.support.playing import quick_bots, slow_bots


@pytest.fixture
def token() -> str:
    return f"token-{uuid.uuid4().hex}"


@pytest.fixture
def quick(tmp_path: Path, token: str) -> tuple[Entrant, ...]:
    return quick_bots(tmp_path, token)


@pytest.fixture
def slow(tmp_path: Path, token: str) -> tuple[Entrant, ...]:
    return slow_bots(tmp_path, token)

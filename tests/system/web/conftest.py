"""One ladder and one browser for all that happens on the pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.system.web.support.ladders import Ladder, open_ladder
from tests.system.web.support.visits import Visitors, open_browser


@pytest.fixture(scope="session")
def ladder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ladder]:
    """A ladder with results of every game, on which two bots play on and on."""
    scratch = tmp_path_factory.mktemp("pages")
    ladder = open_ladder(scratch / "ladder", scratch)
    yield ladder
    ladder.stop()
    assert "Traceback" not in ladder.server.output


@pytest.fixture(scope="session")
def visitors() -> Iterator[Visitors]:
    """A browser."""
    with open_browser() as browser:
        yield browser

"""The tests mirror the product: where a folder has modules, its tests are found under its name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.docs.support.pages import files

# What is tested in another place, and where.
ELSEWHERE: Final = {
    "engine/keltis_engine/table": "tests/engine/games",  # what lies on the table, by its rules
    "bots/keltis_bots/judges": "tests/bots/test_greedy.py",  # who asks them
    "bots/keltis_bots/starters/python": "tests/bots/test_starters.py",  # in every language
    "ladder/keltis_ladder/store/schema/tables": "tests/ladder/store/schema/test_migrations.py",
    "ladder/keltis_ladder/store/schema/migrations": "tests/ladder/store/schema/test_migrations.py",
    "ladder/keltis_ladder/store/schema/migrations/versions": (
        "tests/ladder/store/schema/test_migrations.py"
    ),
    "server/keltis_server/models": "tests/server/http/test_openapi.py",  # their shape is the API
    "server/keltis_server/loaders": "tests/server/api",  # what they load, as clients get it
    "server/keltis_server/client": "tests/server/live",  # every test there listens by it
    "cli/keltis_cli/remote/pages": "tests/cli/remote/test_play.py",  # printed by commands
    "cli/keltis_cli/remote/submission": "tests/cli/remote/test_play.py",  # as an author does it
}


def folders_with_modules() -> set[str]:
    """Return the folders inside our packages in which there are modules."""
    found = set[str]()
    for path in files():
        parts = path.parts
        package = len(parts) > 3 and parts[1] == f"keltis_{parts[0]}"
        if package and path.suffix == ".py" and path.name != "__init__.py":
            found.add(path.parent.as_posix())
    return found


def place_of_tests(folder: str) -> str:
    """Return where the tests of a folder are: under its name, below those of its package."""
    package, _, *rest = folder.split("/")
    return "/".join(("tests", package, *rest))


def has_tests(folder: str) -> bool:
    """Return whether a folder itself holds tests."""
    here = Path(folder)
    return any(path.parent == here and path.match("test_*.py") for path in files())


@pytest.mark.parametrize("folder", sorted(folders_with_modules() - ELSEWHERE.keys()))
def test_a_folder_with_modules_has_a_folder_of_tests(folder: str) -> None:
    assert has_tests(place_of_tests(folder)), f"{folder} has no tests in {place_of_tests(folder)}"


@pytest.mark.parametrize("folder", sorted(ELSEWHERE))
def test_what_is_tested_elsewhere_is_there_and_has_to_be(folder: str) -> None:
    assert folder in folders_with_modules()
    assert not has_tests(place_of_tests(folder)), f"{folder} needs no exception any more"
    where = Path(ELSEWHERE[folder])
    assert where in files() or has_tests(where.as_posix())

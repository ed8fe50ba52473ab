"""The engine may import the standard library, librt and mypy_extensions, and nothing else."""

import ast
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

ALLOWED = sys.stdlib_module_names | {"keltis_engine", "librt", "mypy_extensions"}
MODULES = sorted((ROOT / "engine/keltis_engine").rglob("*.py"))


def imported_packages(source: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module or "")
    return {name.split(".")[0] for name in names}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_engine_module_imports_only_what_the_design_allows(path: Path) -> None:
    assert imported_packages(path.read_text()) - ALLOWED == set()


def test_a_forbidden_import_is_found() -> None:
    assert imported_packages("def f():\n    from numpy.random import rand") - ALLOWED == {"numpy"}

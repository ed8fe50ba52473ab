"""The public face of the engine, and how little it needs."""

import json
import subprocess
import sys
from pathlib import Path

import keltis_engine

ALLOWED = sys.stdlib_module_names | {"keltis_engine", "librt", "mypy_extensions"}


def test_the_public_names_are_these() -> None:
    assert keltis_engine.__all__ == [
        "COMPILED",
        "POST_GAME",
        "SPECTATORS",
        "VARIANTS",
        "BadDeal",
        "BadOption",
        "BadView",
        "BadViewer",
        "EngineError",
        "IllegalAction",
        "Option",
        "Rng",
        "Ruleset",
        "State",
        "UnknownNotation",
        "UnknownVariant",
        "Variant",
        "View",
        "find_variant",
        "playout",
        "playouts",
        "restore",
    ]
    assert all(hasattr(keltis_engine, name) for name in keltis_engine.__all__)


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules of a new process after a statement."""
    folder = str(Path(keltis_engine.__file__).parents[1])
    code = f"""
import json, sys
sys.path.insert(0, {folder!r})
{statement}
print(json.dumps(list(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    return {name.split(".")[0] for name in json.loads(done.stdout)}


def test_importing_the_engine_imports_nothing_foreign() -> None:
    before = modules_after("")
    after = modules_after(
        "import keltis_engine, keltis_engine.records.replay, keltis_engine.play.policies"
    )
    assert "keltis_engine" in after - before
    assert after - before - ALLOWED == set()


def test_a_foreign_import_would_be_noticed() -> None:
    assert "pytest" in modules_after("import pytest") - ALLOWED

"""A failed test gets a second run by itself, and the closing line tells the truth about both."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.places import ROOT

PATIENCE = 300.0  # seconds
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist")
CONFTEST = """
from tests import part_times, retrying

def pytest_addoption(parser):
    retrying.add_option(parser)

def pytest_configure(config):
    retrying.enable(config)
    part_times.enable(config)
"""
# Runs are counted in a file: the second one is in another process.
COUNTING = """
import os, pathlib, pytest
RUNS = pathlib.Path(__file__).parent / "runs"

def run_of(name):
    with RUNS.open("a") as file:
        file.write(name + "\\n")
    return RUNS.read_text().split().count(name)

def test_steady():
    run_of("steady")
"""
WORKERS = pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])


def run(
    directory: Path, tests: str, *arguments: str, conftest: str = CONFTEST, **variables: str
) -> tuple[int, list[str]]:
    """Run a made-up suite; return the exit code and the lines that were printed."""
    (directory / "conftest.py").write_text(conftest)
    (directory / "pytest.ini").write_text("[pytest]\naddopts = -ra\n")
    (directory / "test_made_up.py").write_text(COUNTING + textwrap.dedent(tests))
    removed = ("PYTEST_", "KELTIS_", "FORCE_COLOR")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(removed)}
    path = os.pathsep.join([str(ROOT), *filter(None, [environment.get("PYTHONPATH")])])
    done = subprocess.run(
        [*PYTEST, *arguments],
        cwd=directory,
        env=environment | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout.splitlines()


def closing(lines: list[str]) -> str:
    """Return what the last line counts."""
    counts = re.fullmatch(r"=+ (.*) in [0-9.]+s =+", lines[-1])
    assert counts, "\n".join(lines)
    return counts[1]


def unsteady(lines: list[str]) -> list[str]:
    return [
        line.removeprefix("unsteady: test_made_up.py::")
        for line in lines
        if line.startswith("unsteady: ")
    ]


@WORKERS
def test_a_test_that_passes_by_itself_makes_a_green_run_and_is_named(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    tests = """
    @pytest.mark.parametrize("word", ["a b", "x::y[z]"])
    def test_moody(word):
        assert run_of("moody" + str(len(word))) == 2, "in a bad mood"
    """
    code, lines = run(tmp_path, tests, "--retry-failed", *workers)
    assert (code, closing(lines)) == (0, "3 passed")
    assert unsteady(lines) == ["test_moody[a b]", "test_moody[x::y[z]]"]
    assert "E       AssertionError: in a bad mood" in lines, "what went wrong is still told"
    assert not any(line.startswith("FAILED") for line in lines)
    assert sorted((tmp_path / "runs").read_text().split()) == [
        *("moody3", "moody3", "moody7", "moody7", "steady")
    ]


@WORKERS
def test_a_test_that_fails_again_makes_a_red_run(tmp_path: Path, workers: tuple[str, ...]) -> None:
    tests = """
    def test_moody():
        assert run_of("moody") == 2
    def test_wrong():
        assert run_of("wrong") == 0, "always"
    """
    code, lines = run(tmp_path, tests, "--retry-failed", *workers)
    assert (code, closing(lines)) == (1, "1 failed, 2 passed")
    assert unsteady(lines) == ["test_moody"]
    assert sum(line.startswith("FAILED test_made_up.py::test_wrong") for line in lines) == 1
    assert any("its second run, by itself" in line for line in lines)
    assert (tmp_path / "runs").read_text().split().count("wrong") == 2


@WORKERS
def test_setups_and_teardowns_that_fail_are_run_again_too(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    tests = """
    @pytest.fixture
    def before():
        assert run_of("before") == 2
    @pytest.fixture
    def after(request):
        yield
        assert run_of("after-" + request.node.name) == 2
    @pytest.fixture
    def broken():
        raise OSError("for good")
    def test_before(before): pass
    def test_after(after): pass
    def test_both(after): assert run_of("both") == 2
    """
    code, lines = run(tmp_path, tests, "--retry-failed", *workers)
    assert (code, closing(lines)) == (0, "4 passed")
    assert unsteady(lines) == ["test_after", "test_before", "test_both"]

    tests += "def test_broken(broken): pass\n"
    (tmp_path / "runs").unlink()
    code, lines = run(tmp_path, tests, "--retry-failed", *workers)
    assert (code, closing(lines)) == (1, "4 passed, 1 error")


def test_a_worker_that_dies_takes_nothing_with_it(tmp_path: Path) -> None:
    tests = """
    def test_deadly():
        if run_of("deadly") == 1:
            os._exit(3)
    def test_after(): pass
    """
    code, lines = run(tmp_path, tests, "--retry-failed", "-n", "2")
    assert (code, closing(lines)) == (0, "3 passed")
    assert unsteady(lines) == ["test_deadly"]
    assert any("crashed while running" in line for line in lines)

    (tmp_path / "runs").unlink()
    code, lines = run(tmp_path, tests.replace("== 1", ">= 1"), "--retry-failed", "-n", "2")
    assert (code, closing(lines)) == (1, "1 failed, 2 passed")


def test_to_be_skipped_is_not_to_pass(tmp_path: Path) -> None:
    tests = """
    def test_shy():
        if run_of("shy") == 2:
            pytest.skip("not now")
        raise AssertionError
    """
    code, lines = run(tmp_path, tests, "--retry-failed")
    assert (code, closing(lines)) == (1, "1 failed, 1 passed")


def test_many_failures_are_no_chance(tmp_path: Path) -> None:
    tests = """
    @pytest.mark.parametrize("number", range(21))
    def test_wrong(number):
        run_of("wrong")
        raise AssertionError
    """
    code, lines = run(tmp_path, tests, "--retry-failed")
    assert (code, closing(lines)) == (1, "21 failed, 1 passed")
    assert (tmp_path / "runs").read_text().split().count("wrong") == 21


def test_files_that_cannot_be_read_make_a_red_run(tmp_path: Path) -> None:
    code, lines = run(tmp_path, "import nothing_of_that_name\n", "--retry-failed")
    assert (code, closing(lines)) == (2, "1 error")


def test_nothing_is_run_again_unless_it_is_wanted(tmp_path: Path) -> None:
    tests = """
    def test_moody():
        assert run_of("moody") == 2
    """
    code, lines = run(tmp_path, tests)
    assert (code, closing(lines), unsteady(lines)) == (1, "1 failed, 1 passed", [])


@pytest.mark.parametrize("form", ["interpreted", "compiled"])
def test_the_second_run_is_of_the_same_form(tmp_path: Path, form: str) -> None:
    tests = """
    def test_form():
        assert os.environ["KELTIS_FORM"] == "%s"
        import keltis_engine
        (RUNS.parent / "engine").open("a").write(keltis_engine.__file__ + "\\n")
        assert run_of("form") == 2
    """
    sources = os.pathsep.join(str(ROOT / part) for part in ("engine", ""))
    path = {"PYTHONPATH": sources} if form == "interpreted" else {}
    code, lines = run(tmp_path, tests % form, "--retry-failed", KELTIS_FORM=form, **path)
    assert (code, unsteady(lines)) == (0, ["test_form"])
    first, second = (tmp_path / "engine").read_text().split()
    assert first == second
    assert first.startswith(str(ROOT / "engine")) or form == "compiled"


def timed(directory: Path, *arguments: str, **variables: str) -> tuple[int, list[str]]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("KELTIS_", "PYTEST_"))}
    done = subprocess.run(
        [str(ROOT / ".ci/timed"), *arguments],
        cwd=directory,
        env=environment
        | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        | variables,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    return done.returncode, done.stdout.splitlines()


def test_the_time_of_each_part_comes_before_the_summary(tmp_path: Path) -> None:
    times = tmp_path / "times"
    code, lines = timed(tmp_path, "ruff check", "sh", "-c", "exit 3", KELTIS_TIMES=str(times))
    assert code == 3
    (line,) = lines
    assert re.fullmatch(r"ruff check: \d+ s", line)

    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_made_up.py").write_text("def test_nothing(): pass\n")
    code, lines = timed(tmp_path, "compiled", *PYTEST, KELTIS_TIMES=str(times))
    assert (code, closing(lines)) == (0, "1 passed")
    assert re.fullmatch(r"ruff check: \d+ s", lines[-3])
    assert re.fullmatch(r"compiled: \d+ s", lines[-2])
    assert times.read_text().splitlines() == lines[-3:-1]

    code, lines = timed(tmp_path, "compiled", *PYTEST)  # by itself
    assert (code, closing(lines)) == (0, "1 passed")
    assert re.fullmatch(r"compiled: \d+ s", lines[-2])

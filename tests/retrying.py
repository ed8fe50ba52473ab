"""A failed test is run once more by itself; if it passes then, it is unsteady and the run is green.

The second run comes when all others are over, in a process of its own, so that nothing is left of
what the test may have failed by: a busy machine, or what another test had left behind.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

MOST: Final = 20  # failed tests that are run again; more of them do not fail by chance
LONGEST: Final = 900.0  # seconds for a second run
OPTION: Final = "--retry-failed"
FAILURES: Final = ("failed", "error")  # the categories of pytest's terminal


def add_option(parser: pytest.Parser) -> None:
    """Add the option that asks for second runs."""
    parser.addoption(OPTION, action="store_true", help="run failed tests once more by themselves")


def enable(config: pytest.Config) -> None:
    """Have failed tests run again if the option asks for it; only whoever started the workers."""
    if config.getoption(OPTION) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Retrying(config), "retrying")


@dataclass
class Unsteady:
    """A test that failed among the others and passed by itself."""

    name: str
    failures: list[pytest.TestReport]


class Retrying:
    """The plugin: runs failed tests again, and puts the second result in the place of the first."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._unsteady: list[Unsteady] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """Run all tests, then the failed ones again."""
        result = yield
        self._retry(session)
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show how unsteady tests failed, and list them."""
        if not self._unsteady:
            return
        terminalreporter.section("UNSTEADY: failed among the others, passed by themselves")
        for test in self._unsteady:
            for report in test.failures:
                terminalreporter.write_sep("_", f"{test.name} ({report.when})")
                report.toterminal(terminalreporter._tw)
                for title, text in report.sections:
                    terminalreporter.write_sep("-", title)
                    terminalreporter.write_line(text)
        for test in self._unsteady:
            terminalreporter.write_line(f"unsteady: {test.name}", yellow=True)

    def _retry(self, session: pytest.Session) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        assert isinstance(terminal, pytest.TerminalReporter)
        failures = _failures(terminal)
        if not failures:
            return
        terminal.ensure_newline()
        if len(failures) > MOST:
            terminal.write_line(
                f"{len(failures)} tests failed; they are not run again, since more than {MOST} "
                "do not fail by chance"
            )
            return
        for name, reports in failures.items():
            terminal.write(f"once more, by itself: {name} ", flush=True)
            passed, output = self._run(name)
            terminal.write_line("passed" if passed else "failed again")
            if passed:
                self._unsteady.append(Unsteady(name, reports))
                _replace(session, terminal, name, reports)
            else:
                reports[-1].sections.append(("its second run, by itself", output))

    def _run(self, name: str) -> tuple[bool, str]:
        """Run a test in a process of its own; tell whether it passed, and what it printed."""
        config = self._config
        with tempfile.TemporaryDirectory() as directory:
            told = Path(directory) / "junit.xml"
            command = [
                *(
                    sys.executable,
                    "-m",
                    "pytest",
                    "-rN",
                    "-p",
                    "no:cacheprovider",
                    "-p",
                    "no:xdist",
                ),
                *(f"--rootdir={config.rootpath}", f"--junitxml={told}"),
                *((f"--config-file={config.inipath}",) if config.inipath else ()),
                str(config.rootpath / name),
            ]
            ours = ("PYTEST_XDIST_", "PYTEST_CURRENT_TEST")
            environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
            try:
                done = subprocess.run(
                    command,
                    cwd=config.invocation_params.dir,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    encoding="utf-8",
                    errors="replace",
                    timeout=LONGEST,
                )
            except subprocess.TimeoutExpired as late:
                text = (late.stdout or b"").decode("utf-8", "replace")
                return False, f"{text}\nIt was not over after {LONGEST:.0f} s."
            return done.returncode == 0 and _is_one_pass(told), done.stdout


def _failures(terminal: pytest.TerminalReporter) -> dict[str, list[pytest.TestReport]]:
    """Return the failed reports by the name of their test; what was not collected has none."""
    failures: dict[str, list[pytest.TestReport]] = {}
    for category in FAILURES:
        for report in terminal.stats.get(category, []):
            if isinstance(report, pytest.TestReport):
                failures.setdefault(report.nodeid, []).append(report)
    return dict(sorted(failures.items()))


def _is_one_pass(told: Path) -> bool:
    """Return whether exactly one test ran and passed: to be skipped is not to pass."""
    suites = list(ET.parse(told).iter("testsuite"))
    counts = [sum(int(suite.get(name, 0)) for suite in suites) for name in ("tests", "skipped")]
    return counts == [1, 0]


def _replace(
    session: pytest.Session,
    terminal: pytest.TerminalReporter,
    name: str,
    failures: list[pytest.TestReport],
) -> None:
    """Count a test as passed instead of failed."""
    stats = terminal.stats
    for category in FAILURES:
        if category in stats:
            stats[category] = [each for each in stats[category] if each not in failures]
            if not stats[category]:
                del stats[category]
    session.testsfailed -= len(failures)
    passed = stats.setdefault("passed", [])
    if not any(report.nodeid == name for report in passed):  # else only its teardown had failed
        first = failures[0]
        passed.append(pytest.TestReport(name, first.location, {}, "passed", None, "call"))
    terminal._set_main_color()  # it is red for good otherwise

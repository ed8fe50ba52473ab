"""What all tests share: which form of the engine they run on, and what a skip means."""

import os
import signal
from collections.abc import Generator

import hypothesis
import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

import keltis_engine
from tests import part_times, retrying, watchdog

FORM = os.environ.get("KELTIS_FORM")
CI = os.environ.get("CI") == "true"
NO_SKIPS = CI or os.environ.get("KELTIS_NO_SKIPS") == "1"

# One process each: an evening of matches, and a ladder with its browser, are made only once then.
TOGETHER = ("tests/server/live/", "tests/system/web/")
# Minutes for each test, or nearly.
APART = tuple(f"tests/system/test_{name}.py" for name in ("server", "kills", "occupancy"))
LONGEST_FIRST = ("system", "server", "ladder", "cli", "bots", "engine")

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, print_blob=True)
hypothesis.settings.load_profile("ci" if CI else "default")


def engine_form() -> str:
    return "compiled" if keltis_engine.COMPILED else "interpreted"


def pytest_addoption(parser: pytest.Parser) -> None:
    retrying.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    # A shell's background jobs ignore it, and so would the programs that tests interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    retrying.enable(config)
    part_times.enable(config)
    watchdog.enable(config)


def pytest_report_header() -> str:
    return f"engine: {engine_form()} ({keltis_engine.__file__})"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest: then nobody has to wait for it at the end."""

    def place(item: pytest.Item) -> int:
        part = item.path.relative_to(config.rootpath / "tests").parts[0]
        return LONGEST_FIRST.index(part) if part in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=place)


class FileByFile(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Gives a file to one process, so that what its tests share is made once."""

    def _split_scope(self, nodeid: str) -> str:
        for part in TOGETHER:
            if nodeid.startswith(part):
                return part
        return nodeid if nodeid.startswith(APART) else nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileByFile:
    config.option.loadscopereorder = False
    return FileByFile(config, log)


def pytest_sessionstart() -> None:
    if FORM not in (None, "compiled", "interpreted"):
        pytest.exit(f"KELTIS_FORM is {FORM!r}; expected compiled or interpreted", 3)
    if FORM is not None and engine_form() != FORM:
        pytest.exit(
            f"KELTIS_FORM={FORM}, but the engine at {keltis_engine.__file__} is {engine_form()}; "
            "run the tests through make, and `make clean` if a compiler was installed since",
            3,
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"Skipped, which counts as a failure here: {_reason(report.longrepr)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if NO_SKIPS and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"Skipped, which counts as a failure here: {_reason(report.longrepr)}"
    return report


def _reason(longrepr: object) -> str:
    """The reason within pytest's (path, line, reason) of a skip."""
    return str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)

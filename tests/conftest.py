"""What all tests share: which form of the engine they run on, and what a skip means."""

import os
from collections.abc import Generator

import hypothesis
import pytest

import keltis_engine

FORM = os.environ.get("KELTIS_FORM")
CI = os.environ.get("CI") == "true"
NO_SKIPS = CI or os.environ.get("KELTIS_NO_SKIPS") == "1"

hypothesis.settings.register_profile("default", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, print_blob=True)
hypothesis.settings.load_profile("ci" if CI else "default")


def engine_form() -> str:
    return "compiled" if keltis_engine.COMPILED else "interpreted"


def pytest_report_header() -> str:
    return f"engine: {engine_form()} ({keltis_engine.__file__})"


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

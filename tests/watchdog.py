"""Ends a test that hangs: it fails, and says where it was.

Tests wait for events, some of them without a limit of their own. Nothing should take so long that
this limit is met; but if it were, the run would not end, and nobody could tell where it stands.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import pytest

LIMIT: Final = "KELTIS_TEST_SECONDS"  # the variable that sets another limit
LONGEST_SECONDS: Final = 1800.0  # of one test: many times what the longest needs when all is busy
AGAIN_SECONDS: Final = 60.0  # if it catches what ends it, or hangs while it clears up


def enable(config: pytest.Config) -> None:
    """Watch each test from now on."""
    seconds = float(os.environ.get(LIMIT, LONGEST_SECONDS))
    config.pluginmanager.register(Watchdog(seconds), "watchdog")


class Watchdog:
    """The plugin."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        with self._watching():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        with self._watching():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        with self._watching():
            return (yield)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread can be interrupted
            return
        before = signal.signal(signal.SIGALRM, self._end)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, min(self._seconds, AGAIN_SECONDS))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)

    def _end(self, number: int, frame: FrameType | None) -> None:
        pytest.fail(f"it hangs: not over after {self._seconds:g} s")

"""A test that hangs fails after a while, whatever it waits for, and those after it are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.test_retrying import WORKERS, closing, run
from tests.watchdog import LIMIT

ENABLE = """
from tests import watchdog

def pytest_configure(config):
    watchdog.enable(config)
"""
HANGS = {
    "sleeps": "time.sleep(600)",
    "waits for a thread": "threading.Event().wait()",
    "waits in a loop of events": "asyncio.run(asyncio.Event().wait())",
    "polls": """
        async def poll():
            while True:
                await asyncio.sleep(0.01)
        asyncio.run(poll())""",
    "computes": """
        while True:
            pass""",
}


@WORKERS
def test_whatever_hangs_is_ended(tmp_path: Path, workers: tuple[str, ...]) -> None:
    tests = "import asyncio, threading, time\n"
    for number, work in enumerate(HANGS.values()):
        tests += f"def test_{number}():\n        {work.strip()}\n"
    tests += "@pytest.fixture\ndef stuck():\n    yield\n    time.sleep(600)\n"
    tests += "def test_after(stuck): pass\n"
    code, lines = run(tmp_path, tests, *workers, conftest=ENABLE, **{LIMIT: "0.5"})
    text = "\n".join(lines)
    assert code == pytest.ExitCode.TESTS_FAILED, text
    assert closing(lines) == f"{len(HANGS)} failed, 2 passed, 1 error", text
    assert text.count("Failed: it hangs: not over after 0.5 s") >= len(HANGS) + 1

"""The checker tells what it finds line by line, and never outlives whoever wanted to know."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from keltis_ladder.check.check import Plan, check_bot
from keltis_ladder.files.excerpts import Excerpt
from keltis_ladder.findings import Finding
from keltis_ladder.sandbox.sandbox import Sandbox
from tests.ladder.support.small_bots import write_bot

GAME = "weg-der-steine, 2 players"
TABLE: dict[str, Any] = {"variants": ["weg-der-steine"], "players": [2]}

# Starts a checker and waits; whoever kills it wants to see the checker go, too.
PARENT = """
import os, subprocess, sys, time
command = [sys.executable, "-m", "keltis_ladder.check.worker", "--parent", str(os.getpid())]
subprocess.Popen([*command, *sys.argv[1:]])
time.sleep(60)
"""


def options(bot: Path, cache: Path) -> list[str]:
    """Return what a checker is told; no test here has another archive than this."""
    return ["--bot", str(bot), "--archive", "a" * 64, "--cache", str(cache)]


def checked(bot: Path, cache: Path, *more: str) -> tuple[list[dict[str, Any]], int]:
    """Check a bot; return what is told, and how the checker ended."""
    command = [sys.executable, "-m", "keltis_ladder.check.worker", "--parent", str(os.getpid())]
    ended = subprocess.run(
        [*command, *options(bot, cache), *more],
        stdout=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    return [json.loads(line) for line in ended.stdout.splitlines()], ended.returncode


def of_kind(kind: str, told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in told if each["kind"] == kind]


def test_a_bot_is_built_once_and_what_else_is_in_the_cache_stays(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    for number in range(40):
        (cache / f"other-{number}").mkdir(parents=True)
    loop = "for i in $(seq 3000); do echo line $i; done; echo 1 > built"
    bot = write_bot(tmp_path / "bot", build=["sh", "-c", loop], **TABLE)
    told, code = checked(bot, cache)
    assert (code, told[-1]) == (0, {"kind": "done", "failure": None})
    findings = {each["finding"]["check"]: each["finding"] for each in of_kind("finding", told)}
    assert findings["build"]["text"].startswith("built in ")
    assert findings["weg-der-steine, 2 players"]["mark"] == "ok"
    assert [each["text"] for each in of_kind("doing", told)][:2] == [
        f"building it: sh -c {loop}",
        "starting it",
    ]
    output = of_kind("output", told)
    assert 1 <= len(output) <= 30
    assert "".join(each["text"] for each in output).splitlines()[-1] == "line 3000"
    assert len([path for path in cache.iterdir() if path.name.startswith("other-")]) == 40
    again, code = checked(bot, cache)
    assert (code, again[-1]["failure"], of_kind("output", again)) == (0, None, [])


def test_every_check_has_deals_of_its_own_and_names_the_seed_that_plays_them_again(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    # It ends at its first decision, and its last words are what it saw.
    bot = write_bot(tmp_path / "bot", "sys.exit(str(request.view))", **TABLE)
    seeds = set()
    for _ in range(2):
        told, code = checked(bot, tmp_path / "cache")
        assert (code, told[-1]["kind"]) == (0, "done")
        findings = {each["finding"]["check"]: each["finding"] for each in of_kind("finding", told)}
        seed = int(findings["deals"]["text"].split("--seed ")[1])
        at_home = check_bot(bot, sandbox, Plan(seed=seed), print, tmp_path / "cache")
        (again,) = [each for each in at_home if isinstance(each, Finding) and each.check == GAME]
        assert findings[GAME]["log"] == again.log
        seeds.add(seed)
    assert len(seeds) == 2


def test_the_first_failure_is_the_reason_and_names_no_path_of_ours(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    bot = write_bot(tmp_path / "bot", before="raise SystemExit('no ' + 'way')", **TABLE)
    told, code = checked(bot, tmp_path / "cache")
    (failed,) = of_kind("finding", told)[3:]
    assert failed["finding"]["log"].strip() == "no way"
    assert (code, told[-1]["failure"]) == (0, f"start: {failed['finding']['text']}")
    (bot / "bot.toml").write_text("name = ")
    told, code = checked(bot, tmp_path / "cache")
    assert told[-1]["failure"].startswith("bot.toml: bot.toml is not valid TOML")
    assert str(tmp_path) not in json.dumps(told)


def test_what_is_no_fault_of_the_bot_is_told_as_such(tmp_path: Path) -> None:
    bot = write_bot(tmp_path / "bot", **TABLE)
    (tmp_path / "cache").write_text("not a directory")
    told, code = checked(bot, tmp_path / "cache", "--no-sandbox")
    assert (code, told[-1]["kind"]) == (1, "platform")


def test_a_checker_and_its_build_die_with_the_server(sandbox: Sandbox, tmp_path: Path) -> None:
    token = "86420.13579"
    bot = write_bot(tmp_path / "bot", build=["sleep", token], **TABLE)
    command = [sys.executable, "-c", PARENT, *options(bot, tmp_path / "cache")]
    parent = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: with_word(token))
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    wait_until(lambda: not with_word(token) and not with_word(str(bot)))


def with_word(word: str) -> list[str]:
    """Return the processes that have a word among their arguments."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            try:
                words = Path(entry.path, "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if word.encode() in words:
                found.append(entry.name)
    return found


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_an_excerpt_has_the_beginning_and_the_end(pieces: int) -> None:
    text = "".join(f"{number:04}" for number in range(1000))
    excerpt = Excerpt(400)
    assert not excerpt
    size = -(-len(text) // pieces)
    for at in range(0, len(text), size):
        excerpt.add(text[at : at + size])
    kept = excerpt.text()
    assert kept.startswith("000000010002")
    assert kept.endswith("099809990"[:-1])
    assert "[3,600 characters are left out]" in kept
    short = Excerpt(400)
    short.add("all")
    short.add(" of it")
    assert short.text() == "all of it"

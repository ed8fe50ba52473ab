"""Have what strangers sent opened by a child process, and take its word for little.

Whatever the bytes bring about, an endless loop, a crash, all the memory that there is, happens to
the child, which has limits and no secrets. What it says is short and checked.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from keltis_bots.manifest import BadManifest, Manifest, parse_manifest
from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.files.trees import Bounds
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_ladder.sandbox.limits import LONGEST_BUILD_SECONDS

OPENED: Final = "opened"
REFUSED: Final = "refused"
FAILED: Final = "failed"
UNPACKED: Final = "unpacked"  # the name of the directory for what is in an upload
PACKED: Final = "packed"  # the name of the archive that we made of an upload
LONGEST_TEXT: Final = 2000  # characters of a refusal
LONGEST_ANSWER: Final = 128 * KIB  # bytes
LOOK: Final = 0.25  # seconds between two looks whether it should go on
_TAIL: Final = 4 * KIB  # of what it says only if it dies of an internal error
_OPENER: Final = "keltis_ladder.programs.unpacking.opener"

# All that Python needs to start as it did for us; no passwords, no tokens.
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUTF8", "LD_LIBRARY_PATH", "LANG")

_TOO_MUCH: Final = "this archive takes too much to open"
TOO_MUCH_MEMORY: Final = f"{_TOO_MUCH}: more memory than there is for it; pack it by gzip, or less"
# What archives can make a program die of. A kill is nobody's fault that we know of.
_CRASHES: Final = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE)


@dataclass(frozen=True)
class Allowance:
    """What the child may use: it never sleeps, so what it computes says how long it takes."""

    cpu: int = 60  # seconds
    longest: float = 600.0  # seconds on the wall: if it takes longer, the machine is too busy
    memory: int = 512 * MIB
    file_size: int = 264 * MIB
    packed: int = 256 * MIB  # bytes of the archive that we make of an upload
    open_files: int = 64
    nice: int = 10

    @classmethod
    def parse(cls, text: str) -> Allowance:
        """Read what was written as JSON."""
        return cls(**json.loads(text))


UPLOAD: Final = Allowance()
# A build has a limit of its own, by which it is broken off earlier.
BUILT: Final = Allowance(file_size=1024 * MIB, longest=2 * LONGEST_BUILD_SECONDS)


def open_upload(archive: Path, scratch: Path, allowance: Allowance = UPLOAD) -> Manifest:
    """Have an uploaded archive packed again, as ``PACKED`` in a directory that is ours to remove.

    Raise BadArchive if that is not possible, MachineFailed if it is our own fault. Blocking.
    """
    answer = _ask(
        ["--upload", str(archive), "--scratch", str(scratch)], subprocess.DEVNULL, allowance
    )
    try:
        return parse_manifest(answer["manifest"])
    except (BadManifest, KeyError, TypeError) as error:
        raise MachineFailed(f"what opens archives tells nonsense of one: {error}") from None


def open_kept(archive: Path, digest: str, into: Path, allowance: Allowance = UPLOAD) -> None:
    """Have an archive that we packed unpacked to a new directory; its bytes are looked at first.

    The archive is ours, what is in it is a stranger's. Raise MachineFailed if that is not possible.
    Blocking.
    """
    try:
        _ask(
            ["--kept", str(archive), "--digest", digest, "--into", str(into)],
            subprocess.DEVNULL,
            allowance,
        )
    except BadArchive as error:
        raise MachineFailed(
            f"the archive {digest} is not as the ladder packs them, and cannot be unpacked:"
            f" {error}; have its bot submitted again"
        ) from None


def open_built(
    stream: int,
    into: Path,
    bounds: Bounds,
    allowance: Allowance = BUILT,
    on_look: Callable[[], None] = lambda: None,
) -> None:
    """Have what a build wrote to a pipe unpacked to a new directory.

    Every now and then somebody else has a look, and may raise to break it off. Blocking.
    """
    most = ["--files", str(bounds.files), "--size", str(bounds.size)]
    _ask(["--built", str(into), *most], stream, allowance, on_look)


def _ask(
    arguments: Sequence[str],
    stdin: int,
    allowance: Allowance,
    on_look: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Run the child; return what it answers if it could open what it was given."""
    limits = json.dumps(asdict(allowance))
    command = [*_giving_way(allowance.nice), sys.executable, "-P", "-m", _OPENER]
    command += ["--parent", str(os.getpid())]
    try:
        process = subprocess.Popen(
            [*command, "--allowance", limits, *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            # An interrupt from the terminal is for us alone. In a session of its own its niceness
            # might not count.
            process_group=0,
        )
    except OSError as error:
        raise MachineFailed(f"cannot start what opens archives: {error}") from error
    try:
        with process:
            try:
                said, words = _listen(process, time.monotonic() + allowance.longest, on_look)
            finally:
                process.kill()
    except _TooLong:
        raise MachineFailed(
            f"an archive was not opened after {allowance.longest:.0f} s, though it takes at most"
            f" {allowance.cpu} s of computing: the machine is too busy"
        ) from None
    return _understood(said, process.returncode, words, allowance)


def _giving_way(nice: int) -> list[str]:
    """Return what makes a command nice from the start: to start Python takes its time, too."""
    program = shutil.which("nice", path="/usr/bin:/bin")
    return [program, "-n", str(nice)] if program else []


class _TooLong(Exception):
    """The child was not ready in time."""


def _listen(
    process: subprocess.Popen[bytes], deadline: float, on_look: Callable[[], None]
) -> tuple[bytes, bytes]:
    """Return what the child says on both pipes until it ends: the beginning, and the end."""
    assert process.stdout
    assert process.stderr
    said, words = b"", b""
    answers, complaints = process.stdout.fileno(), process.stderr.fileno()
    watch = select.poll()
    watch.register(answers, select.POLLIN)
    watch.register(complaints, select.POLLIN)
    still_open = 2
    while still_open:
        if time.monotonic() > deadline:
            raise _TooLong
        on_look()
        for pipe, _ in watch.poll(LOOK * 1000):
            chunk = os.read(pipe, _TAIL)
            if not chunk:
                watch.unregister(pipe)
                still_open -= 1
            elif pipe == answers:
                said += chunk
                if len(said) > LONGEST_ANSWER:
                    raise MachineFailed("what opens archives says too much")
            else:
                words = (words + chunk)[-_TAIL:]
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise _TooLong from None
    return said, words


def _understood(said: bytes, code: int, words: bytes, allowance: Allowance) -> dict[str, Any]:
    """Return the answer if all went well; raise what it means otherwise."""
    if code == -signal.SIGXCPU:
        raise BadArchive(f"{_TOO_MUCH}: more than {allowance.cpu} s of computing; pack less")
    if -code in _CRASHES:
        name = signal.Signals(-code).name
        raise BadArchive(f"what opens archives died of this one ({name}): pack it in another way")
    answer = _parsed(said)
    kind, text = answer.get("kind"), answer.get("text")
    if kind == OPENED and code == 0:
        return answer
    if kind == REFUSED and isinstance(text, str):
        raise BadArchive(text[:LONGEST_TEXT])
    if kind == FAILED and isinstance(text, str):
        raise MachineFailed(text[:LONGEST_TEXT])
    last = words.decode("utf-8", "replace").strip().rpartition("\n")[2] or "nothing"
    raise MachineFailed(f"what opens archives ended with code {code}, and said: {last}")


def _parsed(said: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}

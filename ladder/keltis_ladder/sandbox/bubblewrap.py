"""Talk with bubblewrap while it sets a sandbox up."""

from __future__ import annotations

import os
import select
import subprocess
import time
from typing import Final

from keltis_ladder.sandbox.child import CannotStart

SETUP_SECONDS: Final = 20.0  # for bubblewrap to set the sandbox up, on a busy machine too
READY: Final = b"\x06"  # what the sandbox says on its standard error when all is set up


class EndedEarly(OSError):
    """The sandbox ended while it was set up."""


class Pipes:
    """The pipes that bubblewrap is given besides the standard ones: our ends, and their names."""

    def __init__(self) -> None:
        self.ours: list[int] = []
        self.theirs: list[int] = []
        try:
            self.info, self.info_name = self._to_read()  # bubblewrap says who its child is
            self.block, self.block_name = self._to_write()  # bubblewrap waits for a word
            self.status, self.status_name = self._to_read()  # how the program ended
            self.input, self.input_name = self._to_write()  # of the program
            self.output, self.output_name = self._to_read()  # of the program
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Pipes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def filled(self, content: str | bytes) -> str:
        """Return the name of a pipe from which the content can be read."""
        content = content.encode() if isinstance(content, str) else content
        reader, writer = os.pipe()
        self.theirs.append(reader)
        assert len(content) <= select.PIPE_BUF
        os.write(writer, content)
        os.close(writer)
        return str(reader)

    def keep(self, ours: int) -> int:
        """Return an end of ours, which stays open from now on."""
        self.ours.remove(ours)
        return ours

    def _to_read(self) -> tuple[int, str]:
        ours, theirs = os.pipe()
        self.ours.append(ours)
        self.theirs.append(theirs)
        return ours, str(theirs)

    def _to_write(self) -> tuple[int, str]:
        theirs, ours = os.pipe()
        self.ours.append(ours)
        self.theirs.append(theirs)
        return ours, str(theirs)

    def close(self) -> None:
        """Close all that is still open."""
        self.close_theirs()
        while self.ours:
            os.close(self.ours.pop())

    def close_theirs(self) -> None:
        """Close the ends that bubblewrap has taken over."""
        while self.theirs:
            os.close(self.theirs.pop())


def read_child_pid(process: subprocess.Popen[bytes], info: int, deadline: float) -> int:
    """Return the host's number of the sandbox's init, from the JSON that bubblewrap writes."""
    text = b""
    while b"," not in text and b"}" not in text:
        # The pipe never ends: the sandbox keeps its end until it may go on.
        chunk = _read(info, 256, deadline) if process.poll() is None else b""
        if not chunk:
            raise EndedEarly
        text += chunk
    return int(text.partition(b":")[2].partition(b",")[0].strip(b" }\n"))


def await_ready(process: subprocess.Popen[bytes], deadline: float) -> None:
    """Wait for the sign; read no byte more, since the rest is the program's."""
    assert process.stderr
    words = b""
    while (byte := _read(process.stderr.fileno(), 1, deadline)) != READY:
        if not byte:
            raise CannotStart(_clean(words), True)
        words += byte


def _last_words(process: subprocess.Popen[bytes], deadline: float) -> str:
    assert process.stderr
    words = b""
    while chunk := _read(process.stderr.fileno(), 4096, deadline):
        words += chunk
    return _clean(words)


def _clean(words: bytes) -> str:
    text = words.decode(errors="replace").strip().removeprefix("bwrap: ")
    return text or "bubblewrap ended without a word"


def _read(fd: int, count: int, deadline: float) -> bytes:
    watch = select.poll()
    watch.register(fd, select.POLLIN)
    if not watch.poll(max(0, round((deadline - time.monotonic()) * 1000))):
        raise CannotStart(f"bubblewrap was not ready after {SETUP_SECONDS:g} seconds", True)
    return os.read(fd, count)


def abandon(process: subprocess.Popen[bytes], pipes: Pipes) -> str:
    """End a sandbox that is not set up, and return its last words."""
    # Whatever still waits for us finds its pipes closed, and ends by itself.
    pipes.close()
    process.kill()
    if process.stdin:
        process.stdin.close()
    words = _last_words(process, time.monotonic() + SETUP_SECONDS)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
    return words

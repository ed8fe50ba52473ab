"""A referee in a process of its own, as its parent sees it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any, Final

import msgpack

from keltis_bots.framing import LENGTH, PREFIX, frame
from keltis_ladder.match.jobs import Job
from keltis_ladder.sandbox.shares import Share
from keltis_ladder.sandbox.strays import end_strays

MOST_TRIES: Final = 3  # of a match that the platform could not finish
CLOSING: Final = 10.0  # seconds for a referee to end its bots
_READ_BYTES: Final = 1 << 18


class RefereeChild:
    """One worker process, and the job it is playing. It dies with the thread that started it."""

    def __init__(
        self, cpu: int, sandboxed: bool, watched: bool, share: Share, nice: int = 0
    ) -> None:
        """Start it on a core; only a watched one tells the decisions of its matches."""
        self.cpu = cpu
        self.job: Job | None = None
        self.ready = False  # whether it has come up
        self.ended = False  # whether it has said its last word
        self.dismissed = False  # whether it was ended though nothing was wrong with it
        self._buffer = bytearray()
        self._unsent = b""  # of the job: what its pipe had no room for yet
        self._killed = ""  # why, if we did it
        command = [
            sys.executable,
            "-m",
            "keltis_ladder.referee.worker",
            "--parent",
            str(os.getpid()),
        ]
        command += ["--cpu", str(cpu), "--nice", str(nice), "--share", str(share)]
        if not sandboxed:
            command.append("--no-sandbox")
        if watched:
            command.append("--watched")
        # What it writes to stderr: nothing, unless it dies of an internal error.
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it is buried
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
                start_new_session=True,  # an interrupt from the terminal is for us alone
            )
        except BaseException:
            self._log.close()
            raise
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, self._output = self.process.stdin, self.process.stdout
        os.set_blocking(self._input.fileno(), False)
        os.set_blocking(self._output.fileno(), False)

    @property
    def idle(self) -> bool:
        """Whether it has come up and has nothing to do."""
        return self.ready and self.job is None and not self._killed

    def fileno(self) -> int:
        """Return the descriptor that is readable when it has something to say."""
        return self._output.fileno()

    def input_fileno(self) -> int:
        """Return the descriptor that is writable when there is room for the rest of a job."""
        return self._input.fileno()

    @property
    def hung_up(self) -> bool:
        """Whether it was told to end, and can be given no job any more."""
        return self._input.closed

    @property
    def has_unsent(self) -> bool:
        """Whether a part of the job waits for room in the pipe: see ``send_more``."""
        return bool(self._unsent)

    def send(self, job: Job, excused: Mapping[str, int]) -> None:
        """Give it a job, and say how often in a row its bots were excused.

        If it is dead or does not listen, that comes out when we read.
        """
        self.job = job
        self._unsent = frame({"job": job.to_plain(), "excused": dict(excused)})
        self.send_more()

    def send_more(self) -> None:
        """Write as much of the job as the pipe takes now."""
        try:
            while self._unsent:
                self._unsent = self._unsent[os.write(self._input.fileno(), self._unsent) :]
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._unsent = b""

    def read(self) -> list[dict[str, Any]]:
        """Return the messages that have come; at the end of them ``ended`` is set."""
        try:
            data = os.read(self._output.fileno(), _READ_BYTES)
        except BlockingIOError:
            return []
        self.ended = not data
        self._buffer += data
        return self._whole_messages()

    def hang_up(self) -> None:
        """Have it end its bots, and then itself, as soon as it has nothing to do."""
        self._input.close()

    def kill(self, reason: str = "") -> None:
        """End it at once, and its bots with it."""
        self._killed = self._killed or reason
        self.process.kill()

    def dismiss(self, reason: str) -> None:
        """End it because its match is not wanted any more: nothing else can interrupt it."""
        self.dismissed = True
        self.kill(reason)

    def bury(self) -> str:
        """Wait for its end, which must be near; close everything and return its last words."""
        code = self.process.wait()
        if code:
            end_strays()
        self._log.seek(0)
        log = self._log.read().decode("utf-8", "replace")
        for file in (self._input, self._output, self._log):
            file.close()
        if self._killed:
            return f"the referee on core {self.cpu} was ended: {self._killed}"
        ended = f"the referee on core {self.cpu} ended with code {code}"
        words = [line.strip() for line in log.split("\n") if line.strip()]
        return f"{ended}: {words[-1]}" if words else ended

    def _whole_messages(self) -> list[dict[str, Any]]:
        """Take the whole messages from the front of the buffer."""
        found: list[dict[str, Any]] = []
        at = 0
        while len(self._buffer) >= at + PREFIX:
            end = at + PREFIX + LENGTH.unpack_from(self._buffer, at)[0]
            if len(self._buffer) < end:
                break
            found.append(msgpack.unpackb(bytes(self._buffer[at + PREFIX : end])))
            at = end
        del self._buffer[:at]
        return found

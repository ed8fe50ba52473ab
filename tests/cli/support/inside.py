"""Runs the command within the test's own process: quicker, for what starts no processes."""

import io
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from keltis_cli.main import main


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    code: int
    out: str
    err: str


class Inside:
    """Runs commands as ``helpers.command`` does, without a new interpreter for each."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.capsys = capsys
        self.monkeypatch = monkeypatch
        monkeypatch.setenv("COLUMNS", "80")
        for name in ("FORCE_COLOR", "NO_COLOR"):  # no colours unless a test asks for them
            monkeypatch.delenv(name, raising=False)

    def run(self, *arguments: str | Path, typed: str | None = None) -> Done:
        """Run a command, whatever comes of it."""
        if typed is not None:
            self.monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        self.monkeypatch.setattr(sys, "argv", ["keltis-ladder", *map(str, arguments)])
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert isinstance(code, int)
        told = self.capsys.readouterr()
        return Done(code, told.out, told.err)

    def output(self, *arguments: str | Path) -> str:
        """Return what a command prints; it has to succeed."""
        done = self.run(*arguments)
        assert done.code == 0, done.err
        return done.out

"""Files that are either complete or not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from keltis_cli.errors import BadRequest

STANDARD: Final = Path("-")  # standard input or output


def check_target(path: Path, force: bool) -> None:
    """Raise if the file cannot be written, or would replace one and nobody asked for that."""
    if path == STANDARD:
        return
    if not path.parent.is_dir():
        raise BadRequest(f"cannot write {path}: there is no directory {path.parent}; create it")
    if path.exists() and not force:
        raise BadRequest(f"{path} exists already: choose another name, or add --force")


@contextmanager
def new_file(path: Path, force: bool) -> Iterator[TextIO]:
    """Write beside the file and rename at the end; after an error the old file is untouched."""
    check_target(path, force)
    if path == STANDARD:
        yield sys.stdout
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("x", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        check_target(path, force)  # somebody may have made it meanwhile
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file, or of standard input for ``-``."""
    try:
        if path == STANDARD:
            return sys.stdin.read().splitlines()
        return path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise BadRequest(
            f"{path} is not a text file: {error.reason} at byte {error.start}; "
            "replays are written by: keltis-ladder selfplay --out FILE"
        ) from None

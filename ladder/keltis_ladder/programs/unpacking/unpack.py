"""Unpack what strangers send us: to one directory, within bounds, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from keltis_bots.manifest import FILE_NAME
from keltis_ladder.files.trees import Bounds
from keltis_ladder.programs.staging import SUBMITTED
from keltis_ladder.programs.unpacking import compressed, tars, zips
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_ladder.programs.unpacking.targets import Deadline, Target

__all__ = ["BadArchive", "unpack"]

SECONDS: Final = 30.0  # of CPU
_KINDS: Final = "a zip, or a tar, plain or compressed by gzip, bzip2 or xz"


def unpack(archive: Path, into: Path, bounds: Bounds = SUBMITTED, seconds: float = SECONDS) -> Path:
    """Unpack an archive to a new directory; return where in it the bot is.

    What kind of archive it is, its bytes say and not its name. A directory that everything is in
    is stepped into: people pack the folder as often as what is in it.
    """
    with archive.open("rb") as file:
        start = file.read(tars.TAR_AT + len(tars.TAR))
    if not start:
        raise BadArchive(f"the upload is empty: send {_KINDS}")
    target = Target(into, bounds, Deadline(seconds))
    if start.startswith(zips.MAGIC):
        zips.unpack_zip(archive, target)
    elif start.startswith(compressed.ALL) or start[tars.TAR_AT :] == tars.TAR:
        tars.unpack_tar(archive, target)
    else:
        raise BadArchive(f"this is no archive that we know: send {_KINDS}")
    target.finish()
    return _home_of_bot(into)


def _home_of_bot(root: Path) -> Path:
    if (root / FILE_NAME).exists():
        return root
    found = list(root.iterdir())
    if len(found) == 1 and not found[0].is_symlink() and (found[0] / FILE_NAME).exists():
        return found[0]
    raise BadArchive(
        f"there is no {FILE_NAME} in it: pack the bot's directory; keltis-ladder init makes one"
    )

"""Open what a stranger sent, in a process that may use little and live for a short time.

It says one line of JSON on stdout: that it is ``opened``, that it is ``refused`` and why, or that
it ``failed`` through no fault of the stranger. It dies with the process that started it.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import hashlib
import io
import json
import os
import resource
import signal
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from keltis_bots.manifest import BadManifest, read_manifest
from keltis_ladder.files.packing import TooLarge, write_archive
from keltis_ladder.files.sizes import MIB
from keltis_ladder.files.trees import Bounds, CannotStage, blame, discard
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.staging import SUBMITTED, stage
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_ladder.programs.unpacking.opening import (
    FAILED,
    LONGEST_TEXT,
    OPENED,
    PACKED,
    REFUSED,
    TOO_MUCH_MEMORY,
    UNPACKED,
    Allowance,
)
from keltis_ladder.programs.unpacking.targets import BuildTarget, Deadline, KeptTarget
from keltis_ladder.programs.unpacking.tars import read_tar, unpack_tar
from keltis_ladder.programs.unpacking.unpack import unpack
from keltis_ladder.sandbox.prctl import die_with_parent, give_up_new_privileges

KEPT: Final = Bounds(SUBMITTED.files + 1, SUBMITTED.size)  # the directory itself counts, too


def open_upload(archive: Path, scratch: Path, most: int) -> dict[str, Any]:
    """Unpack an archive, and pack its files again; return what its manifest says."""
    unpacked = scratch / UNPACKED
    unpacked.mkdir()
    try:
        return _open_upload(archive, unpacked, scratch / PACKED, most)
    finally:
        # Thousands of files, perhaps: what we do not remove, the server must.
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            discard(unpacked)


def _open_upload(archive: Path, scratch: Path, packed: Path, most: int) -> dict[str, Any]:
    try:
        source = unpack(archive, scratch / "sent")
        staged = stage(source, scratch / "bot").directory
        try:
            manifest = read_manifest(staged)
        except BadManifest as error:
            text = str(error).replace(f"{staged}/", "").replace(str(staged), "the archive")
            raise BadArchive(text) from None
    except CannotStage as error:
        raise BadArchive(str(error).replace(str(scratch), "")) from None
    with packed.open("xb") as file:
        try:
            write_archive(staged, file, most)
        except TooLarge:
            packed.unlink()
            raise BadArchive(
                f"its files have more than {most / MIB:g} MiB when they are packed by gzip, as they"
                " are kept: leave out what the build can make"
            ) from None
    return {name: value for name, value in asdict(manifest).items() if value != ()}


def open_kept(archive: Path, digest: str, into: Path, seconds: float) -> dict[str, Any]:
    """Unpack an archive that we packed to a new directory; of another one nothing is left."""
    try:
        with archive.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise MachineFailed(f"the archive {digest} is missing: restore a backup") from None
    if found != digest:
        raise MachineFailed(f"the archive {digest} is damaged: restore a backup")
    target = KeptTarget(into, KEPT, Deadline(seconds))
    try:
        unpack_tar(archive, target)
        target.finish()
    except BadArchive:
        discard(into)
        raise
    return {}


def open_built(into: Path, bounds: Bounds, seconds: float) -> dict[str, Any]:
    """Unpack the tar that comes on stdin, which a build has made, to a new directory."""
    target = BuildTarget(into, bounds, Deadline(seconds))
    with io.FileIO(0, closefd=False) as stream:
        read_tar(stream, target)
    target.finish()
    return {}


def limit(allowance: Allowance) -> None:
    """Take from this process what it does not need."""
    give_up_new_privileges()
    if os.getpriority(os.PRIO_PROCESS, 0) < allowance.nice:
        os.setpriority(os.PRIO_PROCESS, 0, allowance.nice)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))  # takes no core from who wakes up
    for what, value in (
        (resource.RLIMIT_AS, allowance.memory),
        (resource.RLIMIT_FSIZE, allowance.file_size),
        (resource.RLIMIT_NOFILE, allowance.open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (bound, bound))
    # The first one can be told from a kill by somebody else; the second one cannot be survived.
    resource.setrlimit(resource.RLIMIT_CPU, (allowance.cpu, allowance.cpu + 5))


def outcome(arguments: argparse.Namespace, allowance: Allowance) -> tuple[str, dict[str, Any]]:
    """Do the work; return what is to be said about it."""
    try:
        if arguments.built is not None:
            bounds = Bounds(arguments.files, arguments.size)
            return OPENED, open_built(arguments.built, bounds, allowance.cpu)
        if arguments.kept is not None:
            kept, digest = arguments.kept, arguments.digest
            return OPENED, open_kept(kept, digest, arguments.into, allowance.cpu)
        told = open_upload(arguments.upload, arguments.scratch, allowance.packed)
        return OPENED, {"manifest": told}
    except BadArchive as error:
        return REFUSED, {"text": str(error)}
    except MachineFailed as error:
        return FAILED, {"text": str(error)}
    except MemoryError:
        return REFUSED, {"text": TOO_MUCH_MEMORY}
    except OSError as error:
        if error.errno == errno.EFBIG:
            return REFUSED, {"text": "a file in it is too large: remove what is not needed"}
        if error.errno == errno.ENOMEM:
            return REFUSED, {"text": TOO_MUCH_MEMORY}
        if isinstance(blame(error, ""), CannotStage):
            text = f"a file in it cannot be written here: {error.strerror}: give it another name"
            return REFUSED, {"text": text}
        return FAILED, {"text": f"cannot open an archive: {error}"}
    except Exception as error:
        return FAILED, {"text": f"cannot open an archive: {type(error).__name__}: {error}"}


def main() -> None:
    """Open one archive, and say how that ended."""
    parser = argparse.ArgumentParser(
        prog="keltis_ladder.programs.unpacking.opener", description=__doc__
    )
    parser.add_argument("--parent", type=int, required=True, help="the process that wants it")
    parser.add_argument("--allowance", type=Allowance.parse, required=True, help="in JSON")
    parser.add_argument("--upload", type=Path, help="an archive that somebody sent")
    parser.add_argument("--scratch", type=Path, help="a directory to unpack it in")
    parser.add_argument("--kept", type=Path, help="an archive that we packed")
    parser.add_argument("--digest", help="its SHA-256")
    parser.add_argument("--into", type=Path, help="the directory for what is in it")
    parser.add_argument("--built", type=Path, help="the directory for what a build has made")
    parser.add_argument("--files", type=int, help="maximum number of files")
    parser.add_argument("--size", type=int, help="bytes of all of them at most")
    arguments = parser.parse_args()
    die_with_parent(arguments.parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    allowance: Allowance = arguments.allowance
    limit(allowance)
    kind, more = outcome(arguments, allowance)
    if "text" in more:
        more["text"] = more["text"][:LONGEST_TEXT]
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps({"kind": kind, **more}).encode() + b"\n")


if __name__ == "__main__":
    main()

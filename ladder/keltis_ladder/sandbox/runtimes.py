"""What of the machine a sandboxed program sees, so that programs of every language run.

The system's ``/usr``, the Python that runs the ladder with the packages for bots, and toolchains
that lie elsewhere. All of it is read-only.
"""

from __future__ import annotations

import importlib.util
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_ladder.errors import LadderError
from keltis_ladder.sandbox.limits import Limits

SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin"

# Not all of /etc: only what programs need to start, and nothing that an operator writes secrets to.
ETC: Final = ("ld.so.cache", "alternatives", "java-*", "mono/config", "mono/[0-9]*", "nim")

# Mono looks into /proc/self/maps for where its stack is, and does not start without an answer. This
# is one that is true everywhere, and tells nothing: somewhere in the uppermost 64 GiB.
MONO: Final = ("mono", "mono-sgen")
MAPS: Final = "/proc/self/maps"
STACKS_END: Final = {"x86_64": 0x7FFFFFFFF000, "aarch64": 0xFFFFFFFFF000}
STACKS_SIZE: Final = 1 << 36

# Links into /usr where the system has merged them, directories where it has not.
TOP: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")

PACKAGES: Final = ("keltis_engine", "keltis_bots")

# A toolchain outside /usr is shown whole, if this file says that the directory is nothing else.
TOOLCHAINS: Final = {
    "java": "release",
    "go": "VERSION",
    "node": "include/node/node_version.h",
}
RUSTC_PATIENCE: Final = 30.0  # seconds


@dataclass(frozen=True)
class Runtimes:
    """Directories to show, where to look for programs, and what they must be told."""

    directories: tuple[Path, ...]
    path: str
    environment: dict[str, str]


def system_arguments() -> list[str]:
    """Return the options of bubblewrap that show the system's own programs and libraries."""
    arguments = ["--ro-bind", "/usr", "/usr"]
    for name in TOP:
        top = Path("/", name)
        if top.is_symlink():
            arguments += ["--symlink", str(top.readlink()), str(top)]
        elif top.is_dir():
            arguments += show([top])
    etc = sorted(found for pattern in ETC for found in Path("/etc").glob(pattern))
    return [*arguments, *show(etc)]


def show(paths: Sequence[Path]) -> list[str]:
    """Return the options of bubblewrap that show files and directories where they are."""
    arguments: list[str] = []
    for path in paths:
        # Directories that bubblewrap must make on the way would be closed to all but root.
        for parent in reversed(path.parents[:-1]):
            arguments += ["--dir", str(parent)]
        arguments += ["--ro-bind", str(path), str(path)]
    return arguments


class ShownToBots(LadderError):
    """Data of the ladder lies where every bot can read it; the text says what to do about it."""


def require_hidden(*paths: Path | None) -> None:
    """Raise if one of the ladder's directories or files is inside what sandboxes show to bots."""
    for path in paths:
        if path is not None and (place := shown_place(path)) is not None:
            raise ShownToBots(
                f"{path} is inside {place}, which every bot can read: the seeds of deals would be"
                " open to all. Move it, and name its new place with --data"
            )


def shown_place(path: Path) -> Path | None:
    """Return the directory that sandboxes show to bots and that holds a path; none if none does."""
    shown = [Path("/usr"), *(Path("/", name) for name in TOP)]
    for building in (False, True):
        shown += find_runtimes(building).directories
    for name in dict.fromkeys((path.absolute(), path.resolve())):
        for place in shown:
            if name.is_relative_to(place) or name.is_relative_to(place.resolve()):
                return place
    return None


def needs_maps(program: str) -> bool:
    """Return whether a program is a runtime that does not start without /proc/self/maps."""
    return Path(program).name in MONO


def any_maps() -> str:
    """Return what stands in for /proc/self/maps."""
    end = STACKS_END[platform.machine()]
    begin = end - STACKS_SIZE
    return f"0-{begin:x} ---p 0 00:00 0\n{begin:x}-{end:x} rw-p 0 00:00 0 [stack]\n"


def java_options(limits: Limits) -> str:
    """Return options for Java, which cannot see its limits and would ask for more at once.

    Without a file lock it would also complain on standard output, where the protocol is spoken.
    """
    return f"-XX:MaxRAM={limits.memory} -XX:-UsePerfData"


def find_runtimes(building: bool) -> Runtimes:
    """Return what to show besides the system's own."""
    directories = [Path(sys.prefix), Path(sys.base_prefix)]
    python_path = _packages_elsewhere(directories)
    path = [str(Path(sys.prefix, "bin"))]
    environment: dict[str, str] = {}
    for program in TOOLCHAINS:
        toolchain = _toolchain(program)
        if toolchain is None:
            continue
        if not _shown([], toolchain):
            directories.append(toolchain)
            path.append(str(toolchain / "bin"))
        if program == "java" and not building:
            # Java finds its libraries through /proc, which there is not in play.
            environment["LD_LIBRARY_PATH"] = str(toolchain / "lib")
    if building and (rust := _rust()) is not None:
        directories.append(rust)
        path.append(str(rust / "bin"))
    if python_path:
        environment["PYTHONPATH"] = ":".join(python_path)
    return Runtimes(_with_targets(directories), ":".join([*path, SYSTEM_PATH]), environment)


def _packages_elsewhere(directories: list[Path]) -> list[str]:
    """Add where Python's packages are, if not below what is shown; return what to search there."""
    search: list[str] = []
    for entry in (Path(entry) for entry in sys.path):
        is_packages = entry.name in ("site-packages", "dist-packages") and entry.is_dir()
        if is_packages and not _shown(directories, entry):
            directories.append(entry)
            search.append(str(entry))
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        for location in (spec.submodule_search_locations or ()) if spec else ():
            # Run from its sources: show the package, not what lies beside it.
            if not _shown(directories, Path(location)):
                directories.append(Path(location).absolute())
                search.append(str(Path(location).absolute().parent))
    return search


def _toolchain(program: str) -> Path | None:
    found = shutil.which(program)
    if found is None:
        return None
    toolchain = Path(found).resolve().parent.parent
    return toolchain if (toolchain / TOOLCHAINS[program]).is_file() else None


def _rust() -> Path | None:
    """Return where the Rust compiler and its libraries are, if not in /usr."""
    rustc = shutil.which("rustc")
    if rustc is None:
        return None
    asked = subprocess.run(
        [rustc, "--print", "sysroot"],
        capture_output=True,
        text=True,
        timeout=RUSTC_PATIENCE,
        check=False,
    )
    root = Path(asked.stdout.strip())
    if asked.returncode != 0 or not (root / "bin" / "rustc").is_file():
        return None
    return None if _shown([], root) else root


def _shown(directories: list[Path], path: Path) -> bool:
    real = path.resolve()
    return real.is_relative_to("/usr") or any(
        real.is_relative_to(directory.resolve()) for directory in directories
    )


def _with_targets(directories: list[Path]) -> tuple[Path, ...]:
    """Add where links lead, leave out what another one shows, and put parents first."""
    wanted = {d.absolute() for d in directories} | {d.resolve() for d in directories}
    return tuple(
        path
        for path in sorted(wanted)
        if not path.is_relative_to("/usr") and not any(parent in wanted for parent in path.parents)
    )

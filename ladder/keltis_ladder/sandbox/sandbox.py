"""Run a hostile program in bubblewrap; ``docs/operators/sandbox.md`` says why, for each measure."""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from keltis_ladder.errors import LadderError
from keltis_ladder.files.sizes import KIB
from keltis_ladder.files.trees import Bounds
from keltis_ladder.sandbox.bubblewrap import (
    SETUP_SECONDS,
    EndedEarly,
    Pipes,
    abandon,
    await_ready,
    read_child_pid,
)
from keltis_ladder.sandbox.cgroups import Group, Groups, find_groups
from keltis_ladder.sandbox.child import CannotStart, Child, Exit, pinned, start
from keltis_ladder.sandbox.init import init_program, read_ending
from keltis_ladder.sandbox.limits import PLAY, Limits
from keltis_ladder.sandbox.runtimes import (
    MAPS,
    any_maps,
    find_runtimes,
    java_options,
    needs_maps,
    show,
    system_arguments,
)
from keltis_ladder.sandbox.seccomp import BUILD_RULES, PLAY_RULES, filter_program

HOME: Final = "/bot"
SOURCES: Final = "/sources"  # what a build finds
HOSTNAME: Final = "keltis"

# Where the tools of the launch itself are looked for: never where a user could put others.
TOOLS_PATH: Final = "/usr/bin:/usr/sbin:/bin:/sbin"
DEVICES: Final = ("null", "zero", "urandom")  # each one is a mount, and takes its time

# As root, each sandbox runs as a user that nobody else is: limits that the kernel counts for each
# user are then never shared. No system hands out numbers as high as these.
FIRST_USER: Final = 2**30
USERS: Final = 2**30

# The first process of each sandbox: init.c says what it does.
INIT: Final = "/init"

# Still privileged, but already filtered: bound the number of files in /tmp, as bubblewrap cannot;
# tell the launcher that all is set up; wait until it is ready (it may have died); then give up all
# privileges. The new mount calls are filtered, so newer versions of mount are told to use the old.
_MOUNT: Final = 'LIBMOUNT_FORCE_MOUNT2=always "$0" -i -n -t tmpfs -o'
_READY: Final = "printf '\\006' >&2 && read -r go"
PREPARE: Final = f'{_MOUNT} "$1" tmpfs /tmp && {_READY} && shift && exec "$@"'
PREPARE_BUILD: Final = (
    f'{_MOUNT} "$1" tmpfs /tmp && {_MOUNT} "$2" tmpfs {HOME} && {_READY} && shift 2 && exec "$@"'
)


class SandboxMissing(LadderError):
    """There is no working sandbox on this machine; the text says what to do about it."""


class SandboxedChild(Child):
    """A program in a sandbox, perhaps in a control group, which goes when the program goes."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        root: int,
        control_group: Group | None,
        pipes: Pipes,
        name: str,
    ) -> None:
        if process.stdout:
            process.stdout.close()
        # The pipes that bubblewrap was started with stay open as long as bubblewrap runs: of them
        # we would not see that the program has closed its own ends.
        process.stdin = open(pipes.keep(pipes.input), "wb", buffering=0)  # noqa: PTH123, SIM115
        process.stdout = open(pipes.keep(pipes.output), "rb", buffering=0)  # noqa: PTH123, SIM115
        super().__init__(process, root, root)
        self.control_group = control_group
        self.meter = control_group.meter if control_group is not None else None
        self._status = pipes.keep(pipes.status)  # where the sandbox's init says how it ended
        self._name = name  # of the program
        self._out_of_memory = False
        self._lacked_memory = False
        self._counts_memory = control_group is not None and control_group.memory is not None
        self._was_silent = False  # its init has not told how it ended
        self._group_peak = 0  # bytes; 0 if the control group does not know

    def pause(self) -> None:
        """Stop all processes until ``resume``: by freezing, which nothing inside can undo."""
        if self.control_group is None or not self.control_group.can_freeze:
            super().pause()
        elif not self.paused:
            self.paused = True
            self.control_group.freeze(True)

    def resume(self) -> None:
        """Let all processes go on."""
        if self.control_group is None or not self.control_group.can_freeze:
            super().resume()
        elif self.paused:
            self.paused = False
            self.control_group.freeze(False)

    def members(self) -> list[int]:
        """Return its processes."""
        if self.control_group is not None:
            with contextlib.suppress(OSError):
                return self.control_group.members()
        return super().members()

    @property
    def out_of_memory(self) -> bool:
        """Whether the kernel ended a process of it for using too much memory."""
        if self.control_group is not None:
            self._out_of_memory = self.control_group.out_of_memory()
        return self._out_of_memory

    @property
    def counts_memory(self) -> bool:
        """Whether its control group counts its memory."""
        return self._counts_memory

    @property
    def lacked_memory(self) -> bool:
        """Whether the kernel ended a process of it for the memory that others hold."""
        if self.control_group is not None:
            self._lacked_memory = self.control_group.lacked_memory()
        return self._lacked_memory

    def held_memory(self) -> int:
        """Return the bytes of memory that it holds; its group counts more than what is resident."""
        held = self.control_group.held_memory() if self.control_group is not None else None
        return super().held_memory() if held is None else held

    def held_tasks(self) -> int:
        """Return how many processes and threads it has, its init included."""
        return (self.control_group.held_tasks() if self.control_group is not None else None) or 0

    @property
    def was_killed_from_outside(self) -> bool:
        """Whether its init ended without a word: nobody inside can bring that about."""
        return self._was_silent and not self._out_of_memory

    def kill(self) -> Exit:
        """End all its processes at once, and remove what was made for them."""
        if self.exit is not None:
            return self.exit
        if self.control_group is not None:
            self._group_peak = self.control_group.peak_memory()
            self._out_of_memory = self.control_group.out_of_memory()
            self._lacked_memory = self.control_group.lacked_memory()
        if self.meter is not None:
            self.last_cpu = max(self.last_cpu, self.meter.cpu())
        ended = super().kill()
        # If bubblewrap was killed before it, the init of the sandbox is an orphan: ours if we adopt
        # orphans.
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.root, 0)
        if self.control_group is not None:
            self.meter = None
            self.control_group.remove()
            self.control_group = None
        return ended

    def _end_everything(self) -> None:
        if self.control_group is not None:
            self.control_group.kill()
        super()._end_everything()

    def _ending(self, told: int) -> tuple[int | None, int | None, CannotStart | None]:
        """Return how the program ended, from the sandbox's init: bubblewrap mixes up its codes.

        Nobody inside can end the init. If it says nothing, it was killed from outside: by us, or by
        the kernel for want of memory.
        """
        said = os.read(self._status, select.PIPE_BUF)
        os.close(self._status)
        ending = read_ending(said, self._name)
        self._was_silent = ending is None
        return ending or (None, signal.SIGKILL, None)

    def _peak(self, told: int) -> int:
        """Return the most memory that it had: what its control group counted is exact."""
        return max(self._group_peak, self.peak_memory) if self._group_peak else super()._peak(told)

    def forget(self) -> None:
        """Close what is open for a program that has been ended already."""
        os.close(self._status)
        os.close(self.root_fd)


@dataclass(frozen=True)
class Profile:
    """What all sandboxes of a kind share: options of bubblewrap, and a system call filter."""

    arguments: tuple[str, ...]
    filter: bytes


class Sandbox:
    """Bubblewrap on this machine."""

    def __init__(self, groups: Groups, bubblewrap: str, mount: str, setpriv: str) -> None:
        self.bubblewrap = bubblewrap
        self.mount = mount
        self.setpriv = setpriv
        self.groups = groups
        self.is_root = os.geteuid() == 0
        self._profiles: dict[bool, Profile] = {}

    def launch(
        self,
        command: Sequence[str],
        home: Path,
        environment: dict[str, str],
        limits: Limits = PLAY,
        *,
        read_only: Sequence[Path] = (),
        room: Bounds | None = None,
        cpu: int | None = None,
    ) -> Child:
        """Start a program in ``home``, which it sees as /bot.

        With room to write it is a build: /bot is empty and in memory, has so much room, and what is
        in ``home`` is seen as /sources. It gets /proc, file locks and the compilers as well. Raise
        CannotStart if the sandbox could not be set up; that a program cannot be run shows only in
        its exit: nobody waits for it to be tried.
        """
        user = FIRST_USER + secrets.randbelow(USERS) if self.is_root else 0
        profile = self._profile(room is not None)
        try:
            with Pipes() as pipes:
                maps: list[str] = []
                if needs_maps(command[0]) and room is None:
                    maps = ["--dir", "/proc", "--dir", "/proc/self"]
                    maps += _file(MAPS, pipes.filled(any_maps()))
                arguments = [
                    self.bubblewrap,
                    *profile.arguments,
                    *maps,
                    *_home_arguments(home, room),
                    *show(read_only),
                    *_file("/etc/passwd", pipes.filled(f"bot:x:{user}:{user}::/tmp:/bin/sh\n")),
                    *_file("/etc/group", pipes.filled(f"bot:x:{user}:\n")),
                    *_file(INIT, pipes.filled(init_program()), "0555"),
                    *("--remount-ro", "/", "--chdir", HOME),
                    *("--setenv", "JDK_JAVA_OPTIONS", java_options(limits)),
                    *("--seccomp", pipes.filled(profile.filter)),
                    *("--info-fd", pipes.info_name, "--block-fd", pipes.block_name),
                    *("--", "/bin/sh", "-c", *self._preparing(limits, room)),
                    *(INIT, "watch", pipes.status_name, pipes.input_name, pipes.output_name),
                    *self._without_privileges(user),
                    *_with_environment(environment),
                    *(INIT, "run", pipes.status_name),
                    *command,
                ]
                with pinned(cpu):
                    process = self._start(arguments, pipes.theirs)
                pipes.close_theirs()
                return self._set_up(process, pipes, limits, command[0])
        except OSError as error:
            raise CannotStart(f"cannot set up the sandbox: {error}", True) from error

    def _preparing(self, limits: Limits, room: Bounds | None) -> list[str]:
        """Return the script that prepares the sandbox, and its words."""
        scratch = _tmpfs_options(limits.scratch, limits.scratch_files)
        if room is None:
            return [PREPARE, self.mount, scratch]
        return [PREPARE_BUILD, self.mount, scratch, _tmpfs_options(room.size, room.files)]

    def _start(self, arguments: list[str], pipes: list[int]) -> subprocess.Popen[bytes]:
        try:
            return start(arguments, None, {}, pipes)
        except CannotStart as error:  # bubblewrap itself, which is no bot's affair
            raise CannotStart(str(error), True) from None

    def _set_up(
        self, process: subprocess.Popen[bytes], pipes: Pipes, limits: Limits, name: str
    ) -> SandboxedChild:
        """Limit the sandbox while it waits for us, and let it go on."""
        control_group: Group | None = None
        child: SandboxedChild | None = None
        deadline = time.monotonic() + SETUP_SECONDS
        try:
            root = read_child_pid(process, pipes.info, deadline)
            control_group = self.groups.create(limits)
            if control_group is not None:
                control_group.add(root)
            _set_limits(root, limits)
            os.write(pipes.block, b"1")
            await_ready(process, deadline)
            assert process.stdin
            with process.stdin as go:
                # Before it goes on: it may have ended a moment later.
                child = SandboxedChild(process, root, control_group, pipes, name)
                go.write(b"\n")
            return child
        except BaseException as error:
            words = abandon(process, pipes)
            if child is not None:
                child.forget()
            if control_group is not None:
                control_group.remove()
            if isinstance(error, ProcessLookupError | BrokenPipeError | EndedEarly):
                raise CannotStart(words, True) from None  # it says why
            if isinstance(error, OSError | ValueError):
                raise CannotStart(f"cannot set up the sandbox: {error}", True) from error
            raise

    def _profile(self, building: bool) -> Profile:
        if building not in self._profiles:
            runtimes = find_runtimes(building)
            environment = {
                "PATH": runtimes.path,
                "HOME": "/tmp",
                "TMPDIR": "/tmp",
                "LANG": "C.UTF-8",
                "PYTHONDONTWRITEBYTECODE": "1",
                **runtimes.environment,
            }
            arguments = [
                *("--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-net", "--unshare-uts"),
                *("--unshare-cgroup", "--hostname", HOSTNAME, "--new-session", "--die-with-parent"),
                *self._capabilities(),
                *system_arguments(),
                # The size that counts is set by PREPARE, with the number of files.
                *("--perms", "1777", "--size", str(1024 * KIB), "--tmpfs", "/tmp"),
                *show(runtimes.directories),
                # In /proc/self a program could undo how nice its session is.
                *(("--proc", "/proc", "--remount-ro", "/proc") if building else ()),
                *("--dir", "/dev", "--symlink", "urandom", "/dev/random"),
            ]
            for device in DEVICES:
                arguments += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
            for name, value in environment.items():
                arguments += ["--setenv", name, value]
            rules = BUILD_RULES if building else PLAY_RULES
            self._profiles[building] = Profile(tuple(arguments), filter_program(rules))
        return self._profiles[building]

    def _capabilities(self) -> list[str]:
        """Return options for what PREPARE needs: to mount, and to give up all capabilities."""
        keep = ["CAP_SYS_ADMIN", "CAP_SETPCAP"]
        options = ["--cap-drop", "ALL"]
        if self.is_root:
            # No user namespace: root may bind what only root can reach, a Python in its home say.
            keep += ["CAP_SETUID", "CAP_SETGID"]
        else:
            # mount(8) insists on the number 0. It is our own user, and means nothing without
            # capabilities.
            options += ["--unshare-user", "--uid", "0", "--gid", "0"]
        return [*options, *(word for name in keep for word in ("--cap-add", name))]

    def _without_privileges(self, user: int) -> list[str]:
        """Return the command that gives up all privileges and runs what follows."""
        identity: list[str] = []
        if self.is_root:
            identity = ["--reuid", str(user), "--regid", str(user), "--clear-groups"]
        capabilities = ["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"]
        return [self.setpriv, *identity, *capabilities, "--no-new-privs", "--"]


def find_sandbox() -> Sandbox:
    """Return the sandbox of this machine, tried out; raise SandboxMissing if there is none."""
    tools: list[str] = []
    for name, package in (("bwrap", "bubblewrap"), ("mount", "mount"), ("setpriv", "util-linux")):
        found = shutil.which(name, path=TOOLS_PATH)
        if found is None:
            sudo = "" if os.geteuid() == 0 else "sudo "
            raise SandboxMissing(
                f"{package} is not installed: {sudo}apt-get install -y {package}"
                f" (or what your system calls the package with the program {name!r})"
            )
        tools.append(found)
    try:
        sandbox = Sandbox(find_groups(), *tools)
        with tempfile.TemporaryDirectory() as home:
            child = sandbox.launch(["true"], Path(home), {})
            ended = child.finish(SETUP_SECONDS)
    except CannotStart as error:
        raise SandboxMissing(f"bubblewrap does not work here: {error}. {_advice()}") from None
    except ValueError as error:
        raise SandboxMissing(str(error)) from None
    if ended.code != 0:
        raise SandboxMissing(f"bubblewrap does not work here: `true` in it ended with {ended}")
    return sandbox


def _advice() -> str:
    if os.geteuid() == 0:
        return (
            "Root needs the right to create namespaces and mounts: in a container, start it with"
            " --privileged, or run the ladder outside of it."
        )
    return (
        "The kernel must let users create user namespaces. Check"
        " `sysctl user.max_user_namespaces` (not 0), `sysctl kernel.unprivileged_userns_clone` (1)"
        " and `sysctl kernel.apparmor_restrict_unprivileged_userns` (0, or a profile for bwrap)."
    )


def _file(path: str, pipe: str, mode: str = "0444") -> list[str]:
    return ["--perms", mode, "--file", pipe, path]


def _tmpfs_options(size: int, files: int) -> str:
    return f"remount,nosuid,nodev,size={size},nr_inodes={files}"


def _home_arguments(home: Path, room: Bounds | None) -> list[str]:
    if room is None:
        return ["--ro-bind", str(home), HOME]
    tmpfs = ["--perms", "0777", "--size", str(1024 * KIB), "--tmpfs", HOME]
    return [*tmpfs, "--ro-bind", str(home), SOURCES]


def _with_environment(environment: dict[str, str]) -> list[str]:
    """Return a command that sets variables, only now that they can do no harm (LD_PRELOAD)."""
    if not environment:
        return []
    return ["/usr/bin/env", "--", *(f"{name}={value}" for name, value in environment.items())]


def _set_limits(pid: int, limits: Limits) -> None:
    """Limit a process and all that it will start; never above what we ourselves have."""
    for what, value in (
        # Counted for each user, and the sandbox's init may be the same user.
        (resource.RLIMIT_NPROC, limits.processes + 1),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, limits.file_size),
        # Private writable memory. RLIMIT_AS would count what Java and Node only reserve.
        (resource.RLIMIT_DATA, limits.private),
        (resource.RLIMIT_MEMLOCK, 64 * KIB),
        (resource.RLIMIT_SIGPENDING, 256),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NICE, 0),
        (resource.RLIMIT_RTPRIO, 0),
    ):
        _, hard = resource.getrlimit(what)
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.prlimit(pid, what, (bound, bound))

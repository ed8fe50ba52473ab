"""Archives are opened by a child process: whatever they do to it, the author gets an answer."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import select
import signal
import stat
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import pytest

from keltis_ladder.files.packing import pack_directory
from keltis_ladder.files.sizes import MIB
from keltis_ladder.files.trees import Bounds
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.unpacking import opening
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_ladder.programs.unpacking.opening import (
    PACKED,
    UNPACKED,
    UPLOAD,
    Allowance,
    open_built,
    open_upload,
)
from tests.ladder.support.disks import full_disk
from tests.server.support.archives import BOT, FILES, digits, entry, tarred, zipped

PATIENCE = 300.0  # seconds, for hangs
FEW = Bounds(files=20, size=MIB)


def opened(directory: Path, data: bytes, allowance: Allowance = UPLOAD) -> str:
    """Have an archive opened below this directory; return the name of the bot in it."""
    (directory / "archive").write_bytes(data)
    (directory / "scratch").mkdir()
    return open_upload(directory / "archive", directory / "scratch", allowance).name


@cache
def slow_to_open() -> bytes:
    """Return a bot of nearly as many files as it may have, which takes seconds to open."""
    return zipped([*FILES, *((f"data/{number}", b"%d" % number) for number in range(9_900))])


def test_an_upload_is_packed_anew_as_our_own_archive(tmp_path: Path) -> None:
    assert opened(tmp_path, zipped()) == "mine"
    bot = tmp_path / "bot"
    bot.mkdir()
    for name, data in FILES:
        (bot / name).write_bytes(data)
    assert (tmp_path / "scratch" / PACKED).read_bytes() == pack_directory(bot)
    assert [path.name for path in (tmp_path / "scratch").iterdir()] == [PACKED]


def test_what_only_a_better_compressor_makes_small_is_refused(tmp_path: Path) -> None:
    noise = random.Random(4).randbytes(MIB)
    files = [*FILES, *((f"copy-{number}.bin", noise) for number in range(4))]
    sent = lzma.compress(tarred(files))
    assert len(sent) < 2 * MIB
    with pytest.raises(BadArchive, match="more than 2 MiB when they are packed by gzip"):
        opened(tmp_path, sent, replace(UPLOAD, packed=2 * MIB))
    assert list((tmp_path / "scratch").iterdir()) == []


def test_all_that_a_manifest_says_is_told(tmp_path: Path) -> None:
    text = (
        'name = "b"\nrun = ["a", "\u00e9"]\nbuild = ["make"]\nvariants = ["keltis"]\n'
        'players = [3]\ndescription = "words"\n'
    )
    (tmp_path / "archive").write_bytes(zipped([("bot.toml", text.encode())]))
    (tmp_path / "scratch").mkdir()
    manifest = open_upload(tmp_path / "archive", tmp_path / "scratch")
    assert asdict(manifest) == {
        "name": "b",
        "run": ("a", "\u00e9"),
        "build": ("make",),
        "variants": ("keltis",),
        "players": (3,),
        "description": "words",
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the upload is empty"),
        (zipped([("bot.toml", b"run = 3")]), "^bot.toml: the field 'name' is missing"),
        (zipped([("bot.toml", b"=")]), "^bot.toml is not valid TOML"),
        (digits(), "extended header of this tar is invalid"),
        (zipped([("bot.toml", b'run = ["x"]\nname = "' + b"x" * 60_000 + b'"')]), "invalid name|x"),
    ],
    ids=["nothing", "no name", "no TOML", "digits", "long name"],
)
def test_a_refusal_is_told_in_few_words_and_without_our_paths(
    data: bytes, words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadArchive, match=words) as refusal:
        opened(tmp_path, data)
    assert str(tmp_path) not in str(refusal.value)
    assert len(str(refusal.value)) <= opening.LONGEST_TEXT
    assert list((tmp_path / "scratch").iterdir()) == []


def test_what_takes_too_much_computing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArchive, match="takes too much to open: more than 1 s of computing"):
        opened(tmp_path, slow_to_open(), replace(UPLOAD, cpu=1))


def test_nobody_is_blamed_for_an_archive_that_the_machine_does_not_let_us_open(
    tmp_path: Path,
) -> None:
    with pytest.raises(MachineFailed, match=r"not opened after 1 s, .*: the machine is too busy"):
        opened(tmp_path, slow_to_open(), replace(UPLOAD, longest=1.0))


def test_what_takes_too_much_memory_is_refused(tmp_path: Path) -> None:
    dictionary = {"id": lzma.FILTER_LZMA2, "dict_size": 96 * MIB}
    data = lzma.compress(tarred(), filters=[dictionary])
    with pytest.raises(BadArchive, match="takes too much to open: more memory than there is"):
        opened(tmp_path, data, replace(UPLOAD, memory=110 * MIB))


def test_what_has_too_large_a_file_is_refused(tmp_path: Path) -> None:
    data = gzip.compress(tarred([BOT, ("large", bytes(2 * MIB))]))
    with pytest.raises(BadArchive, match="too large: remove what is not needed"):
        opened(tmp_path, data, replace(UPLOAD, file_size=MIB))


def test_a_full_disk_is_no_fault_of_the_author(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(tarred([BOT, ("large", bytes(MIB))]))
    with full_disk(tmp_path / "full"), pytest.raises(MachineFailed):
        open_upload(tmp_path / "archive", tmp_path / "full")


class Child:
    """Stands in for Python: a program of ours that does what a broken child might do."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self._program = directory / "python"
        monkeypatch.setattr(sys, "executable", str(self._program))

    def does(self, script: str) -> None:
        self._program.write_text(f"#!/bin/sh\n{script}\n")
        self._program.chmod(0o755)


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Child:
    return Child(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        ("kill -SEGV $$", BadArchive, "died of this one .SIGSEGV."),
        ("kill -ABRT $$", BadArchive, "died of this one .SIGABRT."),
        ("kill -XCPU $$", BadArchive, "takes too much to open"),
        ("kill -KILL $$", MachineFailed, "ended with code -9, and said: nothing"),
        ("echo broken >&2; exit 1", MachineFailed, "ended with code 1, and said: broken"),
        ("exit 0", MachineFailed, "ended with code 0"),
        ("echo '[1]'", MachineFailed, "ended with code 0"),
        ('echo \'{"kind": "opened"}\'', MachineFailed, "tells nonsense"),
        ('echo \'{"kind": "opened", "manifest": {"name": 3}}\'', MachineFailed, "nonsense"),
        ('echo \'{"kind": "refused", "text": 3}\'', MachineFailed, "ended with code 0"),
        ("head -c 200000 /dev/zero", MachineFailed, "says too much"),
        ("head -c 200000 /dev/zero | tr '\\0' '['", MachineFailed, "says too much"),
        ("head -c 100000 /dev/zero | tr '\\0' '['", MachineFailed, "ended with code 0"),
        ("head -c 900000 /dev/zero >&2; echo '{}'", MachineFailed, "ended with code 0"),
    ],
)
def test_a_child_that_dies_or_talks_nonsense_blames_nobody_wrongly(
    child: Child, script: str, error: type[Exception], words: str
) -> None:
    child.does(script)
    with pytest.raises(error, match=words):
        opened(child.directory, zipped())


def test_a_child_that_cannot_be_started_is_our_own_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(MachineFailed, match=r"what opens archives .*No such file"):
        opened(tmp_path, zipped())


def test_a_child_sees_no_secrets_and_inherits_no_descriptors(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KELTIS_DATABASE", "postgresql://user:gwyn@host/x")
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    try:
        child.does("env > environment; ls /proc/self/fd > descriptors")
        monkeypatch.chdir(child.directory)
        with pytest.raises(MachineFailed):
            opened(child.directory, zipped())
    finally:
        os.close(reader)
        os.close(writer)
    assert "gwyn" not in (child.directory / "environment").read_text()
    # The standard ones, and the directory that ls reads.
    assert len((child.directory / "descriptors").read_text().split()) == 4


def test_a_child_has_the_limits_that_it_is_given_and_can_gain_nothing(tmp_path: Path) -> None:
    code = """
import json, os, resource, sys
from keltis_ladder.programs.unpacking import opener, opening
opener.limit(opening.UPLOAD)
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps([
    resource.getrlimit(resource.RLIMIT_CPU)[0], resource.getrlimit(resource.RLIMIT_AS)[1],
    resource.getrlimit(resource.RLIMIT_FSIZE)[1], resource.getrlimit(resource.RLIMIT_NOFILE)[1],
    resource.getrlimit(resource.RLIMIT_CORE)[1], status["NoNewPrivs"].strip(),
]))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert json.loads(said) == [
        *(UPLOAD.cpu, UPLOAD.memory, UPLOAD.file_size, UPLOAD.open_files),
        *(0, "1"),
    ]


def test_a_child_gives_way_to_us_and_dies_with_us(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(slow_to_open())
    (tmp_path / "scratch").mkdir()
    code = """
import sys
from pathlib import Path
from keltis_ladder.programs.unpacking.opening import open_upload
open_upload(Path(sys.argv[1]), Path(sys.argv[2]))
"""
    paths = [str(tmp_path / "archive"), str(tmp_path / "scratch")]
    parent = subprocess.Popen([sys.executable, "-c", code, *paths])
    try:
        pid = _child_that_unpacks(parent, tmp_path / "scratch")
        handle = os.pidfd_open(pid)
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, nice + UPLOAD.nice)
    finally:
        parent.kill()
        parent.wait()
    try:
        _await_end(handle)
    finally:
        os.close(handle)


def _child_that_unpacks(parent: subprocess.Popen[bytes], scratch: Path) -> int:
    """Wait until the child has begun; return its number."""
    pause = threading.Event()
    while not (scratch / UNPACKED / "bot").exists():
        assert parent.poll() is None
        pause.wait(0.02)
    (pid,) = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    return int(pid)


def _await_end(handle: int) -> None:
    watch = select.poll()
    watch.register(handle, select.POLLIN)
    assert watch.poll(PATIENCE * 1000)


def streamed(directory: Path, data: bytes, bounds: Bounds = FEW) -> Path:
    """Have these bytes unpacked as what a build has made."""
    reader, writer = os.pipe()

    def write() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        try:
            with open(writer, "wb") as file:  # noqa: PTH123 - a descriptor
                file.write(data)
        except BrokenPipeError:
            pass

    writing = threading.Thread(target=write)
    writing.start()
    try:
        open_built(reader, directory / "built", bounds)
    finally:
        os.close(reader)
        writing.join()
    return directory / "built"


def test_what_a_build_has_made_is_unpacked_with_links_to_anywhere(tmp_path: Path) -> None:
    links = [entry("out", tarfile.SYMTYPE, "/etc/passwd"), entry(".git/x", mode=0o755)]
    built = streamed(tmp_path, tarred(FILES, links))
    assert (built / "out").readlink() == Path("/etc/passwd")
    assert (built / "bot.py").read_bytes() == dict(FILES)["bot.py"]
    assert stat.S_IMODE((built / ".git" / "x").stat().st_mode) & 0o111


def _through_a_link() -> bytes:
    return tarred([], [entry("out", tarfile.SYMTYPE, ".."), entry("out/forged")])


@pytest.mark.parametrize(
    ("maker", "words"),
    [
        (lambda: b"x" * 9999, "damaged"),
        (lambda: b"", "ends too early"),
        (lambda: tarred([("../forged", b"")]), "leads out"),
        (lambda: tarred([("/forged", b"")]), "absolute"),
        (_through_a_link, "twice"),
        (lambda: tarred([("large", bytes(2 * MIB))]), "more than 1 MiB"),
        (lambda: tarred([(str(n), b"") for n in range(21)]), "more than 20 files"),
        (lambda: tarred([], [entry("x", tarfile.BLKTYPE)]), "neither"),
        (lambda: tarred([("d/" * 65, b"")]), "too deep"),
        (lambda: gzip.compress(tarred()), "damaged"),
    ],
    ids=[
        *("noise", "nothing", "upwards", "absolute", "through a link", "large", "many"),
        *("device", "deep", "compressed"),
    ],
)
def test_a_stream_that_a_build_has_forged_is_refused(
    maker: Callable[[], bytes], words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadArchive, match=words):
        streamed(tmp_path, maker())
    assert {path.name for path in tmp_path.iterdir()} <= {"built"}


def test_the_same_files_are_the_same_bytes_whichever_way_they_are_compressed(
    tmp_path: Path,
) -> None:
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 4096)
    (tmp_path / "zeros").write_bytes(bytes(300_000))
    data = pack_directory(tmp_path)
    assert data == gzip.compress(gzip.decompress(data), mtime=0)

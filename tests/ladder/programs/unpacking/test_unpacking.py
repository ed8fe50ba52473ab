"""Archives are unpacked inside of one directory, within bounds, or refused with a reason."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import resource
import stat
import struct
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from keltis_ladder.files.trees import Bounds
from keltis_ladder.programs.staging import SUBMITTED
from keltis_ladder.programs.unpacking.unpack import BadArchive, unpack
from tests.server.support.archives import (
    BOT,
    COMPRESSIONS,
    FILES,
    GIB,
    LINK,
    MANIFEST,
    PROGRAM,
    claiming,
    deep_headers,
    digits,
    digits_in_a_comment,
    endless_holes,
    entry,
    extended,
    greedy_xz,
    long_header,
    many_extras,
    many_streams,
    overlapping,
    tar_bomb,
    tarred,
    zip_bomb,
    zip_entry,
    zip_of_one,
    zipped,
    zipped_with,
)

MIB = 1 << 20
FEW = Bounds(files=20, size=MIB)


def unpacked(directory: Path, data: bytes, bounds: Bounds = SUBMITTED) -> Path:
    """Unpack these bytes to a directory below this one; return where the bot is."""
    (directory / "archive").write_bytes(data)
    return unpack(directory / "archive", directory / "out", bounds)


def files_in(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("kind", ["zip", *COMPRESSIONS])
def test_each_kind_of_archive_is_told_by_its_bytes(kind: str, tmp_path: Path) -> None:
    data = zipped() if kind == "zip" else COMPRESSIONS[kind](tarred())
    assert files_in(unpacked(tmp_path, data)) == dict(FILES)


def test_a_folder_that_everything_is_in_is_stepped_into(tmp_path: Path) -> None:
    inside = [(f"my bot/{name}", data) for name, data in FILES]
    assert files_in(unpacked(tmp_path, zipped(inside))) == dict(FILES)


def test_what_tools_leave_in_an_archive_is_left_out(tmp_path: Path) -> None:
    junk = ["__MACOSX/._bot.py", ".DS_Store", ".git/config", "lib/__pycache__/a.pyc", "._bot.toml"]
    data = tarred([*FILES, *((name, b"junk") for name in junk), ("lib/a.py", b"")])
    assert files_in(unpacked(tmp_path, data)) == {**dict(FILES), "lib/a.py": b""}


def test_of_modes_only_that_a_file_is_a_program_is_kept(tmp_path: Path) -> None:
    data = tarred([BOT], [entry("run", mode=0o6755), entry("data", mode=0o2666)])
    bot = unpacked(tmp_path, data)
    assert stat.S_IMODE((bot / "run").stat().st_mode) & 0o7111 == 0o111
    assert stat.S_IMODE((bot / "data").stat().st_mode) & 0o7111 == 0


def test_links_that_stay_inside_are_kept(tmp_path: Path) -> None:
    links = [
        entry("lib/again.py", tarfile.SYMTYPE, "../bot.py"),
        entry("same.py", tarfile.LNKTYPE, "bot.py"),
    ]
    bot = unpacked(tmp_path, tarred(FILES, links))
    assert (bot / "lib" / "again.py").readlink() == Path("../bot.py")
    assert (bot / "same.py").read_bytes() == PROGRAM[1]
    assert not (bot / "same.py").is_symlink()


def test_names_that_differ_in_case_are_two_files_where_they_can_be(tmp_path: Path) -> None:
    names = ["a.py", "A.py", "\u00e9", "e\u0301"]
    place = tmp_path / "names"
    place.mkdir()
    for name in names:
        (place / name).touch()
    data = zipped([BOT, *((name, name.encode()) for name in names)])
    if len(list(place.iterdir())) == len(names):
        found = files_in(unpacked(tmp_path, data))
        assert found == {"bot.toml": MANIFEST, **{name: name.encode() for name in names}}
    else:  # a file system that takes some of them for the same
        with pytest.raises(BadArchive, match="twice"):
            unpacked(tmp_path, data)


def encrypted() -> bytes:
    data = bytearray(zipped([BOT]))
    for at in (6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1
    return bytes(data)


def lzma_zip() -> bytes:
    member = zipfile.ZipInfo("x")
    member.compress_type = zipfile.ZIP_LZMA
    return zipped_with(member, b"x" * 100)


def sparse() -> bytes:
    return entry("x", tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT) + bytes(1024)


def sparse_by_words() -> bytes:
    member = entry("x")
    member.pax_headers = {"GNU.sparse.map": "0,1,1000000000,1", "GNU.sparse.size": "99999999999"}
    return member.tobuf(tarfile.PAX_FORMAT) + bytes(1024)


def damaged_header() -> bytes:
    data = bytearray(tarred([BOT, PROGRAM]))
    data[1024 + 148] ^= 1  # the checksum of the second header
    return bytes(data)


def through_a_link() -> bytes:
    """Two links: each by its words stays inside, together they lead out."""
    up = entry("a/b/c/up", tarfile.SYMTYPE, "../../..")
    return tarred([BOT], [up, entry("out", tarfile.SYMTYPE, "a/b/c/up/../../secret")])


LIES = zip_of_one("bot.toml", b"\x03\x00", 5)  # says five bytes, and has none
Maker = Callable[[], bytes]
REFUSED: list[tuple[str, Maker, str]] = [
    ("nothing", lambda: b"", "empty"),
    ("no archive", lambda: b"#!/bin/sh\nrm -rf /\n", "no archive that we know"),
    ("no bot.toml", lambda: zipped([PROGRAM]), "no bot.toml"),
    ("two folders", lambda: zipped([("a/bot.toml", MANIFEST), ("b/x", b"")]), "no bot.toml"),
    ("absolute, zip", lambda: zipped([BOT, ("/etc/x", b"")]), "absolute"),
    ("absolute, tar", lambda: tarred([BOT, ("/etc/x", b"")]), "absolute"),
    ("upwards, zip", lambda: zipped([BOT, ("../x", b"")]), "leads out"),
    ("upwards, tar", lambda: tarred([BOT, ("a/../../x", b"")]), "leads out"),
    ("backslash", lambda: zipped([BOT, ("..\\x", b"")]), "backslash"),
    ("drive", lambda: zipped([BOT, ("C:/x", b"")]), "absolute"),
    ("link out", lambda: tarred([BOT], [entry("x", tarfile.SYMTYPE, "../y")]), "outside"),
    ("link to root", lambda: tarred([BOT], [entry("x", tarfile.SYMTYPE, "/etc")]), "outside"),
    ("link out, zip", lambda: zipped_with(zip_entry("x", LINK), b"../../y"), "outside"),
    ("links together", through_a_link, "outside"),
    ("link to itself", lambda: tarred([BOT], [entry("x", tarfile.SYMTYPE, "x")]), "to itself"),
    ("hard link out", lambda: tarred([BOT], [entry("x", tarfile.LNKTYPE, "../y")]), "leads out"),
    ("hard link", lambda: tarred([BOT], [entry("x", tarfile.LNKTYPE, "y")]), "hard link"),
    (
        "below a link",
        lambda: tarred([BOT], [entry("x", tarfile.SYMTYPE, "."), entry("x/y")]),
        "twice",
    ),
    ("below a file", lambda: zipped([BOT, ("bot.toml/x", b"")]), "twice"),
    ("device", lambda: tarred([BOT], [entry("x", tarfile.CHRTYPE)]), "neither"),
    ("block device", lambda: tarred([BOT], [entry("x", tarfile.BLKTYPE)]), "neither"),
    ("fifo", lambda: tarred([BOT], [entry("x", tarfile.FIFOTYPE)]), "neither"),
    ("fifo, zip", lambda: zipped_with(zip_entry("x", stat.S_IFIFO | 0o644), b""), "neither"),
    ("sparse", sparse, "holes"),
    ("sparse by words", sparse_by_words, "holes"),
    ("encrypted", encrypted, "encrypted"),
    ("unusual compression", lzma_zip, "use deflate"),
    ("twice, tar", lambda: tarred([BOT, BOT]), "twice"),
    ("file and directory", lambda: tarred([BOT], [entry("bot.toml", tarfile.DIRTYPE)]), "twice"),
    ("control characters", lambda: zipped([BOT, ("a\nb", b"")]), "control"),
    ("escape", lambda: tarred([BOT, ("a\x1b[2Jb", b"")]), "control"),
    ("not UTF-8", lambda: tarred([BOT, ("a\udcff", b"")]), "not UTF-8"),
    ("long part", lambda: tarred([BOT, ("x" * 256, b"")]), "too long"),
    ("long name", lambda: tarred([BOT, ("x" * 200 + "/" + ("y" * 200 + "/") * 5, b"")]), "long"),
    ("deep", lambda: tarred([BOT, ("a/" * 65 + "x", b"")]), "too deep"),
    ("many", lambda: zipped([BOT, *((f"{n}", b"") for n in range(20))]), "more than 20 files"),
    ("many, tar", lambda: tarred([BOT, *((f"{n}", b"") for n in range(20))]), "more than 20"),
    ("directories", lambda: zipped([BOT, *((f"{n}/", b"") for n in range(99))]), "too many files"),
    ("large", lambda: zipped([BOT, ("x", bytes(MIB))]), "more than 1 MiB"),
    ("large together", lambda: tarred([(str(n), bytes(MIB // 4)) for n in range(5)]), "1 MiB"),
    ("hard link copies", lambda: tarred([("a", bytes(MIB // 2))], _copies()), "more than 1 MiB"),
    ("overlapping", overlapping, "overlaps"),
    ("says more than it has", lambda: LIES, "damaged"),
    ("says less than it has", lambda: _understated(), "damaged"),
    ("beyond the end", lambda: zip_of_one("x", b"\x03\x00", 7 * GIB), "more than 1 MiB"),
    ("cut off zip", lambda: zipped()[:-10], "damaged or cut off"),
    ("cut off tar", lambda: tarred()[:700], "damaged or cut off"),
    ("cut off between files", lambda: tarred()[:1024], "damaged or cut off"),
    ("cut off gzip", lambda: gzip.compress(tarred())[:-9], "damaged or cut off"),
    ("damaged header", damaged_header, "damaged"),
    ("damaged bzip2", lambda: bz2.compress(tarred())[:60] + bytes(80), "damaged"),
    ("wrong checksum", lambda: gzip.compress(tarred())[:-8] + bytes(8), "damaged or cut off"),
    ("long header", long_header, "is invalid"),
    ("headers without end", deep_headers, "damaged"),
    ("claims 8 EiB", lambda: claiming("x", 2**63), "more than 1 MiB"),
    ("greedy xz", greedy_xz, "damaged or cut off"),
    ("behind the end", lambda: gzip.compress(tarred()) + b"more", "damaged or cut off"),
    ("digits", lambda: extended(b"1" * 99), "extended header of this tar is invalid"),
    ("record too long", lambda: extended(b"99 path=x\n"), "extended header"),
    ("record too short", lambda: extended(b"5 path=x\n"), "extended header"),
    ("record of nothing", lambda: extended(b"3 =\n"), "extended header"),
    ("record without value", lambda: extended(b"7 path\n"), "extended header"),
    ("record of length 0", lambda: extended(b"0 path=x\n"), "extended header"),
    ("size in words", lambda: extended(b"12 size=many\n"), "extended header"),
    ("path of all", lambda: extended(b"10 path=x\n", tarfile.XGLTYPE), "is invalid"),
    ("path upwards", lambda: extended(b"16 path=../../x\n"), "leads out"),
    ("NUL in a path", lambda: extended(b"12 path=a\0b\n"), "control"),
]


def _copies() -> list[tarfile.TarInfo]:
    return [entry(str(number), tarfile.LNKTYPE, "a") for number in range(3)]


def _understated() -> bytes:
    """A zip whose member has more data than both headers say."""
    whole = zipped([("bot.toml", b"x" * 1000)])
    data = whole[38 : whole.index(b"PK\x01\x02")]
    return zip_of_one("bot.toml", data, 10)


@pytest.mark.parametrize(
    ("maker", "words"), [row[1:] for row in REFUSED], ids=[r[0] for r in REFUSED]
)
def test_what_nobody_packs_by_accident_is_refused(maker: Maker, words: str, tmp_path: Path) -> None:
    outside = sorted(tmp_path.parent.iterdir())
    with pytest.raises(BadArchive, match=words) as refusal:
        unpacked(tmp_path, maker(), FEW)
    assert str(tmp_path) not in str(refusal.value)
    assert str(refusal.value).isprintable()
    assert sorted(tmp_path.parent.iterdir()) == outside


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_a_name_twice_in_a_zip_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadArchive, match="twice"):
        unpacked(tmp_path, zipped([BOT, BOT]))


@pytest.mark.parametrize(
    "maker",
    [zip_bomb, tar_bomb, lambda: tar_bomb(claimed=0), lambda: tar_bomb(GIB, 50 * MIB)],
    ids=["zip", "tar", "tar that claims nothing", "tar that claims less"],
)
def test_a_bomb_is_refused_quickly_with_little_memory_and_disk(
    maker: Maker, tmp_path: Path
) -> None:
    data = maker()
    assert len(data) < 20 * MIB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    with pytest.raises(BadArchive):
        unpacked(tmp_path, data)
    assert time.process_time() - begin < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB
    assert sum(p.stat().st_size for p in (tmp_path / "out").rglob("*")) <= SUBMITTED.size


@pytest.mark.parametrize(
    "maker",
    [
        digits,
        lambda: many_streams(gzip.compress),
        lambda: many_streams(bz2.compress),
        lambda: many_streams(lzma.compress),
        many_extras,
        endless_holes,
    ],
    ids=["digits", "gzip streams", "bzip2 streams", "xz streams", "zip extras", "holes"],
)
def test_what_would_take_very_long_to_open_is_refused_quickly(maker: Maker, tmp_path: Path) -> None:
    data = maker()
    begin = time.process_time()
    with pytest.raises(BadArchive):
        unpacked(tmp_path, data)
    assert time.process_time() - begin < 5


def test_a_long_comment_about_all_files_is_read_quickly(tmp_path: Path) -> None:
    begin = time.process_time()
    assert files_in(unpacked(tmp_path, digits_in_a_comment())) == dict(FILES)
    assert time.process_time() - begin < 5


def test_many_headers_of_members_are_not_kept(tmp_path: Path) -> None:
    """Of 1,000 headers with 60 KB of words each, 60 MB together, nothing stays in memory."""
    words = b"60000 comment=" + b"x" * (60_000 - 15) + b"\n"
    header = entry("x", tarfile.XHDTYPE)
    header.size = len(words)
    one = header.tobuf(tarfile.USTAR_FORMAT) + words + bytes(-len(words) % tarfile.BLOCKSIZE)
    names = (entry(f"file-{number}").tobuf(tarfile.USTAR_FORMAT) for number in range(1000))
    data = gzip.compress(b"".join(one + name for name in names) + tarred())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(files_in(unpacked(tmp_path, data))) == 1000 + len(FILES)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024  # KiB


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_long_names_are_kept_in_either_way_of_writing_them(form: int, tmp_path: Path) -> None:
    name = "/".join(["long" * 20] * 5) + "/\u00e9"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for member, content in ((BOT[0], BOT[1]), (name, b"far down")):
            header = tarfile.TarInfo(member)
            header.size = len(content)
            archive.addfile(header, io.BytesIO(content))
        archive.addfile(entry("link", tarfile.SYMTYPE, name))
    bot = unpacked(tmp_path, buffer.getvalue())
    assert (bot / name).read_bytes() == (bot / "link").read_bytes() == b"far down"


@pytest.mark.parametrize("kind", ["tar.gz", "tar.bz2", "tar.xz"])
def test_archives_compressed_in_pieces_are_read_to_the_end(kind: str, tmp_path: Path) -> None:
    whole = tarred([BOT, ("large", bytes(range(256)) * 999)])
    pieces = [whole[at : at + 10_000] for at in range(0, len(whole), 10_000)]
    data = b"".join(COMPRESSIONS[kind](piece) for piece in pieces) + bytes(100)
    assert files_in(unpacked(tmp_path, data))["large"] == bytes(range(256)) * 999


def test_a_zip_within_a_zip_is_just_a_file(tmp_path: Path) -> None:
    inner = zipped([("x", bytes(MIB))])
    assert files_in(unpacked(tmp_path, zipped([BOT, ("in.zip", inner)])))["in.zip"] == inner


def test_what_takes_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(tarred())
    with pytest.raises(BadArchive, match="takes more than 0 s"):
        unpack(tmp_path / "archive", tmp_path / "out", seconds=0.0)


LARGER = [
    *FILES,
    ("lib/" + "long" * 40 + "/\u00e9.py", b"print()\n" * 50),
    ("data", bytes(range(256)) * 8),
]
LINKS = [entry("again", tarfile.SYMTYPE, "bot.py"), entry("same", tarfile.LNKTYPE, "bot.py")]
WHOLE = [
    zipped(LARGER),
    zipped_with(zip_entry("link", LINK), b"bot.toml"),
    *(compress(tarred(LARGER, LINKS)) for compress in COMPRESSIONS.values()),
    extended(b"22 comment=some words\n"),
]
PLACE = st.floats(0, 1, exclude_max=True)  # of the whole
CHANGES = st.one_of(
    st.tuples(st.just("set"), PLACE, st.binary(min_size=1, max_size=4)),
    st.tuples(st.just("insert"), PLACE, st.binary(min_size=1, max_size=64)),
    st.tuples(st.just("remove"), PLACE, st.integers(1, 600)),
    st.tuples(st.just("repeat"), PLACE, st.integers(1, 600)),
    st.tuples(st.just("number"), PLACE, st.sampled_from([0, 1, 0x7FFFFFFF, 0xFFFFFFFF])),
    st.tuples(st.just("digits"), PLACE, st.integers(1, 12)),
)


def changed(data: bytes, change: tuple[str, float, bytes | int]) -> bytes:
    """Return an archive after an accident, or what somebody took for a good idea."""
    kind, place, what = change
    at = int(place * len(data))
    if isinstance(what, bytes):
        return data[:at] + what + data[at + len(what) if kind == "set" else at :]
    if kind == "remove":
        return data[:at] + data[at + what :]
    if kind == "repeat":
        return data[: at + what] + data[at:]
    if kind == "number":
        return data[:at] + struct.pack("<I", what) + data[at + 4 :]
    return data[:at] + b"7" * what + data[at + what :]


def rechecked(data: bytes) -> bytes:
    """Return a plain tar with the checksums that its headers should have after a change."""
    blocks = [bytearray(data[at : at + 512]) for at in range(0, len(data), 512)]
    for block in blocks:
        if len(block) == 512 and block[257:262] == b"ustar":
            block[148:156] = b" " * 8
            block[148:156] = b"%06o\0 " % sum(block)
    return b"".join(map(bytes, blocks))


@hypothesis_settings(max_examples=400)
@given(st.sampled_from(WHOLE), st.lists(CHANGES, min_size=1, max_size=4), st.booleans())
def test_a_changed_archive_is_refused_or_unpacked_within_bounds_and_nothing_else(
    whole: bytes, changes: list[tuple[str, float, bytes | int]], mended: bool
) -> None:
    data = whole
    for change in changes:
        data = changed(data, change)
    with tempfile.TemporaryDirectory() as scratch:
        with suppress(BadArchive):
            unpacked(Path(scratch), rechecked(data) if mended else data, FEW)
        sizes = [path.lstat().st_size for path in Path(scratch, "out").rglob("*")]
        assert len(sizes) <= FEW.files * 64
        assert sum(sizes) <= FEW.size + len(sizes) * 64 * 1024
        assert {path.name for path in Path(scratch).iterdir()} <= {"archive", "out"}


@hypothesis_settings(max_examples=200)
@given(st.sampled_from(["tar.gz", "tar.bz2", "tar.xz"]), st.lists(CHANGES, max_size=3))
def test_a_tar_that_was_changed_before_it_was_compressed_raises_nothing_else(
    kind: str, changes: list[tuple[str, float, bytes | int]]
) -> None:
    data = tarred(LARGER, LINKS)
    for change in changes:
        data = changed(data, change)
    with tempfile.TemporaryDirectory() as scratch, suppress(BadArchive):
        unpacked(Path(scratch), COMPRESSIONS[kind](rechecked(data)), FEW)


NAMES = st.one_of(
    st.text(max_size=30),
    st.lists(
        st.sampled_from(["..", ".", "", "a", "b", "C:", "~", "x\\y", "\0", "…", "/", "bot.toml"]),
        max_size=6,
    ).map("/".join),
)
KINDS = st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE])


@hypothesis_settings(max_examples=150)
@given(st.lists(st.tuples(NAMES, KINDS, NAMES), max_size=6))
def test_no_name_ever_leads_outside(members: list[tuple[str, bytes, str]]) -> None:
    more = [entry(name, kind, to) for name, kind, to in members]
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "place"
        place.mkdir()
        try:
            data = tarred([BOT], more)
        except (ValueError, UnicodeError):  # such a name cannot even be packed
            return
        try:
            bot = unpacked(place, data, FEW)
        except BadArchive:
            pass
        else:
            assert all(path.resolve().is_relative_to(bot) for path in bot.rglob("*"))
        assert sorted(path.name for path in place.iterdir()) in (["archive"], ["archive", "out"])
        assert [path.name for path in Path(scratch).iterdir()] == ["place"]


def test_directories_that_only_names_mention_count_as_files(tmp_path: Path) -> None:
    deep = [(f"{n}/" + "d/" * 40 + "f", b"") for n in range(100)]
    for data in (zipped([*FILES, *deep]), tarred([*FILES, *deep])):
        archive = tmp_path / "archive"
        archive.write_bytes(data)
        with pytest.raises(BadArchive, match="more than 1,000 files"):
            unpack(archive, tmp_path / data[:2].hex(), Bounds(files=1000, size=MIB))
        assert len(list((tmp_path / data[:2].hex()).rglob("*"))) <= 1001

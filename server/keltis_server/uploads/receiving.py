"""Receive uploads: as streams, to files, and no more than is allowed."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, TypeVar

import aiohttp
from aiohttp import BodyPartReader, MultipartReader, hdrs, web

from keltis_bots.manifest import Manifest
from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.files.trees import discard
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_ladder.programs.unpacking.opening import PACKED, open_upload
from keltis_ladder.store.archives import Kept
from keltis_ladder.store.bots.accounts import Bearer
from keltis_ladder.store.home import Home
from keltis_server.http.problems import Problem, too_many
from keltis_server.site.site import Site
from keltis_server.uploads.turns import Turns

AT_ONCE: Final = 2  # uploads of one author
FEWEST_OPENED: Final = 2  # archives at once, of different authors
CORES_EACH: Final = 2  # for one archive that is opened
SOON: Final = 5.0  # seconds after which one of them may be over
FORM: Final = "multipart/form-data"
MOST_FIELDS: Final = 10  # of a form; the first file is the archive
SMALL_FIELD: Final = 64 * KIB
_BUFFER: Final = 256 * KIB

T = TypeVar("T")
Finish = Callable[[Manifest, Kept], Awaitable[T]]


@dataclass(frozen=True)
class Pace:
    """How slow an upload may be."""

    pause: float = 20.0  # seconds in which something must come
    whole: float = 300.0  # seconds for all of it


class Stream(Protocol):
    """What an upload is read from."""

    async def read(self) -> bytes:
        """Return the next bytes, none at the end."""
        ...


class CutOff(Exception):
    """An upload that ended before it was complete: it counts as if it had never begun."""


class Reception:
    """Takes uploads in, each to a file of its own that is gone when it has been dealt with."""

    def __init__(self, site: Site) -> None:
        self.pace = Pace()
        self._site = site
        self._under_way: Counter[int] = Counter()  # by author
        self._tasks: set[asyncio.Task[Any]] = set()
        opened = max(FEWEST_OPENED, len(os.sched_getaffinity(0)) // CORES_EACH)
        self._turns = Turns(opened)
        # Threads that only wait: for a process, which dies with the thread that has started it.
        self._openers = ThreadPoolExecutor(opened, thread_name_prefix="opener")

    async def accept(self, author: Bearer, request: web.Request, finish: Finish[T]) -> T:
        """Receive an upload, unpack and keep it, and have the rest done with what was kept.

        It counts for the author's quota unless it is cut off. What has come completely is dealt
        with to the end, whether or not somebody still waits for the answer.
        """
        most = self._site.settings.quotas.archive_bytes
        if (request.content_length or 0) > most + (SMALL_FIELD if is_form(request) else 0):
            raise too_large(most)
        self._begin(author)
        path: Path | None = None
        try:
            path = self._new_file()
            await self._receive(request, path, most)
        except BaseException as error:
            self._end(author, path)
            if isinstance(error, CutOff | asyncio.CancelledError):
                self._site.limiters.uploads.give_back(str(author.author_id))
            if isinstance(error, CutOff):
                raise cut_off(str(error)) from None
            raise
        task = asyncio.ensure_future(self._deal_with(author, path, finish))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Wait for what is being dealt with."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._openers.shutdown()

    async def _deal_with(self, author: Bearer, path: Path, finish: Finish[T]) -> T:
        try:
            async with self._turns.of(author.author_id):
                manifest, kept = await asyncio.get_running_loop().run_in_executor(
                    self._openers, take_in, self._site.home, path
                )
            return await finish(manifest, kept)
        finally:
            self._end(author, path)

    def _begin(self, author: Bearer) -> None:
        limiter = self._site.limiters.uploads
        if self._under_way[author.author_id] >= AT_ONCE:
            raise too_many(f"{AT_ONCE} uploads of yours are under way", SOON)
        if wait := limiter.take(str(author.author_id)):
            raise too_many(f"at most {limiter.count} uploads an hour", wait)
        self._under_way[author.author_id] += 1

    def _end(self, author: Bearer, path: Path | None) -> None:
        self._under_way[author.author_id] -= 1
        self._under_way += Counter()  # forget who has none
        if path is not None:
            path.unlink(missing_ok=True)

    def _new_file(self) -> Path:
        directory = self._site.home.directory / "incoming"
        directory.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix="upload-", dir=directory)
        os.close(descriptor)
        return Path(name)

    async def _receive(self, request: web.Request, path: Path, most: int) -> None:
        try:
            async with asyncio.timeout(self.pace.whole):
                stream = await self._stream(request)
                with path.open("wb") as file:
                    await self._copy(stream, file, most)
        except TimeoutError:
            raise CutOff(
                f"nothing came for {self.pace.pause:.0f} s, or it took more than"
                f" {self.pace.whole:.0f} s"
            ) from None
        except (aiohttp.ClientError, ConnectionError, web.RequestPayloadError) as error:
            raise CutOff(" ".join(str(error).split()) or "the connection was closed") from None

    async def _copy(self, stream: Stream, file: BinaryIO, most: int) -> None:
        size = 0
        buffer = bytearray()
        while True:
            async with asyncio.timeout(self.pace.pause):
                data = await stream.read()
            size += len(data)
            if size > most:
                raise too_large(most)
            buffer += data
            if len(buffer) >= _BUFFER or not data:
                await asyncio.to_thread(file.write, bytes(buffer))
                buffer.clear()
            if not data:
                return

    async def _stream(self, request: web.Request) -> Stream:
        """Return where the archive comes from: the body, or the first file in it."""
        if not is_form(request):
            return _Body(request.content)
        try:
            reader = _Form(request.headers, request.content)
            for _ in range(MOST_FIELDS):
                async with asyncio.timeout(self.pace.pause):
                    part = await reader.next()
                if not isinstance(part, BodyPartReader):
                    break
                if part.filename is not None:
                    return _Part(part)
                await self._skip(part)
        except BadArchive:
            raise
        except (ValueError, RuntimeError) as error:  # the second for a form that names an encoding
            raise BadArchive(f"this form cannot be read: {error}") from None
        raise BadArchive("the form has no file: send the archive as its one file")

    async def _skip(self, field: BodyPartReader) -> None:
        left = SMALL_FIELD
        while left > 0:
            async with asyncio.timeout(self.pace.pause):
                data = await field.read_chunk()
            if not data:
                return
            left -= len(data)
        raise BadArchive("the form has a large field that is no file: send the file alone")


class _Form(MultipartReader):
    """A form that begins with its first field.

    Before it there may be text for readers of mail, which no browser sends. It would be read line
    by line, however many there are, and nothing else could run meanwhile.
    """

    async def _read_until_first_boundary(self) -> None:
        await self._read_boundary()


class _Body:
    """The body of a request."""

    def __init__(self, content: aiohttp.StreamReader) -> None:
        self._content = content

    async def read(self) -> bytes:
        return await self._content.readany()


class _Part:
    """The file in a form."""

    def __init__(self, part: BodyPartReader) -> None:
        self._part = part

    async def read(self) -> bytes:
        try:
            return bytes(await self._part.read_chunk(_BUFFER))
        except ValueError as error:
            raise CutOff(str(error)) from None


def is_form(request: web.Request) -> bool:
    """Tell whether an upload comes from a form."""
    return request.content_type == FORM


def cut_off(why: str) -> Problem:
    """Return the problem that an upload ended too early, in case somebody is there to hear it."""
    return Problem(
        HTTPStatus.REQUEST_TIMEOUT,
        f"the upload was cut off: {why}",
        headers={hdrs.CONNECTION: "close"},
    )


def too_large(most: int) -> Problem:
    """Return the problem that an upload is larger than allowed."""
    return Problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"an archive may have {most / MIB:g} MiB: leave out what the build can make",
        headers={hdrs.CONNECTION: "close"},
    )


def take_in(home: Home, archive: Path) -> tuple[Manifest, Kept]:
    """Have an archive opened by another process, and keep what that makes of it. Blocking."""
    scratch = Path(tempfile.mkdtemp(prefix="unpacked-", dir=archive.parent))
    try:
        manifest = open_upload(archive, scratch)
        return manifest, home.archives.adopt(scratch / PACKED)
    finally:
        try:
            scratch.rmdir()
        except OSError:  # the other process was killed, and has left what it had unpacked
            discard(scratch)

"""Receive uploads: as streams, to files, and no more than is allowed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Final, Protocol

import aiohttp
from aiohttp import BodyPartReader, MultipartReader, hdrs, web

from keltis_ladder.files.sizes import KIB, MIB
from keltis_ladder.programs.unpacking.names import BadArchive
from keltis_server.http.problems import Problem

FORM: Final = "multipart/form-data"
MOST_FIELDS: Final = 10  # of a form; the first file is the archive
SMALL_FIELD: Final = 64 * KIB
_BUFFER: Final = 256 * KIB


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


class Receiver:
    """Copies archives from requests to files."""

    def __init__(self) -> None:
        self.pace = Pace()

    async def receive(self, request: web.Request, path: Path, most: int) -> None:
        """Copy the archive in a request to a file; raise CutOff if it ends too early."""
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
                await asyncio.to_thread(_write, file, bytes(buffer))
                buffer.clear()
            if not data:
                return

    async def _stream(self, request: web.Request) -> Stream:
        """Return where the archive comes from: the body, or the first file in it."""
        if not is_form(request):
            return _Body(request.content)
        try:
            reader = _Form(request.headers, request.content, max_field_size=KIB, max_headers=16)
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


def _write(file: BinaryIO, data: bytes) -> None:
    """Write all of it. Blocking; nothing is left to be written when the file is closed."""
    file.write(data)
    file.flush()


def is_form(request: web.Request) -> bool:
    """Return whether an upload comes from a form."""
    return request.content_type == FORM


def check_length(request: web.Request, most: int) -> None:
    """Raise if a request says that it is larger than an archive may be."""
    if (request.content_length or 0) > most + (SMALL_FIELD if is_form(request) else 0):
        raise too_large(most)


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

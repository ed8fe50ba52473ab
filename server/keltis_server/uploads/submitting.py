"""A bot is submitted: received, unpacked, written down, and everybody is told."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from keltis_bots.manifest import Manifest
from keltis_ladder.files.room import reserved, room_left
from keltis_ladder.files.sizes import MIB
from keltis_ladder.files.trees import discard
from keltis_ladder.match.faults import MachineFailed
from keltis_ladder.programs.staging import BUILT, SUBMITTED
from keltis_ladder.programs.unpacking.opening import PACKED, UPLOAD, Allowance, open_upload
from keltis_ladder.run.scheduler import PlatformTrouble
from keltis_ladder.store.bots import submissions
from keltis_ladder.store.bots.accounts import Bearer
from keltis_ladder.store.bots.catalogue import Refused
from keltis_ladder.store.bots.forgetting import forget_files
from keltis_ladder.store.bots.submissions import Submitted
from keltis_server.http.problems import Problem, too_many
from keltis_server.site.site import Site
from keltis_server.uploads.receiving import CutOff, Receiver, check_length, cut_off
from keltis_server.uploads.turns import Turns

UPLOADS_OF_AUTHOR: Final = 2  # at once
FEWEST_OPENED: Final = 2  # archives at once, of different authors
CORES_EACH: Final = 2  # for one archive that is opened
SOON: Final = 5.0  # seconds after which one of them may be over

log = logging.getLogger(__name__)


class Submitting:
    """Takes submissions, each from the request to the version that waits for its check."""

    def __init__(self, site: Site) -> None:
        self.receiver = Receiver()
        self.reserve = BUILT.size  # bytes that the disk must have left
        self._site = site
        self._disk = site.home.directory / "bots"  # where builds promise each other room
        self._under_way: Counter[int] = Counter()  # by author
        self._keeping = asyncio.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        opened = max(FEWEST_OPENED, len(os.sched_getaffinity(0)) // CORES_EACH)
        self._turns = Turns(opened)
        # Threads that only wait: for a process, which dies with the thread that has started it.
        self._openers = ThreadPoolExecutor(opened, thread_name_prefix="opener")

    async def submit(self, author: Bearer, request: web.Request) -> Submitted:
        """Take an upload in, and let everybody know what has become of it.

        It counts for the author's quota unless it is cut off. What has come completely is dealt
        with to the end, whether or not somebody still waits for the answer.
        """
        if not self._site.can_check:
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "this ladder cannot run bots of others at the moment: ask the operator",
            )
        await self._require_disk()
        upload = await self._receive(author, request)
        task = asyncio.ensure_future(self._enter(author, upload))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def _require_disk(self) -> None:
        """Refuse uploads where no build could begin: what is left is for results."""
        free = await asyncio.to_thread(room_left, self._disk)
        left = free - self._under_way.total() * self._site.settings.quotas.archive_bytes
        if left < self.reserve:
            text = f"the disk is nearly full, {left // MIB} MiB are left: uploads are refused"
            log.error(text)
            self._site.tell(PlatformTrouble(text))
            raise Problem(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "this ladder's disk is full, and its operator is told so: try again later",
                headers={"Retry-After": "600"},
            )

    async def _enter(self, author: Bearer, upload: Path) -> Submitted:
        scratch = upload.with_name(f"{upload.name}-opened")
        allowance = replace(UPLOAD, packed=self._site.settings.quotas.archive_bytes)
        try:
            async with self._turns.of(author.author_id):
                manifest = await asyncio.get_running_loop().run_in_executor(
                    self._openers, unpack, self._disk, upload, scratch, allowance
                )
            done = await self._keep(author, manifest, scratch / PACKED)
            self._site.tell(*done.changed)
            return done
        except MachineFailed as error:
            self._site.tell(PlatformTrouble(f"an upload could not be opened: {error}"))
            raise
        finally:
            await asyncio.to_thread(_remove, scratch)
            await self._end(author, upload)

    async def _keep(self, author: Bearer, manifest: Manifest, packed: Path) -> Submitted:
        """Keep a program, and write it down: that is the queue of what is to be checked, too.

        One after the other: what was refused, or had to make room, is removed at once, and nobody
        else has just come with the same.
        """
        site, quotas = self._site, self._site.settings.quotas
        async with self._keeping:
            kept = await asyncio.to_thread(site.home.archives.adopt, packed)
            try:
                done = await site.write(
                    submissions.submit,
                    author.author_id,
                    manifest,
                    kept,
                    quotas.bots,
                    quotas.kept_bytes,
                )
            except Refused:
                await site.read(forget_files, site.home.archives, [kept.digest])
                raise
            if done.gone:
                await site.read(forget_files, site.home.archives, done.gone)
            return done

    async def start(self) -> None:
        """Be ready; nothing runs between two submissions."""
        await asyncio.to_thread(self._disk.mkdir, parents=True, exist_ok=True)

    async def stop(self) -> None:
        """Wait for what is being dealt with."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._openers.shutdown()

    async def _receive(self, author: Bearer, request: web.Request) -> Path:
        """Return the file that an upload has come to."""
        most = self._site.settings.quotas.archive_bytes
        check_length(request, most)
        self._begin(author)
        path: Path | None = None
        try:
            path = self._new_file()
            await self.receiver.receive(request, path, most)
        except BaseException as error:
            await self._end(author, path)
            if isinstance(error, CutOff | asyncio.CancelledError):
                self._site.limiters.uploads.give_back(str(author.author_id))
            if isinstance(error, CutOff):
                raise cut_off(str(error)) from None
            raise
        return path

    def _begin(self, author: Bearer) -> None:
        limiter = self._site.limiters.uploads
        if self._under_way[author.author_id] >= UPLOADS_OF_AUTHOR:
            raise too_many(f"{UPLOADS_OF_AUTHOR} uploads of yours are under way", SOON)
        if wait := limiter.take(str(author.author_id)):
            raise too_many(f"at most {limiter.count} uploads an hour", wait)
        self._under_way[author.author_id] += 1

    async def _end(self, author: Bearer, path: Path | None) -> None:
        self._under_way[author.author_id] -= 1
        self._under_way += Counter()  # forget who has none
        if path is not None:  # in a thread: a busy disk takes 50 ms and more for it
            await asyncio.to_thread(path.unlink, missing_ok=True)

    def _new_file(self) -> Path:
        directory = self._site.home.directory / "incoming"
        directory.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix="upload-", dir=directory)
        os.close(descriptor)
        return Path(name)


def unpack(disk: Path, archive: Path, scratch: Path, allowance: Allowance) -> Manifest:
    """Have an archive opened by another process, in a new directory. Blocking."""
    scratch.mkdir(mode=0o700)
    needed = 2 * SUBMITTED.size + allowance.packed  # what is in it, the bot's files, our archive
    with reserved(disk, needed):
        return open_upload(archive, scratch, allowance)


def _remove(scratch: Path) -> None:
    """Remove the directory in which an archive was opened; blocking, if its process was killed."""
    try:
        scratch.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        discard(scratch)


SUBMITTING: Final[web.AppKey[Submitting]] = web.AppKey("submitting", Submitting)

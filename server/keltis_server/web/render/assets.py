"""Static files: read and packed once at the start, and kept by browsers for good.

All of them are below one directory that is named by a hash of everything: modules import each
other by relative addresses, and so can never meet another release of their neighbours. Without
the hash a file is found, too, but asked about each time.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from aiohttp import web

from keltis_server.http.problems import not_found
from keltis_server.http.wire import REVALIDATE

DIRECTORY: Final = Path(__file__).parents[1] / "static"
PREFIX: Final = "/static/"
FOR_EVER: Final = "public, max-age=31536000, immutable"
HASH_MARK: Final = "v-"
TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class Asset:
    """One file, as it is and packed."""

    content_type: str
    plain: bytes
    packed: bytes | None  # none: packing does not make it smaller
    etag: str

    @classmethod
    def of(cls, path: Path, data: bytes) -> Asset:
        """Return a file with its packed form."""
        kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
        packed = gzip.compress(data, 9, mtime=0)
        return cls(
            kind or "application/octet-stream",
            data,
            packed if len(packed) < len(data) else None,
            f'"{hashlib.sha256(data).hexdigest()[:24]}"',
        )


class Assets:
    """All static files."""

    def __init__(self, files: dict[str, Asset]) -> None:
        self.files = files
        every = "\n".join(f"{name} {files[name].etag}" for name in sorted(files))
        self.hash = hashlib.sha256(every.encode()).hexdigest()[:16]

    @classmethod
    def load(cls, directory: Path = DIRECTORY) -> Assets:
        """Read all files of a directory."""
        paths = (path for path in sorted(directory.rglob("*")) if path.is_file())
        return cls(
            {
                path.relative_to(directory).as_posix(): Asset.of(path, path.read_bytes())
                for path in paths
            }
        )

    def url(self, name: str) -> str:
        """Return the address of a file, by its name below the directory."""
        if name not in self.files:
            raise KeyError(f"there is no static file {name}")
        return f"{PREFIX}{HASH_MARK}{self.hash}/{name}"

    async def answer(self, request: web.Request) -> web.Response:
        """Send a file, packed for those who can unpack it."""
        name: str = request.match_info["path"]
        caching = REVALIDATE
        if name.startswith(HASH_MARK):
            stamp, _, name = name.removeprefix(HASH_MARK).partition("/")
            if stamp == self.hash:  # a page of another release must not keep what it gets now
                caching = FOR_EVER
        asset = self.files.get(name)
        if asset is None:
            raise not_found(f"there is no file {name[:80]!r}")
        headers = {
            "Cache-Control": caching,
            "ETag": asset.etag,
            "Vary": "Accept-Encoding",
            "Content-Type": asset.content_type,
        }
        if request.headers.get("If-None-Match") == asset.etag:
            return web.Response(status=HTTPStatus.NOT_MODIFIED, headers=headers)
        if asset.packed is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
            headers["Content-Encoding"] = "gzip"
            return web.Response(body=asset.packed, headers=headers)
        return web.Response(body=asset.plain, headers=headers)


ASSETS: Final[web.AppKey[Assets]] = web.AppKey("assets", Assets)

"""The local key: lets the operator use it from the same machine without a set-up.

The server writes its address and a key that is new each time into a file of the ladder's directory
that nobody else can read. Those who can read it could change the database as well.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from hmac import compare_digest
from pathlib import Path
from typing import Final

FILE: Final = "server.json"
PREFIX: Final = "kll_"


@dataclass(frozen=True)
class Address:
    """Where a server of this machine is, and the key to it."""

    url: str
    key: str
    pid: int


class LocalKey:
    """The key of one run of the server."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE
        self.text = PREFIX + secrets.token_urlsafe(32)

    def fits(self, text: str) -> bool:
        """Return whether somebody has the key."""
        return compare_digest(text.encode(), self.text.encode())

    def publish(self, url: str) -> None:
        """Write down where the server is."""
        part = self.path.with_name(f".{FILE}.{os.getpid()}")
        part.unlink(missing_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"url": url, "key": self.text, "pid": os.getpid()}, file)
        part.replace(self.path)

    def withdraw(self) -> None:
        """Remove what was written, unless another server has written since."""
        found = read_address(self.path.parent)
        if found is not None and found.key == self.text:
            self.path.unlink(missing_ok=True)


def read_address(directory: Path) -> Address | None:
    """Return the server that runs on a ladder's directory, if we may know its key."""
    try:
        fields = json.loads((directory / FILE).read_text(encoding="utf-8"))
        address = Address(str(fields["url"]), str(fields["key"]), int(fields["pid"]))
        os.kill(address.pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return address

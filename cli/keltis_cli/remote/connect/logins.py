"""Saved logins: a file that only its owner can read, with a token for each server."""

from __future__ import annotations

import json
import os
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from keltis_cli.errors import BadRequest

FORMAT: Final = "keltis-ladder logins 1"
FILE: Final = "login.json"
_OTHERS: Final = 0o077  # everybody but the owner


@dataclass(frozen=True)
class Login:
    """Who we are on a server."""

    name: str
    token: str = field(repr=False)  # never in an error or a log


@dataclass
class Logins:
    """All logins of a user, by the address of the server."""

    default: str = ""
    servers: dict[str, Login] = field(default_factory=dict)

    def keep(self, url: str, login: Login) -> None:
        """Remember a login; its server is the default one from now on."""
        self.servers[url] = login
        self.default = url

    def forget(self, url: str) -> None:
        """Forget a login; another one becomes the default if this was it."""
        del self.servers[url]
        if self.default == url:
            self.default = next(iter(self.servers), "")


def login_file() -> Path:
    """Return where logins are saved."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "keltis-ladder" / FILE


def read_logins() -> Logins:
    """Return the saved logins; a file that others could read is closed to them, and we say so."""
    path = login_file()
    try:
        with path.open(encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            plain = json.load(file)
        if stat.S_IMODE(mode) & _OTHERS:
            path.chmod(0o600)
            print(
                f"{path} could be read by others: it no longer can, but make new tokens"
                " (keltis-ladder tokens) if somebody else uses this machine.",
                file=sys.stderr,
            )
        if plain["format"] != FORMAT:
            raise ValueError(f"its format is {plain['format']!r}")
        servers = {
            str(url): Login(str(login["name"]), str(login["token"]))
            for url, login in plain["servers"].items()
        }
        return Logins(str(plain["default"]), servers)
    except FileNotFoundError:
        return Logins()
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest(
            f"{path} is damaged ({error}): remove it, and log in again: keltis-ladder login URL"
        ) from None


def write_logins(logins: Logins) -> Path:
    """Save the logins: the file is ours alone from the first moment, and never half written."""
    path = login_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    plain = {
        "format": FORMAT,
        "default": logins.default,
        "servers": {
            url: {"name": login.name, "token": login.token} for url, login in logins.servers.items()
        },
    }
    part = path.with_name(f".{FILE}.{os.getpid()}")
    part.unlink(missing_ok=True)
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(plain, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path

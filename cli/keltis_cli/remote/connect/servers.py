"""Which server a command talks to, and as whom.

In this order: what the command line or the environment says, the saved login, and the server of
this machine, which needs no login at all.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.logins import Login, read_logins
from keltis_cli.remote.connect.troubles import Refused, Unreachable
from keltis_ladder.store.whereabouts import default_directory
from keltis_server.site.local_key import Address, read_address

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
NOWHERE: Final = (
    "no server was found: start one here with `make run` or `keltis-ladder serve`, or log in to"
    " one with `keltis-ladder login URL`"
)


@dataclass(frozen=True)
class Place:
    """A server, and the token that we show it."""

    url: str
    token: str = field(default="", repr=False)  # empty: nobody in particular
    is_local: bool = False  # the token is the key of the server on this machine

    def after_restart(self) -> Place | None:
        """Return the place with the new key of a server that was started again, if it was."""
        here = read_address(default_directory()) if self.is_local else None
        if here is None or here.url != self.url or here.key == self.token:
            return None
        return Place(self.url, _checked(here.key), is_local=True)


def find_place(server: str = "", token: str = "", as_operator: bool = False) -> Place:
    """Return the server that is meant; a token is only ever sent to the server it belongs to.

    With ``as_operator`` the operator on this machine uses its key rather than a login.
    """
    logins = read_logins()
    here = read_address(default_directory())
    url = address_of(server) if server else logins.default or (here.url if here else "")
    if not url:
        raise Unreachable(NOWHERE)
    if not token:
        token = _token_for(url, logins.servers.get(url), here, as_operator)
    token = _checked(token)
    return Place(url, token, is_local=here is not None and token == here.key)


def _token_for(url: str, login: Login | None, here: Address | None, as_operator: bool) -> str:
    key = here.key if here is not None and here.url == url else ""
    saved = login.token if login is not None else ""
    return (key or saved) if as_operator else (saved or key)


def _checked(token: str) -> str:
    """Return a token that can be sent in a header."""
    token = token.strip()
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise Refused("invalid token: a token is a single word that begins with klt_")
    return token


def address_of(text: str) -> str:
    """Return the address of a server as we write it everywhere."""
    text = text.strip()
    if "://" not in text:
        local = text.partition(":")[0] in LOOPBACK
        text = f"{'http' if local else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    wrong = parts.query or parts.fragment or parts.username or parts.password
    plain = parts.path.rstrip("/")
    if parts.scheme not in ("http", "https") or not parts.hostname or wrong:
        raise Refused(
            f"{printable(text)!r} is not the address of a server: write https://HOST[:PORT]"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}{plain}"


def warn_of_plain_http(url: str) -> None:
    """Say that a token can be read on its way, where it can."""
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        print(
            f"Careful: {url} is not encrypted: others on the network can read your token.",
            file=sys.stderr,
        )


def another_server(url: str) -> str:
    """Return a hint if the server of this machine is another one than the one that is meant."""
    here = read_address(default_directory())
    if here is None or here.url == url:
        return ""
    return f"; on this machine one runs at {here.url} (--server {here.url})"

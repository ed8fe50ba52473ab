"""Hosts and origins: only requests that were meant for us, and no page of another site acts here.

A name that a stranger owns may lead to our address for a moment (DNS rebinding): a browser then
takes the stranger's page and ours for one site. The name is in ``Host``, and it is not ours.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final
from urllib.parse import urlsplit

from aiohttp import hdrs, web
from aiohttp.typedefs import Middleware

from keltis_server.http.problems import Handler, Problem, forbidden
from keltis_server.settings import Settings

OPEN: Final = "/healthz"  # tells nothing, and a monitor may call us anything
HARMLESS: Final = ("GET", "HEAD", "OPTIONS")
LOOPBACK_NAME: Final = "localhost"
LARGEST_PORT: Final = 65535
LONGEST_HOST: Final = 255  # characters of a name
# What a browser writes, and nothing else that somebody may read in another way than we do: no user
# before the name, no zone of an address, no port that is none. Names and addresses are compared as
# a whole, so that a dot at the end makes another name.
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<ipv6>[0-9a-f:.]+)\]|(?P<name>[0-9a-z._-]+))(?::(?P<port>[0-9]{1,5}))?",
    re.ASCII | re.IGNORECASE,
)
_WHOLE_ADDRESS: Final = re.compile(r"https?://(?P<authority>[^/?#]*)", re.IGNORECASE)
FORWARDED: Final = (hdrs.X_FORWARDED_FOR, hdrs.FORWARDED, "X-Real-IP", hdrs.VIA)

Address = IPv4Address | IPv6Address


def known_hosts_only(settings: Settings) -> Middleware:
    """Return what refuses requests for other hosts, and changes that another site's page wants."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path != OPEN and not is_for_us(settings, request):
            raise misdirected(request)
        if request.method not in HARMLESS and not is_of_ours(settings, request):
            raise forbidden("pages of another site may not change anything here")
        return await handler(request)

    return middleware


def is_for_us(settings: Settings, request: web.Request) -> bool:
    """Return whether a request names a host that we are: our public one, or where it came to.

    A request line may name one itself, as those to a proxy do. Then both must be ours.
    """
    names = [named_host(request)]
    if not request.raw_path.startswith("/"):
        whole = _WHOLE_ADDRESS.match(request.raw_path)
        names.append(host_of(whole["authority"]) if whole else "")
    return all(
        name and (name == public_host(settings) or _is_bound(settings, request, name))
        for name in names
    )


def named_host(request: web.Request) -> str:
    """Return the host that a request is for by its ``Host``; nothing if it is not exactly one."""
    found = request.headers.getall(hdrs.HOST, [])
    return host_of(found[0]) if len(found) == 1 else ""


def is_of_ours(settings: Settings, request: web.Request) -> bool:
    """Return whether a request comes from a page of ours, or from no page at all."""
    origin = request.headers.get(hdrs.ORIGIN)
    if origin is None:
        return request.headers.get("Sec-Fetch-Site") != "cross-site"
    if settings.public_url and origin.lower() == settings.public_url.rstrip("/").lower():
        return True
    try:
        return urlsplit(origin).netloc.lower() == request.headers.get(hdrs.HOST, "").lower()
    except ValueError:  # not an address at all
        return False


def is_near(settings: Settings, request: web.Request) -> bool:
    """Return whether somebody on this machine asks, themselves and not through a proxy."""
    peer = request.transport.get_extra_info("peername") if request.transport else None
    if not peer or not _is_loopback(_address(str(peer[0]))):
        return False
    if any(name in request.headers for name in FORWARDED):
        return False
    name = named_host(request)
    return _is_bound(settings, request, name)  # what came by the public name came by a proxy


def misdirected(request: web.Request) -> Problem:
    """Return the problem that a request is for somebody else, or that we do not know our name."""
    name = ", ".join(request.headers.getall(hdrs.HOST, []))[:LONGEST_HOST]
    return Problem(
        HTTPStatus.MISDIRECTED_REQUEST,
        f"this server does not know itself as {name!a}: the operator can start it with"
        " --public-url http://NAME[:PORT], the address as clients write it",
    )


def host_of(text: str) -> str:
    """Return the name or address in a ``Host`` header, without a port; nothing if it is not one."""
    found = _AUTHORITY.fullmatch(text) if len(text) <= LONGEST_HOST else None
    if found is None or int(found["port"] or 0) > LARGEST_PORT:
        return ""
    if found["ipv6"] is None:
        return found["name"].lower()
    try:
        return str(IPv6Address(found["ipv6"]))
    except ValueError:
        return ""


def public_host(settings: Settings) -> str:
    """Return the name in the public address; nothing if there is none."""
    return host_of(urlsplit(settings.public_url).netloc)


def _is_bound(settings: Settings, request: web.Request, name: str) -> bool:
    """Return whether a name is a loopback name, or where we listen.

    With 0.0.0.0 or :: we listen on each address of the machine: on the one the client came to.
    """
    if name in (LOOPBACK_NAME, settings.host.lower()):
        return True
    address = _address(name)
    if address is None:
        return False
    if _is_loopback(address) or address == _address(settings.host):
        return True
    here = request.transport.get_extra_info("sockname") if request.transport else None
    return here is not None and address == _address(str(here[0]))


def _address(text: str) -> Address | None:
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        return found.ipv4_mapped
    return found


def _is_loopback(address: Address | None) -> bool:
    return address is not None and address.is_loopback

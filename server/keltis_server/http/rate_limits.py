"""Rate limits of requests: who pays, and from which address."""

from __future__ import annotations

from ipaddress import IPv6Address, IPv6Network
from typing import Final

from aiohttp import web

from keltis_server.http.edge.hosts import is_near
from keltis_server.http.problems import Handler, too_many
from keltis_server.settings import Settings
from keltis_server.site.site import SITE, Site

ONE_HOME: Final = 64  # bits of an IPv6 address that its owner does not choose
LONGEST_ADDRESS: Final = 64  # characters of an address
HEALTH: Final = "/healthz"
OPERATOR: Final = ("/readyz", "/metrics")  # likewise, for clients on this machine
STATIC: Final = "/static/"
CHEAP: Final = 0.1  # tokens: a page has dozens of files, which lie ready in memory


def address_of(site: Site, request: web.Request) -> str:
    """Return where a request comes from: what a proxy says only if we are told that there is one.

    The last address is the one that our own proxy saw; what stands before it, anybody can write.
    """
    if site.settings.forwarded:
        forwarded = ",".join(request.headers.getall("X-Forwarded-For", []))
        if last := forwarded.rpartition(",")[2].strip():
            return home_of(last)
    return home_of(request.remote or "unknown")


def home_of(address: str) -> str:
    """Return what one owner's addresses have in common: all of one in IPv4, half of one in IPv6."""
    text = address[:LONGEST_ADDRESS]
    if text.startswith("["):  # with a port, as some proxies write it
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    if ":" not in text:
        return text
    try:
        found = IPv6Address(text.partition("%")[0])
    except ValueError:
        return text
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(IPv6Network((found, ONE_HOME), strict=False))


@web.middleware
async def limit_requests(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse requests from an address that asks too often; endpoints may cost more than this."""
    site = request.app[SITE]
    budgets, address = site.limiters.budgets, address_of(site, request)
    if is_watching(site.settings, request):
        wait = budgets.pay_to_watch(address, CHEAP)
    else:
        wait = budgets.pay(address, CHEAP if request.path.startswith(STATIC) else 1)
    if wait:
        raise too_many("too many requests from this address", wait)
    return await handler(request)


def is_watching(settings: Settings, request: web.Request) -> bool:
    """Return whether a monitor asks: it gets through, whatever else comes from the address."""
    return request.path == HEALTH or (request.path in OPERATOR and is_near(settings, request))

"""Who calls, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from aiohttp import web

from keltis_ladder.store.bots.accounts import Bearer, TokenScope, bearer_of
from keltis_ladder.store.schema.moments import now
from keltis_server.http.problems import Problem, forbidden, too_many
from keltis_server.http.rate_limits import address_of
from keltis_server.site.site import SITE, Site

SCHEME: Final = "bearer"
CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="keltis-ladder"'}
LONGEST_TOKEN: Final = 200  # characters of a token


@dataclass(frozen=True)
class Call:
    """A request, with what its handler needs to answer it."""

    site: Site
    request: web.Request
    caller: Bearer | None  # none: nobody whom we know

    @classmethod
    async def of(cls, request: web.Request, needs: TokenScope | None) -> Call:
        """Find out who calls; raise unless they may."""
        site = request.app[SITE]
        caller = await identify(site, request)
        call = cls(site, request, caller)
        if needs is not None:
            call.require(needs)
        return call

    @property
    def author(self) -> Bearer:
        """Who calls, where everybody who does is known."""
        if self.caller is None:
            raise unknown("this needs a token: keltis-ladder register, or keltis-ladder login")
        return self.caller

    def require(self, scope: TokenScope) -> None:
        """Raise unless the caller's token allows this."""
        if not allows(self.author, scope):
            raise forbidden(f"this token lacks the scope {scope.value!r}: make one that has it")

    def pay(self, cost: int) -> None:
        """Take the tokens that the request costs; that it was sent at all is paid for already."""
        self._take(cost - 1, cost)

    def pay_more(self, cost: int) -> None:
        """Take more tokens, for what turns out to be dearer than its kind usually is."""
        self._take(cost, cost)

    def _take(self, of_address: int, of_author: int) -> None:
        budgets = self.site.limiters.budgets
        wait = 0.0
        if of_address > 0:
            wait = budgets.pay(address_of(self.site, self.request), of_address)
        if not wait and of_author > 0 and self.caller is not None:
            wait = budgets.pay_as(self.caller.author_id, of_author)
        if wait:
            raise too_many("too many requests, or too costly ones", wait)

    def may_read_of(self, author_id: int) -> bool:
        """Return whether the caller may see what only this author may."""
        return may_read_of(self.caller, author_id)


def may_read_of(caller: Bearer | None, author_id: int) -> bool:
    """Return whether somebody may see what only this author may, in the API and live."""
    return caller is not None and (
        TokenScope.ADMIN in caller.scopes
        or (caller.author_id == author_id and TokenScope.READ in caller.scopes)
    )


def allows(bearer: Bearer, scope: TokenScope) -> bool:
    """Return whether a token allows something: that of an administrator allows everything."""
    return scope in bearer.scopes or TokenScope.ADMIN in bearer.scopes


async def identify(site: Site, request: web.Request) -> Bearer | None:
    """Return who calls; nobody if they do not say, and a problem if they say what is not so."""
    header = request.headers.get("Authorization")
    if header is None:
        return None
    scheme, _, text = header.partition(" ")
    text = text.strip()
    if scheme.lower() != SCHEME or not 0 < len(text) <= LONGEST_TOKEN or not text.isascii():
        raise unknown("say who you are by 'Authorization: Bearer TOKEN'")
    if site.local_key.fits(text):
        return await site.local_author()
    found = await site.read(bearer_of, text, now())
    if found is None:
        raise unknown("this token is not valid: it was revoked, is too old, or was never ours")
    return found


def unknown(why: str) -> Problem:
    """Return the problem that we do not know who calls."""
    return Problem(HTTPStatus.UNAUTHORIZED, why, headers=CHALLENGE)

"""Accounts: open one, and look after its tokens."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Final

from pydantic import Field
from sqlmodel import Session

from keltis_ladder.store.bots.accounts import (
    AUTHOR_SCOPES,
    BadInvitation,
    TokenScope,
    add_token,
    bots_of,
    new_token,
    register,
    revoke_token,
    tokens_of,
)
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Author, Token
from keltis_server.events import AccessEnded
from keltis_server.http.auth import Call, allows
from keltis_server.http.endpoints import API, MISSING, Endpoints, Parameters
from keltis_server.http.parameters import Days, Label, Name
from keltis_server.http.problems import forbidden, not_found, too_many
from keltis_server.http.rate_limits import address_of
from keltis_server.http.wire import Reply
from keltis_server.models.accounts import (
    AccountOut,
    NewTokenOut,
    OpenedOut,
    QuotasOut,
    TokenOut,
    TokensOut,
)
from keltis_server.settings import Registration

ENDPOINTS: Final = Endpoints("accounts", "Authors and their tokens.")

SECRET: Final = r"^[A-Za-z0-9_-]{1,200}$"


class RegisterIn(Parameters):
    """Who wants an account."""

    name: Name
    invitation: Annotated[str, Field(pattern=SECRET)] | None = Field(
        default=None, description="Needed where registration is by invitation."
    )
    label: Label = "the first"


class TokenIn(Parameters):
    """A token that is wanted."""

    label: Label
    scopes: Annotated[
        list[TokenScope],
        Field(min_length=1, max_length=len(TokenScope), description="What it is to allow."),
    ]
    days: Days = None


class TokenPath(Parameters):
    """Which token."""

    id: Annotated[int, Field(ge=1, le=2**31 - 1)]


@ENDPOINTS.post(
    "/accounts",
    returns=OpenedOut,
    status=HTTPStatus.CREATED,
    fails=(HTTPStatus.FORBIDDEN, HTTPStatus.CONFLICT),
)
async def register_author(call: Call, body: RegisterIn) -> Reply:
    """Open an account. The token that comes back is shown this once: keep it.

    The operator may open accounts for others, even where registration is closed.
    """
    site = call.site
    by_admin = call.caller is not None and allows(call.caller, TokenScope.ADMIN)
    invitation = None
    if not by_admin:
        invitation = _needed_invitation(site.settings.registration, body)
        if wait := site.limiters.registrations.take(address_of(site, call.request)):
            raise too_many("too many registrations from this address", wait)
        if wait := site.limiters.all_registrations.take(""):
            raise too_many("too many registrations in all: the operator can open accounts", wait)
    text = new_token()
    try:
        await site.write(register, body.name, text, now(), invitation, body.label)
    except BaseException as failure:
        if not by_admin:
            site.limiters.all_registrations.give_back("")
        if isinstance(failure, BadInvitation):
            raise forbidden(str(failure)) from None
        raise
    opened = OpenedOut(name=body.name, token=text, scopes=list(AUTHOR_SCOPES))
    return Reply(opened, HTTPStatus.CREATED, {"Location": f"{API}/authors/{body.name}"})


def _needed_invitation(registration: Registration, body: RegisterIn) -> str | None:
    if registration == Registration.CLOSED:
        raise forbidden("registration is closed: ask the operator for an account")
    if registration == Registration.OPEN:
        return None
    if body.invitation is None:
        raise forbidden("registration is by invitation: ask the operator for one")
    return body.invitation


@ENDPOINTS.get("/account", returns=AccountOut, known=True)
async def account(call: Call) -> AccountOut:
    """Who calls, what their token allows, and how much they may ask for."""
    site, author = call.site, call.author
    return AccountOut(
        name=author.name,
        house=author.house,
        scopes=_in_order(author.scopes),
        bots=await site.read(bots_of, author.author_id),
        quotas=QuotasOut.model_validate(site.settings.quotas, from_attributes=True),
        uploads_left=site.limiters.uploads.left(str(author.author_id)),
    )


@ENDPOINTS.get("/account/tokens", returns=TokensOut, needs=TokenScope.ACCOUNT)
async def list_tokens(call: Call) -> TokensOut:
    """The caller's tokens that are valid."""
    found = await call.site.read(tokens_of, call.author.author_id, now())
    return TokensOut(tokens=[_told(token, call) for token in found])


@ENDPOINTS.post(
    "/account/tokens",
    returns=NewTokenOut,
    needs=TokenScope.ACCOUNT,
    status=HTTPStatus.CREATED,
    fails=(HTTPStatus.CONFLICT,),
)
async def make_token(call: Call, body: TokenIn) -> Reply:
    """Make another token, which allows no more than the one in use. It is shown this once.

    It ends with the one in use: when that is too old, or ended.
    """
    lacking = [scope for scope in body.scopes if not allows(call.author, scope)]
    if lacking:
        raise forbidden(f"a token cannot make one that allows more: yours lacks {lacking[0]!r}")
    text, moment = new_token(), now()
    expires = moment + timedelta(days=body.days) if body.days is not None else None
    maker = call.author.token_id

    def work(session: Session) -> Token:
        author = session.get_one(Author, call.author.author_id)
        scopes = dict.fromkeys(body.scopes)
        return add_token(session, author, scopes, moment, body.label, expires, text, maker)[0]

    token = await call.site.write(work)
    made = NewTokenOut(**_told(token, call).model_dump(), token=text)
    return Reply(made, HTTPStatus.CREATED)


@ENDPOINTS.delete("/account/tokens/{id}", needs=TokenScope.ACCOUNT, fails=MISSING)
async def delete_token(call: Call, path: TokenPath) -> Reply:
    """End a token, and those that were made by it; it may be the one in use."""
    author_id = call.author.author_id
    ended = await call.site.write(revoke_token, author_id, path.id, now())
    if not ended:
        raise not_found(f"you have no token {path.id} that is valid")
    call.site.tell(*(AccessEnded(author_id, id) for id in ended))
    return Reply(None, HTTPStatus.NO_CONTENT)


def _told(token: Token, call: Call) -> TokenOut:
    assert token.id is not None
    return TokenOut(
        id=token.id,
        label=token.label,
        scopes=_in_order(frozenset(token.scopes)),
        created=token.created,
        expires=token.expires,
        current=token.id == call.author.token_id,
    )


def _in_order(scopes: frozenset[str]) -> list[str]:
    return [scope for scope in TokenScope if scope in scopes]

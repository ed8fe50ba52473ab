"""Accounts and tokens as the API shows them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from keltis_server.models.moments import Moment


class QuotasOut(BaseModel):
    """How much one author may ask for."""

    archive_bytes: int
    uploads_per_hour: int
    bots: int
    challenges_per_hour: int
    tournaments_per_hour: int
    requests_per_minute: int


class OpenedOut(BaseModel):
    """A new account. The token is shown this once."""

    name: str
    token: str
    scopes: list[str]


class AccountOut(BaseModel):
    """Who calls, and how much they may ask for."""

    name: str
    house: bool
    scopes: list[str] = Field(description="What the token in use allows.")
    bots: list[str]
    quotas: QuotasOut
    uploads_left: int = Field(description="How many uploads are possible at once now.")


class TokenOut(BaseModel):
    """A token that is valid; its text is not known to us."""

    id: int
    label: str
    scopes: list[str]
    created: Moment
    expires: Moment | None
    current: bool = Field(description="Whether this request came with it.")


class TokensOut(BaseModel):
    """All tokens of the caller that are valid, the oldest first."""

    tokens: list[TokenOut]


class NewTokenOut(TokenOut):
    """A new token. Its text is shown this once."""

    token: str

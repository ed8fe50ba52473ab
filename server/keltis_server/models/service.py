"""What a server says of itself, and of the games that are played there."""

from __future__ import annotations

from pydantic import BaseModel, Field

from keltis_server.models.accounts import QuotasOut


class ClockOut(BaseModel):
    """The time that bots get."""

    bank_ms: int
    increment_ms: int
    start_ms: int


class LimitsOut(BaseModel):
    """What a bot may use while it plays; less memory where many play on a small machine."""

    memory_bytes: int = Field(description="Resident, all processes together.")
    scratch_bytes: int = Field(description="In /tmp.")


class ServiceOut(BaseModel):
    """What this ladder is."""

    name: str
    version: str = Field(description="Of the software.")
    registration: str = Field(description="open, invitation or closed.")
    clock: ClockOut
    quotas: QuotasOut
    limits: LimitsOut


class VariantOut(BaseModel):
    """One of the games."""

    id: str
    version: int
    players: list[int]
    options: dict[str, int]


class VariantsOut(BaseModel):
    """The games that are played here."""

    variants: list[VariantOut]

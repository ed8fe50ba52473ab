"""Games, decision by decision, as the API tells them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class FrameOut(BaseModel):
    """A decision, and how the view after it differs from the one before it."""

    kind: str = Field(description='Always "frame".')
    rotation: int
    ply: int = Field(description="How many decisions were taken before it.")
    seat: int
    action: int
    notation: str
    card: str | None = Field(description="That it brought; null: none, or hidden.")
    ms: int | None = Field(description="That it took; null: hidden, or not known any more.")
    patch: list[tuple[list[str | int], Any]] = Field(
        description="Paths into the view, and the values that are replaced there."
    )
    scores: list[int]
    clocks: list[int] = Field(description="Milliseconds left, by seat.")


class FrameFaultOut(BaseModel):
    """A bot that dropped out."""

    ply: int = Field(description="How many decisions had been taken.")
    seat: int
    fault: str
    code: str


class FramesOut(BaseModel):
    """A game, as far as it has come, as one viewer may see it."""

    match: str = Field(description="The id of the match.")
    rotation: int
    viewer: str = Field(description="As whom it is seen: public, all or a seat.")
    seats: list[int] = Field(description="The position of the entrant on each seat.")
    view: dict[str, Any] = Field(description="Before the first decision.")
    clocks: list[int] = Field(description="Before the first decision.")
    frames: list[FrameOut]
    faults: list[FrameFaultOut]
    ended: bool
    scores: list[int]

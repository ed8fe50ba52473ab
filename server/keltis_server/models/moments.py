"""Moments in answers: always in UTC, however they were written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator


def in_utc(moment: datetime) -> datetime:
    """Return a moment in UTC; one without a time zone is taken for UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Moment = Annotated[datetime, AfterValidator(in_utc)]

"""Filling a model from a row whose attributes have the same names."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


def filled(model: type[M], row: object, **given: Any) -> M:
    """Return a model with the given values, and all others from the attributes of a row."""
    missing = [name for name in model.model_fields if name not in given]
    return model(**given, **{name: getattr(row, name) for name in missing})

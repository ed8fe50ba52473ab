"""The answers of a server, read with the server's own models and made safe to print.

Every text is made printable as it is read; only logs and the like, which have lines of their own,
go through ``printable`` when they are shown. Fields that we do not know are ignored: a newer server
may have more. Of those that an older one does not have yet, whatever may be unknown is unknown.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.connection import Server

M = TypeVar("M", bound=BaseModel)

MISSING: Final = "missing"  # as pydantic calls it
RAW: Final = ("log", "output")  # fields with lines of their own


def read(server: Server, model: type[M], plain: Any) -> M:
    """Return an answer as a model; one that does not fit it is told in one line."""
    name = model.__name__.removesuffix("Out").lower()
    try:
        plain = safe(plain)
        try:
            return model.model_validate(plain)
        except ValidationError as error:
            lacking = [each["loc"] for each in error.errors() if each["type"] == MISSING]
            if not lacking:
                raise
            for where in lacking:
                _set_unknown(plain, where)
            return model.model_validate(plain)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        what = ".".join(str(part) for part in first["loc"]) or "the whole"
        if first["type"] == MISSING or first["input"] is None:
            what += " is missing"
        raise server.odd(printable(f"an odd {name} ({what})")) from None
    except RecursionError:
        raise server.odd(f"an odd {name} (nested too deeply)") from None


def _set_unknown(plain: Any, where: tuple[int | str, ...]) -> None:
    """Put in that a field is not known; where that cannot be, reading it will tell."""
    *way, last = where
    try:
        for part in way:
            plain = plain[part]
        plain[last] = None
    except (LookupError, TypeError):  # part of the way is the name of a choice
        return


def read_all(server: Server, model: type[M], plain: list[Any]) -> list[M]:
    """Return the items of a list as models."""
    return [read(server, model, each) for each in plain]


def safe(plain: Any) -> Any:
    """Return plain data whose texts are one printable line each, but for logs."""
    if isinstance(plain, str):
        return printable(" ".join(plain.split()))
    if isinstance(plain, list):
        return [safe(each) for each in plain]
    if isinstance(plain, dict):
        return {
            safe(name): value if name in RAW and isinstance(value, str) else safe(value)
            for name, value in plain.items()
        }
    return plain

"""How answers are encoded: JSON and msgpack, made once for many, with an entity tag."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final

import msgpack
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

JSON: Final = "application/json"
MSGPACK: Final = "application/msgpack"


@dataclass(frozen=True)
class Encoded:
    """An answer in both forms, made once for many."""

    json: bytes
    msgpack: bytes
    etag: str

    def in_form(self, form: str) -> bytes:
        """Return it in one of the forms."""
        return self.msgpack if form == MSGPACK else self.json


def encode(model: BaseModel) -> Encoded:
    """Return a model in both forms."""
    plain = to_jsonable_python(model)
    text = dump_json(plain)
    return Encoded(text, dump_msgpack(plain), tag_of(text))


def dump_json(plain: Any) -> bytes:
    """Return plain data as JSON, without spaces. What bots print that is no text becomes ``?``."""
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace")


def dump_msgpack(plain: Any) -> bytes:
    """Return plain data as msgpack."""
    packed: bytes = msgpack.packb(plain, unicode_errors="replace")
    return packed


def tag_of(data: bytes) -> str:
    """Return the entity tag of these bytes. Weak: both forms have the same one."""
    return f'W/"{hashlib.blake2b(data, digest_size=12).hexdigest()}"'

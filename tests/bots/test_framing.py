"""Frames: what goes in comes out, and what is no frame is told in words."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_bots.framing import (
    LENGTH,
    MOST_FROM_BOT,
    PREFIX,
    ProtocolError,
    frame,
    framed,
    pack,
    payload_length,
    unpack,
)

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=20,
)


def refusal(read: Callable[[], object]) -> ProtocolError | None:
    """Return why something cannot be read; any other exception than that fails the test."""
    try:
        read()
    except ProtocolError as error:
        return error
    return None


def code_of(start: bytes, most: int = MOST_FROM_BOT) -> str:
    with pytest.raises(ProtocolError) as caught:
        payload_length(start, most)
    return caught.value.code


@given(st.dictionaries(st.text(max_size=8), PLAIN, max_size=5))
def test_a_frame_is_its_length_and_its_message(message: dict[str, object]) -> None:
    data = frame(message)
    assert data == framed(pack(message))
    assert payload_length(data, len(data)) == len(data) - PREFIX
    assert unpack(data[PREFIX:]) == message


def test_the_length_is_four_bytes_big_endian() -> None:
    assert framed(b"x" * 258) == b"\x00\x00\x01\x02" + b"x" * 258


@pytest.mark.parametrize("length", [1, MOST_FROM_BOT])
def test_lengths_up_to_the_limit_are_taken(length: int) -> None:
    assert payload_length(LENGTH.pack(length), MOST_FROM_BOT) == length


@pytest.mark.parametrize(
    ("start", "code"),
    [
        (LENGTH.pack(0), "empty-frame"),
        (LENGTH.pack(MOST_FROM_BOT + 1), "oversize"),
        (b"\xff\xff\xff\xff", "oversize"),
        (b'{"ty', "json"),
        (b"[1, ", "json"),
        (b"Star", "text-on-stdout"),
        (b"1 2\n", "text-on-stdout"),
        (b"\x83\xa4ty", "no-length-prefix"),
        (b"\xde\x00\x03\xa4", "no-length-prefix"),
        (b"\x1b\x00\x00\x00", "little-endian"),
    ],
)
def test_what_is_no_length_is_recognised(start: bytes, code: str) -> None:
    assert code_of(start) == code


@given(st.binary(min_size=PREFIX, max_size=PREFIX))
def test_any_first_bytes_are_a_length_or_an_error(start: bytes) -> None:
    error = refusal(lambda: payload_length(start, MOST_FROM_BOT))
    if error is None:
        assert 0 < int.from_bytes(start, "big") <= MOST_FROM_BOT
    else:
        assert str(error).isprintable()
        assert re.fullmatch(r"[a-z-]+", error.code)


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"\x01\x02", "trailing-bytes"),
        (b"\xc1", "not-msgpack"),
        (b"\x83\xa4type", "not-msgpack"),  # cut off
        (b"\x91" * 4000, "not-msgpack"),  # nested too deeply
        (b"\xdd\xff\xff\xff\xff", "not-msgpack"),  # four thousand million items announced
        (b"\xdc\x00\x41" + b"\x00" * 65, "not-msgpack"),  # more items than any message has
        (msgpack.packb(msgpack.ExtType(5, b"x")), "not-msgpack"),
        (b"\xa2\xff\xfe", "not-msgpack"),  # no UTF-8
        (b"\x81\xc0\x01", "not-msgpack"),  # a name that is no text
    ],
)
def test_what_is_no_message_is_refused(payload: bytes, code: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        unpack(payload)
    assert caught.value.code == code


@given(st.binary(min_size=1, max_size=200))
def test_any_bytes_unpack_or_raise_a_protocol_error(payload: bytes) -> None:
    error = refusal(lambda: unpack(payload))
    assert error is None or error.code in ("not-msgpack", "trailing-bytes")
    assert "\n" not in str(error)

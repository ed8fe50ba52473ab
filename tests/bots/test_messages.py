"""The checks of what a bot sends: everything but the two messages is refused, with a reason."""

from __future__ import annotations

import itertools
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keltis_bots.framing import MOST_FROM_BOT, ProtocolError, pack
from keltis_bots.messages import LONGEST_NAME, Hello, read_action, read_hello
from tests.bots.test_framing import refusal

HELLO: dict[str, Any] = {"type": "hello", "protocol": 1}
ACTION: dict[str, Any] = {"type": "action", "id": 7, "action": 3}
ANY_VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=70)
    | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


def hello_error(payload: bytes) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        read_hello(payload)
    return caught.value


def action_error(payload: bytes) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        read_action(payload, 7)
    return caught.value


def test_a_hello_may_have_a_name_and_a_version() -> None:
    assert read_hello(pack(HELLO)) == Hello("", "")
    assert read_hello(pack({**HELLO, "name": "zorro", "version": "2"})) == Hello("zorro", "2")
    assert read_hello(pack({**HELLO, "name": "é" * LONGEST_NAME})).name == "é" * LONGEST_NAME


def test_an_action_is_returned_legal_or_not() -> None:
    assert read_action(pack(ACTION), 7) == 3
    assert read_action(pack({**ACTION, "action": -5}), 7) == -5
    assert read_action(pack({**ACTION, "action": 2**64 - 1}), 7) == 2**64 - 1


@given(
    id=st.integers(1, 2**33),
    action=st.integers(-40, 300) | st.integers(2**16 - 3, 2**16 + 3) | st.integers(0, 2**64 - 1),
)
def test_an_answer_means_the_same_in_every_order_of_its_fields(id: int, action: int) -> None:
    fields = {"type": "action", "id": id, "action": action}
    for order in itertools.permutations(fields):  # the first one is read without decoding it
        assert read_action(pack({name: fields[name] for name in order}), id) == action


@given(st.binary(max_size=12))
def test_no_number_behind_the_usual_start_is_read_wrongly(rest: bytes) -> None:
    payload = pack(ACTION)[:-1] + rest
    try:
        action = msgpack.unpackb(payload)["action"]
    except ValueError:
        action = None
    if type(action) is int:
        assert read_action(payload, 7) == action
    else:
        assert action_error(payload).code in ("not-msgpack", "trailing-bytes", "bad-field")


@pytest.mark.parametrize(
    ("message", "code", "says"),
    [
        ([1], "not-a-map", "the message is a list"),
        (None, "not-a-map", "NoneType"),
        ({}, "missing-field", "'type'"),
        ({"type": "action", "id": 1, "action": 1}, "wrong-type", "expected 'hello'"),
        ({"type": "hello"}, "missing-field", "'protocol'"),
        ({**HELLO, "protocol": "1"}, "bad-field", "a whole number"),
        ({**HELLO, "protocol": True}, "bad-field", "is True"),
        ({**HELLO, "protocol": 1.0}, "bad-field", "is 1.0"),
        ({**HELLO, "protocol": 2}, "wrong-protocol", "speaks protocol 2, this server speaks 1"),
        ({**HELLO, "author": "me"}, "unknown-field", "'author'"),
        ({**HELLO, "name": 5}, "bad-field", "'name' is 5"),
        ({**HELLO, "name": None}, "bad-field", "'name' is None"),
        ({**HELLO, "name": "x" * (LONGEST_NAME + 1)}, "bad-field", "at most 64"),
        ({**HELLO, "version": "\x1b[31m"}, "bad-field", "printable"),
    ],
)
def test_a_wrong_hello_is_refused(message: object, code: str, says: str) -> None:
    error = hello_error(pack(message))
    assert error.code == code
    assert says in str(error)


@pytest.mark.parametrize(
    ("message", "code", "says"),
    [
        (7, "not-a-map", "int"),
        ({"id": 7, "action": 3}, "missing-field", "'type'"),
        ({"type": "hello", "protocol": 1}, "wrong-type", "'hello' came; expected 'action'"),
        ({"type": ["action"], "id": 7, "action": 3}, "wrong-type", "type a list of 1"),
        ({"type": "action", "action": 3}, "missing-field", "'id'"),
        ({"type": "action", "id": 7}, "missing-field", "'action'"),
        ({**ACTION, "id": 8}, "wrong-id", "to request 8; the open request is 7"),
        ({**ACTION, "id": 0}, "wrong-id", "to request 0; the open request is 7"),
        ({**ACTION, "id": 6}, "extra-reply", "request 6 had been answered"),
        ({**ACTION, "id": "7"}, "bad-field", "'id'"),
        ({**ACTION, "action": "lay R3"}, "bad-field", "'lay R3'"),
        ({**ACTION, "action": False}, "bad-field", "is False"),
        ({**ACTION, "action": float("nan")}, "bad-field", "is nan"),
        ({**ACTION, "comment": "good"}, "unknown-field", "'comment'"),
        ({**ACTION, "x" * 500: 1}, "unknown-field", "xxx..."),
    ],
)
def test_a_wrong_action_is_refused(message: object, code: str, says: str) -> None:
    error = action_error(pack(message))
    assert error.code == code
    assert says in str(error)
    assert len(str(error)) < 250


@pytest.mark.parametrize("header", [b"\x84", b"\xde\x00\x04", b"\xdf\x00\x00\x00\x04"])
def test_a_field_that_is_there_twice_is_refused(header: bytes) -> None:
    payload = header + pack(ACTION)[1:] + pack("action") + pack(4)
    assert action_error(payload).code == "duplicate-field"


def test_a_map_with_a_long_header_is_a_map() -> None:
    for header in (b"\xde\x00\x03", b"\xdf\x00\x00\x00\x03"):
        assert read_action(header + pack(ACTION)[1:], 7) == 3


@given(st.binary(min_size=1, max_size=MOST_FROM_BOT))
def test_any_bytes_are_an_action_or_a_protocol_error(payload: bytes) -> None:
    for error in (refusal(lambda: read_hello(payload)), refusal(lambda: read_action(payload, 7))):
        assert error is None or len(str(error)) < 500


@given(st.dictionaries(st.sampled_from(["type", "id", "action", "protocol", "name"]), ANY_VALUE))
def test_any_map_is_an_action_or_a_protocol_error(message: dict[str, object]) -> None:
    message.setdefault("type", "action")
    error = refusal(lambda: read_action(msgpack.packb(message), 7))
    if error is None:
        assert message["type"] == "action"
        assert message["id"] == 7
        assert type(message["action"]) is int
    else:
        assert len(str(error)) < 500

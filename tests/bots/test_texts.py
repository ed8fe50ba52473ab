"""What programs print is shown as text, and does nothing to what is around it."""

from __future__ import annotations

import unicodedata

import pytest

from keltis_bots.texts import check_text, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("one\n\ttwo\n", "one\n\ttwo\n"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("10 %\r20 %\n", "10 %\\r20 %\n"),
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("\x9b31mred", "\\x9b31mred"),
        ("abc\u202egpj.exe\u2066", "abc\\u202egpj.exe\\u2066"),
        ("a\u200bb\ufeff\U000e0041", "a\\u200bb\\ufeff\\U000e0041"),
        ("\0\ud800", "\\x00\\ud800"),
        ("line\u2028line\x0bline\x0c", "line\\u2028line\\x0bline\\x0c"),
        (
            "gr\u00fc\u00dfe, \u4f60\u597d, \U0001f600 \\x1b",
            "gr\u00fc\u00dfe, \u4f60\u597d, \U0001f600 \\x1b",
        ),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


def test_nothing_that_people_may_not_write_is_left_of_what_programs_print() -> None:
    everything = "".join(map(chr, range(0x110000)))
    for line in printable(everything).replace("\t", " ").split("\n"):
        check_text(line)
        assert not [char for char in line if unicodedata.category(char)[0] == "C"]

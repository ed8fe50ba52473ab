"""The types that the scripts of the pages are checked with."""

from __future__ import annotations

from keltis_server.web.render.assets import DIRECTORY
from tests.server.web.support.wire_types import FILE, wire_types


def test_the_types_of_what_the_api_sends_are_those_of_its_models() -> None:
    assert FILE.read_text(encoding="utf-8") == wire_types(), "make wire-types writes them anew"


def test_every_script_asks_for_its_types_to_be_checked() -> None:
    scripts = sorted(DIRECTORY.rglob("*.js"))
    assert scripts
    for script in scripts:
        assert script.read_text(encoding="utf-8").startswith("// @ts-check\n"), script

"""What strangers send us, and the code that reads it: one function for each kind of bytes.

A function returns, whatever the bytes are. What its readers raise for bad bytes is caught here, and
anything else that comes out is a bug. ``bench/fuzz.py`` looks for such bytes for as long as one
likes; those that were ever of interest are kept in ``corpus/``, and are tried with every run of the
tests.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from keltis_bots.framing import MOST_FROM_BOT, PREFIX, ProtocolError, payload_length
from keltis_bots.manifest import FILE_NAME, BadManifest, read_manifest
from keltis_bots.messages import read_action, read_hello, unasked
from keltis_engine import VARIANTS, EngineError, Ruleset, find_variant
from keltis_engine.records.replay import play_again, read_replay
from keltis_ladder.files.sizes import MIB
from keltis_ladder.files.trees import Bounds
from keltis_ladder.programs.unpacking.unpack import BadArchive, unpack
from keltis_server.api import PARTS
from keltis_server.http.endpoints import check
from keltis_server.http.problems import Problem
from tests.places import ROOT

CORPUS: Final = ROOT / "tests/fuzz/corpus"
SMALL: Final = Bounds(files=200, size=4 * MIB)
PATIENCE_SECONDS: Final = 20.0
Target = Callable[[bytes], None]


def archive(data: bytes) -> None:
    """Unpack an upload: within its bounds, and nowhere else than where it belongs."""
    with tempfile.TemporaryDirectory(prefix="keltis-fuzz-") as name:
        place = Path(name)
        (place / "sent").write_bytes(data)
        into = place / "files" / "in"
        with contextlib.suppress(BadArchive):
            unpack(place / "sent", into, SMALL, PATIENCE_SECONDS)
        assert {path.name for path in place.iterdir()} <= {"sent", "files"}
        found = [path for path in into.rglob("*") if path.is_file() and not path.is_symlink()]
        assert sum(path.stat().st_size for path in found) <= SMALL.size
        for path in found:
            path.chmod(0o600)


def manifest(data: bytes) -> None:
    """Read a bot.toml."""
    with tempfile.TemporaryDirectory(prefix="keltis-fuzz-") as name:
        Path(name, FILE_NAME).write_bytes(data)
        try:
            read = read_manifest(Path(name))
        except BadManifest:
            return
        assert read.run
        assert set(read.variants) <= set(VARIANTS)


def frame(data: bytes) -> None:
    """Read what a bot writes, asked or not."""
    for read in (read_hello, _read_first_action, _read_length):
        with contextlib.suppress(ProtocolError):
            read(data)
    assert unasked(data, 0).code


def _read_first_action(data: bytes) -> None:
    read_action(data, 1)


def _read_length(data: bytes) -> None:
    if len(data) >= PREFIX:
        assert 0 < payload_length(data, MOST_FROM_BOT) <= MOST_FROM_BOT


def replay(data: bytes) -> None:
    """Read a replay, and play it again."""
    with contextlib.suppress(EngineError):
        play_again(read_replay(data.decode("utf-8", "replace")))


def notation(data: bytes) -> None:
    """Read a decision as people write it; what is understood is written in one way only."""
    text = data.decode("utf-8", "replace")
    for rules in _all_rules():
        try:
            action = rules.parse(text)
        except EngineError:
            continue
        assert rules.parse(rules.format(action)) == action


@cache
def _all_rules() -> tuple[Ruleset, ...]:
    return tuple(find_variant(variant, {}) for variant in VARIANTS)


def body(data: bytes) -> None:
    """Check the body of a request against every model that the API has for one."""
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError):
        return
    for model in _models():
        with contextlib.suppress(Problem):
            check("body", model, plain)


@cache
def _models() -> tuple[type[BaseModel], ...]:
    found = [endpoint.models.get("body") for part in PARTS for endpoint in part.all]
    return tuple(dict.fromkeys(model for model in found if model is not None))


TARGETS: Final[dict[str, Target]] = {
    "archive": archive,
    "manifest": manifest,
    "frame": frame,
    "replay": replay,
    "notation": notation,
    "body": body,
}

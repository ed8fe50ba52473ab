"""Write the beginning of each corpus anew: ``python -m tests.fuzz.seeds``. What was found stays."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma

from keltis_bots.framing import frame, pack
from keltis_bots.messages import hello
from tests.fuzz.targets import CORPUS
from tests.server.support.archives import MANIFEST, tarred, zipped


def seeds() -> dict[str, dict[str, bytes]]:
    """Return the files by target and name."""
    plain = tarred()
    return {
        "archive": {
            "zip": zipped(),
            "tar": plain,
            "tar-gz": gzip.compress(plain, mtime=0),
            "tar-bz2": bz2.compress(plain),
            "tar-xz": lzma.compress(plain),
        },
        "manifest": {
            "small": MANIFEST,
            "digits": MANIFEST + b"players = [" + b"9" * 5000 + b"]\n",
            "direction": MANIFEST + 'description = "\u202edog"\n'.encode(),
            "whole": MANIFEST
            + b'build = ["make"]\nvariants = ["keltis"]\nplayers = [2, 3]\ndescription = "d"\n',
        },
        "frame": {
            "hello": frame(hello("server", 5000, "cpu")),
            "hello-of-bot": pack({"type": "hello", "protocol": 1, "name": "n", "version": "1"}),
            "action": pack({"type": "action", "id": 1, "action": 300}),
            "json": b'{"type":"action"}',
        },
        "replay": {"keltis": _replay()},
        "notation": {"lay": b"lay R9", "draw": b"draw", "take": b"take Y"},
        "body": {
            "register": json.dumps({"name": "ada"}).encode(),
            "challenge": json.dumps({"bot": "mine", "opponents": ["random"]}).encode(),
            "nested": b"[" * 50 + b"]" * 50,
        },
    }


def _replay() -> bytes:
    from keltis_engine import find_variant
    from keltis_engine.records.replay import make_replay

    rules = find_variant("keltis", {"turn_limit": 6})
    state, actions = rules.deal(2, 1), []
    while legal := state.legal_actions():
        actions.append(legal[0])
        state.apply(legal[0])
    return json.dumps(make_replay(rules, 2, 1, actions)).encode()


def main() -> None:
    for target, files in seeds().items():
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (CORPUS / target / name).write_bytes(data)


if __name__ == "__main__":
    main()

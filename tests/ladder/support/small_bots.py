"""Small bots that tests write to disk, with a token to find their processes by."""

import json
import sys
import textwrap
from pathlib import Path

from keltis_ladder.match.entrants import Entrant

FIRST = "return request.legal[0]"


def write_bot(
    directory: Path, choose: str = FIRST, before: str = "", token: str = "", **fields: object
) -> Path:
    """Write a bot that decides by ``choose``; ``before`` runs first, outside of the function."""
    directory.mkdir(parents=True, exist_ok=True)
    manifest = {"name": directory.name, "run": [sys.executable, "bot.py", token or "-"], **fields}
    lines = [f"{name} = {json.dumps(value)}\n" for name, value in manifest.items()]
    (directory / "bot.toml").write_text("".join(lines))
    (directory / "bot.py").write_text(
        "import os, sys, time\n"
        "from keltis_bots import run\n"
        f"{textwrap.dedent(before)}\n"
        "asked = 0\n"
        "def choose(request):\n"
        "    global asked\n"
        "    asked += 1\n"
        f"{textwrap.indent(textwrap.dedent(choose), '    ')}\n"
        "run(choose)\n"
    )
    return directory


def entrant(directory: Path, token: str = "-") -> Entrant:
    """Return a bot as it is, without staging."""
    command = (sys.executable, "bot.py", token)
    return Entrant(directory.name, str(directory), command, directory)

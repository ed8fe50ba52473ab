"""Run a reference bot: ``python -m keltis_bots greedy``."""

from __future__ import annotations

import sys

from keltis_bots.reference import REFERENCE
from keltis_bots.sdk import run


def main(arguments: list[str]) -> int:
    """Run the bot that the only argument names; return the exit status."""
    if len(arguments) != 1 or arguments[0] not in REFERENCE:
        given = f"there is no reference bot {' '.join(arguments)!r}" if arguments else "which bot?"
        print(f"{given}: choose one of {', '.join(REFERENCE)}", file=sys.stderr)
        return 2
    run(REFERENCE[arguments[0]]())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

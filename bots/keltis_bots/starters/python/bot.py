"""my-python-bot: lays cards that skip few numbers.

``choose`` is called for every decision. Print as much as you like: it goes to the log.
"""

from __future__ import annotations

from typing import Any

from keltis_bots import Request, run

# What a decision is worth that neither lays nor discards a card; all others are worth nothing.
WORTH = {
    "pair": 90,
    "move": 60,
    "clover": 60,
    "done": 31,
    "reveal": 25,
    "leave": 18,
    "draw": 10,
    "keep": 5,
}
LAYS = ("lay", "add", "take", "last")


class MyBot:
    """Judges every legal action by itself and takes the best one."""

    name = "my-python-bot"
    version = "1"

    def choose(self, request: Request) -> int:
        """Return one of ``request.legal``. Change this."""
        worths = [worth(text, request.view, request.seat) for text in request.notation]
        return request.legal[worths.index(max(worths))]


def worth(text: str, view: dict[str, Any], seat: int) -> int:
    """Say what an action is worth, by its notation."""
    words = text.split()
    if words == ["keep"] and view["phase"] == "revealed":
        words = ["take", view["revealed"]]
    verb, card = words[0], words[1] if len(words) > 1 else ""
    if len(card) < 2 or verb not in (*LAYS, "discard"):
        # Figures that are on their way move before those at the start.
        return WORTH.get(verb, 0) - (5 if card.startswith("start") else 0)
    colour = words[-1][0]  # of the row: "lay R7", "lay P7 on R"
    skips = 3 if colour == "P" else skipped(view["rows"][seat][colour], card)
    return 10 + skips if verb == "discard" else 50 - 5 * skips


def skipped(row: list[str], card: str) -> int:
    """Return how many numbers a card skips in a row; the first card of a row costs 4 more."""
    is_end = card.endswith("E")
    if row and row[-1].endswith("E"):
        return 0 if is_end else 9
    if is_end:
        return 0 if len(row) >= 4 else 9
    value = int(card[1:])
    if not row:
        return 4 + min(value, 10 - value)
    return abs(value - int(row[-1][1:]))


if __name__ == "__main__":
    run(MyBot())

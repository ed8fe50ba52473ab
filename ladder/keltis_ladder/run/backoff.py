"""How long to wait before something that fails again and again is tried once more."""

from __future__ import annotations

from typing import Final

FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 300.0


class Backoff:
    """Counts failures in a row; each one doubles the pause, up to a limit."""

    def __init__(self, longest: float = LONGEST_PAUSE_SECONDS) -> None:
        self.longest = longest
        self.failures = 0

    def failed(self) -> float:
        """Note a failure; return for how many seconds to wait."""
        self.failures += 1
        # No power beyond the limit: it would be a number that no float can be.
        return min(self.longest, FIRST_PAUSE_SECONDS * 2.0 ** min(self.failures - 1, 30))

    def succeeded(self) -> None:
        """Note that all is well again."""
        self.failures = 0

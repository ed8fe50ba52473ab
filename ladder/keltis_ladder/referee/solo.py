"""One bot alone at a table: it is told and asked as in a match, the others' decisions are given.

Crash cards are reproduced with it, and bots are checked.
"""

from __future__ import annotations

from keltis_engine import Ruleset
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.entrants import Entrant
from keltis_ladder.match.faults import BotFault, Kind, PlatformFault
from keltis_ladder.referee.bot_process import BotProcess
from keltis_ladder.referee.charging import Effort
from keltis_ladder.referee.messages import GameMessages
from keltis_ladder.referee.referee import Launcher
from keltis_ladder.sandbox.child import CannotStart
from keltis_ladder.sandbox.limits import PLAY, Limits
from keltis_ladder.spectate.vocabulary import Vocabulary


def start(launcher: Launcher, entrant: Entrant, limits: Limits = PLAY) -> BotProcess:
    """Start a bot; it has not been greeted yet."""
    try:
        return BotProcess(launcher.start(entrant, limits), limits)
    except CannotStart as error:
        if error.of_platform:
            raise PlatformFault(str(error)) from None
        raise BotFault(Kind.CRASH, "cannot-start", str(error)) from None


class Solo:
    """One game of one bot."""

    def __init__(
        self,
        process: BotProcess,
        ruleset: Ruleset,
        players: int,
        seat: int,
        seed: int,
        control: TimeControl,
    ) -> None:
        self.process = process
        self.ruleset = ruleset
        self.seat = seat
        self.state = ruleset.deal(players, seed)
        words = Vocabulary(ruleset)
        self.messages = GameMessages(ruleset, players, control.bank_ms, control.increment_ms, words)
        process.games += 1
        process.tell(self.messages.game(seat))

    def is_asked(self) -> bool:
        """Return whether the bot has to decide: forced decisions are not asked for."""
        state = self.state
        return not state.over and int(state.seat) == self.seat and len(state.legal_actions()) > 1

    def ask(self, left_ms: int, seconds: float) -> tuple[int, Effort]:
        """Return what the bot decides, legal or not; then it is stopped, as in a match."""
        process = self.process
        process.requests += 1
        legal = self.state.legal_actions()
        request = self.messages.request(self.state, self.seat, legal, process.requests, left_ms)
        answer = process.ask(request, process.requests, seconds, _nobody_else)
        process.pause()
        return answer

    def apply(self, action: int) -> None:
        """Carry out a decision of anybody."""
        self.messages.note(self.state, action)
        self.state.apply(action)

    def end(self) -> bytes:
        """Return the message that the game is over."""
        scores = self.state.scores()
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        return self.messages.end(self.seat, str(self.state.ending), scores, ranks)


def _nobody_else() -> None:
    """Stop the other bots, of which there are none."""

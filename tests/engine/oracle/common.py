"""What the four oracles share: turns, the comparison of each decision, hands, piles and rows."""

from abc import ABC, abstractmethod
from typing import Any

COLOURS = ["R", "Y", "V", "G", "B"]
HAND_SIZE = 8
REMOVED_WITH_TWO_PLAYERS = 30


class OracleMismatch(AssertionError):
    """The replay and the oracle disagree."""

    def __init__(self, number: int, what: str, oracle: object, replay: object) -> None:
        where = f"decision {number}" if number else "set-up or end"
        super().__init__(f"{where}: {what}: the oracle has {oracle!r}, the replay has {replay!r}")
        self.number = number
        self.what = what
        self.oracle = oracle
        self.replay = replay


def fits(row: list[int], value: int) -> bool:
    """Whether a value may follow in a colour row."""
    for earlier in row:
        if earlier > row[0]:
            return value >= row[-1]
        if earlier < row[0]:
            return value <= row[-1]
    return True


def look_up(table: list[int], number: int) -> int:
    """A scoring table whose last entry also stands for all higher numbers."""
    return table[number] if number < len(table) else table[-1]


def value_of(card: str) -> int:
    return int(card[1:])


class Game(ABC):
    """A game in progress: whose turn it is, and what the replay must say about it."""

    def __init__(self, replay: dict[str, Any]) -> None:
        self.number = 0  # of the decision being checked; 0 before the first and after the last
        self.players: int = replay["players"]
        self.options: dict[str, int] = replay["options"]
        self.setup: dict[str, Any] = replay["setup"]
        self.seats = list(range(self.players))
        self.seat = 0
        self.turn = 1
        self.phase = "turn"
        self.ending = ""
        self.phases_seen: set[str] = set()
        self.decisions_seen: set[str] = set()  # the first word of each

    # What each game says for itself.

    @abstractmethod
    def legal(self) -> list[str]:
        """Every decision that the seat to act may take now."""

    @abstractmethod
    def carry_out(self, words: list[str], card: str) -> None:
        """Do what was decided; the card is what was drawn, taken or revealed."""

    def outcome_name(self, words: list[str]) -> str:
        """Under which name the replay must record a card that this decision brings, if any."""
        return {"draw": "drawn", "take": "taken", "reveal": "revealed"}.get(words[0], "")

    @abstractmethod
    def breakdown(self, seat: int) -> dict[str, int]:
        """The parts of a seat's total."""

    # What is the same for all.

    def expect(self, what: str, oracle: object, replay: object) -> None:
        if oracle != replay:
            raise OracleMismatch(self.number, what, oracle, replay)

    def step(self, record: dict[str, Any]) -> None:
        """Compare one decision of the replay with the rules, then carry it out."""
        self.expect("phase", self.phase, record["phase"])
        self.expect("seat to act", self.seat, record["seat"])
        self.expect("turn", self.turn, record["turn"])
        self.expect("legal decisions", sorted(set(self.legal())), sorted(record["legal"]))
        text = record["decision"]
        if text not in self.legal():
            raise OracleMismatch(self.number, "decision", self.legal(), text)
        words = text.split()
        outcome = self.outcome_name(words)
        fields = {"phase", "seat", "turn", "legal", "decision"} | ({outcome} if outcome else set())
        self.expect("fields", sorted(fields), sorted(record))
        self.phases_seen.add(self.phase)
        self.decisions_seen.add(words[0])
        self.carry_out(words, record[outcome] if outcome else "")

    def check_end(self, replay: dict[str, Any]) -> None:
        """Compare the result; the scores also hold for a game that was broken off."""
        over = self.phase == "over"
        breakdowns = [self.breakdown(seat) for seat in self.seats]
        scores = [sum(parts.values()) for parts in breakdowns]
        self.expect("over", over, replay["over"])
        self.expect("ending", self.ending or None, replay["ending"])
        self.expect("breakdown", breakdowns, replay["breakdown"])
        self.expect("scores", scores, replay["scores"])
        if over:
            winners = [seat for seat in self.seats if scores[seat] == max(scores)]
            self.expect("winners", winners, replay["winners"])

    def at_limit(self) -> bool:
        return self.turn == self.options["turn_limit"]

    def end_turn(self, next_seat: int) -> None:
        if self.at_limit():
            self.end("turn limit")
            return
        self.turn += 1
        self.seat = next_seat
        self.phase = "turn"

    def end(self, how: str) -> None:
        self.ending = how
        self.phase = "over"

    def left_of(self, seat: int) -> int:
        return (seat + 1) % self.players


class CardGame(Game):
    """A game with hands, a draw pile and discard piles."""

    def __init__(self, replay: dict[str, Any], deck: list[str], pile_names: list[str]) -> None:
        super().__init__(replay)
        self.hands: list[list[str]] = [list(hand) for hand in self.setup["hands"]]
        removed: list[str] = self.setup["removed"]
        self.unseen = list(deck)  # what the draw pile holds, in an order that nobody knows
        for card in [card for hand in self.hands for card in hand] + removed:
            self.remove_from(self.unseen, card, "cards left to deal")
        self.expect("hand sizes", [HAND_SIZE] * self.players, [len(hand) for hand in self.hands])
        self.expect(
            "cards that left the game",
            REMOVED_WITH_TWO_PLAYERS if self.players == 2 else 0,
            len(removed),
        )
        self.expect("size of the draw pile", len(self.unseen), self.setup["draw_pile_size"])
        self.piles: dict[str, list[str]] = {name: [] for name in pile_names}
        self.closed: set[str] = set()  # the piles that received a card this turn

    def remove_from(self, cards: list[str], card: str, what: str) -> None:
        if card not in cards:
            raise OracleMismatch(self.number, what, sorted(cards), card)
        cards.remove(card)

    def play_from_hand(self, card: str) -> None:
        self.remove_from(self.hands[self.seat], card, "hand")

    def put_on_pile(self, card: str) -> None:
        self.piles[card[0]].append(card)
        self.closed.add(card[0])

    def draw_choices(self) -> list[str]:
        choices = ["draw"]
        for name, pile in self.piles.items():
            if pile and name not in self.closed:
                choices.append(f"take {name}")
        return choices

    def draw_or_take(self, words: list[str], card: str) -> None:
        if words[0] == "draw":
            self.remove_from(self.unseen, card, "cards that may be drawn")
        else:
            self.expect("top of the pile", self.piles[words[1]][-1], card)
            self.piles[words[1]].pop()
        self.hands[self.seat].append(card)

    def end_turn(self, next_seat: int) -> None:
        self.closed = set()
        super().end_turn(next_seat)

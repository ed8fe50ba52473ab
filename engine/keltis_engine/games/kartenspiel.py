"""Das Kartenspiel: rows of cards alone, with end cards, points cards and wish stones for pairs."""

from __future__ import annotations

from typing import Final, final

from librt.strings import BytesWriter
from librt.vecs import vec
from mypy_extensions import i16, i64, mypyc_attr, u8

from keltis_engine.bits import BIT, count_of, index_of, spread
from keltis_engine.cards.hands import held, held_points, held_twice, lose
from keltis_engine.cards.kinds import COLOURS, LETTERS
from keltis_engine.cards.stacks import cards_of, height, push, top
from keltis_engine.games.kartenspiel_cards import (
    CARD_NAMES,
    COLOUR_NAMES,
    DECK,
    END,
    END_CARDS,
    NUMBER_ROWS,
    OF_VALUE,
    ONE_COLOUR,
    PAIR_FIRST,
    PAIR_NUMBER,
    PAIR_SECOND,
    PAIR_VALUE,
    PAIRS,
    PILE_LETTERS,
    PILES,
    POINTS,
    POINTS_NAMES,
    POINTS_PILE,
    POINTS_ROW,
    WIDTH,
    WISH_VALUES,
    accepts_after,
    card_of,
)
from keltis_engine.games.kartenspiel_view import view_of, write_view_of
from keltis_engine.rng import DealStream, Rng
from keltis_engine.state.state import (
    END_CARDS_LAID,
    ENDINGS,
    LAST_CARD,
    LIMIT_REACHED,
    OVER,
    Game,
    State,
)
from keltis_engine.state.verbs import NO_CARD, OPEN_CARD, OPEN_TIME, OWN_CARD, OWN_TIME, Verb
from keltis_engine.state.views import View
from keltis_engine.table.card_table import CardTable, deal_cards
from keltis_engine.table.scoring import by_count

ID: Final = "kartenspiel"
VERSION: Final = 1

ROW_SCORES: Final = vec[i64]([0, -4, -3, -2, 1, 2, 3, 6, 7, 10])
WISH_SCORES: Final = vec[i64]([-4, -1, 0, 4, 6, 10])
ENDED_ROWS: Final = 5  # so many rows with an end card end the game
FINAL_CARDS: Final = 2  # so many cards may each player lay after the end

# Phases.
TURN: Final = 1
DRAW: Final = 2
FINAL: Final = 3
PHASES: Final = ["over", "turn", "draw", "final"]

# Action ids.
LAY: Final = 0  # + colour card
LAY_POINTS: Final = 60  # + value, into the points row
LAY_ON: Final = 71  # + value * 5 + colour: a points card into a colour row
DISCARD: Final = 126  # + colour card
DISCARD_POINTS: Final = 186  # + value
PAIR: Final = 197  # + pair
DRAW_CARD: Final = 357
TAKE: Final = 358  # + pile
ADD: Final = 364  # the three ways to lay a card, again, for the final cards
DONE: Final = 490
_LAYING: Final = (
    COLOUR_NAMES
    + POINTS_NAMES
    + [f"{points} on {letter}" for points in POINTS_NAMES for letter in LETTERS]
)
NOTATION: Final[list[str]] = (
    [f"lay {name}" for name in _LAYING]
    + [f"discard {name}" for name in COLOUR_NAMES + POINTS_NAMES]
    + [
        f"pair {CARD_NAMES[card_of(first, value)]} {CARD_NAMES[card_of(second, value)]}"
        for value, first, second in PAIRS
    ]
    + ["draw"]
    + [f"take {letter}" for letter in PILE_LETTERS]
    + [f"add {name}" for name in _LAYING]
    + ["done"]
)

# What others may know of each decision. The caretaker prefers the first of these that is legal.
# A seat that can lay no final card is not asked: that it took no time would tell others about its
# hand.
VERBS: Final[list[Verb]] = [
    Verb("done", NO_CARD, OWN_TIME),
    Verb("discard", NO_CARD, OPEN_TIME),
    Verb("draw", OWN_CARD, OPEN_TIME),
    Verb("lay", NO_CARD, OPEN_TIME),
    Verb("take", OPEN_CARD, OPEN_TIME),
    Verb("pair", NO_CARD, OPEN_TIME),
    Verb("add", NO_CARD, OWN_TIME),
]

NOBODY: Final = -1
BY_END_CARDS: Final = ENDINGS.index(END_CARDS_LAID)
BY_LAST_CARD: Final = ENDINGS.index(LAST_CARD)
BY_TURN_LIMIT: Final = ENDINGS.index(LIMIT_REACHED)


GAME: Final[Game] = Game(ID, VERSION, PHASES, NOTATION, VERBS)


@final
@mypyc_attr(free_list_len=1, acyclic=True)
class KartenspielState(State):
    """A game of ``kartenspiel``."""

    def __init__(
        self,
        players: i64,
        seat: i64,
        stage: i64,
        turn: i64,
        turn_limit: i64,
        end_card_opens_row: bool,
        points_on_end_card: bool,
        table: CardTable,
        wish_row: i64,
        wishes: vec[i64],
        ended_rows: i64,
        ended_by: i64,
        ended_how: i64,
        draws: i64,
        final_cards: i64,
    ) -> None:
        self.game = GAME
        self.players = players
        self.seat = seat
        self.stage = stage
        self.turn = turn
        self.turn_limit = turn_limit
        self.end_card_opens_row = end_card_opens_row
        self.points_on_end_card = points_on_end_card
        self.table = table
        self.wish_row = wish_row  # the wish stones that still lie open
        self.wishes = wishes  # by seat: the wish stones taken
        self.ended_rows = ended_rows  # rows with an end card, all seats together
        self.ended_by = ended_by  # who ended the game, once the final cards are laid
        self.ended_how = ended_how  # place in ENDINGS of what ended it
        self.draws = draws  # cards to draw this turn
        self.final_cards = final_cards  # in phase FINAL: cards that the seat may still lay

    def copy(self) -> KartenspielState:
        """Return an independent copy."""
        return KartenspielState(
            self.players,
            self.seat,
            self.stage,
            self.turn,
            self.turn_limit,
            self.end_card_opens_row,
            self.points_on_end_card,
            self.table.copy(),
            self.wish_row,
            self.wishes[:],
            self.ended_rows,
            self.ended_by,
            self.ended_how,
            self.draws,
            self.final_cards,
        )

    # What is legal

    def list_actions(self, into: vec[i16]) -> i64:
        """Write the legal actions, ascending, to the front of ``into``; return their number."""
        stage = self.stage
        if stage == TURN:
            count = self.list_layings(LAY, into)
            count = spread(held(self.table.hands, self.seat), DISCARD, into, count)
            points = held_points(self.table.hands, self.seat)
            count = spread(points, DISCARD_POINTS, into, count)
            return self.list_pairs(into, count)
        if stage == DRAW:
            return self.table.list_sources(DRAW_CARD, TAKE, into)
        if stage == FINAL:
            count = self.list_layings(ADD, into)
            into[count] = DONE
            return count + 1
        return 0

    def list_layings(self, base: i64, into: vec[i16]) -> i64:
        """Write the actions that lay a card into an own row."""
        seat = self.seat
        points = held_points(self.table.hands, seat)
        fitting = held(self.table.hands, seat) & self.table.accepts[seat]
        count = spread(fitting, base, into, 0)
        if points == 0:
            return count
        count = spread(points, base + LAY_POINTS, into, count)
        lengthening: i64 = 0
        for colour in range(i64(COLOURS)):
            value = self.points_value(seat, colour)
            if value >= 0 and points & BIT[value]:
                lengthening |= BIT[value * COLOURS + colour]
        return spread(lengthening, base + LAY_ON, into, count)

    def last_value(self, seat: i64, colour: i64) -> i64:
        """Return the value of a row's last number card, or -1 if it has none or has ended.

        A points card on top always has the value of the number card under it.
        """
        row = self.table.row(seat, colour)
        if height(self.table.stacks, row) == 0:
            return -1
        card = top(self.table.stacks, row)
        if card >= POINTS:
            return -1 if self.has_ended(seat, colour) else card - POINTS
        value = card - colour * WIDTH
        return -1 if value == END else value

    def points_value(self, seat: i64, colour: i64) -> i64:
        """Return the value of the points card that would lengthen a row, or -1 if none does.

        Ruling (option): none may follow an end card. Without it one may, until the second end card
        closes the row; its value is still that of the last number card.
        """
        value = self.last_value(seat, colour)
        if value >= 0 or not self.points_on_end_card or self.is_closed(seat, colour):
            return value
        cards = cards_of(self.table.stacks, self.table.row(seat, colour))
        for card in reversed(cards):
            if card >= POINTS:
                return card - POINTS
            if card - colour * WIDTH != END:
                return card - colour * WIDTH
        return -1

    def is_closed(self, seat: i64, colour: i64) -> bool:
        """Return whether a row has both end cards."""
        return self.table.accepts[seat] & NUMBER_ROWS.row[colour] == 0

    def list_pairs(self, into: vec[i16], count: i64) -> i64:
        """Write the actions that discard two cards of one value for an open wish stone."""
        seat = self.seat
        cards = held(self.table.hands, seat)
        twice = held_twice(self.table.hands, seat)
        points = held_points(self.table.hands, seat)
        once = points
        paired: i64 = 0
        for colour in range(i64(COLOURS)):
            shift = colour * WIDTH
            values = (cards >> shift) & ONE_COLOUR
            paired |= once & values | (twice >> shift) & ONE_COLOUR
            once |= values
        stones = self.wish_row & paired
        while stones:
            stone = stones & -stones
            stones ^= stone
            value = index_of(stone)
            same = cards & OF_VALUE[value]
            count = self.list_pairs_of(value, same, twice, points & stone, into, count)
        return count

    def list_pairs_of(
        self, value: i64, same: i64, twice: i64, points: i64, into: vec[i16], count: i64
    ) -> i64:
        """Write the pairs of one value."""
        for first in range(i64(COLOURS)):
            card = BIT[first * WIDTH + value]
            if same & card:
                at = (value * PILES + first) * PILES
                if twice & card:
                    into[count] = i16(PAIR + i64(PAIR_NUMBER[at + first]))
                    count += 1
                for second in range(first + 1, i64(COLOURS)):
                    if same & BIT[second * WIDTH + value]:
                        into[count] = i16(PAIR + i64(PAIR_NUMBER[at + second]))
                        count += 1
                if points:
                    into[count] = i16(PAIR + i64(PAIR_NUMBER[at + POINTS_PILE]))
                    count += 1
        return count

    # What happens

    def play(self, action: i64) -> None:
        """Carry out an action known to be legal. ``apply`` is the one that checks."""
        if action < DISCARD:
            self.draws = 1
            self.stage = DRAW
            self.lay(action)
            if self.ended_rows == ENDED_ROWS:
                self.end_game(BY_END_CARDS)
        elif action < PAIR:
            self.draws = 1
            self.stage = DRAW
            if action < DISCARD_POINTS:
                card = action - DISCARD
                self.table.discard(self.seat, card // WIDTH, card)
            else:
                card = POINTS + action - DISCARD_POINTS
                self.table.discard(self.seat, POINTS_PILE, card)
        elif action < DRAW_CARD:
            self.pair(action - PAIR)
        elif action < ADD:
            if action == DRAW_CARD:
                self.table.draw(self.seat)
            else:
                self.table.take(self.seat, action - TAKE)
            self.refill()
        elif action < DONE:
            self.lay(action - ADD)
            self.final_cards -= 1
            if self.final_cards == 0:
                self.next_final_cards()
        else:
            self.next_final_cards()

    def lay(self, laying: i64) -> None:
        """Lay a number or end card, or a points card, into an own row."""
        if laying >= LAY_ON:
            value = (laying - LAY_ON) // COLOURS
            row = (laying - LAY_ON) % COLOURS
            # Ruling: a points card does not change the row's direction.
            self.lay_points(value, row)
        elif laying >= LAY_POINTS:
            self.lay_points(laying - LAY_POINTS, POINTS_ROW)
        else:
            self.lay_colour_card(laying)

    def lay_points(self, value: i64, row: i64) -> None:
        """Put a points card into the points row, or at the end of a colour row."""
        lose(self.table.hands, self.seat, POINTS + value)
        push(self.table.stacks, self.table.row(self.seat, row), POINTS + value)

    def lay_colour_card(self, card: i64) -> None:
        """Put a number card or an end card at the end of its row."""
        table = self.table
        seat = self.seat
        colour = card // WIDTH
        row = table.row(seat, colour)
        if card - colour * WIDTH == END and not self.has_ended(seat, colour):
            self.ended_rows += 1
        last = self.last_value(seat, colour)
        table.accepts[seat] = accepts_after(table.accepts[seat], last, card)
        lose(table.hands, seat, card)
        push(table.stacks, row, card)

    def has_ended(self, seat: i64, colour: i64) -> bool:
        """Return whether a row has an end card."""
        values = NUMBER_ROWS.row[colour] & ~BIT[colour * WIDTH + END]
        return self.table.accepts[seat] & values == 0  # else at least its last value fits again

    def pair(self, pair: i64) -> None:
        """Discard two cards of one value and take the wish stone of that value."""
        value = i64(PAIR_VALUE[pair])
        first = i64(PAIR_FIRST[pair])
        second = i64(PAIR_SECOND[pair])
        self.table.discard(self.seat, first, first * WIDTH + value)
        if second == POINTS_PILE:
            self.table.discard(self.seat, second, POINTS + value)
        else:
            self.table.discard(self.seat, second, second * WIDTH + value)
        self.wish_row ^= BIT[value]
        self.wishes[self.seat] |= BIT[value]
        self.draws = 2
        self.stage = DRAW

    def refill(self) -> None:
        """Go on until the hand is full again.

        Ruling: if the first of two draws takes the last card, there is no second one.
        """
        if self.table.pile_size == 0:
            self.end_game(BY_LAST_CARD)
        elif self.draws > 1:
            self.draws -= 1
        elif self.turn == self.turn_limit:
            self.end_game(BY_TURN_LIMIT)
        else:
            self.turn += 1
            self.pass_on()
            self.stage = TURN

    def pass_on(self) -> None:
        """Let the next seat clockwise go on."""
        seat = self.seat + 1
        self.seat = 0 if seat == self.players else seat
        self.table.closed = 0

    def end_game(self, how: i64) -> None:
        """Begin the final cards, at the left of the player who ended the game."""
        self.ended_by = self.seat
        self.ended_how = how
        self.draws = 0
        self.stage = FINAL
        self.final_cards = FINAL_CARDS
        self.pass_on()

    def next_final_cards(self) -> None:
        """Pass the final cards on; after the player who ended the game it is over."""
        if self.seat == self.ended_by:
            self.stage = OVER
            self.final_cards = 0
        else:
            self.final_cards = FINAL_CARDS
            self.pass_on()

    @property
    def ending(self) -> str | None:
        """What ended the game, one of ``ENDINGS``; already while the final cards are laid."""
        return None if self.ended_by == NOBODY else ENDINGS[self.ended_how]

    # What it is worth

    def score(self, seat: i64) -> i64:
        """Return the seat's total as it stands."""
        return self.row_score(seat) + self.points_score(seat) + self.wish_score(seat)

    def row_score(self, seat: i64) -> i64:
        """Return the points for the lengths of the seat's colour rows."""
        total: i64 = 0
        for colour in range(i64(COLOURS)):
            total += by_count(ROW_SCORES, height(self.table.stacks, self.table.row(seat, colour)))
        return total

    def points_score(self, seat: i64) -> i64:
        """Return one point for each card in the points row."""
        return height(self.table.stacks, self.table.row(seat, POINTS_ROW))

    def wish_score(self, seat: i64) -> i64:
        """Return the points for the seat's wish stones."""
        return by_count(WISH_SCORES, count_of(self.wishes[seat]))

    def breakdown(self) -> list[dict[str, int]]:
        """Return each seat's points by component; they add up to ``scores()``."""
        return [
            {
                "rows": int(self.row_score(seat)),
                "points_row": int(self.points_score(seat)),
                "wish_stones": int(self.wish_score(seat)),
            }
            for seat in range(self.players)
        ]

    # Who may know what

    def determinize(self, seat: int, rng: Rng) -> KartenspielState:
        """Return a random complete state that agrees with everything the seat has seen."""
        state = self.copy()
        state.table.redeal(self.at_table(seat), rng)
        return state

    def room(self, seat: i64) -> i64:
        """Return how many colour cards the seat's rows still accept."""
        return count_of(self.table.accepts[seat])

    def outcome(self, action: int) -> str | None:
        """Return the card that a legal action would draw or take, if it does."""
        if DRAW_CARD <= action < ADD:
            return CARD_NAMES[int(self.table.outcome(self.seat, action - TAKE))]
        return None

    def seen_by(self, viewer: int) -> View:
        """Build the view of a seat, ``PUBLIC`` or ``EVERYTHING``."""
        return view_of(self, viewer)

    def write_view(self, out: BytesWriter, viewer: i64) -> None:
        """Write what ``seen_by`` builds."""
        write_view_of(self, out, viewer)


def deal(players: int, stream: DealStream, options: dict[str, int]) -> KartenspielState:
    """Shuffle and deal."""
    deck = vec[u8](DECK)
    stream.shuffle(deck)
    opens = options["end_card_opens_row"] != 0
    return KartenspielState(
        players=players,
        seat=0,
        stage=TURN,
        turn=1,
        turn_limit=options["turn_limit"],
        end_card_opens_row=opens,
        points_on_end_card=options.get("points_on_end_card", 0) != 0,
        table=deal_cards(deck, players, PILES, accepts_at_first(opens)),
        wish_row=sum(1 << value for value in WISH_VALUES),
        wishes=vec[i64]([0] * players),
        ended_rows=0,
        ended_by=NOBODY,
        ended_how=0,
        draws=0,
        final_cards=0,
    )


def accepts_at_first(end_card_opens_row: bool) -> int:
    """Return what empty rows accept. Ruling (option): an end card may open a row."""
    return int(NUMBER_ROWS.all) if end_card_opens_row else int(NUMBER_ROWS.all) & ~END_CARDS

"""The picture of a match: the bots, the board, the moves, and the current position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rich.text import Text

from keltis_cli.draw.boards.pieces import WIDTH, beside, spread
from keltis_cli.draw.look import FIGURE_STYLE, QUIET, SEAT_MARKS, TITLE, Look, styled
from keltis_cli.draw.strokes import cut, fitting, stroke, wins
from keltis_cli.watch.model import ALL, PUBLIC, Entrant, Facts, Game
from keltis_cli.watch.moves import ALARM, long_lines, short_lines
from keltis_cli.watch.playback import Playback
from keltis_cli.watch.screens.table_drawing import table_lines

LIST: Final = 30  # cells for a list of moves beside the board, at least
RULE: Final = ("│", "|")
GAP: Final = 3  # cells from the board to the list
LIVE: Final = "bold green"
KEYS: Final = "? keys"
SHORTEST_NOTE: Final = 12  # cells
PAUSED: Final = ("║", "=")


@dataclass
class Showing:
    """All that the screen of a match shows."""

    playback: Playback
    connected: bool = True
    note: str = ""  # on the last line, instead of the keys: what comes next
    waiting: str = "Waiting for the server."  # said while there is nothing to show

    @property
    def facts(self) -> Facts | None:
        """What match it is."""
        return self.playback.model.facts

    @property
    def game(self) -> Game | None:
        """The game that is looked at, from the perspective wished for if it is there."""
        place = self.playback
        return place.model.seen_from(place.rotation, place.ply, place.perspective)

    def names(self, game: Game) -> list[str]:
        """Return the bots by seat."""
        facts = self.facts
        return [facts.entrants[place].bot for place in game.seats] if facts else []


def match_lines(shown: Showing, width: int, height: int, look: Look, now: float) -> list[Text]:
    """Return the screen; never wider or longer than it may be."""
    facts, game = shown.facts, shown.game
    if facts is None or game is None or not game.views:
        lines = _nothing(shown, width, look)
    elif width >= WIDTH + GAP + LIST:
        lines = _wide(shown, facts, game, width, height - 1, look, now)
    else:
        lines = _narrow(shown, facts, game, width, height - 1, look, now)
    lines = lines[: height - 1]
    lines += [Text()] * (height - 1 - len(lines))
    return [fitting(line, width, look) for line in [*lines, status_line(shown, width, look)]]


def _nothing(shown: Showing, width: int, look: Look) -> list[Text]:
    """Return what there is to say before the first position is there."""
    model = shown.playback.model
    lines = [title(shown, shown.facts, width, look), Text()] if shown.facts else []
    return [*lines, Text(model.problem or shown.waiting, ALARM if model.problem else QUIET)]


def _wide(
    shown: Showing, facts: Facts, game: Game, width: int, height: int, look: Look, now: float
) -> list[Text]:
    """Put the list of moves beside the board."""
    ply = min(shown.playback.ply, game.plies)
    names = shown.names(game)
    head = [title(shown, facts, width, look), *bot_lines(shown, facts, game, look, now), Text()]
    board = table_lines(game.views[ply], names, look, height - len(head))
    beside_it = width - WIDTH - GAP
    moves = long_lines(game, ply, names, beside_it, height - 1, look)
    moves += [Text()] * (height - 1 - len(moves))
    ruled = [styled(f" {RULE[look.ascii]} ", QUIET).append_text(line) for line in moves]
    left = [*head[1:], *board]
    left += [Text()] * (height - 1 - len(left))
    return [head[0], *beside(left, ruled, WIDTH)]


def _narrow(
    shown: Showing, facts: Facts, game: Game, width: int, height: int, look: Look, now: float
) -> list[Text]:
    """Put the moves below the board: as many as there is room for, at least one."""
    ply = min(shown.playback.ply, game.plies)
    names = shown.names(game)
    view = game.views[ply]
    above = [title(shown, facts, width, look), *bot_lines(shown, facts, game, look, now)]
    strip = bot_strip(shown, facts, game, width, look, now)
    board = table_lines(view, names, look, most=height)
    for head, least in ((above, 2), ([above[0], strip], 1)):
        room = height - len(head) - len(board)
        if room >= least:
            moves = short_lines(game, ply, names, width, room, look)
            return [*head, *board, *moves]
    board = table_lines(view, names, look, most=height - 2)
    moves = short_lines(game, ply, names, width, max(1, height - 1 - len(board)), look)
    return [strip, *board[: height - 2], *moves]


def title(shown: Showing, facts: Facts | None, width: int, look: Look) -> Text:
    """Return the first line: which match, why it is played, and how it stands or ended."""
    if facts is None:
        return Text()
    dot = f" {look.mark('dot')} "
    name = f"Match {facts.number:,}" if facts.number else f"Match {facts.id[:8]}"
    left = styled(name, TITLE).append(dot).append(facts.variant)
    kind = facts.tournament or facts.purpose
    left.append(dot).append(kind if facts.rated else f"{kind}, unrated")
    reason = facts.within_tournament().reason if facts.tournament else facts.reason
    if reason and reason != kind:
        left.append(dot).append(reason, QUIET)
    right = styled(result_text(facts, look), TITLE) if shown.playback.is_last else Text()
    return spread(left, right, width) if right.plain else fitting(left, width, look)


def result_text(facts: Facts, look: Look) -> str:
    """Return who was ahead of whom, with games won and points; nothing before it is known."""
    placed = [entrant for entrant in facts.entrants if entrant.rank is not None]
    if len(placed) != len(facts.entrants):
        return facts.state if facts.over else ""
    order = sorted(placed, key=lambda entrant: entrant.rank or 0)
    text = order[0].bot
    for before, entrant in pairwise(order):
        text += f" {'=' if before.rank == entrant.rank else '>'} {entrant.bot}"
    games = ":".join(wins(round(12 * (entrant.wins or 0)), look) for entrant in order)
    points = ":".join(str(entrant.points) for entrant in order)
    return f"{text}  {games}  ({points})"


def bot_lines(shown: Showing, facts: Facts, game: Game, look: Look, now: float) -> list[Text]:
    """Return a line for each bot: seat, rating, points, clock, and what went wrong."""
    clocks = clocks_now(shown, game, now)
    ply = min(shown.playback.ply, game.plies)
    scores = game.scores_at(ply)
    to_move = _to_move(game, ply)
    lines = []
    for seat, place in enumerate(game.seats):
        bot = facts.entrants[place]
        line = Text(look.mark("turn") if seat == to_move else " ")
        line.append(SEAT_MARKS[seat], FIGURE_STYLE)
        line.append(f" {cut(bot.bot, 28, look)}", TITLE).append(f" v{bot.version}", QUIET)
        line.pad_right(36 - line.cell_len)
        line.append(f"{_rating(bot):>6}", QUIET)
        line.append(f"{scores[seat]:>7} points")
        style = TITLE if seat == to_move else QUIET
        line.append(f"{clocks[seat]:>10}", style)
        line.append_text(_trouble(game, seat, ply))
        lines.append(fitting(line, WIDTH, look))
    return lines


def bot_strip(shown: Showing, facts: Facts, game: Game, width: int, look: Look, now: float) -> Text:
    """Return all bots in one line; their points are on the board."""
    clocks = clocks_now(shown, game, now)
    ply = min(shown.playback.ply, game.plies)
    to_move = _to_move(game, ply)
    each = width // len(game.seats)
    strip = Text()
    for seat, place in enumerate(game.seats):
        bot = facts.entrants[place]
        end = styled(clocks[seat], TITLE if seat == to_move else QUIET)
        trouble = _trouble(game, seat, ply)
        if trouble.plain:
            end = styled(trouble.plain.split(":")[0].strip(), ALARM)
        cell = Text(look.mark("turn") if seat == to_move else " ")
        cell.append(SEAT_MARKS[seat], FIGURE_STYLE).append(" ")
        room = each - cell.cell_len - end.cell_len - 2
        rating = _rating(bot)
        name = bot.bot
        if rating and len(name) + len(rating) + 1 <= room:
            cell.append(name, TITLE).append(f" {rating}", QUIET)
        else:
            cell.append(cut(name, room, look), TITLE)
        strip.append_text(spread(cell, end, each - 1)).append(" ")
    return strip


def clocks_now(shown: Showing, game: Game, now: float) -> list[str]:
    """Return everybody's clock; while we are live, that of whose turn it is runs."""
    playback = shown.playback
    ply = min(playback.ply, game.plies)
    clocks = list(game.clocks_at(ply))
    if not clocks:
        return [""] * len(game.seats)
    seat = _to_move(game, ply)
    if playback.is_live and game.moved_at is not None and seat is not None and not game.ended:
        clocks[seat] = max(0, clocks[seat] - int(1000 * (now - game.moved_at)))
    return [clock_text(clock) for clock in clocks]


def _to_move(game: Game, ply: int) -> int | None:
    view = game.views[ply]
    if view["phase"] == "over" or (game.ended and ply == game.plies):
        return None
    return int(view["seat"])


def _rating(bot: Entrant) -> str:
    return "" if bot.mu is None else f"{bot.mu:.1f}"


def _trouble(game: Game, seat: int, ply: int) -> Text:
    """Return why a bot is out of the game, if it is."""
    for dropout in game.dropouts:
        if dropout.seat == seat and dropout.ply <= ply:
            return styled(f"  {dropout.kind}: {dropout.code}", ALARM)
    return Text()


def clock_text(ms: int) -> str:
    """Return a clock: hundredths of a second if there are few left."""
    if ms < 10_000:
        return f"{ms / 1000:.2f} s"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms // 60_000}:{ms // 1000 % 60:02}"


def status_line(shown: Showing, width: int, look: Look) -> Text:
    """Return the last line: where we are, how quickly we go on, and what the connection does."""
    playback = shown.playback
    dot = f" {look.mark('dot')} "
    left = _pace(playback, look)
    facts = shown.facts
    if facts is not None and playback.game is not None:
        left.append(dot).append(f"game {playback.rotation + 1}/{facts.players} ")
        bar_width = max(6, min(40, width - 64))
        left.append_text(_bar(playback.ply, playback.end, bar_width, look))
        left.append(f" {playback.ply}/{playback.end}")
        left.append(dot).append_text(_news(shown))
        if playback.perspective != PUBLIC:
            left.append(dot).append(_perspective(playback.perspective))
    elif not shown.connected:
        left.append(dot).append_text(_news(shown))
    note = shown.note or (result_text(facts, look) if facts and playback.is_last else "")
    room = width - left.cell_len - 1
    if len(note or KEYS) > room and (not note or room < SHORTEST_NOTE):
        return left
    return spread(left, Text(cut(note or KEYS, room, look), QUIET), width)


def _pace(playback: Playback, look: Look) -> Text:
    if playback.playing:
        return styled(f"{look.mark('turn')} {playback.speed_text()}", TITLE)
    return styled(f"{PAUSED[look.ascii]} paused", "bold yellow")


def _bar(value: int, total: int, width: int, look: Look) -> Text:
    full = width * value // total if total else 0
    bar = styled(stroke("full", look) * full, "cyan")
    return bar.append(stroke("rest", look) * (width - full), QUIET)


def _news(shown: Showing) -> Text:
    """Say how far we are from what happens now."""
    playback = shown.playback
    if not shown.connected and not playback.model.over:
        return styled("connection lost, trying again", ALARM)
    if playback.model.problem:
        return styled(playback.model.problem, ALARM)
    if playback.model.broken_off:
        return styled("aborted", ALARM)
    if playback.model.over:
        return styled("match over", TITLE) if playback.is_last else Text("replay")
    if playback.is_live:
        return styled("LIVE", LIVE)
    return Text(f"{playback.behind} behind")


def _perspective(name: str) -> str:
    return "all cards" if name == ALL else f"hand of {name}"


def names_text(bots: Sequence[Entrant]) -> str:
    """Return who plays whom, with ratings."""
    return " v ".join(f"{bot.bot} {_rating(bot)}".strip() for bot in bots)

"""Matches in a few words: what each referee plays now, and the latest results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from rich.text import Text

from keltis_cli.draw.journal import Journal
from keltis_cli.draw.look import QUIET, Look
from keltis_cli.draw.strokes import ago, counted, fitting, wins
from keltis_cli.draw.tables.columns import fitted, numbers, texts
from keltis_cli.draw.tables.leaderboard import ALARM
from keltis_engine import VARIANTS
from keltis_ladder.match.reasons import MatchReason, reason_text, table_label
from keltis_ladder.match.table_labels import label_text
from keltis_ladder.run.playing import Playing
from keltis_ladder.run.scheduler import ResultStored
from keltis_ladder.spectate.live_match import LiveMatch
from keltis_ladder.store.matches.records import in_twelfths

NAMES_WIDTH: Final = 30  # cells for the bots of a match, if they need them
_VARIANT: Final = f"{'variant':<{max(map(len, VARIANTS))}}"  # of one width, whatever is played

Live = Mapping[str, LiveMatch]


def playing_lines(journal: Journal, live: Live, width: int, look: Look, most: int) -> list[Text]:
    """Return what each referee plays; in ``most`` lines at most, the last of which may count."""
    if not journal.busy:
        return [Text("Nothing is being played.", QUIET)]
    everything = sorted(journal.busy.items(), key=lambda item: (len(item[0]), item[0]))
    rows = everything if len(everything) < most else everything[: max(1, most - 2)]
    games = [playing for _, playing in rows]
    columns = [
        texts("now", [where for where, _ in rows], look),
        texts(_VARIANT, [playing.job.variant for playing in games], look),
        texts("bots", [versus(names_of(playing)) for playing in games], look, least=NAMES_WIDTH),
        texts("standing", [_standing(playing, live) for playing in games], look, spare=1),
        texts("because", [_why(playing) for playing in games], look, least=14, spare=2),
    ]
    lines = fitted(columns, width, look)
    if len(rows) < len(everything):
        more = counted(len(everything) - len(rows), "more match", "more matches")
        lines.append(fitting(Text(f"and {more}", QUIET), width, look))
    return lines


def names_of(playing: Playing) -> list[str]:
    """Return who plays."""
    return [entrant.name for entrant in playing.job.entrants]


def versus(names: Sequence[str]) -> str:
    """Return bots that play each other."""
    return " v ".join(names)


def _why(playing: Playing) -> str:
    """Return why a match is played; of a tournament's, its place in it."""
    reason = playing.order.reason
    if reason is not None and reason.code == MatchReason.TOURNAMENT:
        return label_text(table_label(reason.details))
    return reason_text(reason)


def _standing(playing: Playing, live: Live) -> str:
    """Return how far a match has come, and the points of the game under way by entrant."""
    match = live.get(playing.job.id)
    if match is None:
        return ""
    games = len(match.games)
    over = sum(game.ended for game in match.games)
    if over == games:
        return f"game {games}/{games}"
    game = match.games[over]
    if not game.plies:
        return f"game {over + 1}/{games}"
    scores = match.scores(over, game.plies)
    ordered = [scores[(entrant - over) % games] for entrant in range(games)]
    return f"game {over + 1}/{games}  " + ":".join(map(str, ordered))


def latest_lines(journal: Journal, width: int, look: Look, most: int) -> list[Text]:
    """Return the latest results, the last one first."""
    if most <= 1 or not journal.latest:
        return []
    shown = list(journal.latest)[: most - 1]
    results = [told for _, told in shown]
    clock = journal.clock()
    columns = [
        numbers("latest", [f"{told.stored.number:,}" for told in results]),
        texts(_VARIANT, [told.playing.job.variant for told in results], look),
        texts("result", [result_text(told) for told in results], look, least=NAMES_WIDTH),
        texts("games", [_games(told, look) for told in results], look, spare=1),
        texts("points", [_points(told) for told in results], look, spare=3),
        numbers("stored", [f"{ago(clock - at)} ago" for at, _ in shown], spare=4),
    ]
    if any(game.losses for told in results for game in told.result.games):
        columns.append(texts("faults", [_faults(told) for told in results], look, 14, spare=2))
    return fitted(columns, width, look)


def _order(told: ResultStored) -> list[int]:
    """Return the entrants, the first one first."""
    ranks = told.result.ranks
    return sorted(range(len(ranks)), key=lambda entrant: (ranks[entrant], entrant))


def result_text(told: ResultStored) -> str:
    """Return who was ahead of whom."""
    names, ranks, order = names_of(told.playing), told.result.ranks, _order(told)
    text = names[order[0]]
    for before, entrant in pairwise(order):
        sign = "=" if ranks[before] == ranks[entrant] else ">"
        text += f" {sign} {names[entrant]}"
    return text


def _games(told: ResultStored, look: Look) -> str:
    shares = told.result.shares
    return " : ".join(wins(in_twelfths(shares[entrant]), look) for entrant in _order(told))


def _points(told: ResultStored) -> str:
    points = told.result.points
    return " : ".join(str(points[entrant]) for entrant in _order(told))


def _faults(told: ResultStored) -> Text:
    names = names_of(told.playing)
    faulty = [
        f"{loss.fault.kind}: {names[game.entrants[loss.seat]]}"
        for game in told.result.games
        for loss in game.losses
    ]
    return Text(", ".join(dict.fromkeys(faulty)), ALARM)

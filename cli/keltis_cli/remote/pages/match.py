"""A match of a server for people: who played, what came of it, game by game."""

from __future__ import annotations

from rich.text import Text

from keltis_cli.draw.look import QUIET, TITLE, Look, styled
from keltis_cli.draw.strokes import cut, fitting, wins
from keltis_cli.draw.tables.columns import Column, fitted, numbers, texts
from keltis_cli.draw.tables.leaderboard import ALARM, bot_name
from keltis_server.models.matches import EntrantOut, MatchOut


def by_rank(match: MatchOut) -> list[EntrantOut]:
    """Return who played, the first first."""
    return sorted(match.entrants, key=lambda e: (e.rank or 0, e.position))


def entrants_text(match: MatchOut) -> str:
    """Return who played in one line; a match that is over says who was ahead of whom."""
    text = ""
    before: EntrantOut | None = None
    for entrant in by_rank(match):
        if before is not None:
            level = match.state != "finished" or before.rank == entrant.rank
            text += " = " if level and match.state == "finished" else " v " if level else " > "
        text += bot_name(entrant.bot, entrant.version)
        before = entrant
    return text


def title_of(match: MatchOut) -> str:
    """Return what a match is called."""
    return f"Match {match.number}" if match.number else f"Match {match.id}"


def result_line(match: MatchOut) -> str:
    """Return what came of a match, in one line."""
    if match.state != "finished":
        why = f": {match.reason}" if match.reason else ""
        return f"{title_of(match)}: {match.state}{why}"
    best = [entrant for entrant in by_rank(match) if entrant.rank == 1]
    names = " and ".join(bot_name(entrant.bot, entrant.version) for entrant in best)
    verdict = f"{names} won" if len(best) == 1 else f"{names} share the first place"
    points = " : ".join(str(entrant.points) for entrant in by_rank(match))
    return f"{title_of(match)} ({match.variant}): {verdict}, {points} points"


def match_page(match: MatchOut, width: int, look: Look) -> list[Text]:
    """Return all there is to tell about a match."""
    facts = [match.variant, match.purpose, "rated" if match.rated else "unrated", match.state]
    if match.tournament:
        facts.append(f"of {match.tournament}")
    lines = [
        fitting(styled(f"{title_of(match)}: {', '.join(facts)}", TITLE), width, look),
        *(_details(match, width, look)),
        Text(),
        *_entrants(match, width, look),
    ]
    if match.games:
        lines += [Text(), *_games(match, width, look)]
    faults = _faults(match)
    if faults:
        lines += [Text(), *faults]
    return [*lines, Text(), *(Text(hint, QUIET) for hint in _hints(match))]


def _details(match: MatchOut, width: int, look: Look) -> list[Text]:
    options = ", ".join(f"{name}={value}" for name, value in match.options.items())
    found = [f"begun {match.created:%Y-%m-%d %H:%M:%S} UTC" + (f", {options}" if options else "")]
    if match.reason:
        found.append(f"why: {match.reason}")
    found.append(f"id {match.id}")
    if match.commitment:
        found.append(f"commitment {match.commitment}")
    if match.seed:
        found.append(f"seed {match.seed}")
    # What people copy is never cut.
    return [
        Text(text if text.startswith("commitment") else cut(text, width, look), QUIET)
        for text in found
    ]


def _entrants(match: MatchOut, width: int, look: Look) -> list[Text]:
    shown = by_rank(match)
    names = [Text(e.bot, TITLE if e.rank == 1 else "") for e in shown]
    faults = [
        Text("-" if e.faults is None else str(e.faults), ALARM if e.faults else QUIET)
        for e in shown
    ]
    columns = [
        numbers("rank", ["-" if e.rank is None else str(e.rank) for e in shown]),
        texts("bot", names, look, least=12, end=[f" v{e.version}" for e in shown]),
        texts("author", [e.author for e in shown], look, least=6, spare=2),
        numbers(
            "games won", ["-" if e.wins is None else wins(round(e.wins * 12), look) for e in shown]
        ),
        numbers("points", ["-" if e.points is None else str(e.points) for e in shown]),
        numbers("faults", faults, spare=1),
        numbers("rating", ["-" if e.mu is None else f"{e.mu:.1f}" for e in shown], spare=3),
    ]
    return fitted(columns, width, look)


def _games(match: MatchOut, width: int, look: Look) -> list[Text]:
    games = match.games
    names = {entrant.position: entrant.bot for entrant in match.entrants}
    seats = [_seat(match, names, seat, look) for seat in range(match.players)]
    columns = [
        numbers("game", [str(game.rotation + 1) for game in games]),
        *seats,
        texts("points", [" : ".join(map(str, game.scores)) for game in games], look),
        texts("ended by", [game.ending or "-" for game in games], look, spare=1),
    ]
    return fitted(columns, width, look)


def _seat(match: MatchOut, names: dict[int, str], seat: int, look: Look) -> Column:
    """Return who sat there in each game; that somebody was the first is never cut."""
    cells: list[Text] = []
    ends: list[str] = []
    for game in match.games:
        first = seat < len(game.ranks) and game.ranks[seat] == 1
        name = names.get(game.seats[seat], "-") if seat < len(game.seats) else "-"
        cells.append(Text(name, TITLE if first else ""))
        ends.append(" 1st" if first else "")
    return texts(f"seat {seat}", cells, look, least=10, end=ends)


def _faults(match: MatchOut) -> list[Text]:
    names = {entrant.position: entrant.bot for entrant in match.entrants}
    return [
        Text(
            f"game {game.rotation + 1}, decision {fault.decision + 1}:"
            f" {names.get(game.seats[fault.seat], '-') if fault.seat < len(game.seats) else '-'},"
            f" {fault.kind}/{fault.code}"
        )
        for game in match.games
        for fault in game.faults
    ]


def _hints(match: MatchOut) -> list[str]:
    if match.state != "finished":
        return []
    name = match.number or match.id
    return [
        "To read a game, and to check that nobody changed it:",
        f"  keltis-ladder download {name} --out games.jsonl",
        "  keltis-ladder replay games.jsonl --game 1",
        "  keltis-ladder replay games.jsonl --verify",
    ]

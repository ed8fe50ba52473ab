"""A match as JSON: the whole report for programs, and a replay of each game."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from keltis_cli.bots.crash_cards import CardBox
from keltis_cli.bots.matchup import Matchup, Outcome
from keltis_engine.records.replay import make_replay
from keltis_ladder.match.jobs import seed_of_match
from keltis_ladder.match.results import MatchResult
from keltis_ladder.stats.sprt import ERROR_RATE, Sprt
from keltis_ladder.stats.statistics import Estimate
from keltis_ladder.stats.tally import TWO, Tally

FORMAT: Final = "keltis-ladder match 1"


def document(plan: Matchup, outcome: Outcome, cards: CardBox) -> dict[str, Any]:
    """Return everything about what was played; ``docs/authors/matches.md`` names every field."""
    tally = outcome.tally
    return {
        "format": FORMAT,
        "variant": plan.ruleset.id,
        "version": plan.ruleset.version,
        "options": dict(plan.ruleset.options),
        "seed": str(plan.seed),
        "clock": asdict(plan.control),
        "sandboxed": plan.sandboxed,
        "planned": plan.matches,
        "stopped": outcome.stopped,
        "matches": tally.matches,
        "games": tally.games,
        "decisions": tally.decisions,
        "seconds": round(outcome.seconds, 3),
        "bots": [_bot(plan, tally, entrant) for entrant in range(tally.players)],
        "pairs": _pairs(tally) if tally.matches else [],
        "lead": _estimate(tally.lead()) if tally.players == TWO and tally.matches else None,
        "outcomes": list(tally.outcomes().values()) if tally.players == TWO else None,
        "seat_wins": [float(wins) for wins in tally.seat_wins],
        "endings": dict(tally.endings.most_common()),
        "sprt": _test(outcome.sprt) if outcome.sprt else None,
        "crash_cards": [str(path) for path in cards.paths],
        "results": _results(plan, tally),
    }


def game_records(
    plan: Matchup, number: int, seed: int, result: MatchResult
) -> Iterator[dict[str, Any]]:
    """Return a replay of each game of a match, with what a replay does not know."""
    for game in result.games:
        yield {
            **make_replay(plan.ruleset, len(plan.entrants), seed, game.actions),
            "names": [plan.entrants[entrant].name for entrant in game.entrants],
            "match": number,
            "rotation": game.rotation,
            "ranks": game.ranks,
            "ending": game.ending,
            "faults": [
                {
                    "seat": loss.seat,
                    "decision": loss.decision,
                    "kind": str(loss.fault.kind),
                    "code": loss.fault.code,
                    "text": loss.fault.text,
                }
                for loss in game.losses
            ],
        }


def _bot(plan: Matchup, tally: Tally, entrant: int) -> dict[str, Any]:
    effort = tally.efforts[entrant]
    played = tally.matches > 0
    return {
        "name": tally.names[entrant],
        "bot": plan.bots[entrant],
        "key": plan.entrants[entrant].key,
        "games_won": _estimate(tally.share(entrant)) if played else None,
        "points": _estimate(tally.mean_points(entrant)) if played else None,
        "rank": tally.mean_rank(entrant) if played else None,
        "asked": effort.asked,
        "wall_seconds": round(effort.wall, 6),
        "cpu_seconds": round(effort.cpu, 6),
        "slowest_ms": round(effort.longest * 1000, 3),
        "faults": [
            {"kind": kind, "code": code, "count": count}
            for (who, kind, code), count in tally.faults.items()
            if who == entrant
        ],
    }


def _pairs(tally: Tally) -> list[dict[str, Any]]:
    found = []
    for one in range(tally.players):
        for other in range(one + 1, tally.players):
            duel = tally.duel(one, other)
            found.append(
                {
                    "bots": [one, other],
                    "wins": duel.wins,
                    "draws": duel.draws,
                    "losses": duel.losses,
                    "decided_won": _estimate(duel.rate) if duel.wins + duel.losses else None,
                    "elo": _estimate(duel.elo),
                    "superiority": duel.superiority,
                }
            )
    return found


def _test(sprt: Sprt) -> dict[str, Any]:
    return {
        "elo0": sprt.hypotheses.elo0,
        "elo1": sprt.hypotheses.elo1,
        "error_rate": ERROR_RATE,
        "llr": sprt.ratio,
        "lower": sprt.lower,
        "upper": sprt.upper,
        "verdict": sprt.verdict,
    }


def _results(plan: Matchup, tally: Tally) -> list[dict[str, Any]]:
    rows = zip(tally.shares, tally.points, tally.ranks, strict=True)
    return [
        {
            "match": number,
            "seed": str(seed_of_match(plan.seed, number)),
            "games_won": [float(share) for share in shares],
            "points": [float(mean) for mean in points],
            "ranks": ranks,
        }
        for number, (shares, points, ranks) in enumerate(rows, 1)
    ]


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    """Return an estimate; what is infinite is unknown to JSON."""
    return {
        name: value if math.isfinite(value) else None for name, value in asdict(estimate).items()
    }

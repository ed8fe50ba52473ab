"""The tables of the report."""

from __future__ import annotations

from collections.abc import Sequence

from bench.audit.careers import AUTHORS, GAINS, LEVELS, LONGEST_CAREER, Careers, Found, Framed
from bench.audit.pairs import PairsFound, Styles


def framed_table(framed_bots: Sequence[Framed]) -> list[str]:
    """Return whom opponents can have accused."""
    lines = ["## Honest bots whose opponents throw later games on purpose", ""]
    lines += [f"`later`, {AUTHORS} authors, a tenth of the matches against our own bots.", ""]
    lines += ["| authors who lie | points | bots | each | alarms | were nobody left out |"]
    lines += ["|---" * 6 + "|"]
    for bot in framed_bots:
        counts = (bot.liars, bot.thrown, bot.bots, bot.matches, bot.alarms, bot.without)
        lines.append(f"| {' | '.join(f'{count:,}' for count in counts)} |")
    return lines


def found_table(found: Sequence[Found]) -> list[str]:
    """Return how soon cheaters are found."""
    lines = ["## Matches until a cheater is found", ""]
    lines += ["| variant | knowledge used for | gain | cheated | test | median | 90 % |"]
    lines += ["|---" * 7 + "|"]
    for one in found:
        ends = [
            f"{end:,}" if end else f"over {LONGEST_CAREER:,}" for end in (one.median, one.ninetieth)
        ]
        cells = [one.variant, one.use, f"{one.gain} points", f"{one.games:.0%} of later games"]
        lines.append(f"| {' | '.join([*cells, one.test, *ends])} |")
    return lines


def markdown(
    honest: Sequence[Careers], found: Sequence[Found], bounds: dict[str, dict[int, float]],
    pairs: Sequence[PairsFound],
    styles: Sequence[Styles], framed_bots: Sequence[Framed],
) -> str:  # fmt: skip
    """Return the tables for docs/operators/audit.md."""
    lines = ["## Honest bots", ""]
    levels = " | ".join(f"ever {level:,} to 1 (allowed)" for level in LEVELS)
    lines += [f"| matches | bots | each | {levels} | alarms |", "|---" * (4 + len(LEVELS)) + "|"]
    for each in honest:
        cells = [each.what, f"{each.bots:,}", f"{each.matches:,}"]
        cells += [f"{each.reached[level]:,} ({each.bots / level:,.0f})" for level in LEVELS]
        lines.append(f"| {' | '.join([*cells, str(each.alarms)])} |")
    lines += ["", *framed_table(framed_bots)]
    lines += ["", *found_table(found)]
    lines += ["", "## What any test needs that sees only who won", ""]
    lines += [f"| variant | {' | '.join(f'{gain} points' for gain in GAINS)} |"]
    lines += ["|---" * (1 + len(GAINS)) + "|"]
    for variant, needed in bounds.items():
        lines.append(f"| {variant} | {' | '.join(f'{needed[gain]:,.0f}' for gain in GAINS)} |")
    lines += ["", "## Pairs at tables of three and four", ""]
    lines += ["| players | gain of each, in spreads | ladders | found | after | others accused |"]
    lines += ["|---" * 6 + "|"]
    for pair in pairs:
        after = f"{pair.median:,} matches together" if pair.median else "-"
        cells = [str(pair.players), f"{pair.gain:g}", str(pair.ladders), str(pair.found), after]
        lines.append(f"| {' | '.join([*cells, f'{pair.accused} of {pair.pairs:,}'])} |")
    lines += ["", "Honest players of very different kinds, at tables of three:", ""]
    lines += ["| variant | tables | pairs | accused | nearest |", "|---" * 5 + "|"]
    for style in styles:
        cells = [style.variant, f"{style.tables:,}", str(style.pairs), str(style.accused)]
        lines.append(f"| {' | '.join([*cells, f'{style.nearest:,} to 1'])} |")
    return "\n".join(lines) + "\n"

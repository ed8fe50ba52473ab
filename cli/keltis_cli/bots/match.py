"""``match``: let bots play many duplicate matches, and say who is stronger and how surely."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, TextIO

import typer

from keltis_cli import arguments
from keltis_cli.bots import entering
from keltis_cli.bots.crash_cards import DEFAULT_DIRECTORY, CardBox, CrashDirOption
from keltis_cli.bots.match_json import document, game_records
from keltis_cli.bots.match_report import report
from keltis_cli.bots.matchup import Matchup, Outcome
from keltis_cli.bots.standing import standing
from keltis_cli.draw.look import console
from keltis_cli.draw.progress import ProgressBar
from keltis_cli.errors import BadRequest
from keltis_cli.exit_codes import ExitCode
from keltis_cli.files import STANDARD, check_target, new_file
from keltis_ladder.dispatch.pool import RefereePool
from keltis_ladder.match.clock import DEFAULT_CONTROL, TimeControl
from keltis_ladder.match.faults import PlatformFault
from keltis_ladder.match.jobs import Job, seed_of_match
from keltis_ladder.match.results import MatchResult
from keltis_ladder.sandbox.shares import default_cores
from keltis_ladder.stats.sprt import Hypotheses, Sprt
from keltis_ladder.stats.tally import TWO, Tally

MATCHES = 100
MOST_OF_A_TEST = 10_000  # matches, unless told otherwise: some questions have no short answer


def match(
    bots: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT BOT...",
            help="Two to four: random, greedy, search, or a directory with a bot.toml.",
        ),
    ],
    variant: arguments.VariantOption = "keltis",
    matches: Annotated[
        int | None,
        typer.Option(
            "--matches",
            "-n",
            min=1,
            help=f"Deals, each played in all rotations; {MATCHES}, with --sprt {MOST_OF_A_TEST}.",
            show_default=False,
        ),
    ] = None,
    seed: arguments.DealsSeedOption = 1,
    option: arguments.RuleOptions = None,
    bank: arguments.BankOption = DEFAULT_CONTROL.bank_ms,
    increment: arguments.IncrementOption = DEFAULT_CONTROL.increment_ms,
    sprt: Annotated[
        bool,
        typer.Option("--sprt", help="Stop when it is decided whether the first is stronger."),
    ] = False,
    elo0: Annotated[
        float, typer.Option("--elo0", metavar="ELO", help="Not stronger: up to this difference.")
    ] = Hypotheses.elo0,
    elo1: Annotated[
        float, typer.Option("--elo1", metavar="ELO", help="Stronger: from this difference on.")
    ] = Hypotheses.elo1,
    cores: arguments.CoresOption = None,
    as_json: arguments.JsonOption = False,
    out: arguments.ReplaysOption = None,
    force: arguments.ForceOption = False,
    crash_dir: CrashDirOption = DEFAULT_DIRECTORY,
    no_sandbox: entering.NoSandboxOption = False,
) -> None:
    """Let bots play: every deal in all rotations, so that luck with the cards evens out."""
    ruleset = arguments.ruleset(variant, option)
    ruleset.deal(len(bots), seed)  # refuses a number of players that cannot play
    hypotheses = Hypotheses(elo0, elo1)
    if sprt and len(bots) != TWO:
        raise BadRequest(f"--sprt compares two bots, not {len(bots)}")
    if as_json and out == STANDARD:
        raise BadRequest("--json and --out - both want the output: give --out a file")
    if out:
        check_target(out, force)
    sandbox = entering.sandbox_for(bots, no_sandbox)
    entrants = entering.enter(bots, sandbox)
    entering.check_claims(entrants, [ruleset.id], len(entrants))
    plan = Matchup(
        ruleset=ruleset,
        entrants=tuple(entrants),
        bots=bots,
        matches=matches or (MOST_OF_A_TEST if sprt else MATCHES),
        seed=seed,
        control=TimeControl(bank, increment),
        cores=chosen_cores(cores),
        sandboxed=sandbox is not None,
    )
    outcome = Outcome(Tally([entrant.name for entrant in entrants]))
    outcome.sprt = Sprt(hypotheses) if sprt else None
    cards = CardBox(crash_dir, bots)
    play(plan, outcome, cards, out, force)
    tell(plan, outcome, cards, out, as_json)
    if outcome.stopped == "interrupt":
        raise typer.Exit(ExitCode.INTERRUPTED)
    if outcome.stopped == "platform":
        print(f"keltis-ladder: the match was aborted: {outcome.reason}", file=sys.stderr)
        raise typer.Exit(ExitCode.FAILED)


def chosen_cores(count: int | None) -> list[int]:
    """Return the cores to play on: all, unless somebody chooses or memory is short."""
    if count is None:
        return default_cores()
    free = sorted(os.sched_getaffinity(0))
    if count > len(free):
        raise BadRequest(f"there are {len(free)} cores, not {count}: give --cores a smaller number")
    return free[:count]


def play(plan: Matchup, outcome: Outcome, cards: CardBox, out: Path | None, force: bool) -> None:
    """Play until all is played, the test is decided, or somebody stops it."""
    begin = time.monotonic()
    with ExitStack() as stack:
        file = stack.enter_context(new_file(out, force)) if out else None
        try:
            with (
                ProgressBar("starting", plan.matches) as progress,
                RefereePool(plan.cores, plan.sandboxed, on_wait=say_waiting) as pool,
            ):
                for number, (job, result) in enumerate(pool.play(jobs(plan)), 1):
                    with uninterrupted():
                        record(plan, number, job, result, outcome, cards, file)
                    progress.tell(outcome.tally.matches, text=standing(outcome))
                    if outcome.sprt and outcome.sprt.verdict:
                        outcome.stopped = "sprt"
                        break
        except KeyboardInterrupt:
            outcome.stopped = "interrupt"
        except PlatformFault as fault:
            outcome.stopped, outcome.reason = "platform", str(fault)
    outcome.seconds = time.monotonic() - begin


def say_waiting(reason: str) -> None:
    """Tell why nothing seems to happen."""
    print(f"Platform: {reason}", file=sys.stderr)


def jobs(plan: Matchup) -> Iterator[Job]:
    """Return the matches to be played, in their order."""
    ruleset = plan.ruleset
    for number in range(1, plan.matches + 1):
        yield Job(
            variant=ruleset.id,
            options=dict(ruleset.options),
            seed=seed_of_match(plan.seed, number),
            entrants=plan.entrants,
            control=plan.control,
        )


def record(
    plan: Matchup,
    number: int,
    job: Job,
    result: MatchResult,
    outcome: Outcome,
    cards: CardBox,
    file: TextIO | None,
) -> None:
    """Count a match, and write down its games and crash cards."""
    outcome.add(result)
    cards.add(number, job, result)
    if file is not None:
        records = game_records(plan, number, job.seed, result)
        file.write("".join(json.dumps(game, separators=(",", ":")) + "\n" for game in records))


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Keep an interrupt waiting, so that a match is counted and written, or neither."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def tell(plan: Matchup, outcome: Outcome, cards: CardBox, out: Path | None, as_json: bool) -> None:
    """Print the report, or the JSON; what is for the user alone goes to the error output."""
    errors = console(stderr=True)
    if as_json:
        print(json.dumps(document(plan, outcome, cards), indent=1, allow_nan=False))
    else:
        page = errors if out == STANDARD else console()
        page.print(report(plan, outcome), soft_wrap=True, highlight=False)
    cards.explain(errors)
    if out and out != STANDARD and outcome.tally.matches:
        done = f"Wrote {out}. Check it with: keltis-ladder replay --verify {out}"
        errors.print(done, soft_wrap=True, highlight=False)

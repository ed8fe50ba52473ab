"""Options that several commands share, and how their texts become values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from keltis_cli.errors import BadRequest
from keltis_engine import VARIANTS, Ruleset, find_variant
from keltis_engine.play.policies import POLICIES, Policy
from keltis_ladder.run.pace import SETTLED_BELOW

MOST_DIGITS: Final = 20  # of an option's value; more are a slip of the finger


def group(what: str, **more: Any) -> typer.Typer:
    """Return a group of commands, which shows its help when it is called without one."""
    return typer.Typer(help=what, no_args_is_help=True, add_completion=False, **more)


def setting(name: str, what: str, **more: Any) -> Any:
    """Return an option that can be set by a variable of the environment, too, named after it."""
    variable = f"KELTIS_{name.removeprefix('--').replace('-', '_').upper()}"
    return typer.Option(name, **({"envvar": variable, "help": what} | more))


def of_variant(what: str, **more: Any) -> Any:
    """Return the option that names a variant, or several."""
    return typer.Option("--variant", "-v", metavar="VARIANT", help=what, **more)


VariantOption = Annotated[str, of_variant(f"One of {', '.join(VARIANTS)}.")]
PlayersOption = Annotated[int, typer.Option("--players", "-p", help="Number of players, 2 to 4.")]
SeedOption = Annotated[
    int, typer.Option("--seed", "-s", help="Seed of the deal: same seed, same cards.")
]
DealsSeedOption = Annotated[
    int, typer.Option("--seed", "-s", min=0, help="Seed of the deals: same seed, same deals.")
]
ReplaysOption = Annotated[
    Path | None, typer.Option("--out", help="File for one replay per line; - is stdout.")
]
RuleOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="NAME=VALUE",
        help="An option of the variant; may be repeated. See: keltis-ladder variants.",
    ),
]
BankOption = Annotated[
    int, typer.Option("--bank", metavar="MS", min=1, help="Milliseconds per game.")
]
IncrementOption = Annotated[
    int, typer.Option("--increment", metavar="MS", min=0, help="Milliseconds added per decision.")
]
CoresOption = Annotated[
    int | None,
    typer.Option(
        "--cores", min=1, help="Number of cores to play on; default: all, if memory allows."
    ),
]
MatchesPerMinuteOption = Annotated[
    float | None,
    setting(
        "--matches-per-minute",
        "Rate limit of ladder matches; tournaments and challenges do not count.",
        metavar="N",
        min=0.01,
        show_default="no limit",
    ),
]
SettledBelowOption = Annotated[
    float | None,
    setting(
        "--settled-below",
        "Play one match a minute if the best would gain less than this; 0: never.",
        metavar="GAIN",
        min=0.0,
        show_default=f"{SETTLED_BELOW:g}",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]
LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, help="Maximum number of items.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would be removed.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation.")]
AsciiOption = Annotated[bool, typer.Option("--ascii", help="Draw with letters instead of symbols.")]


def ruleset(variant: str, options: list[str] | None) -> Ruleset:
    """Return the ruleset that ``--variant`` and ``--option`` ask for."""
    values: dict[str, object] = {}
    for text in options or []:
        name, equals, value = text.partition("=")
        if not equals or not value.removeprefix("-").isdecimal() or len(value) > MOST_DIGITS:
            raise BadRequest(
                f"cannot read the option {text!r}: write NAME=NUMBER, for example turn_limit=200"
            )
        values[name.strip()] = int(value)
    return find_variant(variant, values)


def policies(names: list[str] | None, seats: int, default: str) -> list[Policy]:
    """Return a policy for each seat: one name is for all, otherwise there is one for each."""
    given = names or [default]
    for name in given:
        if name not in POLICIES:
            raise BadRequest(f"there is no policy {name!r}: choose from {', '.join(POLICIES)}")
    if len(given) == 1:
        given = given * seats
    if len(given) != seats:
        raise BadRequest(
            f"{len(given)} policies were named for {seats} seats: name one for all of them, "
            "or one for each"
        )
    return [POLICIES[name] for name in given]

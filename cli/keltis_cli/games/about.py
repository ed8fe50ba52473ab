"""``version``, ``variants`` and ``rules``: what this is and what can be played."""

from __future__ import annotations

import importlib.resources
import json
import platform
import sys
from importlib import metadata
from typing import Annotated, Any

import typer

from keltis_engine import COMPILED, VARIANTS, find_variant


def version() -> None:
    """Show the version, and whether the engine is compiled."""
    form = "compiled" if COMPILED else "interpreted"
    print(f"keltis-ladder {_version()} (engine {form}, Python {platform.python_version()})")


def _version() -> str:
    try:
        return metadata.version("keltis-ladder")
    except metadata.PackageNotFoundError:
        return "from source, not installed"


def variants(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs.")] = False,
) -> None:
    """List the games with their players, options and number of actions."""
    games = [_described(id) for id in VARIANTS]
    if as_json:
        print(json.dumps(games, indent=2))
        return
    from keltis_cli.draw.look import TITLE, console
    from keltis_cli.draw.tables.aligned import table

    rows = [
        [
            game["id"],
            f"{game['players'][0]}-{game['players'][-1]}",
            str(game["version"]),
            str(game["actions"]),
            game["title"],
        ]
        for game in games
    ]
    out = console()
    headings = ["variant", "players", "version", "actions", "game"]
    out.print(table(headings, rows, left=["variant", "game"]), soft_wrap=True)
    out.print("\nOptions", style=TITLE)
    for line in _option_lines(games):
        out.print(line, soft_wrap=True)
    out.print("\nRead the rules of a game with: keltis-ladder rules VARIANT")


def _described(id: str) -> dict[str, Any]:
    ruleset = find_variant(id)
    return {
        "id": id,
        "title": ruleset.title,
        "version": ruleset.version,
        "players": list(ruleset.players),
        "actions": ruleset.actions,
        "options": [
            {
                "name": option.name,
                "default": option.default,
                "lowest": option.lowest,
                "highest": option.highest,
                "about": option.about,
            }
            for option in VARIANTS[id].options
        ],
    }


def _option_lines(games: list[dict[str, Any]]) -> list[str]:
    """Return two lines for each option: its values and owners, then its meaning."""
    owners: dict[str, list[str]] = {}
    abouts: dict[str, dict[str, Any]] = {}
    for game in games:
        for option in game["options"]:
            owners.setdefault(option["name"], []).append(game["id"])
            abouts[option["name"]] = option
    lines = []
    for name, option in abouts.items():
        whose = "all variants" if len(owners[name]) == len(games) else ", ".join(owners[name])
        values = f"{option['lowest']} to {option['highest']}, default {option['default']}"
        lines += [f"  {name:<20}{values} ({whose})", f"  {'':<20}{option['about']}"]
    return lines


def rules(
    variant: Annotated[str, typer.Argument(metavar="VARIANT", help="For example: keltis.")],
    plain: Annotated[bool, typer.Option("--plain", help="Print the Markdown as it is.")] = False,
) -> None:
    """Show the rules of a game, our rulings included."""
    page = importlib.resources.files("keltis_engine.games") / f"{find_variant(variant).id}.md"
    text = page.read_text(encoding="utf-8")
    if plain:
        sys.stdout.write(text)
        return
    from rich.markdown import Markdown

    from keltis_cli.draw.look import console

    out = console()
    rendered = Markdown(text)
    width = min(out.width, 88)
    lines = len(out.render_lines(rendered, out.options.update_width(width)))
    if out.is_terminal and sys.stdin.isatty() and lines > out.height:
        with out.pager(styles=out.color_system is not None):
            out.print(rendered, width=width)
    else:
        out.print(rendered, width=width)

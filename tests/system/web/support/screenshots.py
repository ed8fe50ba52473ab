"""Pictures of all pages: ``make screenshots``, or this module run with a directory.

A ladder plays for a while; then pages are photographed: those that the documents show, or with
``--all`` every page by day and at dusk, on a wide screen and on a phone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, Literal

from playwright.async_api import ViewportSize
from sqlmodel import Session

from keltis_engine import VARIANTS
from keltis_ladder.run.programs import enter_program, keep_program
from keltis_ladder.store.bots.accounts import AUTHOR_SCOPES, add_token
from keltis_ladder.store.bots.catalogue import activate, add_version, ensure_author, ensure_bot
from keltis_ladder.store.home import Home
from keltis_ladder.store.schema.moments import now
from keltis_ladder.store.schema.tables import Bot
from keltis_ladder.store.schema.version_states import VersionCause
from tests.ladder.support.small_bots import write_bot
from tests.system.support.servers import ServerProcess
from tests.system.web.support.ladders import Ladder, free_port
from tests.system.web.support.pictures import reduced
from tests.system.web.support.visits import PHONE, WIDE, Visitors, open_browser

Theme = Literal["light", "dark"]

CAST: Final = {
    "maeve": {"heron": "search", "wren": "random", "dunlin": "random"},
    "brigid": {"otter": "search", "alder": "greedy", "snipe": "random"},
    "finn": {"crow": "greedy", "birch": "random"},
}
SAYINGS: Final = {
    "heron": "Stands still for a long time, then strikes.",
    "wren": "Small, loud, and surprisingly far up the path.",
    "otter": "Plays with stones. Quite literally.",
    "moth": "Flies into the light now and then.",
}
MOTH: Final = "if time.time_ns() // 1000 % 700 == 0: raise RuntimeError('the light!')\n"
FIRST: Final = "return request.legal[0]"
TALL: Final = {"bot": 1900}  # pixels: what it is about is below the fold, too
PLY: Final = 60  # of the games in pictures: rows have grown, and nobody has arrived
# Every page and every game at least once, and some of them at dusk and on a phone.
KEPT: Final = {
    "wide-light": (
        "home", "leaderboard", "bot", "bots", "matrix", "pairing", "matches", "tournaments",
        "tournament-bracket", "tournament-table", "submit", "rules", "rules-keltis", "protocol",
        "about", "embed", "match-keltis", "match-neue-wege", "match-kartenspiel",
        "match-weg-der-steine",
    ),
    "wide-dark": ("home", "match-keltis", "match-weg-der-steine", "leaderboard", "bot"),
    "phone-light": ("match-keltis", "match-kartenspiel", "leaderboard", "bot", "rules"),
    "phone-dark": ("home", "match-neue-wege", "tournament-bracket", "submit"),
}  # fmt: skip
LOOKS: Final[dict[str, tuple[ViewportSize, Theme]]] = {
    "wide-light": (WIDE, "light"),
    "wide-dark": (WIDE, "dark"),
    "phone-light": (PHONE, "light"),
    "phone-dark": (PHONE, "dark"),
}


def cast(directory: Path, scratch: Path) -> str:
    """Put bots on a ladder; return the token of an author."""
    home = Home(directory, str(directory / "ladder.db"))
    database = home.open()
    moth = keep_program(
        home, write_bot(scratch / "moth", MOTH + FIRST, description=SAYINGS["moth"])
    )

    def enter(session: Session) -> str:
        for owner, bots in CAST.items():
            author = ensure_author(session, owner)
            for name, program in bots.items():
                enter_house_bot(session, ensure_bot(session, author, name), program)
        finn = ensure_author(session, "finn")
        activate(session, enter_program(session, finn, *moth, VersionCause.UPLOADED))
        return add_token(session, ensure_author(session, "maeve"), AUTHOR_SCOPES, now())[1]

    token = database.write(enter)
    database.close()
    return token


def enter_house_bot(session: Session, bot: Bot, program: str) -> None:
    """Let a bot play with one of our own programs."""
    version, _ = add_version(
        session,
        bot,
        variants=list(VARIANTS),
        players=[2, 3, 4],
        program=f"{program} 0",
        description=SAYINGS.get(bot.name, ""),
    )
    activate(session, version)


def improve(directory: Path) -> None:
    """Give one bot a better version."""
    database = Home(directory, str(directory / "ladder.db")).open()
    with database.writing() as session:
        enter_house_bot(
            session, ensure_bot(session, ensure_author(session, "maeve"), "wren"), "greedy"
        )
    database.close()


def play(ladder: Ladder, seconds: float) -> None:
    """Let the ladder play; after a while a bot is better and there are tournaments."""
    end = time.monotonic() + seconds
    time.sleep(seconds / 4)
    improve(ladder.server.data)
    time.sleep(seconds / 2)
    for name, more in (
        ("samhain-cup", {"format": "single-elimination", "top": 8, "variants": ["keltis"]}),
        ("winter-league", {"format": "swiss", "top": 6, "variants": ["kartenspiel"], "rounds": 3}),
        ("stone-lives", {"format": "double-elimination", "top": 4, "variants": ["neue-wege"]}),
    ):
        ladder.post("/tournaments", {"name": name, **more})
        if name != "stone-lives":
            ladder.post(f"/tournaments/{name}/start", {})
    time.sleep(max(0.0, end - time.monotonic()))


def match_of(ladder: Ladder, variant: str, players: int) -> int:
    """Return the last match of a game in which nobody dropped out: a strong one if possible."""
    for more in (f"&players={players}&bot=heron", f"&players={players}", ""):
        path = f"/matches?variant={variant}&limit=50{more}"
        for match in ladder.get(path)["items"]:
            if not any(entrant["faults"] for entrant in match["entrants"]):
                number: int = match["number"]
                return number
    raise SystemExit(f"nobody has played {variant} yet: let the ladder play for longer")


def pages(ladder: Ladder) -> dict[str, str]:
    """Return every page, with the name of its picture."""
    found = {
        "home": "/",
        "leaderboard": "/leaderboard",
        "leaderboard-keltis": "/leaderboard?variant=keltis&players=2",
        "matrix": "/matrix",
        "bots": "/bots",
        "bot": "/bots/wren",
        "bot-faults": "/bots/moth",
        "pairing": "/bots/heron/versus/otter",
        "pairing-open": "/bots/birch/versus/snipe",
        "matches": "/matches",
        "tournaments": "/tournaments",
        "tournament-bracket": "/tournaments/samhain-cup",
        "tournament-table": "/tournaments/winter-league",
        "rules": "/rules",
        "rules-keltis": "/rules/keltis",
        "protocol": "/protocol",
        "about": "/about",
        "submit": "/submit",
        "lost": "/nothing",
    }
    for variant, players in zip(VARIANTS, (2, 3, 4, 2), strict=True):
        number = match_of(ladder, variant, players)
        found[f"match-{variant}"] = f"/matches/{number}#game=1&ply={PLY}"
    found["embed"] = f"/embed/matches/{match_of(ladder, 'keltis', 2)}#game=1&ply={PLY}"
    return found


async def photograph(
    visitors: Visitors, ladder: Ladder, into: Path, everything: bool, only: str
) -> None:
    """Take pictures: of whole pages, or of as much of those that are kept as fits a screen."""
    for look, (size, theme) in LOOKS.items():
        options = {"viewport": size, "color_scheme": theme, "reduced_motion": "reduce"}
        async with visitors.visit(ladder.url, strict=False, **options) as visit:
            for name, path in pages(ladder).items():
                if only not in name or not (everything or name in KEPT[look]):
                    continue
                tall = TALL.get(name.partition("-")[0], 0) if size is WIDE else 0
                await visit.page.set_viewport_size({**size, "height": tall} if tall else size)
                await visit.go(path)
                # Boards come by and by: on the first page one after the other.
                await visit.page.wait_for_timeout(8000 if name == "home" else 1500)
                file = into / f"{name}-{look}.png"
                picture = await visit.page.screenshot(
                    full_page=everything, animations="disabled", caret="hide"
                )
                file.write_bytes(await reduced(visitors.browser, picture))
            for mishap in visit.mishaps:
                print(f"{look}: {mishap}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.system.web.support.screenshots")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seconds", type=float, default=90.0, help="for which the ladder plays")
    parser.add_argument("--data", type=Path, help="a ladder that has played already")
    parser.add_argument("--all", action="store_true", help="every page in every dress")
    parser.add_argument("--only", default="", help="pages whose names have this in them")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="keltis-pages-") as scratch:
        data = options.data or Path(scratch) / "ladder"
        token = "" if options.data else cast(data, Path(scratch))
        serving = (
            "--port", str(free_port()), "--no-house", "--requests-per-minute", "100000",
            "--bank", "150", "--increment", "2",  # many matches in little time
        )  # fmt: skip
        with ServerProcess(data, *serving) as server:
            ladder = Ladder(server, token, serving)
            if not options.data:
                play(ladder, options.seconds)
            with open_browser() as visitors:
                visitors.run(
                    photograph(visitors, ladder, options.directory, options.all, options.only)
                )
            server.stop()


if __name__ == "__main__":
    main()

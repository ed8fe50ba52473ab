"""What the pages cost those who look at them: ``make bench-pages``.

Three questions. How many bytes does the first page take with an empty cache? How long does the
viewer need to show the next decision, while nobody plays on this machine? And how much of a core
does a browser spend on sixteen boards on which matches are played?
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from playwright.async_api import Page, Route
from tests.system.web.support.ladders import Ladder, open_ladder
from tests.system.web.support.visits import Visitors, open_browser

from bench.keeping import keep
from keltis_engine import VARIANTS
from keltis_ladder.sandbox.child import descendants
from keltis_server.settings import NICE

Motion = Literal["no-preference", "reduce"]

THINKS: Final = 0.15  # seconds: matches that last as long as the measuring
BOARDS: Final = 16
RENDERER: Final = "renderer"  # does scripts, styles, layout and drawing
PAINTER: Final = "gpu-process"  # does what a graphics card would do, if there was one
GOALS: Final = {
    "first page, bytes": 150_000,
    "a frame applied by the viewer, median ms": 2.0,  # what the browser makes of it comes on top
    "sixteen boards, share of a core": 0.30,
}
# The viewer shows a position in callbacks of the next pictures. Each is timed; then the page is
# measured, which has the browser do at once the styles and the layout that the picture needs.
STOPWATCH: Final = """
  window.spent = { script: 0, whole: 0 };
  window.later = window.requestAnimationFrame.bind(window);
  window.timed = (act) => {
    const begin = performance.now();
    act();
    const done = performance.now();
    document.documentElement.getBoundingClientRect();
    spent.script += done - begin;
    spent.whole += performance.now() - begin;
  };
  window.requestAnimationFrame = (step) => later((now) => timed(() => step(now)));
"""
STEPS: Final = """async (count) => {
  const found = [];
  const target = document.getElementById("viewer");
  const picture = () => new Promise((done) => later(() => setTimeout(done, 0)));
  const rest = () => Promise.all(document.getAnimations().map((each) => each.finished));
  for (let k = 0; k < count; k++) {
    await rest();
    await picture();
    Object.assign(spent, { script: 0, whole: 0 });
    const key = new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true });
    timed(() => target.dispatchEvent(key));
    for (let n = 0; n < 3; n++) await picture(); // cards slide from the second on
    found.push({ ...spent });
  }
  return found;
}"""
PAGE: Final = "/sixteen-boards"  # is served to the browser by ourselves
# Counts the decisions that a board has shown: its slider stands elsewhere then.
COUNTER: Final = """
  window.pictures = 0;
  let place = 0;
  new MutationObserver(() => {
    const now = document.querySelector("input.track").valueAsNumber;
    if (now !== place) window.pictures++;
    place = now;
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ["aria-valuetext"] });
"""


async def first_page(visitors: Visitors, ladder: Ladder) -> dict[str, int]:
    """Return the bytes that the first page takes, headers included, by kind."""
    async with visitors.visit(ladder.url) as visit:
        session = await visit.page.context.new_cdp_session(visit.page)
        await session.send("Network.enable")
        kinds: dict[str, str] = {}
        sizes: dict[str, int] = {}

        def note(told: dict[str, Any]) -> None:
            kinds[told["requestId"]] = told["type"].lower()

        def count(told: dict[str, Any]) -> None:
            kind = kinds.get(told["requestId"], "other")
            sizes[kind] = sizes.get(kind, 0) + int(told["encodedDataLength"])

        session.on("Network.responseReceived", note)
        session.on("Network.loadingFinished", count)
        await visit.go("/")
        await visit.page.wait_for_timeout(3000)  # boards and games come by and by
        return {"all": sum(sizes.values()), **sizes}


async def frames(
    visitors: Visitors, ladder: Ladder, players: int, count: int, motion: Motion
) -> dict[str, dict[str, float]]:
    """Return how long the viewer takes for the decisions of a game of each variant."""
    found = {}
    for variant in VARIANTS:
        [match] = ladder.get(f"/matches?variant={variant}&players={players}&limit=1")["items"]
        async with visitors.visit(ladder.url, reduced_motion=motion) as visit:
            await visit.page.add_init_script(STOPWATCH)
            await visit.go(f"/matches/{match['number']}#game=1&ply=0")
            await visit.page.wait_for_function(
                "() => document.querySelector('input.track')?.max > 10"
            )
            await visit.page.wait_for_timeout(1000)
            plies = int(await visit.page.locator("input.track").get_attribute("max") or 0)
            found[variant] = summary(await visit.page.evaluate(STEPS, min(plies, count)))
    return found


def summary(spent: list[dict[str, float]]) -> dict[str, float]:
    """Return medians and 99th percentiles: of scripts alone, and with styles and layout."""
    found: dict[str, float] = {"frames": len(spent)}
    for part in ("script", "whole"):
        ordered = sorted(each[part] for each in spent)
        found[f"{part}_median_ms"] = round(ordered[len(ordered) // 2], 3)
        found[f"{part}_p99_ms"] = round(ordered[int(0.99 * len(ordered))], 3)
    return found


async def boards(visitors: Visitors, ladder: Ladder, seconds: float) -> dict[str, float]:
    """Return how much of a core a browser takes that shows matches while they are played."""
    wanted = [ladder.challenge(variant) for variant in ("keltis", "neue-wege")]
    for match in wanted:
        await asyncio.to_thread(ladder.wait_until, match, "playing")
    async with visitors.visit(ladder.url) as visit:
        await visit.page.add_init_script(COUNTER)
        await visit.page.route(f"**{PAGE}", partial(answer_with_boards, wanted))
        await visit.go(PAGE)
        await visit.page.wait_for_timeout(4000)
        begin = await shown(visit.page)
        before = processor_seconds()
        await visit.page.wait_for_timeout(1000 * seconds)
        after = processor_seconds()
        pictures = await shown(visit.page) - begin
    states = [ladder.get(f"/matches/{match}")["state"] for match in wanted]
    return {
        "boards": BOARDS,
        "seconds": seconds,
        "share_of_a_core": round((after[RENDERER] - before[RENDERER]) / seconds, 4),
        "share_of_the_painting_process": round((after[PAINTER] - before[PAINTER]) / seconds, 4),
        "frames_per_second_and_board": round(pictures / seconds / BOARDS, 2),
        "matches_still_played": states.count("playing"),
    }


async def answer_with_boards(matches: list[str], route: Route) -> None:
    """Answer with a page like those that others might have, with matches in frames."""
    frames = [f"/embed/matches/{matches[k % len(matches)]}" for k in range(BOARDS)]
    tags = [f'<iframe src="{each}" width="310" height="280"></iframe>' for each in frames]
    await route.fulfill(content_type="text/html", body="<!doctype html>" + "".join(tags))


async def shown(page: Page) -> int:
    """Return how many decisions all boards together have shown."""
    counts = [await frame.evaluate("window.pictures") for frame in page.frames[1:]]
    assert len(counts) == BOARDS
    return sum(int(count) for count in counts)


def processor_seconds() -> dict[str, float]:
    """Return the processor time that the browser's processes have used, by their kind."""
    found = dict.fromkeys((RENDERER, PAINTER), 0.0)
    for pid in descendants(os.getpid()):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        for kind in found:
            if f"--type={kind}" in command:
                ticks = int(fields[11]) + int(fields[12])
                found[kind] += ticks / os.sysconf("SC_CLK_TCK")
    return found


def measure(quick: bool) -> dict[str, Any]:
    """Measure everything."""
    with tempfile.TemporaryDirectory(prefix="keltis-pages-") as scratch:
        ladder = open_ladder(
            Path(scratch) / "ladder", Path(scratch), thinks=THINKS, KELTIS_NICE=str(NICE)
        )
        try:
            with open_browser() as visitors:
                first = visitors.run(first_page(visitors, ladder))
                print(f"first page: {first}", file=sys.stderr)
                size = (2, 20) if quick else (4, 200)
                with ladder.at_rest():
                    moving = visitors.run(frames(visitors, ladder, *size, "no-preference"))
                    print(f"frames: {moving}", file=sys.stderr)
                    still = visitors.run(frames(visitors, ladder, *size, "reduce"))
                    print(f"frames without motion: {still}", file=sys.stderr)
                spent = visitors.run(boards(visitors, ladder, 3.0 if quick else 20.0))
        finally:
            ladder.stop()
    slowest = max(each["script_median_ms"] for each in moving.values())
    figures = (first["all"], slowest, spent["share_of_a_core"])
    return {
        "first_page_bytes": first,
        "frame": moving,
        "frame_without_motion": still,
        "sixteen_boards": spent,
        "goals": {
            name: {"goal": goal, "measured": figure, "met": figure <= goal}
            for (name, goal), figure in zip(GOALS.items(), figures, strict=True)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.server.pages", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only see whether it runs")
    options = parser.parse_args()
    found = measure(options.quick)
    print(json.dumps(found, indent=1))
    if not options.quick:
        keep("pages", found)


if __name__ == "__main__":
    main()

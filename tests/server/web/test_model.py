"""What the viewer makes of the messages of a match, in a real browser."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from tests.server.support.spectating import CALM, order
from tests.server.web.support.browsing import needs_chromium
from tests.server.web.support.pages_app import served_pages
from tests.server.web.test_viewer import authors, browser

# A match that a server was stopped in waits again before it is played: what a page hears of that.
AGAIN: Final = """async (match) => {
    const base = document.querySelector('script[src*="pages/match.js"]').src;
    const { MatchModel } = await import(new URL("../viewer/model.js", base));
    const model = new MatchModel(match);
    const seats = [0, 1];
    const view = { scores: [0, 0] };
    const scores = [0, 0];
    const decision = { kind: "frame", rotation: 0, seat: 0, patch: [], scores };
    const frame = (ply, action = 0) => ({ ...decision, ply, action });
    const frames = (count, action) => Array.from({ length: count }, (_, ply) => frame(ply, action));
    const games = (plies) => [{ rotation: 0, seats, plies, ended: false, faults: [] }];
    const current = (plies) => ({ rotation: 0, seats, clocks: [], view, frames: frames(plies) });
    const under_way = (plies, attempt) =>
        ({ match, games: games(plies), current: current(plies), attempt });
    const waiting = { match, games: [], current: null, attempt: null };
    const found = [];
    const note = () => found.push({ restarts: model.restarts, plies: model.longest(0).plies });
    model.snapshot(under_way(3, "first"));
    model.snapshot(waiting);
    note();
    model.event({ kind: "game", rotation: 0, attempt: "second", seats, clocks: [], view });
    note();
    model.event(frame(0));
    note();
    model.snapshot(waiting);
    note();
    model.snapshot(under_way(5, "third"));
    note();
    model.snapshot(under_way(6, "third"));
    note();
    model.snapshot(under_way(9, "fourth"));
    note();
    const over = { match, games: games(9), current: null, attempt: null };
    const game = { rotation: 0, seats, clocks: [], view, faults: [] };
    const whole = (action) => ({ ...game, frames: frames(9, action) });
    for (const action of [0, 1]) {
        model.snapshot(over);
        found.push(model.lacks(0, "public"));
        model.load(whole(action), "public");
        found.push(model.lacks(0, "public"));
        note();
    }
    return found;
}"""

pytestmark = needs_chromium


def test_a_match_that_waits_again_is_known_to_be_begun_again_when_it_is(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with served_pages(tmp_path, CALM) as server, browser(server.url) as visit:
            players = await authors(server)
            id = await order(server, "keltis", players, held=True)
            await visit.page.goto(f"/matches/{id}")
            told = await visit.page.evaluate(AGAIN, await server.get(f"/matches/{id}"))
            assert told == [
                {"restarts": 0, "plies": 3},  # it was broken off: what was seen of it stays
                {"restarts": 1, "plies": 0},  # the same deal, once more
                {"restarts": 1, "plies": 1},
                {"restarts": 1, "plies": 1},
                {"restarts": 2, "plies": 5},  # begun again, and already farther than it had been
                {"restarts": 2, "plies": 6},  # only the connection was lost
                {"restarts": 3, "plies": 9},  # begun again while we were away, and already farther
                *(True, False, {"restarts": 3, "plies": 9}),  # over: the same moves were read again
                *(True, False, {"restarts": 4, "plies": 9}),  # others: it was begun again before
            ]

    asyncio.run(scenario())

"""What the server counts and measures."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from math import inf, nan
from typing import Final

from aiohttp import web
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from keltis_ladder.dispatch.dispatcher import AttemptFailed, MatchPostponed, MatchStreamed
from keltis_ladder.run.pace import Pace, Tempo
from keltis_ladder.run.scheduler import PlatformTrouble, ResultStored
from keltis_ladder.spectate.batches import Decided
from keltis_ladder.store.schema.version_states import VersionChanged
from keltis_server.events import Happening
from keltis_server.http.problems import Handler

LOOK_EVERY: Final = 0.25  # seconds
FRESH_FOR: Final = 1.0  # seconds
METHODS: Final = ("GET", "HEAD", "POST", "DELETE")  # that are counted by name: clients choose it

REGISTRY: Final = CollectorRegistry()

counter: Final = partial(Counter, registry=REGISTRY)
gauge: Final = partial(Gauge, registry=REGISTRY)

REQUESTS: Final = counter("keltis_requests", "HTTP requests.", ["method", "route", "status"])
LATENCY: Final = Histogram(
    "keltis_request_seconds",
    "Time to answer a request.",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
    registry=REGISTRY,
)
MATCHES: Final = counter("keltis_matches", "Matches stored.", ["variant", "players", "rated"])
DECISIONS: Final = counter("keltis_decisions", "Decisions seen.")
FAULTS: Final = counter("keltis_faults", "Games lost by a fault.", ["kind"])
TROUBLES: Final = counter("keltis_troubles", "What failed and was ours.")
POSTPONED: Final = counter(
    "keltis_matches_postponed", "Matches that the machine was too busy for; they are played later."
)
UNPREPARED: Final = gauge(
    "keltis_programs_failing",
    "Versions that wait because their programs cannot be had, which is ours.",
)
PLAYING: Final = gauge("keltis_matches_playing", "Matches at a referee.")
TEMPO: Final = gauge("keltis_tempo", "1 for the tempo that the ladder plays at.", ["tempo"])
GAIN: Final = gauge(
    "keltis_expected_gain", "Pairs that the most instructive match would put right, per rival."
)
SOCKETS: Final = gauge("keltis_websockets", "Websockets that are open.")
DROPPED: Final = counter("keltis_websockets_dropped", "Websockets that were too slow.")
CUT_OFF: Final = counter(
    "keltis_connections_cut_off",
    "Connections that were refused, or ended because their clients took too long.",
    ["why"],
)
CHANNELS_FAILED: Final = counter(
    "keltis_live_channels_failed", "Live channels that failed by an internal error.", ["kind"]
)
VERSIONS: Final = counter("keltis_versions", "Versions by the state they came to.", ["state"])
LAG: Final = gauge("keltis_loop_lag_seconds", "How late the event loop was, last time.")
TASKS: Final = gauge("keltis_tasks", "Tasks of the event loop.")


class Exposition:
    """All of it as text, made in a thread, and rarely, however often it is asked for."""

    def __init__(self) -> None:
        self._text = b""
        self._at = -inf
        self._making: asyncio.Future[bytes] | None = None

    async def text(self) -> bytes:
        """Return what was counted up to now, or a moment ago."""
        loop = asyncio.get_running_loop()
        if loop.time() - self._at >= FRESH_FOR:
            if self._making is None:
                self._making = loop.run_in_executor(None, generate_latest, REGISTRY)
                self._making.add_done_callback(self._keep)
            await asyncio.shield(self._making)
        return self._text

    def _keep(self, made: asyncio.Future[bytes]) -> None:
        self._making = None
        self._text, self._at = made.result(), asyncio.get_running_loop().time()


def watch_pace(pace: Pace) -> None:
    """Tell from now on how fast the ladder plays."""
    for tempo in Tempo:
        TEMPO.labels(tempo.value).set_function(partial(_plays_at, pace, tempo))
    GAIN.set_function(lambda: nan if pace.gain is None else pace.gain)


def _plays_at(pace: Pace, tempo: Tempo) -> float:
    return float(pace.tempo is tempo)


async def watch_loop() -> None:
    """Measure again and again how late the event loop is."""
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + LOOK_EVERY
        await asyncio.sleep(LOOK_EVERY)
        LAG.set(max(0.0, loop.time() - due))
        TASKS.set(len(asyncio.all_tasks(loop)))


def count(happening: Happening) -> None:
    """Count what happens on the ladder."""
    match happening:
        case MatchStreamed(batch=batch):
            DECISIONS.inc(sum(len(e.decisions) for e in batch if isinstance(e, Decided)))
        case ResultStored(playing=playing, result=result, stored=stored) if stored.fresh:
            rated = "yes" if playing.order.rated else "no"
            MATCHES.labels(playing.job.variant, str(playing.order.players), rated).inc()
            for game in result.games:
                for loss in game.losses:
                    FAULTS.labels(str(loss.fault.kind)).inc()
        case PlatformTrouble() | AttemptFailed():
            TROUBLES.inc()
        case MatchPostponed():
            POSTPONED.inc()
        case VersionChanged(state=state):
            VERSIONS.labels(state).inc()


@web.middleware
async def measure_requests(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Count a request, and take its time."""
    begin = time.perf_counter()
    resource = request.match_info.route.resource
    route = resource.canonical if resource else "none"
    status = 500
    try:
        response = await handler(request)
        status = response.status
        return response
    finally:
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(method, route, str(status)).inc()
        if status != 101:
            LATENCY.labels(route).observe(time.perf_counter() - begin)

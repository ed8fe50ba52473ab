"""What a crash card says of the fatal decision adds up, and is told to its author."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from keltis_cli.bots.crash_cards import say_effort
from keltis_engine import find_variant
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.faults import Fault, Kind
from keltis_ladder.referee.charging import Effort
from keltis_ladder.referee.crash_cards import crash_card
from keltis_ladder.referee.referee import NEVER_RAN

FATAL = Effort(wall=2.0, cpu=0.3, charged=1.0, stalled=0.5, delay=0.1, stolen=0.4)


def test_all_that_was_given_back_is_in_the_card_and_is_said() -> None:
    card = crash_card(
        bot="ada",
        fault=Fault(Kind.TIMEOUT, "clock", "too late"),
        ruleset=find_variant("keltis"),
        names=["ada", "gwyn"],
        seat=0,
        seed=1,
        actions=[],
        request=None,
        left_ms=1000,
        control=TimeControl(1000, 0),
        log="",
        ended=NEVER_RAN,
        efforts=[],
        fatal=FATAL,
    )
    fatal = card["fatal"]
    given_back = fatal["stalled_ms"] + fatal["referee_delay_ms"] + fatal["stolen_ms"]
    assert fatal["wall_ms"] - given_back == fatal["charged_ms"]
    page = Console(file=StringIO(), width=200)
    say_effort(page, card)
    assert isinstance(page.file, StringIO)
    assert page.file.getvalue() == (
        "  The last decision: took 2,000 ms, CPU 300 ms, kept waiting by the machine 500 ms, "
        "by the referee 100 ms, by a hypervisor 400 ms, charged 1,000 ms.\n"
    )

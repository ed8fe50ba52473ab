"""``docs/authors/protocol.md`` and ``docs/authors/bots.md`` say what the code does."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from keltis_bots import messages
from keltis_bots.framing import MOST_FROM_BOT, frame
from keltis_bots.manifest import parse_manifest
from keltis_bots.request import Game
from keltis_cli.bots.init import TESTS
from keltis_engine import VARIANTS, Rng, find_variant
from keltis_engine.play.policies import eager
from keltis_engine.state.state import ENDINGS
from keltis_ladder.files.sizes import MIB
from keltis_ladder.match.clock import TimeControl
from keltis_ladder.match.faults import Kind
from keltis_ladder.sandbox.limits import PLAY
from tests.bots.support import transcripts
from tests.bots.support.piped import PipedBot, Seat, play_game
from tests.bots.support.refusals import refused
from tests.places import ROOT

PROTOCOL = (ROOT / "docs/authors/protocol.md").read_text("utf-8")
GUIDE = (ROOT / "docs/authors/bots.md").read_text("utf-8")
NOTATION = (ROOT / "docs/readers/notation.md").read_text("utf-8")
SNIPPET = re.compile(r"<!-- from: (\S+) -->\n```\w+\n(.*?)```\n", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```\n", re.DOTALL)
CODE = re.compile(r"""(?:ProtocolError\(|Kind\.[A-Z]+,|code =)\s*"([a-z-]+)"|"signal" if""")


def section(title: str, document: str = PROTOCOL) -> str:
    """Return a section of the document, without those that follow at its level."""
    level = title.split()[0]
    assert document.count(f"\n{title}\n") == 1, title
    rest = document.split(f"\n{title}\n")[1]
    return re.split(rf"\n#{{1,{len(level)}}} ", rest)[0]


def fields(text: str) -> set[str]:
    """Return the names in the first column of the tables of a text."""
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}


def test_what_it_shows_of_the_transcripts_is_in_them() -> None:
    assert transcripts.refreshed(PROTOCOL) == PROTOCOL
    shown = {found["variant"] for found in transcripts.blocks(PROTOCOL)}
    assert shown == set(VARIANTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_transcript_shows_visible_and_hidden_cards_and_the_end(variant: str) -> None:
    game, lines = transcripts.read(variant)
    shown = [
        lines[int(found["line"]) - 2].message
        for found in transcripts.blocks(PROTOCOL)
        if found["variant"] == variant
    ]
    kinds = [message["type"] for message in shown]
    assert {"game", "choose", "action", "end"} <= set(kinds)
    events = [event for message in shown for event in message.get("events", [])]
    assert any(event["card"] for event in events)
    hidden = [e for e in events if e["notation"] == "draw" and e["seat"] != game["seat"]]
    assert bool(hidden) == (variant != "weg-der-steine")
    assert all(event["card"] is None for event in hidden)


def test_the_snippets_are_those_of_the_starters() -> None:
    found = SNIPPET.findall(PROTOCOL)
    assert len(found) == 6
    for path, snippet in found:
        assert snippet in (ROOT / path).read_text("utf-8"), path


def test_the_bot_without_the_sdk_plays() -> None:
    with PipedBot([sys.executable, ROOT / "tests/bots/support/plain_bot.py"]) as bot:
        seat = Seat(bot)
        seat.greet()
        for variant in VARIANTS:
            play_game(find_variant(variant), 2, 5, {0: seat})
        assert bot.end() == (0, "")


@pytest.mark.parametrize("snippet", PYTHON.findall(GUIDE))
def test_the_bots_of_the_guide_play(tmp_path: Path, snippet: str) -> None:
    if "\nrun(" not in snippet:
        snippet = f"from keltis_bots import Request, run\n\n{snippet}\nrun(choose)\n"
    (tmp_path / "bot.py").write_text(snippet)
    with PipedBot([sys.executable, "bot.py"], tmp_path) as bot:
        seat = Seat(bot)
        seat.greet()
        for variant in VARIANTS:
            ruleset = find_variant(variant, {"turn_limit": 8})
            play_game(ruleset, 3, 5, {0: seat})
        assert bot.end()[0] == 0


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("### game", set(Game.__dataclass_fields__) | {"type"}),
        ("### end", {"type", "ending", "scores", "ranks", "events"}),
        ("### error", set(messages.error("", ""))),
        ("### Events", {"seat", "action", "notation", "card"}),
        ("### action", {"type", "id", "action"}),
    ],
)
def test_every_field_of_a_message_is_described(title: str, expected: set[str]) -> None:
    assert fields(section(title)) == expected


def test_the_fields_of_the_greetings_and_of_requests_are_described() -> None:
    to_bot, from_bot = PROTOCOL.split("\n## Messages from the bot\n")
    greeting = to_bot.split("\n### hello\n")[1].split("\n### ")[0]
    assert fields(greeting) == set(messages.hello("", 0, messages.CPU_CLOCK))
    answer = from_bot.split("\n### hello\n")[1].split("\n### ")[0]
    assert fields(answer) == {"type", "protocol", "name", "version"}
    request = transcripts.read("keltis").lines[3].message
    assert fields(section("### choose")) == set(request)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_field_of_a_view_is_described(variant: str) -> None:
    described = fields(section("### In every view")) | fields(section(f"### `{variant}`"))
    if variant != "weg-der-steine":
        title = "### With cards in hand: `keltis`, `neue-wege`, `kartenspiel`"
        described |= fields(section(title))
    assert described == set(find_variant(variant).deal(2, 1).view(0))


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_is_said_of_some_fields_holds(variant: str) -> None:
    rng = Rng(4)
    for players in (2, 3, 4):
        state = find_variant(variant).deal(players, players)
        while not state.over:
            view = state.view(int(state.seat))
            assert view["viewer"] == view["seat"] == state.seat
            assert view["pile"]["cards"] is None
            assert view["pile"]["size"] == sum(view["pile"]["streams"])
            if "removed" in view:
                assert view["removed"] == {"size": 30 if players == 2 else 0, "cards": None}
            for name, phase in (("entering", "figure"), ("laid", "move"), ("revealed", "revealed")):
                if name in view:
                    assert (view[name] is not None) == (view["phase"] == phase)
            for figures in view.get("figures", []):
                assert figures["small"] == sorted(figures["small"])
            if variant == "neue-wege":
                assert view["draws"] in (1, 2)
            state.apply(eager(state, rng))


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_tables_of_actions_are_those_of_the_notation_page(variant: str) -> None:
    rows = [r for r in section(f"## `{variant}`", NOTATION).splitlines() if r.startswith("|")]
    assert "\n".join(rows) in section(f"### `{variant}`")


def test_every_code_is_explained_with_the_text_that_the_bot_is_told() -> None:
    for code, error in refused():
        assert error.code == code
        assert f"\n> {error}\n" in section(f"#### {code}")


def test_no_code_of_the_sources_is_missing() -> None:
    sources = [
        *(ROOT / "bots/keltis_bots").glob("*.py"),
        *(ROOT / "ladder/keltis_ladder").rglob("*.py"),
    ]
    codes = {code for path in sources for code in CODE.findall(path.read_text("utf-8")) if code}
    assert {"text-on-stdout", "extra-reply", "not-legal", "memory"} <= codes
    for code in codes | {"exit", "signal", "start", "clock", "closed-stdin", "closed-stdout"}:
        assert f"#### {code}\n" in PROTOCOL or f"`{code}`" in section("## Faults"), code


def test_kinds_of_faults_and_endings_are_all_there() -> None:
    assert [f"| `{kind}` |" in section("## Faults") for kind in Kind] == [True] * len(Kind)
    for ending in [*ENDINGS, "fault"]:
        assert f"`{ending}`" in section("### end")


def test_the_numbers_are_those_of_the_code() -> None:
    control = TimeControl()
    assert f"**bank** ({control.bank_ms} ms)" in PROTOCOL
    assert f"**increment** ({control.increment_ms} ms)" in PROTOCOL
    assert control.start_ms == 5000
    assert f"at most {MOST_FROM_BOT} bytes" in PROTOCOL
    assert f"at most {messages.LONGEST_NAME} printable characters" in PROTOCOL
    for text in (PROTOCOL, GUIDE):
        assert f"| memory | {PLAY.memory // MIB // 1024} GiB resident" in text
        assert f"{PLAY.scratch // MIB} MiB in at most {PLAY.scratch_files} files" in text
        assert f"| processes and threads | {PLAY.processes}" in text
        assert str(PLAY.open_files) in text
        assert f"{PLAY.file_size // MIB} MiB" in text


def test_the_bytes_of_the_example_are_those_of_the_message() -> None:
    block = section("## Frames").split("```\n")[1]
    data = bytes.fromhex("".join(line[:48].replace(" ", "") for line in block.splitlines()))
    assert data == frame({"type": "action", "id": 300, "action": 5})


def test_the_guide_knows_the_manifest_and_the_languages() -> None:
    for name in fields(section("## bot.toml", GUIDE)):
        assert name in parse_manifest({"name": "a", "run": ["a"]}).__dataclass_fields__
    for lang, command in TESTS.items():
        assert re.search(rf"\| `{lang}` \| .* \| `{re.escape(command)}` \|", GUIDE)


def test_links_between_sections_lead_somewhere() -> None:
    def anchors(text: str) -> set[str]:
        titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}

    pages = {"protocol.md": PROTOCOL, "bots.md": GUIDE}
    for name, text in pages.items():
        for page, anchor in re.findall(r"\]\(([\w.]*)#([\w-]+)\)", text):
            assert anchor in anchors(pages[page or name]), (name, page, anchor)

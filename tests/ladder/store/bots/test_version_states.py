"""A version changes its state by one table, which the documentation has, too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlmodel import Session, select

from keltis_ladder.store.bots.catalogue import add_version, ensure_author, ensure_bot
from keltis_ladder.store.bots.version_words import WORDS, reason_of, reason_text
from keltis_ladder.store.database import Database
from keltis_ladder.store.schema.tables import Bot, Version
from keltis_ladder.store.schema.version_states import (
    TRANSITIONS,
    VersionCause,
    VersionState,
    WrongTransition,
    change_state,
    states_before,
)

ROOT = Path(__file__).parents[4]
PAGE = ROOT / "docs/authors/submitting.md"
NEW = "new"
SOURCES = ("ladder", "server", "cli")
DETAILS: dict[str, str | int | bool] = {
    "text": "why", "version": 7, "faults": 1, "matches": 2, "rated": True,
}  # fmt: skip


def documented() -> dict[tuple[VersionState | None, VersionCause], VersionState]:
    """Read the table of the page for authors."""
    table = PAGE.read_text().split("<!-- transitions:")[1].split("\n\n")[1]
    found = {}
    for line in table.splitlines()[2:]:
        cause, sources, state, _ = [cell.strip().replace("`", "") for cell in line.split("|")[1:-1]]
        for source in sources.split(", "):
            before = None if source == NEW else VersionState(source)
            found[before, VersionCause(cause)] = VersionState(state)
    return found


def in_state(session: Session, state: VersionState | None) -> tuple[Bot, Version]:
    """Return a version that has come into a state by the table, the shortest way."""
    bot = ensure_bot(session, ensure_author(session, "ada"), "one")
    if state is None:
        assert bot.id is not None
        return bot, Version(bot_id=bot.id, number=1, variants=[], players=[], created=bot.created)
    version, _ = add_version(session, bot, ["keltis"], [2])
    if version.state != state:
        checking = VersionState.CHECKING
        ways = [
            why for (before, why), to in TRANSITIONS.items() if (before, to) == (checking, state)
        ]
        change_state(session, bot, version, ways[0])
    return bot, version


def test_the_page_for_authors_has_the_same_table() -> None:
    assert documented() == TRANSITIONS


@pytest.mark.parametrize("state", [None, *VersionState])
def test_each_cause_leads_where_the_table_says_and_no_other_changes_anything(
    database: Database, state: VersionState | None
) -> None:
    for cause in VersionCause:
        with database.writing() as session:
            bot, version = in_state(session, state)
            if (to := TRANSITIONS.get((state, cause))) is None:
                with pytest.raises(WrongTransition, match=rf"cannot change by '{cause}'"):
                    change_state(session, bot, version, cause)
                assert (version.state or None) == state
            else:
                change = change_state(session, bot, version, cause, text="it said \0")
                assert (change.before, change.state, change.cause) == (state, to, cause)
                assert (change.bot, change.number, change.author_id) == ("one", 1, bot.author_id)
                assert change.details == {"text": r"it said \x00"}
                found = session.exec(select(Version)).one()
                assert (found.state, found.cause, found.id) == (to, cause, change.version_id)
            session.rollback()


def test_every_state_can_be_left_and_every_cause_does_something() -> None:
    assert {before for before, _ in TRANSITIONS} == {None, *VersionState}
    assert {cause for _, cause in TRANSITIONS} == set(VersionCause)
    assert states_before(VersionCause.FAILED) == {VersionState.CHECKING}


@pytest.mark.parametrize("cause", VersionCause)
def test_each_cause_has_words_and_can_do_without_what_was_forgotten(cause: VersionCause) -> None:
    assert set(WORDS) == set(VersionCause)
    told = reason_text(cause, DETAILS)
    explained = {"broken", "retired", "superseded", "unchecked"}
    leads_to = {str(to) for (_, why), to in TRANSITIONS.items() if why is cause}
    assert bool(told) == bool(leads_to & explained)
    assert "{" not in told + reason_text(cause, {})


def test_words_with_braces_are_shown_as_they_are(database: Database) -> None:
    with database.writing() as session:
        bot, version = in_state(session, VersionState.CHECKING)
        change_state(session, bot, version, VersionCause.FAILED, text="build: {0} {text}")
        assert reason_of(version) == "build: {0} {text}"


def test_nobody_else_sets_a_state() -> None:
    """The columns of a version are written in one module; steps of the schema are older than it."""
    writes = re.compile(r"\bversion\.(state|cause) = |_version\)\.values|update\(Version\)")
    found = {
        str(path.relative_to(ROOT))
        for source in SOURCES
        for path in (ROOT / source).rglob("*.py")
        if writes.search(path.read_text())
    }
    assert found == {"ladder/keltis_ladder/store/schema/version_states.py"}

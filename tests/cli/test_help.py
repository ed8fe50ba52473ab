"""The help of every command is as it was reviewed; ``make help-snapshots`` writes it."""

import pytest

from tests.cli.support.help_snapshots import COLUMNS, FOLDER, all_commands, file_name, help_text


def test_every_command_has_a_snapshot_and_every_snapshot_a_command() -> None:
    expected = {file_name(words) for words in all_commands()}
    assert {path.name for path in FOLDER.iterdir()} == expected


@pytest.mark.parametrize("words", all_commands(), ids=lambda words: " ".join(words) or "itself")
def test_help_is_as_in_its_snapshot(words: tuple[str, ...]) -> None:
    text = help_text(words)
    assert text == (FOLDER / file_name(words)).read_text(encoding="utf-8")
    assert all(len(line) <= COLUMNS for line in text.splitlines())

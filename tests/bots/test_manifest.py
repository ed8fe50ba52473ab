"""``bot.toml``: what it may say, and what is told to those who write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from keltis_bots.manifest import LARGEST, BadManifest, Manifest, parse_manifest, read_manifest
from keltis_engine import VARIANTS

SHORTEST = 'name = "zorro"\nrun = ["./bot"]\n'


def written(directory: Path, text: str) -> Path:
    (directory / "bot.toml").write_text(text, encoding="utf-8")
    return directory


def test_a_key_of_very_many_parts_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    long = "a" + ".a" * 30_000 + " = 1"
    for text in (long, "x = {" + long + "}", f"[{long[:-4]}]"):
        with pytest.raises(BadManifest, match="more than 200 dots"):
            read_manifest(written(tmp_path, text))


def test_a_name_and_a_command_are_enough(tmp_path: Path) -> None:
    manifest = read_manifest(written(tmp_path, SHORTEST))
    assert manifest == Manifest(name="zorro", run=("./bot",))
    assert manifest.build == ()
    assert manifest.variants == tuple(VARIANTS)
    assert manifest.players == (2, 3, 4)


def test_all_fields_are_read_in_our_order(tmp_path: Path) -> None:
    text = SHORTEST + (
        'build = ["make"]\ndescription = "fast"\n'
        'variants = ["kartenspiel", "keltis"]\nplayers = [4, 2]\n'
    )
    assert read_manifest(written(tmp_path, text)) == Manifest(
        name="zorro",
        run=("./bot",),
        build=("make",),
        variants=("keltis", "kartenspiel"),
        players=(2, 4),
        description="fast",
    )


def test_a_directory_without_one_is_told_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(BadManifest, match=r"has no bot\.toml; .*keltis-ladder init"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name = ", "is not valid TOML"),
        ("run = ['a']", "the field 'name' is missing"),
        ("name = 'a'", "the field 'run' is missing"),
        (SHORTEST + "colour = 1", "unknown field 'colour'; it may have name, run, build"),
        ("name = 'Zorro'\nrun = ['a']", "invalid name 'Zorro'"),
        ("name = '-a'\nrun = ['a']", "the first a letter or digit"),
        ("name = 7\nrun = ['a']", "invalid name 7"),
        (f"name = '{'a' * 41}'\nrun = ['a']", "1 to 40"),
        ("name = 'a\\n'\nrun = ['a']", "invalid name"),
        ("name = 'a'\nrun = 'python3 bot.py'", "'run' must be a list of words"),
        ("name = 'a'\nrun = []", "'run' must be a list of words"),
        ("name = 'a'\nrun = ['']", "'run' must be a list of words"),
        (SHORTEST + "build = [1]", "'build' must be a list of words"),
        (SHORTEST + "variants = ['chess']", "'variants' must list some of 'keltis'"),
        (SHORTEST + "variants = 'keltis'", "'variants' must list some of"),
        (SHORTEST + "players = [5]", "'players' must list some of 2, 3, 4"),
        (SHORTEST + "players = [true]", "'players' must list some of 2, 3, 4"),
        (SHORTEST + "players = [2.0]", "'players' must list some of 2, 3, 4"),
        (SHORTEST + "players = []", "'players' must list some of"),
        (SHORTEST + f"description = '{'x' * 501}'", "at most 500"),
        (SHORTEST + f"players = [{'9' * 5000}]", "is not valid TOML"),
        (SHORTEST + f"players = [0x{'f' * 5000}]", "'players' must list some of 2, 3, 4"),
        (f"name = {'9' * 5000}\nrun = ['a']", "is not valid TOML"),
        (f"name = 0x{'f' * 5000}\nrun = ['a']", "invalid name that is a huge number"),
        (f"name = '{'z' * 50_000}'\nrun = ['a']", "zzz...: use"),
        ("name = [0x" + "f" * 5000 + "]\nrun = ['a']", "invalid name of type list"),
        (SHORTEST + 'description = "a\\u001b[2J"', "has the character U+001B"),
        (SHORTEST + 'description = "\\u202egniht"', "has the character U+202E"),
        (SHORTEST + 'description = "\\u2066a"', "has the character U+2066"),
        (SHORTEST + 'description = "\\u009b2J"', "has the character U+009B"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(BadManifest) as caught:
        read_manifest(written(tmp_path, text))
    assert says in str(caught.value)
    assert str(tmp_path / "bot.toml") in str(caught.value)


def test_a_huge_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadManifest, match="larger than"):
        read_manifest(written(tmp_path, "#" * (LARGEST + 1)))
    (tmp_path / "bot.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadManifest, match="not valid TOML"):
        read_manifest(tmp_path)


def test_a_word_cannot_hide_a_nul() -> None:
    with pytest.raises(BadManifest, match="list of words"):
        parse_manifest({"name": "a", "run": ["a\0b"]})


@pytest.mark.parametrize("field", ["run", "build"])
@pytest.mark.parametrize("words", [["x"] * 65, ["x" * 1000] * 5, ["\u00e9" * 900] * 3])
def test_a_command_longer_than_any_message_should_be_is_refused(
    field: str, words: list[str]
) -> None:
    """Every job carries the command: one author's bots would make those of all matches long."""
    fields = {"name": "long", "run": ["python3", "bot.py"], field: words}
    with pytest.raises(BadManifest, match=r"'run' and 'build' have .* they may have 64 words"):
        parse_manifest(fields)
    parse_manifest({**fields, field: words[:1]})


def test_both_commands_together_are_bounded() -> None:
    half = ["x"] * 33
    with pytest.raises(BadManifest, match="have 66 words and 132 bytes together; they may have 64"):
        parse_manifest({"name": "long", "run": half, "build": half})
    bytes_of_half = ["x" * 999] * 2
    parse_manifest({"name": "long", "run": bytes_of_half, "build": bytes_of_half})
    with pytest.raises(BadManifest, match="4,096 bytes"):
        parse_manifest({"name": "long", "run": [*bytes_of_half, "y" * 99], "build": bytes_of_half})

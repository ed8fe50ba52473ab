"""Seeds that nobody chose: the server's part of a seed, and what is mixed into it.

The server commits to a stock of secret parts long before they are used. When a match begins, the
oldest part that is left is mixed with the programs that play and with a result that did not exist
yet when the part was committed to. ``docs/readers/seeds.md`` says what this prevents
and what it cannot.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

SECRET_BYTES: Final = 16
SEED_BYTES: Final = 16
NO_RESULT: Final = "0" * 64  # the digest before the first result
NO_PROGRAM: Final = "none"
FAULT_FACTS: Final = ("rotation", "seat", "decision", "kind", "code")

Facts = Mapping[str, Any]

_PART: Final = "keltis-ladder/seed-part/1"
_SEED: Final = "keltis-ladder/seed/1"
_RESULT: Final = "keltis-ladder/result/1"
_SECRET_PATTERN: Final = re.compile(f"[0-9a-f]{{{2 * SECRET_BYTES}}}")
_DIGEST_PATTERN: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Origin:
    """What a seed is made of, but for the secret: everybody may know it before the match."""

    part: int  # the number of the server's part
    after: int  # number of results that were stored when the server committed to it
    part_commitment: str
    previous: int  # the number of the result that is mixed in; 0 if there was none
    previous_digest: str
    programs: tuple[str, ...]  # by entrant

    @property
    def was_open(self) -> bool:
        """Whether the server committed to its part before the result existed."""
        return self.previous > self.after

    def to_plain(self) -> dict[str, Any]:
        """Return it as a dict of texts and numbers."""
        return {**asdict(self), "programs": list(self.programs)}


class BadOrigin(ValueError):
    """What stands for the origin of a seed is none; the text says which field."""


def origin_from_plain(plain: object) -> Origin:
    """Return the origin that ``to_plain`` wrote, or raise ``BadOrigin``."""
    if not isinstance(plain, dict):
        raise BadOrigin("it is not a JSON object")
    numbers = {name: plain.get(name) for name in ("part", "after", "previous")}
    for name, value in numbers.items():
        if type(value) is not int or value < 0:
            raise BadOrigin(f"its {name!r} is {value!r}, not a whole number")
    digests = {name: plain.get(name) for name in ("part_commitment", "previous_digest")}
    for name, value in digests.items():
        if not (isinstance(value, str) and _DIGEST_PATTERN.fullmatch(value)):
            raise BadOrigin(f"its {name!r} is {value!r}, not 64 digits from 0 to f")
    programs = plain.get("programs")
    if not (isinstance(programs, list) and all(isinstance(each, str) for each in programs)):
        raise BadOrigin(f"its 'programs' is {programs!r}, not a list of texts")
    return Origin(
        part=plain["part"],
        after=plain["after"],
        part_commitment=plain["part_commitment"],
        previous=plain["previous"],
        previous_digest=plain["previous_digest"],
        programs=tuple(programs),
    )


def is_secret(text: object) -> bool:
    """Return whether this can be the server's part of a seed."""
    return isinstance(text, str) and _SECRET_PATTERN.fullmatch(text) is not None


def part_commitment(number: int, after: int, secret: str) -> str:
    """Return the hash that binds the server to a part of a seed."""
    return _digest(_PART, str(number), str(after), secret)


def mixed_seed(origin: Origin, secret: str) -> int:
    """Return the seed of a deal.

    Nothing is in it that the server could choose when it knows the rest. So the order of the
    entrants does not matter, and the match's id, its variant and the time are left out.
    """
    text = encode(
        [
            _SEED,
            str(origin.part),
            secret,
            str(origin.previous),
            origin.previous_digest,
            *sorted(origin.programs),
        ]
    )
    return int.from_bytes(hashlib.sha256(text).digest()[:SEED_BYTES], "big")


def program_name(archive_digest: str | None, built_in: str | None) -> str:
    """Return what stands for a program: its archive's digest, or which of ours it is."""
    if archive_digest is not None:
        return f"archive {archive_digest}"
    return NO_PROGRAM if built_in is None else f"built-in {built_in}"


def result_digest(before: str, facts: Iterable[object]) -> str:
    """Return the digest of a result and, by the one before it, of all earlier ones."""
    return _digest(_RESULT, before, *(str(fact) for fact in facts))


def match_facts(
    number: int,
    job_id: str,
    variant: str,
    rated: bool,
    seed: str,
    games: Sequence[Facts],
    faults: Sequence[Facts],
) -> Iterator[object]:
    """Return what a result consists of, in one order; games and faults are sorted."""
    yield from (number, job_id, variant, int(rated), seed, len(games))
    for game in sorted(games, key=lambda game: int(game["rotation"])):
        yield from (
            game["rotation"],
            game["ending"],
            game["digest"],
            json.dumps(game["ranks"], separators=(",", ":")),
        )
    yield len(faults)
    found = [tuple(fault[name] for name in FAULT_FACTS) for fault in faults]
    for fault in sorted(found, key=lambda fault: fault[:3]):
        yield from fault


def encode(texts: Iterable[str]) -> bytes:
    """Return texts as netstrings: no two lists of texts have the same bytes."""
    parts = [text.encode("utf-8") for text in texts]
    return b"".join(b"%d:%s," % (len(part), part) for part in parts)


def _digest(*texts: str) -> str:
    return hashlib.sha256(encode(texts)).hexdigest()

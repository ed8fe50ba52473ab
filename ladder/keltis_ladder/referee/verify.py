"""Verify replays: play each game again, and compare everything that its record says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from keltis_engine import EngineError, State
from keltis_engine.records.replay import END, Replay, expand, play_again, rules_of, steps
from keltis_ladder.match.commitments import commitment
from keltis_ladder.match.faults import Kind
from keltis_ladder.match.results import rank_seats
from keltis_ladder.match.rotation import by_entrant
from keltis_ladder.match.seeds import (
    BadOrigin,
    Origin,
    is_secret,
    match_facts,
    mixed_seed,
    origin_from_plain,
    part_commitment,
    result_digest,
)
from keltis_ladder.referee.caretaker import Caretaker
from keltis_ladder.referee.messages import FAULT

_RULES: Final = ("variant", "version", "options", "players", "seed")
_FAULT_FIELDS: Final = {"seat", "decision", "kind", "code", "text"}
_RESULT_FIELDS: Final = {"rated", "before", "digest"}


class CheckOutcome(StrEnum):
    """What came of a check."""

    OK = "ok"
    WRONG = "wrong"
    WEAK = "weak"  # it holds, and yet proves less than it might
    ABSENT = "absent"  # not in the file


@dataclass(frozen=True)
class Check:
    """One thing that a record says, and what came of looking at it."""

    name: str
    mark: CheckOutcome
    text: str = ""


@dataclass
class Verdict:
    """All that was found about one game."""

    record: Replay
    checks: list[Check] = field(default_factory=list)

    @property
    def wrong(self) -> list[Check]:
        """What does not hold."""
        return [check for check in self.checks if check.mark is CheckOutcome.WRONG]

    def names(self, mark: CheckOutcome) -> list[str]:
        """Return what has come out like this."""
        return [check.name for check in self.checks if check.mark is mark]


class _Mismatch(Exception):
    """A field is not what it should be."""


class _Absent(Exception):
    """The record has no such field."""


class _Weak(Exception):
    """All is right, but it does not prove what it is for."""


def verify_games(
    records: Sequence[Replay], noted: str | None = None, whole: bool = True
) -> list[Verdict]:
    """Return what is to be said of each game; those of one match are compared with each other."""
    verdicts = [verify_game(record, noted) for record in records]
    compare_games(verdicts, whole)
    return verdicts


def compare_games(verdicts: Sequence[Verdict], whole: bool) -> None:
    """Add what comes of comparing the games of each match; with ``whole``, all have to be there."""
    matches: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        record = verdict.record
        if "match" in record or "job" in record:
            matches.setdefault(str(record.get("job", record.get("match"))), []).append(verdict)
    for games in matches.values():
        _verify_match(games, whole)


def verify_game(record: Replay, noted: str | None = None) -> Verdict:
    """Play a game again, and return what is to be said of all that its record says."""
    verdict = Verdict(record)
    try:
        end, digest = play_again(record)
    except EngineError as error:
        verdict.checks.append(Check("decisions", CheckOutcome.WRONG, str(error)))
        return verdict  # nothing else can be told of a game that cannot be played
    count = len(record["decisions"])
    verdict.checks.append(Check("decisions", CheckOutcome.OK, f"{count}, all legal"))
    looks: list[tuple[str, Callable[[], None]]] = [
        ("scores", lambda: _compare(end.scores(), record["scores"])),
        ("digest", lambda: _compare(digest, record["digest"])),
        ("faults", lambda: _check_faults(record, end)),
        ("ending", lambda: _check_ending(record, end)),
        ("ranks", lambda: _check_ranks(record, end)),
        ("names", lambda: _check_names(record)),
        ("rotation", lambda: _check_rotation(record)),
        ("match", lambda: _check_number(record)),
        ("origin", lambda: _check_origin(record)),
        ("seed", lambda: _check_seed(record)),
        ("commitment", lambda: _check_commitment(record)),
        ("result", lambda: _check_has(record, "result")),
    ]
    if noted is not None:
        looks.append(("noted commitment", lambda: _check_noted(record, noted)))
    verdict.checks += [_look(name, look) for name, look in looks]
    return verdict


def expanded(record: Replay, end: State) -> dict[str, Any]:
    """Return the expanded replay of a verified game; it knows of faults, if the record does.

    A bot that dropped out has not won, and a game that only one was left in was over.
    """
    plain = expand(record)
    if "faults" not in record:
        return plain
    out = [fault["seat"] for fault in record["faults"]]
    ranks = _ranks(record, end)
    ending = _ending(record, end)
    return {
        **plain,
        "over": ending is not None,
        "ending": ending,
        "winners": [seat for seat, rank in enumerate(ranks) if rank == 1 and seat not in out],
        "ranks": ranks,
        "faults": record["faults"],
        **{name: record[name] for name in ("names", "match", "rotation") if name in record},
    }


# One game


def _look(name: str, look: Callable[[], None]) -> Check:
    try:
        look()
    except _Absent:
        return Check(name, CheckOutcome.ABSENT)
    except _Weak as weak:
        return Check(name, CheckOutcome.WEAK, str(weak))
    except _Mismatch as mismatch:
        return Check(name, CheckOutcome.WRONG, str(mismatch))
    return Check(name, CheckOutcome.OK)


def _field(record: Replay, name: str) -> Any:
    if name not in record:
        raise _Absent
    return record[name]


def _check_has(record: Replay, name: str) -> None:
    _field(record, name)


def _compare(expected: object, said: object) -> None:
    # Not by ==, to which 1, 1.0 and True are the same.
    if repr(expected) != repr(said):
        raise _Mismatch(f"expected {expected!r}, the file says {said!r}")


def _is_number(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _check_faults(record: Replay, end: State) -> None:
    """See that those who dropped out were asked then, and that others played on for them."""
    faults = _field(record, "faults")
    if not (isinstance(faults, list) and all(isinstance(fault, dict) for fault in faults)):
        raise _Mismatch(f"expected a list of objects, the file says {faults!r}")
    players, count = record["players"], len(record["decisions"])
    for fault in faults:
        if unknown := set(fault) - _FAULT_FIELDS:
            raise _Mismatch(f"a fault has no field {sorted(unknown)[0]!r}")
        if not _is_number(fault.get("seat"), 0, players - 1):
            raise _Mismatch(
                f"a fault's 'seat' is from 0 to {players - 1}, the file says {fault.get('seat')!r}"
            )
        if not _is_number(fault.get("decision"), 0, count):
            said = fault.get("decision")
            raise _Mismatch(f"a fault's 'decision' is from 0 to {count}, the file says {said!r}")
        if fault.get("kind") not in list(Kind):
            kinds = ", ".join(Kind)
            raise _Mismatch(
                f"a fault's 'kind' is one of {kinds}; the file says {fault.get('kind')!r}"
            )
        for name in ("code", "text"):
            if not isinstance(fault.get(name, "" if name == "text" else None), str):
                raise _Mismatch(f"a fault's {name!r} is a text, the file says {fault.get(name)!r}")
    seats = [fault["seat"] for fault in faults]
    if len(set(seats)) < len(seats):
        raise _Mismatch(f"nobody drops out twice, the file says seats {seats}")
    if [fault["decision"] for fault in faults] != sorted(fault["decision"] for fault in faults):
        raise _Mismatch("they are told in the order in which they happened; the file has another")
    _check_conduct(record, {fault["seat"]: fault["decision"] for fault in faults})
    if not end.over and faults and players - len(faults) > 1:
        raise _Mismatch("the game goes on with the others, the file ends it")


def _check_conduct(record: Replay, dropped: dict[int, int]) -> None:
    """Follow the game: who drops out was asked then, and then others decide for them."""
    players = record["players"]
    caretaker = Caretaker(rules_of(record))
    # Who dropped out before the first decision may not have started; nobody need have been asked.
    out = {seat for seat, decision in dropped.items() if decision == 0}
    for ply, (state, action) in enumerate(steps(record)):
        for seat, decision in dropped.items():
            if decision != ply or ply == 0:
                continue
            if state.over or state.seat != seat or len(state.legal_actions()) < 2:
                raise _Mismatch(
                    f"seat {seat} was not asked after {ply} decisions: a fault's 'seat' or"
                    " 'decision' is wrong"
                )
            out.add(seat)
        if action == END:
            return
        if players - len(out) < 2:
            raise _Mismatch(
                f"the game was over by faults after {ply} decisions, the file goes on:"
                " a fault's 'decision' is wrong, or one is too many"
            )
        legal = state.legal_actions()
        if state.seat in out and len(legal) > 1 and caretaker.choose(legal) != action:
            raise _Mismatch(
                f"seat {state.seat} decided after it had dropped out, in decision {ply + 1}: a"
                " fault's 'seat' or 'decision' is wrong"
            )


def _dropped(record: Replay) -> dict[int, int]:
    try:
        return {int(fault["seat"]): int(fault["decision"]) for fault in record.get("faults", [])}
    except (TypeError, ValueError, KeyError):
        raise _Mismatch("it follows from the faults, which are wrong") from None


def _ending(record: Replay, end: State) -> str | None:
    if end.over:
        return end.ending
    return FAULT if record["players"] - len(_dropped(record)) < 2 else None


def _check_ending(record: Replay, end: State) -> None:
    _compare(_ending(record, end), _field(record, "ending"))


def _ranks(record: Replay, end: State) -> list[int]:
    return rank_seats(end.scores(), _dropped(record))


def _check_ranks(record: Replay, end: State) -> None:
    _compare(_ranks(record, end), _field(record, "ranks"))


def _check_names(record: Replay) -> None:
    names, players = _field(record, "names"), record["players"]
    fine = isinstance(names, list) and all(isinstance(name, str) and name for name in names)
    if not fine or len(names) != players:
        raise _Mismatch(f"expected {players} names, the file says {names!r}")


def _check_rotation(record: Replay) -> None:
    rotation, last = _field(record, "rotation"), record["players"] - 1
    if not _is_number(rotation, 0, last):
        raise _Mismatch(f"expected a number from 0 to {last}, the file says {rotation!r}")


def _check_number(record: Replay) -> None:
    number = _field(record, "match")
    if not _is_number(number, 1, 2**63):
        raise _Mismatch(f"expected a number from 1, the file says {number!r}")


def _origin(record: Replay) -> tuple[Origin, str]:
    plain = _field(record, "origin")
    try:
        origin = origin_from_plain(plain)
    except BadOrigin as error:
        raise _Mismatch(str(error)) from None
    if unknown := set(plain) - {*origin.to_plain(), "secret"}:
        raise _Mismatch(f"it has no field {sorted(unknown)[0]!r}")
    secret = plain.get("secret")
    if not is_secret(secret):
        raise _Mismatch(f"its 'secret' is {secret!r}, not 32 digits from 0 to f")
    return origin, secret


def _check_origin(record: Replay) -> None:
    """See that the server's part is the one it committed to, and was so in time."""
    origin, secret = _origin(record)
    expected = part_commitment(origin.part, origin.after, secret)
    if expected != origin.part_commitment:
        raise _Mismatch(
            f"its 'part', 'after' and 'secret' give the part_commitment {expected}, the file says"
            f" {origin.part_commitment}"
        )
    if len(origin.programs) != record["players"]:
        said = len(origin.programs)
        raise _Mismatch(f"its 'programs' are {record['players']}, the file says {said}")
    if not origin.was_open:
        raise _Weak(
            f"the server committed to its part when result {origin.previous} was known"
            if origin.previous
            else "there was no result yet that could be mixed in"
        )


def _check_seed(record: Replay) -> None:
    """See that the seed is the one that its parts give. One that was given explains itself."""
    if "origin" not in record:
        return
    try:
        origin, secret = _origin(record)
    except _Mismatch:
        raise _Mismatch("it follows from the origin, which is wrong") from None
    expected = str(mixed_seed(origin, secret))
    if expected != record["seed"]:
        raise _Mismatch(
            "the origin ('part', 'secret', 'previous', 'previous_digest', 'programs') gives"
            f" {expected}, the file says {record['seed']}"
        )


def _check_commitment(record: Replay) -> None:
    said = _field(record, "commitment")
    job = record.get("job")
    if not isinstance(job, str) or not job.isascii():
        raise _Mismatch(f"it needs the 'job', the match's id; the file says {job!r}")
    expected = commitment(job, int(record["seed"]))
    if expected != said:
        raise _Mismatch(f"'job' and 'seed' give {expected}, the file says {said}")


def _check_noted(record: Replay, noted: str) -> None:
    if "commitment" not in record:
        raise _Mismatch("it has no commitment: it is not from a server's match")
    job, said = record.get("job"), record["commitment"]
    if not isinstance(job, str) or commitment(job, int(record["seed"])) != noted:
        raise _Mismatch(f"it is {said}, not the one that you noted")


# The games of one match


def _verify_match(games: Sequence[Verdict], whole: bool) -> None:
    """Compare the games of a match with each other."""
    first = games[0].record
    for verdict in games[1:]:
        record = verdict.record
        for name in (*_RULES, "match", "commitment", "origin", "result"):
            if record.get(name) != first.get(name):
                _set(verdict, name, f"another game of match {first.get('match')} has another one")
    rotations = [verdict.record.get("rotation") for verdict in games]
    for verdict in games:
        if rotations.count(verdict.record.get("rotation")) > 1:
            _set(verdict, "rotation", "another game of the match has the same one")
    if whole and len(games) != first["players"]:
        said = f"{len(games)}, of the rotations {rotations}"
        for verdict in games:
            _set(verdict, "match", f"it has {first['players']} games, the file has {said}")
    _compare_names(games)
    _check_result(games)


def _compare_names(games: Sequence[Verdict]) -> None:
    """See that everybody moves on by one seat from each game to the next."""
    seated = []
    for verdict in games:
        if any(check.name in ("names", "rotation") for check in verdict.wrong):
            return
        record = verdict.record
        if "names" not in record or "rotation" not in record:
            return
        seated.append(by_entrant(record["names"], record["rotation"]))
    for verdict, names in zip(games, seated, strict=True):
        if names != seated[0]:
            _set(
                verdict,
                "names",
                f"by its rotation, {verdict.record['rotation']}, they are not those of the other"
                " games of the match: 'names' or 'rotation' is wrong",
            )


def _check_result(games: Sequence[Verdict]) -> None:
    """See that the result is the one whose digest the file names: faults and ranks included."""
    records = [verdict.record for verdict in games]
    if any("result" in record for record in records):
        for verdict in games:
            _set_check(verdict, _look("result", lambda: _compare_result(records)))


def _compare_result(records: Sequence[Replay]) -> None:
    first = records[0]
    result = first.get("result")
    if not isinstance(result, dict) or set(result) != _RESULT_FIELDS:
        raise _Mismatch(f"expected {sorted(_RESULT_FIELDS)}, the file says {result!r}")
    if len(records) < first["players"]:
        raise _Weak(f"only {len(records)} of {first['players']} games are here to compare it with")
    if type(result["rated"]) is not bool or not isinstance(result["before"], str):
        raise _Mismatch(f"its 'rated' or 'before' is of the wrong kind: {result!r}")
    try:
        faults = [
            {**fault, "rotation": record["rotation"]}
            for record in records
            for fault in record["faults"]
        ]
        facts = match_facts(
            first["match"], first["job"], first["variant"], result["rated"], first["seed"],
            records, faults,
        )  # fmt: skip
        expected = result_digest(result["before"], facts)
    except (KeyError, TypeError, ValueError) as error:
        raise _Mismatch(f"what it is made of is not all there: {error!r}") from None
    if expected != result["digest"]:
        raise _Mismatch(
            "'match', 'job', 'seed', 'ending', 'ranks', 'digest', 'faults' ('seat', 'decision',"
            " 'kind', 'code'), 'rated' and 'before' give the digest"
            f" {expected}, the file says {result['digest']!r}"
        )


def _set(verdict: Verdict, name: str, text: str) -> None:
    _set_check(verdict, Check(name, CheckOutcome.WRONG, text))


def _set_check(verdict: Verdict, new: Check) -> None:
    """Replace what was found about something; what was wrong before stays wrong."""
    for place, check in enumerate(verdict.checks):
        if check.name == new.name:
            if check.mark is not CheckOutcome.WRONG:
                verdict.checks[place] = new
            return
    verdict.checks.append(new)


KNOWN: Final = {
    "format", *_RULES, "decisions", "scores", "digest", "faults", "ending", "ranks", "names",
    "rotation", "match", "origin", "commitment", "job", "result",
}  # fmt: skip


def unknown_fields(record: Replay) -> Iterator[str]:
    """Yield the fields of a record that nothing here looks at."""
    yield from sorted(set(record) - KNOWN)

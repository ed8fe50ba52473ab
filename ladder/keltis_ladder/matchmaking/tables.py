"""Tables: finding a legal one around a version, and not the same as last time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from keltis_ladder.matchmaking.candidates import Candidate
from keltis_ladder.matchmaking.contenders import may_meet


def fits(table: Sequence[Candidate], other: Candidate, same_author: bool) -> bool:
    """Say whether one more may sit at a table."""
    return all(may_meet(each.contender, other.contender, same_author) for each in table)


def repeats(table: Sequence[Candidate]) -> bool:
    """Say whether it would be the same table as last time, for anybody at it."""
    versions = {each.version for each in table}
    return any(each.table == versions for each in table)


def repeats_for_the_first(table: Sequence[Candidate]) -> bool:
    """Say whether it would be the same table as last time for whom the match is made."""
    return table[0].table == {each.version for each in table}


def find_table(
    focus: Candidate, order: Sequence[Candidate], players: int, same_author: bool
) -> list[Candidate]:
    """Return a legal table around a version, of those who come first in the order.

    It is nobody's table of last time if such a one exists; else not that of the version itself if
    such a one exists; else any. The version must have a legal table among the others.
    """
    others = [each for each in order if fits([focus], each, same_author)]
    for refused in (repeats, repeats_for_the_first, _never):
        found = _complete([focus], others, 0, players, same_author, refused)
        if found is not None:
            return found
    raise AssertionError(f"version {focus.version} has no legal table of {players}")


def _complete(
    table: list[Candidate],
    order: Sequence[Candidate],
    begin: int,
    players: int,
    same_author: bool,
    refused: Callable[[Sequence[Candidate]], bool],
) -> list[Candidate] | None:
    # A refused table is somebody's last one: no more are tried in vain than there are versions.
    if len(table) == players:
        return None if refused(table) else table
    for k in range(begin, len(order)):
        if fits(table, order[k], same_author):
            found = _complete([*table, order[k]], order, k + 1, players, same_author, refused)
            if found is not None:
                return found
    return None


def _never(table: Sequence[Candidate]) -> bool:
    return False

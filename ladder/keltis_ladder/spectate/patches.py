"""Patches: how one view of a game differs from the next, as a list of values that are replaced.

A patch is a list of ``[path, value]``. The path leads through dicts by key and through lists by
index; the value that stands there is replaced. An empty path replaces everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Step = str | int
Patch = list[list[Any]]  # of [path, value]


def diff(before: Any, after: Any) -> Patch:
    """Return what turns one value into another: both of dicts, lists, texts and numbers."""
    patch: Patch = []
    _compare(before, after, [], patch)
    return patch


def apply(patch: Sequence[Sequence[Any]], value: Any) -> Any:
    """Return the value that a patch makes of another, which stays as it is."""
    for path, new in patch:
        value = _replaced(value, path, 0, new)
    return value


def _compare(before: Any, after: Any, path: list[Step], patch: Patch) -> None:
    kind = type(after)
    if type(before) is not kind:  # True is not 1, though they are equal
        patch.append([path, after])
    elif kind is dict:
        if before.keys() != after.keys():
            patch.append([path, after])
            return
        for key, value in after.items():
            _compare(before[key], value, [*path, key], patch)
    elif kind is list:
        if len(before) != len(after):
            patch.append([path, after])
        elif after and isinstance(after[0], dict | list):
            for index, value in enumerate(after):
                _compare(before[index], value, [*path, index], patch)
        elif list(map(_strictly, before)) != list(map(_strictly, after)):
            patch.append([path, after])  # a row of cards is shorter than the way to one of them
    elif before != after:
        patch.append([path, after])


def _strictly(value: Any) -> tuple[type, Any]:
    return type(value), value


def _replaced(value: Any, path: Sequence[Step], depth: int, new: Any) -> Any:
    """Return a copy with one value replaced; what is not on the path is shared, not copied."""
    if depth == len(path):
        return new
    step = path[depth]
    copy = value.copy()
    copy[step] = _replaced(value[step], path, depth + 1, new)
    return copy

"""A patch says exactly how two values differ."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keltis_ladder.spectate import patches

plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "R1", "Y10"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4)
    ),
    max_leaves=12,
)


def text(value: Any) -> str:
    """Return a value as text: True is not 1 there."""
    return json.dumps(value, sort_keys=True)


@given(plain_values, plain_values)
@settings(max_examples=200)
def test_a_patch_turns_one_value_into_the_other_and_leaves_the_first_alone(
    before: Any, after: Any
) -> None:
    original = copy.deepcopy(before)
    patch = patches.diff(before, after)
    assert text(patches.apply(patch, before)) == text(after)
    assert text(before) == text(original)
    assert (patch == []) == (text(before) == text(after))
    assert text(patches.apply(json.loads(json.dumps(patch)), before)) == text(after)

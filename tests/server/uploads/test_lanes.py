"""Authors take turns in their checks, and what takes long does not hold up what does not."""

from __future__ import annotations

from keltis_server.uploads.lanes import Lane, Lanes, PendingCheck

ADA, EVE, GWYN = 1, 2, 3


def begun(lanes: Lanes) -> list[int]:
    """Begin all that may begin."""
    found = []
    while wanted := lanes.begin():
        found.append(wanted.version_id)
    return found


def test_ten_uploads_of_one_author_delay_another_by_none_of_them() -> None:
    lanes = Lanes(short=2, long=1)
    lanes.want(PendingCheck(number, ADA) for number in range(10))
    assert begun(lanes) == [0]
    lanes.want([*(PendingCheck(number, ADA) for number in range(1, 10)), PendingCheck(10, EVE)])
    assert begun(lanes) == [10]


def test_with_one_place_authors_take_turns() -> None:
    lanes = Lanes(short=1, long=1)
    lanes.want(
        [
            *(PendingCheck(number, ADA) for number in range(4)),
            *(PendingCheck(10 + n, EVE) for n in range(2)),
        ]
    )
    order = []
    while wanted := lanes.begin():
        order.append(wanted.version_id)
        lanes.end(wanted.version_id)
    assert order == [0, 10, 1, 11, 2, 3]


def test_who_was_never_checked_goes_before_who_was() -> None:
    lanes = Lanes(short=1, long=1)
    lanes.want([PendingCheck(1, ADA)])
    assert begun(lanes) == [1]
    lanes.end(1)
    lanes.want([PendingCheck(2, ADA), PendingCheck(3, GWYN)])
    assert begun(lanes) == [3]


def test_what_is_long_waits_behind_what_is_long_only() -> None:
    lanes = Lanes(short=2, long=1)
    lanes.want(
        [PendingCheck(1, ADA, Lane.LONG), PendingCheck(2, EVE, Lane.LONG), PendingCheck(3, GWYN)]
    )
    assert begun(lanes) == [3, 1]
    lanes.end(3)
    assert begun(lanes) == []
    lanes.end(1)
    assert begun(lanes) == [2]


def test_a_check_that_turns_out_long_leaves_its_place_if_there_is_another() -> None:
    lanes = Lanes(short=1, long=1)
    lanes.want([PendingCheck(1, ADA), PendingCheck(2, EVE), PendingCheck(3, GWYN)])
    assert begun(lanes) == [1]
    assert lanes.becomes_long(1)
    assert lanes.becomes_long(1)  # it is long already
    assert begun(lanes) == [2]
    assert not lanes.becomes_long(2)  # it has to be broken off
    lanes.end(2)
    assert begun(lanes) == [3]


def test_one_that_is_being_broken_off_is_not_begun_twice() -> None:
    lanes = Lanes(short=2, long=1)
    lanes.want([PendingCheck(1, ADA)])
    assert begun(lanes) == [1]
    lanes.want([PendingCheck(1, ADA)])
    assert begun(lanes) == []
    lanes.end(1)
    lanes.want([PendingCheck(1, ADA)])
    assert begun(lanes) == [1]

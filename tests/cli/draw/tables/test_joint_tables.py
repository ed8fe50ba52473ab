"""Tables with joint ratings: places as a range, both ratings, and one bot against the others."""

import re

import pytest

from keltis_cli.draw.look import Look
from keltis_cli.draw.tables.leaderboard import leaderboard_lines, rank_text
from keltis_cli.draw.tables.versus import NOT_YET, versus_lines
from keltis_ladder.ratings.official import Official
from keltis_ladder.store.ratings.lines import Joint, Line
from keltis_server.models.leaderboards import VersusOut
from tests.cli.support.made_up import NOON, line

ASCII = Look(ascii=True)


def joint(rating: float, best: int, worst: int, share: float, wide: bool = False) -> Joint:
    reach = 0.2 if wide else 0.04
    return Joint(rating, 0.5, share, share - reach, share + reach, best, worst, 0.7, 0.2, 0.1, wide)


def lines() -> list[Line]:
    return [
        line("search", 34.2, 0.8, rank=1)._replace(joint=joint(33.1, 1, 1, 0.81)),
        line("greedy", 29.5, 0.9, rank=2, tied=2)._replace(joint=joint(27.4, 2, 4, 0.58)),
        line("fresh", 26.0, 3.0)._replace(joint=joint(26.0, 2, 5, 0.5, wide=True)),
        line("x", 25.0, 8.2),  # came after the publication
        line("old", 11.0, state="retired"),
    ]


def shown(width: int, official: Official = Official.JOINT) -> list[str]:
    table = leaderboard_lines(lines(), width, ASCII, NOON, ordered=official)
    return [each.plain for each in table]


def test_places_are_a_range_by_the_joint_rating_and_a_rank_by_the_live_one() -> None:
    assert [rank_text(each) for each in lines()] == ["1", "2-4", "2-5", "?", "-"]
    ranks = [rank_text(each, Official.TRUESKILL) for each in lines()]
    assert ranks == ["1", "2=", "?", "?", "-"]


def test_a_line_has_both_ratings_and_the_expected_wins_with_their_interval() -> None:
    head, search, *_, newcomer, _ = shown(120)
    assert re.search(r"rank +bot +rating +.*expected wins +TrueSkill", head)
    assert "33.1 +-1.0" in search
    assert "81% (77%-85%)" in search
    assert "34.2 +-1.6" in search
    assert re.search(r"\? +x v3 +- ", newcomer)


def test_a_line_says_what_its_rating_rests_on_where_other_matches_have_a_say() -> None:
    head, search, *_ = shown(140)
    assert "rests on" in head
    assert "70% + 20%" in search
    everything = [
        each._replace(joint=each.joint and each.joint._replace(own=0.9, others=0.0))
        for each in lines()
    ]
    table = leaderboard_lines(everything, 140, ASCII, NOON)
    assert "rests on" not in table[0].plain


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_it_fits_and_keeps_places_and_ratings(width: int) -> None:
    for official in Official:
        table = shown(width, official)
        assert max(map(len, table)) <= width
        assert "33.1 +-1.0" in table[1]
    assert "2-4" in shown(width)[2]
    if width >= 80:
        assert "58% (54%-62%)" in shown(width)[2]


def test_the_drawn_interval_is_that_of_the_official_rating() -> None:
    # Live intervals go from 9 to 41, joint ones from 25 to 35.
    joint_axis, live_axis = (
        [int(number) for number in re.findall(r" (\d+)\b", shown(150, official)[0])]
        for official in (Official.JOINT, Official.TRUESKILL)
    )
    assert 25 <= min(joint_axis) < max(joint_axis) <= 35
    assert min(live_axis) <= 12 < 38 <= max(live_axis)


def versus(bot: str, lead: float, better: float, record: tuple[int, int, int]) -> VersusOut:
    return VersusOut(
        bot=bot, version=2, lead=lead, sigma=0.5, low=lead - 0.98, high=lead + 0.98,
        better=better, certain=abs(lead) > 2, expected=0.25, wins=record[0], draws=record[1],
        losses=record[2], mean_lead=None,
    )  # fmt: skip


def test_one_bot_is_held_against_the_others() -> None:
    others = [versus("ahead", -3.2, 0.0001, (1, 1, 8)), versus("level", 0.25, 0.64, (0, 0, 0))]
    for width in (60, 80, 140):
        table = [each.plain for each in versus_lines(others, width, ASCII)]
        assert max(map(len, table)) <= width
        assert re.search(r"ahead v2 +-3\.2 ", table[1])
        assert "< 0.1 %" in table[1]
        assert "64.0 %" in table[2]
    table = [each.plain for each in versus_lines(others, 140, ASCII)]
    assert "-4.2 to -2.2" in table[1]
    assert re.search(r"25\.0 % +15\.0 % +10$", table[1])
    assert re.search(r"25\.0 % +- +0$", table[2])
    assert [each.plain for each in versus_lines([], 80, ASCII)] == [NOT_YET]

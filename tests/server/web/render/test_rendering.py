"""Data for scripts, documents and drawings."""

from __future__ import annotations

from keltis_server.web.render.drawing import axis_of, heat, spark
from keltis_server.web.render.markdown import read_markdown
from keltis_server.web.render.rendering import as_data


def test_data_for_scripts_cannot_end_its_element() -> None:
    assert "<" not in as_data({"text": "</script><!--"})


def test_documents_keep_links_that_lead_somewhere_and_drop_the_others() -> None:
    text = read_markdown(
        "# Title\n\n## One *two*\n\n## One two\n\n[a](protocol.md#x) [b](../operators/store.md) "
        "[c](#one-two) [e](../readers/rules.md) [d](https://example.org) <script>"
        "\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    assert text.title == "Title"
    assert [heading.id for heading in text.headings] == ["one-two", "one-two-1"]
    assert '<a href="/protocol#x">a</a> b <a href="#one-two">c</a>' in text.html
    assert '<a href="/rules">e</a>' in text.html
    assert 'rel="noreferrer"' in text.html
    assert "<script>" not in text.html
    assert '<div class="wide" tabindex="0" role="group">' in text.html


def test_an_axis_has_room_for_everything_on_it() -> None:
    axis = axis_of([(11.0, 18.0), (22.0, 31.5)])
    assert (axis.low, axis.high, axis.marks) == (10, 35, [10, 15, 20, 25, 30, 35])
    assert (axis.at(10), axis.at(22.5), axis.at(99)) == (0.0, 50.0, 100.0)
    assert axis_of([]).low < axis_of([]).high
    assert spark([1.0]) == ""
    assert spark([1.0, 1.0]) == "0.0,12.0 100.0,12.0"
    assert [heat(share) for share in (0.0, 0.5, 1.0)] == [-5, 0, 5]

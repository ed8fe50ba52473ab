"""The progress bar: drawn in a terminal, lines elsewhere, nothing where it is to be quiet."""

import io

import pytest
from rich.console import Console

from keltis_cli.draw import progress
from keltis_cli.draw.look import Look
from keltis_cli.draw.progress import ProgressBar


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.0)
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)


def drawn(monkeypatch: pytest.MonkeyPatch, **how: bool) -> str:
    """Return what is drawn in a terminal of half of some work."""
    file = io.StringIO()
    terminal = Console(file=file, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(progress, "console", lambda stderr: terminal)
    monkeypatch.setattr(progress, "look", lambda _: Look())
    with ProgressBar("copying", 2048, **how) as bar:
        bar.tell(1024)
    return file.getvalue()


@pytest.mark.usefixtures("at_once")
def test_in_a_terminal_it_is_a_bar_with_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(monkeypatch)
    assert "1024/2048 copying" in text
    assert "█" * (progress.WIDTH // 2) + "░" * (progress.WIDTH // 2) in text
    assert "1.0/2.0 KiB" in drawn(monkeypatch, in_bytes=True)


@pytest.mark.usefixtures("at_once")
def test_elsewhere_it_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar() as bar:
        bar.begin("reading", 2000)
        bar.tell(1000)
        bar.tell(1001, text="still reading")
    assert capsys.readouterr().err == "1,000 of 2,000: reading\n1,001 of 2,000: still reading\n"


def test_lines_do_not_follow_each_other_quickly(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressBar("reading", 2000) as bar:
        bar.tell(1000)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("at_once")
def test_quiet_is_quiet_everywhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ProgressBar("reading", 2000, quiet=True) as bar:
        bar.tell(1000)
    assert capsys.readouterr().err == ""
    assert drawn(monkeypatch, quiet=True) == ""

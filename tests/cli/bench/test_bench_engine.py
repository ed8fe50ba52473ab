"""``bench engine``: that it runs and reports what its documentation promises, not how fast."""

import json
from pathlib import Path
from typing import Any

import pytest

import keltis_engine
from keltis_cli.bench import engine, engine_report
from keltis_cli.bench.engine_report import NO_OPEN_SPIEL, Figure, Goal, figure
from keltis_cli.draw.look import console
from keltis_cli.errors import BadRequest
from tests.places import ROOT

README = ROOT / "bench/README.md"
REFERENCE = "def games(n, seed, count):\n    return sum(range(1000)) and 100 * count\n"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> engine_report.EngineReport:
    reference = tmp_path_factory.mktemp("reference") / "reference.py"
    reference.write_text(REFERENCE)
    return engine.measure(quick=True, reference=reference)


@pytest.fixture(scope="module")
def data(report: engine_report.EngineReport) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(report.as_json()))
    return plain


@pytest.mark.slow
def test_every_key_of_the_json_is_documented(data: dict[str, Any]) -> None:
    documented = README.read_text().split("### The JSON")[1]
    inner = {key for part in ("playouts", "driven", "goals") for key in data[part][0]}
    for key in data.keys() | inner | data["imports"].keys():
        assert f"`{key}`" in documented or key == "variant"


@pytest.mark.slow
def test_every_variant_and_number_of_players_is_measured(data: dict[str, Any]) -> None:
    games = {(variant, n) for variant in keltis_engine.VARIANTS for n in (2, 3, 4)}
    assert {(line["variant"], line["players"]) for line in data["playouts"]} == games
    assert {(line["variant"], line["players"]) for line in data["calls"]} == games
    driven = [line for line in data["driven"] if line["library"] == "keltis_engine"]
    assert {(line["game"], line["players"]) for line in driven} == games
    for line in data["calls"]:
        assert list(line["nanoseconds"]) == engine_report.CALLS


@pytest.mark.slow
def test_compiled_is_compared_with_interpreted(data: dict[str, Any]) -> None:
    assert data["compiled"] == keltis_engine.COMPILED
    for line in data["playouts"]:
        assert (line["ratio"] is not None) == keltis_engine.COMPILED


@pytest.mark.slow
def test_the_reference_scales_the_goals_in_decisions_per_second(data: dict[str, Any]) -> None:
    scaled = {goal["name"]: goal["at_least"] for goal in data["goals"] if goal["unit"] == "M/s"}
    reference = data["reference"]["median"] / 12e6
    assert scaled["keltis: playouts"] == pytest.approx(10 * reference)
    assert scaled["kartenspiel: playouts"] == pytest.approx(6 * reference)


@pytest.mark.slow
def test_without_open_spiel_the_report_says_how_to_install_it(
    report: engine_report.EngineReport, data: dict[str, Any]
) -> None:
    if not keltis_engine.COMPILED:
        return  # then the goal is not judged for another reason
    notes = {goal["note"] for goal in data["goals"] if "hearts" in goal["name"]}
    installed = any(line.library == "open_spiel" for line in report.driven)
    assert notes == ({""} if installed else {NO_OPEN_SPIEL})
    assert "pip install open_spiel" in NO_OPEN_SPIEL


@pytest.mark.slow
def test_the_report_for_people_has_a_line_for_each_goal(
    report: engine_report.EngineReport, capsys: pytest.CaptureFixture[str]
) -> None:
    engine_report.show(report, console())
    shown = capsys.readouterr().out
    page = engine_report.markdown(report)
    for goal in report.goals():
        assert goal.name in shown
        assert f"| {goal.name} |" in page


@pytest.mark.slow
def test_json_is_all_that_goes_to_standard_output(
    report: engine_report.EngineReport,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(engine, "measure", lambda quick, reference: report)
    engine.run(True)
    assert json.loads(capsys.readouterr().out)["schema"] == engine_report.SCHEMA


def test_a_missing_reference_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"there is no reference module at .*nowhere\.so"):
        engine.measure(reference=tmp_path / "nowhere.so")


@pytest.mark.parametrize(
    ("goal", "met"),
    [
        (Goal("ratio", "x", 20, None, 20), True),
        (Goal("ratio", "x", 20, None, 19.9), False),
        (Goal("copy", "ns", None, 400, 400), True),
        (Goal("copy", "ns", None, 400, 401), False),
        (Goal("ratio", "x", 20, None, None, "not compiled"), None),
        (Goal("rate", "M/s", 10, None, 12, "no reference"), None),
    ],
)
def test_a_goal_is_met_missed_or_not_judged(goal: Goal, met: bool | None) -> None:
    assert goal.met is met


def test_a_figure_is_the_median_between_its_quartiles() -> None:
    assert figure([5, 1, 2, 4, 3]) == Figure(median=3, low=2, high=4)
    assert Figure(200, 190, 220).text(digits=0) == "200 ±10%"

"""Error rates of the credal calibration test: kept, continued and shared out without a difference; cells and Figures 1 to 4."""

import json
import os

import numpy as np
import pytest
from tests.lab.papers.credal_calibration.made import SMALL, invented
from tests.refusals import refuses

import uqassay
from uqassay.calibration.credal import credal_calibration_test
from uqassay.cli import main
from uqassay.errors import FileFormatError
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.credal_calibration import error_rates as runs
from uqassay.lab.papers.credal_calibration import figures
from uqassay.lab.papers.credal_calibration.error_rates import (
    ALPHAS,
    MEASURES,
    PRINTED_ALGORITHM,
    SHOWN,
    DataSetTests,
    ErrorRates,
    Plan,
    error_cells,
    error_rates,
    judge_data_set,
    rates_of,
    read_rates,
    reference,
)
from uqassay.lab.papers.credal_calibration.run import FIGURES, steps_of_credal_calibration
from uqassay.lab.papers.credal_calibration.scenarios import SCENARIOS, CredalSetting, draw_examples
from uqassay.metrics.calibration import hosmer_lemeshow_statistic
from uqassay.records import packed, unpacked


def same(one: ErrorRates, other: ErrorRates) -> bool:
    """Whether all p-values, decisions and counts are equal."""
    equal = [np.array_equal(one.pvalues[key], other.pvalues[key]) for key in one.pvalues]
    equal += [np.array_equal(one.rejected[key], other.rejected[key]) for key in one.rejected]
    return all(equal) and (one.above_truth, one.outside) == (other.above_truth, other.outside)


@pytest.fixture(scope="module")
def three() -> ErrorRates:
    """Three data sets in one go."""
    return error_rates(SMALL, 3)


def test_what_a_data_set_gives(three):
    values = json.loads(json.dumps(packed(judge_data_set(SMALL, 1))[0], allow_nan=False))
    record = unpacked(DataSetTests, values)
    assert record == judge_data_set(SMALL, 1)
    assert record.run == 1
    assert 0 <= record.outside <= 20
    for scenario in SCENARIOS:
        for measure in MEASURES:
            found = record.tests[scenario][measure]
            assert found.pvalue == three.pvalues[scenario, measure][1]
            assert 1 / 20 <= found.pvalue <= 1
            assert found.rejected == tuple(found.pvalue <= alpha for alpha in ALPHAS)
            assert (found.above_truth is None) == (scenario != "S1")
    assert three.above_truth == dict.fromkeys(MEASURES, 0)
    assert three.n_runs == 3
    errors = three.errors("S1", "skce-ul"), three.errors("S2", "skce-ul")
    np.testing.assert_array_equal(errors[0], three.rejected["S1", "skce-ul"])
    np.testing.assert_array_equal(errors[1], ~three.rejected["S2", "skce-ul"])


def test_a_run_broken_off_continues_to_the_same_results(three, tmp_path, monkeypatch):
    done: list[int] = []

    def judge(plan: Plan, run: int) -> dict:
        if len(done) == 2:
            raise KeyboardInterrupt("stop")
        done.append(run)
        return judge_data_set(plan, run)

    monkeypatch.setattr(runs, "judge_data_set", judge)
    with pytest.raises(KeyboardInterrupt, match="stop"):
        error_rates(SMALL, 3, resume=tmp_path)
    (folder,) = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == ["run-000000.json", "run-000001.json", "settings.json"]
    done.clear()
    said: list[str] = []
    continued = error_rates(SMALL, 3, resume=tmp_path, progress=said.append)
    assert done == [2]
    assert said == ["data set 1 of 3: kept", "data set 2 of 3: kept", "data set 3 of 3"]
    assert same(continued, three)
    done.clear()
    assert same(error_rates(SMALL, 3, resume=tmp_path), three)
    assert done == []


def test_damaged_files_and_other_settings_count_as_missing(three, tmp_path):
    error_rates(SMALL, 2, resume=tmp_path)
    (folder,) = tmp_path.iterdir()
    (folder / "run-000000.json").write_text('{"run": 0, "outs')
    (folder / "run-000001.json").write_text('{"run": 1, "outside": 3, "tests": {"S1": {}}}')
    assert same(error_rates(SMALL, 3, resume=tmp_path), three)
    other = Plan(SMALL.setting, n_draws=19, seed=1)
    assert other.digest != SMALL.digest
    assert not same(error_rates(other, 2, resume=tmp_path), error_rates(SMALL, 2, resume=tmp_path))
    assert len(list(tmp_path.iterdir())) == 2
    assert json.loads((folder / "settings.json").read_text())["setting"]["n_members"] == 3


def test_data_sets_of_other_code_are_not_used_and_a_note_says_so(three, tmp_path, monkeypatch):
    first = error_rates(SMALL, 3, resume=tmp_path)
    assert first.notes == error_rates(SMALL, 3).notes == ()
    assert SMALL.facts["version"] == uqassay.__version__
    (older,) = tmp_path.iterdir()
    facts = json.loads((older / "settings.json").read_text())
    former = {name: value for name, value in facts.items() if name != "version"} | {"code": "ab", "schema": "former"}
    (older / "settings.json").write_text(json.dumps(former))  # as it was written when the code counted
    judged: list[int] = []

    def judge(plan, run):
        judged.append(run)
        return judge_data_set(plan, run)

    monkeypatch.setattr(runs, "judge_data_set", judge)
    monkeypatch.setattr("uqassay.__version__", "0.0")
    again = error_rates(SMALL, 3, resume=tmp_path)
    assert judged == [0, 1, 2]
    assert same(again, three)
    (note,) = again.notes
    assert note.startswith(f"3 data sets in {tmp_path} were made by another version of uqassay and are not used")
    assert error_rates(Plan(SMALL.setting, n_draws=19, seed=1), 1, resume=tmp_path).notes == ()
    (older / "settings.json").write_text('{"sch')
    assert error_rates(SMALL, 3, resume=tmp_path).notes == ()


def test_no_bins_are_merged(monkeypatch):
    seen = []

    def note(labels, members, *, measure, **options):
        if measure.name == "hosmer-lemeshow":
            seen.append((labels, np.asarray(members).mean(axis=1), measure))
        return credal_calibration_test(labels, members, measure=measure, **options)

    monkeypatch.setattr(runs, "credal_calibration_test", note)
    judge_data_set(SMALL, 1)
    assert len(seen) == 3
    for labels, mean, measure in seen:
        plain, merged = (hosmer_lemeshow_statistic(labels, mean, least_expected=least) for least in (0, 1))
        assert float(measure.prepare(mean).values(labels)) == pytest.approx(plain)
        assert plain != pytest.approx(merged)


def test_the_order_of_the_data_sets_does_not_matter(three, monkeypatch):
    def backwards(plan, runs, workers):
        return (judge_data_set(plan, run) for run in reversed(runs))

    monkeypatch.setattr(runs, "_judged", backwards)
    assert same(error_rates(SMALL, 3), three)


@pytest.mark.slow
def test_the_number_of_processes_does_not_matter(three):
    assert same(error_rates(SMALL, 3, workers=2), three)


def test_the_authors_code_and_the_minimised_null_run():
    small = CredalSetting(n_instances=10, n_members=2, n_classes=3, spread=0.1)
    code = error_rates(Plan(small, convention="paper-code", resample=False, n_draws=19), 1)
    assert code.above_truth == {}
    ours = error_rates(Plan(small, null="minimised", resample=False, n_draws=19), 1)
    for rates in (code, ours):
        assert all(0 <= p[0] <= 1 for p in rates.pvalues.values())
    assert "authors' code" in read_rates("1", [code])[0]


def test_numbers_that_make_no_sense_are_refused(tmp_path):
    with refuses("runs", "range", got="got 0"):
        error_rates(SMALL, 0)
    with refuses("workers", "type", got=r"got 1\.5"):
        error_rates(SMALL, 1, workers=1.5)
    (tmp_path / "file").write_text("")
    with refuses("resume", "unwritable"):
        error_rates(SMALL, 1, resume=tmp_path / "file")


def test_settings_that_are_a_link_to_itself_are_told(tmp_path):
    error_rates(SMALL, 1, resume=tmp_path)
    (settings,) = tmp_path.glob("credal-*/settings.json")
    settings.unlink()
    settings.symlink_to(settings)
    with refuses("resume", "unwritable", got="settings.json"):
        error_rates(SMALL, 1, resume=tmp_path)


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink(path, path)]
)
def test_what_is_no_file_in_a_folder_to_resume_is_refused(tmp_path, make):
    error_rates(SMALL, 1, resume=tmp_path)
    (record,) = tmp_path.glob("credal-*/run-*.json")
    record.unlink()
    make(record)
    with refuses("resume", "not-a-file", got=record.name, error=FileFormatError):
        error_rates(SMALL, 1, resume=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"[", b"{" * 10**6, b"null", b'{"run": 0}', b"\xff"])
def test_damaged_records_are_made_again(tmp_path, content):
    whole = error_rates(SMALL, 1, resume=tmp_path)
    (record,) = tmp_path.glob("credal-*/run-*.json")
    kept = json.loads(record.read_bytes())
    tests = kept["tests"]
    broken = [kept | {"outside": "x"}, kept | {"run": 7}]
    others = [{"S1": {}}, {"S2": {name: [] for name in tests["S2"]}}]
    others += [{"S3": {n: entry | wrong for n, entry in tests["S3"].items()}}
               for wrong in ({"rejected": [2] * 21}, {"rejected": [True]}, {"pvalue": 1.5})]  # fmt: skip
    broken += [kept | {"tests": tests | other} for other in others]
    for text in (content, *(json.dumps(one).encode() for one in broken)):
        record.write_bytes(text)
        assert same(error_rates(SMALL, 1, resume=tmp_path), whole)


# ---- cells and words -------------------------------------------------------------------------------------------------


def test_the_command_gives_the_rows_of_the_function(tmp_path, capsys):
    words = ["--preset", "smoke", "--runs", "1", "--no-resample", "--seed", "3", "--resume", str(tmp_path), "--json"]
    assert main(["reproduce", "credal-calibration", *words]) == 0
    rows = json.loads(capsys.readouterr().out)
    again = reproduce("credal-calibration", preset="smoke", runs=1, resample=False, seed=3, resume=tmp_path)
    assert rows == again.to_json()
    assert rows[0]["name"] == "figure1/exact/S1/skce-ul/alpha=0.01"
    assert "the paper draws curves" in again.summary()
    assert [steps_of_credal_calibration(preset=p) for p in ("smoke", "cpu", "paper")] == [4, 200, 1000]
    assert steps_of_credal_calibration(preset="paper", convention="both", runs=7) == 14
    assert steps_of_credal_calibration(figure="table2") == 6


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"figure": "5"}, "figure", "choice", "'table1' or 'table2'; got '5'"),
        ({"preset": "big"}, "preset", "choice", "'gpu-hour' or 'paper'; got 'big'"),
        ({"convention": "paper"}, "convention", "choice", "'paper-code' or 'both'; got 'paper'"),
        ({"null": "berger-boos"}, "null", "choice", "'random' or 'minimised'; got 'berger-boos'"),
        ({"seed": -1}, "seed", "range", "got -1"),
        ({"null": "minimised", "resample": True}, "resample", "conflict", "minimised null"),
        ({"convention": "paper-code", "resample": True}, "resample", "conflict", "authors' code"),
        ({"null": "minimised", "convention": "both"}, "null", "conflict", "got 'minimised' with 'both'"),
        ({"data": "x"}, "data", "conflict", "figure 1, which is synthetic"),
        ({"figure": "table2", "runs": 3}, "runs", "conflict", "table2"),
        ({"figure": "table1", "data": "x", "resume": "y"}, "resume", "conflict", "table1 with data"),
        ({"figure": "table1", "data": "nowhere"}, "data", "missing", "got nowhere"),
        ({"figure": "table2", "figures": "x"}, "figures", "conflict", "table2, which draws no data sets; got 'x'"),
        ({"figure": "table2", "null": "minimised"}, "null", "conflict", "table2, which tests nothing"),
        ({"figure": "table2", "convention": "both"}, "convention", "conflict", "table2, which tests nothing"),
        ({"figure": "table2", "data": "x"}, "data", "conflict", "table2, which tests nothing; got 'x'"),
    ],
)
def test_options_that_do_not_fit_are_one_sentence(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        reproduce("credal-calibration", **options)


# -- cells and text of error rates --------------------------------------------------------------------------------------


def test_cells_have_rates_and_intervals():
    rates = invented(400, Plan(FIGURES["1"]))
    cells = {cell.name: cell for cell in error_cells("1", rates)}
    assert len(cells) == len(SCENARIOS) * len(MEASURES) * len(ALPHAS)
    for alpha in (0.05, 0.5):
        cell = cells[f"figure1/exact/S1/ece-confidence/alpha={alpha:g}"]
        assert cell.ours == (rates.pvalues["S1", "ece-confidence"] <= alpha).mean()
        assert cell.low < cell.ours < cell.high
        assert (cell.agrees, np.isnan(cell.paper)) == (None, True)
    assert cells["figure1/exact/S2/skce-ul/alpha=0.05"].ours == 0.0
    assert cells["figure1/exact/S3/skce-ul/alpha=0.05"].ours == 1.0
    assert cells["figure1/exact/S2/skce-ul/alpha=0.05"].note == "reference 0.99, outside our interval"
    assert cells["figure1/exact/S1/skce-ul/alpha=0.25"].note == ""


def test_references_belong_to_their_settings():
    plan = Plan(FIGURES["1"])
    assert reference(invented(2, plan), "S2", "ece-confidence", 0.05) == 0.30
    for other in (
        Plan(FIGURES["2"]),
        Plan(FIGURES["1"], null="minimised", resample=False),
        Plan(FIGURES["1"], resample=False),
    ):
        assert np.isnan(reference(invented(2, other), "S2", "ece-confidence", 0.05))
    code = invented(2, Plan(FIGURES["1"], convention="paper-code", resample=False))
    assert [reference(code, "S1", "skce-ul", alpha) for alpha in SHOWN] == [0.128, 0.205, 0.412, 0.978]
    assert np.isnan(reference(code, "S1", "ece-confidence", 0.05))
    assert set(PRINTED_ALGORITHM) == {(s, m) for s in SCENARIOS for m in MEASURES}


def test_the_reading_says_what_exceeds_the_level():
    rates = invented(300, Plan(FIGURES["2"]))
    assert "In S1 no measure exceeds α by more than chance" in "\n".join(read_rates("2", [rates]))
    rates.rejected["S1", "skce-ul"][:, ALPHAS.index(0.05)] = np.arange(300) % 5 == 0
    text = "\n".join(read_rates("2", [rates]))
    assert "exceed α by more than chance: skce-ul (most clearly at α = 0.05: .200" in text
    assert "K = 10, u = 0.1; D = 100, random null, instances resampled." in text
    assert "no evidence" in read_rates("2", [invented(4, Plan(FIGURES["2"]))])[0]
    rates.pvalues["S2", "skce-ul"][:7] = np.nan
    assert "Tests without a p-value, which reject nothing: 7." in "\n".join(read_rates("2", [rates]))


# -- Figures 1 to 4 ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exact():
    return invented(50, Plan(FIGURES["1"]))


@pytest.fixture(scope="module")
def code():
    return invented(50, Plan(FIGURES["1"], convention="paper-code", resample=False))


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draws the figure of some runs without a file; its panels by scenario, and the figure."""
    from matplotlib.figure import Figure

    def draw(*runs, number="1"):
        figure = Figure(layout="constrained")
        monkeypatch.setattr(figures, "write_figure", lambda folder, name, size, fill: fill(figure))
        figures.write_error_figure(tmp_path, number, runs)
        return dict(zip(("S1", "S2", "S3"), figure.axes, strict=True)), figure

    return draw


def curves(ax):
    """Lines of one panel but the diagonal."""
    return [line for line in ax.get_lines() if line.get_linestyle() != ":"]


def test_curves_are_the_error_rates(drawn, exact):
    panels, _ = drawn(exact)
    for scenario, ax in panels.items():
        assert len(curves(ax)) == len(MEASURES)
        for measure, line in zip(MEASURES, curves(ax), strict=True):
            found = exact.rejected[scenario, measure].mean(axis=0)
            expected = found if scenario == "S1" else 1 - found  # type II error: no rejection
            np.testing.assert_allclose(line.get_xdata(), ALPHAS)
            np.testing.assert_allclose(line.get_ydata(), expected, atol=1e-12)


def test_bands_are_the_intervals(drawn, exact):
    panels, _ = drawn(exact)
    for scenario, ax in panels.items():
        bands = [c for c in ax.collections if type(c).__name__ != "PathCollection"]
        assert len(bands) == len(MEASURES)
        ends = rates_of(exact, scenario, MEASURES[0])
        outline = bands[0].get_paths()[0].vertices[:, 1]
        assert outline.min() == pytest.approx(min(e.low for e in ends))
        assert outline.max() == pytest.approx(max(e.high for e in ends))


def test_the_level_is_drawn_where_the_error_is_of_type_i(drawn, exact):
    panels, _ = drawn(exact)
    for scenario, ax in panels.items():
        levels = [line for line in ax.get_lines() if line.get_linestyle() == ":"]
        assert len(levels) == (scenario == "S1")
        assert ("type I " in f"{ax.get_ylabel()} ") == (scenario == "S1")


def test_the_authors_code_is_dashed_and_named(drawn, exact, code):
    panels, figure = drawn(exact, code)
    styles = [line.get_linestyle() for line in curves(panels["S2"])]
    assert styles == ["-"] * len(MEASURES) + ["--"] * len(MEASURES)
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert sum("authors’ code" in name for name in names) == len(MEASURES)
    assert len(names) == 2 * len(MEASURES) + 1  # each once, and the level


def test_crosses_are_the_references(drawn, exact):
    panels, _ = drawn(exact)
    for scenario, ax in panels.items():
        crosses = [c for c in ax.collections if type(c).__name__ == "PathCollection"]
        values = [reference(exact, scenario, m, alpha) for m in MEASURES for alpha in ALPHAS]
        known = [value for value in values if not np.isnan(value)]
        shown = np.concatenate([c.get_offsets()[:, 1] for c in crosses]) if crosses else np.empty(0)
        np.testing.assert_allclose(shown, known)


def test_a_setting_of_no_figure_has_no_crosses(drawn):
    panels, figure = drawn(invented(7, SMALL), number="9")
    assert not [c for ax in panels.values() for c in ax.collections if type(c).__name__ == "PathCollection"]
    assert figure.get_suptitle().startswith("Figure 9: N = 20, M = 3, K = 3, u = 0.1; 7 data sets, D = 19,")


def test_figures_are_written(tmp_path, exact, code):
    path = figures.write_error_figure(tmp_path, "1", [exact, code])
    assert path.name == "credal_calibration_figure1.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_scenarios_are_drawn_where_their_points_are(monkeypatch, tmp_path):
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    monkeypatch.setattr(figures, "write_figure", lambda folder, name, size, fill: fill(figure))
    figures.write_scenario_figure(tmp_path, seed=2)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    for ax, example in zip(figure.axes, draw_examples(seed=2), strict=True):
        by_label = {line.get_label(): np.array(line.get_data()).T for line in ax.get_lines()}
        np.testing.assert_allclose(by_label["truths"], example.truths @ corners)
        np.testing.assert_allclose(by_label["centre p_e"], example.centre[None] @ corners)
        assert ("boundary" in by_label) == ("corner" in by_label) == (example.scenario != "S1")
        if example.scenario != "S1":
            np.testing.assert_allclose(by_label["boundary"], example.boundary @ corners)
            np.testing.assert_allclose(by_label["corner"], corners[example.corners])
        assert ax.get_title(loc="left").startswith(example.scenario)
        assert ax.get_legend() is None
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["credal set", "10 members", "mean", "truths", "centre p_e", "boundary", "corner"]


def test_figure_1_writes_both_its_parts(tmp_path):
    found = reproduce("credal-calibration", preset="smoke", runs=1, figures=tmp_path)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["credal_calibration_figure1.png", "credal_calibration_figure1_left.png"]
    assert sum(line.startswith("figure: ") for line in found.reading) == 2

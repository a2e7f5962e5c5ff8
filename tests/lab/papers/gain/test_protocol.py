"""The reproduction of the paper from its options to its cells and figures; the command line's form of it is in tests/cli."""

import gzip
import hashlib
import json

import numpy as np
import pytest
from tests.lab.bench.bench_work import store_result
from tests.lab.datasets.conftest import idx_bytes
from tests.lab.papers.gain.made import row
from tests.refusals import refuses

from uqassay.lab.datasets import cluster_grid, disc_layout
from uqassay.lab.datasets import images as mnist
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.gain.figures import COLOURS, DISC, draw_discs, draw_intervals, draw_split, write_gain_figures
from uqassay.lab.papers.gain.plan import DATASETS, ToyPlan, chosen
from uqassay.lab.papers.gain.run import planned, reproduce_epistemic_gain, run_world, slice_of, steps_of_epistemic_gain

SMALL = {"preset": "smoke", "method": "random-forest", "spread": 0.25}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def result(folder):
    return reproduce("epistemic-gain", dataset="toy-mismatch-1", resume=folder, **SMALL)


def test_rows_and_reading_of_a_smoke_run(result):
    names = [cell.name for cell in result.rows]
    assert len(set(names)) == len(names)
    assert {name.split("/")[1] for name in names} == {"toy", "toy-mismatch-1"}
    assert all(cell.agrees is None for cell in result.rows)  # never evidence
    assert all(np.isfinite(cell.ours) for cell in result.rows)
    text = result.summary()
    for part in (
        "a smoke run only checks",
        "not compared with the paper",
        "compared with toy, spread 0.25",
        "True uncertainty",
    ):
        assert part in text
    assert json.dumps(result.to_json(), allow_nan=False)


def test_mismatch_of_the_calibration_leaves_the_evaluation_as_it_is(result):
    cells = {cell.name: cell.ours for cell in result.rows}
    for column in ("correlation", "eece", "truth"):
        names = (f"table1/{name}/spread=0.25/random-forest/entropy/{column}" for name in ("toy", "toy-mismatch-1"))
        first, second = (cells[name] for name in names)
        assert first == second
    assert any("ρ unchanged" in line for line in result.reading)


def test_finished_runs_are_not_run_again(result, folder):
    before = sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("prediction.npz"))
    said = []
    again = reproduce_epistemic_gain(dataset="toy-mismatch-1", resume=folder, progress=said.append, **SMALL)
    assert again == result
    assert before == sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("prediction.npz"))
    assert said == ["trained 4 of 4", "judging"]


def test_steps_of_the_progress(tmp_path):
    said = []
    reproduce_epistemic_gain(dataset="toy", runs=1, progress=said.append, **SMALL)
    assert len(said) == steps_of_epistemic_gain(dataset="toy", runs=1, **SMALL)


def test_a_failed_run_is_named_and_left_out(monkeypatch):
    from uqassay.lab.methods.forests import RandomForest

    def broken(self, *_):
        raise ValueError("no luck")

    monkeypatch.setattr(RandomForest, "fit", broken)
    found = reproduce_epistemic_gain(preset="smoke", method=["local-gp", "random-forest"], spread=0.25, runs=1)
    assert {cell.name.split("/")[3] for cell in found.rows} == {"local-gp"}
    assert any("random-forest" in note and "no luck" in note for note in found.notes)
    with refuses("method", "all-failed", got="no luck"):
        reproduce_epistemic_gain(runs=1, **SMALL)


@pytest.mark.parametrize(
    ("options", "parameter"), [({"runs": 0}, "runs"), ({"workers": 0}, "workers"), ({"seed": -1}, "seed")]
)
def test_numbers_out_of_range(options, parameter):
    with refuses(parameter, "range"):
        reproduce_epistemic_gain(**options)


def characters(n_classes, n, seed):
    """Images (n, 28, 28) of classes with a prototype each, and their labels, all classes equally often."""
    g = np.random.default_rng(seed)
    prototypes = np.random.default_rng(0).integers(0, 200, (n_classes, 28, 28))
    y = g.permutation(n) % n_classes
    return (prototypes[y] + g.integers(0, 56, (n, 28, 28))).astype(np.uint8), y.astype(np.uint8)


def emnist_files(home, monkeypatch):
    for part, n in (("train", 1410), ("test", 470)):
        images, labels = characters(47, n, len(part))
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            path = home / "emnist" / f"emnist-balanced-{part}-{kind}-ubyte.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress(idx_bytes(array)))


def kuzushiji_files(home, monkeypatch):
    folder = home / "kuzushiji-49"
    folder.mkdir(parents=True)
    for part, n in (("train", 1470), ("test", 490)):
        for kind, array in zip(("imgs", "labels"), characters(49, n, len(part)), strict=True):
            np.savez_compressed(folder / f"k49-{part}-{kind}.npz", array)
    digests = {path.name: hashlib.md5(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    monkeypatch.setattr(mnist, "KUZUSHIJI_49_DIGESTS", digests)


@pytest.mark.parametrize(("dataset", "write"), [("emnist-balanced", emnist_files), ("kuzushiji-49", kuzushiji_files)])
def test_files_in_the_published_forms(dataset, write, tmp_path, monkeypatch):
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path / "cache"))
    write(tmp_path / "cache", monkeypatch)
    found = reproduce_epistemic_gain(preset="smoke", dataset=dataset, method="local-gp")
    assert {cell.name.split("/")[1] for cell in found.rows} == {dataset}
    assert any("1,880" in note or "1,960" in note for note in found.notes)
    # the classes are easy: hardly a gain, so the correlation may be undefined, the errors are not
    assert all(np.isfinite(cell.ours) for cell in found.rows if "correlation" not in cell.name)
    assert all(cell.agrees is None for cell in found.rows)


# -- from options to runs and rows --------------------------------------------------------------------------------------


GIVEN = {"preset": "cpu", "dataset": None, "method": None, "spread": None, "data": None}


def plans(runs=None, seed=0, **options):
    return planned(chosen(**{**GIVEN, **options}), runs, seed)


def test_every_method_runs_on_every_data_set_and_spread():
    found = plans(dataset=["toy", "digits"], method=["local-gp", "random-forest"], spread=[0.3, 0.2])
    assert [(one.label, one.method.name) for one in found] == [
        ("toy 0.3", "local-gp"),
        ("toy 0.3", "random-forest"),
        ("toy 0.2", "local-gp"),
        ("toy 0.2", "random-forest"),
        ("digits", "local-gp"),
        ("digits", "random-forest"),
    ]


def test_a_share_is_part_of_the_label_and_of_the_key():
    usual, *asked = (
        plans(spread=0.3, **options)[0] for options in ({}, {"train_share": 0.05}, {"train_share": "random"})
    )
    assert [one.label for one in (usual, *asked)] == ["toy 0.3", "toy 0.3, p = 0.05", "toy 0.3, p = random"]
    assert len({one.cells[0].key for one in (usual, *asked)}) == 3


def test_runs_and_seeds():
    (one,) = plans(runs=3, seed=5, spread=0.3, method="local-gp")
    assert one.seeds == (5, 6, 7)
    assert [cell.seed for cell in one.cells] == [5, 6, 7]
    assert slice_of(DATASETS["toy"], "cpu", None).runs == 6


def test_more_runs_contain_the_fewer():
    few, many = (plans(runs=runs, spread=0.3)[0].cells for runs in (2, 4))
    assert [cell.key for cell in few] == [cell.key for cell in many[:2]]


@pytest.mark.parametrize(("method", "preset", "compared"), [("local-gp", "cpu", True), ("random-forest", "cpu", False)])
def test_only_the_classifier_of_the_paper_is_compared(method, preset, compared, tmp_path, monkeypatch):
    (one,) = plans(runs=2, method=method, spread=0.25, preset="smoke")
    assert one.row(tmp_path) is None  # nothing has run
    (first, _) = one.cells
    store_result(tmp_path, first, run_world(first))
    found = one.row(tmp_path)
    assert (found.study.n_runs, found.compared) == (1, False)  # of a smoke run
    whole = plans(runs=2, method=method, spread=0.25, preset=preset)[0]
    stored = one.cells
    monkeypatch.setattr(type(whole), "cells", property(lambda self: stored))
    assert whole.row(tmp_path).compared is compared


# -- figures 1 to 4 of the paper ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def toy():
    return cluster_grid(6000, spread=0.25, rng=0)


def new_figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(11, 5), layout="constrained")


def drawn_points(ax):
    return sum(len(one.get_offsets()) for one in ax.collections if len(one.get_offsets()) > 1)


def test_the_disc_of_figure_1_keeps_few_points():
    assert disc_layout("figure-2").train_share[DISC] == 0.04


def test_figure_1_fills_the_disc_in_the_augmented_set(toy):
    figure = new_figure()
    draw_split(figure, toy)
    train, augmented, test = figure.axes
    assert drawn_points(train) < drawn_points(augmented)
    centre, radius = disc_layout("figure-2").centres[DISC], disc_layout("figure-2").radius

    def inside(ax):
        points = np.concatenate([one.get_offsets() for one in ax.collections if len(one.get_offsets()) > 1])
        return (np.linalg.norm(points - centre, axis=1) <= radius).mean()

    assert inside(train) < 0.1 < inside(augmented) < inside(test)


def test_figure_2_has_the_discs_of_evaluation_and_calibration(toy):
    figure = new_figure()
    draw_discs(figure, toy, plan=ToyPlan())
    left, right = figure.axes
    assert (len(left.lines), len(right.lines)) == (30, 12)
    assert {text.get_text() for text in right.texts} == {"1 %", "2 %", "4 %", "10 %", "25 %", "50 %"}
    three = new_figure()
    draw_discs(three, toy, plan=ToyPlan(calibration="three-discs"))
    assert len(three.axes[1].lines) == 3
    assert len(COLOURS) == 2
    other = new_figure()
    draw_discs(other, toy, plan=ToyPlan(train_share=0.05))
    assert {text.get_text() for ax in other.axes for text in ax.texts} == {"5 %"}


def test_figure_3_has_a_panel_for_each_estimate():
    figure = new_figure()
    one = row(3)
    draw_intervals(figure, one)
    assert [ax.get_title(loc="left").partition(",")[0] for ax in figure.axes] == ["mutual information", "entropy"]
    assert "± one standard deviation over 3 runs" in figure.axes[0].get_title(loc="left")
    gain = one.results["entropy"].bins.gain.mean
    assert any(np.array_equal(line.get_ydata(), gain) for line in figure.axes[1].lines)


def test_files(tmp_path, monkeypatch):
    monkeypatch.setattr("uqassay.lab.papers.figure_files.DPI", 50)
    rows = [row(2), row(2, dataset="toy-mismatch-1"), row(2, dataset="digits", method="random-forest")]
    written = write_gain_figures(tmp_path, rows, n=2000)
    assert [path.name for path in written] == [
        "epistemic_gain_figure1.png",
        "epistemic_gain_figure2.png",
        "epistemic_gain_figure2_toy-mismatch-1.png",
        "epistemic_gain_figure3_toy_spread=0.35_local-gp.png",
        "epistemic_gain_figure3_toy-mismatch-1_spread=0.35_local-gp.png",
        "epistemic_gain_figure4_digits_random-forest.png",
    ]
    assert all(path.stat().st_size > 2000 for path in written)
    only_real = write_gain_figures(tmp_path / "real", rows[2:])
    assert [path.name for path in only_real] == ["epistemic_gain_figure4_digits_random-forest.png"]

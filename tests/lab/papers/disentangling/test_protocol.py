"""The reproduction of the paper: from options to trainings, rows, refusals, and the data sets in the form of their files."""

import gzip
import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.lab.papers.disentangling.made import a_study
from tests.refusals import refuses

from uqassay.lab.bench.store import Store
from uqassay.lab.datasets import images as mnist
from uqassay.lab.datasets.tables import CLASSES
from uqassay.lab.papers import reproduce
from uqassay.lab.papers.disentangling import figures
from uqassay.lab.papers.disentangling.plan import (
    CONVENTIONS,
    Asked,
    chosen_convention,
    chosen_datasets,
    chosen_decompositions,
    planned,
)
from uqassay.lab.papers.disentangling.run import reproduce_disentanglement, steps_of_disentanglement
from uqassay.lab.papers.options import GivenFiles


@pytest.fixture(autouse=True)
def _one_process(monkeypatch):
    """Convolutional networks are trained in this process; others would each load PyTorch."""
    monkeypatch.setattr("uqassay.lab.methods.networks.available_cores", lambda: 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def result(folder):
    return reproduce("disentanglement", preset="smoke", method="mc-dropout", resume=folder)


def test_rows_and_reading_of_a_smoke_run(result):
    names = [cell.name for cell in result.rows]
    assert len(set(names)) == len(names) == 2 * (2 + 4 + 4 + 2)
    assert all(cell.agrees is None for cell in result.rows)  # never evidence
    assert all(np.isfinite(cell.ours) for cell in result.rows)
    assert {cell.paper for cell in result.rows if cell.name == "table2/wine/MC-Dropout/GL"} == {0.778}
    text = result.summary()
    for part in (
        "a smoke run only checks that the code runs",
        "a slice, not compared",
        "Table 2",
        "ROC-AUC",
        "IT – MC-Dropout",
    ):
        assert part in text
    assert json.dumps(result.to_json(), allow_nan=False)


def test_finished_trainings_are_not_trained_again(result, folder):
    before = sorted(path.name for path in folder.rglob("prediction.npz"))
    said: list[str] = []
    again = reproduce_disentanglement(preset="smoke", method="mc-dropout", resume=folder, progress=said.append)
    assert again == result
    assert before == sorted(path.name for path in folder.rglob("prediction.npz"))
    assert said[0] == "trained 2 of 2"


def test_a_single_decomposition_has_the_same_numbers(result, folder):
    alone = reproduce_disentanglement(preset="smoke", method="mc-dropout", decomposition="GL", resume=folder)
    whole = {cell.name: cell for cell in result.rows}
    assert all(whole[cell.name] == cell for cell in alone.rows)


@pytest.mark.slow
def test_every_convention_stands_in_one_table():
    found = reproduce_disentanglement(
        preset="smoke", method=["mc-dropout", "mc-dropconnect"], convention="each", progress=None
    )
    names = {cell.name for cell in found.rows}
    for method, conventions in {
        "MC-Dropout": ("all-layers", "unstratified-split", "gaussian-code", "entropy-epsilon", "authors"),
        "MC-DropConnect": ("last-layer", "ten-levels", "fresh-noise", "deleted-column", "own-scale", "authors"),
    }.items():
        assert f"table2/wine/{method}/GL" in names
        assert {f"table2/wine/{method}/GL/{name}" for name in conventions} <= names
    assert "table2/wine/MC-Dropout/IT/gaussian-code" not in names
    cells = {cell.name: cell.ours for cell in found.rows}
    for place in ("table3/wine/MC-Dropout/IT/{}aleatoric", "table5/wine/MC-Dropout/IT/{}epistemic"):
        assert cells[place.format("ten-levels/")] == cells[place.format("")]  # of the same training
    assert any(line.startswith("ten-levels: ") for line in found.reading)


def test_forest_and_other_decompositions():
    found = reproduce_disentanglement(
        preset="smoke", dataset="digits", method="random-forest", decomposition=["IT", "variance", "zero-one"]
    )
    assert {cell.name.split("/")[3] for cell in found.rows} == {"IT", "variance", "zero-one"}
    assert all(np.isnan(cell.paper) for cell in found.rows)


def test_a_failed_training_is_named_and_left_out(folder, monkeypatch):
    from uqassay.lab.methods.flipout import Flipout

    def broken(self, *_):
        raise ValueError("no luck")

    monkeypatch.setattr(Flipout, "_new_network", broken)
    found = reproduce_disentanglement(
        preset="smoke", method=["mc-dropout", "flipout"], decomposition="IT", resume=folder
    )
    assert {cell.name.split("/")[2] for cell in found.rows} == {"MC-Dropout"}
    assert any("Flipout" in note and "no luck" in note for note in found.notes)
    with refuses("method", "all-failed", got="no luck"):
        reproduce_disentanglement(preset="smoke", method="flipout", decomposition="IT", resume=folder)


# ---- data in the form of their files -----------------------------------------------------------------------------------


def test_images_of_a_folder_in_place_of_cifar_10(tmp_path):
    rng = np.random.default_rng(0)
    for part, n in (("train", 60), ("test", 40)):
        y = np.arange(n) % 3
        x = (rng.integers(0, 60, (n, 3, 8, 8)) + 60 * y[:, None, None, None]).astype(np.uint8)
        np.savez(tmp_path / f"{part}.npz", X=x, y=y, class_names=np.array(["a", "b", "c"]))
    found = reproduce_disentanglement(
        preset="smoke", dataset="cifar-10", method="mc-dropout", decomposition="IT", data=tmp_path
    )
    assert {cell.name.split("/")[1] for cell in found.rows} == {f"cifar-10 from {tmp_path.name}"}
    assert {cell.paper for cell in found.rows if cell.name.startswith("table2") and "ci95" not in cell.name} == {0.295}
    assert all(cell.agrees is None for cell in found.rows)


@pytest.mark.slow
def test_fashion_mnist_from_files_in_its_published_form(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    paths = []
    for n in (60, 40):
        y = np.arange(n, dtype=np.uint8) % 10
        x = rng.integers(0, 60, (n, 28, 28), dtype=np.uint8)
        x[np.arange(n), y] = 255
        paths += [
            _idx(tmp_path / "fashion-mnist" / file, array)
            for file, array in zip(FILES[len(paths) :], (x, y), strict=False)
        ]
    digests = tuple(hashlib.md5(path.read_bytes()).hexdigest() for path in paths)
    monkeypatch.setitem(mnist.FAMILIES, "fashion-mnist", replace(mnist.FAMILIES["fashion-mnist"], digests=digests))
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path))
    found = reproduce_disentanglement(preset="smoke", dataset="fashion-mnist", method="mc-dropout", decomposition="IT")
    cells = {cell.name: cell for cell in found.rows}
    assert cells["table2/fashion-mnist/MC-Dropout/IT"].paper == 0.294


@pytest.mark.slow
def test_subjects_of_the_eeg_recordings_are_runs(tmp_path, monkeypatch):
    _stand_in_for_moabb(monkeypatch)
    monkeypatch.setenv("UQASSAY_DATA", str(tmp_path))
    found = reproduce_disentanglement(preset="smoke", dataset="bci", method="mc-dropout", decomposition="IT")
    cells = {cell.name: cell for cell in found.rows}
    assert cells["table2/bci/MC-Dropout/IT"].paper == 0.608
    assert np.isfinite(cells["table2/bci/MC-Dropout/IT"].low)  # over two subjects
    assert any("2 subjects" in note for note in found.notes)


# ---- figures and progress ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_figures(folder, tmp_path, monkeypatch):
    """Maps are trained on few points and not drawn, which they are in `test_figures`."""

    def empty(folder, name, *_):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.png").touch()
        return folder / f"{name}.png"

    monkeypatch.setattr("uqassay.lab.papers.disentangling.figures.write_figure", empty)
    for name in ("MOONS", "TRIANGLE"):
        small = replace(getattr(figures, name), n_grid=12, n_train=60)
        monkeypatch.setattr(figures, name, small)
    found = reproduce_disentanglement(preset="smoke", method="mc-dropout", resume=folder, figures=tmp_path / "new")
    drawn = {path.name for path in (tmp_path / "new").iterdir()}
    assert {"disentanglement_figure1.png", "disentanglement_figure9.png", "disentanglement_figure12.png"} <= drawn
    assert len(drawn) == 7
    assert sum(line.startswith("figure: ") for line in found.reading) == 7


def test_steps_of_the_progress(folder):
    assert steps_of_disentanglement(preset="paper") == 8 + 2
    assert steps_of_disentanglement(preset="paper", runs=20, method="flipout", figures="x") == 2 * 2 + 2 + 4
    said: list[str] = []
    reproduce_disentanglement(preset="smoke", method="mc-dropout", resume=folder, progress=said.append)
    assert said[-1] == "judging"


# ---- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "parameter", "code"),
    [
        ({"preset": "fast"}, "preset", "choice"),
        ({"dataset": "mnst"}, "dataset", "choice"),
        ({"dataset": ["wine", "wine"]}, "dataset", "duplicate"),
        ({"method": "dropout"}, "method", "choice"),
        ({"decomposition": "entropy"}, "decomposition", "choice"),
        ({"convention": "code"}, "convention", "choice"),
        ({"where": "first"}, "where", "choice"),
        ({"method": "random-forest", "decomposition": "GL"}, "decomposition", "conflict"),
        ({"runs": 0}, "runs", "range"),
        ({"seed": -1}, "seed", "range"),
        ({"workers": 1.5}, "workers", "type"),
        ({"data": "/nowhere/at/all"}, "data", "missing"),
        ({"data": ".", "dataset": ["wine", "digits"]}, "data", "conflict"),
    ],
)
def test_bad_options_are_refused_before_any_training(options, parameter, code, monkeypatch):
    monkeypatch.setattr(Store, "__init__", lambda *_: pytest.fail("a store was opened"))
    with refuses(parameter, code):
        reproduce_disentanglement(**options)


# ---- helpers -----------------------------------------------------------------------------------------------------------

FILES = tuple(mnist.FILES.values())


def _idx(path, array):
    """A file in the form of idx, compressed or not by its name."""
    path.parent.mkdir(exist_ok=True)
    head = bytes([0, 0, 8, array.ndim]) + b"".join(size.to_bytes(4, "big") for size in array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes(), mtime=0))
    return path


def _stand_in_for_moabb(monkeypatch):
    """Recordings in the form of MOABB: six seconds of 22 channels at 128 Hz, both ends included."""

    class BNCI2014_001:
        interval = (2, 6)

    class MotorImagery:
        def __init__(self, *, tmin, tmax, resample, **_):
            self.n_samples = round((tmax - tmin) * resample) + 1

        def get_data(self, *, dataset, subjects):
            rng = np.random.default_rng(subjects[0])
            n = 24
            assert self.n_samples == 769
            x = rng.normal(size=(n, 22, self.n_samples))
            names = np.array([CLASSES[i // 2 % 4] for i in range(n)])
            x[:, 0] *= 1 + np.arange(n)[:, None] // 2 % 4
            return x, names, {"session": ["0train", "1test"] * (n // 2), "run": [str(i // 16) for i in range(n)]}

    package, datasets, paradigms = ModuleType("moabb"), ModuleType("moabb.datasets"), ModuleType("moabb.paradigms")
    datasets.BNCI2014_001, paradigms.MotorImagery = BNCI2014_001, MotorImagery
    for name, module in (("moabb", package), ("moabb.datasets", datasets), ("moabb.paradigms", paradigms)):
        monkeypatch.setitem(sys.modules, name, module)


# -- from options to trainings -----------------------------------------------------------------------------------------


IT, GL = "information-theoretic", "gaussian-logits"


def asked(dataset="wine", method=None, decomposition=None, convention="exact", **more) -> Asked:
    return Asked(
        preset=more.pop("preset", "paper"),
        plans=tuple(chosen_datasets(dataset)),
        methods=method,
        decompositions=tuple(chosen_decompositions(decomposition)),
        decompositions_given=decomposition is not None,
        conventions=tuple(chosen_convention(convention)),
        where=more.pop("where", "printed"),
        data=more.pop("data", None),
        **more,
    )


def keys(rows) -> set[str]:
    return {training.key for row in rows for training in row.trainings}


def test_eight_rows_of_eight_trainings():
    rows, skipped = planned(asked(), None, 0)
    assert (len(rows), len(keys(rows)), skipped) == (8, 8, [])
    assert [(row.method.label, row.decomposition) for row in rows[:2]] == [("MC-Dropout", IT), ("MC-Dropout", GL)]
    assert all(row.compared for row in rows)
    (training,) = rows[0].trainings
    assert (training.seeds, dict(training.limits), training.decompositions) == ((0, 1, 2, 3, 4), {}, (IT,))


def test_decompositions_of_one_head_share_a_training():
    rows, _ = planned(asked(decomposition=["IT", "variance", "label-wise", "GL"], method=("mc-dropout",)), 2, 7)
    assert (len(rows), len(keys(rows))) == (4, 2)
    assert rows[0].own[0].decompositions == (IT, "variance", "label-wise")
    assert rows[3].own[0].decompositions == (GL,)
    assert rows[0].own[0].seeds == (7, 8)


def test_subjects_are_runs():
    rows, _ = planned(asked("bci", ("flipout",), ["IT"]), 3, 5)
    (row,) = rows
    assert [(t.source, t.seeds) for t in row.own] == [(f"bci-iv-2a:{k}", (k + 4,)) for k in (1, 2, 3)]
    with refuses("runs", "range", got="got 10"):
        planned(asked("bci"), 10, 0)


def test_a_convention_trains_only_what_it_changes():
    rows, _ = planned(asked(convention="each", method=("mc-dropout",), decomposition=["IT"]), None, 0)
    by_name = {row.convention.name: row for row in rows}
    assert set(by_name) == {
        "exact", "all-layers", "unstratified-split", "ten-levels", "fresh-noise", "deleted-column", "entropy-epsilon",
        "own-scale", "authors",
    }  # fmt: skip
    levels = by_name["ten-levels"]
    assert levels.base[0].key == by_name["exact"].own[0].key
    assert set(levels.own[0].conditions.values(3)) == {"label-noise"}
    assert len(levels.own[0].conditions.noise_levels) == 10
    assert set(by_name["deleted-column"].own[0].conditions.values(3)) == {"left-out-class"}
    assert by_name["entropy-epsilon"].own[0].key == by_name["exact"].own[0].key
    assert by_name["unstratified-split"].own[0].source == "wine-unstratified"
    assert (by_name["all-layers"].base, by_name["all-layers"].own[0].options["where"]) == ((), "all")
    assert {name for name, row in by_name.items() if row.compared} == {"exact", "authors"}
    (alone,), _ = planned(asked(convention="ten-levels", method=("mc-dropout",), decomposition=["IT"]), None, 0)
    assert alone.base == ()
    assert len(alone.own[0].conditions.values(3)) == 3


def test_gaussian_logits_of_the_authors_reach_training_and_decomposition():
    (row,), _ = planned(asked(convention="gaussian-code", method=("flipout",)), None, 0)
    (training,) = row.own
    assert (training.options["convention"], training.convention) == ("paper-code", "paper-code")
    (plain, _), _ = planned(asked(convention="authors", method=("flipout",)), None, 0)
    assert plain.own[0].convention == "exact"  # softmax has no second head


def test_slices_keep_their_levels_under_every_convention():
    rows, _ = planned(asked(convention="each", preset="smoke", method=("mc-dropout",)), None, 0)
    for row in rows:
        levels = {len(t.conditions.noise_levels) for t in row.trainings if t.conditions.noise_levels}
        assert levels == ({3, 10} if row.convention.name == "ten-levels" else {3}), row.convention.name
        assert dict(row.own[0].limits) == {"train_limit": 300, "test_limit": 200}
        assert not row.compared


def test_given_data_and_other_layers_are_not_compared():
    rows, _ = planned(asked("cifar-10", data=GivenFiles(Path("/some/cifar_jpeg"))), None, 0)
    assert {row.dataset for row in rows} == {"cifar-10 from cifar_jpeg"}
    assert rows[0].own[0].source == "npz:/some/cifar_jpeg"
    assert not any(row.compared for row in rows)
    assert not any(row.compared for row in planned(asked(where="last"), None, 0)[0])


def test_methods_without_logits():
    rows, skipped = planned(asked("digits"), None, 0)
    assert [row.decomposition for row in rows if row.method.name == "random-forest"] == [IT]
    assert skipped == ["Random forest offers no gaussian-logits"]
    for method, decomposition in ((("random-forest",), ["GL"]), (("random-forest", "flipout"), ["GL", "IT"])):
        with refuses("decomposition", "conflict"):
            planned(asked("digits", method, decomposition), None, 0)
    with refuses("convention", "conflict", got="got gaussian-code"):
        planned(asked(decomposition=["IT"], convention="gaussian-code"), None, 0)


def test_rows_take_each_experiment_from_the_training_that_has_it():
    rows, _ = planned(asked(convention="each", method=("mc-dropout",), decomposition=["IT"]), 4, 0)
    row = next(row for row in rows if row.convention.name == "ten-levels")
    base, own = a_study(seed=1), a_study(seed=2)
    own = type(own)(own.method, own.dataset, own.seeds, own.class_names, {"label-noise": own.measured["label-noise"]})
    judged = row.judged({row.base[0].key: base, row.own[0].key: own})
    assert list(judged.study.measured) == ["dataset-size", "label-noise", "left-out-class"]
    assert judged.study.measured["label-noise"] is not base.measured["label-noise"]
    np.testing.assert_array_equal(judged.study.measured["label-noise"].labels, own.measured["label-noise"].labels)
    np.testing.assert_array_equal(judged.study.measured["dataset-size"].probs, base.measured["dataset-size"].probs)
    assert row.judged({row.own[0].key: own}) is None
    assert row.judged({row.base[0].key: base, row.own[0].key: a_study(runs=3)}) is None  # other runs
    assert (judged.convention, judged.printed_as, judged.method) == ("ten-levels", "wine", "MC-Dropout")


def test_subjects_without_a_result_are_left_out():
    (row,), _ = planned(asked("bci", ("mc-dropout",), ["IT"]), 3, 0)
    first, _, third = (replace(a_study(runs=1), seeds=(k,), dataset=f"bci-iv-2a:{k + 1}") for k in range(3))
    judged = row.judged({row.own[0].key: first, row.own[2].key: third})
    assert (judged.study.seeds, judged.study.dataset) == ((0, 2), "bci")
    assert row.judged({}) is None


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_has_a_sentence(name):
    assert len(CONVENTIONS[name].sentence) > 10

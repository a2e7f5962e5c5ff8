"""Studies from stored results: which conditions make them, what they hold, and what is left out and said to be."""

from pathlib import Path

import numpy as np
import pytest
from tests.lab.bench.bench_work import WORK
from tests.notes import notes_of
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.disentanglement import bench_studies, holds_experiments
from uqassay.lab.bench.store import Store

N, K = 12, 3
BY_SEED = {"subsets_by_seed": True}
SHARES, LEVELS = (0.1, 0.5, 1.0), (0.0, 0.5, 1.0)
SIZES = [{"train_share": s, "epochs_by_share": True} | BY_SEED for s in SHARES]
NOISE = [{"label_noise": level} | BY_SEED for level in LEVELS]
OUT = [{"left_out_class": name} | BY_SEED for name in "abc"]


def cells_of(conditions, methods=("de",), seeds=(0, 1), dataset="toy"):
    return [
        Cell(f"{WORK}:draw", dataset=dataset, method=method, seed=seed, condition=condition)
        for method in methods
        for seed in seeds
        for condition in conditions
    ]


def result_of(cell, kind=uq.Members):
    """Random members, and labels that depend on the cell, both drawn from its name."""
    rng = np.random.default_rng(list(cell.name.encode()))
    labels = rng.integers(0, K, N)
    probs = rng.dirichlet(np.ones(K), size=(N, 5))
    if kind is uq.GaussianLogits:
        mean, variance = np.log(probs), rng.uniform(0.1, 1.0, probs.shape)
        return CellResult(
            uq.GaussianLogits(mean, variance, variance_is="aleatoric").with_metadata(class_names=tuple("abc")), labels
        )
    if kind is uq.Intervals:
        said = uq.Intervals(probs.min(axis=1), probs.max(axis=1))
        return CellResult(said.with_metadata(class_names=tuple("abc")), labels)
    return CellResult(uq.Members(probs).with_metadata(class_names=tuple("abc")), labels)


def stored(folder, cells, *, without=lambda cell: False, kind=lambda cell: uq.Members):
    store = Store(folder)
    store.add(cells)
    for cell in cells:
        if not without(cell):
            store.claim(cell.key)
            store.finish(cell, result_of(cell, kind(cell)), seconds=0.0)
    return cells


# -- which conditions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([*SIZES, *NOISE], True),
        ([*SIZES, *NOISE, *OUT], True),
        ([*SIZES[:2], *NOISE], False),  # the correlation of two points is always 1 or −1
        ([*SIZES, *NOISE[:2]], False),
        ([*SIZES, *OUT], False),
        ([{}], False),
        ([SIZES[0]], False),
        ([*({"train_share": s} for s in SHARES), *NOISE], False),  # by seed and not by seed
        ([{"train_share": 0.1}, {"train_share": 0.5}, {"label_noise": 0.2}, {"label_noise": 0.5}, {}], True),
        ([*SIZES, *(one | {"train_share": 0.5} for one in NOISE)], False),
        ([*(one | {"test_limit": 9} for one in SIZES), *(one | {"test_limit": 9} for one in NOISE)], True),
        ([*(one | {"test_limit": 9} for one in SIZES), *NOISE], False),
    ],
)
def test_conditions_that_make_the_benchmark(conditions, expected):
    assert holds_experiments(cells_of(conditions)) is expected


def test_data_sets_do_not_make_it_together():
    assert not holds_experiments([*cells_of(SIZES), *cells_of(NOISE, dataset="other")])


# -- what they hold ---------------------------------------------------------------------------------------------------


def test_study_holds_the_results_of_every_run_and_condition(tmp_path):
    conditions = [*OUT, *NOISE[::-1], *SIZES]  # the order does not count
    cells = stored(tmp_path, cells_of(conditions, methods=("de", "mc"), seeds=(5, 2)))
    (found,) = bench_studies(cells, tmp_path)
    assert (found.dataset, found.notes) == ("toy", ())
    assert [study.method for study in found.studies] == ["de", "mc"]
    study = found.studies[1]
    assert (study.seeds, study.class_names, study.notes) == ((5, 2), ("a", "b", "c"), ())
    assert study.decompositions == ("information-theoretic",)
    values = {"dataset-size": SHARES, "label-noise": LEVELS, "left-out-class": (0.0, 1.0, 2.0)}
    places = {"dataset-size": SIZES, "label-noise": NOISE, "left-out-class": OUT}
    for experiment, measured in study.measured.items():
        assert measured.conditions == values[experiment]
        for r, seed in enumerate((5, 2)):
            for c, condition in enumerate(places[experiment]):
                (cell,) = cells_of([condition], methods=("mc",), seeds=(seed,))
                result = result_of(cell)
                expected = uq.measures.decompose(result.prediction)
                np.testing.assert_array_equal(measured.labels[r, c], result.labels)
                np.testing.assert_allclose(measured.probs[r, c], result.prediction.mean_probs())
                for part in ("total", "aleatoric", "epistemic"):
                    found_part = getattr(measured.parts["information-theoretic"], part)[r, c]
                    np.testing.assert_allclose(found_part, getattr(expected, part))
    assert study.error("information-theoretic").per_run.shape == (2,)
    assert [one.label for one in found.contenders] == ["de, information-theoretic", "mc, information-theoretic"]


def test_condition_without_a_change_is_the_whole_training_part_and_no_noise(tmp_path):
    conditions = [{}, {"label_noise": 0.5}, {"label_noise": 1}, {"train_share": 0.1}, {"train_share": 0.5}]
    cells = stored(tmp_path, cells_of(conditions))
    (found,) = bench_studies(cells, tmp_path)
    (study,) = found.studies
    assert study.measured["dataset-size"].conditions == (0.1, 0.5, 1.0)
    assert study.measured["label-noise"].conditions == (0.0, 0.5, 1.0)
    np.testing.assert_array_equal(study.measured["dataset-size"].probs[:, 2], study.measured["label-noise"].probs[:, 0])
    (note,) = notes_of(found)
    assert note.code == "assumption"
    assert "subsets_by_seed" in note.text


def test_settings_are_studies_of_their_own(tmp_path):
    fixed = [{"train_share": s} | BY_SEED for s in SHARES]
    (found,) = bench_studies(stored(tmp_path, cells_of([*SIZES, *fixed, *NOISE])), tmp_path)
    labels = [study.method for study in found.studies]
    assert labels == ["de (subsets_by_seed True)", "de (epochs_by_share True, subsets_by_seed True)"]
    assert [study.facts["setting"].get("epochs_by_share") for study in found.studies] == [None, True]


def test_each_head_has_the_decompositions_that_it_offers(tmp_path):
    kinds = {"de": uq.Members, "gl": uq.GaussianLogits, "box": uq.Intervals}
    cells = stored(tmp_path, cells_of([*SIZES, *NOISE], methods=tuple(kinds)), kind=lambda cell: kinds[cell.method])
    (found,) = bench_studies(cells, tmp_path)
    both = ("information-theoretic", "gaussian-logits")
    assert {study.method: study.decompositions for study in found.studies} == {"de": both[:1], "gl": both}
    (note,) = notes_of(found)
    assert (note.code, "box" in note.text, "information-theoretic" in note.text) == ("left-out", True, True)
    (found,) = bench_studies(cells, tmp_path, decompositions=["gaussian-logits", "variance"])
    assert {s.method: s.decompositions for s in found.studies} == {
        "de": ("variance",),
        "gl": ("gaussian-logits", "variance"),
    }
    said = [note.facts for note in notes_of(found)]
    assert said == [
        {"method": "de", "decompositions": ("gaussian-logits",)},
        {"method": "box", "decompositions": ("gaussian-logits", "variance")},
    ]


# -- what is left out -------------------------------------------------------------------------------------------------


def test_run_with_a_cell_that_is_not_done_is_left_out_and_named(tmp_path):
    def is_missing(cell):
        return cell.method == "de" and cell.seed == 1 and cell.condition.get("label_noise") == 0.5

    cells = stored(
        tmp_path, cells_of([*SIZES, *NOISE, *OUT], methods=("de", "mc"), seeds=(0, 1, 2)), without=is_missing
    )
    (found,) = bench_studies(cells, tmp_path)
    assert [study.seeds for study in found.studies] == [(0, 2), (0, 1, 2)]
    (note,) = notes_of(found)
    assert note.facts["seeds"] == [1]
    assert "1 run of de" in note.text
    assert "toy, de, label_noise 0.5, subsets_by_seed True, seed 1" in note.text
    assert found.studies[0].notes == (note,)
    assert found.studies[1].notes == ()


def test_many_cells_that_are_not_done_are_counted(tmp_path):
    cells = stored(tmp_path, cells_of([*SIZES, *NOISE]), without=lambda cell: cell.seed == 1)
    (found,) = bench_studies(cells, tmp_path)
    (note,) = notes_of(found)
    assert "6 cells" in note.text
    assert "3 more" in note.text


def test_method_without_a_complete_run_is_left_out(tmp_path):
    cells = stored(
        tmp_path,
        cells_of([*SIZES, *NOISE], methods=("de", "mc")),
        without=lambda cell: cell.method == "mc" and "label_noise" in cell.condition,
    )
    (found,) = bench_studies(cells, tmp_path)
    assert [study.method for study in found.studies] == ["de"]
    assert any("mc is left out" in note.text for note in notes_of(found))
    (nothing,) = bench_studies(stored(tmp_path / "none", cells, without=lambda cell: True), tmp_path / "none")
    assert (nothing.studies, nothing.contenders) == ((), ())


def test_classes_left_out_that_no_run_has_are_no_reason_to_leave_the_runs_out(tmp_path):
    cells = stored(
        tmp_path, cells_of([*SIZES, *NOISE, *OUT]), without=lambda cell: cell.condition.get("left_out_class") == "b"
    )
    (found,) = bench_studies(cells, tmp_path)
    (study,) = found.studies
    assert (study.seeds, tuple(study.measured)) == ((0, 1), ("dataset-size", "label-noise"))
    (note,) = notes_of(found)
    assert (note.code, "classes left out" in note.text) == ("left-out", True)


def test_results_on_other_numbers_of_instances_do_not_fit(tmp_path):
    cells = cells_of([*SIZES, *NOISE], seeds=(0,))
    stored(tmp_path, cells, without=lambda cell: cell is cells[-1])
    store = Store(tmp_path)
    whole = result_of(cells[-1])
    store.claim(cells[-1].key)
    store.finish(cells[-1], CellResult(whole.prediction[:5], whole.labels[:5]), seconds=0.0)
    with refuses("labels", "mismatch", got="label_noise 1.0"):
        bench_studies(cells, tmp_path)


def test_no_benchmark_is_no_study(tmp_path):
    assert bench_studies(stored(Path(tmp_path), cells_of([{}])), tmp_path) == []

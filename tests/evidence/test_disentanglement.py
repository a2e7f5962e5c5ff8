"""Studies of the disentanglement benchmark: known errors, rows, checks, joining, saving."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from tests.evidence.disentanglement_data import NOISE, SHARES, made_study
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.evidence.disentanglement import DisentanglementStudy, joined

IT = "information-theoretic"


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("perfect", 0.05, 0.25),
        ("swapped", 0.9, 1.1),
        ("together", 0.5, 0.5),
        ("constant", 0.5, 0.5),
        ("reversed", 1, 1.3),
    ],
)
def test_error_of_made_up_studies_against_theory(kind, low, high):
    # jitter in the estimates that should not move costs .15; constants are right about those two and wrong about the others
    found = float(made_study(kind, n_runs=30).error(IT).error)
    assert low - 1e-9 <= found <= high + 1e-9


def test_jitter_is_chance_and_the_perfect_one_is_at_the_floor():
    for kind, reference in (("jitter", "chance"), ("perfect", "floor")):
        found = made_study(kind, n_runs=40).error(IT)
        assert found.error.low <= getattr(found, reference) <= found.error.high


def test_accuracy_and_means_are_those_of_the_instances():
    study = made_study("perfect", n_runs=2)
    row = study.rows("curves")[8]  # run 2, second share
    measured = study.measured["dataset-size"]
    r, c = 1, SHARES.index(row["condition"])
    assert (row["run"], row["seed"], row["experiment"]) == (2, 1, "dataset-size")
    assert row["accuracy"] == np.mean(measured.probs[r, c].argmax(axis=1) == measured.labels[r, c])
    assert row["epistemic"] == pytest.approx(measured.parts[IT].epistemic[r, c].mean(), abs=1e-12)
    assert row["total"] == pytest.approx(row["aleatoric"] + row["epistemic"])
    assert len(study.rows("curves")) == 2 * (len(SHARES) + len(NOISE) + 3)


def test_terms_are_rows_in_the_order_of_the_error():
    study = made_study("together")
    rows = study.rows("terms")
    assert [(r["experiment"], r["kind"], r["ideal"]) for r in rows] == [
        ("dataset-size", "aleatoric", 0),
        ("dataset-size", "epistemic", 1),
        ("label-noise", "aleatoric", 1),
        ("label-noise", "epistemic", 0),
    ]
    assert [r["deviation"] for r in rows] == pytest.approx([1, 0, 0, 1], abs=1e-9)
    (error,) = study.rows("errors")
    assert error["estimate"] == pytest.approx(np.mean([r["deviation"] for r in rows]))


def test_detection_against_scikit_learn():
    study = made_study("perfect", n_runs=3)
    found = study.detection(IT)
    measured = study.measured["left-out-class"]
    auc = np.array(
        [
            [roc_auc_score(measured.labels[r, k] == k, measured.parts[IT].epistemic[r, k]) for k in range(3)]
            for r in range(3)
        ]
    )
    np.testing.assert_allclose(found.epistemic, auc)
    assert float(found.epistemic_mean) == pytest.approx(auc.mean())
    assert float(found.difference) == pytest.approx(auc.mean() - float(found.aleatoric_mean))
    assert float(found.of_class(1, "epistemic")) == pytest.approx(auc[:, 1].mean())
    means = {r["kind"]: r["estimate"] for r in study.rows("detection") if r["left_out"] is None}
    assert means == {"aleatoric": float(found.aleatoric_mean), "epistemic": float(found.epistemic_mean)}


def test_a_class_without_test_instances_is_nan_and_noted():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["left-out-class"]
    labels = np.where(measured.labels == 2, 0, measured.labels)
    study = replace(study, measured={"left-out-class": replace(measured, labels=labels)})
    found = study.detection(IT)
    assert np.isnan(found.epistemic[:, 2]).all()
    assert float(found.epistemic_mean) == pytest.approx(found.epistemic[:, :2].mean())
    assert [(note.code, note.facts["classes"]) for note in found.notes] == [("left-out", ["virginica"])]
    assert np.isnan(found.of_class(2, "epistemic"))


def test_no_class_with_test_instances_at_all():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["left-out-class"]
    study = replace(study, measured={"left-out-class": replace(measured, labels=np.zeros_like(measured.labels))})
    found = study.detection(IT)
    assert np.isnan([found.aleatoric_mean, found.epistemic_mean, found.difference]).all()
    assert found.epistemic_mean.notes[0].code == "undefined"


def test_studies_without_some_experiments():
    only_noise = made_study("perfect", without=("dataset-size", "left-out-class"))
    assert {r["experiment"] for r in only_noise.rows("curves")} == {"label-noise"}
    assert only_noise.rows("errors") == only_noise.rows("terms") == only_noise.rows("detection") == []
    with refuses("experiment", "choice", got="dataset-size"):
        only_noise.error(IT)
    with refuses("experiment", "choice", got="label-noise"):
        only_noise.detection(IT)
    json.dumps(only_noise.to_json(), allow_nan=False)


def test_one_run_has_no_interval():
    study = made_study("perfect", n_runs=1)
    (row,) = study.rows("errors")
    assert np.isnan([row["low"], row["high"]]).all()
    assert np.isfinite(row["estimate"])
    json.dumps(study.to_json(), allow_nan=False)


def test_tables_have_columns_even_without_rows():
    pytest.importorskip("pandas")
    study = made_study("perfect", n_runs=2, without=("dataset-size",))
    for name in ("curves", "errors", "terms", "detection"):
        table = study.table(name)
        assert len(table) == len(study.rows(name))
        assert {"method", "dataset", "decomposition"} <= set(table.columns)
    assert list(made_study("perfect", n_runs=2).table("terms").columns) == list(study.table("terms").columns)


def test_constant_in_single_precision_is_constant():
    study = made_study("perfect", n_runs=3)
    measured = study.measured["label-noise"]
    parts = measured.parts[IT]
    wobble = 1e-8 * np.random.default_rng(0).normal(size=parts.total.shape)
    single = replace(parts, epistemic=(0.0 * parts.total + wobble).astype(np.float32))
    curves = replace(measured, parts={IT: single}).curves(IT)
    study = replace(study, measured={**study.measured, "label-noise": replace(measured, parts={IT: single})})
    assert curves.epistemic.shape == (3, len(NOISE))
    assert study.error(IT).terms[3].constant.all()


# -- what is refused ----------------------------------------------------------------------------------------------------


def test_shapes_that_do_not_fit():
    measured = made_study("perfect").measured["dataset-size"]
    parts = measured.parts[IT]
    with refuses("labels", "shape", got=r"\(7, 90\)"):
        replace(measured, labels=measured.labels[0])
    with refuses("labels", "shape", got="float64"):
        replace(measured, labels=measured.labels.astype(float))
    with refuses("conditions", "mismatch", got="7 conditions"):
        replace(measured, conditions=SHARES[:3])
    with refuses("conditions", "mismatch"):
        replace(measured, conditions=(0.5,) * 7)
    with refuses("probs", "shape", got=r"\(5, 7, 90\)"):
        replace(measured, probs=measured.probs[..., 0])
    with refuses("probs", "not-probabilities", got="-4"):
        replace(measured, probs=measured.probs - 4.2)
    with refuses(f"parts['{IT}'].aleatoric", "shape", got=r"\(4, 7, 90\)"):
        replace(measured, parts={IT: replace(parts, aleatoric=parts.aleatoric[1:])})
    with refuses("parts", "empty"):
        replace(measured, parts={})


def test_undefined_estimates_name_the_place():
    measured = made_study("perfect").measured["dataset-size"]
    parts = measured.parts[IT]
    broken = parts.epistemic.copy()
    broken[2, 3, 4] = np.nan
    with refuses(f"parts['{IT}'].epistemic", "finite", got=r"\(2, 3, 4\)"):
        replace(measured, parts={IT: replace(parts, epistemic=broken)})


def test_arguments_of_a_study():
    study = made_study("perfect")
    with refuses("seeds", "duplicate"):
        replace(study, seeds=(1, 1, 2, 3, 4))
    with refuses("measured['dataset-size']", "mismatch", got="5 runs of 3 classes for 2 seeds"):
        replace(study, seeds=(1, 2))
    with refuses("measured['dataset-size']", "mismatch"):
        replace(study, class_names=("a", "b"))
    with refuses("measured", "choice", got="size"):
        replace(study, measured={"size": study.measured["dataset-size"]})
    with refuses("measured", "empty"):
        replace(study, measured={})
    left_out = study.measured["left-out-class"]
    with refuses("measured['left-out-class']", "range", got="0 to 3"):
        replace(study, measured={"left-out-class": replace(left_out, conditions=(0, 1, 3))})
    with refuses("decomposition", "choice", got="variance"):
        study.error("variance")
    with refuses("name", "choice", got="curve"):
        study.rows("curve")


def test_arrays_of_other_layouts_are_read_as_they_are():
    study = made_study("perfect", n_runs=2)
    measured = study.measured["dataset-size"]
    parts = measured.parts[IT]
    turned = np.asfortranarray(parts.epistemic)
    turned.flags.writeable = False
    other = replace(measured, parts={IT: replace(parts, epistemic=turned)})
    np.testing.assert_allclose(other.curves(IT).epistemic, measured.curves(IT).epistemic, rtol=1e-12)


# -- joining and saving -------------------------------------------------------------------------------------------------


def test_joined_runs_stand_one_after_another():
    blocks = [made_study("together", n_runs=2, seed=i, first_seed=2 * i) for i in range(3)]
    whole = joined(blocks)
    assert whole.seeds == tuple(range(6))
    errors = np.concatenate([block.error(IT).per_run for block in blocks])
    np.testing.assert_allclose(whole.error(IT).per_run, errors)
    assert joined(blocks[:1]).seeds == (0, 1)


def test_studies_that_cannot_be_joined():
    one = made_study("together", n_runs=2)
    with refuses("studies", "empty"):
        joined([])
    with refuses("studies", "mismatch", got="other"):
        joined([one, made_study("together", "other", first_seed=9)])
    with refuses("studies", "mismatch", got="dataset-size"):
        joined([one, made_study("together", first_seed=9, without=("dataset-size",))])
    with refuses("studies", "mismatch", got="variance"):
        joined([one, made_study("together", first_seed=9, decomposition="variance")])
    with refuses("studies", "mismatch", got="90 and 60"):
        joined([one, made_study("together", first_seed=9, n=60)])
    with refuses("seeds", "duplicate"):
        joined([one, made_study("together", n_runs=2)])


def test_saved_studies_come_back(tmp_path):
    study = replace(made_study("perfect", n_runs=2), facts={"members": 10, "seconds": 1.5})
    folder = study.save(tmp_path / "runs" / "study")
    again = DisentanglementStudy.load(folder)
    assert again.to_json() == study.to_json()
    assert again.rows("detection") == study.rows("detection")
    assert sorted(path.name for path in folder.iterdir()) == ["arrays.npz", "study.json"]
    assert made_study("jitter").save(folder) == folder  # a study is replaced by a study


def test_folders_that_hold_something_else(tmp_path):
    study = made_study("perfect", n_runs=2)
    (tmp_path / "mine").mkdir()
    with refuses(str(tmp_path / "mine"), "unwritable", error=FileFormatError):
        study.save(tmp_path / "mine")
    with refuses(str(tmp_path / "none"), "unreadable", error=FileFormatError):
        DisentanglementStudy.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda facts: {**facts, "schema": "uqassay.disentanglement-study/0"}, "study/0"),
        (lambda facts: {k: v for k, v in facts.items() if k != "seeds"}, "KeyError"),
        (lambda facts: {**facts, "seeds": [1]}, "1 seed"),
        (lambda facts: {**facts, "measured": []}, "AttributeError"),
        (lambda facts: [facts], "AttributeError"),
    ],
)
def test_damaged_folders_are_refused(tmp_path, change, got):
    folder = made_study("perfect", n_runs=2).save(tmp_path / "study")
    facts = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(change(facts)))
    with refuses(str(folder), "unreadable", got=got, error=FileFormatError):
        DisentanglementStudy.load(folder)


def test_a_cut_archive_is_refused(tmp_path):
    folder = made_study("perfect", n_runs=2).save(tmp_path / "study")
    content = (folder / "arrays.npz").read_bytes()
    (folder / "arrays.npz").write_bytes(content[: len(content) // 2])
    with refuses(str(folder), "unreadable", error=FileFormatError):
        DisentanglementStudy.load(folder)


def test_pickled_arrays_are_refused(tmp_path):
    folder = made_study("perfect", n_runs=2).save(tmp_path / "study")
    with np.load(folder / "arrays.npz") as archive:
        arrays = dict(archive)
    np.savez(folder / "arrays.npz", **{**arrays, "0/labels": np.array([{}], dtype=object)})
    with refuses(str(folder), "unreadable", error=FileFormatError):
        DisentanglementStudy.load(folder)

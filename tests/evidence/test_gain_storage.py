"""Studies of the gain in folders: nothing pickled, nothing damaged, nothing of another kind."""

import json

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study as disentanglement_study
from tests.evidence.gain_data import made_study
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.evidence import DisentanglementStudy, GainStudy


def test_saved_studies_come_back(tmp_path):
    study = made_study("large", n_runs=2, n=40, groups=4, truth=True)
    folder = study.save(tmp_path / "runs" / "study")
    again = GainStudy.load(folder)
    assert (again.method, again.dataset, again.seeds, again.facts) == ("made up", "toy", (0, 1), {"instances": 40})
    for mine, other in zip(study.runs, again.runs, strict=True):
        assert mine.sizes == other.sizes
        for a, b in ((mine.test, other.test), (mine.calibration, other.calibration)):
            np.testing.assert_array_equal(a.gain["zero-one"], b.gain["zero-one"])
            np.testing.assert_array_equal(a.epistemic["entropy"], b.epistemic["entropy"])
            np.testing.assert_array_equal(a.correct_after, b.correct_after)
            np.testing.assert_array_equal(a.truth.epistemic, b.truth.epistemic)
            np.testing.assert_array_equal(a.groups, b.groups)
    assert made_study("large", n_runs=1, n=40, calibration=False).save(folder) == folder
    assert GainStudy.load(folder).runs[0].calibration is None


def test_folders_of_something_else(tmp_path):
    (tmp_path / "mine").mkdir()
    with refuses(str(tmp_path / "mine"), "unwritable", error=FileFormatError):
        made_study(n=10).save(tmp_path / "mine")
    with refuses(str(tmp_path / "none"), "unreadable", error=FileFormatError):
        GainStudy.load(tmp_path / "none")
    other = disentanglement_study("perfect", n_runs=2).save(tmp_path / "other")
    with refuses(str(other), "unreadable", got="disentanglement-study/1", error=FileFormatError):
        GainStudy.load(other)
    mine = made_study(n=10).save(tmp_path / "study")
    with refuses(str(mine), "unreadable", got="gain-study/1", error=FileFormatError):
        DisentanglementStudy.load(mine)


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda facts: {**facts, "schema": "uqassay.gain-study/0"}, "study/0"),
        (lambda facts: {k: v for k, v in facts.items() if k != "runs"}, "KeyError"),
        (lambda facts: {**facts, "runs": []}, "got none"),
        (lambda facts: {**facts, "runs": facts["runs"] * 2}, "KeyError"),
        (lambda facts: {**facts, "runs": [facts["runs"][0] | {"test": None}]}, "TypeError"),
        (lambda facts: {**facts, "runs": [facts["runs"][0] | {"seed": "a"}]}, "'a'"),
        (lambda facts: {**facts, "facts": [1]}, "1"),
        (lambda facts: {**facts, "runs": [facts["runs"][0] | {"sizes": {"test": float("inf")}}]}, "inf"),
        (lambda facts: [facts], "AttributeError"),
    ],
)
def test_damaged_folders_are_refused(tmp_path, change, got):
    folder = made_study(n_runs=1, n=10).save(tmp_path / "study")
    facts = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(change(facts)))
    with refuses(str(folder), "unreadable", got=got, error=FileFormatError):
        GainStudy.load(folder)


def test_deeply_nested_facts_are_refused(tmp_path):
    folder = made_study(n_runs=1, n=10).save(tmp_path / "study")
    (folder / "study.json").write_text("[" * 100_000)
    with refuses(str(folder), "unreadable", got="RecursionError", error=FileFormatError):
        GainStudy.load(folder)


def test_damaged_and_pickled_arrays_are_refused(tmp_path):
    folder = made_study(n_runs=1, n=10).save(tmp_path / "study")
    content = (folder / "arrays.npz").read_bytes()
    with np.load(folder / "arrays.npz") as archive:
        arrays = dict(archive)
    (folder / "arrays.npz").write_bytes(content[: len(content) // 2])
    with refuses(str(folder), "unreadable", got="BadZipFile", error=FileFormatError):
        GainStudy.load(folder)
    np.savez(folder / "arrays.npz", **{**arrays, "0/test/before": np.array([{}], dtype=object)})
    with refuses(str(folder), "unreadable", got="ValueError", error=FileFormatError):
        GainStudy.load(folder)
    np.savez(folder / "arrays.npz", **{**arrays, "0/test/before": ~arrays["0/test/before"]})
    with refuses(str(folder), "unreadable", got="row 0", error=FileFormatError):
        GainStudy.load(folder)

"""Studies of the gain in folders: all of them comes back, and what does not fit is refused; see test_saved_folder."""

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study as disentanglement_study
from tests.evidence.gain_data import made_study
from tests.evidence.saved_folders import change_arrays, change_facts
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


@pytest.fixture
def kept(tmp_path):
    return made_study(n_runs=1, n=10).save(tmp_path / "study")


def test_a_study_of_another_kind_is_refused(tmp_path, kept):
    other = disentanglement_study("perfect", n_runs=2, n=12).save(tmp_path / "other")
    with refuses(str(other), "unreadable", got="disentanglement-study/2", error=FileFormatError):
        GainStudy.load(other)
    with refuses(str(kept), "unreadable", got="gain-study/2", error=FileFormatError):
        DisentanglementStudy.load(kept)


def first_run(facts, **values):
    facts["runs"][0] |= values


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda facts: facts.update(schema="uqassay.gain-study/0"), "study/0"),
        (lambda facts: facts.pop("runs"), "runs is missing"),
        (lambda facts: facts.update(runs=[]), "got none"),
        (lambda facts: facts.update(runs=facts["runs"] * 2), "runs/1/test/gain/zero-one must be"),
        (lambda facts: first_run(facts, test=None), "runs/0/test must be an object; got None"),
        (lambda facts: first_run(facts, seed="a"), "'a'"),
        (lambda facts: facts.update(facts=[1]), "1"),
        (lambda facts: first_run(facts, sizes={"test": float("inf")}), "inf"),
    ],
)
def test_damaged_folders_are_refused(kept, change, got):
    change_facts(kept, change)
    with refuses(str(kept), "unreadable", got=got, error=FileFormatError):
        GainStudy.load(kept)


def test_arrays_that_do_not_fit_are_refused(kept):
    change_arrays(
        kept, lambda arrays: arrays.update({"runs/0/test/correct_before": ~arrays["runs/0/test/correct_before"]})
    )
    with refuses(str(kept), "unreadable", got="row 0", error=FileFormatError):
        GainStudy.load(kept)

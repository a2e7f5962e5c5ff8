"""Studies in folders: all of them comes back, and what does not fit is refused; see test_saved_folder."""

from dataclasses import replace

import pytest
from tests.evidence.disentanglement_data import made_study
from tests.evidence.saved_folders import change_arrays, change_facts
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.evidence.disentanglement import DisentanglementStudy


def test_saved_studies_come_back(tmp_path):
    study = replace(made_study("perfect", n_runs=2), facts={"members": 10, "seconds": 1.5})
    folder = study.save(tmp_path / "runs" / "study")
    again = DisentanglementStudy.load(folder)
    assert again.to_json() == study.to_json()
    assert again.rows("detection") == study.rows("detection")
    assert sorted(path.name for path in folder.iterdir()) == ["arrays.npz", "study.json"]
    assert made_study("jitter").save(folder) == folder  # a study is replaced by a study


@pytest.fixture
def kept(tmp_path):
    return made_study("perfect", n_runs=2, n=12).save(tmp_path / "study")


@pytest.mark.parametrize(
    ("change", "got"),
    [
        (lambda facts: facts.update(schema="uqassay.disentanglement-study/0"), "study/0"),
        (lambda facts: facts.pop("seeds"), "seeds is missing"),
        (lambda facts: facts.update(seeds=[1]), "1 seed"),
        (lambda facts: facts.update(measured=[]), "measured must be an object"),
        (lambda facts: facts.update(seeds=["a", "b"]), "'a'"),
        (lambda facts: facts.update(facts=[1]), "1"),
        (
            lambda facts: [one.update(conditions=[{}]) for one in facts["measured"].values()],
            "conditions/0 must be a number",
        ),
    ],
)
def test_damaged_folders_are_refused(kept, change, got):
    change_facts(kept, change)
    with refuses(str(kept), "unreadable", got=got, error=FileFormatError):
        DisentanglementStudy.load(kept)


def test_missing_arrays_are_refused(kept):
    change_arrays(kept, lambda arrays: arrays.pop("measured/dataset-size/labels"))
    with refuses(str(kept), "unreadable", got="measured/dataset-size/labels is missing", error=FileFormatError):
        DisentanglementStudy.load(kept)

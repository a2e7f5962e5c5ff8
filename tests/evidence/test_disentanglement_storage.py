"""Studies in folders: nothing pickled, nothing damaged."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.evidence.disentanglement_data import made_study
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.evidence.disentanglement import DisentanglementStudy

IT = "information-theoretic"


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
        (lambda facts: {**facts, "seeds": ["a", "b"]}, "'a'"),
        (lambda facts: {**facts, "facts": [1]}, "1"),
        (lambda facts: {**facts, "measured": {k: {**v, "conditions": [{}]} for k, v in facts["measured"].items()}}, ""),
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

"""Trainings as cells: run once, failures named, damaged results counted as missing; results of estimators at hand."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.bench.store import older_notes
from uqassay.lab.papers import trainings
from uqassay.lab.papers.estimators import stored_result
from uqassay.lab.papers.trainings import all_failed, failure_notes, folder_of, train_cells, trained_cells

RAN: list[int] = []


def work(cell):
    RAN.append(cell.seed)
    if cell.seed == 1:
        raise ValueError("no luck")
    return CellResult(uq.Point([[0.9, 0.1]]), np.array([0]))


@pytest.fixture
def cells(monkeypatch):
    monkeypatch.setattr(trainings, "work_for_tests", work, raising=False)
    RAN.clear()
    function = "uqassay.lab.papers.trainings:work_for_tests"
    return [Cell(function, dataset="toy", method="constant", seed=seed) for seed in range(3)]


def test_cells_run_once_and_failures_are_named(cells, tmp_path):
    said: list[str] = []
    failed = train_cells(cells, tmp_path, workers=1, say=said.append)
    assert failed == {cells[1].name: "ValueError: no luck"}
    assert RAN == [0, 1, 2]
    assert said[-1] == f"trained 3 of 3: {cells[2].name}"
    assert [cell.seed for cell, _ in trained_cells(cells, tmp_path)] == [0, 2]
    assert train_cells(cells, tmp_path, workers=1, say=said.append) == failed
    assert RAN == [0, 1, 2, 1]  # only the failure is tried again


def test_results_of_other_code_are_not_used(cells, tmp_path, monkeypatch):
    train_cells([cells[0], cells[2]], tmp_path, workers=1, say=lambda step: None)
    monkeypatch.setattr("uqassay.__version__", "0.0")
    (note,) = older_notes(cells, tmp_path)
    assert note.startswith(f"2 trainings in {tmp_path} were made by another version of uqassay and are not used")
    assert list(trained_cells(cells, tmp_path)) == []


def test_a_damaged_result_counts_as_missing(cells, tmp_path):
    train_cells(cells[:1], tmp_path, workers=1, say=lambda step: None)
    (path,) = tmp_path.glob("cells/*/*/prediction.npz")
    path.write_bytes(path.read_bytes()[:-5])
    assert list(trained_cells(cells[:1], tmp_path)) == []


def test_the_error_has_the_first_reason():
    problem = all_failed("predictors", {"a": "ValueError: no luck", "b": "OSError"})
    assert (problem.parameter, problem.code) == ("predictors", "all-failed")
    assert problem.got == "all 2 trainings failed, a with ValueError: no luck"


def test_notes_name_what_failed():
    assert failure_notes({"a": "OSError: full"}) == ["a failed and is left out: OSError: full"]
    assert failure_notes({}) == []


def test_the_folder_stays_where_one_is_given(tmp_path):
    with folder_of(tmp_path / "kept") as folder:
        assert folder == tmp_path / "kept"
    with folder_of(None) as folder:
        (folder / "a").write_text("")
    assert not folder.exists()


def test_a_file_is_no_folder_of_trainings(tmp_path):
    (tmp_path / "run").write_text("")
    with refuses("resume", "missing", got="run is a file"), folder_of(tmp_path / "run"):
        pass


# -- results of an estimator at hand in the folder of a benchmark -------------------------------------------------------


def the_cell(seed=0):
    return Cell("json:dumps", dataset="toy", method="none", seed=seed)


def test_a_result_is_made_once_and_a_damaged_one_again(tmp_path):
    made = []

    def make():
        made.append(1)
        return CellResult(uq.Point([[0.25, 0.75]]), np.array([1]), {"a": np.array([len(made)])})

    for _ in range(2):
        assert stored_result(tmp_path, the_cell(), make).scores["a"] == 1
    stored_result(tmp_path, the_cell(1), make)
    assert len(made) == 2
    for file in tmp_path.rglob("scores.npz"):
        file.write_bytes(b"damaged")
    assert stored_result(tmp_path, the_cell(), make).scores["a"] == 3


def test_a_killed_one_leaves_nothing(tmp_path):
    def killed():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stored_result(tmp_path, the_cell(), killed)
    result = stored_result(tmp_path, the_cell(), lambda: CellResult(uq.Point([[0.5, 0.5]]), np.array([1])))
    assert result.labels.tolist() == [1]

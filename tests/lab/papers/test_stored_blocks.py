"""Results of an estimator at hand in the folder of a benchmark."""

import numpy as np
import pytest

import uqassay as uq
from uqassay.lab.bench.cell import Cell, CellResult
from uqassay.lab.papers.trainings import stored_result


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

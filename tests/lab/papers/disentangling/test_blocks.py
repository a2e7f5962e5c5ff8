"""Blocks of runs as cells: the same studies, stored and read back."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.evidence.disentanglement import join_studies
from uqassay.lab.bench.store import Store
from uqassay.lab.papers.disentangling.trainings import (
    Conditions,
    block_cells,
    blocks_of,
    measure_runs,
    packed,
    study_of,
    train_block,
)
from uqassay.lab.papers.trainings import train_cells, trained_cells

FEW = Conditions(shares=(0.1, 0.5, 1.0), noise_levels=(0.0, 0.5, 1.0))
PARAMS = {"n_members": 4}


@pytest.fixture(autouse=True)
def _packages(needs):
    needs("sklearn")


def forest_cells(**options):
    given = {"conditions": FEW, "label": "forest"} | options
    return block_cells("wine", "random-forest", PARAMS, range(3), **given)


def same(a, b):
    assert (a.method, a.dataset, a.seeds, a.class_names) == (b.method, b.dataset, b.seeds, b.class_names)
    assert list(a.measured) == list(b.measured)
    assert a.notes == b.notes
    for name, one in a.measured.items():
        other = b.measured[name]
        assert one.conditions == other.conditions
        np.testing.assert_array_equal(one.labels, other.labels)
        np.testing.assert_array_equal(one.probs, other.probs)
        assert set(one.parts) == set(other.parts)
        for key, parts in one.parts.items():
            for part in ("total", "aleatoric", "epistemic"):
                np.testing.assert_array_equal(getattr(parts, part), getattr(other.parts[key], part))


def test_stored_blocks_are_the_study(tmp_path):
    from uqassay.lab.datasets import load_dataset
    from uqassay.lab.methods import RandomForest

    cells = forest_cells(options={"runs_per_block": 2})
    assert [cell.params["seeds"] for cell in cells] == [[0, 1], [2]]
    assert train_cells(cells, tmp_path, workers=1, say=lambda line: None) == {}
    study = join_studies([study_of(kept) for _, kept in trained_cells(cells, tmp_path)])
    direct = measure_runs(RandomForest(**PARAMS), load_dataset("wine"), FEW, range(3), method="forest")
    same(study, direct)
    assert study.error("information-theoretic").error == direct.error("information-theoretic").error
    same(study_of(packed(direct)), direct)
    assert Store(tmp_path, create=False).counts() == {"queued": 0, "running": 0, "done": 2, "failed": 0}


def test_keys_know_all_that_the_result_depends_on():
    def keys(**options):
        return {cell.key for cell in forest_cells(**options)}

    base = keys()
    assert len(base) == 3
    assert keys() == base == keys(source="wine")
    changed = [
        {"conditions": Conditions(shares=(0.1, 0.5, 0.9))},
        {"options": {"decompositions": ["variance"]}},
        {"limits": {"test_limit": 20}},
        {"options": {"runs_per_block": 3}},
    ]
    assert all(not keys(**options) & base for options in changed)


def test_limits_and_chosen_decompositions():
    (cell,) = forest_cells(
        limits={"test_limit": 20}, options={"decompositions": ["variance"], "runs_per_block": 3}, label=""
    )
    study = study_of(train_block(cell))
    assert study.method == "random-forest"
    assert study.decompositions == ("variance",)
    assert study.measured["dataset-size"].labels.shape == (3, 3, 20)


def test_blocks_suit_the_estimator(needs):
    needs("torch")
    from uqassay.lab.methods import MCDropout, RandomForest

    seeds = range(12)
    assert [len(block) for block in blocks_of(seeds, RandomForest(), (4,))] == [1] * 12
    assert [len(block) for block in blocks_of(seeds, MCDropout(), (4,))] == [10, 2]
    assert [len(block) for block in blocks_of(seeds, MCDropout(backbone="cnn"), (8, 8))] == [1] * 12


def test_refusals():
    with refuses("options", "choice", got="'runs'"):
        forest_cells(options={"runs": 3})
    with refuses("name", "choice", got="'vine'"):
        block_cells("vine", "random-forest", {}, [0])
    (cell, *_) = forest_cells()
    from dataclasses import replace

    with refuses("dataset", "mismatch", got="wine"):
        train_block(replace(cell, data_hash="0" * 64))

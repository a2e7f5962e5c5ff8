"""What workers do: one thread, one layout of arrays, and errors and warnings as values."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.arrays import available_cores
from uqassay.evidence import dask as dask_assay
from uqassay.evidence import dask as dask_chunks
from uqassay.evidence.dask import WorkerRun, join_pictures, pictures_of, rest_of, score_chunk

OPTIONS = {"n_draws": 5, "scales": (), "calibration": ()}
P = np.random.default_rng(0).dirichlet(np.ones(3), (6, 2))


def score(kind=None, settings=None, first_row=0, p=P):
    runs = {"m": (WorkerRun(kind, ("probs",), settings or {}),)}
    return score_chunk(OPTIONS, runs, {"m": [[p]]}, np.zeros(6, int), {}, first_row, None)


def test_a_task_has_one_thread_and_arrays_in_c_order():
    seen = []

    def kind(probs):
        seen.append((available_cores(), probs.flags.c_contiguous))
        return uq.Members(probs)

    turned = np.asfortranarray(P)
    assert score(kind, p=turned).problem is None
    assert seen == [(1, True)]


def test_errors_are_values_with_the_row_of_the_whole():
    broken = P.copy()
    broken[4, 0, 1] = np.nan
    assert score(p=broken).problem.facts["row"] == 4
    found = score(p=broken, first_row=100)
    assert (found.state, found.problem.facts["row"]) == (None, 104)
    assert "row 104 of all" in found.problem.got
    assert pictures_of(found).samples == {}
    assert rest_of(found) is found


def test_pictures_travel_apart_from_the_rest():
    chunk = score()
    assert rest_of(chunk).state.pictures.samples == {}
    assert chunk.state.pictures.samples["m"].joined()[1].tolist() == list(range(6))
    later = pictures_of(score(first_row=6))
    assert join_pictures([pictures_of(chunk), later]).samples["m"].joined()[1].tolist() == list(range(12))
    assert later.samples["m"].joined()[1].tolist() == list(range(6, 12))


@pytest.mark.parametrize("package", ["uqassay", "NumPy", "SciPy", "compiled kernels"])
def test_workers_with_other_versions_are_refused(package, monkeypatch):
    chunk = score()
    assert package in dask_chunks.versions()
    other = chunk._replace(versions=chunk.versions | {package: "0.0.1"})
    with refuses("client", "mismatch", got=f"{package} is 0.0.1 there"):
        dask_assay._checked(other)

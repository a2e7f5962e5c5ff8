"""An assay of arrays on another device: scores are computed there, and agree with those of NumPy arrays."""

import numpy as np
import pytest
from tests.other_arrays import force_computation_elsewhere

import uqassay as uq
from uqassay._array_support import SUPPORT
from uqassay.evidence import scoring as device_scores
from uqassay.predictions import held_elsewhere
from uqassay.predictions.devices import as_prediction_here_and_there

N = 60
RNG = np.random.default_rng(8)


def ensemble(n_classes, n=N):
    return RNG.dirichlet(np.full(n_classes, 0.5), (n, 4))


@pytest.fixture
def torch(needs, monkeypatch):
    needs("torch")
    force_computation_elsewhere(monkeypatch)
    import torch

    return torch


@pytest.mark.parametrize("n_classes", [3, 20])
def test_an_assay_against_one_of_numpy(torch, n_classes):
    probs, y = ensemble(n_classes), RNG.integers(0, n_classes, N)
    options = {"calibration": (), "measures": tuple(SUPPORT["measures.uncertainty_score"].only["name"])}
    here = uq.assay({"DE": probs, "mean": probs.mean(axis=1)}, y, **options)
    there = uq.assay({"DE": torch.tensor(probs), "mean": torch.tensor(probs.mean(axis=1))}, torch.tensor(y), **options)
    assert here.verdict() == there.verdict()
    for one, other in zip(here.models, there.models, strict=True):
        assert (one.fingerprint, one.floored) == (other.fingerprint, other.floored)
        assert one.nonspecificity_error == pytest.approx(other.nonspecificity_error, rel=1e-9)
        np.testing.assert_allclose(one.order_deviations, other.order_deviations, atol=1e-13)
        for name, column in one.columns.items():
            np.testing.assert_allclose(other.columns[name], column, rtol=1e-11, atol=1e-13, err_msg=name)


def test_scores_are_computed_on_the_device(torch, monkeypatch):
    """The formulas of the host are not called for what the device computes."""
    seen = []
    for name in ("terms_on_device", "columns_on_device"):
        found = getattr(device_scores, name)

        def noted(*given, found=found, **options):
            seen.append(found(*given, **options))
            return seen[-1]

        monkeypatch.setattr(f"uqassay.evidence.scoring.{name}", noted)
    probs, y = ensemble(3), RNG.integers(0, 3, N)
    uq.assay({"DE": torch.tensor(probs)}, y, calibration=(), measures=("margin", "upper-entropy"))
    terms, columns = seen[:2]
    assert type(terms[0][0]) is np.ndarray
    assert "margin" in columns
    assert "upper-entropy" not in columns


@pytest.mark.parametrize(
    "options", [{"convention": "paper"}, {"distance": "brier"}, {"nonspecificity": "credal-uncertainty"}]
)
def test_options_of_the_host(torch, options):
    probs, y = ensemble(3, 20), RNG.integers(0, 3, 20)
    here, there = (uq.assay({"DE": p}, y, calibration=(), **options) for p in (probs, torch.tensor(probs)))
    np.testing.assert_allclose(here.loss("DE"), there.loss("DE"), rtol=1e-12)


def test_votes_and_runs(torch):
    probs, votes = ensemble(3, 20), RNG.integers(0, 4, (20, 3)) + np.eye(3, dtype=int)[0]
    for y in (votes, votes.argmax(axis=1)):
        runs = [torch.tensor(probs), torch.tensor(probs[:, ::-1].copy())]
        here = uq.assay({"DE": [run.numpy() for run in runs]}, y, calibration=())
        there = uq.assay({"DE": runs}, y, calibration=())
        for name, column in here.models[0].columns.items():
            np.testing.assert_allclose(there.models[0].columns[name], column, rtol=1e-11, atol=1e-13, err_msg=name)


def test_slices_and_host_arrays_hold_nothing_elsewhere(torch):
    prediction = as_prediction_here_and_there(torch.tensor(ensemble(3)))
    assert held_elsewhere(prediction).n_instances == N
    assert held_elsewhere(prediction[:3]) is None
    assert held_elsewhere(as_prediction_here_and_there(ensemble(3))) is None


def test_a_device_without_float64_leaves_the_scores_to_the_host(needs, monkeypatch):
    needs("jax")
    import jax.numpy as jnp

    force_computation_elsewhere(monkeypatch)
    probs, y = ensemble(3, 20).astype(np.float32), RNG.integers(0, 3, 20)
    assert held_elsewhere(as_prediction_here_and_there(jnp.asarray(probs))) is None
    here, there = (uq.assay({"DE": p}, y, calibration=()) for p in (probs, jnp.asarray(probs)))
    for name, column in here.models[0].columns.items():
        np.testing.assert_array_equal(there.models[0].columns[name], column, err_msg=name)

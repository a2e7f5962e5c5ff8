"""The distributions that a test mixes: members, and the first and last vertices of intervals and masses."""

import numpy as np
import pytest

import uqassay as uq
from tests.kinds import KINDS, lower_of_every_event, random_prediction
from tests.notes import said
from tests.refusals import refuses
from uqassay.calibration.credal import credal_calibration_test
from uqassay.calibration.mixtures import shared_members
from uqassay.credal.vertices import lower_probability_vertices


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=12)
    labels = random_generator.integers(0, 4, 12)
    if kind in ("Dirichlet", "GaussianLogits", "ClassSets"):
        with refuses("members", "undefined" if kind == "ClassSets" else "type", got=f"got {kind}"):
            credal_calibration_test(labels, prediction)
        return
    test = credal_calibration_test(labels, prediction, n_draws=19)
    n_members = {"Point": 1, "Intervals": 8, "Masses": 8}.get(kind, 3)
    assert (test.n_members, test.n_instances, test.n_classes) == (n_members, 12, 4)
    assert test.width == pytest.approx((prediction.upper_probs() - prediction.lower_probs()).mean())
    assert test.noun == ("members" if kind in ("Point", "Members") else "vertices")
    assert ("2K vertices" in said(test)) == (kind in ("Intervals", "Masses"))
    assert ("has the same meaning in every instance" in said(test)) == (kind == "Vertices")


@pytest.mark.parametrize("kind", ["Intervals", "Masses"])
def test_vertices_against_the_lower_probability_of_all_events(kind, random_generator):
    prediction = random_prediction(kind, random_generator, n=20)
    found = shared_members(prediction).probs
    expected = lower_probability_vertices(lower_of_every_event(prediction), permutations="outermost")
    assert np.abs(found - expected).max() < 1e-12
    assert np.allclose(found[:, range(4), range(4)], prediction.upper_probs())
    assert np.allclose(found[:, range(4, 8), range(4)], prediction.lower_probs())


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rows_of_low_precision_are_divided_by_their_sums(dtype, random_generator):
    members = random_generator.dirichlet(np.ones(40), (30, 3)).astype(dtype)
    off = np.abs(members.sum(axis=2, dtype=np.float64) - 1)
    exact = members.astype(np.float64) / members.sum(axis=2, dtype=np.float64, keepdims=True)
    for given in (members, uq.Members(members), uq.Vertices(members)):
        found = shared_members(given).probs
        assert np.abs(found.sum(axis=2) - 1).max() < 5e-7
        np.testing.assert_allclose(found, exact, atol=5e-7)
    assert (off.max() > 1e-5) == (dtype == np.float16)
    double = members.astype(np.float64) / (1 + 3e-7) / members.sum(axis=2, dtype=np.float64, keepdims=True)
    assert (shared_members(double).probs == double).all()  # what double precision allows is used as it is


def test_passes_of_gaussian_logits_are_members(random_generator):
    mean, variance = random_generator.normal(size=(12, 3, 4)), random_generator.uniform(size=(12, 3, 4))
    passes = uq.GaussianLogits(mean, variance, variance_is="aleatoric")
    shared = shared_members(passes)
    assert shared.noun == "members"
    np.testing.assert_array_equal(shared.probs, passes.hull_points())
    labels = random_generator.integers(0, 4, 12)
    found, members = (credal_calibration_test(labels, one, n_draws=19) for one in (passes, passes.members()))
    assert (found.statistic, found.pvalue) == (members.statistic, members.pvalue)

"""Correlations of every estimate with every other, against scipy."""

import numpy as np
import pytest
from scipy import stats
from tests.notes import codes, said
from tests.refusals import refuses

from uqassay.metrics import estimate_correlations


@pytest.fixture
def three(random_generator):
    """Three estimates of 4 runs and 60 instances; the second follows the first, the third has ties."""
    first = random_generator.gamma(2.0, 1.0, (4, 60))
    return {
        "aleatoric": first,
        "epistemic": first**2 + random_generator.normal(0, 2, (4, 60)),
        "votes": random_generator.integers(0, 4, (4, 60)),
    }


def test_against_scipy_with_ties(three):
    found = estimate_correlations(three)
    values = list(three.values())
    for r in range(4):
        expected = stats.spearmanr(np.stack([v[r] for v in values], axis=1)).statistic
        np.testing.assert_allclose(found.per_run[r], expected, atol=1e-13)
    np.testing.assert_allclose(
        found.matrix, np.tanh(np.arctanh(np.clip(found.per_run, -1, 1 - 1e-6)).mean(axis=0)), atol=2e-6
    )
    assert found.matrix[0, 1] == found.matrix[1, 0]
    assert found.between("aleatoric", "epistemic").low > 0.5
    assert len(found.rows()) == 3


def test_scope_of_the_interval(three):
    both, runs = (estimate_correlations(three, scope=scope) for scope in ("runs-and-instances", "runs"))
    wide, narrow = (found.between("epistemic", "votes") for found in (both, runs))
    assert float(wide) == float(narrow)
    assert wide.high - wide.low > narrow.high - narrow.low


def test_constant_estimates_are_nan_with_a_note(three):
    three["flat"] = np.vstack([np.ones((1, 60)), three["votes"][1:]])
    found = estimate_correlations(three)
    assert np.isnan(found.matrix[3]).all()
    assert np.isfinite(found.matrix[:3, :3]).all()
    assert found.constant.tolist()[0] == [False, False, False, True]
    assert "undefined" in codes(found)
    assert "flat is constant in 1 of 4 runs" in said(found.between("flat", "votes"))
    assert np.isfinite(found.per_run[1, 3, 2])


def test_same_order_is_one_without_width(three):
    found = estimate_correlations({"a": three["aleatoric"], "b": np.exp(three["aleatoric"]), "c": -three["aleatoric"]})
    assert float(found.between("a", "b")) == 1.0
    assert float(found.between("a", "c")) == -1.0
    assert codes(found.between("a", "c")) == ["no-width"]


def test_one_run_and_odd_arrays(three):
    alone = estimate_correlations({name: values[0].astype(np.float32) for name, values in three.items()})
    assert codes(alone.between("aleatoric", "votes")) == ["no-interval"]
    turned = {name: np.asfortranarray(values) for name, values in three.items()}
    for values in turned.values():
        values.setflags(write=False)
    assert (estimate_correlations(turned).matrix == estimate_correlations(three).matrix).all()
    infinite = {**three, "aleatoric": np.where(three["aleatoric"] > 4, np.inf, three["aleatoric"])}
    assert np.isfinite(estimate_correlations(infinite).matrix).all()


def test_refusals(three):
    with refuses("estimates", "empty", got="1"):
        estimate_correlations({"a": [1, 2]})
    with refuses("estimates['b']", "mismatch"):
        estimate_correlations({"a": [1, 2], "b": [1, 2, 3]})
    with refuses("estimates['b']", "finite"):
        estimate_correlations({"a": [1, 2], "b": [1, np.nan]})
    with refuses("estimates", "empty"):
        estimate_correlations({"a": [1], "b": [1]})
    with refuses("scope", "choice"):
        estimate_correlations(three, scope="all")
    with refuses("estimate", "choice"):
        estimate_correlations(three).between("aleatoric", "total")


def test_a_list_is_refused():
    with refuses("estimates", "type"):
        estimate_correlations([[1, 2, 3], [1, 3, 2]])

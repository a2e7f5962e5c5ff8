"""The network of weights: gradients against differences, objective against its definition."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import approx_fprime, check_grad

from tests.calibration.made_up_data import labelled_by_weights_of_features
from uqassay.calibration import instance_weights as network
from uqassay.calibration.instance_weights import InstanceWeights


@pytest.mark.parametrize("score", ["log-loss", "brier"])
@pytest.mark.parametrize("hidden", [None, 3])
def test_gradients_against_differences(score, hidden):
    labels, members, x, _ = labelled_by_weights_of_features(0, 12)
    members[3, :, labels[3]] = 0.0  # a label that no member thinks possible
    members[3] += 1e-300
    loss = (network.log_loss_of_weights if score == "log-loss" else network.brier_of_weights)(members, labels)
    sizes = [2, 3] if hidden is None else [2, hidden, 3]
    n_parameters = sum((a + 1) * b for a, b in pairwise(sizes))
    for seed in range(3):
        point = np.random.default_rng(seed).standard_normal(n_parameters)
        arguments = (sizes, x, loss, 0.1)
        slope = network.objective(point, *arguments)[1]
        by_steps = approx_fprime(point, lambda p, a=arguments: network.objective(p, *a)[0], 1e-7)
        assert np.abs(slope).max() > 0.01
        assert slope == pytest.approx(by_steps, abs=2e-6)
        error = check_grad(lambda p, a=arguments: network.objective(p, *a)[0], lambda p, s=slope: s, point)
        assert error < 1e-5


@pytest.mark.parametrize("score", ["log-loss", "brier"])
def test_objective_against_the_definition(score):
    labels, members, x, _ = labelled_by_weights_of_features(1, 9)
    fitted = InstanceWeights(score=score, l2=0.3).fit(members, labels, x)
    probs = fitted.predict_proba(members, x)
    one_hot = np.eye(4)[labels]
    by_hand = (
        -np.log((probs * one_hot).sum(1)).mean() if score == "log-loss" else ((probs - one_hot) ** 2).sum(1).mean()
    )
    assert fitted.value_ == pytest.approx(by_hand, abs=1e-12)
    scaled = (x - x.mean(0)) / x.std(0)
    logits = scaled @ fitted.layers_[0][0] + fitted.layers_[0][1]
    assert fitted.weights(members, x) == pytest.approx(np.exp(logits) / np.exp(logits).sum(1, keepdims=True), abs=1e-12)

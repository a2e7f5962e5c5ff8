"""The grid of the synthetic experiment: its settings, training by seed, predictions; the trainer against scikit-learn."""

import sys
import warnings

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import MissingDependencyError
from uqassay.lab.datasets.generated import TwoGaussians
from uqassay.lab.papers.ranking.grid import METHODS, SCORES_OF, GridPredictor, grid, stacks, train, train_together
from uqassay.predictions import Members, Point


def test_the_grid_has_the_scorings_of_the_paper():
    predictors = grid("paper")
    assert predictors == grid("cpu")
    counts = {m: sum(len(SCORES_OF[m]) for p in predictors if p.method == m) for m in METHODS}
    assert counts == {"softmax": 54, "deep ensemble": 180, "MC dropout": 810}
    assert len({p.name for p in predictors}) == len(predictors) == 216
    assert set(grid("smoke")) < set(predictors)
    streams = {tuple(p.stream(0, purpose)) for p in predictors for purpose in range(3)}
    assert len(streams) == 3 * 216


def test_training_is_fixed_by_the_seed_and_the_settings_alone():
    data = TwoGaussians(0.15)
    predictor = next(p for p in grid("smoke") if p.method == "MC dropout")
    first, again, other = train(predictor, data, 3), train(predictor, data, 3), train(predictor, data, 4)
    np.testing.assert_array_equal(first.prediction.probs, again.prediction.probs)
    assert not np.array_equal(first.test.x, other.test.x)


def test_one_sample_is_shared_and_own_samples_are_not():
    data = TwoGaussians(0.15)
    a, b = grid("smoke")[:2]
    np.testing.assert_array_equal(train(a, data, 0, one_sample=True).test.x, train(b, data, 0, one_sample=True).test.x)
    assert not np.array_equal(train(a, data, 0).test.x, train(b, data, 0).test.x)


@pytest.mark.parametrize("method", METHODS)
def test_predictions_are_of_the_right_kind(method):
    predictor = next(p for p in grid("smoke") if p.method == method)
    trained = train(predictor, TwoGaussians(0.15), 0)
    assert isinstance(trained.prediction, Point if method == "softmax" else Members)
    assert trained.prediction.n_instances == 400
    if method != "softmax":
        assert trained.prediction.n_members == predictor.size
        assert np.ptp(trained.prediction.probs, axis=1).max() > 0.01  # they differ
    accuracy = (trained.prediction.labels() == trained.test.y).mean()
    assert 0.78 < accuracy < 0.92  # the Bayes classifier has 0.85


def test_stacks_hold_every_predictor_once_and_one_architecture_each():
    predictors = grid("cpu")
    groups = stacks(predictors)
    assert sorted((p for group in groups for p in group), key=predictors.index) == list(predictors)
    assert [len(group) for group in groups] == [12] * 18
    assert all(len({(p.hidden, p.learning_rate) for p in group}) == 1 for group in groups)


def test_training_together_is_training_alone():
    """To rounding: sums of products in single precision depend on the size of the stack."""
    data = TwoGaussians(0.15)
    group = stacks(grid("smoke"))[0]
    for together in train_together(group, data, 2):
        alone = train(together.predictor, data, 2)
        np.testing.assert_array_equal(alone.test.x, together.test.x)
        np.testing.assert_allclose(alone.prediction.mean_probs(), together.prediction.mean_probs(), atol=1e-4)


def test_the_smaller_ensemble_is_no_part_of_the_larger_one():
    """Each predictor has a sample and seeds that depend on its settings alone."""
    data = TwoGaussians(0.15)
    small, large = (GridPredictor("deep ensemble", (16,), 0.05, size) for size in (5, 10))
    assert not np.array_equal(train(small, data, 0).test.x, train(large, data, 0).test.x)


def test_every_pass_and_instance_has_a_mask_of_its_own():
    """Two equal instances get the same members if a pass has one mask for all, and different ones if not."""
    import torch

    from uqassay.lab.methods import MCDropout
    from uqassay.lab.papers.ranking import grid as module

    x = np.random.default_rng(0).normal(size=(60, 2))
    net = MCDropout(rate=0.5, backbone=(16,), epochs=2, progress=False).fit(x, np.arange(60) % 2)
    twice = np.repeat(x[:1], 2, axis=0)
    drawn = module._passes(net, twice, 4000, [1, 2]).probs[..., 1]  # (2, passes)
    assert (drawn[0] != drawn[1]).mean() > 0.9
    np.testing.assert_array_equal(drawn, module._passes(net, twice, 4000, [1, 2]).probs[..., 1])
    logit = np.log(drawn / (1 - drawn))
    with torch.no_grad():
        plain = net.network_(torch.from_numpy(twice)[None])[0, 0].numpy()
    error = logit.std(axis=1) / np.sqrt(
        4000
    )  # behind one hidden layer the logits are linear in the masks, whose mean is 1
    assert (np.abs(logit.mean(axis=1) - (plain[1] - plain[0])) < 4.5 * error).all()


def test_accuracy_against_scikit_learn():
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    data = TwoGaussians(0.1)
    theirs, ours = [], []
    for seed in range(8):
        predictor = GridPredictor("softmax", (32,), 0.025)
        trained = train(predictor, data, seed)
        rng = np.random.default_rng([*predictor.stream(seed, 0), 100000])
        learn = data.sample(600, rng)
        ours.append((trained.prediction.labels() == trained.test.y).mean())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # 50 epochs, as in the paper
            net = MLPClassifier((32,), learning_rate_init=0.025, batch_size=504, max_iter=50, alpha=0.0, random_state=0)
            theirs.append(net.fit(learn.x, learn.y).score(trained.test.x, trained.test.y))
    assert abs(np.mean(ours) - np.mean(theirs)) < 0.01
    assert abs(np.mean(ours) - 0.9) < 0.03


def test_without_pytorch_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with refuses("torch", "package", got=r"pip install .uqassay\[lab\]", error=MissingDependencyError):
        train(grid("smoke")[0], TwoGaussians(0.15), 0)

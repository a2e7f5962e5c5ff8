"""The stacked trainer: right gradients, textbook Adam, and no model that knows of its neighbours."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from uqassay.datasets.two_gaussians import TwoGaussians
from uqassay.errors import InputError
from uqassay.experiments.ranking import stacked_mlps
from uqassay.experiments.ranking.stacked_mlps import StackedMLPs, loss_and_gradients, train_stacked_mlps


def random_stack(rng: np.random.Generator, sizes: tuple[int, ...], n_models: int) -> StackedMLPs:
    pairs = list(pairwise(sizes))
    return StackedMLPs(
        tuple(rng.normal(size=(n_models, a, b)) for a, b in pairs),
        tuple(rng.normal(size=(n_models, 1, b)) for _, b in pairs),
        np.zeros(n_models),
    )


def reference_logits(stack: StackedMLPs, m: int, x: np.ndarray, masks: tuple = ()) -> np.ndarray:
    """One model, layer by layer, instance by instance."""
    out = []
    for i, row in enumerate(x):
        for layer, (w, b) in enumerate(zip(stack.weights, stack.biases, strict=True)):
            row = row @ w[m] + b[m, 0]
            if layer < len(stack.weights) - 1:
                row = np.where(row > 0, row, 0.0) * (masks[layer][m, i] if masks else 1.0)
        out.append(row)
    return np.array(out)


@pytest.mark.parametrize("sizes", [(2, 5, 2), (3, 4, 6, 3)])
@pytest.mark.parametrize("dropped", [False, True])
def test_gradients_against_finite_differences(sizes, dropped):
    rng = np.random.default_rng(1)
    stack = random_stack(rng, sizes, 3)
    x, y = rng.normal(size=(3, 7, sizes[0])), rng.integers(sizes[-1], size=(3, 7))
    masks = [rng.integers(2, size=(3, 7, width)) * 2.0 for width in sizes[1:-1]] if dropped else []
    loss, gradients = loss_and_gradients(stack, x, y, masks)
    for m in range(3):
        logits = reference_logits(stack, m, x[m], tuple(masks))
        expected = np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(7), y[m]]
        np.testing.assert_allclose(loss[m], expected.mean(), rtol=1e-12)
    step = 1e-6
    for p, gradient in zip([*stack.weights, *stack.biases], gradients, strict=True):
        assert p.shape == gradient.shape
        for index in np.ndindex(p.shape):
            kept, ends = p[index], []
            for moved in (kept + step, kept - step):
                p[index] = moved
                ends.append(loss_and_gradients(stack, x, y, masks)[0][index[0]])
            p[index] = kept
            np.testing.assert_allclose(gradient[index], (ends[0] - ends[1]) / (2 * step), rtol=2e-5, atol=2e-8)


def test_blocks_of_rows_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    stack = random_stack(rng, (3, 9, 4), 2)
    x, y = rng.normal(size=(2, 50, 3)), rng.integers(4, size=(2, 50))
    whole = loss_and_gradients(stack, x, y)
    monkeypatch.setattr(stacked_mlps, "ONE_THREAD", 100)  # blocks of 2 rows and of 3
    parts = loss_and_gradients(stack, x, y)
    np.testing.assert_allclose(whole[0], parts[0], rtol=1e-13)
    for a, b in zip(whole[1], parts[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-15)


def test_training_against_textbook_adam():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(30, 2)), rng.integers(3, size=30)
    y[:3] = [0, 1, 2]
    options = {"hidden": (6, 5), "seeds": [11], "learning_rate": 0.03, "batch_size": 30}
    found = train_stacked_mlps(x, y, epochs=25, **options)
    start = train_stacked_mlps(x, y, epochs=1, **(options | {"learning_rate": 0.0}))
    parameters = [p.copy() for p in (*start.weights, *start.biases)]
    m, v = [0.0] * len(parameters), [0.0] * len(parameters)
    for t in range(1, 26):
        stack = replace(start, weights=tuple(parameters[:3]), biases=tuple(parameters[3:]))
        gradients = loss_and_gradients(stack, x[None], y[None])[1]  # the order inside a full batch does not matter
        for i, g in enumerate(gradients):
            m[i] = 0.9 * m[i] + 0.1 * g
            v[i] = 0.999 * v[i] + 0.001 * g**2
            m_hat, v_hat = m[i] / (1 - 0.9**t), v[i] / (1 - 0.999**t)
            parameters[i] = parameters[i] - 0.03 * m_hat / (np.sqrt(v_hat) + 1e-8)
    for p, q in zip(parameters, (*found.weights, *found.biases), strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-7, atol=1e-9)


def test_a_model_is_the_same_alone_and_in_any_stack():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(90, 2)), rng.integers(2, size=90)
    rates, dropout, seeds = np.array([0.005, 0.05, 0.02]), np.array([0.0, 0.3, 0.5]), [[7, 1], [7, 2], [7, 3]]
    together = train_stacked_mlps(
        x, y, hidden=(8, 8), seeds=seeds, learning_rate=rates, dropout=dropout, epochs=6, batch_size=40
    )
    samples = together.sampled_logits(x, 4, [1, 2, 3])
    for order in ([0], [1], [2], [2, 1], [1, 2, 0]):
        part = train_stacked_mlps(
            x,
            y,
            hidden=(8, 8),
            seeds=[seeds[m] for m in order],
            learning_rate=rates[order],
            dropout=dropout[order],
            epochs=6,
            batch_size=40,
        )
        for a, b in zip((*part.weights, *part.biases), (*together.weights, *together.biases), strict=True):
            np.testing.assert_array_equal(a, b[order])
        np.testing.assert_array_equal(part.logits(x), together.logits(x)[order])
        np.testing.assert_array_equal(part.sampled_logits(x, 4, [[1, 2, 3][m] for m in order]), samples[order])
    assert not np.array_equal(together.weights[0][1], together.weights[0][2])


def test_every_epoch_goes_through_all_instances():
    batches = list(stacked_mlps._batches(10, 3, 4, [np.random.default_rng(s) for s in (0, 1)]))
    assert [b.shape for b in batches] == [(2, 4), (2, 4), (2, 2)] * 3
    epochs = [np.concatenate(batches[3 * e : 3 * e + 3], axis=1) for e in range(3)]
    for epoch in epochs:
        np.testing.assert_array_equal(np.sort(epoch, axis=1), np.tile(np.arange(10), (2, 1)))
    assert not np.array_equal(epochs[0], epochs[1])


def test_stochastic_passes_average_to_the_logits_against_theory():
    """Behind one hidden layer the logits are linear in the factors, whose mean is 1."""
    rng = np.random.default_rng(5)
    stack = replace(random_stack(rng, (2, 20, 2), 2), dropout=np.array([0.5, 0.1]))
    x = rng.normal(size=(4, 2))
    samples = stack.sampled_logits(x, 5000, [0, 1])
    error = samples.std(axis=1) / np.sqrt(5000)
    assert (np.abs(samples.mean(axis=1) - stack.logits(x)) < 4.5 * error).all()
    assert samples.std(axis=1)[0].min() > samples.std(axis=1)[1].max() * 0.5  # more is dropped, more varies
    hidden = np.maximum(np.einsum("nd,dh->nh", x, stack.weights[0][0]) + stack.biases[0][0], 0)
    variance = ((hidden[..., None] * stack.weights[1][0]) ** 2).sum(axis=1)  # of a factor 0 or 2: 1
    np.testing.assert_allclose(samples[0].var(axis=0), variance, rtol=0.12)


def test_nothing_dropped_is_the_plain_network():
    stack = random_stack(np.random.default_rng(6), (2, 5, 2), 1)
    x = np.ones((3, 2))
    np.testing.assert_array_equal(stack.sampled_logits(x, 2, [0])[:, 1], stack.logits(x))


def test_accuracy_against_scikit_learn(needs):
    needs("sklearn")
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    data = TwoGaussians(0.1)
    rng = np.random.default_rng(7)
    learn, test = data.sample(600, rng), data.sample(5000, rng)
    ours = train_stacked_mlps(learn.x, learn.y, hidden=(32,), seeds=range(8), learning_rate=0.025)
    accuracy = (ours.logits(test.x).argmax(axis=-1) == test.y).mean(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 50 epochs, as in the paper
        theirs = [
            MLPClassifier((32,), learning_rate_init=0.025, batch_size=504, max_iter=50, alpha=0.0, random_state=s)
            .fit(learn.x, learn.y)
            .score(test.x, test.y)
            for s in range(8)
        ]
    assert abs(accuracy.mean() - np.mean(theirs)) < 0.01
    assert (np.abs(accuracy - 0.9) < 0.03).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [1.0, 2.0]}, r"x: must hold finite numbers in shape \(n, D\); got shape \(2,\)"),
        ({"x": [[np.nan], [1.0]]}, "x: must hold finite numbers"),
        ({"y": [0]}, "y: must hold one class 0 … K − 1 for each of 2 instances"),
        ({"y": [0, -1]}, "y: must hold one class"),
        ({"y": [0.0, 1.0]}, "y: must hold one class.*dtype float64"),
        ({"hidden": (4, 0)}, r"hidden: must be at least 1; got \[4, 0\]"),
        ({"epochs": 0}, "epochs: must be at least 1"),
        ({"batch_size": 0}, "batch_size: must be at least 1"),
        ({"seeds": []}, "seeds: needs one seed per model; got none"),
        ({"dropout": 1.0}, r"dropout: must lie in \[0, 1\)"),
        ({"x": [[1e200], [-1e200]]}, "learning_rate: the training overflowed"),
    ],
)
def test_what_cannot_be_trained_is_refused(change, message):
    arguments = {"x": [[0.0], [1.0]], "y": [0, 1], "hidden": (3,), "seeds": [0], "epochs": 2} | change
    x, y = arguments.pop("x"), arguments.pop("y")
    with np.errstate(all="ignore"), pytest.raises(InputError, match=message):
        train_stacked_mlps(x, y, **arguments)

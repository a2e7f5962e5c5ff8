from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, check_grad

import uqassay as uq
from tests.calibration.made_up_data import labelled_by_weights_of_features
from tests.refusals import refuses
from uqassay.calibration import instance_weights as network
from uqassay.calibration.instance_weights import InstanceWeights
from uqassay.calibration.weights import EnsembleWeights

# -- instance weights ------------------------------------------------------------------------------------------------
#
# Weights that depend on the instance: gradients against differences, limits, recovery, symmetry.


LABELS, MEMBERS, X, _ = labelled_by_weights_of_features(12, 20)


@pytest.mark.parametrize("score", ["log-loss", "brier"])
def test_a_great_penalty_gives_the_best_constant_weights(score):
    labels, members, x, _ = labelled_by_weights_of_features(2, 400, slopes=0.3)
    constant = EnsembleWeights(score).fit(members, labels)
    assert constant.weights_.min() > 0.05
    fitted = InstanceWeights(score=score, l2=1e9).fit(members, labels, x)
    assert fitted.weights(members, x) == pytest.approx(np.tile(constant.weights_, (400, 1)), abs=2e-3)
    assert fitted.value_ == pytest.approx(constant.value_, abs=1e-6)
    free = InstanceWeights(score=score, l2=0.0).fit(members, labels, x)
    assert free.value_ < constant.value_


@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_the_true_weights_are_found_from_many_instances(model):
    labels, members, x, shares = labelled_by_weights_of_features(3, 6000)
    fitted = InstanceWeights(model, l2=1.0, n_starts=1, n_hidden=6).fit(members[:5000], labels[:5000], x[:5000])
    found = fitted.weights(members[5000:], x[5000:])
    assert np.abs(found - shares[5000:]).mean() < 0.06
    assert np.abs(shares[5000:] - shares.mean(axis=0)).mean() > 0.2


def test_cross_validation_finds_whether_weights_depend_on_the_features():
    labels, members, x, _ = labelled_by_weights_of_features(13, 600, slopes=3.0)
    strong = InstanceWeights().fit(members, labels, x)
    assert strong.l2_ <= 10
    noise = np.random.default_rng(0).standard_normal((600, 30))
    none = InstanceWeights().fit(members, labels, noise)
    assert none.l2_ >= 1000
    assert none.value_ == pytest.approx(EnsembleWeights("log-loss").fit(members, labels).value_, abs=0.01)
    again = InstanceWeights().fit(members, labels, noise)
    assert again.l2_ == none.l2_
    copies = np.repeat(np.arange(60), 10)  # each instance ten times: folds that cut through groups would see the labels
    rows = copies * 10
    apart = InstanceWeights().fit(members[rows], labels[rows], noise[rows])
    together = InstanceWeights().fit(members[rows], labels[rows], noise[rows], groups=copies)
    assert together.l2_ > apart.l2_
    assert InstanceWeights(l2=3.0).fit(members, labels, x).l2_ == 3.0


def test_a_network_learns_what_no_linear_function_can():
    generator = np.random.default_rng(4)
    x = generator.choice([-1.0, 1.0], (800, 2))
    labels = (x.prod(axis=1) > 0).astype(int)
    members = np.tile([[[0.9, 0.1], [0.1, 0.9]]], (800, 1, 1))
    linear = InstanceWeights("linear", l2=0.1).fit(members, labels, x)
    hidden = InstanceWeights("mlp", l2=0.1).fit(members, labels, x)
    assert linear.value_ == pytest.approx(np.log(2), abs=0.01)
    assert hidden.value_ < 0.15


def test_without_features_the_members_own_outputs_are_used():
    labels, members, _, _ = labelled_by_weights_of_features(5, 300)
    fitted = InstanceWeights().fit(members, labels)
    assert fitted.n_features_in_ == 12
    logs = np.log(np.maximum(members, 1e-6)).reshape(300, -1)
    assert np.array_equal(fitted.weights(members), InstanceWeights().fit(members, labels, logs).weights(members, logs))
    certain = np.zeros((4, 2, 2))
    certain[..., 0] = 1.0
    assert np.isfinite(InstanceWeights().fit(certain, [0, 0, 0, 0]).weights(certain)).all()


@pytest.mark.parametrize("score", ["log-loss", "brier"])
def test_permuting_members_permutes_weights(score):
    labels, members, x, _ = labelled_by_weights_of_features(6, 150)
    order = [2, 0, 1]
    weights = InstanceWeights(score=score).fit(members, labels, x).weights(members, x)
    permuted = InstanceWeights(score=score).fit(members[:, order], labels, x).weights(members[:, order], x)
    assert permuted == pytest.approx(weights[:, order], abs=1e-4)


@pytest.mark.parametrize("model", ["linear", "mlp"])
def test_ordinary_inputs(model):
    labels, members, x, _ = labelled_by_weights_of_features(7, 40)
    one = InstanceWeights(model).fit(members[:, :1], labels, x)
    assert one.weights(members[:, :1], x).tolist() == [[1.0]] * 40
    equal = members[:, [0, 0]]
    assert InstanceWeights(model).fit(equal, labels, x).predict_proba(equal, x) == pytest.approx(
        members[:, 0], abs=1e-12
    )
    single = InstanceWeights(model).fit(members[:1], labels[:1], x[:1])
    assert np.isfinite(single.weights(members, x)).all()
    constant = InstanceWeights(model).fit(members, labels, np.full(40, 3.5))
    assert np.ptp(constant.weights(members, np.full(40, 3.5)), axis=0).max() == 0
    same = InstanceWeights(model).fit(members, labels, x[:, 0])
    assert np.array_equal(
        same.weights(members, x[:, 0]), InstanceWeights(model).fit(members, labels, x[:, :1]).weights(members, x[:, :1])
    )
    whole = InstanceWeights(model).fit(members, labels.tolist(), (10 * x).astype(int).tolist())
    assert np.isfinite(whole.value_)
    few = labelled_by_weights_of_features(8, 40, k=2)
    assert np.isfinite(InstanceWeights(model).fit(few[1].astype(np.float32), few[0], few[2]).value_)


def test_impossible_labels_are_left_out():
    labels, members, x, _ = labelled_by_weights_of_features(9, 60)
    impossible = np.tile([1.0, 0.0, 0.0, 0.0], (60, 3, 1))[:1]
    fitted = InstanceWeights().fit(
        np.concatenate([members, impossible]), np.append(labels, 3), np.append(x, x[:1], axis=0)
    )
    assert np.isinf(fitted.value_)
    assert fitted.weights(members, x) == pytest.approx(
        InstanceWeights().fit(members, labels, x).weights(members, x), abs=0.05
    )


def test_predict_keeps_class_names_ids_and_groups():
    labels, members, x, _ = labelled_by_weights_of_features(10, 50)
    fitted = InstanceWeights().fit(members, labels, x)
    point = fitted.predict(uq.Members(members, ids=np.arange(50) + 3, class_names=list("abcd")), x)
    assert point.ids[0] == 3
    assert point.class_names == tuple("abcd")
    by_hand = np.einsum("nm,nmk->nk", fitted.weights(members, x), members)
    assert point.probs == pytest.approx(by_hand, abs=1e-12)


def test_refitted_starts_from_the_fitted_weights():
    labels, members, x, _ = labelled_by_weights_of_features(11, 200)
    fitted = InstanceWeights("mlp", n_hidden=3).fit(members, labels, x)
    again = fitted.refitted(members, labels, x)
    assert again.value_ == pytest.approx(fitted.value_, abs=1e-5)
    assert again is not fitted
    assert again.l2_ == fitted.l2_
    linear = InstanceWeights(l2=1.0).fit(members, labels, x)
    other = np.random.default_rng(0).permutation(labels)
    assert linear.refitted(members, other, x).value_ == pytest.approx(
        InstanceWeights(l2=1.0).fit(members, other, x).value_, abs=1e-4
    )
    assert np.array_equal(
        fitted.layers_[0][0], InstanceWeights("mlp", n_hidden=3).fit(members, labels, x).layers_[0][0]
    )


def test_features_follow_the_names_of_fit(random_generator):
    x = pd.DataFrame(random_generator.normal(size=(len(LABELS), 2)), columns=["age", "dose"])
    fitted = InstanceWeights(l2=0.1).fit(MEMBERS, LABELS, x)
    wanted = InstanceWeights(l2=0.1).fit(MEMBERS, LABELS, x.to_numpy()).weights(MEMBERS, x.to_numpy())
    assert fitted.weights(MEMBERS, x[["dose", "age"]]) == pytest.approx(wanted)
    assert fitted.refitted(MEMBERS, LABELS, x[["dose", "age"]]).weights(MEMBERS, x) == pytest.approx(wanted, abs=1e-3)
    with refuses("features", "ids", got="'age' first"):
        fitted.weights(MEMBERS, x.set_axis(["height", "dose"], axis=1))


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: InstanceWeights("tree").fit(MEMBERS, LABELS), ("model", "choice")),
        (lambda: InstanceWeights(score="ece").fit(MEMBERS, LABELS), ("score", "choice")),
        (lambda: InstanceWeights(l2=-1).fit(MEMBERS, LABELS), ("l2", "range", "got -1")),
        (lambda: InstanceWeights(n_hidden=0).fit(MEMBERS, LABELS), ("n_hidden", "range")),
        (lambda: InstanceWeights().fit(MEMBERS, LABELS, X[:3]), ("features", "mismatch")),
        (lambda: InstanceWeights().fit(MEMBERS, LABELS, X * np.inf), ("features", "finite")),
        (lambda: InstanceWeights().fit(MEMBERS, LABELS, X.astype(str)), ("features", "type")),
        (lambda: InstanceWeights().weights(MEMBERS), ("layers_", "missing")),
        (
            lambda: InstanceWeights().fit(MEMBERS, LABELS, X).weights(MEMBERS[:, :2], X),
            ("features", "shape", "got 2 for 2"),
        ),
    ],
)
def test_bad_input_is_refused(call, refusal):
    with refuses(*refusal):
        call()


# -- weight network --------------------------------------------------------------------------------------------------
#
# The network of weights: gradients against differences, objective against its definition.


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

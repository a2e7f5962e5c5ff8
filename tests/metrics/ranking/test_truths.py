"""Ground truths φ and ψ, Kendall's τ with them, and correlation studies."""

import json

import numpy as np
import pytest
from scipy import stats
from tests.kinds import PREDICTING, random_prediction
from tests.notes import texts
from tests.refusals import refuses

import uqassay as uq
from uqassay.metrics.truths import correlation_study, kendall_tau_score, misalignment_truth, misclassification_truth
from uqassay.statistics.correlation import kendall_tau_estimate, pearson_estimate


@pytest.mark.parametrize("kind", PREDICTING)
def test_truths_against_a_loop_over_instances(random_generator, kind):
    prediction = random_prediction(kind, random_generator, n=40)
    votes = random_generator.multinomial(7, np.full(4, 0.25), size=40)
    phi, psi = misclassification_truth(votes, prediction), misalignment_truth(votes, prediction)
    labels, f = prediction.labels(), prediction.mean_probs()
    tied = 0
    for i, row in enumerate(votes):
        assert phi[i] == pytest.approx(1 - row[labels[i]] / 7, abs=1e-15)
        best = [k for k in range(4) if row[k] == max(row)]
        tied += len(best) > 1
        assert psi[i] == pytest.approx(1 - np.mean([f[i, k] for k in best]), abs=1e-15)
    assert tied > 5
    assert phi.dtype == psi.dtype == np.float64
    np.testing.assert_allclose(misalignment_truth(votes / 7, prediction), psi, rtol=0, atol=1e-15)


def test_truths_do_not_depend_on_the_order_of_the_classes(random_generator):
    votes = random_generator.multinomial(4, [0.4, 0.3, 0.3], size=50)
    probs = random_generator.dirichlet(np.ones(3), size=50)
    order = [2, 0, 1]
    for truth in (misclassification_truth, misalignment_truth):
        np.testing.assert_allclose(
            truth(votes[:, order], uq.Point(probs[:, order])), truth(votes, uq.Point(probs)), rtol=0, atol=1e-15
        )


def test_certain_labels_give_the_error_and_the_gap():
    probs = np.array([[0.7, 0.3], [0.4, 0.6], [0.9, 0.1]])
    sure = [[1, 0], [1, 0], [0, 1]]
    assert misclassification_truth(sure, uq.Point(probs)).tolist() == [0.0, 1.0, 1.0]
    np.testing.assert_allclose(misalignment_truth(sure, uq.Point(probs)), [0.3, 0.6, 0.9])


def test_tables_are_aligned_to_the_ids():
    import pandas as pd

    prediction = uq.Point([[0.8, 0.2], [0.3, 0.7]], ids=["a", "b"], class_names=["cat", "dog"])
    votes = pd.DataFrame({"dog": [9, 1], "cat": [1, 3]}, index=["b", "a"])
    np.testing.assert_allclose(misclassification_truth(votes, prediction), [0.25, 0.1])


@pytest.mark.parametrize("truth", [misclassification_truth, misalignment_truth])
@pytest.mark.parametrize(
    ("labels", "parameter", "code", "got"),
    [
        (
            [0, 1],
            "label_distribution",
            "shape",
            "got one label per instance",
        ),
        ([[1, 0]], "y_true", "mismatch", "got 1"),
        ([[1, 0, 0], [0, 1, 0]], "y_true", "mismatch", "got 3"),
        ([[1, 0], [0, 0]], "y_true", "empty", "row 1 has none"),
        ([[1, 0], [2, -1]], "y_true", "range", "row 1 holds -1"),
    ],
)
def test_truths_refuse(truth, labels, parameter, code, got):
    with refuses(parameter, code, got=got):
        truth(labels, uq.Point([[0.8, 0.2], [0.3, 0.7]]))


def test_human_labels_of_cifar10(cifar10):
    prediction = uq.Point(cifar10["snn"])
    counts = cifar10["human_counts"]
    phi, psi = misclassification_truth(counts, prediction), misalignment_truth(counts, prediction)
    shares = counts / counts.sum(axis=1, keepdims=True)
    assert phi.mean() == pytest.approx(1 - (shares * np.eye(10)[prediction.labels()]).sum(axis=1).mean())
    uncertainty = 1 - cifar10["snn"].max(axis=1)
    for truth in (phi, psi):
        tau = kendall_tau_score(truth, uncertainty)
        assert float(tau) == pytest.approx(stats.kendalltau(truth, uncertainty).statistic, abs=1e-12)
        assert 0 < tau.low < tau < tau.high < 1
        assert tau.high - tau.low < 0.05


# ----------------------------------------------------------------------------------------------------- Kendall's τ


def test_tau_score_equals_kendall_tau_estimate(random_generator):
    truth, s = random_generator.integers(0, 9, size=(2, 60))
    groups, w = random_generator.integers(0, 20, size=60), random_generator.random(60)
    found = kendall_tau_score(truth, s, groups=groups, sample_weight=w, level=0.9)
    assert found.to_dict() == kendall_tau_estimate(truth, s, groups=groups, sample_weight=w, level=0.9).to_dict()
    assert texts(kendall_tau_score([1, 2], [3, 3])) == ["uncertainty is constant: no correlation"]


# ----------------------------------------------------------------------------------------------- correlation study


def scorings(rng, n_models=30, per_model=4, spread=1.0):
    """Metrics and truths of several scorings of each trained model, which share the model's quality."""
    model = np.repeat(np.arange(n_models), per_model)
    quality = spread * rng.normal(size=n_models)[model] + 0.3 * rng.normal(size=model.size)
    noise = rng.normal(size=(4, n_models))[:, model] + 0.2 * rng.normal(size=(4, model.size))
    auc, c, phi, psi = quality + 0.3 * noise
    return {"uq-auc": auc, "uq-c-index": c}, {"phi": phi, "psi": psi}, model


def test_study_has_every_pair_and_plain_rows(random_generator):
    metrics, truths, model = scorings(random_generator)
    study = correlation_study(metrics, truths, clusters=model, level=0.9)
    assert study.n_scorings == 120
    assert [(row["metric"], row["truth"]) for row in study.rows()] == [
        ("uq-auc", "phi"),
        ("uq-auc", "psi"),
        ("uq-c-index", "phi"),
        ("uq-c-index", "psi"),
    ]
    for metric, truth, found in study.correlations:
        expected = pearson_estimate(metrics[metric], truths[truth], groups=model, level=0.9)
        assert found.to_dict() == expected.to_dict() == study[metric, truth].to_dict()
        assert texts(found) == ["30 groups"]
    assert json.loads(json.dumps(study.rows(), allow_nan=False))[0]["level"] == 0.9
    with refuses("names", "choice", got=r"got \('auc', 'phi'\)"):
        study["auc", "phi"]


def test_clusters_widen_the_interval(random_generator):
    metrics, truths, model = scorings(random_generator, spread=0.3)
    alone = correlation_study(metrics, truths)["uq-auc", "phi"]
    clustered = correlation_study(metrics, truths, clusters=[f"model {m}" for m in model])["uq-auc", "phi"]
    assert float(alone) == float(clustered)
    assert clustered.high - clustered.low > 1.3 * (alone.high - alone.low)


def test_estimates_are_accepted_as_numbers():
    metrics = {"uq-auc": [kendall_tau_score([0, 1, 2, 3], s) for s in ([0, 1, 2, 3], [0, 2, 1, 3], [3, 2, 1, 0])]}
    study = correlation_study(metrics, {"phi": [1.0, 0.6, -1.0]}, method="fisher")
    assert float(study["uq-auc", "phi"]) == pytest.approx(np.corrcoef([1, 2 / 3, -1], [1.0, 0.6, -1.0])[0, 1])
    assert study.rows()[0]["low"] is None


@pytest.mark.parametrize(
    ("metrics", "truths", "parameter", "code", "got"),
    [
        ({}, {"phi": [1, 2]}, "metrics", "empty", ""),
        ({"a": [1, 2]}, [1, 2], "truths", "type", ""),
    ],
)
def test_study_refuses(metrics, truths, parameter, code, got):
    with refuses(parameter, code, got=got):
        correlation_study(metrics, truths)


def test_coverage_of_the_study_needs_the_clusters():
    rng = np.random.default_rng(5)
    # r between x = q + .3 a and y = q + .3 b; q has variance .09 + .09, a and b 1.04
    truth = 0.18 / (0.18 + 0.09 * 1.04)
    covered = np.zeros(2)
    for _ in range(600):
        metrics, truths, model = scorings(rng, spread=0.3)
        for i, clusters in enumerate((None, model)):
            found = correlation_study({"a": metrics["uq-auc"]}, {"b": truths["phi"]}, clusters=clusters)["a", "b"]
            covered[i] += found.low <= truth <= found.high
    alone, clustered = covered / 600
    assert alone < 0.85
    assert 0.915 < clustered < 0.985


@pytest.mark.parametrize("truth", [misclassification_truth, misalignment_truth])
def test_arrays_are_points_and_members(truth, random_generator):
    q, members = random_generator.dirichlet(np.ones(3), 30), random_generator.dirichlet(np.ones(3), (30, 4))
    np.testing.assert_array_equal(truth(q, members), truth(q, uq.Members(members)))
    np.testing.assert_array_equal(truth(q, members[:, 0]), truth(q, uq.Point(members[:, 0])))
    with refuses("prediction", "not-probabilities", got="row 0"):
        truth(q, 2 * members)

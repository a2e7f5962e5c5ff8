"""Correlations over saved models: the contrast of the two truths, and what is said about few models."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq
from uqassay.lab.papers.ranking.human_labels import (
    HumanLabels,
    SavedModel,
    _difference,
    _verdict,
    correlate_with_votes,
    steps_of_ranking_cifar10h,
)
from uqassay.lab.papers.ranking.scorings import METRICS, TRUTHS


def made(n_models: int, n: int = 150) -> tuple[HumanLabels, list[SavedModel]]:
    rng = np.random.default_rng(1)
    q = rng.dirichlet([0.5, 0.5], n)
    human = HumanLabels("OASST2", q.argmax(axis=1), q, np.arange(n), n, instances="messages", models="classifiers")
    logits = [np.log(q + 0.01) + noise * rng.normal(size=q.shape) for noise in np.linspace(0.5, 2.5, n_models)]
    return human, [
        SavedModel(f"m{i}", uq.Point.from_logits(z), human.labels, human.votes) for i, z in enumerate(logits)
    ]


def test_correlations_are_those_of_numpy_over_the_table():
    human, models = made(7)
    found = correlate_with_votes("demo", models, human, needed="more")
    from scipy.stats import kendalltau

    metrics, taus = [], []
    for model in models:
        f = model.prediction.mean_probs()
        s = -(f * np.log(f)).sum(axis=1)
        wrong = f.argmax(axis=1) != human.labels
        gap = 1 - f[np.arange(len(f)), human.labels]
        pairs = gap[:, None] < gap
        concordant = (s[:, None] < s) + 0.5 * (s[:, None] == s)
        below = s[wrong][:, None] > s[~wrong]
        metrics.append([below.mean(), concordant[pairs].mean()])
        rows = np.arange(len(f))
        phi = 1 - human.votes[rows, f.argmax(axis=1)]
        psi = 1 - f[rows, human.labels]
        taus.append([kendalltau(truth, s).statistic for truth in (phi, psi)])
    metrics, taus = np.array(metrics), np.array(taus)
    for i, metric in enumerate(METRICS):
        for j, truth in enumerate(TRUTHS):
            (cell,) = (cell for cell in found.rows if cell.name == f"table1/OASST2/{metric}/{truth}")
            assert cell.ours == pytest.approx(100 * np.corrcoef(metrics[:, i], taus[:, j])[0, 1], abs=1e-6)
    assert found.listed
    assert [cell.paper for cell in found.rows] == [82.5, 71.69, 74.01, 98.88]


def test_few_models_are_weak_evidence_and_fewer_are_refused():
    human, models = made(5)
    notes = correlate_with_votes("demo", models, human, needed="more", notes=("a choice",)).notes
    assert notes[0].startswith("5 models replace the paper's 69 classifiers: the intervals are wide")
    assert notes[-1] == "a choice"
    with refuses("data", "empty", got="got 3; more"):
        correlate_with_votes("demo", models[:3], human, needed="more")
    assert steps_of_ranking_cifar10h(data=None) == 1


def test_the_difference_of_correlations_against_brute_force():
    rng = np.random.default_rng(2)
    own, other = rng.normal(size=(2, 9))
    metric = own + rng.normal(size=9)
    pseudo, whole = [], None
    for left_out in (None, *range(9)):
        rows = [i for i in range(9) if i != left_out]
        z = [np.arctanh(np.corrcoef(metric[rows], truth[rows])[0, 1]) for truth in (own, other)]
        if left_out is None:
            whole = z[0] - z[1]
        else:
            pseudo.append(8 * (whole - (z[0] - z[1])))
    reach = 2.306004135 * (np.mean(np.square(pseudo)) / 8) ** 0.5  # Student's t, 8 degrees of freedom
    np.testing.assert_allclose(_difference(metric, own, other), (whole - reach, whole + reach), rtol=1e-8)
    assert np.isnan(_difference(metric, own, own * 0)).all()


@pytest.mark.parametrize(
    ("difference", "low", "high", "words"),
    [
        (1.7, 0.1, 3.6, "the paper's contrast shows"),
        (1.7, -0.2, 3.6, "this points the paper's way, but 7 models cannot show it"),
        (-1.0, -2.0, 0.5, "this points the other way, but 7 models cannot show it"),
        (-1.8, -3.3, -0.3, "the opposite of the paper's contrast shows"),
        (1.0, np.nan, np.nan, "7 models give no interval of the difference, so that they cannot"),
    ],
)
def test_a_contrast_needs_a_difference(difference, low, high, words):
    assert _verdict(difference, low, high, 7).startswith(words)

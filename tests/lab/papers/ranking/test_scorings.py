"""One scoring against brute force; correlations against NumPy; undefined scorings."""

import numpy as np
from tests.refusals import refuses

from uqassay.lab.datasets.generated import TwoGaussians
from uqassay.lab.papers.ranking.grid import PAIRS, grid, train
from uqassay.lab.papers.ranking.scorings import METRICS, TRUTHS, columns, judge, printed_cells, study
from uqassay.measures.registry import uncertainty_score
from uqassay.predictions import Point


def test_a_scoring_against_brute_force(needs):
    needs("sklearn")
    from scipy.stats import kendalltau
    from sklearn.metrics import roc_auc_score

    predictor = next(p for p in grid("smoke") if p.method == "deep ensemble")
    trained = train(predictor, TwoGaussians(0.15), 1)
    f, q, y = trained.prediction.mean_probs(), trained.test.label_probs, trained.test.y
    rows = np.arange(400)
    predicted, best = f.argmax(axis=1), q.argmax(axis=1)
    gap = 1 - f[rows, y]
    for scoring in trained.scorings():
        s = uncertainty_score(trained.prediction, scoring.score)
        above, further = np.sign(s[:, None] - s), gap[:, None] > gap
        c_index = (above[further] * 0.5 + 0.5).mean()
        found = (*scoring.metrics, *scoring.taus)
        expected = (
            roc_auc_score(predicted != y, s),
            c_index,
            kendalltau(1 - q[rows, predicted], s).statistic,
            kendalltau(1 - f[rows, best], s).statistic,
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_correlations_against_numpy(small):
    metrics, taus = columns([s for s in small.scorings if s.defined])
    found = study(small.scorings, "fisher")
    for metric, truth in PAIRS:
        expected = np.corrcoef(metrics[:, METRICS.index(metric)], taus[:, TRUTHS.index(truth)])[0, 1]
        np.testing.assert_allclose(found[metric, truth], expected, rtol=1e-9)


def test_undefined_scorings_are_left_out(small):
    sure = Point([[0.9, 0.1]] * 5)
    (constant,) = judge(sure, [0] * 5, [[0.8, 0.2]] * 5, ("total-entropy",), model="m", method="softmax")
    assert not constant.defined
    with_it = study([*small.scorings, constant], "fisher")
    assert float(with_it[PAIRS[0]]) == float(study(small.scorings, "fisher")[PAIRS[0]])
    with refuses("scorings", "empty", got="got 0"):
        study([constant], "fisher")


def test_printed_cells_ask_for_a_reason_only_if_they_disagree(small):
    found = study(small.scorings, "fisher")
    asked = []
    cells = printed_cells("Synth", found, lambda *cell: asked.append(cell) or "why")
    assert [cell.name for cell in cells] == [f"table1/Synth/{metric}/{truth}" for metric, truth in PAIRS]
    assert len(asked) == sum(cell.agrees is False for cell in cells)
    for cell in cells:
        assert cell.note == ("why" if cell.agrees is False else "")

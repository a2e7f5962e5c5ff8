"""Scores that rank the mistakes backwards: records, notes, error rates and power.

Run as a script, this file prints the table of backward scores in docs/evidence-ranking.md; as a test it measures fewer data
sets and asserts what the table says.
"""

import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import special
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.cautions import CAUTIONS
from uqassay.evidence.mistakes import backward_notes, backward_scores

pytestmark = pytest.mark.usefixtures("without_calibration")

# -- assays of scores with a known UQ-AUC -------------------------------------------------------------------------------


def scored_assay(errors, scores, *, groups=None, level=0.95):
    """Assay of models with these errors, (J, R, n), and scores {name: (J, R, n)}; no other score ranks anything."""
    n_models, n_runs, n = errors.shape
    predictions, given = {}, {}
    for j in range(n_models):
        right = np.where(errors[j] == 1, 0.3, 0.7)  # the label is class 0
        runs = [uq.Point(np.stack([p, 1 - p], axis=1)) for p in right]
        predictions[f"m{j}"] = runs if n_runs > 1 else runs[0]
        given[f"m{j}"] = {name: values[j] if n_runs > 1 else values[j, 0] for name, values in scores.items()}
    labels = np.zeros(n, dtype=int)
    options = {"measures": (), "calibration": (), "groups": groups, "level": level}
    return uq.assay(predictions, labels, uncertainties=given, class_names=["a", "b"], **options)


def drawn(rng, *, models, scores, n, rate, auc=0.5, ties="", n_runs=1, groups=0, top=0.0):
    """Assay of models whose scores all have this UQ-AUC before ties.

    `ties` "97 certain" gives the lowest 97 % one value, "97 uncertain" the highest. `groups`: size of groups that share half of
    the variance of errors and of scores. `top`: share of the instances that get the greatest scores at random.
    """
    codes = np.arange(n) // groups if groups else np.arange(n)

    def latent(*shape):
        own = rng.normal(size=(*shape, n))
        return own if not groups else np.sqrt(0.5) * own + np.sqrt(0.5) * rng.normal(size=(*shape, n))[..., codes]

    # half of the variance is common to models and runs
    z = np.sqrt(0.5) * latent(1, 1) + np.sqrt(0.5) * latent(models, n_runs)
    errors = (z < special.ndtri(rate)).astype(float)
    errors[:, :, :2] = 0.0, 1.0  # at least one of each
    u = np.sqrt(0.5) * latent(1, models, 1) + np.sqrt(0.5) * latent(scores, models, n_runs)
    u = u + np.sqrt(2) * special.ndtri(auc) * errors
    if ties:
        share, end = int(ties[:2]) / 100, ties[3:]
        u = np.maximum(u, np.quantile(u, share)) if end == "certain" else np.minimum(u, np.quantile(u, 1 - share))
    if top:
        u = np.where(rng.random(u.shape) < top, 100 + rng.random(u.shape), u)
    found = {f"s{k}": values for k, values in enumerate(u)}
    return scored_assay(errors, found, groups=codes if groups else None)


def rates(n_samples, seed, **cell):
    """Shares of data sets with any backward score and with any that costs; mean share of scores found, and found to cost."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(4)
    for _ in range(n_samples):
        found = drawn(rng, **cell).backward
        costs = sum(f.costs for f in found)
        total = cell["models"] * cell["scores"]
        counts += bool(found), costs > 0, len(found) / total, costs / total
    return counts / n_samples


# -- records -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed():
    """Two models with a good, a random and a backward score each."""
    rng = np.random.default_rng(1)
    errors = (rng.random((2, 1, 800)) < 0.2).astype(float)
    noise = rng.normal(size=(3, 2, 1, 800))
    scores = dict(zip(("good", "random", "reversed"), noise, strict=True))
    return scored_assay(errors, scores | {"good": scores["good"] + errors, "reversed": scores["reversed"] - errors})


def test_backward_scores_are_found_with_their_cost(mixed):
    found = backward_scores(mixed)
    assert [(f.model, f.score) for f in found] == [("m0", "reversed"), ("m1", "reversed")]
    plain = {(r.model, r.score): r.estimate for r in mixed.mistake_ranking() if r.metric == "uq-auc"}
    for f in found:
        own = plain[f.model, f.score]
        assert (f.n_tests, f.level, f.coverage) == (6, 0.95, 0.9)
        assert float(f.uq_auc) == float(own)
        assert f.uq_auc.low < own.low < own.high < f.uq_auc.high < 0.5
        assert f.uq_auc.level == f.gain.level == pytest.approx(1 - 0.05 / 6)
        gain = mixed.refusal(f.model, f.score, 0.9).gain
        assert float(f.gain) == float(gain)
        assert f.gain.low < gain.low < gain.high < f.gain.high < 0
        assert f.costs
        assert f.pvalue < 1e-6
        assert (f.row()["model"], f.row()["gain_high"], f.row()["costs"]) == (f.model, f.gain.high, True)


def test_the_pvalue_and_the_interval_decide_alike():
    rng, decided = np.random.default_rng(2), []
    for _ in range(20):
        a = drawn(rng, models=1, scores=2, n=300, rate=0.2, auc=0.42)
        wide = {level: backward_scores(replaced_level(a, level)) for level in (0.5, 0.95)}
        for f in wide[0.5]:  # at a low level nearly all are reported
            again = [g for g in wide[0.95] if (g.model, g.score) == (f.model, f.score)]
            assert bool(again) == (f.pvalue <= 0.05)
            if again:
                assert again[0].uq_auc.high < 0.5
                assert again[0].pvalue == pytest.approx(f.pvalue)
            decided.append(bool(again))
    assert 0 < np.mean(decided) < 1


def replaced_level(assay, level):
    return replace(assay, settings=replace(assay.settings, level=level))


def test_scores_that_rank_nothing_are_not_counted(mixed):
    constant = scored_assay(
        np.array([[[0.0, 1.0] * 50]]), {"same": np.ones((1, 1, 100)), "back": -np.array([[[0.0, 1.0] * 50]])}
    )
    found = backward_scores(constant)
    assert [(f.score, f.n_tests) for f in found] == [("back", 1)]
    without_errors = scored_assay(np.zeros((1, 1, 50)), {"s": np.arange(50.0).reshape(1, 1, 50)})
    assert backward_scores(without_errors) == ()
    assert backward_scores(scored_assay(np.ones((1, 1, 1)), {"s": np.ones((1, 1, 1))})) == ()
    with refuses("coverage", "range", got="got 0"):
        backward_scores(mixed, coverage=0)
    assert backward_scores(mixed, coverage=1)[0].gain == 0


def test_runs_and_groups():
    rng = np.random.default_rng(3)
    found = backward_scores(drawn(rng, models=1, scores=1, n=600, rate=0.3, auc=0.25, n_runs=3, groups=10))
    assert [f.model for f in found] == ["m0"]
    assert {note.code for note in found[0].uq_auc.notes} >= {"groups", "runs"}


def test_notes_are_one_sentence_for_each_model(mixed):
    found = backward_scores(mixed)
    notes = backward_notes(found)
    assert len(notes) == 2
    for note, f in zip(notes, found, strict=True):
        assert note.code == "backward-score"
        assert note.code in CAUTIONS
        assert note.facts["model"] == f.model
        assert note.facts["scores"] == [f.row()]
    assert notes[0].text == (
        "m0: reversed ranks the mistakes backwards (UQ-AUC 0.236, 95 % interval 0.184 to 0.299, jointly for 6 scores); "
        "refusing the 10 % most uncertain by it costs 1.7 points of accuracy (0.6 to 2.2)."
    )
    assert backward_notes(()) == ()


def test_many_backward_scores_of_a_model_are_counted():
    rng = np.random.default_rng(5)
    a = drawn(rng, models=1, scores=6, n=2000, rate=0.2, auc=0.3)
    (note,) = backward_notes(backward_scores(a))
    assert note.text == (
        "m0: s3, s4, s1 and 3 others rank the mistakes backwards (UQ-AUC 0.291 for s3, 95 % interval 0.255 to 0.330, jointly "
        "for 6 scores); refusing the 10 % most uncertain by s3 costs 1.6 points of accuracy (1.0 to 2.0)."
    )


def test_a_backward_score_need_not_cost_much():
    # a random tenth has the greatest scores: refusing it changes nothing
    rng = np.random.default_rng(6)
    a = drawn(rng, models=1, scores=1, n=2000, rate=0.2, auc=0.3, top=0.1)
    (found,) = backward_scores(a)
    assert not found.costs
    (note,) = backward_notes((found,))
    assert note.text.endswith("refusing the 10 % most uncertain by it changes the accuracy by −0.6 to 0.6 points.")


def test_an_undefined_pvalue_tells_nothing(mixed, monkeypatch):
    assert backward_scores(mixed)
    monkeypatch.setattr("uqassay.evidence.mistakes.chance_pvalue", lambda *_, **__: float("nan"))
    assert backward_scores(mixed) == ()


# -- error rates -------------------------------------------------------------------------------------------------------

CHANCE = [
    {"models": 1, "scores": 1, "n": 200, "rate": 0.1},
    {"models": 10, "scores": 10, "n": 200, "rate": 0.05},
    {"models": 10, "scores": 10, "n": 2000, "rate": 0.05},
    {"models": 10, "scores": 10, "n": 2000, "rate": 0.3},
    {"models": 5, "scores": 5, "n": 200, "rate": 0.05, "ties": "97 certain"},
    {"models": 5, "scores": 5, "n": 200, "rate": 0.05, "ties": "97 uncertain"},
    {"models": 5, "scores": 5, "n": 2000, "rate": 0.05, "ties": "97 certain"},
    {"models": 5, "scores": 5, "n": 2000, "rate": 0.05, "ties": "97 uncertain"},
    {"models": 5, "scores": 5, "n": 300, "rate": 0.2, "groups": 10},
    {"models": 5, "scores": 5, "n": 300, "rate": 0.2, "groups": 30},
    {"models": 5, "scores": 5, "n": 200, "rate": 0.1, "n_runs": 3},
]
POWER = [
    {"models": 5, "scores": 10, "n": n, "rate": 0.2, "auc": auc} for n in (300, 1000, 5000) for auc in (0.45, 0.4, 0.3)
]
COSTLESS = [{"models": 5, "scores": 5, "n": n, "rate": 0.2, "auc": 0.3, "top": 0.1} for n in (300, 2000)]


@pytest.mark.slow
@pytest.mark.parametrize("cell", [CHANCE[0], CHANCE[4], CHANCE[5], CHANCE[8]])
def test_chance_is_seldom_called_backward(cell):
    n_samples = 60  # a rate of .23 exceeds the bound with probability .99
    some, _, _, _ = rates(n_samples, 1, **cell | {"scores": min(cell["scores"], 3), "models": min(cell["models"], 3)})
    assert some <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_samples)


def print_table(n_samples):
    for title, cells in (("chance", CHANCE), ("power", POWER), ("refusing does not cost", COSTLESS)):
        for cell in cells:
            shares = rates(n_samples, 1, **cell)
            print(title, cell, " ".join(f"{100 * share:.1f}" for share in shares), flush=True)


if __name__ == "__main__":
    print_table(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)

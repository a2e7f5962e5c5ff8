"""Many models side by side: no p-value depends on the company, bad models are all told, calibrated ones rarely.

As a script it measures families of models, 200 of each kind unless told otherwise:

    python -m tests.evidence.test_calibration_families [points|sets|runs|bad|bad-sets] [--families 200]
"""

import sys

import numpy as np
import pytest
from scipy.stats import norm
from tests.evidence.cases import drawn

import uqassay as uq
from uqassay._workers import Workers
from uqassay.evidence.calibration import CalibrationPlan, adjusted_pvalues, calibration_tests, check_measures

MEASURES = check_measures(uq.evidence.CALIBRATION, "calibration")
CLASSES = 3


def family_tests(models, y, *, seed=0):
    return calibration_tests(
        models, y, MEASURES, groups=None, plan=CalibrationPlan(seed=seed, members=False), workers=Workers()
    )


def calibrated_family(n, j, generator):
    """Labels, and probabilities (j, n, 2) of j models of which each sees half of j independent normal causes of the label."""
    causes = generator.normal(size=(j, n))
    y = (causes.sum(axis=0) + generator.normal(size=n) > 0).astype(int)
    seen = generator.permuted(np.broadcast_to(np.arange(j) < j // 2, (j, j)), axis=1)
    p = norm.cdf(seen @ causes / np.sqrt(1 + j - j // 2))
    return y, np.stack([1 - p, p], axis=-1)


def family(kind, seed, *, n=60, j=10):
    """Calibrated models: single distributions, ensembles whose mean is calibrated, or two runs each."""
    generator = np.random.default_rng([seed, n, j])
    y, probs = calibrated_family(n, j, generator)
    if kind == "points":
        return {f"m{i}": (uq.Point(p),) for i, p in enumerate(probs)}, y
    if kind == "runs":
        return {f"m{i}": (uq.Point(probs[2 * i]), uq.Point(probs[2 * i + 1])) for i in range(j // 2)}, y
    apart = 0.2 * probs.min(axis=-1, keepdims=True) * [1, -1]
    members = np.stack([probs - apart, probs, probs + apart], axis=2)
    return {f"m{i}": (uq.Members(p),) for i, p in enumerate(members)}, y


def bad_family(kind, seed, *, n=300, j=36):
    """Overconfident models that are equally bad."""
    generator = np.random.default_rng([seed, n, j])
    logits = 1.5 * generator.normal(size=(n, CLASSES))
    y = drawn(softmax(logits), generator)
    if kind == "bad":
        sure = softmax(2 * logits + 0.1 * generator.normal(size=(j, n, CLASSES)))
        return {f"m{i}": (uq.Point(p),) for i, p in enumerate(sure)}, y
    sure = softmax(3 * logits[:, np.newaxis] + 0.3 * generator.normal(size=(j, n, 3, CLASSES)))
    return {f"m{i}": (uq.Members(p),) for i, p in enumerate(sure)}, y


def softmax(z):
    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def by_test(tests):
    return {(t.model, t.run, t.measure): (t.pvalue, t.n_tested, t.n_draws, t.null.tolist()) for t in tests}


def rejected(tests):
    """Models that some test rejects at 5 % after the adjustment."""
    return {t.model for t, p in zip(tests, adjusted_pvalues(tests), strict=True) if p <= 0.05}


def test_a_result_does_not_depend_on_the_company(monkeypatch):
    """Alone, beside 35 others, in another order, beside an ensemble that is tested on fewer instances, by other measures."""
    from uqassay.evidence import calibration as cost

    monkeypatch.setattr(cost, "FEWEST", 40)
    monkeypatch.setattr(cost, "SET_WORK", 6e3)
    models, y = bad_family("bad", 0, n=200, j=36)
    large = uq.Members(np.random.default_rng(1).dirichlet(np.ones(CLASSES), (200, 35)))
    small = uq.Members(large.probs[:, :2])
    company = {"large": (large,), **dict(reversed(models.items())), "small": (small,)}
    found = by_test(family_tests(company, y))
    assert {key[0]: value[1] for key, value in found.items()} | {"m0": 200} == {
        "large": 40,
        "small": 100,
        **dict.fromkeys(models, 200),
    }
    for name in ("m0", "m17", "m35", "large", "small"):
        alone = by_test(family_tests({"other name": company[name]}, y))
        assert {(name, *key[1:]): value for key, value in alone.items()} == {
            key: value for key, value in found.items() if key[0] == name
        }
    (one,) = calibration_tests(
        {"m0": models["m0"]}, y, MEASURES[1:], groups=None, plan=CalibrationPlan(members=False), workers=Workers()
    )
    assert by_test([one])["m0", 0, "ece-classwise"] == found["m0", 0, "ece-classwise"]


def test_36_equally_bad_models_are_all_rejected():
    models, y = bad_family("bad", 1)
    assert rejected(family_tests(models, y)) == set(models)


@pytest.mark.slow
def test_16_equally_bad_ensembles_are_all_rejected():
    models, y = bad_family("bad-sets", 1, j=16)
    assert rejected(family_tests(models, y)) == set(models)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["points", "runs"])
def test_a_family_of_calibrated_models_is_rarely_rejected(kind):
    """The script measures more families, and ensembles."""
    n_families = 36  # a rate of .35 exceeds the bound with probability .98
    wrong = sum(bool(rejected(family_tests(*family(kind, seed), seed=seed))) for seed in range(n_families))
    assert wrong <= 0.05 * n_families + 3.3 * np.sqrt(0.05 * 0.95 * n_families)


def main(kinds, n_families):
    for kind in kinds:
        bad, counts = kind.startswith("bad"), []
        for seed in range(n_families):
            models, y = bad_family(kind, seed) if bad else family(kind, seed)
            counts.append(len(rejected(family_tests(models, y, seed=seed))))
        share = np.mean(np.array(counts) == len(models)) if bad else np.mean(np.array(counts) > 0)
        what = f"all {len(models)} models rejected" if bad else f"any of {len(models)} calibrated models rejected"
        print(
            f"{kind}: {what} in {share:.3f} of {n_families} families; models rejected {np.mean(counts):.2f} on average"
        )


if __name__ == "__main__":
    arguments = sys.argv[1:]
    number = int(arguments[arguments.index("--families") + 1]) if "--families" in arguments else 200
    chosen = [a for a in arguments if a in ("points", "sets", "runs", "bad", "bad-sets")]
    main(chosen or ["points", "sets", "runs", "bad", "bad-sets"], number)

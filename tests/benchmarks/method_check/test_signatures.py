"""Promises of the methods: made results whose verdicts are known."""

import numpy as np
import pytest
from benchmarks.method_check.signatures import signatures_of
from scipy import special
from tests.benchmarks.method_check.made import ensemble, result_of

import uqassay as uq


def one(signatures, start):
    return next(s for s in signatures if s.name.startswith(start))


def test_average_against_members_by_hand(random_generator):
    said, y = ensemble(random_generator, 400, 2.0)
    right, loss = signatures_of({"deep-ensemble": [result_of(said, y)]}, {})
    assert right.verdict == loss.verdict == "held"
    average, rows = said.probs.mean(axis=1), np.arange(400)
    alone = np.mean([(said.probs[:, m].argmax(axis=1) == y).mean() for m in range(5)])
    np.testing.assert_allclose(right.figures["accuracy-gain"], (average.argmax(axis=1) == y).mean() - alone)
    losses = [-np.log(said.probs[rows, m, y]).mean() for m in range(5)]
    own = -np.log(average[rows, y]).mean()
    np.testing.assert_allclose(loss.figures["log-loss-gain"], np.mean(losses) - own)
    assert loss.figures["members-beaten"] == np.mean(np.array(losses) > own) == 1.0
    same, y = ensemble(random_generator, 400, 0.0)
    assert [s.verdict for s in signatures_of({"deep-ensemble": [result_of(same, y)]}, {})] == ["open", "open"]


def test_spread_by_rate(random_generator):
    runs = {rate: [result_of(*ensemble(random_generator, 300, noise))] for rate, noise in ((0.1, 0.3), (0.5, 1.5))}
    grows = {f"mc-dropout-{rate}": results for rate, results in runs.items()}
    found = one(signatures_of({**grows, "mc-dropout-gaussian": []}, {}), "mc-dropout in all layers")
    assert found.verdict == "held"
    probs = runs[0.5][0].prediction.probs
    information = special.entr(probs.mean(axis=1)).sum(axis=1) - special.entr(probs).sum(axis=2).mean(axis=1)
    np.testing.assert_allclose(found.figures["spread-at-0.5"], information.mean())
    falls = {"dropout-last-0.1": runs[0.5], "dropout-last-0.6": runs[0.1]}
    assert one(signatures_of(falls, {}), "mc-dropout in the last layer").verdict == "not held"
    level = {"mc-dropout-0.1": runs[0.5], "mc-dropout-0.2": runs[0.5]}
    assert one(signatures_of(level, {}), "mc-dropout in all layers").verdict == "open"


@pytest.mark.parametrize(("shift", "verdict"), [(2.0, "held"), (0.0, "open"), (-2.0, "not held")])
def test_left_out_classes_and_changed_inputs(random_generator, shift, verdict):
    from sklearn.metrics import roc_auc_score

    y = np.repeat([0, 1, 2], 60)
    flat = uq.Point(np.full((180, 3), 1 / 3))
    runs = {}
    for k in (0, 1):
        scores = random_generator.normal(size=180) + shift * (y == k)
        scores -= 0.0 if shift else scores[y == k].mean() - scores[y != k].mean() * (y == k)
        runs[k] = result_of(flat, y, {"negative-log-density": scores})
    found = one(signatures_of({}, {"ddu": runs}), "ddu")
    areas = {k: roc_auc_score(y == k, run.scores["negative-log-density"]) for k, run in runs.items()}
    np.testing.assert_allclose(found.figures["auc"], np.mean(list(areas.values())))
    np.testing.assert_allclose(found.figures["auc-of-the-least-class"], min(areas.values()))
    assert found.figures["auc-of-the-entropy"] == 0.5
    if shift:
        assert found.verdict == verdict
        assert f"(class {min(areas, key=areas.get)})" in found.measured
    here = random_generator.uniform(size=180)
    scores = {"vacuity": here, "vacuity-shuffled": here + shift, "vacuity-noise": here + shift}
    scores |= {f"size{kind}": np.full(180, 3.0) for kind in ("", "-shuffled", "-noise")}
    found = one(signatures_of({"evidential": [result_of(flat, y, scores)]}, {}), "evidential: vacuity is higher on uni")
    assert found.verdict == verdict
    np.testing.assert_allclose(found.figures["vacuity"], here.mean() + shift)


def test_intervals_that_leave_out_the_middle_or_cross_are_found():
    y = [0, 1]
    good = uq.Intervals([[0.2, 0.3], [0.1, 0.5]], [[0.7, 0.8], [0.5, 0.9]])
    held = one(signatures_of({"creinn": [result_of(good, y, {"outside": np.array([-0.1, 0.0])})]}, {}), "creinn")
    assert (held.verdict, held.figures["worst-excess"]) == ("held", 0.0)
    np.testing.assert_allclose(held.figures["mean-width"], 0.45)
    off = one(signatures_of({"creinn": [result_of(good, y, {"outside": np.array([-0.1, 0.01])})]}, {}), "creinn")
    assert (off.verdict, off.figures["worst-excess"]) == ("not held", 0.01)
    assert "1 of 2 instances hold it" in off.measured
    # what `Intervals` still takes as rounding of single precision
    loose = uq.Intervals(np.array([[0.2, 0.3]], np.float32), np.array([[0.5, 0.49995]], np.float32))
    found = one(signatures_of({"creinn": [result_of(loose, [0], {"outside": np.zeros(1)})]}, {}), "creinn")
    assert found.verdict == "not held"
    np.testing.assert_allclose(found.figures["worst-excess"], 5e-5, rtol=0.01)


def test_masses_that_are_negative_are_found():
    sets = [[0], [1], [0, 1]]
    good = uq.Masses([[0.5, 0.2, 0.3], [1.0, 0.0, 0.0]], sets, n_classes=2)
    signed = uq.Masses.from_beliefs([[0.7, 0.6, 1.0]], sets, n_classes=2)  # Bel({0}) + Bel({1}) > 1
    raw = {"least-raw-mass": np.array([-0.2, 0.0])}
    found = signatures_of({"e-cnn": [result_of(signed, [0])], "rs-nn": [result_of(good, [0, 1], raw)]}, {})
    bad, held = one(found, "e-cnn"), one(found, "rs-nn")
    assert bad.verdict == "not held"
    np.testing.assert_allclose(bad.figures["least-mass"], -0.3)
    assert (held.verdict, held.figures["negative-before"]) == ("held", 0.5)
    assert held.name == "rs-nn: masses are valid after projection"


@pytest.mark.parametrize(
    ("variation", "entropy", "verdict"),
    [(0.01, 0.02, "held"), (0.06, 0.02, "not held"), (0.01, 0.2, "not held"), (0.0495, 0.02, "open")],
)
def test_agreement_of_the_bridge(random_generator, variation, entropy, verdict):
    noise = random_generator.normal(size=100) * 0.01
    noise -= noise.mean()
    scores = {
        "mean-variation": variation + noise,
        "total-entropy": entropy + noise,
        "aleatoric-entropy": noise**2,
        "draws-variation": noise**2,
    }
    said = uq.Dirichlet(np.ones((100, 2)))
    found = one(signatures_of({"laplace-bridge": [result_of(said, np.zeros(100, int), scores)]}, {}), "laplace")
    assert found.verdict == verdict
    np.testing.assert_allclose(found.figures["mean-variation"], variation)

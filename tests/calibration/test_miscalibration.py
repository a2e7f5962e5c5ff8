"""Stated miscalibrations against brute force, other definitions and sampling."""

import numpy as np
import pytest
from scipy import special

from tests.calibration.made_up_data import draw_labels
from tests.refusals import refuses
from uqassay.calibration.power import Miscalibration, true_probs

EDGES = np.array([[1.0, 0.0, 0.0, 0.0], [0.4, 0.4, 0.2, 0.0], [0.25, 0.25, 0.25, 0.25], [1e-300, 0.5, 0.5, 0.0]])
ALL = {
    "none": Miscalibration.none(),
    "sharper": Miscalibration.temperature(0.2),
    "flatter": Miscalibration.temperature(3.0),
    "noise": Miscalibration.label_noise(0.3),
    "over": Miscalibration.overconfidence(0.2),
    "under": Miscalibration.overconfidence(-0.2),
}


@pytest.fixture
def probs(random_generator):
    return np.concatenate([EDGES, random_generator.dirichlet(np.full(4, 0.5), 20)])


def test_nothing_stated_leaves_the_probabilities_as_they_are(probs):
    assert np.array_equal(Miscalibration.none().truth(probs), probs)
    for other in (Miscalibration.temperature(1.0), Miscalibration.label_noise(0.0), Miscalibration.overconfidence(0.0)):
        assert other.truth(probs) == pytest.approx(probs, abs=1e-12)


def test_stated_truths_against_brute_force(probs):
    for i, p in enumerate(probs):
        tempered = np.array([value ** (1 / 1.7) for value in p])
        assert Miscalibration.temperature(1.7).truth(probs)[i] == pytest.approx(tempered / tempered.sum(), abs=1e-12)
        assert Miscalibration.label_noise(0.2).truth(probs)[i] == pytest.approx([0.8 * v + 0.05 for v in p], abs=1e-12)
        for delta in (0.3, -0.3, 0.9):
            top = int(np.argmax(p))
            new = min(max(p[top] - delta, 0.0), 1.0)
            rest = sum(p) - p[top]
            shares = [(1 - new) * (v / rest if rest > 0 else 1 / 3) for v in p]
            shares[top] = new
            assert Miscalibration.overconfidence(delta).truth(probs)[i] == pytest.approx(shares, abs=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_truths_are_probabilities_and_the_input_stays(name, probs):
    given = probs.copy()
    given.flags.writeable = False
    truth = ALL[name].truth(given)
    assert truth.min() >= 0.0
    assert truth.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert np.array_equal(given, probs)


def test_temperature_is_that_of_the_softmax_and_has_an_inverse(random_generator):
    logits = random_generator.normal(size=(30, 5))
    probs = special.softmax(logits, axis=1)
    truth = Miscalibration.temperature(2.5).truth(probs)
    assert truth == pytest.approx(special.softmax(logits / 2.5, axis=1), abs=1e-12)
    assert Miscalibration.temperature(1 / 2.5).truth(truth) == pytest.approx(probs, abs=1e-12)
    assert np.array_equal(truth.argsort(axis=1), probs.argsort(axis=1))


def test_label_noise_is_the_frequency_of_labels_partly_drawn_evenly():
    generator = np.random.default_rng(5)
    probs = np.array([0.7, 0.2, 0.1])
    n = 200_000
    labels = draw_labels(generator, np.broadcast_to(probs, (n, 3)))
    replaced = generator.random(n) < 0.4
    labels = np.where(replaced, generator.integers(0, 3, n), labels)
    truth = Miscalibration.label_noise(0.4).truth(probs[np.newaxis])[0]
    assert np.bincount(labels) / n == pytest.approx(truth, abs=4 * np.sqrt(0.25 / n))


@pytest.mark.parametrize(("delta", "gap"), [(0.1, 0.1), (-0.1, -0.1)])
def test_overconfidence_is_the_gap_of_confidence_and_accuracy(delta, gap):
    probs = np.random.default_rng(6).uniform(0.6, 0.85, 50)
    probs = np.stack([probs, 1 - probs], axis=1)
    truth = Miscalibration.overconfidence(delta).truth(probs)
    assert probs[:, 0].mean() - truth[:, 0].mean() == pytest.approx(gap, abs=1e-12)


def test_the_assumption_is_stated():
    assert Miscalibration.overconfidence(-0.1).sentence == "the predicted class is true 0.1 more often than said"
    assert Miscalibration.overconfidence(0.1).sentence == "the predicted class is true 0.1 less often than said"
    assert "p^(1/2.5)" in Miscalibration.temperature(2.5).sentence
    assert "0.05" in Miscalibration.label_noise(0.05).sentence


@pytest.mark.parametrize(
    ("make", "parameter", "bad"),
    [
        (Miscalibration.temperature, "temperature", [0.0, -1.0, np.inf, np.nan, "2", True]),
        (Miscalibration.label_noise, "share", [-0.1, 1.1, np.nan, None]),
        (Miscalibration.overconfidence, "delta", [-1.0, 1.0, np.nan, "much"]),
    ],
)
def test_amounts_out_of_range_are_refused(make, parameter, bad):
    for value in bad:
        with refuses(parameter, "range" if type(value) is float else "type"):
            make(value)


# -- the truth behind given predictions -------------------------------------------------------------------------------


def test_true_probs_take_a_statement_or_a_function(probs):
    def halved(p):
        return 0.5 * p + 0.5 / p.shape[1]

    sentence, truth = true_probs(Miscalibration.label_noise(0.5), probs)
    named, same = true_probs(halved, probs)
    assert sentence == Miscalibration.label_noise(0.5).sentence
    assert named == "halved"
    np.testing.assert_allclose(same, truth, rtol=1e-15)
    rounded = true_probs(lambda p: p * (1 + 4e-7), probs)[1]
    assert rounded.sum(axis=1) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("alternative", "code", "got"),
    [
        ("temperature", "type", "str"),
        (lambda p: p[:, :2], "shape", r"\(24, 2\)"),
        (lambda p: p * 2, "sum", "row 0 .* sum 2"),
        (lambda p: np.where(p == 0.4, np.nan, p), "sum", "row 1"),
        (lambda p: np.add(p, [0.1, -0.1, 0.0, 0.0]), "sum", "row 0"),
    ],
)
def test_functions_that_give_no_probabilities_are_refused(alternative, code, got, probs):
    with refuses("alternative", code, got=got):
        true_probs(alternative, probs)

"""Power against stated miscalibrations: brute force, other definitions and sampling."""

import numpy as np
import pytest
from scipy import special, stats

import uqassay as uq
from tests.calibration.made_up_data import draw_labels, random_predictions
from tests.notes import texts
from tests.refusals import refuses
from uqassay.calibration.power import Miscalibration, calibration_power, fitted_probit, required_instances, true_probs
from uqassay.calibration.search import SimplexSearch

# -- power analysis --------------------------------------------------------------------------------------------------
#
# Planned powers of tests of calibration: against a binomial closed form, the level, and each other.


TINY = SimplexSearch(n_shared=8, n_populations=1, n_kept=4, n_left=2, n_generations=2, n_rounds=1, n_steps=4)
COIN = np.array([[0.7, 0.3]])


def binomial_power(n, said, true, alpha=0.05):
    """Exact power of rejecting for a great |k/n − said|, where D is infinite; ties count against rejection."""
    counts = np.arange(n + 1)
    distance = np.abs(counts / n - said).round(12)
    under = stats.binom.pmf(counts, n, said)
    pvalues = np.array([under[distance >= d].sum() for d in distance])
    return stats.binom.pmf(counts, n, true)[pvalues <= alpha].sum()


@pytest.mark.parametrize(("n", "delta"), [(100, 0.1), (60, -0.15), (50, 0.0)])
def test_power_of_one_constant_prediction_against_the_binomial_one(n, delta):
    found = calibration_power(COIN, Miscalibration.overconfidence(delta), n, n_samples=150, n_draws=99)
    exact = binomial_power(n, 0.7, 0.7 - delta)
    assert float(found.power) == pytest.approx(exact, abs=3 * (exact * (1 - exact) / 150) ** 0.5 + 0.02)
    assert found.power.low < found.power < found.power.high
    assert found.pvalues.shape == (150,)


def test_required_instances_against_the_binomial_ones():
    size = required_instances(COIN, Miscalibration.overconfidence(0.1), n_samples=120)
    shift = 1.96 * 0.21**0.5 + 0.8416 * 0.24**0.5
    assert size.n == pytest.approx((shift / 0.1) ** 2, rel=0.2)
    assert binomial_power(int(size.n), 0.7, 0.6) == pytest.approx(0.8, abs=0.08)
    assert size.n_low < size.n < size.n_high
    assert size.power.low <= 0.8 <= size.power.high
    assert [point.n for point in size.tried] == sorted(point.n for point in size.tried)
    assert {point.n for point in size.tried} >= {160, size.n}
    assert texts(size) == []


@pytest.mark.parametrize("measure", ["ece-confidence", "ece-classwise", "skce-ul"])
def test_without_miscalibration_the_power_is_the_level(measure):
    found = calibration_power(random_predictions(), Miscalibration.none(), 60, measure=measure, n_samples=180)
    assert abs(float(found.power) - 0.05) <= 3 * (0.05 * 0.95 / 180) ** 0.5
    at_20 = (found.pvalues <= 0.2).mean()
    assert abs(at_20 - 0.2) <= 3 * (0.2 * 0.8 / 180) ** 0.5


@pytest.mark.parametrize(
    "alternative",
    [Miscalibration.temperature(2.0), Miscalibration.label_noise(0.3), Miscalibration.overconfidence(0.15)],
)
def test_power_grows_with_n(alternative):
    powers = [float(calibration_power(random_predictions(), alternative, n, n_samples=40).power) for n in (15, 90, 500)]
    assert powers[0] < powers[1] - 0.1
    assert powers[1] < powers[2]
    assert powers[2] > 0.9


def test_ensembles_absorb_miscalibration_that_weights_can_remove():
    probs = random_predictions(1)
    sharp = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    mendable = np.stack([sharp, np.full_like(probs, 1 / 3)], axis=1)
    mean = uq.Members(mendable, weights=[1.0, 0.0])
    noisy = Miscalibration.label_noise(0.3)  # the truth is the mixture with weights .7 and .3
    options = {"n_samples": 20, "n_draws": 39, "search": TINY}
    for null in ("minimised", "random"):
        assert calibration_power(mean, noisy, 300, null=null, **options).power < 0.2
    assert calibration_power(sharp, noisy, 300, n_samples=40).power > 0.8
    alike = np.stack([sharp, sharp], axis=1)
    assert calibration_power(alike, noisy, 300, **options).power > 0.8


def test_required_instances_for_members():
    probs = random_predictions(2, 150)
    sharp = probs**2 / (probs**2).sum(axis=1, keepdims=True)
    sharper = probs**3 / (probs**3).sum(axis=1, keepdims=True)
    members = np.stack([sharp, sharper], axis=1)
    size = required_instances(
        members, Miscalibration.temperature(3.0), null="random", n_samples=20, n_draws=19, search=TINY
    )
    assert 10 <= size.n < 400
    assert size.power.low <= 0.8


def test_a_power_out_of_reach_is_nan_with_a_reason():
    size = required_instances(random_predictions(), Miscalibration.none(), largest=200, n_samples=20)
    assert np.isnan(size.n)
    assert texts(size) == ["the wanted power is not reached with 200 instances, so raise largest or accept less power"]
    assert size.power < 0.3
    easy = required_instances(np.array([[0.99, 0.01]]), lambda p: p[:, ::-1], n_samples=20)
    assert easy.n == 10
    assert texts(easy) == ["fewer than 10 instances may also do"]


def test_weighted_members_of_half_precision():
    members = np.random.default_rng(3).dirichlet(np.ones(30), (100, 2)).astype(np.float16)
    found = calibration_power(
        uq.Members(members, weights=[0.25, 0.75]), Miscalibration.none(), 30, null="random", n_samples=3, n_draws=19
    )
    assert found.pvalues.shape == (3,)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: calibration_power(random_predictions(), "noise", 50), ("alternative", "type")),
        (lambda: calibration_power(random_predictions(), lambda p: p[:2], 50), ("alternative", "shape")),
        (lambda: calibration_power(random_predictions(), lambda p: 2 * p, 50), ("alternative", "sum")),
        (lambda: calibration_power(random_predictions(), Miscalibration.none(), 0), ("n", "range")),
        (
            lambda: calibration_power(random_predictions(), Miscalibration.none(), 9, n_draws=9),
            ("alpha", "needs-draws"),
        ),
        (lambda: calibration_power(random_predictions(), Miscalibration.none(), 9, alpha=0), ("alpha", "range")),
        (lambda: calibration_power(random_predictions(), Miscalibration.none(), 9, measure="e"), ("measure", "choice")),
        (
            lambda: calibration_power(random_predictions(), Miscalibration.none(), 9, null="nonsense"),
            ("null", "choice"),
        ),
        (
            lambda: calibration_power(random_predictions(), Miscalibration.none(), 9, search="quick"),
            ("search", "type"),
        ),
        (lambda: calibration_power(random_predictions()[0], Miscalibration.none(), 9), ("prediction", "shape")),
        (lambda: required_instances(random_predictions(), Miscalibration.none(), power=0.04), ("power", "range")),
        (lambda: required_instances(random_predictions(), Miscalibration.none(), power=1.0), ("power", "range")),
        (lambda: required_instances(random_predictions(), Miscalibration.none(), largest=5), ("largest", "range")),
        (lambda: Miscalibration.temperature(0), ("temperature", "range", "got 0")),
        (lambda: Miscalibration.label_noise(1.5), ("share", "range", "got 1.5")),
        (lambda: Miscalibration.overconfidence(1), ("delta", "range", "got 1")),
    ],
)
def test_bad_input_is_refused(call, refusal):
    with refuses(*refusal):
        call()


# -- power simulation ------------------------------------------------------------------------------------------------
#
# The curve of simulated powers against SciPy.


def test_data_sets_do_not_depend_on_their_number_or_the_kind_of_input():
    probs = random_predictions(4, 50)
    few = calibration_power(probs, Miscalibration.label_noise(0.2), 40, n_samples=5, rng=3)
    more = calibration_power(uq.Point(probs), Miscalibration.label_noise(0.2), 40, n_samples=9, rng=3)
    single = calibration_power(uq.Members(probs[:, None]), lambda p: 0.8 * p + 0.2 / 3, 40, n_samples=9, rng=3)
    assert np.array_equal(few.pvalues, more.pvalues[:5])
    assert np.array_equal(single.pvalues, more.pvalues)
    low = calibration_power(probs.astype(np.float32), Miscalibration.none(), 1, n_samples=3)
    assert low.pvalues.shape == (3,)


def test_fitted_curve_against_scipy():
    x, counts = np.array([0.5, 0.8, 1.0, 1.3]), np.array([4000.0, 4000, 4000, 4000])
    shares = stats.norm.cdf(-1.2 + 2.1 * x)
    a, b, covariance = fitted_probit(x, shares, counts)
    assert (a, b) == pytest.approx((-1.2, 2.1), abs=0.01)
    draws = np.random.default_rng(0).binomial(4000, shares, (200, 4)) / 4000
    found = np.array([fitted_probit(x, row, counts)[:2] for row in draws])
    assert found.std(axis=0) == pytest.approx(np.sqrt(np.diag(covariance)), rel=0.2)


# Stated miscalibrations against brute force, other definitions and sampling.

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

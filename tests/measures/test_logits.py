"""Gaussian logits in parts, and free energies."""

import numpy as np
import pytest
from scipy import special
from scipy.special import expit, softmax
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.arrays import draw_per_row
from uqassay.measures import decompose, entropy, gaussian_logits_decomposition
from uqassay.measures.logits import free_energy

# Gaussian logits: entropies of the mean softmax against quadrature, against loops, and where no draw is needed.


PARTS = ("total", "aleatoric", "epistemic")


def passes(rng, n=6, n_passes=4, n_classes=3, variance_is="aleatoric", **options):
    shape = (n, n_passes, n_classes)
    return uq.GaussianLogits(rng.normal(0, 2, shape), rng.gamma(1, 2, shape), variance_is=variance_is, **options)


def by_loops(prediction, convention="exact"):
    """From the definition, one instance and one draw after the other."""
    n_draws, k = prediction.n_draws, prediction.n_classes
    found = {part: [] for part in PARTS}
    for row in range(prediction.n_instances):
        noise = draw_per_row(
            lambda g, i: g.standard_normal((n_draws, k)), np.empty((1, n_draws, k)), np.array([row]), prediction.seed
        )[0]
        mean = [np.mean([float(z) for z in prediction.mean[row, :, c]]) for c in range(k)]
        spread = [np.var([float(z) for z in prediction.mean[row, :, c]]) for c in range(k)]
        if convention == "exact":
            stated = [np.mean([float(v) for v in prediction.variance[row, :, c]]) for c in range(k)]
        else:
            stated = [np.mean([float(v) ** 0.5 for v in prediction.variance[row, :, c]]) ** 2 for c in range(k)]
        if prediction.variance_is == "epistemic":
            spread, stated = np.add(spread, stated), np.zeros(k)
        for part, variance in zip(PARTS, (np.add(stated, spread), stated, spread), strict=True):
            p = np.mean([softmax(np.asarray(mean) + np.sqrt(variance) * e) for e in noise], axis=0)
            found[part].append(-sum(x * np.log(x) for x in p))
    return {part: np.array(values) for part, values in found.items()}


@pytest.mark.parametrize("convention", ["exact", "paper-code"])
@pytest.mark.parametrize("variance_is", ["aleatoric", "epistemic"])
def test_parts_against_brute_force(variance_is, convention, random_generator):
    prediction = passes(random_generator, variance_is=variance_is, n_draws=17, seed=5)
    expected = by_loops(prediction, "exact" if variance_is == "epistemic" else convention)
    found = gaussian_logits_decomposition(prediction, convention=convention)
    for part in PARTS:
        np.testing.assert_allclose(getattr(found, part), expected[part], rtol=1e-12, err_msg=part)


def test_two_classes_against_quadrature(random_generator):
    """For two classes, softmax is the logistic function of a difference, which is normal."""
    prediction = passes(random_generator, n=8, n_classes=2)
    nodes, weights = np.polynomial.hermite_e.hermegauss(101)
    difference = prediction.mean[..., 1] - prediction.mean[..., 0]
    aleatoric = prediction.variance.mean(axis=1).sum(axis=1)
    epistemic = prediction.mean.var(axis=1).sum(axis=1)
    found = gaussian_logits_decomposition(prediction)
    for part, variance in zip(PARTS, (aleatoric + epistemic, aleatoric, epistemic), strict=True):
        values = expit(difference.mean(axis=1)[:, None] + np.sqrt(variance)[:, None] * nodes)
        p = values @ weights / weights.sum()
        np.testing.assert_allclose(
            getattr(found, part), entropy(np.stack([p, 1 - p], axis=1)), atol=3e-4
        )  # of the nodes


def test_error_of_100_draws_is_as_large_as_that_of_a_mean(random_generator):
    """Over many seeds the mean entropy is right and its spread shrinks with the square root of the number of draws."""
    spread = {}
    for n_draws in (25, 400):
        found = [
            gaussian_logits_decomposition(
                uq.GaussianLogits(
                    [[[1.0, 0.0, -9.0]]], [[[4.0, 4.0, 1.0]]], variance_is="aleatoric", n_draws=n_draws, seed=seed
                )
            ).aleatoric[0]
            for seed in range(300)
        ]
        spread[n_draws] = np.std(found)
    assert 3.0 < spread[25] / spread[400] < 5.4  # 4 is expected


def test_without_variance_no_draw_is_needed(random_generator):
    mean = random_generator.normal(0, 3, (40, 1, 5))
    expected = entropy(softmax(mean[:, 0], axis=1))
    for n_passes in (1, 3, 7, 10):
        same = np.repeat(mean, n_passes, axis=1)
        for variance_is in ("aleatoric", "epistemic"):
            found = gaussian_logits_decomposition(
                uq.GaussianLogits(same, np.zeros_like(same), variance_is=variance_is, n_draws=11)
            )
            for part in PARTS:
                np.testing.assert_allclose(getattr(found, part), expected, rtol=1e-14)
                np.testing.assert_array_equal(getattr(found, part), found.total)
        noisy = gaussian_logits_decomposition(uq.GaussianLogits(same, np.ones_like(same), variance_is="aleatoric"))
        np.testing.assert_array_equal(noisy.epistemic, found.epistemic)  # equal passes have no variance of their means
        np.testing.assert_array_equal(noisy.aleatoric, noisy.total)


def test_each_manipulation_moves_one_part_alone(random_generator):
    mean, variance = random_generator.normal(size=(30, 5, 3)), random_generator.gamma(1, 1, (30, 5, 3))
    mean += [3.0, 0.0, 0.0]
    found = gaussian_logits_decomposition(uq.GaussianLogits(mean, variance, variance_is="aleatoric"))
    noisier = gaussian_logits_decomposition(uq.GaussianLogits(mean, 9 * variance, variance_is="aleatoric"))
    np.testing.assert_array_equal(noisier.epistemic, found.epistemic)
    assert noisier.aleatoric.mean() > found.aleatoric.mean() + 0.02
    centre = mean.mean(axis=1, keepdims=True)
    wider = gaussian_logits_decomposition(
        uq.GaussianLogits(centre + 3 * (mean - centre), variance, variance_is="aleatoric")
    )
    np.testing.assert_allclose(wider.aleatoric, found.aleatoric, rtol=1e-12)
    assert wider.epistemic.mean() > found.epistemic.mean() + 0.02


def test_the_stated_variance_of_laplace_is_epistemic(random_generator):
    prediction = passes(random_generator, n_passes=1, variance_is="epistemic")
    found = gaussian_logits_decomposition(prediction)
    np.testing.assert_allclose(found.aleatoric, entropy(softmax(prediction.mean[:, 0], axis=1)), rtol=1e-14)
    np.testing.assert_array_equal(found.epistemic, found.total)
    other = gaussian_logits_decomposition(
        uq.GaussianLogits(prediction.mean, prediction.variance, variance_is="aleatoric")
    )
    np.testing.assert_array_equal(other.aleatoric, found.epistemic)


def test_the_order_of_the_passes_changes_no_bit(random_generator):
    prediction = passes(random_generator, n=50, n_passes=7)
    order = random_generator.permutation(7)
    other = uq.GaussianLogits(prediction.mean[:, order], prediction.variance[:, order], variance_is="aleatoric")
    for convention in ("exact", "paper-code"):
        found, again = (gaussian_logits_decomposition(p, convention=convention) for p in (prediction, other))
        for part in PARTS:
            np.testing.assert_array_equal(getattr(again, part), getattr(found, part))


def test_relabelled_classes_change_the_parts_by_the_error_of_the_draws(random_generator):
    prediction = passes(random_generator, n=20, n_draws=4000)
    other = uq.GaussianLogits(
        prediction.mean[..., ::-1], prediction.variance[..., ::-1], variance_is="aleatoric", n_draws=4000
    )
    found, again = gaussian_logits_decomposition(prediction), gaussian_logits_decomposition(other)
    for part in PARTS:
        np.testing.assert_allclose(getattr(again, part), getattr(found, part), atol=0.05)


def test_slices_chunks_and_layouts_agree_to_the_bit(random_generator, monkeypatch):
    prediction = passes(random_generator, n=23, n_classes=9)
    whole = gaussian_logits_decomposition(prediction)
    order = random_generator.permutation(23)
    fortran = uq.GaussianLogits(
        np.asfortranarray(prediction.mean), np.asfortranarray(prediction.variance), variance_is="aleatoric"
    )
    monkeypatch.setattr("uqassay.measures.logits.CHUNK_BYTES", 1)
    for part in PARTS:
        expected = getattr(whole, part)
        np.testing.assert_array_equal(getattr(gaussian_logits_decomposition(prediction), part), expected)
        np.testing.assert_array_equal(getattr(gaussian_logits_decomposition(fortran), part), expected)
        np.testing.assert_array_equal(getattr(gaussian_logits_decomposition(prediction[order]), part), expected[order])
        np.testing.assert_array_equal(getattr(gaussian_logits_decomposition(prediction[7:9]), part), expected[7:9])


def test_short_numbers_are_taken_as_they_are(random_generator):
    mean = random_generator.normal(0, 2, (5, 3, 4)).astype(np.float16)
    variance = random_generator.gamma(1, 1, (5, 3, 4)).astype(np.float16)
    short = gaussian_logits_decomposition(uq.GaussianLogits(mean, variance, variance_is="aleatoric"))
    double = gaussian_logits_decomposition(
        uq.GaussianLogits(mean.astype(np.float64), variance.astype(np.float64), variance_is="aleatoric")
    )
    for part in PARTS:
        np.testing.assert_array_equal(getattr(short, part), getattr(double, part))


def test_impossible_classes_stay_impossible_and_huge_numbers_finite(random_generator):
    mean = random_generator.normal(size=(4, 3, 3))
    variance = random_generator.gamma(1, 1, (4, 3, 3))
    mean[1, :, 2] = -np.inf
    found = gaussian_logits_decomposition(uq.GaussianLogits(mean, variance, variance_is="aleatoric"))
    assert all(np.isfinite(getattr(found, part)).all() for part in PARTS)
    assert found.total[1] <= np.log(2)
    mean[1, 0, 2] = 0.0
    with refuses("prediction", "undefined", got="row 1"):
        gaussian_logits_decomposition(uq.GaussianLogits(mean, variance, variance_is="aleatoric"))
    with refuses("prediction", "undefined", got="row 1"):
        gaussian_logits_decomposition(uq.GaussianLogits(mean, variance, variance_is="aleatoric")[1:])
    huge = np.array([[[1e300, -1e300, 0.0], [-1e300, 1e300, 0.0]]])
    found = gaussian_logits_decomposition(uq.GaussianLogits(huge, np.full_like(huge, 1e300), variance_is="aleatoric"))
    assert all(np.isfinite(getattr(found, part)).all() for part in PARTS)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "GaussianLogits"])
def test_other_kinds_are_refused(kind, random_generator):
    with refuses("prediction", "no-logits", got=f"got {kind}"):
        gaussian_logits_decomposition(random_prediction(kind, random_generator))


def test_unknown_conventions_are_refused(random_generator):
    for call in (gaussian_logits_decomposition, lambda p, **given: decompose(p, "variance", **given)):
        with refuses("convention", "choice", got="got 'paper'"):
            call(passes(random_generator), convention="paper")


# Free energy against log-sum-exp.


@pytest.mark.parametrize("temperature", [1.0, 0.3, 2, 10.0])
def test_free_energy_against_log_sum_exp(temperature, random_generator):
    z = random_generator.normal(0, 6, (50, 4, 7))
    z[0], z[1, 0, 0] = 300.0, -600.0

    def energy(logits):
        return -temperature * special.logsumexp(logits / temperature, axis=-1)

    point = uq.Point.from_logits(z[:, 0])
    np.testing.assert_allclose(free_energy(point, temperature=temperature), energy(z[:, 0]), rtol=1e-12, atol=1e-12)
    members = uq.Members.from_logits(z)
    mean = energy(z).mean(axis=1)
    np.testing.assert_allclose(free_energy(members, temperature=temperature), mean, rtol=1e-12, atol=1e-12)
    weights = random_generator.random((50, 4))
    weighted = uq.Members.from_logits(z.swapaxes(0, 1), weights, member_axis=0)
    mean = np.average(energy(z), axis=1, weights=weights)
    np.testing.assert_allclose(free_energy(weighted, temperature=temperature), mean, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_free_energy_of_passes_without_variance_is_that_of_their_means(temperature, random_generator):
    z = random_generator.normal(0, 2, (5, 3, 4))
    passes_alone = uq.GaussianLogits(z, np.zeros_like(z), variance_is="aleatoric")
    expected = -temperature * special.logsumexp(z / temperature, axis=2).mean(axis=1)
    np.testing.assert_allclose(free_energy(passes_alone, temperature=temperature), expected, rtol=1e-12)


def test_free_energy_where_probabilities_are_zero():
    z = np.array([[800.0, 0.0, -5000.0], [-900.0, 100.0, 0.0]])
    point = uq.Point.from_logits(z)
    assert (point.probs == 0).sum() == 3
    for temperature in (1.0, 0.5, 3.0):
        expected = -temperature * special.logsumexp(z / temperature, axis=1)
        np.testing.assert_allclose(free_energy(point, temperature=temperature), expected, rtol=1e-14)


def test_free_energy_differs_where_probabilities_agree():
    z = np.array([[1.0, 2.0, 3.0], [11.0, 12.0, 13.0]])
    point = uq.Point.from_logits(z)
    np.testing.assert_allclose(point.probs[0], point.probs[1], rtol=1e-14)
    assert np.diff(free_energy(point))[0] == pytest.approx(-10.0, abs=1e-12)


def test_log_probabilities_have_one_free_energy_and_no_ranking_of_rounding_errors(random_generator):
    p = random_generator.dirichlet(np.ones(9), 500)
    for dtype in (np.float32, np.float64):
        values = free_energy(uq.Point.from_logits(np.log(p).astype(dtype)))
        assert (values == 0.0).all()
        assert not np.signbit(values).any()


def test_free_energy_of_gaussian_logits(random_generator):
    mean, variance = random_generator.normal(0, 2, (6, 3, 4)), random_generator.uniform(0, 2, (6, 3, 4))
    # the passes have 2, 1 and 1 draws and count alike
    g = uq.GaussianLogits(mean, 0 * variance, variance_is="epistemic", n_draws=4)
    np.testing.assert_allclose(free_energy(g), -special.logsumexp(mean, axis=2).mean(axis=1), rtol=1e-13)
    many = uq.GaussianLogits(mean, variance, variance_is="epistemic", n_draws=30_000)
    z = mean[:, None] + np.sqrt(variance)[:, None] * random_generator.standard_normal((6, 10_000, 3, 4))
    for temperature in (1.0, 2.0):
        expected = -temperature * special.logsumexp(z / temperature, axis=3).mean(axis=(1, 2))
        np.testing.assert_allclose(free_energy(many, temperature=temperature), expected, atol=0.04)
    drawn = uq.GaussianLogits(mean, variance, variance_is="epistemic", n_draws=7)
    np.testing.assert_array_equal(free_energy(drawn.with_draws()), free_energy(drawn))
    np.testing.assert_array_equal(free_energy(drawn[[4, 1]]), free_energy(drawn)[[4, 1]])
    logits = drawn.sample_logits(7, drawn.seed)
    np.testing.assert_allclose(special.softmax(logits, axis=2), drawn.hull_points(), rtol=1e-12)


def test_free_energy_of_passes_is_the_mean_over_passes_and_draws(random_generator):
    mean, variance = random_generator.normal(0, 2, (6, 3, 4)), random_generator.uniform(0, 2, (6, 3, 4))
    certain = uq.GaussianLogits(mean, 0 * variance, variance_is="aleatoric", n_draws=4)
    np.testing.assert_allclose(free_energy(certain), -special.logsumexp(mean, axis=2).mean(axis=1), rtol=1e-13)
    passes = uq.GaussianLogits(mean, variance, variance_is="aleatoric", n_draws=20_000)
    z = mean[:, None] + np.sqrt(variance)[:, None] * random_generator.standard_normal((6, 10_000, 3, 4))
    for temperature in (1.0, 2.0):
        expected = -temperature * special.logsumexp(z / temperature, axis=3).mean(axis=(1, 2))
        np.testing.assert_allclose(free_energy(passes, temperature=temperature), expected, atol=0.04)
    np.testing.assert_array_equal(free_energy(passes.with_draws()), free_energy(passes))
    np.testing.assert_array_equal(free_energy(passes[[4, 1]]), free_energy(passes)[[4, 1]])
    order = [2, 0, 1]
    shuffled = uq.GaussianLogits(mean[:, order], variance[:, order], variance_is="aleatoric", n_draws=20_000)
    np.testing.assert_array_equal(free_energy(shuffled), free_energy(passes))


@pytest.mark.parametrize("temperature", [0, -1.0, np.inf, np.nan, "1", True, None])
def test_a_temperature_is_a_positive_number(temperature):
    is_number = isinstance(temperature, int | float) and not isinstance(temperature, bool)
    with refuses("temperature", "range" if is_number else "type"):
        free_energy(uq.Point.from_logits([[0.0, 1.0]]), temperature=temperature)

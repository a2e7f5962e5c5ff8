"""Dirichlet distributions and Gaussian logits, and their draws."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from tests.kinds import random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.predictions import second_order as gaussian_logits
from uqassay.predictions.quadrature import softmax_normal
from uqassay.predictions.second_order import check_variance_is

# Dirichlet predictions: draws against theory, extreme concentrations.


def test_dirichlet_draws_against_theory():
    alpha = np.array([[4.0, 2.0, 1.0], [0.05, 0.03, 0.02], [1e-4, 1e-4, 1e-4]])
    draws = uq.Dirichlet(alpha).sample(40_000, rng=1)
    assert np.isfinite(draws).all()
    mean = alpha / alpha.sum(axis=1, keepdims=True)
    variance = mean * (1 - mean) / (alpha.sum(axis=1, keepdims=True) + 1)
    np.testing.assert_array_less(np.abs(draws.mean(axis=1) - mean), 5 * np.sqrt(variance / 40_000) + 1e-12)
    np.testing.assert_allclose(draws.var(axis=1), variance, rtol=0.05)


def test_unit_concentration_keeps_the_mean_and_spreads_the_draws():
    raw = uq.Dirichlet([[50.0, 30.0, 20.0]])
    unit = uq.Dirichlet([[50.0, 30.0, 20.0]], unit_concentration=True)
    np.testing.assert_allclose(raw.mean_probs(), unit.mean_probs())
    assert uq.measures.generalised_hartley(unit).values > 2 * uq.measures.generalised_hartley(raw).values


def test_draws_for_the_greatest_and_least_concentrations():
    for alpha in ([[1e300, 1e300]], [[1e-300, 1e-300]], [[1e300, 1e-300]]):
        dirichlet = uq.Dirichlet(alpha)
        np.testing.assert_allclose(dirichlet.mean_probs().sum(axis=1), 1)
        np.testing.assert_allclose(dirichlet.sample(20, rng=0).sum(axis=2), 1)


def test_links_against_their_closed_forms(random_generator):
    z = random_generator.normal(0, 3, (40, 4))
    expected = {
        "softplus+1": np.log1p(np.exp(z)) + 1,
        "exp": np.exp(z),
        "relu+1": np.where(z > 0, z, 0) + 1,
    }
    for link, alpha in expected.items():
        np.testing.assert_allclose(uq.Dirichlet.from_logits(z, link=link).alpha, alpha, rtol=1e-12)
    np.testing.assert_array_equal(
        uq.Dirichlet.from_logits(z).alpha, uq.Dirichlet.from_logits(z, link="softplus+1").alpha
    )
    softmax = uq.Point.from_logits(z).probs
    np.testing.assert_allclose(uq.Dirichlet.from_logits(z, link="exp").mean_probs(), softmax, rtol=1e-12)
    assert uq.Dirichlet.from_logits([[600.0, -600.0]]).alpha.tolist() == [[601.0, 1.0]]


def test_outputs_keep_their_names():
    frame = pd.DataFrame([[1.0, -1.0]], columns=["no", "yes"], index=["x"])
    found = uq.Dirichlet.from_logits(frame, groups=["a"], n_draws=7)
    assert (found.class_names, list(found.ids), list(found.groups), found.n_draws) == (("no", "yes"), ["x"], ["a"], 7)
    named = uq.Dirichlet.from_logits([[1.0, -1.0]], link="exp", class_names=("a", "b"), ids=["y"])
    assert (named.class_names, list(named.ids)) == (("a", "b"), ["y"])


def test_unknown_links_and_outputs_that_are_not_finite_are_refused():
    with refuses("link", "choice", got="got 'softmax'"):
        uq.Dirichlet.from_logits([[1.0, 2.0]], link="softmax")
    for value in (np.nan, np.inf):
        with refuses("logits", "finite"):
            uq.Dirichlet.from_logits([[1.0, value]])
    with refuses("logits", "range"):
        uq.Dirichlet.from_logits([[1.0, 1000.0]], link="exp")


# Gaussian logits: the two meanings of the variance, draws divided among the passes, impossible classes.


def stated(meaning, n=6, m=4, k=3, n_draws=100, scale=2.0, dtype=np.float64):
    g = np.random.default_rng([n, m, k])
    mean, variance = g.normal(scale=scale, size=(n, m, k)), g.gamma(2.0, size=(n, m, k))
    return uq.GaussianLogits(mean.astype(dtype), variance.astype(dtype), variance_is=meaning, n_draws=n_draws, seed=3)


# -- the meaning is stated --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "missing"),
        ({"variance_is": None}, "missing"),
        ({"variance_is": ""}, "missing"),
        ({"variance_is": "Aleatoric"}, "choice"),
        ({"variance_is": 1}, "choice"),
    ],
)
def test_there_is_no_default_meaning_and_the_refusal_names_both(given, code):
    with refuses("variance_is", code) as refusal:
        uq.GaussianLogits([[0.0, 1.0]], [[1.0, 1.0]], **given)
    assert '"aleatoric" (noise of the label' in refusal.value.rule
    assert '"epistemic" (doubt about the function' in refusal.value.rule
    assert str(refusal.value).count(".") == 1  # one sentence


def test_either_meaning_is_accepted_and_kept_as_text():
    for meaning in ("aleatoric", np.str_("epistemic")):
        check_variance_is(meaning)
        assert type(uq.GaussianLogits([[0.0, 1.0]], [[1.0, 1.0]], variance_is=meaning).variance_is) is str


# -- aleatoric: the passes span the set -------------------------------------------------------------------------------


def test_passes_of_two_classes_against_gauss_hermite_quadrature():
    g = stated("aleatoric", n=5, m=3, k=2, n_draws=200_000)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)  # weight exp(−x²/2)
    centre, variance = g.mean[..., 0] - g.mean[..., 1], g.variance.sum(axis=2)  # z₁ − z₂ ~ N(μ₁ − μ₂, σ₁² + σ₂²)
    each = 1 / (1 + np.exp(-(centre[..., None] + np.sqrt(variance)[..., None] * nodes)))
    expected = (each * weights).sum(axis=-1) / weights.sum()
    np.testing.assert_allclose(g.hull_points()[..., 0], expected, atol=6 * 0.5 / np.sqrt(200_000))


def test_passes_against_monte_carlo_by_other_draws():
    g, n = stated("aleatoric", n=3, m=2, k=4, n_draws=100_000), 200_000
    z = np.random.default_rng(8).normal(size=(n, *g.mean.shape)) * np.sqrt(g.variance) + g.mean
    each = softmax(z, axis=-1)
    error = each.std(axis=0) * np.sqrt(1 / n + 1 / g.n_draws)
    assert (np.abs(g.hull_points() - each.mean(axis=0)) < 5 * error).all()


def test_the_set_is_the_passes_own_distributions():
    g = stated("aleatoric")
    points = g.hull_points()
    assert (g.n_points, g.spanned_by, points.shape) == (4, "passes", (6, 4, 3))
    np.testing.assert_array_equal(g.members().probs, points)
    assert g.members().weights is None
    np.testing.assert_array_equal(g.lower_probs(), points.min(axis=1))
    np.testing.assert_array_equal(g.upper_probs(), points.max(axis=1))
    np.testing.assert_allclose(g.mean_probs(), points.mean(axis=1), rtol=1e-14)
    np.testing.assert_array_equal(g.shares(), [0.25] * 4)
    np.testing.assert_array_equal(g.sample(9, 5), g.members().sample(9, 5))
    # a pass of its own states what it states among the others: all take the same draws
    for t in range(4):
        alone = uq.GaussianLogits(g.mean[:, t], g.variance[:, t], variance_is="aleatoric", seed=3)
        np.testing.assert_array_equal(alone.hull_points()[:, 0], points[:, t])


@pytest.mark.parametrize("sigma", [0.0, 0.3, 3.0, 100.0])
@pytest.mark.parametrize("m", [1, 2, 10])
def test_equal_passes_have_no_epistemic_uncertainty_at_any_variance(m, sigma):
    one = np.random.default_rng(m).normal(size=(5, 1, 3)).repeat(m, axis=1)
    g = uq.GaussianLogits(one, np.full_like(one, sigma**2), variance_is="aleatoric")
    assert (np.ptp(g.hull_points(), axis=1) == 0).all()
    d = uq.measures.entropy_decomposition(g)
    assert d.epistemic.tolist() == [0.0] * 5
    np.testing.assert_array_equal(d.aleatoric, d.total)
    assert uq.measures.variance_decomposition(g).epistemic.tolist() == [0.0] * 5
    assert np.asarray(uq.measures.generalised_hartley(g)).tolist() == [0.0] * 5
    np.testing.assert_array_equal(g.lower_probs(), g.upper_probs())


def test_the_same_passes_with_the_other_meaning_disagree():
    one = np.zeros((1, 10, 3))
    g = uq.GaussianLogits(one, one + 100.0, variance_is="epistemic")
    assert uq.measures.entropy_decomposition(g).epistemic[0] > 0.6
    assert np.asarray(uq.measures.generalised_hartley(g))[0] > 0.9 * np.log(3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_without_variance_a_pass_is_its_softmax_exactly(dtype):
    mean = np.random.default_rng(1).normal(scale=3, size=(7, 4, 5)).astype(dtype)
    g = uq.GaussianLogits(mean, np.zeros_like(mean), variance_is="aleatoric", n_draws=7)
    np.testing.assert_array_equal(g.hull_points(), uq.Members.from_logits(mean).probs)


def test_passes_with_and_without_variance_stand_in_one_row():
    mean = np.zeros((1, 2, 3))
    variance = np.array([[[0.0] * 3, [1.0, 0.0, 0.0]]])
    first, second = uq.GaussianLogits(mean, variance, variance_is="aleatoric").hull_points()[0]
    assert first.tolist() == [1 / 3] * 3
    assert second[0] != 1 / 3
    assert second[1] == second[2]  # equal logits in every draw


def test_odd_arrays_give_the_same_passes():
    g = stated("aleatoric", n=8)
    expected = g.hull_points()
    backwards = np.ascontiguousarray(g.mean[..., ::-1])[..., ::-1]
    columns = np.asfortranarray(g.variance)
    read_only = g.mean.copy()
    read_only.flags.writeable = False
    for mean, variance in ((backwards, columns), (read_only, g.variance), (g.mean.tolist(), g.variance.tolist())):
        same = uq.GaussianLogits(mean, variance, variance_is="aleatoric", seed=3)
        np.testing.assert_array_equal(same.hull_points(), expected)
    halves = stated("aleatoric", n=8, dtype=np.float16)
    np.testing.assert_allclose(halves.hull_points(), expected, atol=2e-3)
    whole = uq.GaussianLogits(np.array([[0, 1]]), np.array([[1, 1]]), variance_is="aleatoric")
    assert whole.mean_probs().shape == (1, 2)


@pytest.mark.parametrize("meaning", ["aleatoric", "epistemic"])
@pytest.mark.parametrize("chunk_bytes", [1, 10_000, 2**20])
def test_slices_orders_and_chunks_have_the_same_bits(meaning, chunk_bytes, monkeypatch):
    g = stated(meaning, n=30)
    expected = g.hull_points(), g.mean_probs(), uq.measures.entropy_decomposition(g).epistemic
    monkeypatch.setattr(gaussian_logits, "CORE_BYTES", chunk_bytes)
    order = np.random.default_rng(0).permutation(30)
    for rows in (slice(None), slice(11, 12), slice(7, 29), order, order[:3]):
        part = g[rows]
        found = part.hull_points(), part.mean_probs(), uq.measures.entropy_decomposition(part).epistemic
        for values, whole in zip(found, expected, strict=True):
            np.testing.assert_array_equal(values, whole[rows])


def test_the_order_of_the_passes_changes_no_bit_of_the_mean():
    g = stated("aleatoric", m=7)
    order = np.random.default_rng(0).permutation(7)
    other = uq.GaussianLogits(g.mean[:, order], g.variance[:, order], variance_is="aleatoric", seed=3)
    np.testing.assert_array_equal(other.hull_points(), g.hull_points()[:, order])
    np.testing.assert_array_equal(other.mean_probs(), g.mean_probs())


def test_draws_of_all_rows_and_passes_are_never_held_together(monkeypatch):
    g, most = stated("aleatoric", n=200, m=5, n_draws=400), []
    inner = gaussian_logits.softmax
    monkeypatch.setattr(gaussian_logits, "softmax", lambda z, name: most.append(z.size) or inner(z, name))
    g.hull_points()
    assert max(most) <= gaussian_logits.CORE_BYTES // 8 < 200 * 400 * 3 < 200 * 5 * 400 * 3


def test_points_that_are_kept_are_those_computed_anew():
    g = stated("aleatoric")
    kept = g.with_draws()
    assert kept.drawn.shape == (6, 4, 3)
    for rows in (slice(None), [4, 1]):
        np.testing.assert_array_equal(kept[rows].mean_probs(), g[rows].mean_probs())
        np.testing.assert_array_equal(kept[rows].hull_points(), g[rows].hull_points())
    with refuses("drawn", "shape", got=r"\(6, 100, 3\)"):
        uq.GaussianLogits(g.mean, g.variance, variance_is="aleatoric", drawn=np.zeros((6, 100, 3)))


def test_fewer_draws_than_passes_are_enough_for_passes():
    g = stated("aleatoric", m=9, n_draws=2)
    assert g.hull_points().shape == (6, 9, 3)
    with refuses("n_draws", "range", got="got 2"):
        stated("epistemic", m=9, n_draws=2)
    with refuses("n_draws", "range"):
        stated("aleatoric", n_draws=0)


def test_a_subset_of_the_passes_states_what_they_stated():
    g = stated("aleatoric", m=8).with_draws()
    few = g.subset(3, 4)
    assert (few.n_passes, few.notes[-1].code, few.notes[-1].facts) == (3, "members-chosen", {"n_members": 3, "of": 8})
    kept = [t for t in range(8) if (g.mean[:, t] == few.mean[:, 0]).all()]
    np.testing.assert_array_equal(few.hull_points()[:, 0], g.hull_points()[:, kept[0]])
    np.testing.assert_array_equal(few.hull_points(), uq.GaussianLogits(few.mean, few.variance, variance_is="aleatoric",
                                                                       seed=3).hull_points())  # fmt: skip
    assert stated("epistemic", m=8).with_draws().subset(3, 4).drawn is None
    for odd in (0, 9, 2.5):
        with refuses("n_passes", "common-members"):
            g.subset(odd)


def test_logits_of_all_passes_share_their_standard_normal_draws():
    g = stated("aleatoric", m=3, n_draws=11)
    normal = [(z - g.mean[:, t, None]) / np.sqrt(g.variance[:, t, None]) for t, z in enumerate(g.logits_of_passes())]
    assert len(normal) == 3
    np.testing.assert_allclose(normal[1], normal[0], atol=1e-12)
    np.testing.assert_allclose(normal[2], normal[0], atol=1e-12)


# -- epistemic: draws span the set ------------------------------------------------------------------------------------


def test_draws_of_the_epistemic_meaning_are_those_of_earlier_versions():
    g = uq.GaussianLogits(
        [[[0.0, 1.0], [2.0, 0.0]]], [[[1.0, 4.0], [0.25, 0.0]]], variance_is="epistemic", n_draws=3, seed=7
    )
    expected = [
        [0.016296031998610384, 0.9837039680013896],
        [0.9402068008304061, 0.05979319916959389],
        [0.8921464976048553, 0.10785350239514475],
    ]
    np.testing.assert_allclose(g.hull_points()[0], expected, rtol=1e-14)
    assert (g.n_points, g.spanned_by, g.has_shared_points) == (3, "draws", False)


def test_epistemic_logits_without_variance_are_softmaxes():
    logits = np.array([[1.0, 2.0, 3.0]])
    g = uq.GaussianLogits(logits, np.zeros_like(logits), variance_is="epistemic")
    np.testing.assert_allclose(g.mean_probs(), uq.Point.from_logits(logits).probs, atol=1e-12)
    np.testing.assert_allclose(g.lower_probs(), g.upper_probs(), atol=1e-12)


def test_draws_are_divided_evenly_among_the_passes():
    mean = np.array([[[10.0, -10.0], [-10.0, 10.0]]])
    g = uq.GaussianLogits(mean, np.zeros_like(mean), variance_is="epistemic", n_draws=10)
    np.testing.assert_allclose(g.mean_probs(), [[0.5, 0.5]], atol=1e-6)


def test_passes_have_equal_weights_for_any_number_of_draws():
    passes = np.tile([[[10.0, -10.0]] * 100 + [[-10.0, 10.0]] * 100], (1, 1, 1))
    with refuses("n_draws", "range", got="got 100"):
        uq.GaussianLogits(passes, np.zeros_like(passes), variance_is="epistemic")
    g = uq.GaussianLogits(passes, 0 * passes, variance_is="epistemic", n_draws=200)
    np.testing.assert_allclose(g.mean_probs(), [[0.5, 0.5]], atol=1e-6)
    three = np.array([[[9.0, 0, 0], [0, 9.0, 0], [0, 0, 9.0]]])
    mean = uq.GaussianLogits(three, np.zeros_like(three), variance_is="epistemic", n_draws=4).mean_probs()
    np.testing.assert_allclose(mean, [[1 / 3] * 3], atol=1e-12)


# -- values -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("meaning", ["aleatoric", "epistemic"])
def test_a_mean_of_minus_infinity_is_an_impossible_class(meaning):
    mean = np.array([[0.0, 1.0, -np.inf]])
    g = uq.GaussianLogits(mean, np.full((1, 3), 0.5), variance_is=meaning, n_draws=20)
    assert (g.hull_points()[..., 2] == 0).all()
    assert g.upper_probs()[0, 2] == 0
    np.testing.assert_allclose(g.mean_probs().sum(), 1)
    if meaning == "aleatoric":
        assert uq.measures.entropy_decomposition(g).epistemic[0] == 0
    with refuses("mean", "finite", got="row 0 holds −inf alone"):
        uq.GaussianLogits([[-np.inf, -np.inf]], [[1.0, 1.0]], variance_is=meaning)
    with refuses("variance", "finite", got="row 0 holds inf"):
        uq.GaussianLogits(mean, [[1.0, 1.0, np.inf]], variance_is=meaning)


@pytest.mark.parametrize("meaning", ["aleatoric", "epistemic"])
def test_numbers_whose_draws_could_overflow_are_refused(meaning):
    with refuses("mean", "range", got="row 0"):
        uq.GaussianLogits([[1e308, 0.0]], [[1.0, 1.0]], variance_is=meaning)
    with refuses("variance", "range", got="row 0"):
        uq.GaussianLogits([[0.0, 0.0]], [[1e308, 1.0]], variance_is=meaning)
    greatest = uq.GaussianLogits([[1e300, -1e300]], [[1e300, 1e300]], variance_is=meaning)
    np.testing.assert_allclose(greatest.mean_probs(), [[1.0, 0.0]], atol=1e-12)


# -- shared draws -------------------------------------------------------------------------------------------------------


def shared(**changes):
    g = np.random.default_rng(5)
    mean, variance = 2.0 * g.normal(size=(30, 3, 4)), g.gamma(2.0, size=(30, 3, 4))
    return uq.GaussianLogits(mean, variance, variance_is="epistemic", n_draws=100, shared_draws=True, **changes)


def test_shared_draws_have_the_exact_mean_over_the_passes():
    g = shared()
    assert (g.hull_points().shape, g.n_points, g.has_shared_points) == ((30, 100, 4), 100, False)
    exact = np.mean([softmax_normal(g.mean[:, t], np.sqrt(g.variance[:, t])) for t in range(3)], axis=0)
    np.testing.assert_allclose(g.mean_probs(), exact, atol=1e-12)
    np.testing.assert_allclose(g.members().mean_probs(), exact, atol=1e-12)  # 34, 33 and 33 draws have weights


def test_shared_draws_do_not_depend_on_row_chunk_or_whether_they_are_held(monkeypatch):
    whole = shared().hull_points()
    np.testing.assert_array_equal(shared().with_draws()[[7, 2]].hull_points(), whole[[7, 2]])
    np.testing.assert_array_equal(shared()[[7, 2]].hull_points(), whole[[7, 2]])
    monkeypatch.setattr(gaussian_logits, "CORE_BYTES", 1)
    monkeypatch.setattr("uqassay.predictions.quadrature.CHUNK_BYTES", 1)
    np.testing.assert_array_equal(shared().hull_points(), whole)


def test_shared_draws_are_for_doubt_about_the_function():
    with refuses("shared_draws", "conflict", got="aleatoric"):
        uq.GaussianLogits([[0.0, 1.0]], [[1.0, 1.0]], variance_is="aleatoric", shared_draws=True)
    with refuses("shared_draws", "type"):
        uq.GaussianLogits([[0.0, 1.0]], [[1.0, 1.0]], variance_is="epistemic", shared_draws=1)


# Draws that span a set: they depend on row and seed, and can be kept.


@pytest.mark.parametrize("kind", ["Members", "Dirichlet", "GaussianLogits"])
def test_draws_are_distributions_keyed_by_row_and_seed(kind, random_generator):
    prediction = random_prediction(kind, random_generator, 7, 4)
    draws = prediction.sample(9, rng=3)
    assert draws.shape == (7, 9, 4)
    np.testing.assert_allclose(draws.sum(axis=2), 1, atol=1e-9)
    np.testing.assert_array_equal(prediction[[5, 2]].sample(9, rng=3), draws[[5, 2]])
    np.testing.assert_array_equal(
        prediction.sample(9, rng=np.random.default_rng(1)), prediction.sample(9, rng=np.random.default_rng(1))
    )
    assert (prediction.sample(9, rng=4) != draws).any()


def test_held_draws_are_the_same_draws():
    d = uq.Dirichlet(np.ones((4, 3)) * 2)
    np.testing.assert_array_equal(d.with_draws().lower_probs(), d.lower_probs())
    np.testing.assert_array_equal(d.with_draws()[2:].lower_probs(), d[2:].lower_probs())

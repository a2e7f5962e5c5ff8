import json

import numpy as np
import pytest
from tests.notes import codes, said
from tests.refusals import refuses

from uqassay.lab.papers.printed_cells import printed_table
from uqassay.metrics import disentanglement_error, expected_absolute_correlation, recombined_error
from uqassay.metrics.disentanglement import IDEALS, Curves
from uqassay.statistics import mean_correlation_estimate, mean_estimate

SHARES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0]
LEVELS = np.linspace(0, 1, 11)
SIZE = 1 - np.exp(-np.array(SHARES) * 8)  # accuracies
NOISE = 0.95 - 0.6 * LEVELS


def oracle(size, noise, n_runs=3):
    """Both experiments from (aleatoric, epistemic) curves, repeated over runs."""
    return tuple(
        Curves(*(np.tile(curve, (n_runs, 1)) for curve in (accuracy, *estimates)), conditions=conditions)
        for accuracy, estimates, conditions in ((SIZE, size, SHARES), (NOISE, noise, LEVELS))
    )


def random_curves(rng, n_runs=4):
    return tuple(
        Curves(*rng.random((3, n_runs, len(conditions))), conditions=conditions) for conditions in (SHARES, LEVELS)
    )


def correlations_by_numpy(size, noise):
    return np.array(
        [
            [
                np.corrcoef(one.accuracy[r], -getattr(one, name)[r])[0, 1]
                for one in (size, noise)
                for name in ("aleatoric", "epistemic")
            ]
            for r in range(size.n_runs)
        ]
    )


# -- oracles -----------------------------------------------------------------------------------------------------------

STILL_SIZE, STILL_NOISE = np.full(7, 0.4), np.full(11, 0.1)
MOVES_SIZE, MOVES_NOISE = 2 - SIZE, 2 - NOISE

# (aleatoric, epistemic) of both experiments; the correlations by hand, and (|r0| + |r1 − 1| + |r2 − 1| + |r3|) / 4
ORACLES = {
    "perfect": ((STILL_SIZE, MOVES_SIZE), (MOVES_NOISE, STILL_NOISE), [0, 1, 1, 0], 0.0),
    "swapped": ((MOVES_SIZE, STILL_SIZE), (STILL_NOISE, MOVES_NOISE), [1, 0, 0, 1], 1.0),
    "both move": ((MOVES_SIZE, MOVES_SIZE), (MOVES_NOISE, MOVES_NOISE), [1, 1, 1, 1], 0.5),
    "none moves": ((STILL_SIZE, STILL_SIZE), (STILL_NOISE, STILL_NOISE), [0, 0, 0, 0], 0.5),
    # confidence in place of uncertainty: the terms that should be 1 are −1, each 2 from its ideal
    "perfect, wrong sign": ((STILL_SIZE, -MOVES_SIZE), (-MOVES_NOISE, STILL_NOISE), [0, -1, -1, 0], 1.0),
    "both move, wrong sign": ((-MOVES_SIZE, -MOVES_SIZE), (-MOVES_NOISE, -MOVES_NOISE), [-1, -1, -1, -1], 1.5),
    "epistemic, wrong sign": ((STILL_SIZE, -MOVES_SIZE), (MOVES_NOISE, STILL_NOISE), [0, -1, 1, 0], 0.5),
}


@pytest.mark.parametrize("name", ORACLES)
def test_oracles_against_hand(name):
    size, noise, correlations, error = ORACLES[name]
    result = disentanglement_error(*oracle(size, noise))
    np.testing.assert_allclose([term.per_run for term in result.terms], np.tile(correlations, (3, 1)).T, atol=1e-12)
    assert float(result.error) == pytest.approx(error, abs=1e-12)
    assert result.error.low == pytest.approx(error, abs=1e-12)
    assert result.pooled.error == pytest.approx(error, abs=1e-12)
    assert disentanglement_error(*oracle(size, noise), aggregate="sum").error == pytest.approx(4 * error, abs=1e-12)
    still = [np.ptp(curve) == 0 for curve in (*size, *noise)]
    assert [bool(term.constant.all()) for term in result.terms] == still
    assert codes(result) == ["constant-curve"] * sum(still)


def test_total_uncertainty_given_twice_scores_a_half_and_is_below_chance():
    rng = np.random.default_rng(3)
    size, noise = (curve + rng.normal(0, 0.01, (5, curve.size)) for curve in (MOVES_SIZE, MOVES_NOISE))
    accuracy = [np.tile(curve, (5, 1)) for curve in (SIZE, NOISE)]
    result = disentanglement_error(Curves(accuracy[0], size, size, SHARES), Curves(accuracy[1], noise, noise, LEVELS))
    assert float(result.error) == pytest.approx(result.together, abs=0.01)
    assert result.together == 0.5
    assert result.together < result.chance


# -- values ------------------------------------------------------------------------------------------------------------


def test_every_field_against_numpy():
    size, noise = random_curves(np.random.default_rng(0))
    result = disentanglement_error(size, noise)
    r = correlations_by_numpy(size, noise)
    deviations = np.abs(r - [0, 1, 1, 0])
    assert [(term.experiment, term.estimate, term.ideal) for term in result.terms] == list(IDEALS)
    np.testing.assert_allclose(np.stack([term.per_run for term in result.terms], axis=1), r, atol=1e-12)
    np.testing.assert_allclose(result.per_run, deviations.mean(axis=1), atol=1e-12)
    expected = mean_estimate(result.per_run)
    assert (float(result.error), result.error.low, result.error.high) == pytest.approx(
        (float(expected), max(expected.low, 0), min(expected.high, 1.5))
    )
    for k, term in enumerate(result.terms):
        fisher = mean_correlation_estimate(r[:, k])
        assert [float(term.correlation), term.correlation.low, term.correlation.high] == pytest.approx(
            [float(fisher), fisher.low, fisher.high]
        )
        assert float(term.bootstrap) == pytest.approx(r[:, k].mean())
        assert (
            r[:, k].min() - 1e-12 <= term.bootstrap.low < term.bootstrap < term.bootstrap.high <= r[:, k].max() + 1e-12
        )
        assert float(term.deviation) == pytest.approx(deviations[:, k].mean())
        assert not term.constant.any()
    assert result.notes == ()
    assert result.n_runs == 4
    assert result.conditions == (tuple(SHARES), tuple(LEVELS))


def test_mean_of_the_deviations_is_the_error():
    result = disentanglement_error(*random_curves(np.random.default_rng(1)))
    assert np.mean([float(term.deviation) for term in result.terms]) == pytest.approx(float(result.error))


def test_sum_is_four_times_the_mean():
    curves = random_curves(np.random.default_rng(2))
    mean, total = (disentanglement_error(*curves, aggregate=aggregate) for aggregate in ("mean", "sum"))
    np.testing.assert_allclose(total.per_run, 4 * mean.per_run)
    for name in ("error", "floor", "chance", "together"):
        assert float(getattr(total, name)) == pytest.approx(4 * float(getattr(mean, name)))
    assert total.error.low == pytest.approx(4 * mean.error.low)
    assert total.pooled.error == pytest.approx(4 * mean.pooled.error)
    assert total.terms[0].deviation == mean.terms[0].deviation


def test_pooled_is_of_the_averaged_curves():
    size, noise = random_curves(np.random.default_rng(4))
    result = disentanglement_error(size, noise)
    means = [
        Curves(one.accuracy.mean(axis=0), one.aleatoric.mean(axis=0), one.epistemic.mean(axis=0), one.conditions)
        for one in (size, noise)
    ]
    np.testing.assert_allclose(result.pooled.correlations, correlations_by_numpy(*means)[0], atol=1e-12)
    assert result.pooled.error == pytest.approx(recombined_error(result.pooled.correlations))
    assert abs(result.pooled.error - float(result.error)) > 0.01


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e150])
def test_units_and_order_of_conditions_do_not_matter(scale):
    rng = np.random.default_rng(5)
    size, noise = random_curves(rng)
    order = rng.permutation(7)
    other = Curves(
        size.accuracy[:, order] * 100,
        7 * size.aleatoric[:, order],
        7 * size.epistemic[:, order],
        np.array(SHARES)[order],
    )
    scaled = Curves(noise.accuracy, scale * noise.aleatoric, scale * noise.epistemic, LEVELS)
    np.testing.assert_allclose(
        disentanglement_error(other, scaled).per_run, disentanglement_error(size, noise).per_run, atol=1e-9
    )


def test_floor_against_simulation():
    """Oracles whose still curves are jitter: the error is not 0."""
    rng = np.random.default_rng(6)
    n = 4000
    size = Curves(np.tile(SIZE, (n, 1)), rng.normal(size=(n, 7)), np.tile(MOVES_SIZE, (n, 1)), SHARES)
    noise = Curves(np.tile(NOISE, (n, 1)), np.tile(MOVES_NOISE, (n, 1)), rng.normal(size=(n, 11)), LEVELS)
    result = disentanglement_error(size, noise, n_draws=2)
    assert result.floor == pytest.approx(0.15, abs=0.001)
    assert result.error == pytest.approx(result.floor, abs=0.005)


def test_chance_against_simulation():
    rng = np.random.default_rng(7)
    n = 4000
    size, noise = (
        Curves(np.tile(mean, (n, 1)), *rng.normal(size=(2, n, mean.size)), conditions)
        for mean, conditions in ((SIZE, SHARES), (NOISE, LEVELS))
    )
    result = disentanglement_error(size, noise, n_draws=2)
    assert result.chance == pytest.approx(0.65, abs=0.001)
    assert result.error == pytest.approx(result.chance, abs=0.01)


# -- constant curves ---------------------------------------------------------------------------------------------------


def test_constant_in_one_run_counts_as_zero_and_is_flagged():
    size, noise = random_curves(np.random.default_rng(8))
    aleatoric = size.aleatoric.copy()
    aleatoric[2] = 0.3
    result = disentanglement_error(Curves(size.accuracy, aleatoric, size.epistemic, SHARES), noise)
    assert result.terms[0].constant.tolist() == [False, False, True, False]
    assert result.terms[0].per_run[2] == 0
    assert not any(term.constant.any() for term in result.terms[1:])
    assert "the aleatoric estimate is constant over the dataset-size conditions in 1 of 4 runs" in said(result)
    assert result.notes[0].facts["runs"] == [2]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_noise_is_constant(dtype):
    """Differences of equal entropies are not 0 but noise; noise has no correlation."""
    rng = np.random.default_rng(9)
    size, noise = random_curves(rng)
    still = np.abs(rng.normal(size=size.accuracy.shape)) * np.finfo(dtype).eps
    result = disentanglement_error(
        Curves(size.accuracy, size.aleatoric.astype(dtype), still.astype(dtype), SHARES), noise
    )
    assert result.terms[1].constant.all()
    small = 1e-4 * rng.random(size.accuracy.shape)  # small beside the other estimate, but no rounding error
    result = disentanglement_error(
        Curves(size.accuracy, size.aleatoric.astype(dtype), small.astype(dtype), SHARES), noise
    )
    assert not result.terms[1].constant.any()


def test_constant_accuracy_makes_both_correlations_zero():
    size, noise = random_curves(np.random.default_rng(10))
    accuracy = noise.accuracy.copy()
    accuracy[0] = 1.0
    result = disentanglement_error(size, Curves(accuracy, noise.aleatoric, noise.epistemic, LEVELS))
    assert [term.constant.tolist() for term in result.terms[2:]] == [[True, False, False, False]] * 2
    assert (result.terms[2].per_run[0], result.terms[3].per_run[0]) == (0, 0)
    assert "the accuracy is constant over the label-noise conditions" in said(result)


# -- one run, few conditions ---------------------------------------------------------------------------------------------


def test_one_run_has_fisher_intervals_alone():
    size, noise = random_curves(np.random.default_rng(11), n_runs=1)
    result = disentanglement_error(size, noise)
    assert np.isnan([result.error.low, result.terms[0].bootstrap.low, result.terms[0].deviation.high]).all()
    assert codes(result.error) == codes(result.terms[0].bootstrap) == ["no-interval"]
    for term, n in zip(result.terms, (7, 7, 11, 11), strict=True):
        z, reach = np.arctanh(term.per_run[0]), 1.959964 / np.sqrt(n - 3)
        assert [term.correlation.low, term.correlation.high] == pytest.approx([np.tanh(z - reach), np.tanh(z + reach)])
    still = Curves(size.accuracy, np.full((1, 7), 0.2), size.epistemic, SHARES)
    term = disentanglement_error(still, noise).terms[0]
    assert (float(term.correlation), np.isnan(term.correlation.low)) == (0.0, True)


def test_two_conditions_have_correlations_of_one():
    rng = np.random.default_rng(12)
    two = Curves(*rng.random((3, 2, 2)), conditions=[0.1, 1.0])
    result = disentanglement_error(two, Curves(*rng.random((3, 2, 3)), conditions=[0, 0.5, 1]))
    np.testing.assert_allclose(np.abs(result.terms[0].per_run), 1.0)
    assert codes(result) == ["conditions", "conditions"]
    assert [note.facts["conditions"] for note in result.notes] == [2, 3]
    alone = disentanglement_error(
        Curves(*rng.random((3, 1, 3)), conditions=[0, 1, 2]), Curves(*rng.random((3, 1, 4)), conditions=[0, 1, 2, 3])
    )
    assert np.isnan(alone.terms[0].correlation.low)
    assert "3 pairs" in said(alone.terms[0].correlation)
    assert np.isfinite(alone.terms[2].correlation.low)


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_refuses_one_experiment_alone():
    size, noise = random_curves(np.random.default_rng(0))
    with refuses("label_noise", "missing"):
        disentanglement_error(size, None)
    with refuses("dataset_size", "missing"):
        disentanglement_error(None, noise)
    with refuses("label_noise", "type", r"\(1, 2\)"):
        disentanglement_error(size, (1, 2))
    with refuses("label_noise", "mismatch", "3 runs against 4"):
        disentanglement_error(size, random_curves(np.random.default_rng(0), n_runs=3)[1])
    with refuses("dataset_size", "empty"):
        disentanglement_error(Curves([0.5], [0.5], [0.5], [1.0]), noise)
    with refuses("aggregate", "choice", "median"):
        disentanglement_error(size, noise, aggregate="median")
    with refuses("level", "range"):
        disentanglement_error(size, noise, level=95)
    with refuses("n_draws", "range"):
        disentanglement_error(size, noise, n_draws=0)


def test_dict_is_strict_json():
    size, noise = random_curves(np.random.default_rng(0), n_runs=1)
    fields = json.loads(json.dumps(disentanglement_error(size, noise).to_dict(), allow_nan=False))
    assert fields["error"]["low"] is None
    assert len(fields["terms"]) == 4


# -- other implementations and the paper ---------------------------------------------------------------------------------


def pip_package_error(correlations):
    """The formula of the package disentanglement-error 0.1.6 (MIT): the noise-aleatoric term twice, size-epistemic never."""
    size_aleatoric, _, noise_aleatoric, noise_epistemic = np.asarray(correlations).T
    terms = (abs(noise_aleatoric - 1), abs(noise_aleatoric - 1), abs(size_aleatoric), abs(noise_epistemic))
    return sum(term.mean() for term in terms) / 4


def test_side_by_side_with_the_pip_package():
    """An epistemic estimate of pure noise is not punished by the package, because it leaves out the term that should be 1.

    disentanglement-error 0.1.6 itself, run on these five runs by a model that returns these curves, gives .13561439 with
    the four correlations of `disentanglement_error`; the definition gives .44989127.
    """
    rng = np.random.default_rng(0)
    accuracy = [rng.random((5, 7)), rng.random((5, 11))]
    aleatoric = [rng.random((5, 7)), 1 - accuracy[1] + 0.05 * rng.random((5, 11))]
    epistemic = [rng.random((5, 7)), rng.random((5, 11))]
    size, noise = (Curves(accuracy[k], aleatoric[k], epistemic[k], (SHARES, LEVELS)[k]) for k in (0, 1))
    result = disentanglement_error(size, noise)
    correlations = np.stack([term.per_run for term in result.terms], axis=1)
    assert pip_package_error(correlations) == pytest.approx(0.13561439, abs=1e-8)
    assert float(result.error) == pytest.approx(0.44989127, abs=1e-8)


def printed_correlations(dataset, method, decomposition):
    found = []
    for name in ("disentanglement_table3_dataset_size_pcc", "disentanglement_table4_label_noise_pcc"):
        for uncertainty in ("aleatoric", "epistemic"):
            rows = [
                row["pcc"]
                for row in printed_table(name)
                if (row["dataset"], row["method"], row["decomposition"], row["uncertainty"])
                == (dataset, method, decomposition, uncertainty)
            ]
            found.append(float(rows[0]))
    return found


@pytest.mark.parametrize(
    ("method", "decomposition", "recombined"),
    [
        ("MC-Dropout", "IT", 0.519),
        ("Deep Ensemble", "IT", 0.413),
        ("DropConnect", "IT", 0.397),
        ("Flipout", "IT", 0.265),
        ("MC-Dropout", "GL", 0.912),
        ("Deep Ensemble", "GL", 0.435),
    ],
)
def test_recombined_tables_of_the_paper(method, decomposition, recombined):
    """Tables 3 and 4 hold correlations of run-averaged curves, so they do not recombine into Table 2."""
    methods = {row["method"] for row in printed_table("disentanglement_table2_error")}
    name = next(one for one in methods if method.split()[-1].lower().rstrip("s") in one.lower())
    correlations = printed_correlations("Wine", name, decomposition)
    assert recombined_error(correlations) == pytest.approx(recombined, abs=0.0006)
    printed = next(
        float(row["error"])
        for row in printed_table("disentanglement_table2_error")
        if (row["decomposition"], row["method"], row["dataset"]) == (decomposition, name, "Wine")
    )
    assert abs(printed - recombined) > 0.01


def test_recombined_error_refuses():
    with refuses("correlations", "mismatch"):
        recombined_error([1.0, 0.0])
    with refuses("correlations", "range"):
        recombined_error([1.0, 0.0, 1.0, 1.5])
    with refuses("correlations", "range"):
        recombined_error([1.0, 0.0, 1.0, np.nan])
    assert recombined_error([0.2, 0.5, 0.9, -0.4], aggregate="sum") == pytest.approx(0.2 + 0.5 + 0.1 + 0.4)


def test_expected_absolute_correlation_is_what_the_floor_holds():
    result = disentanglement_error(*random_curves(np.random.default_rng(0)))
    jitter = expected_absolute_correlation(7) + expected_absolute_correlation(11)
    assert result.floor == pytest.approx(jitter / 4)
    assert result.chance == pytest.approx((2 + jitter) / 4)

"""Disentanglement error and correlations of estimates: against SciPy, printed cells and loops."""

import json
from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats
from tests.notes import codes, said
from tests.refusals import refuses

from uqassay.lab.papers.paper_tables import printed_table
from uqassay.metrics import (
    below_chance_test,
    disentanglement_error,
    estimate_correlations,
    expected_absolute_correlation,
    paired_disentanglement_test,
    recombined_error,
    swap_test,
)
from uqassay.metrics.disentanglement import IDEALS, Curves, constant_curves
from uqassay.statistics import mean_correlation_estimate, mean_estimate, paired_mean_test

# -- disentanglement -------------------------------------------------------------------------------------------------


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


# -- disentanglement curves ------------------------------------------------------------------------------------------


C = [0.1, 0.5, 1.0]


def test_one_run_may_be_flat():
    curves = Curves([0.5, 0.7, 0.9], [1, 2, 3], np.array([3, 2, 2], dtype=np.int64), conditions=np.array(C))
    assert curves.accuracy.shape == curves.epistemic.shape == (1, 3)
    assert curves.epistemic.dtype == np.float64
    assert (curves.n_runs, curves.n_conditions, curves.conditions) == (1, 3, (0.1, 0.5, 1.0))


def test_given_arrays_stay_as_they_are():
    accuracy = np.array([[0.1, 0.2, 0.3]])
    curves = Curves(accuracy, accuracy, accuracy, C)
    accuracy[0, 0] = 9.0
    assert curves.accuracy[0, 0] == 0.1


def test_swapped_and_pooled():
    rng = np.random.default_rng(1)
    curves = Curves(*rng.random((3, 2, 3)).astype(np.float32), conditions=C)
    assert (curves.swapped.aleatoric == curves.epistemic).all()
    assert (curves.swapped.epistemic == curves.aleatoric).all()
    np.testing.assert_allclose(curves.pooled.epistemic, curves.epistemic.mean(axis=0)[np.newaxis])
    assert curves.pooled.rounding == curves.swapped.rounding == curves.rounding > 1e-9


def test_nan_is_refused_by_run_and_condition():
    values = np.random.default_rng(0).random((2, 3))
    broken = values.copy()
    broken[1, 2] = np.nan
    with refuses("epistemic", "finite", "run 1, condition 2 holds nan"):
        Curves(values, values, broken, C)
    broken[0, 1] = np.inf
    with refuses("accuracy", "finite", "run 0, condition 1 holds inf"):
        Curves(broken, values, values, C)


def test_shapes_are_refused():
    values = np.zeros((2, 3))
    with refuses("aleatoric", "mismatch", r"\(2, 2\) against \(2, 3\)"):
        Curves(values, values[:, :2], values, C)
    with refuses("conditions", "mismatch", "2"):
        Curves(values, values, values, C[:2])
    with refuses("accuracy", "shape", r"\(2, 3, 1\)"):
        Curves(values[..., None], values, values, C)
    with refuses("accuracy", "shape", r"\(0, 3\)"):
        Curves(values[:0], values[:0], values[:0], C)
    with refuses("accuracy", "shape", r"\(2, 0\)"):
        Curves(values[:, :0], values[:, :0], values[:, :0], [])
    with refuses("accuracy", "ragged"):
        Curves([[1, 2], [1]], values, values, C)
    with refuses("aleatoric", "missing"):
        Curves(values, None, values, C)
    with refuses("conditions", "type"):
        Curves(values, values, values, ["a", "b", "c"])


def test_constants():
    rng = np.random.default_rng(2)
    accuracy, epistemic = rng.random((2, 3)), rng.random((2, 3))
    accuracy[0] = 0.9
    curves = Curves(accuracy, np.array([[1, 2, 3], [2, 2, 2]]), epistemic, C)
    still_accuracy, still = constant_curves(curves)
    assert still_accuracy.tolist() == [[True], [False]]
    assert still.tolist() == [[False, False], [True, False]]
    zeros = Curves(accuracy, np.zeros((2, 3)), np.zeros((2, 3)), C)
    assert constant_curves(zeros)[1].all()


@pytest.mark.parametrize("n", [2, 3, 4, 7, 11, 400])
def test_expected_absolute_correlation_against_simulation(n):
    rng = np.random.default_rng(n)
    x = np.arange(n) - (n - 1) / 2
    y = rng.normal(size=(20_000, n))
    y -= y.mean(axis=1, keepdims=True)
    r = np.abs(y @ x) / np.linalg.norm(x) / np.linalg.norm(y, axis=1)
    assert expected_absolute_correlation(n) == pytest.approx(r.mean(), abs=4 * r.std() / 20_000**0.5 + 1e-12)


def test_expected_absolute_correlation_of_one_condition_is_refused():
    with refuses("n", "range", "1"):
        expected_absolute_correlation(1)


def test_conditions_and_rounding_are_checked():
    with refuses("conditions", "finite", got="nan"):
        Curves([1, 2], [1, 2], [1, 2], conditions=[0, np.nan])
    for rounding in (-1, np.nan, 1, "x"):
        with refuses("rounding", "type" if rounding == "x" else "range"):
            Curves([1, 2], [1, 2], [1, 2], conditions=[0, 1], rounding=rounding)


# -- disentanglement tests -------------------------------------------------------------------------------------------


def disentanglement_tests_random_curves(rng, n_runs, sizes=(7, 11)):
    return tuple(Curves(*rng.random((3, n_runs, n)), conditions=range(n)) for n in sizes)


def with_accuracy(curves, accuracy):
    return Curves(accuracy, curves.aleatoric, curves.epistemic, curves.conditions)


def all_errors(size, noise, *, per_run):
    """Errors under every permutation of the accuracy, one for all runs or one for each, by brute force."""
    found = []
    choices = [list(permutations(range(one.n_conditions))) for one in (size, noise)]
    repeat = size.n_runs if per_run else 1
    for orders in product(product(choices[0], repeat=repeat), product(choices[1], repeat=repeat)):
        turned = []
        for one, rows in zip((size, noise), orders, strict=True):
            rows = rows if per_run else rows * one.n_runs
            turned.append(with_accuracy(one, np.stack([a[list(o)] for a, o in zip(one.accuracy, rows, strict=True)])))
        found.append(float(disentanglement_error(*turned, n_draws=1).error))
    return np.array(found)


@pytest.mark.parametrize(("permuted", "n_runs", "sizes"), [("conditions", 2, (3, 4)), ("runs", 2, (2, 3))])
def test_below_chance_against_brute_force(permuted, n_runs, sizes):
    size, noise = disentanglement_tests_random_curves(np.random.default_rng(1), n_runs, sizes)
    null = all_errors(size, noise, per_run=permuted == "runs")
    test = below_chance_test(size, noise, permuted=permuted)
    assert test.exact
    np.testing.assert_allclose(np.sort(test.null), np.sort(null), atol=1e-12)
    observed = float(disentanglement_error(size, noise).error)
    assert test.statistic == pytest.approx(observed)
    assert test.pvalue == pytest.approx(np.mean(null <= observed + 1e-12))
    assert (test.alternative, test.n) == ("less", n_runs)


@pytest.mark.parametrize("permuted", ["conditions", "runs"])
def test_below_chance_by_draws_against_exact(permuted, monkeypatch):
    size, noise = disentanglement_tests_random_curves(np.random.default_rng(2), 1, (5, 4))
    exact = below_chance_test(size, noise, permuted=permuted)
    assert exact.exact
    assert exact.n_draws == 120 * 24
    monkeypatch.setattr("uqassay.metrics.disentanglement._MOST_EXACT", 0)
    drawn = below_chance_test(size, noise, permuted=permuted, n_draws=20_000)
    assert not drawn.exact
    assert drawn.pvalue == pytest.approx(exact.pvalue, abs=4 * np.sqrt(exact.pvalue * (1 - exact.pvalue) / 20_000))
    assert drawn.null.mean() == pytest.approx(exact.null.mean(), abs=0.01)


def test_below_chance_draws_do_not_depend_on_their_number():
    curves = disentanglement_tests_random_curves(np.random.default_rng(3), 3)
    few, many = (below_chance_test(*curves, n_draws=n, rng=5) for n in (600, 1200))
    np.testing.assert_allclose(few.null, many.null[:600], atol=1e-14)
    assert below_chance_test(*curves, n_draws=600, rng=5).pvalue == few.pvalue
    assert below_chance_test(*curves, n_draws=600, rng=6).pvalue != few.pvalue


def test_below_chance_mean_of_the_null_is_chance():
    rng = np.random.default_rng(4)
    size, noise = (Curves(rng.random((1, n)), *rng.normal(size=(2, 1, n)), conditions=range(n)) for n in (7, 11))
    test = below_chance_test(size, noise, n_draws=20_000)
    assert test.null.mean() == pytest.approx(disentanglement_error(size, noise).chance, abs=0.02)


def test_below_chance_of_constant_estimates_is_undecided():
    """All four correlations are 0 under every permutation."""
    accuracy, still = np.random.default_rng(0).random((2, 7)), np.ones((2, 7))
    curves = Curves(accuracy, still, still, range(7))
    test = below_chance_test(curves, curves, n_draws=99)
    assert (test.statistic, test.pvalue) == (0.5, 1.0)


def test_below_chance_refusals():
    size, noise = disentanglement_tests_random_curves(np.random.default_rng(0), 2)
    with refuses("label_noise", "missing"):
        below_chance_test(size, None)
    with refuses("permuted", "choice", "shared"):
        below_chance_test(size, noise, permuted="shared")
    with refuses("n_draws", "range"):
        below_chance_test(size, noise, n_draws=0)
    with refuses("alpha", "range"):
        below_chance_test(size, noise, n_draws=9).reject(5)


def test_swap_against_brute_force():
    size, noise = disentanglement_tests_random_curves(np.random.default_rng(5), 6)
    differences = (
        disentanglement_error(size, noise).per_run - disentanglement_error(size.swapped, noise.swapped).per_run
    )
    test = swap_test(size, noise)
    means = np.array([np.dot(signs, differences) / 6 for signs in product((1, -1), repeat=6)])
    assert test.statistic == pytest.approx(differences.mean())
    assert test.pvalue == pytest.approx(np.mean(means <= differences.mean() + 1e-12))
    assert test.n_draws == 64
    assert swap_test(size.swapped, noise.swapped).statistic == pytest.approx(-test.statistic)


def test_swap_of_one_estimate_given_twice():
    rng = np.random.default_rng(6)
    size, noise = (Curves(*rng.random((2, 5, n))[[0, 1, 1]], conditions=range(n)) for n in (7, 11))
    test = swap_test(size, noise)
    assert (test.statistic, test.pvalue) == (0.0, 1.0)


def test_swap_of_many_runs_draws_signs():
    curves = disentanglement_tests_random_curves(np.random.default_rng(7), 16)
    test = swap_test(*curves, n_draws=500, rng=1)
    assert (test.exact, test.n_draws) == (False, 500)
    assert swap_test(*curves, n_draws=500, rng=1).pvalue == test.pvalue


def test_swap_of_four_runs_cannot_reach_five_percent():
    test = swap_test(*disentanglement_tests_random_curves(np.random.default_rng(8), 4))
    assert test.smallest_pvalue == 1 / 16
    assert codes(test) == ["few"]


def test_paired_against_the_t_test_and_brute_force():
    rng = np.random.default_rng(9)
    a, b = (disentanglement_error(*disentanglement_tests_random_curves(rng, 6)) for _ in range(2))
    test = paired_disentanglement_test(a, b)
    expected = paired_mean_test(a.per_run, b.per_run)
    assert (test.statistic, test.pvalue) == (expected.statistic, expected.pvalue)
    assert (float(test.difference), test.difference.low) == (float(expected.difference), expected.difference.low)
    differences = a.per_run - b.per_run
    means = np.array([np.dot(signs, differences) for signs in product((1, -1), repeat=6)])
    assert test.sign_flips.pvalue == pytest.approx(np.mean(np.abs(means) >= abs(differences.sum()) - 1e-12))
    from_arrays = paired_disentanglement_test(a.per_run, b.per_run.tolist())
    assert from_arrays.pvalue == test.pvalue
    assert test.reject(0.9999)
    json.dumps(test.to_dict(), allow_nan=False)


def test_paired_of_one_run_and_of_equal_methods():
    test = paired_disentanglement_test([0.4], [0.5])
    assert np.isnan([test.pvalue, test.difference.low]).all()
    assert not test.reject()
    assert codes(test) == ["no-test"]
    same = paired_disentanglement_test([0.4, 0.5], [0.4, 0.5])
    assert (float(same.difference), same.pvalue, same.sign_flips.pvalue) == (0.0, 1.0, 1.0)


def test_paired_refusals():
    rng = np.random.default_rng(10)
    curves = disentanglement_tests_random_curves(rng, 3)
    a = disentanglement_error(*curves)
    with refuses("b", "mismatch", "got 4, not 3"):
        paired_disentanglement_test(a, disentanglement_error(*disentanglement_tests_random_curves(rng, 4)))
    with refuses("b", "mismatch", "sum against mean"):
        paired_disentanglement_test(a, disentanglement_error(*curves, aggregate="sum"))
    with refuses("b", "mismatch"):
        paired_disentanglement_test(a, disentanglement_error(*disentanglement_tests_random_curves(rng, 3, (6, 11))))
    with refuses("a", "finite"):
        paired_disentanglement_test([np.nan, 0.1], [0.1, 0.2])
    with refuses("b", "shape"):
        paired_disentanglement_test([0.2, 0.1], [[0.1, 0.2]])


def test_equal_differences_are_tested_by_sign_flips():
    """The t test has no spread then: p = 0 from two runs, although two runs agree by chance."""
    for n_runs, expected in ((2, 0.5), (5, 0.0625)):
        test = paired_disentanglement_test(np.full(n_runs, 0.3), np.full(n_runs, 0.4))
        assert test.pvalue == test.sign_flips.pvalue == expected
    assert np.isnan(paired_disentanglement_test([0.3], [0.4]).pvalue)


# Correlations of every estimate with every other, against scipy.


@pytest.fixture
def three(random_generator):
    """Three estimates of 4 runs and 60 instances; the second follows the first, the third has ties."""
    first = random_generator.gamma(2.0, 1.0, (4, 60))
    return {
        "aleatoric": first,
        "epistemic": first**2 + random_generator.normal(0, 2, (4, 60)),
        "votes": random_generator.integers(0, 4, (4, 60)),
    }


def test_against_scipy_with_ties(three):
    found = estimate_correlations(three)
    values = list(three.values())
    for r in range(4):
        expected = stats.spearmanr(np.stack([v[r] for v in values], axis=1)).statistic
        np.testing.assert_allclose(found.per_run[r], expected, atol=1e-13)
    np.testing.assert_allclose(
        found.matrix, np.tanh(np.arctanh(np.clip(found.per_run, -1, 1 - 1e-6)).mean(axis=0)), atol=2e-6
    )
    assert found.matrix[0, 1] == found.matrix[1, 0]
    assert found.between("aleatoric", "epistemic").low > 0.5
    assert len(found.rows()) == 3


def test_scope_of_the_interval(three):
    both, runs = (estimate_correlations(three, scope=scope) for scope in ("runs-and-instances", "runs"))
    wide, narrow = (found.between("epistemic", "votes") for found in (both, runs))
    assert float(wide) == float(narrow)
    assert wide.high - wide.low > narrow.high - narrow.low


def test_constant_estimates_are_nan_with_a_note(three):
    three["flat"] = np.vstack([np.ones((1, 60)), three["votes"][1:]])
    found = estimate_correlations(three)
    assert np.isnan(found.matrix[3]).all()
    assert np.isfinite(found.matrix[:3, :3]).all()
    assert found.constant.tolist()[0] == [False, False, False, True]
    assert "undefined" in codes(found)
    assert "flat is constant in 1 of 4 runs" in said(found.between("flat", "votes"))
    assert np.isfinite(found.per_run[1, 3, 2])


def test_same_order_is_one_without_width(three):
    found = estimate_correlations({"a": three["aleatoric"], "b": np.exp(three["aleatoric"]), "c": -three["aleatoric"]})
    assert float(found.between("a", "b")) == 1.0
    assert float(found.between("a", "c")) == -1.0
    assert codes(found.between("a", "c")) == ["no-width"]


def test_one_run_and_infinite_values(three):
    alone = estimate_correlations({name: values[0].astype(np.float32) for name, values in three.items()})
    assert codes(alone.between("aleatoric", "votes")) == ["no-interval"]
    infinite = {**three, "aleatoric": np.where(three["aleatoric"] > 4, np.inf, three["aleatoric"])}
    assert np.isfinite(estimate_correlations(infinite).matrix).all()


def test_refusals(three):
    with refuses("estimates", "empty", got="1"):
        estimate_correlations({"a": [1, 2]})
    with refuses("estimates", "empty"):
        estimate_correlations({"a": [1], "b": [1]})
    with refuses("scope", "choice"):
        estimate_correlations(three, scope="all")
    with refuses("estimate", "choice"):
        estimate_correlations(three).between("aleatoric", "total")


def test_a_list_is_refused():
    with refuses("estimates", "type"):
        estimate_correlations([[1, 2, 3], [1, 3, 2]])

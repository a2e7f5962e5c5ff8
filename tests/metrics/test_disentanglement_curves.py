import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.metrics import expected_absolute_correlation
from uqassay.metrics.disentanglement import Curves, constant_curves, curve_correlations

C = [0.1, 0.5, 1.0]


def test_one_run_may_be_flat():
    curves = Curves([0.5, 0.7, 0.9], [1, 2, 3], np.array([3, 2, 2], dtype=np.int64), conditions=np.array(C))
    assert curves.accuracy.shape == curves.epistemic.shape == (1, 3)
    assert curves.epistemic.dtype == np.float64
    assert (curves.n_runs, curves.n_conditions, curves.conditions) == (1, 3, (0.1, 0.5, 1.0))


@pytest.mark.parametrize("change", ["float16", "list", "read-only", "not contiguous", "float32"])
def test_odd_arrays(change):
    rng = np.random.default_rng(0)
    arrays = rng.random((3, 4, 5)).round(2)
    turned = {
        "float16": lambda a: a.astype(np.float16),
        "float32": lambda a: a.astype(np.float32),
        "list": lambda a: a.tolist(),
        "read-only": np.copy,
        "not contiguous": lambda a: np.asfortranarray(np.repeat(a, 2, axis=1))[:, ::2],
    }[change]
    given = [turned(a) for a in arrays]
    if change == "read-only":
        for a in given:
            a.flags.writeable = False
    expected = Curves(*arrays, conditions=range(5))
    found = Curves(*given, conditions=range(5))
    r, constant = curve_correlations(found, found)
    np.testing.assert_allclose(r, curve_correlations(expected, expected)[0], atol=2e-3 if change == "float16" else 1e-6)
    assert not constant.any()


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

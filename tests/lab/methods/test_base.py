"""What every method refuses, and where its seeds come from."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab import methods
from uqassay.lab.methods import RandomForest, StandardNetwork
from uqassay.lab.methods.base import seed_sequence

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 2


def quick(**options):
    return StandardNetwork(backbone=(4,), epochs=2, **options)


@pytest.mark.parametrize("make", [quick, RandomForest])
def test_one_class_only(make):
    with refuses("y", "empty", got="got one class, 'a', in 12 labels"):
        make().fit(X, ["a"] * 12)


@pytest.mark.parametrize(("value", "shown"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "-inf")])
@pytest.mark.parametrize("make", [quick, RandomForest])
def test_non_finite_inputs_are_named(make, value, shown):
    broken = X.copy()
    broken[3, 1] = value
    with refuses("X", "finite", got=rf"row 3 holds {shown} at \[3, 1\]"):
        make().fit(broken, Y)
    fitted = make().fit(X, Y)
    with refuses("X", "finite", got=rf"row 3 holds {shown}"):
        fitted.predict(broken)


def test_finite_values_beyond_single_precision():
    large = np.full((4, 2), 1e308) * [[1], [-1], [1], [1]]
    for standardise in (True, False):
        with refuses("X", "range", got="row 0"):
            quick(standardise=standardise).fit(large, [0, 1, 0, 1])


def test_missing_labels_and_wrong_shapes():
    with refuses("y", "missing"):
        quick().fit(X, None)
    fitted = quick().fit(X.reshape(12, 2, 1), Y)
    with refuses("X", "shape", got=r"got \(2, 2\)"):
        fitted.predict(np.zeros((3, 2, 2)))


@pytest.mark.parametrize("labels", [["no", "yes"] * 6, [True, False] * 6, [-7, 5] * 6, [0.0, 1.0] * 6])
def test_labels_of_any_kind_come_back(labels):
    fitted = quick().fit(X, labels)
    np.testing.assert_array_equal(fitted.classes_, np.unique(labels))
    assert set(fitted.predict(X).tolist()) <= set(labels)
    assert fitted.predict_uncertainty(X).class_names == tuple(str(c) for c in np.unique(labels).tolist())


@pytest.mark.parametrize(("labels", "kinds"), [(["a", None] * 6, "NoneType and str"), ([1, "a"] * 6, "int and str")])
@pytest.mark.parametrize("make", [quick, RandomForest])
def test_labels_of_two_kinds_are_refused(make, labels, kinds):
    with refuses("y", "type", got=f"got {kinds}"):
        make().fit(X, np.array(labels, dtype=object))


def test_one_value_beyond_squares_is_not_turned_to_zeros():
    broken = X.copy()
    broken[3, 1] = np.finfo(np.float64).max  # a mark of missing values
    with refuses("X", "range", got="row 3"):
        quick().fit(broken, Y)


def test_small_spread_far_from_zero_is_no_constant():
    fitted = quick().fit(1e5 + 1e-3 * X, Y)
    np.testing.assert_allclose(fitted.spread_, 1e-3 * X.std(axis=0), rtol=1e-6)
    constant = quick().fit(np.column_stack([X[:, 0], np.full(12, 0.1)]), Y)
    assert constant.spread_[1] == 1.0


def test_seeds():
    np.testing.assert_array_equal(seed_sequence(None).generate_state(3), seed_sequence(0).generate_state(3))
    np.testing.assert_array_equal(seed_sequence(5).generate_state(3), np.random.SeedSequence(5).generate_state(3))
    for make in (np.random.default_rng, np.random.RandomState):
        a, b = seed_sequence(make(1)), seed_sequence(make(1))
        np.testing.assert_array_equal(a.generate_state(2), b.generate_state(2))
        generator = make(1)
        assert seed_sequence(generator).entropy != seed_sequence(generator).entropy
    for wrong in (-1, 0.5, True, "0"):
        with refuses("random_state", "range", got="must be a whole number from 0 up"):
            seed_sequence(wrong)


# -- classes that y lacks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["StandardNetwork", "RandomForest", "Bagging", "DDU", "RSNN"])
def test_classes_that_y_lacks_keep_their_place(name):
    codes = np.arange(60) % 4
    x, y = np.random.default_rng(0).normal(size=(60, 2)) + 3.0 * codes[:, None], np.array(list("abcd"))[codes]
    method = getattr(methods, name)(classes=("d", "a", "c", "b"))
    quick = {"epochs": 20, "learning_rate": 0.02, "n_members": 3, "progress": False}
    method.set_params(**{key: value for key, value in quick.items() if key in method.get_params()})
    method.fit(x[y != "b"], y[y != "b"])
    assert method.classes_.tolist() == list("abcd")
    probs = method.predict_proba(x)
    assert probs.shape == (60, 4)
    assert probs[y == "c", 2].mean() > probs[y == "c"][:, [0, 1, 3]].mean()
    if name in ("RandomForest", "Bagging"):
        assert (probs[:, 1] == 0).all()


@pytest.mark.parametrize(
    ("classes", "code", "got"),
    [((0, 1), "mismatch", "2 is missing"), (("0", "1", "2"), "type", "y holds 0"), ([[0, 1, 2]], "shape", r"\(1, 3\)")],
)
def test_classes_that_do_not_fit_the_labels(classes, code, got):
    with refuses("classes", code, got=got):
        RandomForest(n_members=2, classes=classes).fit(np.zeros((6, 1)), [0, 1, 2] * 2)

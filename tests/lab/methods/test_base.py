"""What every method refuses, where its seeds come from, and scikit-learn's own checks of an estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_classifiers_train, parametrize_with_checks
from tests.refusals import refuses

from uqassay.credal.budget import ellipsoid_cells
from uqassay.lab import methods
from uqassay.lab.methods import METHODS, RandomForest, StandardNetwork, build_method
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


# -- scikit-learn's own checks of an estimator, for every method that the registry lists --------------------------------


# fewer and longer steps than by default, so that the checks take seconds
QUICK = {"epochs": 5, "learning_rate": 0.1, "n_members": 2, "n_samples": 3, "n_inducing": 20}
SHORT_STEPS = {"e-cnn": {"epochs": 20, "learning_rate": 0.02}}
# check that is expected to fail, by method, with the reason
# the same for all methods with a head of Gaussian logits
DRAWN = dict.fromkeys(
    ("check_methods_subset_invariance", "check_methods_sample_order_invariance"),
    "the mean softmax of Gaussian logits has no closed form; its draws belong to the place of a row in X",
)
EXPECTED_FAILURES: dict[str, dict[str, str]] = {}
NOT_RANDOM = ("local-gp",)  # the seed changes nothing


def quick_for_checks(name: str):
    method = build_method(name)
    options = QUICK | SHORT_STEPS.get(name, {})
    return method.set_params(**{k: v for k, v in options.items() if k in method.get_params()})


def distinct() -> list[str]:
    """One name for each class, since others differ in options alone, and one with the head of Gaussian logits."""
    return [*{info.class_name: name for name, info in reversed(METHODS.items())}.values(), "mc-dropout-gaussian"]


def expected_failures(estimator) -> dict[str, str]:
    head = getattr(estimator, "head", None)
    name = next(name for name, info in METHODS.items() if info.class_name == type(estimator).__name__)
    return EXPECTED_FAILURES.get(name, {}) | (DRAWN if head == "gaussian-logits" else {})


CHECKS = parametrize_with_checks(
    [quick_for_checks(name) for name in distinct()], expected_failed_checks=expected_failures
)


# checks of what `fit` and `predict` take, and of the forms of arrays; all networks have both from one class
OF_THE_INPUT = {
    "check_classifier_data_not_an_array",
    "check_dict_unchanged",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_f_contiguous_array_estimator",
    "check_fit2d_predict1d",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_supervised_y_2d",
}


def with_own_input() -> list[type]:
    """The first class of each `fit` and `predict_uncertainty`."""
    classes = [type(quick_for_checks(name)) for name in METHODS]
    return list({(each.fit, each.predict_uncertainty): each for each in reversed(classes)}.values())


FIRST = with_own_input()


def is_told_by_others(pair) -> bool:
    """Training on read-only float64, which the check on read-only float32 and `check_readonly_memmap_input` find; checks of the
    input, which another class takes by the same code.
    """
    estimator, check = getattr(pair, "values", pair)
    trains = check.func is check_classifiers_train and "readonly_memmap" in check.keywords
    if trains and "X_dtype" not in check.keywords:
        return True
    return type(estimator) not in FIRST and (trains or check.func.__name__ in OF_THE_INPUT)


@pytest.fixture(autouse=True, scope="module")
def _little_work():
    """Few random points and draws in the methods that take many, whatever the number of instances."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("uqassay.credal.events.ellipsoid_cells", few_points)
        patched.setattr("uqassay.lab.methods.laplace.ALL_DRAWS", 400)
        yield


def few_points(x, y, n_classes, level, n_points, rng):
    return ellipsoid_cells(x, y, n_classes, level, 2_000, rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    CHECKS.args[0], [pair for pair in CHECKS.args[1] if not is_told_by_others(pair)], **CHECKS.kwargs
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_estimator_checks(estimator, check):
    check(estimator)


def blobs(seed=0, n=90, n_classes=3):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    centres = 4.0 * np.array([[0, 0], [1, 1], [-1, 1]])[:n_classes]
    return centres[codes] + rng.normal(size=(n, 2)), np.array(["ash", "birch", "cedar"])[codes]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_learns_blobs_and_names_its_classes(name):
    x, y = blobs()
    method = quick_for_checks(name).fit(x, y)
    np.testing.assert_array_equal(method.classes_, ["ash", "birch", "cedar"])
    said = method.predict_uncertainty(x)
    assert said.class_names == ("ash", "birch", "cedar")
    assert said.n_instances == 90
    assert method.score(x, y) > 0.95
    np.testing.assert_array_equal(method.predict(x), method.classes_[said.labels()])
    np.testing.assert_array_equal(method.predict_proba(x), said.mean_probs())


@pytest.mark.parametrize("name", METHODS)
def test_two_classes_one_instance_and_odd_arrays(name):
    x, y = blobs(n_classes=2, n=40)
    method = quick_for_checks(name).fit(x, y)
    assert method.predict_proba(x[:1]).shape == (1, 2)
    np.testing.assert_allclose(method.predict_proba(x[:1]), method.predict_proba(x)[:1], atol=1e-9)
    frozen = x.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(method.predict_proba(frozen), method.predict_proba(x))
    strided = np.repeat(x, 2, axis=0)[::2]
    np.testing.assert_allclose(method.predict_proba(strided), method.predict_proba(x), atol=1e-12)
    half = x.astype(np.float16)
    again = quick_for_checks(name).fit(half, y)
    np.testing.assert_array_equal(
        again.predict_proba(half), quick_for_checks(name).fit(half.astype(float), y).predict_proba(half)
    )


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_numbers_and_another_seed_others(name):
    x, y = blobs(n=60)
    first = quick_for_checks(name).set_params(random_state=3).fit(x, y)
    second = clone(first).fit(x, y)
    np.testing.assert_array_equal(first.predict_proba(x), second.predict_proba(x))
    np.testing.assert_array_equal(first.predict_proba(x), first.predict_proba(x))
    other = clone(first).set_params(random_state=4).fit(x, y)
    assert np.array_equal(first.predict_proba(x), other.predict_proba(x)) == (name in NOT_RANDOM)


@pytest.mark.parametrize("name", METHODS)
def test_pipeline_and_cross_validation(name):
    x, y = blobs(n=60)
    pipe = make_pipeline(StandardScaler(), quick_for_checks(name))
    held_out = cross_val_predict(pipe, x, y, cv=2)
    assert (held_out == y).mean() > 0.9

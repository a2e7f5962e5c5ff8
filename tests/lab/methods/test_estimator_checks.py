"""scikit-learn's own checks of an estimator, for every method that the registry lists."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_classifiers_train, parametrize_with_checks

from uqassay.credal.budget import ellipsoid_cells
from uqassay.lab.methods import METHODS, build_method

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


def quick(name: str):
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


CHECKS = parametrize_with_checks([quick(name) for name in distinct()], expected_failed_checks=expected_failures)


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
    classes = [type(quick(name)) for name in METHODS]
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
    method = quick(name).fit(x, y)
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
    method = quick(name).fit(x, y)
    assert method.predict_proba(x[:1]).shape == (1, 2)
    np.testing.assert_allclose(method.predict_proba(x[:1]), method.predict_proba(x)[:1], atol=1e-9)
    frozen = x.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(method.predict_proba(frozen), method.predict_proba(x))
    strided = np.repeat(x, 2, axis=0)[::2]
    np.testing.assert_allclose(method.predict_proba(strided), method.predict_proba(x), atol=1e-12)
    half = x.astype(np.float16)
    again = quick(name).fit(half, y)
    np.testing.assert_array_equal(again.predict_proba(half), quick(name).fit(half.astype(float), y).predict_proba(half))


@pytest.mark.parametrize("name", METHODS)
def test_same_seed_same_numbers_and_another_seed_others(name):
    x, y = blobs(n=60)
    first = quick(name).set_params(random_state=3).fit(x, y)
    second = clone(first).fit(x, y)
    np.testing.assert_array_equal(first.predict_proba(x), second.predict_proba(x))
    np.testing.assert_array_equal(first.predict_proba(x), first.predict_proba(x))
    other = clone(first).set_params(random_state=4).fit(x, y)
    assert np.array_equal(first.predict_proba(x), other.predict_proba(x)) == (name in NOT_RANDOM)


@pytest.mark.parametrize("name", METHODS)
def test_pipeline_and_cross_validation(name):
    x, y = blobs(n=60)
    pipe = make_pipeline(StandardScaler(), quick(name))
    held_out = cross_val_predict(pipe, x, y, cv=2)
    assert (held_out == y).mean() > 0.9

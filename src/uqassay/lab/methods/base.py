"""The base class of all methods: a scikit-learn classifier that also states its uncertainty."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from uqassay.checks import fail
from uqassay.errors import InputError
from uqassay.predictions import Prediction

__all__ = ["UncertaintyClassifier", "seed_sequence"]

RandomState = int | np.random.Generator | np.random.RandomState | None


class UncertaintyClassifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier with `fit`, `predict`, `predict_proba` and `predict_uncertainty`.

    Attributes
    ----------
    classes_ : array (K,)
        The distinct labels of the training instances, or `classes` where given, sorted; the columns of predictions are in this
        order.
    n_features_in_ : int
        Size of the second axis of X.
    """

    classes: Any = None
    classes_: NDArray[Any]

    @abstractmethod
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from instances ``(n, …)`` and their labels ``(n,)``."""

    @abstractmethod
    def predict_uncertainty(self, X: ArrayLike) -> Prediction:
        """The prediction for each instance, with its uncertainty."""

    @abstractmethod
    def check_options(self, input_shape: tuple[int, ...] | None = None, n_classes: int | None = None) -> None:
        """Refuse options that are out of range; nothing is trained. `fit` calls this first.

        Parameters
        ----------
        input_shape : tuple of int, optional
            Shape of one instance; with it, options that depend on that shape are checked too.
        n_classes : int, optional
            With it, options that depend on the number of classes are checked too.
        """

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """One distribution over the classes for each instance, ``(n, K)``: `Prediction.mean_probs`."""
        return self.predict_uncertainty(X).mean_probs()

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable label of each instance, ``(n,)``."""
        labels = self.predict_uncertainty(X).labels()
        chosen: NDArray[Any] = self.classes_[labels]
        return chosen

    @property
    def class_names_(self) -> tuple[str, ...]:
        """The labels as text, for the class names of predictions."""
        return tuple(str(label) for label in self.classes_.tolist())

    def _checked_training(self, X: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """X as an array of finite floats, and y as indices of `classes_`, which is set here."""
        if y is None:
            raise InputError(
                "y",
                f"{type(self).__name__} requires y to be passed, but the target y is None",  # words of scikit-learn's checks
                "",
                "give labels",
                code="missing",
            )
        array, labels = validate_data(
            self, X, y, dtype=[np.float64, np.float32], allow_nd=True, ensure_all_finite=False, ensure_min_samples=1
        )
        _refuse_non_finite(array)
        present, codes = _sorted_labels("y", labels)
        check_classification_targets(labels)
        self.classes_ = present
        if self.classes is not None:
            self.classes_, _ = _sorted_labels("classes", self.classes)
            codes = _among(present, self.classes_)[codes]
        if len(self.classes_) < 2:
            fail(
                "y",
                "needs at least two classes",
                f"got one class, {self.classes_.tolist()[0]!r}, in {len(labels)} labels",
                "add instances of another class",
                code="empty",
            )
        self.input_shape_ = tuple(array.shape[1:])
        return array, codes.astype(np.int64)

    def _checked_inputs(self, X: ArrayLike) -> NDArray[Any]:
        """X as an array of finite floats whose instances have the shape of the training instances."""
        check_is_fitted(self, "classes_")
        array = validate_data(
            self, X, dtype=[np.float64, np.float32], allow_nd=True, ensure_all_finite=False, reset=False
        )
        if array.shape[1:] != self.input_shape_:
            fail(
                "X",
                f"each instance must have the shape of the training instances, {self.input_shape_}",
                f"got {array.shape[1:]}",
                "reshape X",
                code="shape",
            )
        _refuse_non_finite(array)
        return array


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """The seeds of one `fit`: None means seed 0; a generator gives its next random number."""
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**32)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(2**32, dtype=np.uint32)))
    if random_state is None:
        return np.random.SeedSequence(0)
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.SeedSequence(int(random_state))
    fail(
        "random_state",
        "must be a whole number from 0 up, a generator or None",
        f"got {random_state!r}",
        "give a seed",
        code="range",
    )


def _sorted_labels(name: str, labels: ArrayLike) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The distinct labels, sorted, and the place of each label among them."""
    array = np.asarray(labels)
    if array.ndim != 1:
        fail(name, "must be a list of labels", f"got shape {array.shape}", "give one axis", code="shape")
    try:
        classes, codes = np.unique(array, return_inverse=True)
    except TypeError as problem:
        kinds = sorted({type(label).__name__ for label in array.tolist()})
        raise InputError(
            name,
            "labels must be of one type, so that they can be sorted",
            f"got {' and '.join(kinds)}",
            "fill in missing labels, or convert all to text",
            code="type",
        ) from problem
    return classes, codes


def _among(present: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """The place of each label in y among `classes`."""
    if (present.dtype.kind in "US") != (classes.dtype.kind in "US"):
        got = f"y holds {present.tolist()[0]!r}, classes {classes.tolist()[0]!r}"
        fail("classes", "must be of the type of the labels", got, "convert one of them", code="type")
    unknown = np.setdiff1d(present, classes)
    if len(unknown):
        got = f"{unknown.tolist()[0]!r} is missing"
        fail("classes", "must hold every label of y", got, "add it", code="mismatch")
    return np.searchsorted(classes, present)


def _refuse_non_finite(array: NDArray[Any]) -> None:
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        at = tuple(int(i) for i in wrong[0])
        value = "NaN" if np.isnan(array[at]) else str(array[at])
        fail(
            "X",
            "must hold finite numbers",
            f"row {at[0]} holds {value} at {list(at)}",
            "impute or drop such rows first",
            code="finite",
        )

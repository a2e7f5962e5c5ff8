"""Predictions of fitted classifiers with the interface of scikit-learn. scikit-learn is not imported."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.predictions.base import Prediction
from uqassay.predictions.members import Members
from uqassay.predictions.point import Point

__all__ = ["from_classifier", "is_classifier", "member_probs", "predicted_by_classifiers"]

AVERAGES = 1e-6  # greatest difference between the average of members and what their ensemble predicts


def from_classifier(
    classifier: Any, X: Any, *, members: bool = False, ids: ArrayLike | None = None, groups: ArrayLike | None = None
) -> Prediction:
    """Predict with a fitted classifier of scikit-learn, or of this package.

    Parameters
    ----------
    classifier : object
        With `classes_`, which order the columns, and `predict_proba`: a classifier, a pipeline, a search. One of
        `uqassay.methods` states its own kind of prediction by `predict_uncertainty`.
    X : array (n, D), DataFrame, or what else the classifier takes
    members : bool
        Take the members of an ensemble (the trees of a forest, the estimators of bagging or soft voting) in place of their
        average. The average is what such a classifier predicts; its members span a credal set. Fully grown trees give 0 or 1,
        and such a set says little: set `min_samples_leaf`.
    ids, groups : optional
        Identifiers and groups of the instances; see `Prediction`.

    Returns
    -------
    Point, or Members with `members`
        With the classes as class names, unless they are 0, 1, …, K − 1. The ids are by default the index of a DataFrame, if no
        entry occurs twice; labels in a Series are then aligned to it.

    Raises
    ------
    InputError
        A classifier that is not fitted or has no `predict_proba`, inputs that it refuses, an ensemble that is not the average
        of its members.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> x, y = [[-1.0], [-0.8], [0.8], [1.0]] * 8, ["no", "no", "yes", "yes"] * 8
    >>> forest = RandomForestClassifier(5, min_samples_leaf=4, random_state=0).fit(x, y)
    >>> from_classifier(forest, [[-2.0], [2.0]]).class_names
    ('no', 'yes')
    >>> from_classifier(forest, [[-2.0], [2.0]], members=True)
    Members(probs=(2, 5, 2))
    """
    index: Any = getattr(X, "index", None)
    if ids is None and getattr(index, "nlevels", 0) == 1 and index.is_unique:
        ids = index.to_numpy()
    states = getattr(classifier, "predict_uncertainty", None)
    if callable(states) and not members:
        found: Prediction = _asked(classifier, states, X)
        return found.with_metadata(ids=ids, groups=groups) if ids is not None or groups is not None else found
    classes = _classes(classifier)
    probs = _asked(classifier, classifier.predict_proba, X)
    if isinstance(probs, list):
        raise InputError(
            "classifier",
            "must predict one label for each instance",
            f"got {len(probs)}",
            "judge them one by one",
            code="shape",
        )
    names = None if classes == [str(k) for k in range(len(classes))] else tuple(classes)
    carried: dict[str, Any] = {"class_names": names, "ids": ids, "groups": groups}
    if not members:
        return Point(probs, **carried)
    each = _members(classifier, X)
    if np.abs(each.mean(axis=1) - probs).max() > AVERAGES:
        raise _no_average(classifier)
    return Members(each, **carried)


def is_classifier(value: Any) -> bool:
    """True for objects whose type has the methods of a classifier, fitted or not, and for such a type."""
    kind = value if isinstance(value, type) else type(value)
    methods = [name for name in ("fit", "predict", "predict_proba") if callable(getattr(kind, name, None))]
    return len(methods) > 1


def member_probs(ensemble: Any, X: Any) -> NDArray[np.float64]:
    """Probabilities of every member of a fitted forest, bagging or voting ensemble, ``(n, M, K)``.

    A member that has not seen a class gives it 0.
    """
    features = getattr(ensemble, "estimators_features_", None)
    if not hasattr(ensemble, "named_estimators_"):  # its members were trained on arrays, without names of columns
        X = X.to_numpy() if hasattr(X, "to_numpy") else X if hasattr(X, "tocsr") else np.asarray(X)
    probs = np.zeros((_n_rows(X), len(ensemble.estimators_), len(ensemble.classes_)))
    for m, member in enumerate(ensemble.estimators_):
        seen = np.asarray(member.classes_).astype(np.intp)  # a member numbers the classes of its ensemble
        probs[:, m, seen] = member.predict_proba(X if features is None else X[:, features[m]])
    return probs


def predicted_by_classifiers(predictions: Any, X: Any) -> Any:
    """The same models, with predictions on X in place of classifiers; a classifier alone is named by its type.

    Raises
    ------
    InputError
        A classifier without X, or X without a classifier; what `from_classifier` refuses.
    """
    if is_classifier(predictions):
        predictions = {type(predictions).__name__: predictions}
    found = {}
    for name, value in predictions.items() if isinstance(predictions, Mapping) else ():
        runs = isinstance(value, (list, tuple))
        places = [f"models[{str(name)!r}]" + (f"[{r}]" if runs else "") for r in range(len(value) if runs else 1)]
        taken = list(zip(value if runs else [value], places, strict=True))
        if any(is_classifier(one) for one, _ in taken):
            each = [_predicted(one, X, place) if is_classifier(one) else one for one, place in taken]
            found[name] = each if runs else each[0]
    if X is not None and not found:
        raise InputError(
            "X", "has no effect without a fitted classifier", "got predictions", "leave it out", code="conflict"
        )
    return {name: found.get(name, value) for name, value in predictions.items()} if found else predictions


def _predicted(classifier: Any, X: Any, place: str) -> Prediction:
    if X is None:
        raise InputError(
            "X",
            "is needed, because a classifier is given in place of its predictions",
            f"got none for {place}, a {type(classifier).__name__}",
            "write X=X_test",
            code="missing",
        )
    try:
        return from_classifier(classifier, X)
    except InputError as problem:
        raise (problem.replace(parameter=place) if problem.parameter == "classifier" else problem) from problem


def _classes(classifier: Any) -> list[str]:
    """Names of the classes of a fitted classifier, in the order of its columns."""
    kind = classifier.__name__ if isinstance(classifier, type) else type(classifier).__name__
    if not callable(getattr(classifier, "predict_proba", None)):
        raise InputError(
            "classifier",
            "must have predict_proba",
            f"got {kind}",
            "calibrate it by scikit-learn's CalibratedClassifierCV, or choose a classifier that gives probabilities",
            code="type",
        )
    classes = getattr(classifier, "classes_", None)
    if classes is None or isinstance(classifier, type):
        raise InputError(
            "classifier", "must be fitted", f"got {kind} without classes_", "call fit first", code="missing"
        )
    return [str(name) for name in np.asarray(classes).tolist()] if np.ndim(classes) == 1 else []


def _asked(classifier: Any, method: Any, X: Any) -> Any:
    """What a method of the classifier says of X."""
    wanted, shape = getattr(classifier, "n_features_in_", None), np.shape(X)
    if wanted is not None and len(shape) == 2 and shape[1] != wanted:
        raise InputError(
            "X",
            f"must have the {wanted} columns that {type(classifier).__name__} was fitted to",
            f"got shape {shape}",
            "pass the same features as in fit",
            code="shape",
        )
    try:
        return method(X)
    except (ValueError, TypeError, KeyError) as problem:
        if type(problem).__name__ == "NotFittedError":
            raise InputError(
                "classifier", "must be fitted", f"got {type(classifier).__name__}", "call fit first", code="missing"
            ) from problem
        if isinstance(problem, InputError):
            raise
        said = " ".join(str(problem).split())
        raise InputError(
            "X",
            f"must be inputs that {type(classifier).__name__} takes",
            f"it says: {said}",
            "pass the test inputs",
            code="type",
        ) from problem


def _members(classifier: Any, X: Any) -> NDArray[np.float64]:
    each = list(getattr(classifier, "estimators_", ()))
    numbers = range(len(classifier.classes_))
    if not each or not all(hasattr(one, "predict_proba") and set(one.classes_) <= set(numbers) for one in each):
        raise _no_average(classifier)
    return member_probs(classifier, X)


def _no_average(classifier: Any) -> InputError:
    return InputError(
        "classifier",
        "must predict the plain average of its members' probabilities",
        f"got {type(classifier).__name__}",
        "leave members out",
        code="type",
    )


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)

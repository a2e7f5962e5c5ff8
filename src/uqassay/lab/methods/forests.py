"""scikit-learn's random forest and bagging; each member's probabilities are kept."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier

from uqassay.checks import fail, whole
from uqassay.lab.methods.base import UncertaintyClassifier, seed_sequence
from uqassay.predictions import Members, member_probs

__all__ = ["Bagging", "RandomForest"]


class _SklearnMembers(UncertaintyClassifier):
    """A scikit-learn ensemble, ``ensemble_``; its members' probabilities make the prediction."""

    n_members: int
    n_jobs: int | None
    random_state: Any

    @abstractmethod
    def _new_ensemble(self, seed: int) -> Any:
        """The unfitted ensemble of scikit-learn."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from instances ``(n, D)``, other shapes flattened, and their labels ``(n,)``."""
        self.check_options()
        array, codes = self._checked_training(X, y)
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        self.ensemble_ = self._new_ensemble(seed).fit(array.reshape(len(array), -1), codes)
        return self

    def check_options(self, input_shape: tuple[int, ...] | None = None, n_classes: int | None = None) -> None:
        """Refuse options that are out of range; nothing is trained. `fit` calls this first."""
        whole(self.n_members, "n_members", "for example 10", least=1)
        if self.n_jobs is not None and whole(self.n_jobs, "n_jobs", "None is 1") == 0:
            rule = "must be a whole number other than 0, or None"
            fail("n_jobs", rule, f"got {self.n_jobs!r}", "None is 1", code="type")

    def predict_uncertainty(self, X: ArrayLike) -> Members:
        """The members' probabilities; a member without training instances of a class gives that class 0."""
        array = self._checked_inputs(X)
        flat = array.reshape(len(array), -1)
        probs = np.zeros((len(flat), len(self.ensemble_.estimators_), len(self.classes_)))
        probs[:, :, self.ensemble_.classes_] = member_probs(self.ensemble_, flat)
        return Members(probs, class_names=self.class_names_)


@dataclass(kw_only=True, eq=False, repr=False)
class RandomForest(_SklearnMembers):
    """scikit-learn's random forest; states `Members`, one for each tree.

    Parameters
    ----------
    n_members : int
        Trees.
    min_samples_leaf : int
        Fully grown trees (1) give probabilities of 0 and 1 only; then their disagreement mostly shows that single trees are
        weak.
    max_depth : int, optional
    n_jobs : int, optional
        As in scikit-learn; changes no result.
    classes : sequence, optional
        All labels, where y may lack some; every member gives an absent class 0. By default those of y.
    random_state : int, generator or None
        None means seed 0.

    Examples
    --------
    >>> import numpy as np
    >>> from uqassay.lab.methods import RandomForest
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> RandomForest(n_members=5).fit(x, [0, 0, 1, 1] * 8).predict_uncertainty([[-2.0], [2.0]])
    Members(probs=(2, 5, 2))
    """

    n_members: int = 100
    min_samples_leaf: int = 5
    max_depth: int | None = None
    n_jobs: int | None = None
    classes: Any = None
    random_state: Any = None

    def check_options(self, input_shape: tuple[int, ...] | None = None, n_classes: int | None = None) -> None:
        """Refuse options that are out of range; nothing is trained. `fit` calls this first."""
        super().check_options(input_shape, n_classes)
        if not (isinstance(self.min_samples_leaf, float) and 0 < self.min_samples_leaf < 1):  # a share of the instances
            whole(self.min_samples_leaf, "min_samples_leaf", "for example 10", least=1)
        if self.max_depth is not None:
            whole(self.max_depth, "max_depth", "for example 10", least=1)

    def _new_ensemble(self, seed: int) -> RandomForestClassifier:
        return RandomForestClassifier(
            self.n_members,
            min_samples_leaf=self.min_samples_leaf,
            max_depth=self.max_depth,
            n_jobs=self.n_jobs,
            random_state=seed,
        )


@dataclass(kw_only=True, eq=False, repr=False)
class Bagging(_SklearnMembers):
    """A scikit-learn classifier trained on several resamples of the instances; states `Members`, one for each.

    Parameters
    ----------
    estimator : classifier, optional
        With `predict_proba`; a decision tree by default, as in scikit-learn.
    n_members : int
    n_jobs : int, optional
        As in scikit-learn; changes no result.
    classes : sequence, optional
        All labels, where y may lack some; every member gives an absent class 0. By default those of y.
    random_state : int, generator or None
        None means seed 0.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from uqassay.lab.methods import Bagging
    >>> x = np.array([[-1.0], [-0.8], [0.8], [1.0]] * 8)
    >>> Bagging(estimator=LogisticRegression(), n_members=5).fit(x, [0, 0, 1, 1] * 8).predict_uncertainty([[2.0]])
    Members(probs=(1, 5, 2))
    """

    estimator: Any = None
    n_members: int = 10
    n_jobs: int | None = None
    classes: Any = None
    random_state: Any = None

    def check_options(self, input_shape: tuple[int, ...] | None = None, n_classes: int | None = None) -> None:
        """Refuse options that are out of range; nothing is trained. `fit` calls this first."""
        super().check_options(input_shape, n_classes)
        if self.estimator is not None and not hasattr(self.estimator, "predict_proba"):
            remedy = "use a classifier that gives probabilities"
            fail("estimator", "must have predict_proba", f"got {type(self.estimator).__name__}", remedy, code="type")

    def _new_ensemble(self, seed: int) -> BaggingClassifier:
        base = None if self.estimator is None else clone(self.estimator)
        return BaggingClassifier(base, n_estimators=self.n_members, n_jobs=self.n_jobs, random_state=seed)

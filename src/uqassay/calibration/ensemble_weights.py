"""Estimator of the convex combination of members with the least calibration error or the best proper score."""

import hashlib
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState, row_chunks
from uqassay._array import generator as as_generator
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.calibration.parts import check_search, hard_labels, member_array
from uqassay.calibration.score_weights import ScoreWeights, brier_weights, log_loss_weights
from uqassay.calibration.simplex_search import THOROUGH, SimplexSearch, minimise_over_simplex
from uqassay.errors import InputError
from uqassay.metrics.calibration.measures import CalibrationMeasure, calibration_measure
from uqassay.metrics.calibration.proper_score_parts import prepare_brier, prepare_log_score
from uqassay.predictions import Point, as_prediction

__all__ = ["EnsembleWeights"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


@final
class EnsembleWeights:
    """Weights λ of an ensemble's members, the same for every instance, that minimise a measure of Σ_m λ_m p_m.

    Parameters
    ----------
    measure : str or CalibrationMeasure
        The measure to minimise: a calibration measure, or the proper score "log-loss" or "brier".
    search : SimplexSearch, optional
        Effort of the search for the least calibration error; `THOROUGH` by default. The scores are convex and need none.
    rng : int or numpy Generator, optional
        For the search; None means seed 0.

    Attributes
    ----------
    weights_ : array (M,)
        Not negative, with sum 1. Members that are equal in every instance share their weight equally.
    value_ : float
        The measure at these weights, on the instances of `fit`. The log loss is infinite if every member gives some label the
        probability 0; the weights are then fitted to the other instances.
    gap_ : float
        Upper bound of `value_` minus the least value, proven for the scores; nan for calibration measures, whose many local
        minima allow no such bound.

    Notes
    -----
    A calibration measure selects the combination that is best calibrated on the given labels (paper 001, line 7 of
    algorithm 1) and ignores accuracy: an uninformative combination may win. A proper score weighs both. Measure the effect
    on other instances, as `weighted_average_effect` does. Permuting the members permutes the weights.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.tile([[0.8, 0.2]], (10, 1))
    >>> members = np.stack([truth, np.tile([[0.3, 0.7]], (10, 1))], axis=1)
    >>> labels = [0, 0, 0, 0, 0, 0, 0, 1, 0, 1]
    >>> fitted = EnsembleWeights("log-loss").fit(members, labels)
    >>> fitted.weights_.tolist(), fitted.predict(members[:1]).probs.round(3).tolist()
    ([1.0, 0.0], [[0.8, 0.2]])
    """

    weights_: Floats
    value_: float
    gap_: float

    def __init__(
        self,
        measure: str | CalibrationMeasure = "ece-confidence",
        *,
        search: SimplexSearch | None = None,
        rng: RandomState = None,
    ) -> None:
        self.measure, self.search, self.rng = measure, search, rng

    def fit(self, members: Any, y: ArrayLike) -> Self:
        """Find the weights.

        Parameters
        ----------
        members : Members, or array (n, M, K)
        y : array_like of int, shape (n,)
            Class of each instance.

        Returns
        -------
        self

        Raises
        ------
        InputError
            Members that are not probabilities, labels that do not fit, or an unknown measure.
        """
        chosen = calibration_measure(self.measure)
        check_search(self.search)
        probs = member_array(members)
        labels = hard_labels(y, len(probs), probs.shape[2], "y", members=members)
        distinct, copy_of = _distinct(probs)
        weights, self.value_, self.gap_ = self._best(probs[:, distinct], labels, chosen)
        self.weights_ = weights[copy_of] / np.bincount(copy_of)[copy_of]
        return self

    def predict(self, members: Any) -> Point:
        """The combination with these weights as a prediction; class names, ids and groups come from the members."""
        probs = self.predict_proba(members)
        members = as_prediction(members, "members")
        names = ("class_names", "ids", "groups", "row_numbers")
        kept: dict[str, Any] = {name: getattr(members, name, None) for name in names}
        return Point(probs, notes=getattr(members, "notes", ()), **kept)

    def predict_proba(self, members: Any) -> Floats:
        """Class probabilities of the combination, (n, K).

        Raises
        ------
        InputError
            A number of members that differs from `fit`, or weights that were never fitted.
        """
        if not hasattr(self, "weights_"):
            raise InputError(
                "weights_", "exists only after fit", "not fitted yet", "call fit(members, y) first", code="missing"
            )
        probs = member_array(members)
        if probs.shape[1] != self.weights_.size:
            raise InputError(
                "members",
                f"must be the {self.weights_.size} members of fit",
                f"got {probs.shape[1]}",
                "pass all of them in the same order",
                code="shape",
            )
        mixed = np.empty((len(probs), probs.shape[2]))
        for rows in row_chunks(len(probs), probs[:1].nbytes):
            mixed[rows] = self.weights_ @ probs[rows]
        return mixed / mixed.sum(axis=1, keepdims=True)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """The arguments of the constructor, which scikit-learn uses to clone."""
        return {"measure": self.measure, "search": self.search, "rng": self.rng}

    def __repr__(self) -> str:
        name = self.measure if isinstance(self.measure, str) else self.measure.name
        return f"EnsembleWeights({name!r})"

    def _best(self, members: Floats, labels: Labels, measure: CalibrationMeasure) -> ScoreWeights:
        if measure.prepare is prepare_log_score:
            return log_loss_weights(members, labels)
        if measure.prepare is prepare_brier:
            return brier_weights(members, labels)
        objective = MixtureObjective(Mixtures(members), labels[np.newaxis], measure)
        generator = as_generator(self.rng)
        values, weights = minimise_over_simplex(objective, self.search or THOROUGH, generator)
        return weights[0], float(values[0]), np.nan


def _distinct(members: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of the distinct members, and for each member the distinct one that it equals, (M,).

    The distinct members are sorted by a hash of their content, so the search does not depend on the order of the members.
    """
    digests = []
    for m in range(members.shape[1]):
        digest = hashlib.blake2b(digest_size=16)
        for rows in row_chunks(len(members), members[:1, 0].nbytes):
            digest.update(np.ascontiguousarray(members[rows, m]).data)
        digests.append(digest.hexdigest())
    _, first, copy_of = np.unique(digests, return_index=True, return_inverse=True)
    return first, copy_of.reshape(-1)

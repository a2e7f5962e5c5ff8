"""The classes that a prediction does not rule out, and those of a predicted class set."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.credal.undominated import CLASS_RULES, undominated_in_box, undominated_in_core, undominated_in_hull
from uqassay.predictions import (
    Box,
    ClassSets,
    Masses,
    Point,
    Prediction,
    PredictionLike,
    as_prediction,
    not_negative,
)
from uqassay.statistics.samples import check_choice

__all__ = ["class_sets_by_rule", "not_ruled_out"]

Bools = NDArray[np.bool_]
CHUNK_BYTES = 32 * 2**20


def not_ruled_out(prediction: PredictionLike | ArrayLike, *, rule: str = "maximality") -> Bools:
    """Classes that the credal set of each instance does not rule out.

    Parameters
    ----------
    prediction : Prediction of any kind, or array (n, K) or (n, M, K)
    rule : {"interval-dominance", "maximality", "e-admissibility"}
        When class j is ruled out, for distributions p of the set and the loss 0 for the true class and 1 for another:

        * "interval-dominance": the lower probability of some class exceeds the upper probability of j;
        * "maximality": some class is more probable than j under every p;
        * "e-admissibility": j is the most probable class, or tied with it, under no p.

        Each rule leaves a subset of the one before it. All three agree for two classes, the first two for intervals and
        masses. Each also rules out a class that has probability 0 under every p.

    Returns
    -------
    (n, K) bool
        At least one class in each row, except for empty `ClassSets`, which are returned as they are. Of a point: the mode, with
        ties.

    Raises
    ------
    InputError
        Unknown rule; masses that are no belief functions.

    References
    ----------
    Troffaes (2007), Decision making under uncertainty using imprecise probabilities, Int. J. Approx. Reason. 45.
    Zaffalon, Corani, Mauá (2012), Evaluating credal classifiers by utility-discounted predictive accuracy, same journal 53.

    Examples
    --------
    >>> three = [[[0.6, 0.1, 0.3], [0.1, 0.6, 0.3]]]
    >>> not_ruled_out(three).tolist(), not_ruled_out(three, rule="e-admissibility").tolist()
    ([[True, True, True]], [[True, True, False]])
    >>> not_ruled_out([[0.5, 0.2, 0.3]]).tolist()
    [[True, False, False]]
    """
    check_choice(rule, "rule", CLASS_RULES)
    return class_sets_by_rule(as_prediction(prediction), last=rule)[rule]


def class_sets_by_rule(prediction: Prediction, *, last: str = CLASS_RULES[-1]) -> dict[str, Bools]:
    """`not_ruled_out` by each rule up to `last`, in one pass over the instances.

    Examples
    --------
    >>> import uqassay as uq
    >>> {rule: int(found.sum()) for rule, found in class_sets_by_rule(uq.Point([[0.5, 0.5, 0.0]])).items()}
    {'interval-dominance': 2, 'maximality': 2, 'e-admissibility': 2}
    """
    rules = CLASS_RULES[: CLASS_RULES.index(last) + 1]
    if isinstance(prediction, ClassSets):
        return dict.fromkeys(rules, prediction.sets)
    found = {rule: np.empty((prediction.n_instances, prediction.n_classes), dtype=bool) for rule in rules}

    def work(rows: slice, part: Prediction) -> None:
        for rule, sets in zip(rules, _undominated(part.credal(), last), strict=True):
            found[rule][rows] = sets

    size = sum(getattr(prediction, name)[:1].nbytes for name in prediction.array_names())
    prediction.for_each_chunk(work, size + 32 * prediction.n_classes, chunk_bytes=CHUNK_BYTES)
    return found


def _undominated(credal: Any, last: str) -> list[Bools]:
    if isinstance(credal, Box):
        return undominated_in_box(*credal.bounds(), last=last)
    if isinstance(credal, Masses):
        return undominated_in_core(credal.checked_masses(), credal.focal_sets, last=last)
    if isinstance(credal, Point):
        probs = credal.mean_probs()
        modes = np.asarray(probs >= probs.max(axis=1, keepdims=True))
        return [modes] * (CLASS_RULES.index(last) + 1)
    bounds = credal.lower_probs(), credal.upper_probs()
    return undominated_in_hull(not_negative(credal.hull_points()), bounds=bounds, last=last)

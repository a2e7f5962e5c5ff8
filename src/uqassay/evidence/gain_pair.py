"""From the predictions of a model without and with more data to their gains and estimates of epistemic uncertainty."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.evidence.alignment import align
from uqassay.evidence.gain_sample import GainSample
from uqassay.measures import score_names, uncertainty_score
from uqassay.metrics.gains import gain, true_uncertainty
from uqassay.predictions import Point, Prediction, PredictionLike, as_prediction
from uqassay.predictions.class_order import label_columns
from uqassay.wording import listed, listed_names

__all__ = ["SCORE_NAMES", "default_scores", "sample_of_pair"]

# names of paper 002, and those of `uqassay.measures.SCORES`
SCORE_NAMES: Mapping[str, str] = {"mutual-information": "epistemic-entropy", "entropy": "total-entropy"}


def default_scores(prediction: Prediction) -> tuple[str, ...]:
    """Those of `SCORE_NAMES` that a prediction offers; the mutual information of a `Point` would be 0 everywhere.

    Examples
    --------
    >>> default_scores(Point([[0.5, 0.5]]))
    ('entropy',)
    """
    offered = score_names(prediction, on_request=True)
    several = not isinstance(prediction, Point)
    return tuple(name for name, own in SCORE_NAMES.items() if own in offered and (several or name == "entropy"))


@in_one_order("before", "y_true", "scores", "label_probs", "groups")
def sample_of_pair(
    y_true: ArrayLike,
    before: PredictionLike,
    after: PredictionLike,
    *,
    scores: Sequence[str] | Mapping[str, ArrayLike] | None = None,
    losses: Sequence[str] = ("zero-one",),
    label_probs: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> GainSample:
    """Gains from more data, and the epistemic uncertainty of the model without them.

    Parameters
    ----------
    y_true : int array (n,)
        Labels.
    before, after : Prediction, or array (n, K) or (n, M, K)
        Of the same learner without and with more data, for the same n instances. Rows with ids and columns with names are
        put into one order.
    scores : sequence of str, or dict of str to array (n,), optional
        Names of scores of `before`: those of `uqassay.measures.SCORES`, "mutual-information" or "entropy"; or estimates by
        their names. By default these two, and "entropy" alone where `before` has no second-order distribution.
    losses : sequence of str
        Of `uqassay.metrics.GAIN_LOSSES`.
    label_probs : array (n, K), optional
        P(y|x) where it is known; it gives the true uncertainty of `before` under the zero-one loss.
    groups : array (n,), optional
        Patients, sites or videos; by default those of `before`.

    Returns
    -------
    GainSample

    Raises
    ------
    InputError
        Predictions and labels that do not fit together; class names of one prediction alone, whose columns may stand in
        another order than those of the other; a score that `before` does not have; votes instead of labels.

    Examples
    --------
    >>> members = [[[0.9, 0.1], [0.1, 0.9]], [[0.8, 0.2], [0.8, 0.2]]]
    >>> sample = sample_of_pair([1, 0], members, [[0.2, 0.8], [0.9, 0.1]])
    >>> sample.gain["zero-one"].tolist(), sample.epistemic["mutual-information"].round(3).tolist()
    ([1.0, 0.0], [0.368, 0.0])
    """
    both = {"before": as_prediction(before, "before"), "after": as_prediction(after, "after")}
    _check_named(both)
    aligned = align(both, y_true, groups=groups)
    y = aligned.labels
    if y.ndim == 2:
        raise InputError(
            "y_true",
            "must be one label for each instance",
            "got label distributions or votes",
            "take the most frequent label",
            code="shape",
        )
    (first,), (second,) = aligned.models["before"], aligned.models["after"]
    if len(set(losses)) < len(losses) or not losses:
        raise InputError(
            "losses", "must be different names, at least one", f"got {list(losses)}", "name each once", code="duplicate"
        )
    if aligned.named and label_probs is not None:  # the predictions have lost their names to the labels
        label_probs = label_columns(label_probs, aligned.class_names, "label_probs")
    return GainSample(
        {name: gain(y, first, second, loss=name) for name in losses},  # type: ignore[arg-type]
        _estimates(first, scores),
        first.labels() == y,
        second.labels() == y,
        None if label_probs is None else true_uncertainty(label_probs, first),
        aligned.groups,
    )


def _check_named(both: Mapping[str, Prediction]) -> None:
    """Refuse class names of one prediction alone."""
    unnamed = [side for side, one in both.items() if one.class_names is None]
    if len(unnamed) == 1:
        (names,) = (one.class_names for one in both.values() if one.class_names is not None)
        raise InputError(
            f"models[{unnamed[0]!r}]",
            "must name the classes if the other prediction does, because its columns may be in another order",
            f"got none, and the other has {listed_names(names, most=5)}",
            "name the classes of both, or of neither",
            code="missing",
            facts={"class_names": tuple(names)},
        )


def _estimates(prediction: Prediction, scores: Sequence[str] | Mapping[str, ArrayLike] | None) -> dict[str, Any]:
    if isinstance(scores, Mapping):
        return dict(scores)
    offered = score_names(prediction, on_request=True)
    if scores is None:
        names = list(default_scores(prediction))
    elif isinstance(scores, str):
        raise InputError("scores", "must be a list of names", f"got {scores!r}", f"write [{scores!r}]", code="type")
    else:
        names = list(dict.fromkeys(scores))
    for name in names:
        if SCORE_NAMES.get(name, name) not in offered:
            near = difflib.get_close_matches(name, [*SCORE_NAMES, *offered], n=1)
            raise InputError(
                "scores",
                f"must be scores that this prediction has ({listed([*SCORE_NAMES, *offered])})",
                f"got {name!r}",
                f"the closest is {near[0]}" if near else "choose from them",
                code="choice",
            )
    return {name: uncertainty_score(prediction, SCORE_NAMES.get(name, name)) for name in names}

"""Do the scores tell inputs of another distribution? The models of an assay on inputs in and out of distribution.

Labels are needed for neither side: inputs of another distribution seldom have labels that mean something to the model. With
labels in distribution, errors and inputs of another distribution are judged together too.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from numpy.typing import ArrayLike

from uqassay.errors import InputError
from uqassay.evidence.mistake_ranking import stated_scores
from uqassay.evidence.ood_agreement import check_names, check_offered, check_settings, check_sides
from uqassay.evidence.ood_result import OodDetection
from uqassay.evidence.scored_side import Side, score_side
from uqassay.evidence.scoring import Settings
from uqassay.measures.scores import SCORES
from uqassay.metrics.ood.intervals import Positive
from uqassay.metrics.ood.scod_samples import check_costs
from uqassay.metrics.ood.two_samples import Ties
from uqassay.statistics.samples import check_choice, check_level

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["detect_ood", "detect_ood_in_predictions"]


def detect_ood(
    inside: "Assay",
    outside: Any,
    *,
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    groups: ArrayLike | None = None,
    level: float | None = None,
    positive: Positive = "out",
    ties: Ties = "shared",
    error_cost: float = 0.5,
    share_out: float | None = None,
) -> OodDetection:
    """Judge how well the scores of an assay tell out-of-distribution inputs from its instances.

    Parameters
    ----------
    inside : Assay
    outside : Assay, or dict of str to Prediction, or to a list of Prediction
        The same models on inputs of another distribution: an assay where there are labels, else predictions (a list holds
        the training runs, in the order of those inside), whose scores are computed with the settings of `inside`.
    uncertainties : dict of str to dict of str to array (n,) or (R, n), optional
        Further scores of these inputs, under the names they have inside; for predictions.
    groups : array (n,), optional
        Groups of these inputs; by default those that a prediction carries. For predictions.
    level : float, optional
        Confidence level of the intervals; that of `inside` by default.
    positive : {"out", "in"}
    ties : {"shared", "whole"}
        See `metrics.fpr_at_tpr_error`.
    error_cost : float
    share_out : float, optional
        See `metrics.scod_aurc_loss`.

    Returns
    -------
    OodDetection

    Raises
    ------
    InputError
        Models, runs, classes or members that differ between the two.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> rng = np.random.default_rng(0)
    >>> known = uq.Point(rng.dirichlet([8.0, 1.0, 1.0], 200))
    >>> found = detect_ood(uq.assay({"m": known}, np.zeros(200, int)), {"m": uq.Point(rng.dirichlet([2.0, 2.0, 2.0], 100))})
    >>> [(row["metric"], round(row["estimate"], 2)) for row in found.rows() if row["score"] == "margin"]
    [('ood-auc', 0.9), ('fpr95-out', 0.36), ('aupr-out', 0.81), ('scod-aurc', 0.05), ('scod-augrc', 0.04), ('scod-risk80', 0.1)]
    """
    s = inside.settings
    own = Side.of_assay(inside, {m.name: stated_scores(m, inside) for m in inside.candidates})
    if _is_assay(outside):
        if uncertainties is not None or groups is not None:
            raise InputError(
                "uncertainties" if groups is None else "groups",
                "mean nothing where outside is an assay, which has its scores and groups",
                remedy="pass them to assay",
                code="conflict",
            )
        check_settings(s, outside.settings)
        other = Side.of_assay(outside, {m.name: stated_scores(m, outside) for m in outside.candidates})
    elif isinstance(outside, Mapping):
        check_names(own.models, {str(name) for name in outside})
        other = score_side(
            outside,
            s,
            argument="outside",
            measures=[*(name for name in s.measures if name in SCORES), "nonspecificity"],
            like=own,
            groups=groups,
            uncertainties=uncertainties,
        )
    else:
        raise InputError(
            "outside",
            "must be an assay, or map the names of the models to predictions",
            f"got {type(outside).__name__}",
            'write {"my model": prediction}',
            code="type",
        )
    options = _Options(positive, ties, s.level if level is None else level, s.convention, error_cost, share_out)
    return _matched(own, other, options)


def detect_ood_in_predictions(
    inside: Mapping[str, Any],
    outside: Mapping[str, Any],
    *,
    scores: Sequence[str] | None = None,
    groups_in: ArrayLike | None = None,
    groups_out: ArrayLike | None = None,
    level: float = 0.95,
    positive: Positive = "out",
    ties: Ties = "shared",
    labels: ArrayLike | None = None,
    error_cost: float = 0.5,
    share_out: float | None = None,
    votes_are: str | None = None,
    class_names: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
) -> OodDetection:
    """Judge how well scores tell two samples apart from predictions alone.

    Parameters
    ----------
    inside, outside : dict of str to Prediction, or to a list of Prediction
        The same models on both samples, as in `uqassay.assay`.
    scores : sequence of str, optional
        Names of `measures.SCORES`; by default every one of the default list that some model offers.
    groups_in, groups_out : array (m,), (n,), optional
        By default those that the predictions carry.
    level, positive, ties
        As in `detect_ood`.
    labels : int array (m,), array of names (m,), or array (m, K), optional
        Of the inputs in distribution. With them, errors and inputs out of distribution are judged together too.
    error_cost, share_out
        As in `detect_ood`.
    votes_are, class_names
        As in `uqassay.assay`.
    progress : callable, optional
        Called with the name of what is being computed.

    Returns
    -------
    OodDetection

    Raises
    ------
    InputError
        As in `detect_ood`; also for a score that no model has.

    Examples
    --------
    >>> import numpy as np, uqassay as uq
    >>> rng = np.random.default_rng(0)
    >>> known, other = (uq.Point(rng.dirichlet(a, 100)) for a in ([8.0, 1.0], [2.0, 2.0]))
    >>> found = detect_ood_in_predictions({"m": known}, {"m": other}, scores=["total-entropy"])
    >>> round(float(found.estimate("m", "total-entropy")), 2)
    0.9
    """
    unknown = [name for name in scores or () if name not in SCORES]
    if unknown:
        raise InputError(
            "scores", f"must be among {', '.join(SCORES)}", f"got {unknown[0]!r}", "choose from them", code="choice"
        )
    settings = Settings(level=level)
    check_names({str(name): None for name in inside}, {str(name) for name in outside})
    with _groups_named("groups_in"):
        own = score_side(
            inside,
            settings,
            argument="inside",
            measures=scores,
            class_names=class_names,
            groups=groups_in,
            labels=labels,
            votes_are=votes_are,
            progress=progress,
        )
    with _groups_named("groups_out"):
        other = score_side(
            outside,
            settings,
            argument="outside",
            measures=scores,
            class_names=class_names,
            order_of_classes=own.class_names,
            groups=groups_out,
            progress=progress,
        )
    check_offered(scores or (), own, other)
    return _matched(own, other, _Options(positive, ties, level, settings.convention, error_cost, share_out))


@contextmanager
def _groups_named(argument: str) -> Iterator[None]:
    """Give errors about groups the name of this argument."""
    try:
        yield
    except InputError as problem:
        raise (problem.replace(parameter=argument) if problem.parameter == "groups" else problem) from problem


def _is_assay(value: Any) -> "TypeGuard[Assay]":
    """Whether this is an `Assay`, known by its fields: its class imports this module."""
    return hasattr(value, "candidates") and isinstance(getattr(value, "settings", None), Settings)


@dataclass(frozen=True)
class _Options:
    positive: Positive
    ties: Ties
    level: float
    convention: str
    error_cost: float
    share_out: float | None


def _matched(inside: Side, outside: Side, options: _Options) -> OodDetection:
    check_choice(options.positive, "positive", ("out", "in"))
    check_choice(options.ties, "ties", ("shared", "whole"))
    check_level(options.level)
    check_costs(options.error_cost, options.share_out)
    check_sides(inside, outside)
    ordered = {name: outside.models[name] for name in inside.models}
    return OodDetection(
        inside=inside,
        outside=replace(outside, models=ordered),
        positive=options.positive,
        level=float(options.level),
        convention=options.convention,
        ties=options.ties,
        error_cost=float(options.error_cost),
        share_out=options.share_out,
    )

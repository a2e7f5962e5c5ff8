"""Scores of several models on one sample of inputs, with or without labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.evidence.alignment import Aligned, align_models, labels_in_order, spanned_by
from uqassay.evidence.given_scores import given_scores
from uqassay.evidence.mistake_ranking import OF_THE_SPREAD
from uqassay.evidence.scoring import PART_BYTES, Settings, points_of_sets, with_draws_held
from uqassay.losses.errors import prediction_errors
from uqassay.losses.unified import set_nonspecificity
from uqassay.measures.scores import SCORES, score_columns, score_names
from uqassay.predictions import ClassSets, Drawn, Masses, Members, Prediction
from uqassay.predictions.labels import labels_for

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["Side", "SideModel", "score_side"]

Array = NDArray[np.float64]
_OF_SETS = {*OF_THE_SPREAD, "nonspecificity"}  # scores that a single distribution does not have


@dataclass(frozen=True, eq=False)
class SideModel:
    """Scores of one model on one sample.

    Attributes
    ----------
    kind : str
    n_points : int or None
        Points that span each set; None for intervals and masses.
    n_runs : int
    columns : dict of str to array (R, n)
    offered : tuple of str
        Scores that could be asked for, also those outside the default list.
    spanned_by : str
        As in `ModelScores`.
    errors : array (R, n) or None
        1 where the predicted class is wrong, 0 where it is right, or the share of the other labels; None without labels.
    """

    kind: str
    n_points: int | None
    n_runs: int
    columns: dict[str, Array] = field(repr=False)
    offered: tuple[str, ...] = field(default=(), repr=False)
    spanned_by: str = ""
    errors: Array | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Side:
    """Scores of several models on the same inputs.

    Attributes
    ----------
    models : dict of str to SideModel
    n_instances, n_classes : int
    class_names : tuple of str or None
    groups : array (n,) or None
    """

    models: dict[str, SideModel]
    n_instances: int
    n_classes: int
    class_names: tuple[str, ...] | None
    groups: NDArray[Any] | None

    @classmethod
    def of_assay(cls, assay: "Assay", scores: Mapping[str, Sequence[str]]) -> "Side":
        """What an assay holds of the scores named for each model."""
        models = {
            m.name: SideModel(
                m.kind,
                m.n_points,
                m.n_runs,
                {name: m.columns[name] for name in scores[m.name]},
                spanned_by=m.spanned_by,
                errors=1.0 - m.columns["correct"] if m.predicts_classes else None,
            )
            for m in assay.candidates
        }
        counted = assay.class_names == tuple(str(c) for c in range(assay.n_classes))  # classes that were given no names
        return cls(models, assay.n_instances, assay.n_classes, None if counted else assay.class_names, assay.groups)


def score_side(
    predictions: Mapping[str, Any],
    settings: Settings,
    *,
    argument: str,
    measures: Sequence[str] | None = None,
    like: "Side | None" = None,
    class_names: Sequence[str] | None = None,
    order_of_classes: Sequence[str] | None = None,
    groups: ArrayLike | None = None,
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    labels: ArrayLike | None = None,
    votes_are: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Side:
    """Compute scores of predictions alone, as `assay` does.

    Parameters
    ----------
    predictions : dict of str to Prediction, or to a list of Prediction
    settings : Settings
        How the non-specificity is computed.
    argument : str
        What errors call the predictions.
    measures : sequence of str, optional
        Names of `measures.SCORES`, of which each model gets those that it offers, and "nonspecificity"; by default every
        one of the default list that some model offers, and the non-specificity. Scores of the spread inside the sets are
        left out where the sets are points.
    like : Side, optional
        The other sample: its order of the classes is taken, and the number of members or draws that span each model's sets,
        where more of them are given.
    class_names : sequence of str, optional
        Stated order of the classes, where `like` is not given.
    order_of_classes : sequence of str, optional
        Order in which named classes are put, where `class_names` and `like` are not given.
    groups : array (n,), optional
        By default those that a prediction carries.
    uncertainties
        As in `assay`.
    labels : int array (n,), array of names (n,), or array (n, K), optional
        From which the errors are found.
    votes_are : {"counts", "single"}, optional
        As in `assay`.
    progress : callable, optional
        Called with the name of each model.

    Examples
    --------
    >>> import uqassay as uq
    >>> side = score_side({"m": uq.Point([[0.5, 0.5]])}, Settings(), argument="inside", measures=["margin", "credal-width"])
    >>> side.models["m"].columns
    {'margin': array([[1.]])}
    """
    order = order_of_classes if like is None else like.class_names
    stated = class_names if like is None else None
    found = align_models(predictions, groups=groups, class_names=stated, order_of_classes=order, argument=argument)
    aligned = _spanned_alike(found, like, settings)
    given = given_scores(uncertainties, aligned)
    known = None if labels is None else _labels(labels, aligned, votes_are)
    if measures is None:
        offered = {name for runs in aligned.models.values() for name in score_names(runs[0])}
        measures = [*(name for name in SCORES if name in offered), "nonspecificity"]
    models = {}
    for name, runs in aligned.models.items():
        if progress is not None:
            progress(name)
        first, count = runs[0], points_of_sets(runs[0])
        can = score_names(first, on_request=True)
        own = [m for m in measures if m in can]
        if count == 1:
            own = [m for m in own if m not in _OF_SETS]
        try:
            parts = [_columns(run, own, settings) for run in runs]
        except InputError as problem:
            raise problem.inside(f"{argument}[{name!r}]") from problem
        columns = {m: np.stack([part[m] for part in parts]) for m in own}
        models[name] = SideModel(
            kind=type(first).__name__,
            n_points=count,
            n_runs=len(runs),
            columns=columns | given.get(name, {}),
            offered=tuple(s for s in can if count != 1 or s not in _OF_SETS),
            spanned_by=first.spanned_by if isinstance(first, Drawn) else "",
            errors=None if known is None or any(isinstance(run, ClassSets) for run in runs) else _errors(known, runs),
        )
    first = next(iter(aligned.models.values()))[0]
    return Side(
        models=models,
        n_instances=first.n_instances,
        n_classes=first.n_classes,
        class_names=aligned.class_names if aligned.named else None,
        groups=aligned.groups,
    )


def _spanned_alike(found: Aligned, like: Side | None, settings: Settings) -> Aligned:
    """The same models, each set spanned by as many points as on the other side."""
    points = {} if like is None else {name: model.n_points for name, model in like.models.items()}
    models = {
        name: tuple(_spanned(run, points.get(name), settings) for run in runs) for name, runs in found.models.items()
    }
    return replace(found, models=models)


def _labels(labels: ArrayLike, aligned: Aligned, votes_are: str | None) -> NDArray[Any]:
    ordered, _ = labels_in_order(labels, aligned, votes_are=votes_are, name="labels")
    return labels_for(
        ordered,
        n_instances=aligned.n_instances,
        n_classes=len(aligned.class_names),
        class_names=aligned.class_names if aligned.named else None,
        class_order=aligned.class_order,
        n_members=next((r.n_members for runs in aligned.models.values() for r in runs if isinstance(r, Members)), None),
        name="labels",
    )


def _errors(labels: NDArray[Any], runs: Sequence[Prediction]) -> Array:
    """Errors of each run, (R, n)."""
    # the labels are indices, also where the names of the classes are whole numbers
    return np.stack([np.asarray(prediction_errors(labels, run.without_class_names())) for run in runs])


def _spanned(run: Prediction, n_points: int | None, settings: Settings) -> Prediction:
    """As many members or draws as on the other side, where there are more; repaired where the convention does so."""
    if n_points is not None:
        run = spanned_by(run, n_points, settings.seed)
    return run.repaired() if settings.convention == "paper" and isinstance(run, Masses) else run


def _columns(run: Prediction, measures: Sequence[str], settings: Settings) -> dict[str, Array]:
    """Scores of one run, (n,) each."""
    run = with_draws_held(run)
    out = {name: np.empty(run.n_instances) for name in measures if name != "nonspecificity"}

    def work(rows: slice, part: Prediction) -> None:
        for name, values in score_columns(part, list(out)).items():
            out[name][rows] = values

    run.for_each_chunk(work, 8 * run.n_classes * (points_of_sets(run) or 3), chunk_bytes=PART_BYTES)
    if "nonspecificity" in measures:
        out["nonspecificity"] = set_nonspecificity(
            run,
            settings.nonspecificity,
            convention=settings.convention,  # type: ignore[arg-type]
            focal_sets=settings.focal_sets,
            rng=settings.seed,
            tolerance=settings.tolerance,
        ).values
    return out

"""Scores of several models on one sample of inputs, with or without labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError
from uqassay.evidence.alignment import (
    Aligned,
    _check_no_order,
    _check_same,
    _groups,
    _in_order,
    _named,
    _runs,
    _with_members,
)
from uqassay.evidence.given_scores import given_scores
from uqassay.evidence.mistake_ranking import OF_THE_SPREAD
from uqassay.evidence.scoring import PART_BYTES, Settings, _n_points, _with_draws_held
from uqassay.losses.unified import set_nonspecificity
from uqassay.measures.scores import SCORES, score_names, uncertainty_score
from uqassay.predictions import Masses, Members, Prediction
from uqassay.predictions.drawn import Drawn

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["Side", "SideModel", "score_side"]

Array = NDArray[np.float64]


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
    """

    kind: str
    n_points: int | None
    n_runs: int
    columns: dict[str, Array] = field(repr=False)


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
            m.name: SideModel(m.kind, m.n_points, m.n_runs, {name: m.columns[name] for name in scores[m.name]})
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
    points: Mapping[str, int | None] | None = None,
    groups: ArrayLike | None = None,
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
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
        one that some model offers, but for the costly ones, and the non-specificity. Where the sets are points, what
        speaks of the spread inside them is left out.
    points : dict of str to int or None, optional
        Members or draws that span each model's sets, where more of them are given.
    groups : array (n,), optional
        By default those that a prediction carries.
    uncertainties
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
    try:
        aligned = _aligned(predictions, settings, points or {}, groups)
    except InputError as problem:
        raise type(problem)(str(problem).replace("predictions:", f"{argument}:", 1)) from problem
    given = given_scores(uncertainties, aligned)
    if measures is None:
        offered = {name for runs in aligned.models.values() for name in score_names(runs[0])}
        measures = [*(name for name in SCORES if name in offered), "nonspecificity"]
    models = {}
    for name, runs in aligned.models.items():
        if progress is not None:
            progress(name)
        first, count = runs[0], _n_points(runs[0])
        own = [m for m in measures if SCORES[m].offered_by(first)]
        if count == 1:
            own = [m for m in own if m not in OF_THE_SPREAD and m != "nonspecificity"]
        try:
            parts = [_columns(run, own, settings) for run in runs]
        except InputError as problem:
            raise type(problem)(f"{name}: {problem}") from problem
        columns = {m: np.stack([part[m] for part in parts]) for m in own}
        models[name] = SideModel(type(first).__name__, count, len(runs), columns | given.get(name, {}))
    first = next(iter(aligned.models.values()))[0]
    return Side(models, first.n_instances, first.n_classes, aligned.class_names or None, aligned.groups)


def _aligned(
    predictions: Mapping[str, Any], settings: Settings, points: Mapping[str, int | None], groups: ArrayLike | None
) -> Aligned:
    """The rows of all models in one order; no labels, and no class names where none are given."""
    models = {str(name): _runs(str(name), value) for name, value in _named(predictions).items()}
    every = [(name, run) for name, runs in models.items() for run in runs]
    first_name, first = every[0]
    class_names = next((run.class_names for _, run in every if run.class_names is not None), None)
    for name, run in every:
        _check_same(run, name, first, first_name, class_names)
    ids = next((run.ids for _, run in every if run.ids is not None), None)
    if ids is not None and any(run.ids is None for _, run in every):
        _check_no_order(every, ids, None)
    n = first.n_instances
    models = {
        name: tuple(_spanned(_in_order(run, ids, name), points.get(name), settings, name) for run in runs)
        for name, runs in models.items()
    }
    return Aligned(models, np.empty((n, 0)), class_names or (), ids, _groups(groups, models, ids, n))


def _spanned(run: Prediction, n_points: int | None, settings: Settings, name: str) -> Prediction:
    """As many members or draws as on the other side, where there are more; repaired where the convention does so."""
    if n_points is not None and (isinstance(run, Drawn) or (isinstance(run, Members) and run.n_members > n_points)):
        run = _with_members(run, n_points, settings.seed, name)
    return run.repaired() if settings.convention == "paper" and isinstance(run, Masses) else run


def _columns(run: Prediction, measures: Sequence[str], settings: Settings) -> dict[str, Array]:
    """Scores of one run, (n,) each."""
    run = _with_draws_held(run)
    out = {name: np.empty(run.n_instances) for name in measures if name != "nonspecificity"}

    def work(rows: slice, part: Prediction) -> None:
        for name, column in out.items():
            column[rows] = uncertainty_score(part, name)

    run.for_each_chunk(work, 8 * run.n_classes * (_n_points(run) or 3), chunk_bytes=PART_BYTES)
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

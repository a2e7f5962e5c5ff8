"""Do the scores tell inputs from elsewhere? The models of an assay on inputs in and out of distribution.

Labels are needed for neither side: inputs from elsewhere seldom have any that mean something to the model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.errors import InputError, MissingDependencyError
from uqassay.evidence.findings import FINDING_COLUMNS
from uqassay.evidence.mistake_ranking import OF_THE_SPREAD, scores_of
from uqassay.evidence.scored_side import Side, score_side
from uqassay.evidence.scoring import Settings
from uqassay.measures.scores import SCORES, score_names
from uqassay.metrics.ood.detection import OOD_METRICS, OodMetric
from uqassay.metrics.ood.intervals import Positive
from uqassay.metrics.ood.two_samples import TwoSamples, joined_groups
from uqassay.notes import Note
from uqassay.predictions import Prediction
from uqassay.statistics import Estimate, PairedComparison
from uqassay.statistics.samples import check_choice, check_level
from uqassay.statistics.statistic_comparisons import paired_statistic_test

if TYPE_CHECKING:
    import pandas as pd

    from uqassay.evidence.result import Assay

__all__ = ["OodDetection", "detect_ood", "detect_ood_in_predictions", "ood_rows"]

Array = NDArray[np.float64]
NAN = float("nan")


@dataclass(frozen=True, eq=False)
class OodDetection:
    """How well each score of each model tells two samples apart; made by `detect_ood`.

    Attributes
    ----------
    inside, outside : Side
        Every score of every model on both samples.
    positive : {"out", "in"}
        What a false-positive rate and an average precision take for positive, see `metrics.fpr_at_tpr_error`.
    level : float
        Confidence level of the intervals.
    convention : str
        That of the non-specificity.
    """

    inside: Side = field(repr=False)
    outside: Side = field(repr=False)
    positive: Positive
    level: float
    convention: str

    @property
    def model_names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self.inside.models)

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The metrics of `rows`: ROC-AUC, false-positive rate at 95 % true positives, average precision."""
        return ("ood-auc", f"fpr95-{self.positive}", f"aupr-{self.positive}")

    def score_names(self, model: str) -> tuple[str, ...]:
        """Names of the scores of a model, those that only one of the samples has among them."""
        self._check_model(model)
        return tuple(dict.fromkeys([*self.inside.models[model].columns, *self.outside.models[model].columns]))

    def rows(self) -> list[dict[str, Any]]:
        """One row per model (and run), score and metric, as plain values with the keys of `FINDING_COLUMNS`."""
        return list(self._rows())

    @cached_property
    def findings(self) -> "pd.DataFrame":
        """The same as a table."""
        try:
            import pandas
        except ModuleNotFoundError as problem:
            raise MissingDependencyError(
                "pandas", "tables need it", "", "install uqassay[tables], or use rows()", code="package"
            ) from problem
        return pandas.DataFrame(self.rows(), columns=FINDING_COLUMNS)

    def estimate(self, model: str, score: str, metric: str = "ood-auc", *, run: int | None = None) -> Estimate:
        """One metric of `metrics.OOD_METRICS` over all runs of a model, or of one run counted from 0."""
        chosen = _metric(metric)
        problem = self._problem(model, score)
        if problem:
            return Estimate(
                NAN, low=NAN, high=NAN, level=self.level, n=0, method="", notes=[Note("undefined", problem)]
            )
        samples = self._samples(model, score)
        return chosen.interval(samples if run is None else samples[run : run + 1], level=self.level)

    def compare(self, a: tuple[str, str], b: tuple[str, str], metric: str = "ood-auc") -> PairedComparison:
        """Paired test of two scores on the same two samples, each given by (model, score).

        Parameters
        ----------
        a, b : (str, str)
        metric : str
            A name of `metrics.OOD_METRICS`.

        Raises
        ------
        InputError
            A model, score or metric that is not there.
        """
        chosen = _metric(metric)
        found = []
        for name, (model, score) in (("a", a), ("b", b)):
            problem = self._problem(model, score)
            if problem:
                raise InputError(
                    name,
                    f"{score} of {model!r} cannot be compared: {problem}",
                    "",
                    "choose another score",
                    code="undefined",
                )
            runs = [chosen.statistic(samples) for samples in self._samples(model, score)]
            found.append(runs if len(runs) > 1 else runs[0])
        return paired_statistic_test(*found, groups=self._groups, level=self.level)

    @cached_property
    def _groups(self) -> NDArray[np.intp] | None:
        return joined_groups(self.inside.groups, self.outside.groups, self.inside.n_instances, self.outside.n_instances)

    def _rows(self) -> Iterator[dict[str, Any]]:
        for model in self.model_names:
            n_runs = self.inside.models[model].n_runs
            for run in (None, *range(n_runs)) if n_runs > 1 else (None,):
                for score in self.score_names(model):
                    for metric in self.metric_names:
                        found = self.estimate(model, score, metric, run=run)
                        row = {
                            "model": model,
                            "run": "all" if run is None else str(run + 1),
                            "metric": metric,
                            "score": score,
                            "tradeoff": NAN,
                            "convention": self.convention,
                            "estimate": float(found),
                        }
                        yield row | {key: getattr(found, key) for key in FINDING_COLUMNS[len(row) :]}

    def _samples(self, model: str, score: str) -> list[TwoSamples]:
        """Both samples of each run."""
        inside, outside = (side.models[model].columns[score] for side in (self.inside, self.outside))
        return [TwoSamples(i, o, None, self._groups) for i, o in zip(inside, outside, strict=True)]

    def _problem(self, model: str, score: str) -> str:
        """Why a score of a model cannot be judged; empty where it can."""
        if score not in self.score_names(model):
            raise InputError(
                "score",
                f"{model!r} has {', '.join(self.score_names(model)) or 'no score'}",
                f"got {score!r}",
                "choose one of them",
                code="undefined",
            )
        for side, where in ((self.inside, "in"), (self.outside, "out of")):
            column = side.models[model].columns.get(score)
            if column is None:
                return f"{score} is not known for the instances {where} distribution"
            undefined = int(np.isnan(column).sum())
            if undefined:
                return f"{undefined} of {column.size} values {where} distribution are nan"
        return ""

    def _check_model(self, model: str) -> None:
        if model not in self.inside.models:
            raise InputError(
                "model",
                f"must be one of {', '.join(self.model_names)}",
                f"got {model!r}",
                "choose one of them",
                code="choice",
            )


def ood_rows(
    inside: "Assay", outside: Any, *, level: float | None = None, positive: Positive = "out"
) -> list[dict[str, Any]]:
    """`detect_ood` as plain rows."""
    return detect_ood(inside, outside, level=level, positive=positive).rows()


def detect_ood(
    inside: "Assay",
    outside: Any,
    *,
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    groups: ArrayLike | None = None,
    level: float | None = None,
    positive: Positive = "out",
) -> OodDetection:
    """Judge how well the scores of an assay tell other inputs from its own.

    Parameters
    ----------
    inside : Assay
    outside : Assay, or dict of str to Prediction, or to a list of Prediction
        The same models on inputs from elsewhere: judged with labels, or only what they predict (a list holds the training
        runs, in the order of those inside). Scores are then computed with the settings of `inside`.
    uncertainties : dict of str to dict of str to array (n,) or (R, n), optional
        Scores from elsewhere on these inputs, under the names they have inside; for predictions.
    groups : array (n,), optional
        Groups of these inputs; by default those that a prediction carries. For predictions.
    level : float, optional
        Confidence level of the intervals; that of `inside` by default.
    positive : {"out", "in"}
        See `metrics.fpr_at_tpr_error`.

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
    [('ood-auc', 0.9), ('fpr95-out', 0.36), ('aupr-out', 0.81)]
    """
    from uqassay.evidence.result import Assay

    s = inside.settings
    own = Side.of_assay(inside, {m.name: scores_of(m, inside) for m in inside.candidates})
    if isinstance(outside, Assay):
        if uncertainties is not None or groups is not None:
            raise InputError(
                "outside",
                "an assay has scores and groups of its own",
                "got uncertainties or groups beside it",
                "give them to assay",
                code="undefined",
            )
        _check_settings(s, outside.settings)
        other = Side.of_assay(outside, {m.name: scores_of(m, outside) for m in outside.candidates})
    elif isinstance(outside, Mapping):
        _check_names(own.models, {str(name) for name in outside})
        other = score_side(
            outside,
            s,
            argument="outside",
            measures=[*(name for name in s.measures if name in SCORES), "nonspecificity"],
            points={name: model.n_points for name, model in own.models.items()},
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
    return _matched(own, other, positive, s.level if level is None else level, s.convention)


def detect_ood_in_predictions(
    inside: Mapping[str, Any],
    outside: Mapping[str, Any],
    *,
    scores: Sequence[str] | None = None,
    groups_in: ArrayLike | None = None,
    groups_out: ArrayLike | None = None,
    level: float = 0.95,
    positive: Positive = "out",
    progress: Callable[[str], None] | None = None,
) -> OodDetection:
    """Judge how well scores tell two samples apart where labels are known for neither.

    Parameters
    ----------
    inside, outside : dict of str to Prediction, or to a list of Prediction
        The same models on both samples, as in `uqassay.assay`.
    scores : sequence of str, optional
        Names of `measures.SCORES`; by default every one that some model offers, but for the costly ones.
    groups_in, groups_out : array (m,), (n,), optional
        By default those that the predictions carry.
    level, positive
        As in `detect_ood`.
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
    _check_names({str(name): None for name in inside}, {str(name) for name in outside})
    own, other = (
        score_side(predictions, settings, argument=argument, measures=scores, groups=groups, progress=progress)
        for predictions, argument, groups in ((inside, "inside", groups_in), (outside, "outside", groups_out))
    )
    _check_offered(inside, own, other, scores or ())
    return _matched(own, other, positive, level, settings.convention)


# -- helpers ------------------------------------------------------------------------------------------------------------


def _matched(inside: Side, outside: Side, positive: Positive, level: float, convention: str) -> OodDetection:
    check_choice(positive, "positive", ("out", "in"))
    check_level(level)
    _check_names(inside.models, set(outside.models))
    if inside.n_classes != outside.n_classes:
        raise InputError(
            "outside",
            "needs the same classes",
            f"inside has K = {inside.n_classes}, outside K = {outside.n_classes}",
            "use predictions of the same models",
            code="missing",
        )
    if inside.class_names and outside.class_names and inside.class_names != outside.class_names:
        raise InputError(
            "outside",
            "needs the same class names in the same order",
            f"inside starts with {list(inside.class_names[:3])}, outside with {list(outside.class_names[:3])}",
            "reorder the columns",
            code="mismatch",
        )
    for name, model in inside.models.items():
        other = outside.models[name]
        for what, own_value, other_value in (
            ("kind", model.kind, other.kind),
            ("number of runs", model.n_runs, other.n_runs),
            ("number of members or draws", model.n_points, other.n_points),
        ):
            if own_value != other_value:
                raise InputError(
                    "outside",
                    f"{name!r} needs the same {what} as inside",
                    f"inside has {own_value}, outside {other_value}",
                    "use predictions of the same model",
                    code="missing",
                )
    ordered = {name: outside.models[name] for name in inside.models}
    return OodDetection(inside, replace(outside, models=ordered), positive, float(level), convention)


def _check_offered(predictions: Mapping[str, Any], inside: Side, outside: Side, scores: Sequence[str]) -> None:
    """Refuse a score that no model has on either side."""
    held = {name for side in (inside, outside) for model in side.models.values() for name in model.columns}
    absent = [name for name in scores if name not in held]
    if not absent:
        return
    runs = {str(name): value if isinstance(value, Prediction) else value[0] for name, value in predictions.items()}
    offered = {
        score
        for name, run in runs.items()
        for score in score_names(run, costly=True)
        if inside.models[name].n_points != 1 or score not in (*OF_THE_SPREAD, "nonspecificity")
    }
    known = ", ".join(name for name in SCORES if name in offered)
    raise InputError(
        "scores", f"no model has {absent[0]!r}", f"the scores there are {known}", "choose from them", code="undefined"
    )


def _check_names(models: Mapping[str, Any], names: set[str]) -> None:
    missing = [name for name in models if name not in names]
    if missing:
        raise InputError(
            "outside",
            f"lacks {', '.join(map(repr, missing))}",
            f"inside has {', '.join(map(repr, models))}",
            "give predictions of every model on both samples",
            code="undefined",
        )
    extra = sorted(names - set(models))
    if extra:
        raise InputError(
            "outside",
            f"has {', '.join(map(repr, extra))}, which inside has not",
            f"inside has {', '.join(map(repr, models))}",
            "use the same names, or leave it out",
            code="undefined",
        )


def _check_settings(inside: Settings, outside: Settings) -> None:
    for name in ("nonspecificity", "convention"):
        own, other = getattr(inside, name), getattr(outside, name)
        if own != other:
            raise InputError(
                "outside",
                "needs the settings of inside",
                f"{name} is {own!r} inside, {other!r} outside",
                "judge both alike",
                code="missing",
            )
    families = [s.focal_sets for s in (inside, outside) if s.focal_sets is not None]
    if len(families) == 1 or (families and not np.array_equal(families[0], families[1])):
        raise InputError(
            "outside",
            "needs the settings of inside",
            "focal_sets differ",
            "judge both with the same family of events",
            code="mismatch",
        )


def _metric(name: str) -> OodMetric:
    check_choice(name, "metric", tuple(OOD_METRICS))
    return OOD_METRICS[name]

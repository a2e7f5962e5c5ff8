"""The main call: predictions of any kind and what happened → evidence about which model to choose.

Kept light: the function takes the name of the room it lives in, so the package imports this file at once, and everything
behind it when it is first called.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from uqassay.assay.calibration import ModelCalibration
    from uqassay.assay.findings import FINDING_COLUMNS
    from uqassay.assay.ranking import Ranked
    from uqassay.assay.result import Assay
    from uqassay.predictions import Prediction

__all__ = ["CALIBRATION", "FINDING_COLUMNS", "Assay", "ModelCalibration", "Ranked", "assay"]

TRADEOFFS = tuple(round(0.1 * i, 1) for i in range(1, 11))
CALIBRATION = ("ece-confidence", "ece-classwise")
_WHERE = {
    "Assay": "result",
    "FINDING_COLUMNS": "findings",
    "ModelCalibration": "calibration",
    "Ranked": "ranking",
}


def assay(
    predictions: Mapping[str, Prediction | Sequence[Prediction] | Any],
    y_true: ArrayLike,
    *,
    tradeoffs: Sequence[float] = TRADEOFFS,
    distance: Literal["kl", "js", "js_distance", "tv", "hellinger", "brier"] = "kl",
    nonspecificity: str = "hartley",
    convention: Literal["exact", "paper"] = "exact",
    focal_sets: Any = None,
    floor: float | None = None,
    measures: Sequence[str] | None = None,
    uncertainties: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    calibration: Sequence[str] = CALIBRATION,
    groups: ArrayLike | None = None,
    subgroups: Mapping[str, ArrayLike] | None = None,
    prior: ArrayLike | None = None,
    repair: bool = False,
    common_members: int | None = None,
    tolerance: float | None = None,
    level: float = 0.95,
    n_draws: int = 2000,
    rng: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Assay:
    """Judge classifiers by what they predicted and what happened.

    Parameters
    ----------
    predictions : dict of str to Prediction, or to a list of Prediction
        The models by name; a list holds the training runs of one model. Arrays (n, K) and (n, M, K), and objects of other
        libraries that `from_object` knows, are taken as well.
    y_true : int array (n,), or array (n, K), or Series
        Labels (integers, or class names as text), or label distributions / vote counts. A Series is aligned to the ids of
        the predictions by its index.
    tradeoffs : sequence of float
        The λ of the findings; any other λ can be asked for afterwards.
    distance, nonspecificity, convention, focal_sets, floor
        As in `metrics.unified_loss`.
    measures : sequence of str, optional
        Uncertainty scores to compute, from `measures.SCORES`; by default every one that some model can offer, but for the
        costly ones. Each is judged by how it ranks the mistakes.
    uncertainties : dict of str to dict of str to array (n,) or (R, n), optional
        Scores from elsewhere (a density, a second model), greater is less certain: {"model": {"density": values}}.
    calibration : sequence of str
        Measures of `metrics.CALIBRATION_MEASURES` by which each model is tested: sets of members, vertices, intervals and
        masses by `calibration.credal_calibration_test`, whether some mixture of them is calibrated, the others by
        `calibration.calibration_test` of their mean. Large test sets are tested on a random part of the instances, and the
        results say so. () for none.
    groups : array (n,), optional
        Patients, sites, videos: intervals, tests and bootstrap resample whole groups. By default those that a prediction
        carries.
    subgroups : dict of str to array (n,), optional
        Parts of the test set to report on, such as {"site": site}.
    prior : array (K,), optional
        Class frequencies of the class-prior baseline, from training data; by default those of `y_true` itself.
    repair : bool
        Clip and renormalise the masses of beliefs that are not belief functions, instead of refusing them.
    common_members : int, optional
        Span every ensemble's and Dirichlet's set by this many members or draws, so that their non-specificities compare.
    tolerance : float, optional
        Standard error wanted of each estimated non-specificity (K > 16), nats.
    level : float
        Confidence level of the intervals.
    n_draws : int
        Bootstrap draws behind the winning probabilities.
    rng : int, optional
        Seed; None means 0, so that a rerun agrees.
    progress : callable, optional
        Called with the name of what is being computed.

    Returns
    -------
    Assay

    Raises
    ------
    InputError
        When the models disagree about instances or classes, labels do not fit, or a name is unknown.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"sure": uq.Point([[0.9, 0.1], [0.1, 0.9]]), "unsure": uq.Point([[0.6, 0.4], [0.5, 0.5]])}, [0, 1])
    >>> [(r.model, round(float(r.estimate), 3)) for r in a.ranked(0.5)]
    [('sure', 0.105), ('vacuous', 0.347), ('unsure', 0.602), ('class-prior', 0.693)]
    """
    arguments = dict(locals())
    from uqassay.assay.judgement import judge

    return judge(**arguments)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'uqassay.assay' has no attribute {name!r}")
    return getattr(import_module(f"uqassay.assay.{_WHERE[name]}"), name)

"""The main call: predictions of any kind and what happened → evidence about which model to choose."""

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_rows
from uqassay.credal.focal_sets import as_focal_sets
from uqassay.errors import InputError
from uqassay.evidence.alignment import align, align_values
from uqassay.evidence.backward import backward_notes, backward_scores
from uqassay.evidence.calibration_plan import CalibrationPlan, check_measures
from uqassay.evidence.calibration_tests import calibration_tests
from uqassay.evidence.cautions import calibration_cautions, cautions
from uqassay.evidence.classwise_error import classwise_errors
from uqassay.evidence.findings import SUBSETS
from uqassay.evidence.given_scores import given_scores, score_list
from uqassay.evidence.prior_of_the_others import held_out_columns
from uqassay.evidence.random_order import random_keys, sample_reaching
from uqassay.evidence.result import Assay
from uqassay.evidence.scaled_sets import SCALES, check_scales, scale_models
from uqassay.evidence.scoring import SetSample, Settings, remembering, sample_sets, score_baselines, score_model
from uqassay.losses.unified import check_options, check_tradeoffs
from uqassay.measures.scores import SCORES
from uqassay.predictions import Masses, Point, Prediction
from uqassay.predictions.drawn import check_draws
from uqassay.wording import listed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CALIBRATION", "TRADEOFFS", "assay"]

TRADEOFFS = tuple(round(0.1 * i, 1) for i in range(1, 11))
CALIBRATION = ("kuiper-confidence", "ece-classwise")
PICTURED_VALUES = 200_000  # of a model's credal sets kept for pictures, K to an instance
PICTURED_POINTS = 30  # instances of each interesting kind whose points are kept as well


def assay(
    predictions: Mapping[str, Prediction | ArrayLike | Sequence[Prediction | ArrayLike] | Any],
    y_true: ArrayLike,
    *,
    class_names: Sequence[str] | None = None,
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
    subgroups: "Mapping[str, ArrayLike] | pd.DataFrame | None" = None,
    prior: ArrayLike | None = None,
    scales: Sequence[float] = SCALES,
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
        The models by name; a list holds the training runs of one model. Arrays (n, K) and (n, M, K), tensors, and objects of
        other libraries that `from_object` knows, are taken as well, alone or as runs.
    y_true : int array (n,), or array (n, K), or Series
        Labels (integers, or class names as text), or label distributions / vote counts. A Series is aligned to the ids of
        the predictions by its index.
    class_names : sequence of str, optional
        Names of the K classes, in the order of the columns; by default those that a prediction carries. Predictions that
        carry the same names in another order are put into this one.
    tradeoffs : sequence of float
        The λ of the findings; any other λ can be asked for afterwards.
    distance, nonspecificity, convention, focal_sets, floor
        As in `losses.unified_loss`.
    measures : sequence of str, optional
        Uncertainty scores to compute, from `measures.SCORES`; by default every one of the default list that some
        model can offer. Each is judged by how it ranks the mistakes.
    uncertainties : dict of str to dict of str to array (n,) or (R, n), optional
        Further scores, such as a density or those of a second model: {"model": {"density": values}}. Greater is less certain.
    calibration : sequence of str
        Measures of `metrics.CALIBRATION_MEASURES` by which each model is tested: sets of members, vertices, intervals and
        masses by `calibration.credal_calibration_test`, whether some mixture of them is calibrated, the others by
        `calibration.calibration_test` of their mean. Large test sets are tested on a random part of the instances, and the
        results say so. () for none.
    groups : array (n,), optional
        Patients, sites, videos: intervals, tests and bootstrap resample whole groups. By default those that a prediction
        carries.
    subgroups : dict of str to array (n,), or DataFrame, optional
        Parts of the test set to report on, such as {"site": site}; of a DataFrame every column.
    prior : array (K,), optional
        Class frequencies of the class-prior baseline, from training data. By default those of `y_true` itself, which saw the
        labels: a model is then told from the baseline only if it also is by the frequencies of all other instances (groups).
    scales : sequence of float
        Factors of the spread of the sets, for `Assay.scale_check`; () for none.
    repair : bool
        Clip and renormalise the masses of beliefs that are not belief functions, instead of refusing them.
    common_members : int, optional
        Span every ensemble's and Dirichlet's set by this many members or draws, so that their non-specificities compare.
    tolerance : float, optional
        Standard error wanted of each estimated non-specificity (K > 16), nats.
    level : float
        Confidence level of the intervals.
    n_draws : int
        Draws behind the shares of resamples.
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
    started = time.perf_counter()
    lambdas = tuple(sorted(set(check_tradeoffs(tradeoffs))))
    seed = _seed(rng)
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise InputError("level", "must lie between 0 and 1", f"got {level!r}", "0.95 is usual", code="range")
    check_options(distance, nonspecificity, convention, focal_sets, floor)
    check_draws(n_draws, "n_draws")
    if tolerance is not None and not (isinstance(tolerance, (int, float)) and tolerance > 0):
        raise InputError(
            "tolerance", "must be a positive number", f"got {tolerance!r}", "leave it out for 32 orders", code="range"
        )
    _check_names(measures)
    if not isinstance(repair, bool):
        raise InputError("repair", "must be True or False", f"got {repair!r}", "pass one of them", code="type")
    calibration_measures = check_measures(calibration, "calibration")
    factors = check_scales(scales)
    aligned = align(
        predictions,
        y_true,
        groups=groups,
        class_names=class_names,
        repair=repair,
        common_members=common_members,
        seed=seed,
    )
    y, n_classes = aligned.labels, len(aligned.class_names)
    given = given_scores(uncertainties, aligned)
    family = None if focal_sets is None else as_focal_sets(focal_sets, n_classes)
    settings = Settings(
        distance=distance,
        nonspecificity=nonspecificity,
        convention=convention,
        focal_sets=family,
        floor=floor,
        measures=score_list(measures, aligned, given),
        tolerance=tolerance,
        level=level,
        n_draws=n_draws,
        seed=seed,
    )
    remembered = remembering(aligned.models)
    models = [
        score_model(name, runs, y, settings, given=given.get(name), progress=progress)
        for name, runs in remembered.items()
    ]
    scaled = scale_models(models, remembered, y, settings, factors, groups=aligned.groups, progress=progress)
    shares = _prior(y, n_classes, prior)
    held_out = held_out_columns(y, n_classes, aligned.groups, settings) if prior is None else None
    models += score_baselines(y, n_classes, shares, settings, held_out=held_out)
    valid = {name: tuple(_valid(run, convention) for run in runs) for name, runs in remembered.items()}
    plan = CalibrationPlan(level=level, seed=seed)
    tests = calibration_tests(valid, y, calibration_measures, groups=aligned.groups, plan=plan, progress=progress)
    errors = {name: classwise_errors(runs, y) for name, runs in valid.items()}
    errors["class-prior"] = classwise_errors([Point(np.broadcast_to(shares, (len(y), n_classes)))], y)
    result = Assay(
        models=tuple(models),
        labels=y,
        class_names=aligned.class_names,
        ids=aligned.ids,
        groups=aligned.groups,
        subgroups=_subgroups(subgroups, len(y), aligned.ids),
        tradeoffs=lambdas,
        settings=settings,
        sets={},
        warnings=cautions(models, aligned, common_members) + calibration_cautions(tests, aligned),
        provenance=_provenance(y),
        calibration=tests,
        classwise_error=errors,
        scaled=scaled,
    )
    backward = backward_scores(result)
    result = replace(result, backward=backward, warnings=(*result.warnings, *backward_notes(backward)))
    result.sets.update(_pictures(result, valid))
    result.provenance["seconds"] = round(time.perf_counter() - started, 3)
    return result


def _seed(rng: int | None) -> int:
    if rng is None:
        return 0
    if isinstance(rng, (int, np.integer)) and rng >= 0:
        return int(rng)
    raise InputError(
        "rng",
        "must be a whole number ≥ 0, because the report states it",
        f"got {rng!r}",
        "pass a seed",
        code="type",
    )


def _prior(y: NDArray[Any], n_classes: int, prior: ArrayLike | None) -> NDArray[np.float64]:
    """Class frequencies, given or those of the labels, ``(K,)``."""
    if prior is None:
        return y.mean(axis=0) if y.ndim == 2 else np.bincount(y, minlength=n_classes) / len(y)
    shares = as_numeric(prior, "prior", ndim=1).astype(np.float64)
    if shares.shape != (n_classes,):
        raise InputError(
            "prior",
            f"needs one share for each of the {n_classes} classes",
            f"got shape {shares.shape}",
            "count the labels",
            code="mismatch",
        )
    check_rows(shares[None], "prior", tolerance=1e-6, remedy="divide the counts by their sum")
    return shares


def _subgroups(subgroups: Mapping[str, ArrayLike] | Any, n: int, ids: NDArray[Any] | None) -> dict[str, NDArray[Any]]:
    """Values (n,) of each subgroup, from a mapping or from the columns of a DataFrame."""
    given = _columns(subgroups)
    out = {}
    for key, values in given.items():
        name, parameter = str(key), f"subgroups[{str(key)!r}]"
        if name in SUBSETS or name in out:
            raise InputError(
                "subgroups",
                f"names must differ from each other and from {listed(SUBSETS)}, which are parts of every assay",
                f"got {name!r}",
                "rename the subgroup",
                code="choice",
            )
        array = align_values(values, n, ids, parameter)
        if array.dtype.kind in "OMm":
            array = array.astype(str)
        if array.dtype.kind == "f" and np.isnan(array).any():
            rows = np.flatnonzero(np.isnan(array))
            raise InputError(
                parameter,
                "must not hold nan",
                f"row {rows[0]} is nan, the first of {len(rows)}",
                "give such instances a number, or pass names as text",
                code="finite",
            )
        out[name] = array
    return out


def _columns(subgroups: Any) -> Mapping[Any, Any]:
    if subgroups is None or isinstance(subgroups, Mapping):
        return subgroups or {}
    columns = getattr(subgroups, "columns", None)
    if columns is None or not hasattr(subgroups, "items"):
        raise InputError(
            "subgroups",
            "must map names to values, or be a DataFrame",
            f"got {type(subgroups).__name__}",
            'write {"site": site}',
            code="type",
        )
    twice = [str(name) for i, name in enumerate(columns) if name in list(columns)[:i]]
    if twice:
        raise InputError(
            "subgroups",
            "columns must have different names",
            f"{twice[0]!r} occurs twice",
            "rename one",
            code="duplicate",
        )
    return dict(subgroups.items())


def _check_names(measures: Sequence[str] | None) -> None:
    """Refuse names of scores that do not exist, and anything that is no sequence of names."""
    if measures is None:
        return
    if isinstance(measures, str) or not isinstance(measures, Sequence):
        raise InputError(
            "measures",
            "must be a sequence of names of scores",
            f"got {type(measures).__name__}",
            "write ('total-entropy',)",
            code="type",
        )
    unknown = [m for m in measures if not isinstance(m, str) or m not in SCORES]
    if unknown:
        raise InputError(
            "measures", f"must be among {', '.join(SCORES)}", f"got {unknown[0]!r}", "choose from them", code="choice"
        )


def _provenance(y: NDArray[Any]) -> dict[str, Any]:
    from uqassay import __version__

    return {
        "uqassay": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "labels_sha256": sha256(np.ascontiguousarray(y).tobytes()).hexdigest(),
    }


def _pictures(result: Assay, models: Mapping[str, tuple[Prediction, ...]]) -> dict[str, SetSample]:
    """Credal sets of the extreme instances, then of the others in a fixed random order, as far as room allows."""
    extremes = result.extreme_instances(PICTURED_POINTS)
    first = np.unique(np.concatenate(list(extremes.values())))
    room = max(len(first), PICTURED_VALUES // result.n_classes)
    others = np.setdiff1d(np.arange(result.n_instances), first)
    keys = random_keys(result.n_instances, None, result.settings.seed)[others]
    others = others[sample_reaching(keys, room - len(first))] if room > len(first) else others[:0]
    rows = np.concatenate([first, others])
    return {name: sample_sets(runs[0], rows, len(first)) for name, runs in models.items()}


def _valid(run: Prediction, convention: str) -> Prediction:
    return run.repaired() if convention == "paper" and isinstance(run, Masses) else run

"""The main call: predictions of any kind and what happened → evidence about which model to choose."""

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric, check_rows
from uqassay.credal.focal_sets import as_focal_sets
from uqassay.errors import InputError
from uqassay.evidence.alignment import BASELINES, Aligned, align
from uqassay.evidence.calibration_tests import (
    CalibrationPlan,
    ModelCalibration,
    calibration_tests,
    check_measures,
)
from uqassay.evidence.classwise_error import classwise_errors
from uqassay.evidence.given_scores import given_scores, score_list
from uqassay.evidence.result import Assay
from uqassay.evidence.scoring import ModelScores, SetSample, Settings, sample_sets, score_baselines, score_model
from uqassay.losses.unified import check_options, check_tradeoff
from uqassay.measures.scores import SCORES
from uqassay.predictions import Masses, Point, Prediction
from uqassay.predictions.drawn import check_draws
from uqassay.predictions.pandas_input import positions, take_index

__all__ = ["CALIBRATION", "TRADEOFFS", "assay"]

TRADEOFFS = tuple(round(0.1 * i, 1) for i in range(1, 11))
CALIBRATION = ("ece-confidence", "ece-classwise")
PICTURED_VALUES = 200_000  # of a model's credal sets kept for pictures, K to an instance
PICTURED_POINTS = 30  # instances of each interesting kind whose points are kept as well


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
        As in `losses.unified_loss`.
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
    started = time.perf_counter()
    lambdas = _tradeoffs(tradeoffs)
    seed = _seed(rng)
    if not (isinstance(level, (int, float)) and 0 < level < 1):
        raise InputError("level", "must lie between 0 and 1", f"got {level!r}", "0.95 is usual", code="range")
    check_options(distance, nonspecificity, convention, focal_sets, floor)
    check_draws(n_draws, "n_draws")
    if tolerance is not None and not (isinstance(tolerance, (int, float)) and tolerance > 0):
        raise InputError(
            "tolerance", "must be a positive number", f"got {tolerance!r}", "leave it out for 32 orders", code="range"
        )
    unknown = [m for m in measures or () if m not in SCORES]
    if unknown:
        raise InputError(
            "measures", f"must be among {', '.join(SCORES)}", f"got {unknown[0]!r}", "choose from them", code="choice"
        )
    calibration_measures = check_measures(calibration, "calibration")
    aligned = align(predictions, y_true, groups=groups, repair=repair, common_members=common_members, seed=seed)
    y, n_classes = aligned.labels, len(aligned.class_names)
    given = given_scores(uncertainties, aligned)
    family = None if focal_sets is None else as_focal_sets(focal_sets, n_classes)
    settings = Settings(
        distance,
        nonspecificity,
        convention,
        family,
        floor,
        score_list(measures, aligned, given),
        tolerance,
        level,
        n_draws,
        seed,
    )
    models = [
        score_model(name, runs, y, settings, given=given.get(name), progress=progress)
        for name, runs in aligned.models.items()
    ]
    shares = _prior(y, n_classes, prior)
    models += score_baselines(y, n_classes, shares, settings)
    valid = {name: tuple(_valid(run, convention) for run in runs) for name, runs in aligned.models.items()}
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
        warnings=_warnings(models, aligned, prior, common_members) + _calibration_warnings(tests, aligned),
        provenance=_provenance(y),
        calibration=tests,
        classwise_error=errors,
    )
    result.sets.update(_pictures(result, valid))
    result.provenance["seconds"] = round(time.perf_counter() - started, 3)
    return result


def _tradeoffs(tradeoffs: Sequence[float]) -> tuple[float, ...]:
    values = list(tradeoffs) if isinstance(tradeoffs, (Sequence, np.ndarray)) else [tradeoffs]
    if not values:
        raise InputError("tradeoffs", "needs at least one λ", "got none", "(0.1, 0.5, 1.0) is a start", code="empty")
    for value in values:
        check_tradeoff(value)
    return tuple(sorted({float(value) for value in values}))


def _seed(rng: int | None) -> int:
    if rng is None:
        return 0
    if isinstance(rng, (int, np.integer)) and rng >= 0:
        return int(rng)
    raise InputError(
        "rng",
        "must be a whole number ≥ 0, for it is written into the report",
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


def _subgroups(subgroups: Mapping[str, ArrayLike] | None, n: int, ids: NDArray[Any] | None) -> dict[str, NDArray[Any]]:
    out = {}
    for name, given in (subgroups or {}).items():
        values, index = take_index(given)
        array = np.asarray(values)
        if array.shape != (n,):
            raise InputError(
                "subgroups",
                f"{name!r} needs one value for each of the {n} instances",
                f"got shape {array.shape}",
                "align it",
                code="mismatch",
            )
        if index is not None and ids is not None:
            array = array[positions(index, ids, f"subgroups: the index entries of {name!r}")]
        if str(name) in ("correct", "class"):
            raise InputError(
                "subgroups",
                f"{name!r} is a name of its own (subset_findings)",
                "",
                "rename the subgroup",
                code="undefined",
            )
        if array.dtype.kind in "OMm":
            array = array.astype(str)
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise InputError(
                "subgroups", f"{name!r} holds nan", "", "give such instances a value of their own", code="finite"
            )
        out[str(name)] = array
    return out


def _warnings(
    models: Sequence[ModelScores], aligned: Aligned, prior: ArrayLike | None, common_members: int | None
) -> tuple[str, ...]:
    """What a reader must know before believing the numbers, one sentence each."""
    found = []
    n = len(aligned.labels)
    chosen = [m for m in models if not m.baseline]
    for m in chosen:
        found += [f"{m.name}: {note}." for note in m.notes]
        if m.floored:
            share = f"{m.floored} of {m.n_runs * n} rows"
            rule = "0, an infinite loss" if m.floor == 0 else f"below {m.floor:.3g}, and counts as that"
            whose = "the label's" if aligned.labels.ndim == 1 else "some voted class's"
            found.append(f"{m.name}: in {share} {whose} upper probability is {rule}.")
        if m.gap > 1e-4:
            found.append(f"{m.name}: the solver's certified gap reaches {m.gap:.2g} in the distance.")
        if m.nonspecificity_error:
            found.append(
                f"{m.name}: the non-specificity is estimated from random orders of the classes; standard error of its mean "
                f"{m.nonspecificity_error:.2g}."
            )
    floors = {m.name: m.floor for m in chosen}
    if len(set(floors.values())) > 1 and any(m.floored for m in chosen):
        counts = ", ".join(f"{name} {floor:.3g}" for name, floor in floors.items())
        found.append(
            f"The floors follow the precision each model is stored in ({counts}), so the same zero costs more in one than in "
            "another; pass one floor for all."
        )
    sampled = {m.name: m.n_points for m in chosen if m.n_points is not None and m.n_points > 1}
    if len(set(sampled.values())) > 1 and common_members is None:
        counts = ", ".join(f"{name} {count}" for name, count in sampled.items())
        found.append(
            f"The sets are spanned by different numbers of members or draws ({counts}); non-specificity grows with that "
            f"number, so compare with common_members={min(sampled.values())}."
        )
    truth = aligned.labels if aligned.labels.ndim == 1 else aligned.labels.argmax(axis=1)
    absent = len(aligned.class_names) - len(np.unique(truth))
    if absent:
        found.append(f"{absent} of {len(aligned.class_names)} classes never occur as the label.")
    if n < 100:
        found.append(f"Only {n} instance{'s' if n > 1 else ''}: intervals are wide, and too short for skewed losses.")
    if aligned.groups is not None and len(np.unique(aligned.groups)) < 20:
        found.append(f"Only {len(np.unique(aligned.groups))} groups: intervals over groups are rough.")
    left_out = set(BASELINES) - {m.name for m in models}
    if left_out:
        found.append(f"The {left_out.pop()} baseline is left out: its non-specificity is undefined in this convention.")
    if prior is None:
        found.append("The class-prior baseline uses the frequencies of these labels, which favours it slightly.")
    return tuple(found)


def _calibration_warnings(tests: Sequence[ModelCalibration], aligned: Aligned) -> tuple[str, ...]:
    """What limits the calibration tests of all models alike."""
    if not tests:
        return ()
    if aligned.labels.ndim == 2:
        return (
            "Calibration is not tested: the tests take one label for each instance, and these are label distributions.",
        )
    found = []
    if aligned.groups is not None:
        found.append(
            "The calibration tests take labels for independent; where those of one group depend on each other, p-values are "
            "too small."
        )
    first = tests[0]
    if first.n_tested < first.n_instances:
        found.append(
            f"The calibration tests took {first.n_tested:,} of the {first.n_instances:,} instances, chosen at random; "
            "uqassay calibration-test takes all."
        )
    return tuple(found)


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
    others = np.sort(np.random.default_rng(result.settings.seed).permutation(others)[: room - len(first)])
    rows = np.concatenate([first, others])
    return {name: sample_sets(runs[0], rows, len(first)) for name, runs in models.items()}


def _valid(run: Prediction, convention: str) -> Prediction:
    return run.repaired() if convention == "paper" and isinstance(run, Masses) else run

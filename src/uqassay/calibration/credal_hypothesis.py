"""Is some convex combination of an ensemble's members calibrated? The credal calibration test."""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState
from uqassay._array import generator as as_generator
from uqassay._blas import single_blas_thread
from uqassay._one_order import in_one_order
from uqassay.calibration.credal_nulls import LeastError, authors_code, minimised_null, random_null, single_member
from uqassay.calibration.credal_verdict import CredalCalibrationTest
from uqassay.calibration.direction import unseen_notes
from uqassay.calibration.likely_mixtures import LikelyMixtures
from uqassay.calibration.mixtures import MixtureObjective
from uqassay.calibration.paper_code import paper_code_measure
from uqassay.calibration.parts import check_search, hard_labels
from uqassay.calibration.shared_members import SharedMembers, shared_members
from uqassay.calibration.simplex_search import QUICK, THOROUGH, SimplexSearch
from uqassay.calibration.single_hypothesis import undefined_notes
from uqassay.errors import InputError
from uqassay.metrics.calibration.measures import CalibrationMeasure, calibration_measure
from uqassay.notes import Note
from uqassay.statistics.samples import check_choice, check_draws

__all__ = ["NULLS", "credal_calibration_test", "credal_calibration_tests"]

Labels = NDArray[np.intp]
Null = Literal["minimised", "sequential", "random", "berger-boos"]
NULLS = get_args(Null)
Convention = Literal["exact", "paper-code"]

UNSETTLED = 1.0  # search spread, in standard deviations of the null, above which a note is added


@in_one_order("members", "y_true")
def credal_calibration_test(
    y_true: ArrayLike,
    members: Any,
    *,
    measure: str | CalibrationMeasure = "kuiper-confidence",
    null: Null = "minimised",
    n_draws: int = 99,
    resample: bool = False,
    convention: Convention = "exact",
    search: SimplexSearch | None = None,
    rng: RandomState = None,
) -> CredalCalibrationTest:
    """Test whether some mixture p_λ = Σ λ_m p_m of the members, one λ for all instances, is calibrated.

    Parameters
    ----------
    y_true : int array (n,)
        Labels.
    members : Members, Vertices, Intervals, Masses, Point, or array (n, M, K)
        The distributions to mix. Intervals and masses are represented by the 2K vertices that take one class first or last:
        only these have an index with the same meaning in every instance. A single member gives `calibration_test`. Rows
        stored in low precision are divided by their sum.
    measure : str or CalibrationMeasure
        Any of `CALIBRATION_MEASURES`. The least Brier score or log loss of several members is tested on the upper side only,
        whether every mixture scores worse than its probabilities predict, so mixtures that are all underconfident are not
        found; a single member is tested on both sides.
    null : {"minimised", "sequential", "random", "berger-boos"}
        Null distribution of the least value over λ. "random" is the paper's: labels are drawn from a random λ0 and the
        measure is computed at that λ0. Nothing is minimised there, so on average over λ0 it rejects far less often than α,
        and at some λ0 far more often.
        "minimised": labels are drawn from one λ that is likely given the data (`predictive_weights`), and the same search
        minimises the measure again for every draw. If that p-value is at most .5, labels are also drawn from the most likely
        mixture of as few members as the labels do not contradict (`fewest_members`), and the greater p-value counts: near a
        corner of the simplex the first λ alone rejects too often.
        "sequential": the same, but the draws end once a tenth of D has reached the statistic, and a draw is searched no
        further than until it falls below the statistic. p-values up to .1 are those of "minimised", greater ones those of
        Besag and Clifford (1991), and the test takes less than half the time. `null` then holds the draws made, with upper
        bounds for most of those below the statistic, so there is no `threshold`.
        "berger-boos": the greatest such p-value over at most six candidates, plus .001. The candidates are the most likely
        λ and five of 20 to 50 λ in a confidence set of level .999; the five have the greatest p-values in a quick search.
        The maximum over the whole set would keep the level for every true λ. This null costs power and time.
    n_draws : int
        Null draws D; the p-value is (1 + the number of draws that reach the statistic) / (D + 1).
    resample : bool
        Draw instances with replacement in the null (line 2 of the printed algorithm; only with null="random"). Repeated
        instances leave more bins empty. Measures that depend on thinly filled bins are then smaller than in the data, and
        the p-values too small.
    convention : {"exact", "paper-code"}
        "paper-code", with null="random", follows the authors' code: λ0 from Dir(1/M), permuted instances, |t| compared with
        the quantile of the draws, COBYLA from λ = 1/M, and the authors' variants of the measures.
    search : SimplexSearch, optional
        Effort of the search: `QUICK`, `THOROUGH`, `PATIENT` or a `SimplexSearch` of your own. For ten members these evaluate
        about 600 to 1,500, 1,200 to 6,000 and 9,000 to 35,000 mixtures, more if the members agree, because a mixture is then
        cheaper. The default is `THOROUGH` for the single minimum of null="random", otherwise `QUICK`. A single member needs
        no search; the authors' code has its own.
    rng : int, Generator or None
        None means seed 0.

    Returns
    -------
    CredalCalibrationTest

    Raises
    ------
    InputError
        Shapes that do not fit, labels out of range, predictions without members, options that exclude each other.

    References
    ----------
    Paper 001, algorithm 1. Berger, Boos (1994), P values maximized over a confidence set for the nuisance parameter. Besag,
    Clifford (1991), Sequential Monte Carlo p-values.

    Examples
    --------
    >>> rng = np.random.default_rng(2)
    >>> members = rng.dirichlet([1.0, 1.0, 1.0], (200, 2))
    >>> labels = np.array([rng.choice(3, p=p) for p in members[:, 0]])
    >>> test = credal_calibration_test(labels, members)
    >>> test.reject(), test.n_draws
    (False, 99)
    >>> credal_calibration_test((labels + 1) % 3, members).sentence()
    'No mixture of the 2 members is confidence calibrated (p = .01).'
    """
    return credal_calibration_tests(
        y_true,
        members,
        measures=[measure],
        null=null,
        n_draws=n_draws,
        resample=resample,
        convention=convention,
        search=search,
        rng=rng,
    )[0]


@in_one_order("members", "y_true")
def credal_calibration_tests(
    y_true: ArrayLike,
    members: Any,
    *,
    measures: Sequence[str | CalibrationMeasure],
    null: Null = "minimised",
    n_draws: int = 99,
    resample: bool = False,
    convention: Convention = "exact",
    search: SimplexSearch | None = None,
    rng: RandomState = None,
) -> list[CredalCalibrationTest]:
    """`credal_calibration_test` by several measures, each from the same random numbers; they share what needs no measure.

    The results are those of separate tests.
    """
    check_choice(null, "null", NULLS)
    check_choice(convention, "convention", ("exact", "paper-code"))
    check_draws(n_draws)
    check_search(search)
    _check_together(null, resample, convention, search)
    chosen = [calibration_measure(measure) for measure in measures]
    if convention == "paper-code":
        chosen = [paper_code_measure(measure) for measure in chosen]
    shared = shared_members(members)
    labels = hard_labels(y_true, shared.probs.shape[0], shared.probs.shape[2], members=members)
    likely = LikelyMixtures(shared.probs, labels)
    generator = as_generator(rng)
    state = generator.bit_generator.state
    plan, tests = _Plan(null, n_draws, resample, convention, search), []
    for one in chosen:
        generator.bit_generator.state = state
        tests.append(_tested(likely, shared, one, plan, generator))
    return tests


class _Plan(NamedTuple):
    """Options of `credal_calibration_test`."""

    null: Null
    n_draws: int
    resample: bool
    convention: Convention
    search: SimplexSearch | None


@single_blas_thread()
def _tested(
    likely: LikelyMixtures,
    shared: SharedMembers,
    chosen: CalibrationMeasure,
    plan: _Plan,
    generator: np.random.Generator,
) -> CredalCalibrationTest:
    null, n_draws, resample, convention, search = plan
    labels, (n, m, n_classes) = likely.labels, shared.probs.shape
    with np.errstate(all="ignore"):  # 0/0 in some measures, and infinity if an event of probability 0 happens
        if convention == "paper-code":
            found = authors_code(labels, shared, chosen, n_draws, generator)
        elif m == 1:
            found = single_member(labels, shared, chosen, n_draws, resample, generator)
        else:
            objective = MixtureObjective(likely.mixtures, labels[np.newaxis], chosen)
            if objective.undefined():
                found = LeastError(math.nan, math.nan, np.full(m, math.nan), np.full(n_draws, math.nan), math.nan, 1)
            elif null == "random":
                found = random_null(objective, n_draws, resample, search or THOROUGH, generator)
            else:
                found = minimised_null(likely, objective, null, n_draws, search or QUICK, generator)
    notes = [*undefined_notes(found.statistic, found.pvalue, n), *shared.notes]
    notes += unseen_notes(chosen, shared.probs.mean(axis=1), m if convention == "exact" else 1)
    if found.spread > UNSETTLED:
        finite = math.isfinite(found.spread)
        known = f"known to about {found.spread:.2g} standard deviations of its null" if finite else "known roughly"
        text = f"the least value is {known}, so the test may miss a miscalibration"
        notes.append(Note("not-settled", text, {"spread": found.spread}))
        notes.append(Note("option", "repeat the test with search=PATIENT, which finds the least value more surely"))
    return CredalCalibrationTest(
        measure=chosen.name,
        notion=chosen.notion,
        statistic=found.statistic,
        pvalue=found.pvalue,
        weights=found.weights,
        null=found.null,
        null_kind="single" if m == 1 and convention == "exact" else null,
        convention=convention,
        n_instances=n,
        n_members=m,
        n_classes=n_classes,
        noun=shared.noun,
        search_spread=found.spread,
        evaluations=found.evaluations,
        width=shared.width,
        notes=tuple(notes),
        sides=chosen.sides if m == 1 and convention == "exact" else "upper",
        planned_draws=n_draws if null == "sequential" and m > 1 else None,
    )


def _check_together(null: str, resample: bool, convention: str, search: SimplexSearch | None) -> None:
    if convention == "paper-code" and (null != "random" or resample):
        what = f"null={null!r}" if null != "random" else "resample=True"
        raise InputError(
            "convention",
            "the authors' code has only the null of a random mixture, with permuted instances",
            f"got {what}",
            'pass null="random" and resample=False',
            code="conflict",
        )
    if convention == "paper-code" and search is not None:
        raise InputError(
            "search",
            "cannot be set with the authors' code, which searches by COBYLA from λ = 1/M",
            f"got {search!r}",
            "leave it out",
            code="conflict",
        )
    if resample and null != "random":
        raise InputError(
            "resample",
            "instances are resampled only under the paper's null",
            f"got null={null!r}",
            'pass null="random", or resample=False, which keeps the level',
            code="conflict",
            facts={"null": null},
        )

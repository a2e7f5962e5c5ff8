"""Is some convex combination of an ensemble's members calibrated? The credal calibration test."""

import math
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import RandomState
from uqassay._array import generator as as_generator
from uqassay.calibration.credal_nulls import (
    BETA,
    LeastError,
    authors_code,
    minimised_null,
    random_null,
    single_member,
)
from uqassay.calibration.monte_carlo import (
    CALIBRATED,
    check_alpha,
    null_threshold,
    plain_number,
)
from uqassay.calibration.paper_code import paper_code_measure
from uqassay.calibration.parts import check_search, hard_labels
from uqassay.calibration.shared_members import shared_members
from uqassay.calibration.simplex_search import QUICK, THOROUGH, SimplexSearch
from uqassay.calibration.single_hypothesis import undefined_notes
from uqassay.errors import InputError
from uqassay.metrics.calibration.measures import CalibrationMeasure, calibration_measure
from uqassay.notes import Note
from uqassay.statistics.samples import check_choice, check_draws
from uqassay.wording import pvalue_text

__all__ = ["CredalCalibrationTest", "credal_calibration_test"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Null = Literal["minimised", "random", "berger-boos"]
Convention = Literal["exact", "paper-code"]

UNSETTLED = 1.0  # standard deviations of the null from which on a note says so


@final
@dataclass(frozen=True, eq=False)
class CredalCalibrationTest:
    """Result of `credal_calibration_test`.

    Attributes
    ----------
    measure, notion : str
        What was measured, and the notion of calibration that it looks at: "confidence", "classwise" or "strong".
    statistic : float
        Least value of the measure over all mixtures, for the labels that came.
    pvalue : float
        Small where no mixture is calibrated; nan where it is undefined, see `notes`.
    weights : array (M,)
        The λ of that least value.
    null : array (D,)
        The same under the null hypothesis; for "berger-boos" at the candidate λ of greatest p-value.
    null_kind : {"minimised", "random", "berger-boos", "single"}
        Where the null draws come from; "single" for one member, which leaves nothing to minimise.
    convention : {"exact", "paper-code"}
    n_instances, n_members, n_classes : int
    noun : str
        What is mixed: "members" or "vertices".
    search_spread : float
        Range of the minima that independent searches found for the labels that came, over the null's standard deviation (inf
        where that is 0 or undefined, unless all minima are equal); nan where there was one search only, or no minimum.
    evaluations : int
        Mixtures judged by all searches.
    width : float
        Mean over instances and classes of the upper minus the lower probability of the credal set.
    notes : tuple of Note
        What limits the result.
    """

    measure: str
    notion: str
    statistic: float
    pvalue: float
    weights: Floats
    null: Floats
    null_kind: str
    convention: str
    n_instances: int
    n_members: int
    n_classes: int
    noun: str
    search_spread: float
    evaluations: int
    width: float
    notes: tuple[Note, ...] = ()

    @property
    def n_draws(self) -> int:
        """Number of null draws D."""
        return len(self.null)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that so many draws can reach."""
        return 0.0 if self.convention == "paper-code" else 1 / (self.n_draws + 1) + self._offset

    def reject(self, alpha: float = 0.05) -> bool:
        """Whether no mixture is found to be calibrated at this level; an undefined p-value rejects nothing.

        Raises
        ------
        InputError
            A level that so few draws cannot reach.
        """
        if self.convention == "paper-code":
            return bool(abs(self.statistic) > self.threshold(alpha))
        check_alpha(alpha, self.n_draws, offset=self._offset)
        return self.pvalue <= alpha + 1e-12

    def threshold(self, alpha: float = 0.05) -> float:
        """What the statistic (its absolute value in the authors' code) must exceed to reject at this level."""
        if self.convention == "paper-code":
            check_alpha(alpha, 2**62)
            return float(np.quantile(self.null, 1 - alpha))
        return null_threshold(self.null, alpha, offset=self._offset)

    def sentence(self, alpha: float = 0.05) -> str:
        """The result in plain words."""
        what, p = CALIBRATED.get(self.notion, self.notion), pvalue_text(self.pvalue)
        one = self.n_members == 1
        if math.isnan(self.pvalue):
            return f"Whether {'the classifier' if one else f'some mixture of the {self.noun}'} is {what} is undefined."
        if self.smallest_pvalue > alpha + 1e-12:
            return f"{self.n_draws} draws are too few to tell at this level whether a mixture is {what} ({p})."
        if self.reject(alpha):
            subject = "The classifier is not" if one else f"No mixture of the {self.n_members} {self.noun} is"
            return f"{subject} {what} ({p})."
        if one:
            return f"The test could not tell the classifier from one that is {what} ({p})."
        top = int(self.weights.argmax())
        return (
            f"The {self.n_members} {self.noun} can be weighted so that the test could not tell their mixture from one that "
            f"is {what} ({p}; greatest weight {self.weights[top]:.2f}, on number {top})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer."""
        return {
            "measure": self.measure,
            "notion": self.notion,
            "statistic": plain_number(self.statistic),
            "pvalue": plain_number(self.pvalue),
            "weights": [plain_number(weight) for weight in self.weights.tolist()],
            "null": [plain_number(value) for value in self.null.tolist()],
            "null_kind": self.null_kind,
            "convention": self.convention,
            "n_instances": self.n_instances,
            "n_members": self.n_members,
            "n_classes": self.n_classes,
            "noun": self.noun,
            "n_draws": self.n_draws,
            "smallest_pvalue": self.smallest_pvalue,
            "search_spread": plain_number(self.search_spread),
            "evaluations": self.evaluations,
            "width": self.width,
            "notes": [note.to_dict() for note in self.notes],
        }

    @property
    def _offset(self) -> float:
        return BETA if self.null_kind == "berger-boos" else 0.0


def credal_calibration_test(
    y_true: ArrayLike,
    members: Any,
    *,
    measure: str | CalibrationMeasure = "ece-confidence",
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
        What is mixed. Intervals and masses go through their 2K vertices that take one class first or last, the only ones
        whose index means the same in every instance. A single member gives `calibration_test`. Rows whose coarser precision
        makes them miss the sum of 1 are divided by it.
    measure : str or CalibrationMeasure
        Any of `CALIBRATION_MEASURES`.
    null : {"minimised", "random", "berger-boos"}
        What the least value over λ is compared with. "random" is the paper's: labels from a random λ0, valued at that λ0.
        As nothing is minimised there, it rejects far less often than α on average, but far more often at some λ0.
        "minimised": labels from one λ that the labels make likely (`predictive_weights`), and the minimum taken again in every
        draw by the same search.
        "berger-boos": the greatest such p-value over at most six candidates, plus .001: of 20 to 50 λ in a confidence set
        of level .999, the most likely one and the five whose p-values look greatest when few mixtures are judged. The greatest
        over the whole set would keep the level whatever the true λ is; it costs power and time.
    n_draws : int
        Null draws D; the p-value is (1 + the number of draws that reach the statistic) / (D + 1).
    resample : bool
        Draw instances with replacement in the null (line 2 of the printed algorithm; only with null="random"). Repeated
        instances leave more bins empty, where a measure of thinly filled bins comes out smaller than in the data: p-values are
        too small then.
    convention : {"exact", "paper-code"}
        "paper-code", with null="random", is the authors' code: λ0 from Dir(1/M), instances permuted, |t| compared with the
        quantile of the draws, COBYLA from λ = 1/M, and their variants of the measures.
    search : SimplexSearch, optional
        How much is searched: `QUICK`, `THOROUGH`, `PATIENT` or one's own; for ten members some 600 to 1,500, 1,200 to 6,000
        and 9,000 to 35,000 mixtures, more where the members agree, as a mixture then costs less. By default
        `THOROUGH` for the one minimum that null="random" needs, otherwise `QUICK`. A single member needs none, and with the
        authors' code it cannot be chosen.
    rng : int, Generator or None
        None means seed 0.

    Returns
    -------
    CredalCalibrationTest

    Raises
    ------
    InputError
        Shapes that do not fit, labels out of range, predictions without members, options that do not go together.

    References
    ----------
    Paper 001, algorithm 1. Berger, Boos (1994), P values maximized over a confidence set for the nuisance parameter.

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
    check_choice(null, "null", ("minimised", "random", "berger-boos"))
    check_choice(convention, "convention", ("exact", "paper-code"))
    check_draws(n_draws)
    check_search(search)
    _check_together(null, resample, convention, search)
    chosen = calibration_measure(measure)
    if convention == "paper-code":
        chosen = paper_code_measure(chosen)
    shared = shared_members(members)
    n, m, n_classes = shared.probs.shape
    labels = hard_labels(y_true, n, n_classes, members=members)
    generator = as_generator(rng)
    with np.errstate(all="ignore"):  # measures reach 0/0, and infinity where what cannot happen does
        if convention == "paper-code":
            found = authors_code(labels, shared, chosen, n_draws, generator)
        elif m == 1:
            found = single_member(labels, shared, chosen, n_draws, resample, generator)
        elif math.isnan(float(chosen.prepare(shared.probs.mean(axis=1)).values(labels))):
            found = LeastError(math.nan, math.nan, np.full(m, math.nan), np.full(n_draws, math.nan), math.nan, 1)
        elif null == "random":
            found = random_null(labels, shared, chosen, n_draws, resample, search or THOROUGH, generator)
        else:
            found = minimised_null(labels, shared, chosen, null, n_draws, search or QUICK, generator)
    notes = [*undefined_notes(found.statistic, found.pvalue, n), *shared.notes]
    if found.spread > UNSETTLED:
        apart = f"by {found.spread:.3g} standard deviations of the null"
        apart = apart if math.isfinite(found.spread) else "without a scale"
        text = f"independent searches for the least value differ {apart}, which costs power"
        notes.append(Note("not-settled", text, {"spread": found.spread}))
        notes.append(Note("option", "search=PATIENT settles more"))
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
    )


def _check_together(null: str, resample: bool, convention: str, search: SimplexSearch | None) -> None:
    if convention == "paper-code" and (null != "random" or resample):
        what = f"null={null!r}" if null != "random" else "resample=True"
        raise InputError(
            "convention",
            "the authors' code knows only the null of a random mixture, with permuted instances",
            f"got {what}",
            'pass null="random" and resample=False',
            code="conflict",
        )
    if convention == "paper-code" and search is not None:
        raise InputError(
            "search",
            "the authors' code has COBYLA search from λ = 1/M",
            f"got {search!r}",
            "leave it out",
            code="conflict",
        )
    if resample and null != "random":
        raise InputError(
            "resample",
            "instances are resampled only in the paper's own null",
            f"got null={null!r}",
            'pass null="random", or resample=False, which keeps the level',
            code="conflict",
            facts={"null": null},
        )

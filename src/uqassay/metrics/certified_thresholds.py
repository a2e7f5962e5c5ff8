"""Certified refusal: a threshold whose error rate on new data is bounded with a stated confidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.arrays import Floats, as_array, generator
from uqassay.checks import fail
from uqassay.ids import in_one_order
from uqassay.metrics.risk import RankedErrors, checked_errors, rank_errors
from uqassay.notes import Note, reason
from uqassay.results import Shown, ShownCell, ShownRow, ShownTable, plain, plain_of
from uqassay.statistics.estimate import Estimate, proportion_estimate, unit_notes
from uqassay.statistics.risk_bounds import (
    bet_pvalues,
    binomial_pvalues,
    chosen_bets,
    least_kept,
    log_growth,
    rejection_power,
    sums_by_group,
    upper_error_rate,
    upper_rate_of_groups,
)
from uqassay.statistics.units import Units, check_inside, make_units
from uqassay.text import count, counted, level_text, number, percent, percent_interval, pvalue_text

__all__ = [
    "CertifiedRefusal",
    "RefusalParts",
    "certified_refusal",
    "divide",
    "short_number",
    "threshold_text",
    "whole_errors",
]


# Candidate thresholds of a refusal, in the order in which they are to be tested, chosen on one part of the data.

STEP = 0.01  # between candidates, as a share of the instances: each further test is one more chance to stop


class Tested(NamedTuple):
    """Errors, instances kept and p-value at each candidate threshold, (T,) each."""

    errors: Floats
    kept: Floats
    pvalues: Floats


@final
@dataclass(frozen=True, eq=False)
class RefusalPlan:
    """Thresholds in ascending order, each tested only if those before it were certified.

    Build it with `plan_refusal`.
    """

    #: greatest error rate of the instances kept, and the level of the tests
    risk: float
    alpha: float
    thresholds: Floats  #: (T,): the last one is infinite, which keeps everything
    coverage: Floats  #: (T,): share kept of the choosing part
    #: share kept at the highest threshold that is likely to be certified (0 if none is), and the power or evidence at the first
    #: threshold. Plans of several scores are compared by it.
    promise: tuple[float, float]
    bets: Floats | None = None  #: (T,): bets of the test for groups; None for independent instances
    largest: float = 1.0  #: size of the largest group

    def test(self, errors: Floats, uncertainty: Floats, units: Units) -> Tested:
        """Test every candidate on the other part of the data."""
        if self.bets is None or units.codes is None:
            ranked = rank_errors(errors, uncertainty)
            wrong, kept = _counts(ranked, self.thresholds)
            return Tested(wrong, kept, binomial_pvalues(wrong, kept, self.risk))
        w, k = _by_group(errors, uncertainty, self.thresholds, units)
        return Tested(w.sum(axis=0), k.sum(axis=0), bet_pvalues(w, k, self.risk, self.bets, self.largest))

    def upper_bound(self, at: int, errors: Floats, uncertainty: Floats, units: Units) -> float:
        """Upper bound of the risk at one candidate, from the other part of the data, for this candidate alone."""
        threshold = self.thresholds[at : at + 1]
        if self.bets is None or units.codes is None:
            wrong, kept = _counts(rank_errors(errors, uncertainty), threshold)
            return float(upper_error_rate(wrong, kept, 1 - self.alpha)[0])
        w, k = _by_group(errors, uncertainty, threshold, units)
        return upper_rate_of_groups(w[:, 0], k[:, 0], self.risk, float(self.bets[at]), self.largest, self.alpha)

    def groups_needed(self, errors: Floats, uncertainty: Floats, units: Units) -> float | None:
        """Groups like these that would certify the first candidate; None if the evidence does not grow with them."""
        assert self.bets is not None
        w, k = _by_group(errors, uncertainty, self.thresholds[:1], units)
        growth = float(log_growth(w, k, self.risk, self.bets[:1], self.largest).mean())
        return float(-np.log(self.alpha)) / growth if growth > 0 else None


def plan_refusal(
    errors: Floats,
    uncertainty: Floats,
    units: Units,
    *,
    risk: float,
    alpha: float,
    n_other: int,
    largest: float = 1.0,
) -> RefusalPlan:
    """Choose the candidates on the choosing part of the data.

    The first candidate is the one most likely to be certified. The others follow in steps of 1 % of the instances.

    Parameters
    ----------
    errors, uncertainty : array (n,)
        Of the choosing part.
    units : Units
        Instances or groups of this part.
    risk, alpha : float
    n_other : int
        Number of units in the part that certifies.
    largest : float
        Size of the largest group in both parts.
    """
    ranked = rank_errors(errors, uncertainty)
    rows = _spaced(ranked.coverage)
    thresholds, coverage = _between(ranked.thresholds, rows), ranked.coverage[rows]
    if units.codes is None:
        bets, enough = None, 0.5
        evidence = _power(ranked, rows, risk, alpha, n_other)
    else:
        bets, growth = chosen_bets(*_by_group(errors, uncertainty, thresholds, units), risk, largest)
        enough, evidence = 1.0, growth * n_other / -np.log(alpha)
    start = int(np.argmax(evidence))
    if evidence[start] == 0:  # the other part is too small for any threshold: take the one with the least doubt
        start = int(np.argmin(binomial_pvalues(ranked.wrong[rows], ranked.kept[rows], risk)))
    likely = np.flatnonzero(evidence[start:] >= enough)
    promise = (float(coverage[start + likely[-1]]) if likely.size else 0.0, float(evidence[start]))
    bets = None if bets is None else bets[start:]
    return RefusalPlan(risk, alpha, thresholds[start:], coverage[start:], promise, bets, largest)


def short_number(low: float, high: float) -> float:
    """A number between low and high with few digits, so that a threshold can be written down; low if there is none.

    Examples
    --------
    >>> short_number(0.43127, 0.43954), short_number(2.0, 3.0), short_number(0.5, float("inf"))
    (0.435, 2.5, 0.5)
    """
    if not (math.isfinite(low) and math.isfinite(high)):
        return low
    middle = low / 2 + high / 2
    for digits in range(1, 18):
        found = float(f"{middle:.{digits}g}")
        if low < found < high:
            return found
    return low


def _power(ranked: RankedErrors, rows: NDArray[np.intp], risk: float, alpha: float, n_other: int) -> Floats:
    """Power of the binomial test in the other part at thresholds that keep the values up to these rows."""
    wrong, kept = ranked.wrong[rows], ranked.kept[rows]
    expected = np.floor(kept * (n_other / ranked.kept[-1]))
    return rejection_power((wrong + 0.5) / (kept + 1), expected, risk, alpha)


def _spaced(coverage: Floats) -> NDArray[np.intp]:
    """Rows whose coverages are about a step apart, and the last."""
    at = np.arange(1, round(1 / STEP)) * STEP
    rows = np.searchsorted(coverage, at * (1 - 1e-12))
    return np.unique(np.append(rows, coverage.size - 1))


def _between(values: Floats, rows: NDArray[np.intp]) -> Floats:
    """Thresholds that keep the values up to these rows and no others; infinite at the last value."""
    after = np.append(values[1:], np.inf)
    found = [short_number(*pair) for pair in zip(values[rows].tolist(), after[rows].tolist(), strict=True)]
    if rows[-1] == values.size - 1:
        found[-1] = np.inf
    return np.array(found)


def _counts(ranked: RankedErrors, thresholds: Floats) -> tuple[Floats, Floats]:
    """Errors and instances kept at thresholds."""
    at = np.searchsorted(ranked.thresholds, thresholds, side="right")
    return np.append(0.0, ranked.wrong)[at], np.append(0.0, ranked.kept)[at]


def _by_group(errors: Floats, uncertainty: Floats, thresholds: Floats, units: Units) -> tuple[Floats, Floats]:
    """Errors and instances kept of each group at thresholds, (G, T) each."""
    assert units.codes is not None
    shape = (units.n_units, thresholds.size)
    # each instance is counted from the first threshold that keeps it
    first = np.searchsorted(thresholds, uncertainty)
    inside = first < thresholds.size
    cells = units.codes[inside] * thresholds.size + first[inside]
    sums = [
        sums_by_group(cells, shape[0] * shape[1], values[inside]).reshape(shape).cumsum(axis=1)
        for values in (errors, np.ones_like(errors))
    ]
    return sums[0], sums[1]


# The two parts of the data behind a certified refusal: one chooses candidates, the other certifies them.

FAR = 100  # times the certifying instances or groups: beyond, their number is not named


@final
@dataclass(frozen=True, eq=False)
class RefusalParts:
    """A division of n instances."""

    choosing: NDArray[np.bool_]  #: (n,): True for the instances that choose; the others certify
    groups: NDArray[np.intp] | None  #: (n,)
    largest: int  #: size of the largest group; 1 without groups

    def units_of(self, rows: NDArray[np.bool_]) -> Units:
        """Units of some of the instances."""
        return make_units(int(rows.sum()), None if self.groups is None else self.groups[rows], None)


class Needed(NamedTuple):
    """How many more instances or groups are needed; None if no number is enough, as the text says."""

    number: int | None
    unit: str
    text: str


def whole_errors(errors: ArrayLike, uncertainty: ArrayLike) -> tuple[Floats, Floats]:
    """Errors of 0 and 1, and the uncertainty, as float64."""
    e, s = checked_errors(errors, uncertainty)
    part = np.flatnonzero((e != 0) & (e != 1))
    if part.size:
        fail(
            "errors",
            "must be 0 or 1",
            f"row {part[0]} has {e[part[0]]:g}",
            "give 1 for a wrong prediction and 0 for a right one, of one training run",
            code="range",
        )
    return e, s


def divide(
    n: int,
    groups: ArrayLike | None,
    choosing: ArrayLike | None,
    share: float,
    rng: int | np.random.Generator | None,
) -> RefusalParts:
    """Divide n instances, whole groups at a time."""
    check_inside(share, "share", 0.3)
    units = make_units(n, groups, None)
    codes = units.codes
    largest = 1 if codes is None else int(np.bincount(codes).max())
    if choosing is None:
        if units.n_units < 2:
            unit = "case" if codes is None else "group"
            fail(
                "errors" if codes is None else "groups",
                f"one {unit} cannot both choose and certify a threshold",
                f"got 1 {unit}",
                f"give at least two {unit}s",
                code="shape",
            )
        order = generator(rng).permutation(units.n_units)
        n_choosing = min(max(round(share * units.n_units), 1), units.n_units - 1)
        chosen = np.zeros(units.n_units, dtype=bool)
        chosen[order[:n_choosing]] = True
        return RefusalParts(chosen if codes is None else chosen[codes], codes, largest)
    return RefusalParts(_mask(choosing, n, codes), codes, largest)


def needed(plan: RefusalPlan, tested: Tested, errors: Floats, uncertainty: Floats, parts: RefusalParts) -> Needed:
    """How many more instances or groups would certify the first candidate, if its error rate stays as it is.

    `errors` and `uncertainty` are those of the certifying part.
    """
    unit = "case" if plan.bets is None else "group"
    wrong, kept, n = float(tested.errors[0]), float(tested.kept[0]), errors.size
    certifying = float((~parts.choosing).mean())
    if kept == 0:
        return Needed(None, unit, "without an instance kept nothing can be said of its risk")
    rate = wrong / kept
    if rate >= plan.risk:
        shown = f"{percent(rate)} is not below {percent(plan.risk)}, and at this rate no number of {unit}s is enough"
        least = least_kept(0.0, plan.risk, plan.alpha)
        if least is not None and kept < least:
            shown += f"; without an error it takes {counted(least, 'case')} kept"
        return Needed(None, unit, shown)
    if plan.bets is None:
        least = least_kept(rate, plan.risk, plan.alpha, start=int(kept) + 1)
        enough = None if least is None else least * n / kept
    else:
        enough = plan.groups_needed(errors, uncertainty, parts.units_of(~parts.choosing))
        n = parts.units_of(~parts.choosing).n_units
    if enough is None:
        return Needed(None, unit, f"its errors cluster in groups, so more {unit}s like these will hardly help")
    more = max(math.ceil((enough - n) / certifying), 1)
    if enough > FAR * n:
        return Needed(more, unit, f"at this error rate it would take more than {FAR} times as many {unit}s")
    return Needed(more, unit, f"at this error rate about {counted(_rounded(more), f'more {unit}')} would be needed")


def _rounded(n: int) -> int:
    """Two significant digits, rounded up."""
    step = 10 ** max(math.floor(math.log10(n)) - 1, 0)
    return -(-n // step) * step


def _mask(choosing: ArrayLike, n: int, codes: NDArray[np.intp] | None) -> NDArray[np.bool_]:
    mask = as_array(choosing, "choosing")
    if mask.dtype != bool or mask.shape != (n,):
        fail(
            "choosing",
            f"must be a bool array of shape ({n},)",
            f"got {mask.dtype} of shape {mask.shape}",
            "give True for the instances that choose, False for those that certify",
            code="shape",
        )
    if mask.all() or not mask.any():
        got = f"all {n} are {bool(mask[0])}"
        fail("choosing", "needs instances in both parts", got, "give some of either", code="empty")
    if codes is not None:
        inside = np.bincount(codes, weights=mask) / np.bincount(codes)
        both = np.flatnonzero((inside > 0) & (inside < 1))
        if both.size:
            row = int(np.argmax(codes == both[0]))
            fail(
                "choosing",
                "a group must lie in one part",
                f"{counted(both.size, 'group')} in both, the first that of row {row}",
                "move whole groups",
                code="mismatch",
            )
    return np.array(mask)


# Certified refusal: a threshold on an uncertainty whose risk on new data is bounded with a stated confidence.

NAN = float("nan")


@final
@dataclass(frozen=True, eq=False, repr=False)
class CertifiedRefusal(Shown):
    """A threshold to deploy: cases of at most this uncertainty are kept, the others are passed on."""

    _shown_more: ClassVar[str] = "summary(), sentence(), keeps(uncertainty), to_dict()"

    #: the statement is about this number: with the confidence, at most the share `risk` of the new cases kept is wrong. nan if
    #: no threshold could be certified; infinite if everything can be kept.
    threshold: float
    #: as they were asked for
    risk: float
    confidence: float
    #: share of all instances kept, with an interval at the level `confidence`; 0 without an interval if nothing is certified
    coverage: Estimate
    #: error rate of the instances kept in the certifying part. `high` is a one-sided bound at the level `confidence` for this
    #: threshold alone, at most `risk`; the certified statement is about `risk`.
    observed_risk: Estimate
    pvalue: float  #: of the test of this threshold. Without a threshold, of the first candidate.
    #: instances in either part
    n_choosing: int
    n_certifying: int
    #: the highest threshold whose observed error rate on all instances is at most `risk`, and the share that it keeps. Its risk
    #: on new data exceeds `risk` about every second time. nan and 0 if there is none.
    uncertified_threshold: float
    uncertified_coverage: float
    method: str  #: "binomial" or "bets": The exact binomial test, or the product of bets on groups
    notes: tuple[Note, ...] = ()  #: number of groups, assumptions, and the reason if nothing is certified

    @property
    def certified(self) -> bool:
        """True if there is a threshold."""
        return not math.isnan(self.threshold)

    @property
    def coverage_cost(self) -> float:
        """Share of the instances that the certificate costs: kept by the uncertified threshold and not by this one."""
        return self.uncertified_coverage - float(self.coverage)

    def keeps(self, uncertainty: ArrayLike) -> NDArray[np.bool_]:
        """True for each case to keep; none if nothing is certified, and no case of undefined uncertainty."""
        return np.asarray(uncertainty) <= self.threshold

    def sentence(self, *, score: str = "the uncertainty", model: str = "") -> str:
        """The result in one sentence, with the threshold in full.

        Parameters
        ----------
        score, model : str
            Names of the uncertainty and of the model.
        """
        of = f" of {model}" if model else ""
        limit = f"at most {percent(self.risk, _decimals(self.risk))}"
        sure = f"with {level_text(self.confidence)} confidence"
        if not self.certified:
            return f"No threshold on {score}{of} is certified to keep {limit} errors {sure}: {reason(self.notes)}."
        kept = _coverage_text(self.coverage)
        if math.isinf(self.threshold):
            return f"Keep every case{of}: {sure}, {limit} of new cases are wrong."
        of_those = f"{limit} of those kept are wrong"
        return f"Keep the cases with {score}{of} ≤ {self.threshold!r}: {sure}, {of_those}; that keeps {kept}."

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        return {**plain_of(self), "certified": self.certified, "coverage_cost": plain(self.coverage_cost)}

    def _shown_title(self) -> str:
        chose, certify = counted(self.n_choosing, "case"), count(self.n_certifying)
        return f"Certified refusal: {chose} to choose candidates, {certify} to certify them"

    def _shown_sentences(self) -> Sequence[str]:
        return (self.sentence(),)

    def _shown_notes(self) -> Sequence[str]:
        return tuple(note.text for note in self.notes)

    def _shown_table(self) -> ShownTable:
        bound = percent(self.observed_risk.high, 2)
        rows = [
            ("certified", self.threshold, float(self.coverage), percent(float(self.observed_risk), 2), bound),
            ("not certified", self.uncertified_threshold, self.uncertified_coverage, "", ""),
        ]
        cells = [
            ShownRow(tuple(map(ShownCell, (name, threshold_text(at), percent(kept), rate, high))))
            for name, at, kept, rate, high in rows
        ]
        header = ("", "threshold", "kept", "errors among them", "upper bound")
        said = (
            f"{pvalue_text(self.pvalue)} by the test of {'groups' if self.method == 'bets' else 'independent cases'}."
        )
        return ShownTable(header, tuple(cells), said)


@in_one_order("errors", "uncertainty", "groups")
def certified_refusal(
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    risk: float,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
    choosing: ArrayLike | None = None,
    share: float = 0.3,
    rng: int | np.random.Generator | None = None,
) -> CertifiedRefusal:
    """Find a threshold whose risk, the error rate of the new cases kept, is at most `risk` with a stated confidence.

    Parameters
    ----------
    errors : array (n,)
        1 for a wrong prediction, 0 for a right one.
    uncertainty : array (n,)
        Greater means less certain. Infinite values are allowed. Cases of equal uncertainty are kept or refused together.
    risk : float
        Greatest acceptable error rate of the cases kept, strictly between 0 and 1.
    confidence : float
        Probability, over test sets, that the statement holds.
    groups : array (n,), optional
        Instances of one group may depend on each other; whole groups go to one part.
    choosing : bool array (n,), optional
        True for the instances that choose the candidates; the others certify. By default a random part of size `share`.
    share : float
        Share of the instances (of the groups) that choose.
    rng : int or Generator, optional
        Divides the instances; None means seed 0.

    Notes
    -----
    One part of the data chooses candidates: first the threshold most likely to be certified, then higher ones in steps of 1 %
    of the instances. The other part tests them in this order at the level 1 − confidence and stops at the first that fails
    (fixed-sequence testing). The last certified threshold is returned, so that a threshold of too great a risk is returned with
    at most this probability.

    The hypothesis tested at threshold t is R(t) = P(wrong | uncertainty ≤ t) > risk. Given the number kept, the errors of
    independent instances are binomial with R(t), so the binomial test is exact. With groups it is not; then the product of
    bets on groups is used (`statistics.group_bets`). It is valid for any dependence inside groups, if groups on new data are no
    larger than the largest here, and needs more data.

    The guarantee is about new cases like these: for other cases certify again. It is about the error rate over all cases kept,
    not about each class or site. docs/evidence-ranking.md has the share of data sets whose risk exceeds the limit.

    References
    ----------
    Angelopoulos, Bates, Candès, Jordan, Lei (2021), Learn then test: calibrating predictive algorithms to achieve risk control.
    Geifman, El-Yaniv (2017), Selective classification for deep neural networks, equation 4 and algorithm 2.
    Waudby-Smith, Ramdas (2024), Estimating means of bounded random variables by betting, J. R. Stat. Soc. B 86.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> uncertainty = rng.random(1000)
    >>> errors = rng.random(1000) < 0.3 * uncertainty**2
    >>> found = certified_refusal(errors, uncertainty, risk=0.05)
    >>> found.threshold, round(float(found.coverage), 3), round(found.uncertified_coverage, 3)
    (0.41, 0.382, 0.593)
    """
    e, s = whole_errors(errors, uncertainty)
    parts = divide(e.size, groups, choosing, share, rng)
    return certify(e, s, parts, plan_on(e, s, parts, risk, confidence), confidence)


# -- for other rooms: several scores of which the choosing part takes one ------------------------------------------------


def plan_on(errors: Floats, uncertainty: Floats, parts: RefusalParts, risk: float, confidence: float) -> RefusalPlan:
    """The candidates that the choosing part finds."""
    for value, name, example in ((risk, "risk", 0.05), (confidence, "confidence", 0.95)):
        check_inside(value, name, example)
    rows = parts.choosing
    return plan_refusal(
        errors[rows],
        uncertainty[rows],
        parts.units_of(rows),
        risk=risk,
        alpha=1 - confidence,
        n_other=parts.units_of(~rows).n_units,
        largest=parts.largest,
    )


def certify(
    errors: Floats, uncertainty: Floats, parts: RefusalParts, plan: RefusalPlan, confidence: float
) -> CertifiedRefusal:
    """Test the candidates in their order on the other part of the data."""
    rows = ~parts.choosing
    e, s, units = errors[rows], uncertainty[rows], parts.units_of(rows)
    tested = plan.test(e, s, units)
    failed = np.flatnonzero(tested.pvalues > plan.alpha)
    at = (int(failed[0]) if failed.size else plan.thresholds.size) - 1
    plain_at, plain_coverage = _uncertified(errors, uncertainty, plan.risk)
    notes = [*unit_notes(make_units(errors.size, parts.groups, None)), *_assumptions(parts)]
    high = NAN
    if at >= 0:
        high = plan.upper_bound(at, e, s, units)
        coverage = proportion_estimate(uncertainty <= plan.thresholds[at], groups=parts.groups, level=confidence)
    else:
        notes.append(_why_none(plan, tested, e, s, parts))
        coverage = Estimate(0.0, low=NAN, high=NAN, level=confidence, n=errors.size, method="", notes=notes[-1:])
    return CertifiedRefusal(
        threshold=float(plan.thresholds[at]) if at >= 0 else NAN,
        risk=float(plan.risk),
        confidence=float(confidence),
        coverage=coverage,
        observed_risk=_observed(tested, at, high, confidence, units.codes is not None),
        pvalue=float(tested.pvalues[max(at, 0)]),
        n_choosing=int(parts.choosing.sum()),
        n_certifying=int(rows.sum()),
        uncertified_threshold=plain_at,
        uncertified_coverage=plain_coverage,
        method="binomial" if plan.bets is None else "bets",
        notes=tuple(notes),
    )


def _uncertified(errors: Floats, uncertainty: Floats, risk: float) -> tuple[float, float]:
    """Highest threshold whose observed error rate is at most the risk, and the share that it keeps."""
    ranked = rank_errors(errors, uncertainty)
    met = np.flatnonzero(ranked.wrong <= risk * ranked.kept * (1 + 1e-12))
    if not met.size:
        return NAN, 0.0
    k = int(met[-1])
    if k + 1 == ranked.thresholds.size:
        return math.inf, 1.0
    return short_number(*ranked.thresholds[k : k + 2].tolist()), float(ranked.coverage[k])


def _observed(tested: Tested, at: int, high: float, confidence: float, grouped: bool) -> Estimate:
    wrong, kept = float(tested.errors[max(at, 0)]), float(tested.kept[max(at, 0)])
    if at < 0:
        note = Note("undefined", "no threshold is certified")
        return Estimate(NAN, low=NAN, high=NAN, level=confidence, n=int(kept), method="", notes=[note])
    method = "bets" if grouped else "clopper-pearson"
    note = Note("one-sided", "the upper end alone has this level; the lower end is 0")
    return Estimate(wrong / kept, low=0.0, high=high, level=confidence, n=int(kept), method=method, notes=[note])


def _assumptions(parts: RefusalParts) -> list[Note]:
    if parts.groups is None:
        return []
    text = f"groups of new data are taken to be no larger than the largest here, {counted(int(parts.largest), 'case')}"
    return [Note("assumption", text, {"largest": int(parts.largest)})]


def _why_none(plan: RefusalPlan, tested: Tested, errors: Floats, uncertainty: Floats, parts: RefusalParts) -> Note:
    """Why the first candidate is not certified, and how many more instances or groups would be needed."""
    more = needed(plan, tested, errors, uncertainty, parts)
    wrong, kept = int(tested.errors[0]), int(tested.kept[0])
    of = counted(errors.size, "certifying case")
    seen = f"the first threshold tested keeps {count(kept)} of {of}, {count(wrong)} of them wrong"
    facts = {"kept": kept, "errors": wrong, "more": more.number, "unit": more.unit}
    return Note("undefined", f"{seen}; {more.text}", facts)


def _coverage_text(coverage: Estimate) -> str:
    ends = percent_interval(coverage.low, coverage.high, in_sentence=True)
    shown = f" ({level_text(coverage.level)} interval {ends})" if coverage.low < coverage.high else ""
    return f"{percent(float(coverage), in_sentence=True)} of the cases{shown}"


def threshold_text(value: float) -> str:
    """In full, so that it can be copied."""
    return repr(value) if math.isfinite(value) else number(value)


def _decimals(share: float) -> int:
    """Decimals of a share in percent that show it in full, at most 4."""
    return next((k for k in range(4) if math.isclose(round(100 * share, k), 100 * share, rel_tol=1e-9)), 4)

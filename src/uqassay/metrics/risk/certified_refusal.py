"""Certified refusal: a threshold on an uncertainty whose risk on new data is bounded with a stated confidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._json import plain
from uqassay._one_order import in_one_order
from uqassay._shown import Shown
from uqassay._shown_table import ShownCell, ShownRow, ShownTable
from uqassay.metrics.risk.ranked_errors import rank_errors
from uqassay.metrics.risk.refusal_parts import RefusalParts, divide, needed, whole_errors
from uqassay.metrics.risk.refusal_plan import RefusalPlan, Tested, plan_refusal, short_number
from uqassay.notes import Note, reason
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.proportion import proportion_estimate
from uqassay.statistics.remarks import unit_notes
from uqassay.statistics.samples import Floats, check_inside, make_units
from uqassay.wording import count, counted, level_text, number, percent, percent_interval, pvalue_text

__all__ = ["CertifiedRefusal", "certified_refusal"]

NAN = float("nan")


@final
@dataclass(frozen=True, eq=False, repr=False)
class CertifiedRefusal(Shown):
    """A threshold to deploy: cases of at most this uncertainty are kept, the others are passed on.

    Attributes
    ----------
    threshold : float
        The statement is about this number: with the confidence, at most the share `risk` of the new cases kept is wrong. nan if
        no threshold could be certified; infinite if everything can be kept.
    risk, confidence : float
        As they were asked for.
    coverage : Estimate
        Share of all instances kept, with an interval at the level `confidence`; 0 without an interval if nothing is certified.
    observed_risk : Estimate
        Error rate of the instances kept in the certifying part. `high` is a one-sided bound at the level `confidence` for this
        threshold alone, at most `risk`; the certified statement is about `risk`.
    pvalue : float
        Of the test of this threshold. Without a threshold, of the first candidate.
    n_choosing, n_certifying : int
        Instances in either part.
    uncertified_threshold, uncertified_coverage : float
        The highest threshold whose observed error rate on all instances is at most `risk`, and the share that it keeps. Its
        risk on new data exceeds `risk` about every second time. nan and 0 if there is none.
    method : {"binomial", "bets"}
        The exact binomial test, or the product of bets on groups.
    notes : tuple of Note
        Number of groups, assumptions, and the reason if nothing is certified.
    """

    _shown_more: ClassVar[str] = "summary(), sentence(), keeps(uncertainty), to_dict()"

    threshold: float
    risk: float
    confidence: float
    coverage: Estimate
    observed_risk: Estimate
    pvalue: float
    n_choosing: int
    n_certifying: int
    uncertified_threshold: float
    uncertified_coverage: float
    method: str
    notes: tuple[Note, ...] = ()

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
        found: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            found[field.name] = value.to_dict() if isinstance(value, Estimate) else plain(value)
        return {**found, "certified": self.certified, "coverage_cost": plain(self.coverage_cost)}

    def _shown_title(self) -> str:
        chose, certify = counted(self.n_choosing, "instance"), count(self.n_certifying)
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
            ShownRow(tuple(map(ShownCell, (name, _threshold_text(at), percent(kept), rate, high))))
            for name, at, kept, rate, high in rows
        ]
        header = ("", "threshold", "kept", "errors among them", "upper bound")
        said = f"{pvalue_text(self.pvalue)} by the test of {'groups' if self.method == 'bets' else 'independent instances'}."
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

    Returns
    -------
    refusal : CertifiedRefusal

    Raises
    ------
    InputError
        When errors are not 0 or 1, a value is nan, risk, confidence or share lie outside (0, 1), shapes do not match, a group
        lies in both parts, or a part is empty.

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
    not about each class or site. docs/coverage-certified-refusal.md has the share of data sets whose risk exceeds the limit.

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


# -- parts ---------------------------------------------------------------------------------------------------------------


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
    text = (
        f"groups of new data are taken to be no larger than the largest here, {counted(int(parts.largest), 'instance')}"
    )
    return [Note("assumption", text, {"largest": int(parts.largest)})]


def _why_none(plan: RefusalPlan, tested: Tested, errors: Floats, uncertainty: Floats, parts: RefusalParts) -> Note:
    """Why the first candidate is not certified, and how many more instances or groups would be needed."""
    more = needed(plan, tested, errors, uncertainty, parts)
    wrong, kept = int(tested.errors[0]), int(tested.kept[0])
    of = counted(errors.size, "certifying instance")
    seen = f"the first threshold tested keeps {count(kept)} of {of}, {count(wrong)} of them wrong"
    facts = {"kept": kept, "errors": wrong, "more": more.number, "unit": more.unit}
    return Note("undefined", f"{seen}; {more.text}", facts)


def _coverage_text(coverage: Estimate) -> str:
    ends = percent_interval(coverage.low, coverage.high, in_sentence=True)
    shown = f" ({level_text(coverage.level)} interval {ends})" if coverage.low < coverage.high else ""
    return f"{percent(float(coverage), in_sentence=True)} of the cases{shown}"


def _threshold_text(value: float) -> str:
    """In full, so that it can be copied."""
    return repr(value) if math.isfinite(value) else number(value)


def _decimals(share: float) -> int:
    """Decimals of a share in percent that show it in full, at most 4."""
    return next((k for k in range(4) if math.isclose(round(100 * share, k), 100 * share, rel_tol=1e-9)), 4)

"""Selective classification where inputs may be out of distribution (SCOD): one risk for errors and foreign inputs.

A score decides which inputs are kept. Keeping a wrong prediction is a mistake, and keeping an input out of distribution is one
too. All metrics depend only on the order of the scores, and ties are shared evenly, as in `metrics.aurc_loss`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.metrics.ood.scod_intervals import scod_estimate
from uqassay.metrics.ood.scod_samples import ScodSamples, Statistic, augrc_of, aurc_of, risk_at, scod_samples
from uqassay.metrics.risk.selective_accuracy import check_coverage
from uqassay.statistics import Estimate
from uqassay.statistics.linearised import Linearised

__all__ = ["SCOD_METRICS", "ScodMetric", "scod_augrc_loss", "scod_aurc_loss", "scod_risk_loss"]

AT_COVERAGE = 0.8  # of the risk by name, as in torch-uncertainty


@in_one_order("is_out", "errors", "uncertainty", "sample_weight", "groups")
def scod_aurc_loss(
    is_out: ArrayLike,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    error_cost: float = 0.5,
    share_out: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the risk-coverage curve where kept inputs out of distribution are mistakes too. Lower is better.

    Parameters
    ----------
    is_out : array_like (n,) of bool, or 0 and 1
        True or 1 for an out-of-distribution instance, False or 0 for an in-distribution one. There must be both kinds.
    errors : array_like (n,)
        1 for a wrong prediction, 0 for a right one, or the probability that it is wrong. Values out of distribution are
        ignored.
    uncertainty : array_like (n,)
        Greater means that the instance is refused earlier. Infinite values are allowed.
    error_cost : float
        β in [0, 1], the cost of a kept error. A kept instance out of distribution costs 1 − β. With 0.5 both cost the same,
        0.5.
    share_out : float, optional
        α in (0, 1), the share of inputs out of distribution in use. The samples are weighted to it; by default the share is
        that of the samples.
    sample_weight : array_like (n,), optional
        Weight of each instance.
    groups : array_like (n,), optional
        Patients, sites or videos, as in `ood_auc_score`.
    level : float
        Confidence level of the interval.

    Returns
    -------
    estimate : Estimate
        The mean over coverages of the mean cost of the instances kept, in the units of the costs. With `error_cost=0.5` it is
        half the AURC of errors of which every instance out of distribution is one. Fewer than 20 errors get a note.

    Raises
    ------
    InputError
        When a value is nan, a sample is empty, lengths differ, or errors, the cost or the share are out of range.

    Notes
    -----
    The value depends on the share of inputs out of distribution: compare only numbers of one share. At given share and cost
    no order reaches 0, because at coverage 1 everything is kept.

    Xia and Bouganis call the cost of an error β. Narasimhan et al. and torch-uncertainty (`SCODAURC(ood_cost=…)`) give the
    cost of an input out of distribution, 1 − β. torch-uncertainty joins the risks at the coverages k/n by trapezoids, divides
    by 1 − 1/n, and breaks ties by the order of rows. See docs/out-of-distribution.md for values side by side.

    Both samples are independent and their shares are given. The influence of an instance is that of `aurc_loss`, centred in
    its sample. The interval is symmetric on the logit scale between the values of the best and of the worst order at this
    cost and share, with an upper end that may be further where errors are few (`scod_estimate`). A sample whose influences are
    equal counts with what it may not have shown yet. docs/coverage-backward-and-ood.md has the measured coverage.

    References
    ----------
    Xia, Bouganis (2022), Augmenting softmax information for selective classification with out-of-distribution data, ACCV.
    Narasimhan, Menon, Jitkrittum, Kumar (2023), Plugin estimators for selective classification with out-of-distribution
    detection.

    Examples
    --------
    >>> is_out, errors, uncertainty = [0, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(scod_aurc_loss(is_out, errors, uncertainty), 4)
    0.105
    >>> round(scod_aurc_loss(is_out, errors, uncertainty, error_cost=0.8, share_out=0.1), 4)
    0.1058
    """
    samples = scod_samples(
        is_out,
        errors,
        uncertainty,
        error_cost=error_cost,
        share_out=share_out,
        sample_weight=sample_weight,
        groups=groups,
    )
    return scod_estimate([samples], aurc_of, level=level)


@in_one_order("is_out", "errors", "uncertainty", "sample_weight", "groups")
def scod_augrc_loss(
    is_out: ArrayLike,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    error_cost: float = 0.5,
    share_out: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the generalised risk-coverage curve where kept inputs out of distribution are mistakes too. Lower is better.

    Parameters
    ----------
    is_out, errors, uncertainty, error_cost, share_out, sample_weight, groups, level
        As in `scod_aurc_loss`.

    Returns
    -------
    estimate : Estimate
        The cost of the instances kept, divided by the number of all instances, averaged over coverages.

    Raises
    ------
    InputError
        As in `scod_aurc_loss`.

    Notes
    -----
    See `scod_aurc_loss` for the interval. torch-uncertainty has this area as `SCODAUGRC`; the papers on selective
    classification with out-of-distribution data do not.

    References
    ----------
    Traub et al. (2024), Overcoming common flaws in the evaluation of selective classification systems.

    Examples
    --------
    >>> is_out, errors, uncertainty = [0, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(scod_augrc_loss(is_out, errors, uncertainty), 4)
    0.0764
    """
    samples = scod_samples(
        is_out,
        errors,
        uncertainty,
        error_cost=error_cost,
        share_out=share_out,
        sample_weight=sample_weight,
        groups=groups,
    )
    return scod_estimate([samples], augrc_of, level=level)


@in_one_order("is_out", "errors", "uncertainty", "sample_weight", "groups")
def scod_risk_loss(
    is_out: ArrayLike,
    errors: ArrayLike,
    uncertainty: ArrayLike,
    *,
    coverage: float = AT_COVERAGE,
    error_cost: float = 0.5,
    share_out: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean cost of the instances kept at one coverage, where inputs out of distribution are mistakes too. Lower is better.

    Parameters
    ----------
    is_out, errors, uncertainty, error_cost, share_out, sample_weight, groups, level
        As in `scod_aurc_loss`.
    coverage : float
        Share of all inputs that is kept, in (0, 1]. A tie at the threshold is kept in part.

    Returns
    -------
    estimate : Estimate

    Raises
    ------
    InputError
        As in `scod_aurc_loss`; also for a coverage outside (0, 1].

    Notes
    -----
    See `scod_aurc_loss` for the interval; the estimated threshold enters through the mean cost near it, as in
    `risk_coverage_curve`. torch-uncertainty (`SCODRiskAtxCov`) keeps the next whole number of instances.

    Examples
    --------
    >>> is_out, errors, uncertainty = [0, 0, 0, 0, 1, 1], [0, 0, 1, 0, 0, 0], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    >>> round(scod_risk_loss(is_out, errors, uncertainty, coverage=0.5), 4)
    0.1667
    """
    check_coverage(coverage)
    samples = scod_samples(
        is_out,
        errors,
        uncertainty,
        error_cost=error_cost,
        share_out=share_out,
        sample_weight=sample_weight,
        groups=groups,
    )
    return scod_estimate([samples], risk_at(coverage), level=level)


# -- by name -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScodMetric:
    """A metric of how well an uncertainty decides which inputs to keep, errors and foreign inputs together.

    Attributes
    ----------
    name : str
    area : callable
        `RankedErrors` of the losses → `Linearised`.
    """

    name: str
    area: Statistic

    higher_is_better = False

    def statistic(self, samples: ScodSamples) -> Linearised:
        """Value and influences, whose differences `paired_statistic_test` tests."""
        return samples.linearised(self.area)

    def interval(self, runs: Sequence[ScodSamples], *, level: float = 0.95) -> Estimate:
        """Mean over training runs on the same instances, with its interval."""
        return scod_estimate(runs, self.area, level=level)


_AREAS: dict[str, Callable[..., Linearised]] = {
    "scod-aurc": aurc_of,
    "scod-augrc": augrc_of,
    f"scod-risk{100 * AT_COVERAGE:.0f}": risk_at(AT_COVERAGE),
}
SCOD_METRICS: dict[str, ScodMetric] = {name: ScodMetric(name, area) for name, area in _AREAS.items()}

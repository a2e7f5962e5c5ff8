"""Which source of doubt an epistemic estimate follows: few data, the seed of the training, or the bias of the family.

Jiménez, Jürgens and Waegeman (2025) split the expected error of a prediction into noise of the label, bias, and variance, and
the variance into that of the seed (procedural) and that of the training data. An epistemic estimate can follow one and miss
the others.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import check_class_count, check_rows, tolerance_of
from uqassay._one_order import in_one_order
from uqassay.errors import InputError
from uqassay.metrics.epistemic_trends import check_shares
from uqassay.metrics.run_summaries import correlation_over_runs, finite_array, mean_over_runs, midranks
from uqassay.notes import Note
from uqassay.predictions.labels import labels_for
from uqassay.predictions.pandas_input import take_table
from uqassay.statistics import Estimate
from uqassay.statistics.samples import check_level
from uqassay.wording import counted

__all__ = ["DOUBT_SOURCES", "DoubtSources", "SourceAtShare", "doubt_sources"]

Array = NDArray[np.float64]

DOUBT_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "spread": "spread of the predictions over the runs: seed and few data together",
        "seed": "spread over the runs at share 1, where all runs have the same training instances",
        "few-data": "spread at this share minus spread at share 1, if the seed's part is the same at both",
        "bias": "squared distance of the run-averaged prediction from the label, which with single labels holds their noise",
    }
)
ROUNDING = 1e-12  # probabilities of several runs that differ by less are equal
LEAST_RUNS = 3  # a run is held against the sources of the others, and their spread needs two


@final
@dataclass(frozen=True)
class SourceAtShare:
    """One source of doubt at one share of the training instances, and how the epistemic estimate follows it.

    Attributes
    ----------
    share : float
    source : str
        A name in `DOUBT_SOURCES`.
    mean : float
        Mean of the source over the instances: a squared distance between distributions, from 0 to 2.
    correlation : Estimate
        Correlation over the instances of the ranks of a run's estimate with the source in the other runs, mean over the runs
        (of Fisher's z); the interval is for other runs and other instances.
    slope : Estimate
        Change of the estimate with the source, by least squares: in means of the estimate for each standard deviation of the
        source; t interval over the runs.
    repeatability : float
        Correlation of the source from one half of the runs with the source from the other half. Where it is low, noise pulls
        `correlation` towards 0. nan for fewer than four runs.
    per_run : array (R,)
        The correlations of the runs.
    influence : array (n,)
        Influence of every instance on the mean correlation, averaged over the runs.
    """

    share: float
    source: str
    mean: float
    correlation: Estimate
    slope: Estimate
    repeatability: float
    per_run: Array
    influence: Array


@final
@dataclass(frozen=True, eq=False)
class DoubtSources:
    """How an epistemic estimate follows each source of doubt, over shares of the training instances.

    Attributes
    ----------
    shares : array (C,)
        Ascending.
    found : tuple of SourceAtShare
        By share, then in the order of `DOUBT_SOURCES`.
    overall : dict of str to Estimate
        For each source, the correlation averaged over the shares at which it is defined.
    follows_spread : Estimate
        Correlation over the shares of a run's mean estimate with the mean spread of the other runs: whether the mean of the
        estimate moves as the spread does.
    notes : tuple of Note
        The assumptions of every number among them.
    """

    shares: Array
    found: tuple[SourceAtShare, ...]
    overall: Mapping[str, Estimate]
    follows_spread: Estimate
    notes: tuple[Note, ...] = ()

    def at(self, share: float, source: str) -> SourceAtShare:
        """One source at one share.

        Raises
        ------
        InputError
            No such share or source.
        """
        for one in self.found:
            if one.share == share and one.source == source:
                return one
        raise InputError(
            "source",
            "must be one that was measured at this share",
            f"got {source!r} at {share:g}",
            "see .rows()",
            code="choice",
        )

    def rows(self) -> list[dict[str, Any]]:
        """One row for each share and source."""
        return [
            {
                "share": one.share,
                "source": one.source,
                "mean": one.mean,
                "correlation": float(one.correlation),
                "low": one.correlation.low,
                "high": one.correlation.high,
                "slope": float(one.slope),
                "slope_low": one.slope.low,
                "slope_high": one.slope.high,
                "repeatability": one.repeatability,
            }
            for one in self.found
        ]


@in_one_order("probs", "epistemic", "labels", axes={"probs": 2, "epistemic": 2})
def doubt_sources(
    probs: ArrayLike, epistemic: ArrayLike, labels: ArrayLike, shares: ArrayLike, *, level: float = 0.95
) -> DoubtSources:
    """Hold an epistemic estimate against the sources of doubt that repeated trainings show.

    Parameters
    ----------
    probs : array (R, C, n, K)
        Mean prediction of each run at each share for the same n test instances.
    epistemic : array (R, C, n)
        Epistemic estimate of each run.
    labels : int array (n,), or array (n, K)
        Labels, or distributions or votes of the label. Only these separate bias from the noise of the label.
    shares : array (C,)
        Share of the training instances; every run draws its own subset, so that at 1 all runs have the same instances.
    level : float

    Returns
    -------
    DoubtSources

    Raises
    ------
    InputError
        Invalid or misaligned arrays, fewer than three runs.

    Notes
    -----
    With p_r the prediction of run r at a share, p̄ their mean and t the label as a distribution, all per instance:

    * spread V = Σ_k var_r(p_rk), with R − 1 in the denominator: unbiased for the variance over seeds *and* subsets.
    * seed V₁: V at share 1, the variance over seeds alone. Assumption: the seed's part at smaller shares orders the
      instances as it does at 1.
    * few data V − V₁. Assumption: the seed's part has the same size at both shares; usually it is greater with fewer data, and
      this source then holds the excess. Subsets are drawn without replacement from one training set, so their variance is
      that of data given this set: 0 at share 1, and too small for large shares. A difference of two estimates, it can be
      negative.
    * bias Σ_k (p̄_k − t_k)² − V/R, unbiased for ‖E p − t‖². With a distribution of the label, t = p(y | x), it is the squared
      bias of the family as trained (its members, its regularisation, the stop of its training). With one label it has the
      expectation bias² + 1 − Σ_k p(k | x)²: the noise of the label cannot be separated from the bias of an instance.

    The estimate enters a correlation by its ranks, because only its order counts; the source does not. The noise of a source is
    skewed and greater where the spread is, so that the ranks of the source would correlate with an estimate of the spread even
    without that source, while covariances with an unbiased source are unbiased.

    Run r is held against the sources of the other runs, because an estimate that is large where the same run's prediction is
    extreme would be held against itself. The sources come from few runs, and their noise pulls correlations towards 0: see
    `repeatability`. Sources occur together in most data; a correlation with one can be caused by another.

    The 95 % intervals of the correlations are measured in docs/measured-coverage.md on a simulated family with known sources.

    References
    ----------
    Jiménez, Jürgens, Waegeman (2025), Why machine learning models fail to fully capture epistemic uncertainty,
    arXiv 2505.23506.

    Examples
    --------
    An estimate that is the seed's variance, and nothing else:

    >>> rng = np.random.default_rng(0)
    >>> seed, data = rng.uniform(0, 0.1, (2, 200))
    >>> shares = np.array([0.1, 0.5, 1.0])
    >>> noise = rng.standard_normal((2, 8, 3, 200))
    >>> p = 0.5 + seed * noise[0] + data * noise[1] * np.sqrt(1 / shares - 1)[:, None] / 3
    >>> found = doubt_sources(np.stack([p, 1 - p], -1), np.tile(seed**2, (8, 3, 1)), rng.integers(0, 2, 200), shares)
    >>> found.overall["seed"].low > 0.5, abs(found.at(0.1, "few-data").correlation) < 0.3
    (True, True)
    """
    check_level(level)
    p, e, t, s = _checked(probs, epistemic, labels, shares)
    full = int(np.flatnonzero(s == 1)[0]) if (s == 1).any() else None
    sources = _sources_without(p, t, full)  # (R, C, n) each
    whole = _sources(p, t, full)  # (C, n) each
    repeatable = _repeatability(p, t, full)
    found = [
        _at_share(float(s[c]), name, (e[:, c], sources[name][:, c], whole[name][c]), repeatable[name][c], level)
        for c in range(s.size)
        for name in DOUBT_SOURCES
    ]
    return DoubtSources(
        shares=s,
        found=tuple(found),
        overall={name: _overall(found, name, level) for name in DOUBT_SOURCES},
        follows_spread=_follows(e.mean(axis=2), sources["spread"].mean(axis=2), level),
        notes=_notes(p.shape, np.ndim(labels) == 1, full is not None),
    )


# -- sources of every instance ---------------------------------------------------------------------------------------------


def _sources(p: Array, t: Array, full: int | None) -> dict[str, Array]:
    """Each source from all runs given, (R, C, n, K) -> (C, n); nan where it is not defined."""
    r = p.shape[0]
    # equal predictions, as of a method without a seed: rounding of their mean would be a source of 1e-33
    variance = np.where(np.ptp(p, axis=0) <= ROUNDING, 0.0, p.var(axis=0, ddof=1))
    spread = variance.sum(axis=-1)  # (C, n)
    bias = ((p.mean(axis=0) - t) ** 2).sum(axis=-1) - spread / r
    seed = np.full_like(spread, np.nan) if full is None else np.broadcast_to(spread[full], spread.shape)
    return {"spread": spread, "seed": seed, "few-data": spread - seed, "bias": bias}


def _sources_without(p: Array, t: Array, full: int | None) -> dict[str, Array]:
    """Each source from the runs other than r, (R, C, n)."""
    runs = np.arange(len(p))
    each = [_sources(p[runs != r], t, full) for r in runs]
    return {name: np.stack([one[name] for one in each]) for name in DOUBT_SOURCES}


def _repeatability(p: Array, t: Array, full: int | None) -> dict[str, Array]:
    """Correlation of each source between halves of the runs, mean over R rotations, (C,)."""
    r = len(p)
    if r < 4:
        return {name: np.full(p.shape[1], np.nan) for name in DOUBT_SOURCES}
    found: dict[str, list[Array]] = {name: [] for name in DOUBT_SOURCES}
    for shift in range(r):
        turned = np.roll(p, shift, axis=0)
        first, second = (_sources(half, t, full) for half in (turned[: r // 2], turned[r // 2 :]))
        for name, correlations in found.items():
            a, b = _standardised(first[name]), _standardised(second[name])
            correlations.append((a * b).mean(axis=-1))
    return {name: np.mean(correlations, axis=0) for name, correlations in found.items()}


def _standardised(values: Array) -> Array:
    """Mean 0 and mean square 1 along the last axis; nan for constant values."""
    centred = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True))
    constant = (values == values[..., :1]).all(axis=-1, keepdims=True) | (
        spread <= 1e-12 * np.abs(values).max(axis=-1, keepdims=True)
    )
    return centred / np.where(constant, np.nan, spread)


# -- the estimate against them ---------------------------------------------------------------------------------------------


def _at_share(
    share: float, name: str, values: tuple[Array, Array, Array], repeatability: float, level: float
) -> SourceAtShare:
    """`values`: the estimate (R, n), the source in the other runs (R, n), and the source in all runs (n,)."""
    estimate, source, whole = values
    x, y = _standardised(midranks(estimate)), _standardised(source)
    per_run = np.clip((x * y).mean(axis=1), -1.0, 1.0)
    # of Pearson's r, for standardised x and y
    influence = (x * y - per_run[:, None] * (x * x + y * y) / 2).mean(axis=0)
    mean = estimate.mean(axis=1)
    slopes = (estimate * y).mean(axis=1) / np.where(mean == 0, np.nan, mean)
    return SourceAtShare(
        share=share,
        source=name,
        mean=float(whole.mean()),
        correlation=_correlation(per_run, influence, _why_undefined(name, estimate, source), level),
        slope=mean_over_runs(slopes, level=level),
        repeatability=float(repeatability),
        per_run=per_run,
        influence=influence,
    )


def _why_undefined(name: str, estimate: Array, source: Array) -> list[Note]:
    if np.isnan(source).any():
        return [Note("undefined", "no runs at share 1: seed and few data are not separated")]
    if (source == source[:, :1]).all():
        text = "all runs have the same instances at share 1" if name == "few-data" else "the source is the same for all"
        return [Note("undefined", text)]
    if (estimate == estimate[:, :1]).all(axis=1).any():
        return [Note("undefined", "the estimate is constant in a run: no correlation")]
    return []


def _correlation(per_run: Array, influence: Array, notes: list[Note], level: float) -> Estimate:
    n = influence.size
    variance = float((influence**2).sum()) / (n * max(n - 3, 1))  # n − 3 as for Fisher's z
    return correlation_over_runs(per_run, level=level, n_instances=n, instance_variance=variance, notes=notes)


def _overall(found: list[SourceAtShare], name: str, level: float) -> Estimate:
    """Mean over the shares at which the source is defined, per run, then over the runs."""
    of_source = [one for one in found if one.source == name]
    defined = [one for one in of_source if not np.isnan(one.per_run).any()]
    notes = []
    if not defined:
        notes = list(of_source[0].correlation.notes)
    elif len(defined) < len(of_source):
        notes = [Note("left-out", f"{len(defined)} of {counted(len(of_source), 'share')} used")]
    used = defined or of_source
    per_run = np.mean([one.per_run for one in used], axis=0)
    return _correlation(per_run, np.mean([one.influence for one in used], axis=0), notes, level)


def _follows(estimates: Array, spreads: Array, level: float) -> Estimate:
    """Pearson correlation over the shares, run by run, of (R, C) and (R, C)."""
    if estimates.shape[1] < 3:
        why = [Note("undefined", f"{counted(estimates.shape[1], 'share')}: a correlation over shares needs three")]
        return correlation_over_runs(np.full(len(estimates), np.nan), level=level, notes=why)
    a, b = (values - values.mean(axis=1, keepdims=True) for values in (estimates, spreads))
    scale = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    defined = scale > 1e-12 * np.abs(estimates).max() * np.abs(spreads).max()
    r = np.where(defined, (a * b).sum(axis=1) / np.where(defined, scale, 1.0), np.nan)
    return correlation_over_runs(np.clip(r, -1.0, 1.0), level=level)


def _notes(shape: tuple[int, ...], single_labels: bool, has_full: bool) -> tuple[Note, ...]:
    r, c, n, _ = shape
    notes = [Note("runs", f"{counted(r, 'run')}, {counted(c, 'share')}, {counted(n, 'instance')}")]
    if has_full:
        notes.append(
            Note("assumption", "few data: the seed's part of the spread is taken to be the same at all shares")
        )
    else:
        notes.append(Note("undefined", "no runs at share 1: seed and few data are not separated"))
    if single_labels:
        notes.append(Note("assumption", "bias: one label per instance, so that the noise of the label is part of it"))
    notes.append(Note("assumption", "sources that occur together are not told apart by a correlation"))
    return tuple(notes)


# -- input -------------------------------------------------------------------------------------------------------------------


def _checked(
    probs: ArrayLike, epistemic: ArrayLike, labels: ArrayLike, shares: ArrayLike
) -> tuple[Array, Array, Array, Array]:
    table, names, _ = take_table(probs, "probs")
    p = finite_array(table, "probs", "(R, C, n, K)")
    check_class_count(p.shape[3], "probs")
    check_rows(p, "probs", tolerance=tolerance_of(probs))
    e = finite_array(epistemic, "epistemic", "(R, C, n)")
    if e.shape != p.shape[:3]:
        raise InputError(
            "epistemic",
            f"must have the runs, shares and instances of probs, {p.shape[:3]}",
            f"got {e.shape}",
            "align them first",
            code="mismatch",
        )
    if len(p) < LEAST_RUNS:
        raise InputError(
            "probs", f"must have at least {LEAST_RUNS} runs", f"got {len(p)}", "train more runs", code="empty"
        )
    given = labels_for(labels, n_instances=p.shape[2], n_classes=p.shape[3], class_names=names, name="labels")
    t = np.eye(p.shape[3])[given] if given.ndim == 1 else given.astype(np.float64)
    s = check_shares(shares, p.shape[1])
    order = np.argsort(s)
    return p[:, order], e[:, order], t, s[order]

"""Equivalence and non-inferiority: two one-sided paired tests of two means with a margin."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from uqassay._one_order import in_one_order
from uqassay.notes import Note
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.margins import MarginTest, check_margin, checked_bound, margins_tested
from uqassay.statistics.mean_lines import MeanLines
from uqassay.statistics.samples import Floats, check_level
from uqassay.statistics.tested_pairs import greatest, pairs_tested

__all__ = ["margin_tests", "no_worse_than_best", "paired_margin_test"]


@in_one_order("a", "b", "groups", "sample_weight", axes={"a": -1, "b": -1})
def paired_margin_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    margin: float,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    bound: float | None = None,
) -> MarginTest:
    """Test whether a mean loss is no worse than another one, or equivalent to it, by a margin.

    Parameters
    ----------
    a, b : array_like, shape (n,) or (R, n)
        Losses of the two models per instance, lower is better; (R, n) for R training runs. Pass negative values of a score
        that is better when it is greater.
    margin : float
        δ, the greatest difference that does not matter, in units of the loss. Choose it before you look at the losses.
    groups, sample_weight
        As in `paired_mean_test`.
    level : float
        1 − α; each one-sided test has level α.
    bound : float, optional
        Greatest possible excess of a loss over the other model's on one instance, as in `pairwise_mean_tests`. By default there
        is no guard against losses that have not been seen. Infinite: nothing can be shown.

    Returns
    -------
    MarginTest

    Raises
    ------
    InputError
        As `paired_mean_test`; also when the margin is not positive and finite, or the bound is negative.

    Notes
    -----
    "a is no worse than b by more than δ" is shown if the hypothesis μ_a − μ_b ≥ δ is rejected by a one-sided t test at level α,
    "equivalent" if μ_b − μ_a ≥ δ is rejected, too (Schuirmann's two one-sided tests). The verdict is false in at most a share α
    of data sets at any true difference: its statements are nested in one-sided intervals of level 1 − α.

    Each p-value is the greatest of three, as in `pairwise_mean_tests`:

    * Student's t with Bell and McCaffrey's degrees of freedom for groups, and careful ones for few runs;
    * Hall's transformation of it, against skewness: a model with rare huge losses often looks no worse because none has
      occurred yet;
    * the probability that n independent instances show nothing of a share q of instances on which a is worse by the bound B
      and which would lift the difference d to the margin: q ≥ (δ − d)/(B − d), and (1 − q)^n = ((B − δ)/(B − d))^n.

    By the third, equal losses are shown no worse by δ only from n = ln α/ln(1 − δ/B) instances on, about 3 B/δ at 5 %: 10,800
    for a log loss in float64 (B = 36) and δ = .01; 600 for a Brier loss (B = 2).

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach, J. Pharmacokinet. Biopharm. 15.
    Hall (1992), On the removal of skewness by transformation, J. R. Stat. Soc. B 54, equation 2.2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a = rng.random(500)
    >>> b = a + rng.normal(0.0, 0.05, 500)
    >>> found = paired_margin_test(a, b, margin=0.01)
    >>> found.verdict, round(found.difference.low, 3), round(found.difference.high, 3)
    ('equivalent', -0.0, 0.007)
    >>> paired_margin_test(a, b, margin=0.01, bound=36.0).verdict  # 500 instances cannot exclude a rare loss of 36
    'cannot tell'
    """
    check_level(level)
    most = np.zeros(1) if bound is None else np.array([checked_bound(bound)])
    lines = MeanLines({"a": (a,), "b": (b,)}, groups=groups, sample_weight=sample_weight)
    (found,) = margin_tests(
        lines, (1.0,), ("a",), "b", margin=margin, level=level, bounds=(most, most), extra=np.zeros(1)
    )
    return found


def margin_tests(
    lines: MeanLines,
    coefficients: Sequence[float],
    names: Sequence[str],
    other: str,
    *,
    margin: float,
    level: float,
    bounds: tuple[Floats, Floats],
    extra: Floats,
) -> list[MarginTest]:
    """`paired_margin_test` of combinations of several models against another one.

    Parameters
    ----------
    lines : MeanLines
    coefficients, names, other
        As in `MeanLines.differences`.
    margin, level
    bounds : two arrays (P,)
        Greatest excess of each model over the other, and of the other over each.
    extra : array (P,)
        Standard errors of another source.
    """
    delta, alpha = check_margin(margin, level), 1 - level
    tests = lines.differences(coefficients, names, other, level=1 - 2 * alpha)
    tested = lines.testable(names, other)
    over, under, error = bounds[0][tested], bounds[1][tested], extra[tested]
    spreads = lines.spreads(coefficients, names, other)
    found: Iterator[tuple[float, float, float, str, float]] = iter(())
    if tested.any():
        above = margins_tested(spreads, error, over, delta)
        turned = spreads._replace(difference=-spreads.difference, third=-spreads.third)
        below = margins_tested(turned, error, under, delta)
        apart = pairs_tested(spreads, error, over, under)
        p = greatest(apart.student_of_runs, apart.hall_of_runs, apart.unseen)
        limits = above.limits(alpha)
        reach = special.stdtrit(apart.dof, level) * apart.error
        found = zip(above.pvalue, below.pvalue, p, limits, reach, strict=True)
    results = []
    for test, has_test in zip(tests, tested, strict=True):
        d = test.difference
        no_worse, no_better, difference, limited_by, half = next(found) if has_test else (np.nan,) * 3 + ("", np.nan)
        notes: tuple[Note, ...] = d.notes
        ends = {"low": float(d) - half, "high": float(d) + half}
        estimate = Estimate(float(d), **ends, level=1 - 2 * alpha, n=d.n, method="student-t", notes=notes)
        results.append(
            MarginTest(
                estimate,
                delta,
                float(no_worse),
                float(no_better),
                float(difference),
                alpha,
                str(limited_by),
                test.n,
                notes,
            )
        )
    return results


def no_worse_than_best(pvalues: Floats) -> Floats:
    """Adjusted p-values of "no worse than any other model by more than the margin", for all of J models at once.

    Parameters
    ----------
    pvalues : array (J, J)
        One-sided, of the row against the column, as `MarginTest.pvalue_no_worse`; the diagonal is ignored.

    Returns
    -------
    array (J,)
        The probability that any of the statements with p ≤ α is false is at most α, whichever model is then looked at.

    Notes
    -----
    The p-value of a model is its greatest against any other, which holds for the truly best model whichever that is, and so
    for a model that was chosen for its low mean. At most J − 1 of the statements can be false, as the best model is no worse
    than any: Holm's factors are J − 1, J − 1, J − 2, …, 1 (Shaffer 1986; compare Hsu 1984).

    References
    ----------
    Hsu (1984), Constrained simultaneous confidence intervals for multiple comparisons with the best, Ann. Stat. 12.

    Examples
    --------
    >>> p = np.array([[0.0, 0.01, 0.001], [0.02, 0.0, 0.01], [0.6, 0.5, 0.0]])
    >>> no_worse_than_best(p).tolist()
    [0.02, 0.04, 0.6]
    """
    j = len(pvalues)
    if j == 1:
        return np.zeros(1)
    others = np.where(np.eye(j, dtype=bool), -np.inf, pvalues)
    worst = others.max(axis=1)  # nan where a pair has no test
    order = np.argsort(worst, kind="stable")
    factors = np.minimum(j - 1, np.arange(j, 0, -1))
    adjusted = np.empty(j)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(worst[order] * factors))
    return adjusted

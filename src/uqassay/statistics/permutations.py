"""Results of permutation tests, and the exact sign-flip test of a few independent differences."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from uqassay._array import generator
from uqassay._json import plain
from uqassay.errors import InputError
from uqassay.notes import Note
from uqassay.statistics.comparisons import check_alpha
from uqassay.statistics.samples import Floats, as_floats, check_choice, check_draws
from uqassay.wording import counted, pvalue

__all__ = ["PermutationTest", "permutation_test", "sign_flip_test"]

ALTERNATIVES = ("two-sided", "less", "greater")

# Up to 2^15 sign patterns are enumerated; 2^16 would take longer than 9,999 random ones by a factor of 7.
MOST_EXACT_UNITS = 15

# Relative to the largest value: closer statistics tie, because equal sums are rounded differently in different orders.
_TIE = 1e-12


@final
@dataclass(frozen=True, eq=False)
class PermutationTest:
    """Result of a permutation test.

    Attributes
    ----------
    statistic : float
    pvalue : float
        Exact: the share of all rearrangements whose statistic is at least as extreme. Otherwise (1 + count) / (1 + B).
    null : array (B,)
        The statistic of every rearrangement (exact) or of B random ones.
    alternative : {"two-sided", "less", "greater"}
    exact : bool
        True if all rearrangements were enumerated.
    n : int
        Number of independent units, such as runs.
    notes : tuple of Note
    """

    statistic: float
    pvalue: float
    null: Floats
    alternative: str
    exact: bool
    n: int
    notes: tuple[Note, ...] = ()

    @property
    def n_draws(self) -> int:
        """B."""
        return len(self.null)

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value that this number of rearrangements can give."""
        if not self.exact:
            return 1 / (1 + self.n_draws)
        return (2 if self.alternative == "two-sided" else 1) / self.n_draws

    def reject(self, alpha: float = 0.05) -> bool:
        """True if the null hypothesis is rejected at level alpha."""
        check_alpha(alpha)
        return bool(self.pvalue <= alpha + _TIE)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for a strict JSON writer, without the null draws."""
        return {
            "statistic": plain(self.statistic),
            "pvalue": plain(self.pvalue),
            "alternative": self.alternative,
            "exact": self.exact,
            "n": self.n,
            "n_draws": self.n_draws,
            "notes": [note.to_dict() for note in self.notes],
        }


def permutation_test(
    statistic: float, null: ArrayLike, *, alternative: str = "two-sided", exact: bool = False, n: int = 1
) -> PermutationTest:
    """Test result from a statistic and its values under rearrangements.

    Parameters
    ----------
    statistic : float
    null : array_like, shape (B,)
        Of all rearrangements, with the one observed (`exact`), or of random ones.
    alternative : {"two-sided", "less", "greater"}
        "two-sided" compares absolute values, so the statistic must be centred at 0 under the null hypothesis.
    exact : bool
    n : int
        Number of independent units, for the reader.

    Raises
    ------
    InputError
        A draw is nan, or the alternative is unknown.

    References
    ----------
    Phipson, Smyth (2010), Permutation p-values should never be zero.

    Examples
    --------
    >>> permutation_test(0.1, [0.5, 0.4, 0.1, 0.6], alternative="less", exact=True).pvalue
    0.25
    >>> permutation_test(0.1, [0.5, 0.4, 0.3, 0.6], alternative="less").pvalue
    0.2
    """
    check_choice(alternative, "alternative", ALTERNATIVES)
    draws = as_floats(null, "null", ndim=(1,), shape="(B,)")
    sign = -1.0 if alternative == "less" else 1.0
    values, observed = (
        (np.abs(draws), abs(statistic)) if alternative == "two-sided" else (sign * draws, sign * statistic)
    )
    margin = _TIE * max(abs(statistic), float(np.abs(draws).max()))
    count = int((values >= observed - margin).sum())
    pvalue = count / draws.size if exact else (1 + count) / (1 + draws.size)
    return PermutationTest(float(statistic), float(pvalue), draws, alternative, exact, n)


def sign_flip_test(
    differences: ArrayLike,
    *,
    alternative: str = "two-sided",
    n_draws: int = 9999,
    rng: int | np.random.Generator | None = None,
) -> PermutationTest:
    """Test whether independent differences are symmetric about 0, by flipping their signs.

    Parameters
    ----------
    differences : array_like, shape (R,)
        One for each independent unit, such as a training run.
    alternative : {"two-sided", "less", "greater"}
        "less": the mean difference is below 0.
    n_draws, rng
        For more than 15 differences, where the 2^R patterns of signs are not enumerated; None means seed 0.

    Returns
    -------
    test : PermutationTest
        The statistic is the mean difference. A note says so where no p-value can reach .05 (four differences or fewer,
        five if two-sided).

    Raises
    ------
    InputError
        A difference is nan or infinite.

    References
    ----------
    Fisher (1935), The Design of Experiments, chapter 3.

    Examples
    --------
    >>> test = sign_flip_test([-0.3, -0.2, -0.4, -0.1, -0.2], alternative="less")
    >>> test.pvalue, test.n_draws, test.exact
    (0.03125, 32, True)
    """
    check_choice(alternative, "alternative", ALTERNATIVES)
    check_draws(n_draws)
    d = as_floats(differences, "differences", ndim=(1,), shape="(R,)")
    if np.isinf(d).any():
        row = int(np.flatnonzero(np.isinf(d))[0])
        raise InputError(
            "differences", "must be finite", f"row {row} has {d[row]}", "leave out that unit", code="finite"
        )
    exact = d.size <= MOST_EXACT_UNITS
    if exact:
        flipped = np.arange(2**d.size)[:, np.newaxis] >> np.arange(d.size) & 1  # (2^R, R); row 0 flips nothing
    else:
        flipped = generator(rng).integers(0, 2, size=(n_draws, d.size))
    null = ((1 - 2 * flipped) * d).sum(axis=1) / d.size  # elementwise, so that equal patterns round alike
    test = permutation_test(float(d.sum() / d.size), null, alternative=alternative, exact=exact, n=d.size)
    if test.smallest_pvalue <= 0.05:
        return test
    text = f"{counted(d.size, 'difference')}: no p-value below {pvalue(test.smallest_pvalue)}"
    note = Note("few", text, {"smallest": test.smallest_pvalue})
    return PermutationTest(test.statistic, test.pvalue, null, alternative, exact, d.size, (note,))

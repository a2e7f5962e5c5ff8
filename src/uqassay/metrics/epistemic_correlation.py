"""Epistemic correlation: do estimates of epistemic uncertainty order the instances as the gain does?"""

from numpy.typing import ArrayLike

from uqassay._one_order import in_one_order
from uqassay.statistics.estimate import Estimate
from uqassay.statistics.spearman import named_spearman_estimate

__all__ = ["epistemic_correlation_score"]


@in_one_order("gain", "epistemic", "groups")
def epistemic_correlation_score(
    gain: ArrayLike,
    epistemic: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    level: float = 0.95,
) -> Estimate:
    """Spearman's correlation of the estimates of epistemic uncertainty with the gain. Higher is better.

    Parameters
    ----------
    gain : array (n,)
        Gains of `metrics.gain`, under any loss.
    epistemic : array (n,)
        Estimates, of which only the order counts.
    groups, level
        As in `spearman_estimate`.

    Returns
    -------
    estimate : Estimate
        nan with a note if all gains or all estimates are equal.

    Raises
    ------
    InputError
        When a value is nan or the lengths differ.

    Notes
    -----
    Most zero-one gains are 0, and ties get their average rank. So even estimates that order the instances perfectly have a
    correlation far below 1: √(3 p (1 − p)) if a share p of the gains is 1 and the others are 0, which is .38 for p = .05.
    Compare estimates on the same instances. The interval is that of `spearman_estimate`, which holds under ties
    (docs/measured-coverage.md, section "Epistemic gain").

    References
    ----------
    Paper 002, definition 6.

    Examples
    --------
    >>> found = epistemic_correlation_score([0, 0, 1, -1, 0, 1], [0.1, 0.2, 0.5, 0.1, 0.3, 0.6])
    >>> round(found, 4)
    0.8767
    """
    return named_spearman_estimate(epistemic, gain, ("epistemic", "gain"), groups, level)

"""The mixture of the fewest members that explains the labels nearly as well as the most likely mixture does.

If one member alone is the truth, the estimated λ lies off this corner of the simplex, because no weight can be negative. Labels
drawn there can be less random than those of the member, and their minimised measures too small. A null hypothesis that is
also tested at the corner or face that the labels do not contradict corrects this.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import special

from uqassay.calibration.score_weights import log_loss_weights

__all__ = ["CONTRADICTED", "fewest_members"]

Floats = NDArray[np.float64]

CONTRADICTED = 0.9  # members are kept if a likelihood-ratio test at this confidence needs them; more costs power inside


def fewest_members(members: Floats, labels: NDArray[np.intp], confidence: float = CONTRADICTED) -> Floats | None:
    """Weights (M,) of the most likely mixture of as few members as the labels allow.

    From the most likely mixture, the member with the least weight is left out and the others are fitted again, as long as
    twice the loss in log-likelihood stays below the quantile of χ² with as many degrees of freedom as members with a weight
    were left out. This is the distribution of the likelihood ratio given the face on which the most likely mixture lies
    (Shapiro 1988).

    Parameters
    ----------
    members : array (n, M, K)
    labels : int array (n,)
    confidence : float
        Of the likelihood-ratio test.

    Returns
    -------
    array (M,) or None
        None if every member is needed, or no member gives any label a positive probability.

    References
    ----------
    Shapiro (1988), Towards a unified theory of inequality constrained testing in multivariate analysis.

    Examples
    --------
    >>> members = np.array([[[0.9, 0.1], [0.2, 0.8]]] * 40)
    >>> fewest_members(members, np.array([0] * 34 + [1] * 6)).tolist()  # the most likely weights are .93 and .07
    [1.0, 0.0]
    >>> print(fewest_members(members, np.array([0] * 22 + [1] * 18)))
    None
    """
    m = members.shape[1]
    given = np.take_along_axis(members, labels[:, np.newaxis, np.newaxis], axis=2)
    possible = given.max(axis=(1, 2)) > 0
    if m == 1 or not possible.any():
        return None
    members, labels = members[possible], labels[possible]
    found, least, _ = log_loss_weights(members, labels)
    kept = np.flatnonzero(found)
    n_likely, shares = len(kept), found[kept]
    while len(kept) > 1:
        rest = np.delete(kept, shares.argmin())
        shares, loss, _ = log_loss_weights(members[:, rest], labels)
        ratio = 2 * len(labels) * (loss - least)  # inf if a label becomes impossible
        if not ratio <= special.chdtri(n_likely - len(rest), 1 - confidence):
            break
        found = np.zeros(m)
        found[rest] = shares
        kept, shares = rest[shares > 0], shares[shares > 0]
    return found if np.count_nonzero(found) < m else None

"""Segments from the boundary of a credal set to a corner of the simplex.

Paper 001, appendix A.1, searches the boundary point by trying many points, with one linear program for each. Here one linear
program per instance gives the exact point, and all instances are solved at once.
"""

from dataclasses import dataclass
from typing import Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay.credal.hull import boundary_towards_corner, in_hull
from uqassay.errors import InputError

__all__ = ["Otherwise", "OutsideSegment", "closest_corner", "outside_segment"]

Floats = NDArray[np.float64]
Otherwise = Literal["mean", "corner"]
OTHERWISE = ("mean", "corner")


@final
@dataclass(frozen=True, eq=False)
class OutsideSegment:
    """Segments from the boundary of credal sets to corners of the simplex.

    Attributes
    ----------
    boundary : array (n, K)
        Last point inside the set on the way to the corner.
    corner : int array (n,)
        Class of the corner.
    t : array (n,)
        Position of the boundary point on the way from the start (0) to the corner (1).
    inside : bool array (n,)
        True if the given start lies in the set; otherwise a replacement was used.
    """

    boundary: Floats
    corner: NDArray[np.intp]
    t: Floats
    inside: NDArray[np.bool_]

    def points(self, shares: ArrayLike) -> Floats:
        """Points at these shares of the way from the boundary (0) to the corner (1), (n,) -> (n, K).

        Examples
        --------
        >>> found = outside_segment([[[0.5, 0.5], [0.9, 0.1]]], [[0.7, 0.3]], [0])
        >>> found.points([0.5]).round(3).tolist()
        [[0.95, 0.05]]
        """
        share = np.asarray(shares, dtype=np.float64)
        if share.shape != self.t.shape:
            raise InputError(
                "shares",
                f"must have one value per row, shape {self.t.shape}",
                f"got shape {share.shape}",
                "reshape it",
                code="shape",
            )
        bad = ~((share >= 0) & (share <= 1))
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                "shares", "must lie in [0, 1]", f"row {row} has {share[row]:g}", "pass 0.5 for the middle", code="range"
            )
        points = (1.0 - share)[:, None] * self.boundary
        points[np.arange(len(points)), self.corner] += share
        return points


def outside_segment(
    members: ArrayLike, start: ArrayLike, corner: ArrayLike, *, otherwise: Otherwise = "mean"
) -> OutsideSegment:
    """Where the segment from a start to a corner of the simplex leaves the convex hull of the members.

    max t in [0, 1] such that (1 − t) start + t e_corner lies in the hull: one linear program for each instance.

    Parameters
    ----------
    members : (n, M, K)
        Probabilities.
    start : (n, K)
    corner : (n,) int
        Class of the corner.
    otherwise : {"mean", "corner"}
        Treatment of a start outside the hull. "mean": replace it by the mean of the members, which is always inside.
        "corner": use the corner itself as the boundary, as in the code of paper 001's authors; the segment is then one
        point.

    Returns
    -------
    OutsideSegment

    Raises
    ------
    InputError
        An unknown `otherwise`; as in `boundary_towards_corner`.

    Examples
    --------
    One start inside the set and one outside it:

    >>> members = [[[0.5, 0.5], [0.9, 0.1]]] * 2
    >>> found = outside_segment(members, [[0.7, 0.3], [0.2, 0.8]], [0, 0])
    >>> found.inside.tolist(), found.boundary.round(3).tolist()
    ([True, False], [[0.9, 0.1], [0.9, 0.1]])
    >>> outside_segment(members, [[0.7, 0.3], [0.2, 0.8]], [0, 0], otherwise="corner").boundary.round(3).tolist()
    [[0.9, 0.1], [1.0, 0.0]]
    """
    if otherwise not in OTHERWISE:
        raise InputError(
            "otherwise",
            'must be "mean" or "corner"',
            f"got {otherwise!r}",
            'pass "mean" to stay in the set',
            code="choice",
        )
    inside = in_hull(members, start)
    given = np.asarray(members, dtype=np.float64)
    begin = np.where(inside[:, None], np.asarray(start, dtype=np.float64), given.mean(axis=1))
    found = boundary_towards_corner(given, begin, corner)
    boundary, t = found.point, found.t
    to = np.asarray(corner, dtype=np.intp)
    if otherwise == "corner":
        boundary = np.where(inside[:, None], boundary, np.eye(given.shape[2])[to])
        t = np.where(inside, t, 1.0)
    return OutsideSegment(boundary, to, t, inside)


def closest_corner(probs: ArrayLike) -> NDArray[np.intp]:
    """Class of the corner nearest to each distribution, (n, K) -> (n,): the most probable class, of ties the first.

    ‖p − e_k‖² = ‖p‖² + 1 − 2 p_k is least where p_k is greatest.

    Examples
    --------
    >>> closest_corner([[0.2, 0.5, 0.3]]).tolist()
    [1]
    """
    return np.asarray(probs, dtype=np.float64).argmax(axis=-1)

"""The part of a segment towards a corner of the simplex that lies outside a credal set.

Paper 001, appendix A.1, looks for the point where the segment leaves the set by trying many points, one linear program
each. Here one linear program per instance gives the exact point, and all instances are solved side by side.
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
        Class whose corner is headed for.
    t : array (n,)
        Share of the way from the start to the corner at which the set is left, in [0, 1].
    inside : bool array (n,)
        Whether the start that was asked for lies in the set; where it does not, something else stood in for it.
    """

    boundary: Floats
    corner: NDArray[np.intp]
    t: Floats
    inside: NDArray[np.bool_]

    def points(self, shares: ArrayLike) -> Floats:
        """Points that share of the way from the boundary (0) to the corner (1), (n,) -> (n, K).

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
                f"one per row, shape {self.t.shape}, is needed",
                f"got shape {share.shape}",
                "reshape it",
                code="shape",
            )
        bad = ~((share >= 0) & (share <= 1))
        if bad.any():
            row = int(bad.argmax())
            raise InputError(
                "shares", "must lie in [0, 1]", f"row {row} has {share[row]:g}", "0.5 is half way", code="range"
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
        Class whose corner is headed for.
    otherwise : {"mean", "corner"}
        What is done where the start lies outside the hull. "mean": the members' mean, which never does, stands in for it.
        "corner": the boundary is said to be the corner itself, as the code of paper 001's authors has it, so that the
        segment is one point.

    Returns
    -------
    OutsideSegment

    Raises
    ------
    InputError
        An unknown `otherwise`; as `boundary_towards_corner`.

    Examples
    --------
    A start inside the set, and one outside it:

    >>> members = [[[0.5, 0.5], [0.9, 0.1]]] * 2
    >>> found = outside_segment(members, [[0.7, 0.3], [0.2, 0.8]], [0, 0])
    >>> found.inside.tolist(), found.boundary.round(3).tolist()
    ([True, False], [[0.9, 0.1], [0.9, 0.1]])
    >>> outside_segment(members, [[0.7, 0.3], [0.2, 0.8]], [0, 0], otherwise="corner").boundary.round(3).tolist()
    [[0.9, 0.1], [1.0, 0.0]]
    """
    if otherwise not in OTHERWISE:
        raise InputError(
            "otherwise", 'must be "mean" or "corner"', f"got {otherwise!r}", '"mean" stays in the set', code="choice"
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
    """Class of the corner nearest to each distribution, (n, K) -> (n,): the most probable one, the first of several.

    ‖p − e_k‖² = ‖p‖² + 1 − 2 p_k is least where p_k is greatest.

    Examples
    --------
    >>> closest_corner([[0.2, 0.5, 0.3]]).tolist()
    [1]
    """
    return np.asarray(probs, dtype=np.float64).argmax(axis=-1)

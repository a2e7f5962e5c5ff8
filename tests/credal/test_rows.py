"""What holds for every function of the room that works row by row.

A row does not depend on the others, to the last bit; any layout of memory and read-only arrays give the same; results
of float32 and float16 have double precision; no rows give none, or are refused.
"""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from uqassay.credal import (
    DISTANCES,
    admissible_in_hull,
    boundary_towards_corner,
    box_vertices,
    closest_corner,
    hull_event_bounds,
    in_hull,
    intersection_probability,
    interval_event_bounds,
    lower_probability_vertices,
    mass_event_bounds,
    nearest_in_box,
    nearest_in_core,
    nearest_in_hull,
    paper_masses,
    permutation_vertices,
    reachable,
    undominated_in_box,
    undominated_in_core,
    undominated_in_hull,
    unique_vertices,
)
from uqassay.credal.convex_hull import l1_projection

N, K = 90, 5
RNG = np.random.default_rng(18)
POINTS = RNG.dirichlet(np.full(K, 0.3), (N, 9))
SETS = np.concatenate([np.eye(K, dtype=bool), [[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [1, 1, 1, 1, 1]]]).astype(bool)
ARRAYS = {
    "points": POINTS,
    "few": POINTS[:, :4],
    "target": RNG.dirichlet(np.full(K, 0.3), N),
    "start": np.einsum("nv,nvk->nk", RNG.dirichlet(np.ones(9), N), POINTS),
    "corner": RNG.integers(0, K, N),
    "masses": RNG.dirichlet(np.full(len(SETS), 0.2), N),
    "signed": RNG.normal(0.3, 0.5, (N, len(SETS))),
    "l": POINTS[:, :3].min(axis=1),
    "u": POINTS[:, :3].max(axis=1),
}
EVENTS = RNG.random((6, K)) < 0.5


def all_events(masses):
    """Lower probabilities of all events, the lattice that `lower_probability_vertices` takes."""
    sets = (np.arange(2**K)[:, np.newaxis] >> np.arange(K)) & 1
    return mass_event_bounds(masses, SETS, sets.astype(bool))[0]


FUNCTIONS = {
    "in_hull": (in_hull, "points start"),
    "boundary_towards_corner": (boundary_towards_corner, "points start corner"),
    "l1_projection": (l1_projection, "points target"),
    "closest_corner": (closest_corner, "few"),
    "unique_vertices": (unique_vertices, "few"),
    "hull_event_bounds": (lambda p: hull_event_bounds(p, EVENTS), "points"),
    "interval_event_bounds": (lambda l, u: interval_event_bounds(l, u, EVENTS), "l u"),
    "mass_event_bounds": (lambda m: mass_event_bounds(m, SETS, EVENTS), "masses"),
    "paper_masses": (lambda m: paper_masses(m, SETS)[::2], "signed"),
    "permutation_vertices": (lambda m: permutation_vertices(m, SETS), "masses"),
    "lower_probability_vertices": (lambda m: lower_probability_vertices(all_events(m)), "masses"),
    "box_vertices": (lambda l, u: box_vertices(l, u)[1], "l u"),
    "reachable": (reachable, "l u"),
    "intersection_probability": (intersection_probability, "l u"),
    "undominated_in_box": (undominated_in_box, "l u"),
    "undominated_in_core": (lambda m: undominated_in_core(m, SETS), "masses"),
    "undominated_in_hull": (undominated_in_hull, "few"),
    "admissible_in_hull": (admissible_in_hull, "few corner"),
    **{f"hull, {d}": (lambda t, p, d=d: nearest_in_hull(t, p, d), "target points") for d in DISTANCES},
    **{f"few points, {d}": (lambda t, p, d=d: nearest_in_hull(t, p, d), "target few") for d in DISTANCES},
    **{f"box, {d}": (lambda t, l, u, d=d: nearest_in_box(t, l, u, d), "target l u") for d in DISTANCES},
    **{f"core, {d}": (lambda t, m, d=d: nearest_in_core(t, m, SETS, d), "target masses") for d in DISTANCES},
}


AT_LEAST_ONE = {"unique_vertices", "permutation_vertices", "lower_probability_vertices", "box_vertices", "paper_masses"}


def parts(found):
    """Arrays with a row for each instance."""
    if is_dataclass(found):
        found = [getattr(found, f.name) for f in fields(found)]
    arrays = found if isinstance(found, (list, tuple)) else [found]
    return [a for a in arrays if isinstance(a, np.ndarray)]


def call(name, change=lambda x: x):
    function, names = FUNCTIONS[name]
    return parts(function(*(change(ARRAYS[one]) for one in names.split())))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_row_does_not_depend_on_the_others(name):
    whole = call(name)
    for rows in (np.arange(5, 6), RNG.permutation(N)[:31], np.arange(N)[::-1]):
        for part, expected in zip(call(name, lambda x, rows=rows: x[rows]), whole, strict=True):
            if part.ndim > 2 and part.shape[1] < expected.shape[1]:  # padded to the most vertices of a row
                expected = expected[:, : part.shape[1]]
            np.testing.assert_array_equal(part, expected[rows])


def read_only(x):
    x = np.asfortranarray(np.repeat(x, 2, axis=-1))[..., ::2] if x.ndim > 1 else np.repeat(x, 2)[::2]
    x.flags.writeable = False
    return x


@pytest.mark.parametrize("name", FUNCTIONS)
def test_layouts_precision_and_no_rows(name):
    for found, expected in zip(call(name, read_only), call(name), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    for dtype in (np.float32, np.float16) if name != "lower_probability_vertices" else ():
        short = call(name, lambda x, dtype=dtype: x.astype(dtype) if x.dtype.kind == "f" else x)
        for found, expected in zip(short, call(name), strict=True):
            assert found.dtype == expected.dtype
            assert found.shape[0] == N
    for found in call(name, lambda x: x[:0]) if name not in AT_LEAST_ONE else []:
        assert found.shape[0] == 0

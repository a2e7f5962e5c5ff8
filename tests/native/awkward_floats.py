"""Arrays of floating-point numbers that sorts get wrong, and definitions that count pair by pair."""

from collections.abc import Iterator

import numpy as np

DTYPES = (np.float32, np.float64)
SIZES = (1, 2, 3, 31, 32, 33, 65, 200, 1_000, 3_000)


def awkward_arrays(rng: np.random.Generator, n: int, dtype: type) -> Iterator[np.ndarray]:
    """Named by what is awkward about them; all without nan."""
    z = rng.normal(size=n)
    near_one = 1 - 1e-9 * rng.random(n)
    far_out = near_one.copy()
    far_out[0] = np.finfo(dtype).min
    infinite = np.where(rng.random(n) < 0.1, np.inf, np.where(rng.random(n) < 0.1, -np.inf, z))
    exponents = rng.integers(np.finfo(dtype).minexp - 20, np.finfo(dtype).maxexp, n)
    arrays = {
        "both signs": z,
        "one decimal": z.round(1),
        "all equal": np.full(n, 0.25),
        "zeros of both signs": np.where(rng.random(n) < 0.5, -0.0, 0.0),
        "denormals": rng.integers(-50, 50, n) * float(np.finfo(dtype).smallest_subnormal),
        "infinite": infinite,
        "only infinite": np.where(rng.random(n) < 0.5, np.inf, -np.inf),
        "near one": near_one,
        "near one and one far out": far_out,
        "rising": np.sort(z),
        "falling": np.sort(z)[::-1],
        "every magnitude": np.sign(z) * np.ldexp(1.0, exponents),
        "neighbouring floats": np.nextafter(dtype(1), dtype(2)) * rng.integers(0, 2, n) + rng.integers(0, 2, n),
    }
    for array in arrays.values():
        yield np.ascontiguousarray(array, dtype=dtype)


def twice_placements(these: np.ndarray, others: np.ndarray) -> list[int]:
    """For each of these values, twice the number of others below it, plus the number of equal ones."""
    order = [(2 * (others < x).sum() + (others == x).sum()) for x in these]
    return [int(count) for count in order]


def squared_ties(values: np.ndarray) -> int:
    return sum(int(count) ** 2 for count in np.unique(values, return_counts=True)[1])

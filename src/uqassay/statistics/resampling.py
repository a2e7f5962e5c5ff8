"""Inner loops of resampling: drawing units, drawing training runs, flipping signs.

A draw depends neither on the number of draws nor on the block that contains it, for two reasons. Random numbers are drawn
one draw after the other. All matrix products have the same shape (the last block is padded), because BLAS may round
products of other shapes differently.
"""

import numpy as np

from uqassay.statistics.samples import Floats, Units

# Draws per matrix product, limited to this many cells (16 MiB). Neither number changes the random numbers.
_BLOCK_DRAWS = 64
_BLOCK_CELLS = 2**21
_COUNTED_CELLS = 2**14  # draws of few units are counted together, as many as fit into a cache

# Sums of differences this close, relative to the sum of their absolute values, count as equal (rounding error).
_TIE = 1e-12


def draw_means(columns: Floats, units: Units, n_draws: int, rng: np.random.Generator) -> Floats:
    """Means of resampled units, as ratios of resampled sums, (n, C) -> (B, C)."""
    infinite = np.isinf(columns)
    if not infinite.any():
        sums = np.column_stack([units.sums(columns), units.sizes])
        resampled = _resampled_sums(sums, n_draws, rng)  # (B, C + 1)
        return resampled[:, :-1] / resampled[:, -1:]
    # an instance drawn 0 times would give 0·inf = nan in the product, so infinite values are counted in extra columns
    draws = draw_means(
        np.hstack([np.where(infinite, 0.0, columns), columns == np.inf, columns == -np.inf]), units, n_draws, rng
    )
    finite, above, below = np.split(draws, 3, axis=1)
    with np.errstate(invalid="ignore"):
        return finite + np.where(above > 0, np.inf, 0.0) + np.where(below > 0, -np.inf, 0.0)


def draw_run_effects(run_means: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    """Mean run effect of resampled runs, (R, C) -> (B, C), with the variance s²/R."""
    r = run_means.shape[0]
    with np.errstate(invalid="ignore"):
        effects = run_means - run_means.mean(axis=0)  # (R, C)
    effects[:, ~np.isfinite(effects).all(axis=0)] = 0.0
    picked = rng.integers(0, r, size=(n_draws, r))
    return np.sqrt(r / (r - 1)) * effects[picked].mean(axis=1)


def sign_flip_pvalue(differences: Floats, units: Units, n_draws: int, rng: np.random.Generator) -> float:
    """Two-sided p-value of Σ d under random signs of whole units, d of shape (n,)."""
    u = units.sums(differences[:, np.newaxis])[:, 0]  # (G,)
    g, total = u.size, u.sum()
    rows = max(1, min(_BLOCK_DRAWS, _BLOCK_CELLS // g))
    kept = np.zeros((rows, g))
    width = 4 * (
        (g + 31) // 32
    )  # whole 32-bit words: the generator discards the rest of a word, which would depend on the block
    bound = abs(total) - _TIE * np.abs(u).sum()  # a flip equal to the observed sum must count, however it is rounded
    count = 0
    for start in range(0, n_draws, rows):
        used = min(rows, n_draws - start)
        bits = np.frombuffer(rng.bytes(used * width), dtype=np.uint8).reshape(used, width)
        kept[:used] = np.unpackbits(bits, axis=1, count=g)
        flipped = 2.0 * (kept @ u)[:used] - total  # Σ ±u
        count += int((np.abs(flipped) >= bound).sum())
    return (1 + count) / (1 + n_draws)


def _resampled_sums(sums: Floats, n_draws: int, rng: np.random.Generator) -> Floats:
    g = sums.shape[0]
    rows = max(1, min(_BLOCK_DRAWS, _BLOCK_CELLS // g))
    counts = np.zeros((rows, g))
    out = np.empty((n_draws, sums.shape[1]))
    together = max(1, min(rows, _COUNTED_CELLS // g))
    places = g * np.arange(together)[:, np.newaxis]
    for start in range(0, n_draws, rows):
        used = min(rows, n_draws - start)
        for row in range(0, used, together):
            size = (min(together, used - row), g)
            picked = rng.integers(0, g, size=size) + places[: size[0]]
            counts[row : row + size[0]] = np.bincount(picked.ravel(), minlength=picked.size).reshape(size)
        out[start : start + used] = (counts @ sums)[:used]
    return out

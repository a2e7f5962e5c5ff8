"""Plain implementations to compare with: NumPy or SciPy, one instance or one mixture at a time."""

from collections.abc import Callable

import numpy as np

from benchmarks.speed.workload import Peer

__all__ = [
    "DECOMPOSITIONS",
    "MEASURES",
    "cobyla",
    "entropy",
    "extreme_entropy",
    "hartley",
    "hartley_of_orders",
    "of_members",
    "pairwise",
    "paper_terms",
    "parts",
]

TINY = 1e-300


# -- sets, instance by instance ---------------------------------------------------------------------------------------


def _events(n_classes: int) -> np.ndarray:
    return (np.arange(2**n_classes)[:, None] >> np.arange(n_classes)) & 1 > 0


def paper_terms(members: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """KL and non-specificity of the paper's convention, (n, 2): subsets of every event from a table made once."""
    n_classes = members.shape[2]
    events = _events(n_classes)
    sizes = events.sum(axis=1)
    subsets = [np.flatnonzero((np.arange(2**n_classes) & ~a) == 0) for a in range(2**n_classes)]
    signs = [(-1.0) ** (sizes[a] - sizes[b]) for a, b in enumerate(subsets)]
    out = np.empty((len(members), 2))
    for i, member in enumerate(members):
        lower = (member @ events.T).min(axis=0)
        masses = np.array([sign @ lower[b] for b, sign in zip(subsets, signs, strict=True)])
        masses = np.maximum(masses, 0.0)
        masses[-1] += max(0.0, 1.0 - masses.sum())
        masses /= masses.sum()
        out[i] = -np.log(masses[events[:, labels[i]]].sum()), masses @ np.log(np.maximum(sizes, 1))
    return out


def hartley(members: np.ndarray) -> np.ndarray:
    """Generalised Hartley measure by a fast Möbius transform, (n,)."""
    n_classes = members.shape[2]
    events = _events(n_classes)
    sizes = events.sum(axis=1)
    out = np.empty(len(members))
    for i, member in enumerate(members):
        masses = (member @ events.T).min(axis=0)
        for c in range(n_classes):
            pairs = masses.reshape(-1, 2, 2**c)
            pairs[:, 1] -= pairs[:, 0]
        out[i] = masses @ np.log(np.maximum(sizes, 1))
    return out


def hartley_of_orders(members: np.ndarray, orders: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The estimator over given orders of the classes, one cumulative sum each, (n,)."""
    out = np.zeros(len(members))
    for i, member in enumerate(members):
        for order in orders:
            sums = member[:, order].cumsum(axis=1)[:, :-1]
            forward = weights @ (sums[0] - sums.min(axis=0))
            reverse = weights[::-1] @ (sums.max(axis=0) - sums[0])
            out[i] += 0.5 * (forward + reverse) / len(orders)
    return out


def extreme_entropy(members: np.ndarray, sign: float) -> np.ndarray:
    """SciPy's SLSQP once per instance, from the mean of the members; sign 1 for the lower entropy, -1 for the upper."""
    from scipy.optimize import minimize

    out = np.empty(len(members))
    for i, p in enumerate(members):
        solution = minimize(
            lambda x: -sign * float((x * np.log(np.maximum(x, TINY))).sum()),
            p.mean(axis=0),
            jac=lambda x: -sign * (np.log(np.maximum(x, TINY)) + 1.0),
            bounds=list(zip(p.min(axis=0), p.max(axis=0), strict=True)),
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1.0, "jac": np.ones_like},
        )
        out[i] = sign * solution.fun
    return out


# -- decompositions, over the whole array (n, M, K) ---------------------------------------------------------------------


def entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.maximum(p, TINY))).sum(axis=-1)


DECOMPOSITIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "information-theoretic": entropy,
    "variance": lambda p: (p * (1 - p)).sum(axis=-1),
    "label-wise": lambda p: entropy(np.stack([p, 1 - p], axis=-1)).sum(axis=-1),
    "zero-one": lambda p: 1 - p.max(axis=-1),
    "spherical": lambda p: 1 - np.sqrt((p * p).sum(axis=-1)),
}


def parts(p: np.ndarray, name: str) -> np.ndarray:
    """Total, aleatoric and epistemic part, (n, 3): the definition in three lines."""
    of = DECOMPOSITIONS[name]
    total, aleatoric = of(p.mean(axis=1)), of(p).mean(axis=1)
    return np.stack([total, aleatoric, total - aleatoric], axis=1)


def pairwise(p: np.ndarray) -> np.ndarray:
    """Expected KL divergence between two members, over all pairs, (n,)."""
    log = np.log(p)
    return (p[:, :, None] * (log[:, :, None] - log[:, None])).sum(axis=-1).mean(axis=(1, 2))


# -- calibration: loops over bins and classes ---------------------------------------------------------------------------


def confidence_error(probs: np.ndarray, labels: np.ndarray, n_bins: int = 10) -> float:
    confidence, correct, total = probs.max(axis=1), probs.argmax(axis=1) == labels, 0.0
    for b in range(n_bins):
        inside = (confidence > b / n_bins) & (confidence <= (b + 1) / n_bins)
        if inside.any():
            total += abs(correct[inside].mean() - confidence[inside].mean()) * inside.mean()
    return total


def classwise_error(probs: np.ndarray, labels: np.ndarray, n_bins: int = 10) -> float:
    total = 0.0
    for k in range(probs.shape[1]):
        for b in range(n_bins):
            inside = (probs[:, k] > b / n_bins) & (probs[:, k] <= (b + 1) / n_bins)
            if b == 0:
                inside |= probs[:, k] == 0
            if inside.any():
                total += abs((labels[inside] == k).mean() - probs[inside, k].mean()) * inside.mean()
    return total / probs.shape[1]


def kuiper(probs: np.ndarray, labels: np.ndarray) -> float:
    confidence, correct = probs.max(axis=1), probs.argmax(axis=1) == labels
    total, greatest, smallest = 0.0, 0.0, 0.0
    for value in np.unique(confidence):
        total += (confidence - correct)[confidence == value].sum()
        greatest, smallest = max(greatest, total), min(smallest, total)
    return (greatest - smallest) / len(probs)


def hosmer_lemeshow(probs: np.ndarray, labels: np.ndarray, n_bins: int = 5) -> float:
    total = 0.0
    for k in range(probs.shape[1]):
        starts = np.sort(probs[:, k])[np.arange(1, n_bins) * len(probs) // n_bins]
        place = np.searchsorted(starts, probs[:, k], side="right")
        merged = [[0.0, 0]]  # expected and observed events of bins that are joined until they expect one event
        for b in range(n_bins):
            inside = place == b
            expected, observed = probs[inside, k].sum(), (labels[inside] == k).sum()
            if expected == 0 and observed > 0:
                return float("inf")
            merged[-1] = [merged[-1][0] + expected, merged[-1][1] + observed]
            if merged[-1][0] >= 1:
                merged.append([0.0, 0])
        if len(merged) > 1:
            rest = merged.pop()
            merged[-1] = [merged[-1][0] + rest[0], merged[-1][1] + rest[1]]
        total += sum((observed - expected) ** 2 / expected for expected, observed in merged if expected > 0)
    return float(total)


def skce(probs: np.ndarray, labels: np.ndarray) -> float:
    one_hot, total = np.eye(probs.shape[1])[labels], 0.0
    for i in range(0, len(probs) // 2 * 2, 2):
        kernel = np.exp(-np.abs(probs[i] - probs[i + 1]).sum() / 2)
        total += kernel * (probs[i] - one_hot[i]) @ (probs[i + 1] - one_hot[i + 1])
    return float(total / (len(probs) // 2))


MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "ece-confidence": confidence_error,
    "kuiper-confidence": kuiper,
    "ece-classwise": classwise_error,
    "hosmer-lemeshow": hosmer_lemeshow,
    "skce-ul": skce,
}


def cobyla(function: Callable[[np.ndarray], float], n_members: int) -> np.ndarray:
    """Weights at which SciPy's COBYLA ends, started at equal ones with its default tolerances; not yet on the simplex."""
    from scipy.optimize import minimize

    constraints = [
        {"type": "ineq", "fun": lambda weights: weights},
        {"type": "ineq", "fun": lambda weights: weights.sum() - 1},
        {"type": "ineq", "fun": lambda weights: 1 - weights.sum()},
    ]
    return minimize(function, np.full(n_members, 1 / n_members), method="COBYLA", constraints=constraints).x


def of_members(
    name: str, function: Callable[[np.ndarray], np.ndarray], members: np.ndarray, rows: int, **more: object
) -> Peer:
    """A peer that works on the first instances of members (n, M, K)."""
    few = members[:rows]
    return Peer(name, lambda: function(few), rows=len(few), **more)  # type: ignore[arg-type]

"""Which Spearman correlation with the gain can an estimate have at most? Closed form of a simple world, and a simulation.

Run: python benchmarks/gain_correlation_limits.py [--n N]

The world: f_aug is the best classifier, which errs with probability a (the aleatoric uncertainty) at every instance. f̂ is wrong
about a share w of the instances, where it says the other class. There the gain is 1 with probability 1 − a and −1 with
probability a; elsewhere it is 0. Three estimates are held against the gain:

* "knows": it knows where f̂ is wrong. No learner can: it would have said the other class.
* "seen": f̂ guesses in a share 2w of the instances, about which it has seen nothing, and is right in half of them. The estimate
  knows where it guesses. No estimate can do better in this world.
* "noisy": as "seen", but the estimate calls a share e of the other instances guessed, and e of the guessed ones learnt.

The columns of the simulation are `scipy.stats.spearmanr` of N draws.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from uqassay.text import number

GAINS = np.array([-1.0, 0.0, 1.0])
WRONG = (0.05, 0.1, 0.2, 0.3, 0.4, 0.45)
ALEATORIC = (0.0, 0.14, 0.3)
SWAPPED = 0.25


def spearman_of(joint: NDArray[np.float64]) -> float:
    """Spearman's correlation of two discrete variables, joint (I, J) of their values in ascending order, with mid-ranks."""
    ranks = []
    for axis in (1, 0):
        mass = joint.sum(axis=axis)
        ranks.append(np.cumsum(mass) - mass / 2)
    x, y = (rank - 0.5 for rank in ranks)  # mid-ranks have the mean 1/2
    px, py = joint.sum(axis=1), joint.sum(axis=0)
    return float(x @ joint @ y / np.sqrt((px @ x**2) * (py @ y**2)))


def joint_of(kind: str, w: float, a: float) -> NDArray[np.float64]:
    """Probabilities of (estimate, gain), (2, 3)."""
    wrong = np.array([a, 0.0, 1.0 - a])
    learnt = np.array([0.0, 1.0, 0.0])
    if kind == "knows":
        return np.stack([(1 - w) * learnt, w * wrong])
    guessed = (wrong + learnt) / 2
    e = SWAPPED if kind == "noisy" else 0.0
    parts = np.stack([(1 - 2 * w) * learnt, 2 * w * guessed])
    return np.array([[1 - e, e], [e, 1 - e]]) @ parts


def simulated(joint: NDArray[np.float64], n: int, seed: int) -> float:
    """Correlation of n draws."""
    drawn = np.random.default_rng(seed).choice(joint.size, size=n, p=joint.ravel())
    return float(stats.spearmanr(drawn // len(GAINS), GAINS[drawn % len(GAINS)])[0])


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=200_000)
    n = parser.parse_args().n
    kinds = ("knows", "seen", "noisy")
    head = ("a", "w", "mean gain", *(text for kind in kinds for text in (kind, "simulated")))
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for a in ALEATORIC:
        for i, w in enumerate(WRONG):
            row = [number(a, 2), number(w, 2), number(w * (1 - 2 * a))]
            for kind in kinds:
                joint = joint_of(kind, w, a)
                row += [number(spearman_of(joint)), number(simulated(joint, n, i))]
            print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()

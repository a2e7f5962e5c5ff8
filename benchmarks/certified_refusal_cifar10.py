"""Certified refusal on saved predictions of CIFAR-10: how often the other half of the images exceeds the limit.

Run: python -m benchmarks.certified_refusal_cifar10 FOLDER   (seconds)

FOLDER holds, for the 10,000 test images, `three_networks.npz` with `probs` (10000, 3, 10) and the classes in `labels.npy`. The
package has neither. The images are halved 200 times: one half chooses and certifies the threshold, the other shows its error
rate.
"""

import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from benchmarks.stored_tables import Source, Table, store
from uqassay.measures import entropy
from uqassay.metrics import certified_refusal
from uqassay.predictions import Members

RISKS = (0.01, 0.02, 0.03)
SPLITS = 200
FUNCTION = "benchmarks.certified_refusal_cifar10:halves"


def halves(errors: np.ndarray, uncertainty: np.ndarray, risk: float, n_splits: int = SPLITS) -> np.ndarray:
    """Share of halves above the limit and mean share kept, of the certified and of the uncertified threshold, (4,)."""
    rng, found = np.random.default_rng(0), np.zeros(4)
    for k in range(n_splits):
        one, other = np.array_split(rng.permutation(errors.size), 2)
        refusal = certified_refusal(errors[one], uncertainty[one], risk=risk, rng=k)
        for at, threshold in ((0, refusal.threshold), (2, refusal.uncertified_threshold)):
            kept = uncertainty[other] <= threshold
            found[at : at + 2] += kept.any() and errors[other][kept].mean() > risk, kept.mean()
    return found / n_splits


def main() -> None:
    """Measure, print and store the table."""
    folder = Path(sys.argv[1])
    with np.load(folder / "three_networks.npz") as file:
        networks = Members(file["probs"])
    errors = (networks.labels() != np.load(folder / "labels.npy")).astype(float)
    uncertainty = np.asarray(entropy(networks.mean_probs()))
    rows = [[f"{100 * r:g} %", *(f"{100 * x:.1f}" for x in halves(errors, uncertainty, r))] for r in RISKS]
    table = Table(("limit", "above, certified", "kept, certified", "above, uncertified", "kept, uncertified"), rows)
    print("\n".join(table.markdown()))
    command = "python -m benchmarks.certified_refusal_cifar10 FOLDER"
    store("certified-refusal-cifar-10", table, Source(command, FUNCTION, cost="seconds", prints=True))


if __name__ == "__main__":
    main()

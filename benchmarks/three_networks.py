"""Three saved networks for CIFAR-10: second-order calibration against human votes, and what E rewards.

Run: python benchmarks/three_networks.py FOLDER   (a few seconds)

FOLDER holds, for the 10,000 test images of CIFAR-10, `three_networks.npz` with `probs` (10000, 3, 10), `snn.npz` with `probs`
(10000, 10), the classes in `labels.npy`, and the votes of CIFAR-10H in `human_counts.npy`, (10000, 10). The package has none of
these files. Prints what the guide says of them: stated and observed epistemic variance with all votes and with two of each
image, the buckets, the three tests, and E at each scale of the spread.
"""

import os
import sys
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import numpy as np

import uqassay as uq
from uqassay.calibration import second_order_test
from uqassay.text import number

TRADEOFFS = (0.2, 1.0)


def second_order(networks: uq.Prediction, single: uq.Prediction, votes: np.ndarray) -> None:
    """Stated and observed variance of the three networks, and what the single one leaves unstated."""
    rng = np.random.default_rng(0)
    drawn = np.stack([rng.multivariate_hypergeometric(row, 2) for row in votes])
    found = {"all votes": second_order_test(votes, networks), "two votes": second_order_test(drawn, networks)}
    for name, one in found.items():
        stated, observed = (number(float(each), 4) for each in (one.stated, one.observed))
        ratio, slope = (
            f"{number(float(e), 2)} ({number(e.low, 2)} to {number(e.high, 2)})" for e in (one.ratio, one.slope)
        )
        print(f"{name}: stated {stated}, observed {observed}, ratio {ratio}, slope {slope}")
    widths = [one.ratio.high - one.ratio.low for one in found.values()]
    print(f"width of the interval of the ratio, all votes against two: {number(widths[0] / widths[1], 2)}")
    buckets = found["all votes"].buckets
    for least, stated, observed in zip(buckets.edges, buckets.stated, buckets.observed, strict=False):
        print(f"bucket from V = {least:.2g}: stated {stated:.2g}, observed {number(float(observed), 3)}")
    for by in ("overall", "kernel", "moments"):
        print(f"{by}: p = {second_order_test(votes, networks, by=by, rng=0).pvalue:.2g}")
    alone = second_order_test(votes, single)
    print(f"single network: observed {number(float(alone.observed), 3)}, ratio {float(alone.ratio)}")


def scales(networks: uq.Prediction, y: np.ndarray) -> None:
    """Mean E at each scale of the spread."""
    a = uq.assay({"networks": networks}, y, calibration=())
    for tradeoff in TRADEOFFS:
        (row,) = a.scale_check(tradeoff).models
        losses = ", ".join(f"{s:g}: {number(float(e), 4)}" for s, e in zip(row.scales, row.losses, strict=True))
        print(f"E at λ = {tradeoff:g} by scale: {losses}")


def main() -> None:
    folder = Path(sys.argv[1])
    networks, single = (uq.load(folder / f"{name}.npz") for name in ("three_networks", "snn"))
    second_order(networks, single, np.load(folder / "human_counts.npy"))
    scales(networks, np.load(folder / "labels.npy"))


if __name__ == "__main__":
    main()

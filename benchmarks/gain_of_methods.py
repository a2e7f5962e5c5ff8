"""The protocol of epistemic gain with a Gaussian process, a random forest and a deep ensemble: one table with intervals.

Run: python benchmarks/gain_of_methods.py [digits] [toy] [--runs R] [--folder FOLDER]

"digits": 1,797 digits, odd against even, 50 principal components, the regions of ``uqassay reproduce epistemic-gain``. "toy":
10,000 points of the grid of the paper at its density, 12 × 10 clusters, spread .35. Eight discs for the evaluation stand in the
lower rows and four for the calibration in the upper three. All runs take the same points; each draws its own rows of the discs.
With --folder, runs that are finished are kept there.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import numpy as np

import uqassay as uq
from uqassay.lab.papers.gain.plan import DATASETS
from uqassay.lab.papers.gain.worlds import World, make_world, world_params
from uqassay.text import number

TOY = 10_000, 12, 10  # points, columns and rows
RADIUS = 1.4
SHARES = (0.01, 0.04, 0.1, 0.25)
NETWORKS = {
    "digits": {"backbone": (64, 64), "epochs": 40, "batch_size": 64},
    "toy": {"backbone": (128, 128), "epochs": 30, "batch_size": 512, "learning_rate": 0.005},
}


def toy() -> World:
    """A piece of the paper's grid with discs."""
    n, columns, rows = TOY
    grid = uq.lab.datasets.cluster_grid(n, columns=columns, rows=rows, spread=0.35, rng=0)
    across = (2.0, 5.0, 8.0, 11.0)
    evaluation = [(x, y) for y in (2.0, 5.5) for x in across]
    split, calibration = (
        uq.lab.datasets.BallSplit(
            RADIUS,
            centres=np.array(centres),
            train_share=np.roll(np.resize(SHARES, len(centres)), shift),
            test_share=0.3,
        )
        for centres, shift in ((evaluation, 0), ([(x, 9.0) for x in across], 1))
    )
    return World(grid.X, grid.y, split, calibration, grid.label_probs, {})


def methods(name: str) -> dict[str, Any]:
    """The estimators by name."""
    return {
        "local GP": uq.lab.methods.LocalGaussianProcess(),
        "random forest": uq.lab.methods.RandomForest(n_members=100),
        "deep ensemble": uq.lab.methods.DeepEnsemble(n_members=5, **NETWORKS[name]),
    }


def cell(found: Any, decimals: int = 3) -> str:
    """Mean ± standard deviation over the runs [interval]."""
    one = found.estimate
    low, high = number(one.low, decimals), number(one.high, decimals)
    return f"{number(float(one), decimals)} ± {number(found.sd, decimals)} [{low}, {high}]"


def lines(name: str, runs: int, folder: str | None) -> None:
    """Print a row for each method and score."""
    world = toy() if name == "toy" else make_world(world_params(DATASETS[name], limit=None), 0)
    calibration = world.split if isinstance(world.calibration, str) else world.calibration
    for label, estimator in methods(name).items():
        start = time.process_time()
        study = uq.lab.papers.epistemic_gain(
            estimator,
            world.X,
            world.y,
            world.split,
            calibration=calibration,
            runs=runs,
            truth=world.truth,
            folder=folder,
        )
        seconds = time.process_time() - start
        before, after = (
            float(np.mean([getattr(run.test, f"accuracy_{when}") for run in study.runs]))
            for when in ("before", "after")
        )
        for score in study.scores:
            found = study.result(score)
            gained, low, high = found.delay.at(0.2)
            row = (
                f"{name}, {label}",
                score,
                f"{number(before)} → {number(after)}",
                cell(found.correlation),
                cell(found.error),
                cell(found.calibrated_error),
                f"{number(gained)} [{number(low)}, {number(high)}]",
            )
            print(f"| {' | '.join(row)} |", flush=True)
        if world.truth is not None:
            true = float(np.mean([run.test.truth.epistemic.mean() for run in study.runs if run.test.truth is not None]))
            print(f"  true EU of {label}: {number(true)}", flush=True)
        parts = {"D_test": [run.test for run in study.runs], "D_test2": [run.calibration for run in study.runs]}
        means = {part: np.mean([one.gain["zero-one"].mean() for one in held if one]) for part, held in parts.items()}
        print(
            f"  mean gain of {label}: {', '.join(f'{part} {number(gain)}' for part, gain in means.items())}", flush=True
        )
        sizes = study.runs[0].sizes
        print(f"  {label}: {sizes}, {seconds:.0f} CPU-seconds", flush=True)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="*", default=["digits", "toy"])
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--folder")
    given = parser.parse_args()
    head = ("data, method", "estimate", "accuracy", "ρ", "EECE", "EECE after γ", "20 % wait")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    for name in given.dataset:
        lines(name, given.runs, given.folder)


if __name__ == "__main__":
    main()

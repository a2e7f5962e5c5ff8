"""Estimate what the unified evaluation costs: operations counted here, time at an assumed rate, and time measured here.

Run: python -m benchmarks.cost_of_unified [PRESET …] [--image-size 224] [--tflops 10] [--measure 64]
     (paper and gpu-hour unless given; two minutes, and with --measure as long as that takes)

Each predictor is trained on two and on four random images of each data set's shape, for one and for two epochs. Operations of
matrix products and convolutions, forward and backward, have a part for each step and a part for each image; both are multiplied
by the steps and images of the preset. Predictions are not counted. The last column divides by --tflops, the rate that a device
sustains, in 10¹² operations a second; small images reach less, since their steps wait for the launch of kernels.

--measure trains a standard network on that many images at a time, on one thread of the CPU, and prints the processor time of an
epoch. Nothing is counted then.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

from benchmarks.training_cost import images, operations_of_step, seconds_of_step
from uqassay.lab.methods import build_method
from uqassay.lab.methods.training import torch_threads
from uqassay.lab.papers.unified.plan import (
    PLANS,
    PUBLISHED,
    Predictor,
    TrainingSetting,
    chosen_predictors,
    setting_of,
)
from uqassay.text import listed

SHAPES = {"cifar-10": ((3, 32, 32), 10), "cifar-100": ((3, 32, 32), 100), "mnist": ((1, 28, 28), 10)}
FEW, MORE = 2, 4  # images of a counted step; batch norm needs two


class Operations(NamedTuple):
    """Floating-point operations of a training step: a part that every step has, and a part for each image."""

    step: float
    image: float

    def of(self, n: int, batch_size: int, epochs: int) -> float:
        """Of whole epochs through n images."""
        return epochs * (self.step * -(-n // batch_size) + self.image * n)


def operations(setting: TrainingSetting, predictor: Predictor, dataset: str) -> Operations:
    """Of one network, or of all that one cell of a predictor trains."""
    few, more = (operations_of_step(_fit(setting, predictor, dataset, n)) for n in (FEW, MORE))
    image = (more - few) / (MORE - FEW)
    return Operations(max(few - FEW * image, 0.0), image)


def core_seconds_of_image(setting: TrainingSetting, dataset: str, n: int) -> float:
    """Processor time in which a standard network is trained on one image, in batches of n."""
    (standard,) = chosen_predictors(["SNN"])
    with torch_threads(1):
        seconds = seconds_of_step(_fit(setting, standard, dataset, n), 2, warm_up=1, clock=time.process_time)
    return seconds / n


def _fit(setting: TrainingSetting, predictor: Predictor, dataset: str, n: int) -> Callable[[int], Any]:
    shape, n_classes = SHAPES[dataset]
    x, y = images(n, shape, n_classes)
    options = (
        setting.options(predictor.method) | predictor.params | {"batch_size": n, "classes": tuple(range(n_classes))}
    )
    options |= {"n_members": 1} if predictor.method == "deep-ensemble" else {}

    def fit(epochs: int) -> Any:
        options["epochs"] = epochs
        return build_method(predictor.method, **options, parallel="sequential").fit(x, y)

    return fit


def describe(preset: str, dataset: str, asked: argparse.Namespace) -> None:
    """Print the predictors of a data set, or the measured time of one."""
    n_train, n_test = PUBLISHED[dataset]
    setting = setting_of(preset, dataset, n_train)
    setting = setting if asked.image_size is None else replace(setting, image_size=asked.image_size)
    n = setting.limits(n_train, n_test).get("train_limit", n_train)
    if asked.measure:
        seconds = core_seconds_of_image(setting, dataset, asked.measure)
        size = asked.image_size or "own"
        print(
            f"{preset:10}{dataset:11}SNN, images of size {size}: {n * seconds / 3600:,.2f} core-hours an epoch",
            flush=True,
        )
        return
    whole = 0.0
    for predictor in chosen_predictors(None, setting.left_out):
        found = operations(setting, predictor, dataset)
        networks = setting.runs * (setting.members if predictor.method == "deep-ensemble" else 1)
        total = networks * found.of(n, setting.batch_size, setting.epochs)
        whole += total
        hours = total / asked.tflops / 3.6e15
        row = f"{preset:10}{dataset:11}{predictor.name:9}{networks:8}{setting.epochs:8}{found.image / 1e9:13.2f}"
        print(f"{row}{total / 1e15:10,.0f}{hours:12,.2f}", flush=True)
    print(
        f"{preset:10}{dataset:11}{'all':9}{'':29}{whole / 1e15:10,.0f}{whole / asked.tflops / 3.6e15:12,.2f}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", nargs="*", default=["paper", "gpu-hour"], help=listed(list(PLANS), last="or"))
    parser.add_argument("--image-size", type=int, default=None, help="of all networks but CreINN")
    parser.add_argument("--tflops", type=float, default=10.0, help="sustained rate, in 10¹² operations a second")
    parser.add_argument("--measure", type=int, default=0, help="images of a measured step; 0 counts operations instead")
    asked = parser.parse_args()
    rate = f"h at {asked.tflops:g} T/s"
    if not asked.measure:
        print(f"{'':21}{'':9}{'networks':>8}{'epochs':>8}{'GFLOP / image':>13}{'PFLOP':>10}{rate:>12}")
    for preset in asked.preset:
        if preset not in PLANS:
            sys.exit(f"{preset} is none of {', '.join(PLANS)}")
        named = [name for name in (*PLANS[preset].datasets, *PLANS[preset].settings) if name in SHAPES]
        if not named:
            sys.exit(f"{preset} has no data set of the paper")
        for dataset in dict.fromkeys(named):
            describe(preset, dataset, asked)


if __name__ == "__main__":
    main()

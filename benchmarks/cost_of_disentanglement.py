"""Estimate the time that the protocol on disentanglement takes on this machine, from a few measured steps.

Run: python benchmarks/cost_of_disentanglement.py [DATASET …] [--networks N]   (fashion-mnist, cifar-10 and bci unless given)

Networks of each method and head are trained on random instances of the right shape, N side by side: on a GPU as one stack, on a
CPU one after another on one thread. The time of a step is multiplied by the steps of the preset "paper": runs × conditions ×
members × epochs × batches, where epochs ∝ 1/share makes all shares cost the same. Predictions are not counted.

The floating-point operations of the matrix products and convolutions of a step are counted too, forward and backward. The last
column divides them by --tflops, the rate that a machine sustains. Steps of small networks wait for the launch of kernels, so
this column is a lower bound.
"""

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it also runs as a file

import torch

from benchmarks.training_cost import images, operations_of_step, seconds_of_step
from uqassay.lab.methods import build_method, fit_together
from uqassay.lab.papers.disentangling.plan import DATASETS, GAUSSIAN, IN_PAPER, METHODS, method_options

# shape of an instance, training instances, classes
SHAPES = {
    "fashion-mnist": ((1, 28, 28), 60_000, 10),
    "cifar-10": ((3, 32, 32), 50_000, 10),
    "bci": ((22, 769), 288, 4),
}
STEPS = 6  # measured, after two that warm up
CONDITIONS = 7 + 11  # and one for each class


def cost_of_step(dataset: str, name: str, head: str, networks: int) -> tuple[float, float]:
    """Seconds and floating-point operations of one step of one network."""
    shape, _, n_classes = SHAPES[dataset]
    plan = DATASETS[dataset]
    paper = plan.slices["paper"]
    options = method_options(METHODS[name], head, plan, paper, where="printed", extra={})
    options |= {"n_members": 1} if name == "deep-ensemble" else {}
    options |= {} if torch.cuda.is_available() else {"parallel": "sequential"}
    x, y = images(paper.batch_size, shape, n_classes)

    def fit(epochs: int) -> None:
        models = [build_method(name, **options | {"epochs": epochs, "random_state": k}) for k in range(networks)]
        fit_together(models, [(x, y)] * networks)

    def alone(epochs: int) -> None:
        build_method(name, **options | {"epochs": epochs, "parallel": "sequential", "device": "cpu"}).fit(x, y)

    return seconds_of_step(fit, STEPS) / networks, operations_of_step(alone)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="*", help=", ".join(SHAPES))
    parser.add_argument("--networks", type=int, default=32 if torch.cuda.is_available() else 2)
    parser.add_argument("--tflops", type=float, default=10.0, help="sustained rate, in 10¹² operations a second")
    asked = parser.parse_args()
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "one thread of the CPU"
    print(f"{device}, {asked.networks} networks at a time")
    rate = f"h at {asked.tflops:g} T/s"
    print(f"{'':16}{'method':18}{'head':18}{'ms / step':>10}{'GFLOP':>8}{'trainings':>11}{'hours':>10}{rate:>13}")
    for dataset in asked.dataset or SHAPES:
        if dataset not in SHAPES:
            sys.exit(f"{dataset} is none of {', '.join(SHAPES)}")
        _, n_train, n_classes = SHAPES[dataset]
        paper = DATASETS[dataset].slices["paper"]
        whole = at_rate = 0.0
        for name in IN_PAPER:
            for head in ("information-theoretic", GAUSSIAN):
                step, operations = cost_of_step(dataset, name, head, asked.networks)
                members = paper.n_members if name == "deep-ensemble" else 1
                trainings = paper.runs * (CONDITIONS + n_classes) * members
                steps = METHODS[name].epochs_factor * paper.epochs * -(-n_train // paper.batch_size)
                hours = step * steps * trainings / 3600
                whole += hours
                bound = operations * steps * trainings / (asked.tflops * 1e12) / 3600
                at_rate += bound
                kind = "softmax" if head != GAUSSIAN else head
                row = f"{dataset:16}{name:18}{kind:18}{1e3 * step:10.2f}{operations / 1e9:8.2f}{trainings:11,}"
                print(f"{row}{hours:10,.1f}{bound:13,.2f}", flush=True)
        print(f"{dataset:16}{'all':18}{'':18}{'':10}{'':8}{'':11}{whole:10,.1f}{at_rate:13,.2f}")


if __name__ == "__main__":
    main()

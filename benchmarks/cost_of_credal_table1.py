"""Estimate what Table 1 of the paper on credal calibration costs: operations counted here, at an assumed rate, and time here.

Run: python -m benchmarks.cost_of_credal_table1 [PRESET …] [--tflops 10] [--measure] [--store]
     (paper and gpu-hour unless given)

Operations of matrix products and convolutions are counted for one instance, forward; backward takes twice as many. They are
multiplied by the instances that the preset trains on: S, two DN and ten members of DE in all their epochs; predictions are not
counted. The hours are those at --tflops, the rate that a device sustains, in 10¹² operations a second; steps of 16 images
reach less, since they wait for the launch of kernels, and so do the depthwise convolutions of MobileNetV2. The networks have
random weights in place of those of ImageNet, which costs the same. They need torchvision; without it only features are counted.

--measure also times training steps of each network on one thread of this CPU, from which the hours of an epoch of one network
follow. --store keeps the table for the guide, see benchmarks/docs_numbers.py.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]  # so that it also runs uninstalled

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.stored_tables import Source, Table, store
from benchmarks.training_cost import images, seconds_of_step
from uqassay.errors import MissingDependencyError
from uqassay.lab.methods import build_method
from uqassay.lab.papers.credal_calibration import imagenet_networks
from uqassay.lab.papers.credal_calibration.plan import IMAGENET_NETWORKS, PAPER_SETS, PLANS, Table1Plan, plan_of
from uqassay.lab.papers.credal_calibration.plan import Table1Options as Options
from uqassay.lab.papers.paper_tables import printed_table
from uqassay.text import count, listed, significant

TABLE2 = {row["dataset"]: row for row in printed_table("credal_calibration_table2_datasets")}
N_GRAMS = {"bacteria": 4**3 + 4**4 + 4**5, "proteins": 20**3}  # features; functional domains of proteins not counted
NETWORKS = 1 + 2 + 10
FEW = 4  # instances of a timed step
COLUMNS = (
    "preset",
    "data set",
    "network",
    "epochs",
    "GFLOP / instance",
    "PFLOP",
    "hours at 10 TFLOP/s",
    "GB in memory",
)
HERE = "hours of an epoch here"
SOURCE = Source(
    "python -m benchmarks.cost_of_credal_table1 --measure --store",
    "uqassay.lab.papers.credal_calibration.plan:plan_of",
    ("uqassay.lab.papers.credal_calibration.imagenet_networks", "uqassay.lab.methods.dropout"),
    cost="five minutes of a core",
)


SECONDS: dict[str, float] = {}  # of an instance, by network


def new_body(plan: Table1Plan, network: str) -> imagenet_networks.ImagenetNetwork:
    return imagenet_networks.ImagenetNetwork(network, head=plan.head, end_to_end=plan.end_to_end)


def shape_of(plan: Table1Plan, name: str, network: str) -> tuple[tuple[int, ...], int]:
    """Shape of an instance in the network, and the number of classes."""
    shape = (3, plan.imagenet_size, plan.imagenet_size) if network else (N_GRAMS[name],)
    return shape, int(TABLE2[PAPER_SETS[name].in_table2]["classes"])  # type: ignore[return-value]


def operations(plan: Table1Plan, name: str, network: str) -> float:
    """Of one instance, forward and backward."""
    shape, n_classes = shape_of(plan, name, network)
    sizes = [*shape, *plan.hidden, n_classes]
    forward = 0.0
    if network:
        x = torch.empty(1, *shape, device="meta")
        with FlopCounterMode(display=False) as counted:  # its rule for backward is wrong for convolutions in groups
            width = new_body(plan, network).to("meta").eval()(x).shape[1]
        sizes, forward = [width, n_classes], float(counted.get_total_flops())
    return 3 * (forward + 2 * sum(a * b for a, b in pairwise(sizes)))


def trainer(plan: Table1Plan, name: str, network: str) -> Callable[[int], Any]:
    """Trains a standard network on one batch for a number of epochs."""
    shape, n_classes = shape_of(plan, name, network)
    x, y = images(FEW, shape, n_classes)
    body: Any = (lambda: new_body(plan, network)) if network else plan.hidden
    options = plan.method_options(name) | {"backbone": body, "classes": tuple(range(n_classes)), "device": "cpu"}

    def fit(epochs: int) -> Any:
        return build_method("snn", **options | {"epochs": epochs}, parallel="sequential").fit(x, y)

    return fit


def row(plan: Table1Plan, name: str, network: str, asked: argparse.Namespace) -> list[str]:
    """One data set with one network."""
    n_train = int(TABLE2[PAPER_SETS[name].in_table2]["n_train"])
    each = operations(plan, name, network)
    total = each * n_train * plan.epochs_for(name) * NETWORKS
    values = 3 * (32 if name == "cifar-10" else plan.read_size) ** 2 if network else N_GRAMS[name]
    cells = [plan.preset, name, network or "hidden layer", str(plan.epochs_for(name)), significant(each / 1e9)]
    cells += [
        significant(total / 1e15),
        significant(total / asked.tflops / 3.6e15),
        significant(4e-9 * n_train * values),
    ]
    if asked.measure:
        if network not in SECONDS or not network:  # the last layer alone differs between data sets of images
            SECONDS[network] = (
                seconds_of_step(trainer(plan, name, network), steps=2, warm_up=1, clock=time.process_time) / FEW
            )
        cells.append(significant(SECONDS[network] * n_train / 3600))
    print(" ".join(f"{cell:>16}" for cell in cells), flush=True)
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("preset", nargs="*", default=["paper", "gpu-hour"], help="paper or gpu-hour")
    parser.add_argument("--tflops", type=float, default=10.0, help="sustained rate, in 10¹² operations a second")
    parser.add_argument("--measure", action="store_true", help="time a step on one thread of this CPU")
    parser.add_argument("--store", action="store_true", help="keep the table for the guide")
    asked = parser.parse_args()
    code = SOURCE.code()
    torch.set_num_threads(1)
    imagenet_networks.WEIGHTS = None
    rows: list[list[str]] = []
    missing = []
    for preset in asked.preset:
        if preset not in PLANS or not PLANS[preset].data_sets:
            sys.exit(f"{preset} is none of paper and gpu-hour")
        plan = plan_of(preset, Options())
        for name in plan.data_sets:
            for network in plan.architectures if PAPER_SETS[name].images else ("",):
                try:
                    rows.append(row(plan, name, network, asked))
                except MissingDependencyError as problem:
                    missing.append(f"{preset}, {name}, {network} is not counted: {problem}")
        own = [cells for cells in rows if cells[0] == preset]
        whole = [sum(float(cells[place].replace(",", "")) for cells in own) for place in (5, 6)]
        rows.append([preset, "all", "", "", "", *map(significant, whole), *[""] * (2 if asked.measure else 1)])
        print(f"{preset}, all: {whole[0]:,.3g} PFLOP, {whole[1]:,.3g} hours at {asked.tflops:g} TFLOP/s", flush=True)
    print("\n".join(missing))
    if asked.store and (missing or asked.tflops != 10.0):
        sys.exit("not stored: all networks are needed, at 10 TFLOP/s")
    if asked.store:
        text = [
            f"{count(NETWORKS)} networks for each row: S, two DN, ten members of DE; "
            f"{listed(list(IMAGENET_NETWORKS))} at 224 × 224."
        ]
        store(
            "credal-table1-cost", Table((*COLUMNS, *([HERE] if asked.measure else [])), rows, text), SOURCE, code=code
        )


if __name__ == "__main__":
    main()

"""What the three posteriors of `LaplaceBridge` reach, by draws from their Gaussian and by the bridges made of it.

Run: python benchmarks/bench_laplace_bridge.py [SEEDS]   (5 unless given; some three minutes)

Means over seeds, each with a split and a network of its own, on the test instances: accuracy, expected calibration error (10
bins), log loss and non-specificity (generalised Hartley, of 100 draws) in nats, and the AUROC by which entropy of the mean and
non-specificity tell noise from test instances; noise is normal with mean and spread of each feature for tables, uniform for
images. Seconds are those of a whole fit on one thread, with the default MLP. The images are those of
``load_dataset("mnist-10k")`` (8,000 / 2,000, 30 epochs), which are left out where they can neither be found nor downloaded.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import torch

from uqassay import Prediction
from uqassay.errors import InputError
from uqassay.lab.datasets import load_dataset
from uqassay.lab.methods import LaplaceBridge, StandardNetwork
from uqassay.losses import log_loss
from uqassay.measures import generalised_hartley
from uqassay.metrics import expected_calibration_error, ood_auc_score

torch.set_num_threads(1)
DATA = {"digits": 100, "wine": 100, "breast-cancer": 100, "mnist-10k": 30}  # epochs
STATED: dict[str, dict[str, dict[str, Any]]] = {
    "trained": {"draws": {"output": "members"}, "plain": {"bridge": "plain"}, "capped": {"bridge": "capped"}},
    "laplace": {"draws": {"output": "members"}, "capped": {"bridge": "capped"}},
    "variational": {"draws": {"output": "members"}, "plain": {"bridge": "plain"}, "capped": {"bridge": "capped"}},
}


def entropy(p: np.ndarray) -> np.ndarray:
    return -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1)


def measured(said: Prediction, on_noise: Prediction, y: np.ndarray) -> list[float]:
    p = said.mean_probs()
    unsure, on_noise_unsure = (generalised_hartley(one).values for one in (said, on_noise))
    is_noise = np.repeat([False, True], [len(unsure), len(on_noise_unsure)])
    return [
        np.mean(said.labels() == y),
        expected_calibration_error(said.labels() == y, p.max(axis=1)),
        log_loss(y, said).mean(),
        unsure.mean(),
        ood_auc_score(is_noise, np.concatenate([entropy(p), entropy(on_noise.mean_probs())])),
        ood_auc_score(is_noise, np.concatenate([unsure, on_noise_unsure])),
    ]


def one_seed(name: str, seed: int) -> dict[str, list[float]]:
    data = load_dataset(name, rng=seed)
    rng = np.random.default_rng(seed)
    if data.X_test.ndim == 2:
        noise = rng.normal(data.X_train.mean(axis=0), data.X_train.std(axis=0), data.X_test.shape)
    else:
        noise = rng.uniform(size=data.X_test.shape)
    classes, y = np.unique(data.y_train), data.y_test
    y = np.searchsorted(classes, y)
    options = {"epochs": DATA[name], "random_state": seed, "progress": False}
    found = {}
    start = time.perf_counter()
    network = StandardNetwork(**options).fit(data.X_train, data.y_train)
    seconds = time.perf_counter() - start
    said = (network.predict_uncertainty(data.X_test), network.predict_uncertainty(noise))
    found["network"] = [*measured(*said, y), seconds]
    for posterior, kinds in STATED.items():
        start = time.perf_counter()
        net = LaplaceBridge(posterior=posterior, **options).fit(data.X_train, data.y_train)
        seconds = time.perf_counter() - start
        for kind, changed in kinds.items():
            net.set_params(**({"output": "dirichlet"} | changed))
            said = (net.predict_uncertainty(data.X_test), net.predict_uncertainty(noise))
            found[f"{posterior}, {kind}"] = [*measured(*said, y), seconds]
    return found


if __name__ == "__main__":
    seeds = range(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
    heads = ("accuracy", "ECE", "log loss", "non-spec.", "entropy", "non-spec.", "seconds")
    for name in DATA:
        try:
            load_dataset(name)
        except InputError as problem:
            print(f"{name} is left out: {problem}")
            continue
        runs = [one_seed(name, seed) for seed in seeds]
        print(f"\n{name:22s}" + "".join(f"{head:>11s}" for head in heads))
        for row in runs[0]:
            print(f"{row:22s}" + "".join(f"{value:11.3f}" for value in np.mean([run[row] for run in runs], axis=0)))

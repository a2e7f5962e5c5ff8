"""Errors and out-of-distribution inputs together, and FPR95 with ties: equal values side by side with other libraries.

Run: python -m benchmarks.scod_peers   (a minute)

A random forest and a logistic regression of scikit-learn learn the digits 0 to 4; the digits 5 to 9 are out of distribution.
Needs scikit-learn, torchmetrics, torch-uncertainty and pytorch-ood, of the last two only the modules with the metrics
(`pip install --no-deps`).
"""

import importlib
import os
import sys
import types
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import numpy as np
from numpy.typing import NDArray

import uqassay as uq
from benchmarks.stored_tables import Source, Table, store

__all__ = ["compare", "main"]

Array = NDArray[Any]
NAME = "scod-peers"
COMMAND = "python -m benchmarks.scod_peers"
COSTS = ((0.5, "0.5"), (0.8, "0.8"))
GRID = 200_000  # coverages of the sums by definition


def alone(module: str) -> Any:
    """A module of a package without the package's own imports, which need much more than the metrics do."""
    package, _, _ = module.partition(".")
    spec = PathFinder.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit(f"{package} is not installed: pip install --no-deps {package.replace('_', '-')}")
    names = module.split(".")
    for k in range(1, len(names)):
        name = ".".join(names[:k])
        stand_in = types.ModuleType(name)
        stand_in.__path__ = [str(Path(place, *names[1:k])) for place in spec.submodule_search_locations]
        sys.modules.setdefault(name, stand_in)
    return importlib.import_module(module)


def digits() -> dict[str, tuple[Array, Array, Array]]:
    """Of each score: `is_out`, errors and the uncertainty."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x[y < 5] / 16, y[y < 5], test_size=0.6, random_state=0)
    x_test = x_test + np.random.default_rng(0).normal(scale=0.25, size=x_test.shape)  # so that there are errors
    foreign = x[y >= 5] / 16
    found = {}
    forest = RandomForestClassifier(20, random_state=0).fit(x_train, y_train)
    regression = LogisticRegression(max_iter=1000).fit(x_train, y_train)
    for name, model in {"forest, votes of 20 trees": forest, "logistic regression": regression}.items():
        probs = np.concatenate([model.predict_proba(part) for part in (x_test, foreign)])
        wrong = np.append(probs[: len(x_test)].argmax(axis=1) != y_test, np.zeros(len(foreign)))
        is_out = np.repeat([False, True], [len(x_test), len(foreign)])
        found[name] = is_out, wrong.astype(float), 1 - probs.max(axis=1).round(12)
    return found


def by_definition(losses: Array, s: Array) -> tuple[float, float]:
    """Mean of the risk, and of the cost of the inputs kept, over a fine grid of coverages; each tie is kept in equal parts."""
    levels, counts = np.unique(s, return_counts=True)
    cost = np.array([losses[s == level].sum() for level in levels])
    ends = np.append(0, np.cumsum(counts)) / s.size
    mass = np.append(0, np.cumsum(cost)) / s.size
    c = (np.arange(GRID) + 0.5) / GRID
    kept = np.interp(c, ends, mass)
    return float((kept / c).mean()), float(kept.mean())


def compare() -> Table:
    """The values of each library."""
    import torch

    scod = alone("torch_uncertainty.metrics.classification.scod_risk_coverage")
    fpr = alone("torch_uncertainty.metrics.classification.fpr")
    pytorch_ood = alone("pytorch_ood.metrics.functional")
    from sklearn.metrics import roc_curve

    rows = []
    for name, (is_out, errors, s) in digits().items():
        tensors = torch.tensor(s), torch.tensor(errors), torch.tensor(is_out)
        for beta, text in COSTS:
            losses = np.where(is_out, 1 - beta, beta * errors)
            definition = by_definition(losses, s)
            for k, (metric, own, other) in enumerate(
                (
                    ("SCOD-AURC", uq.metrics.scod_aurc_loss, scod.SCODAURC),
                    ("SCOD-AUGRC", uq.metrics.scod_augrc_loss, scod.SCODAUGRC),
                )
            ):
                theirs = other(ood_cost=1 - beta)
                theirs.update(*tensors)
                value = float(own(is_out, errors, s, error_cost=beta))
                rows.append(
                    [
                        name,
                        f"{metric}, β = {text}",
                        *(f"{v:.5f}" for v in (value, definition[k], float(theirs.compute()))),
                        "",
                    ]
                )
            risk = scod.SCODRiskAt80Cov(ood_cost=1 - beta)
            risk.update(*tensors)
            value = float(uq.metrics.scod_risk_loss(is_out, errors, s, error_cost=beta))
            rows.append([name, f"risk at .8, β = {text}", f"{value:.5f}", "", f"{float(risk.compute()):.5f}", ""])
        theirs = fpr.FPR95(pos_label=1)
        theirs.update(torch.tensor(s), torch.tensor(is_out).long())
        labels = torch.tensor(np.where(is_out, -1, 1))
        ood = float(pytorch_ood.fpr_at_tpr(torch.tensor(s), labels, 0.95))
        false, true, _ = roc_curve(is_out, s, drop_intermediate=False)
        first = float(false[np.argmax(true >= 0.95)])
        for ties in ("shared", "whole"):
            value = float(uq.metrics.fpr_at_tpr_error(is_out, s, ties=ties))
            others = (
                [f"{first:.5f}", f"{float(theirs.compute()):.5f}", f"{ood:.5f}"] if ties == "whole" else ["", "", ""]
            )
            rows.append([name, f"FPR95, ties {ties}", f"{value:.5f}", *others])
    return Table(("score", "number", "uqassay", "by definition", "torch-uncertainty", "pytorch-ood"), rows)


def main() -> None:
    source = Source(COMMAND, "benchmarks.scod_peers:compare", rests_on=("uqassay.metrics.ood",), cost="a minute")
    code = source.code()
    made = compare()
    store(NAME, made, source, code=code)
    print("\n".join(made.markdown()))


if __name__ == "__main__":
    main()

"""Conformal sets of handwritten digits: the numbers of MAPIE, crepes, TorchCP and torch-uncertainty beside ours, and a page.

    python -m benchmarks.conformal_mnist FOLDER [--store] [--page PAGE.html]     (a minute)

FOLDER holds the 10,000 test images of MNIST, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz. A logistic regression is
trained on 1,000 of them, 3,000 others set the thresholds of the sets, and 6,000 are predicted. Needs mapie, crepes, and of
torchcp and torch-uncertainty only some modules (`pip install --no-deps torchcp torch-uncertainty`).
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import uqassay as uq
from benchmarks.docs_numbers import write_pages
from benchmarks.scod_peers import alone
from benchmarks.stored_tables import Source, Table, store
from uqassay.lab.datasets.images import read_idx
from uqassay.text import percent

RUN = "python -m benchmarks.conformal_mnist"
SOURCE = Source(f"{RUN} FOLDER --store", "uqassay.metrics.sets:class_set_scores", cost="a minute of a core")
TRAIN, CALIBRATE, LEVELS = 1000, 3000, (0.9, 0.95, 0.99)
Numbers = tuple[float, float]


def split(folder: Path) -> tuple[Any, Any, Any]:
    """Pixels and labels of the three parts, in a random order with a fixed seed."""
    x = read_idx(folder / "t10k-images-idx3-ubyte.gz").reshape(-1, 784) / 255
    y = read_idx(folder / "t10k-labels-idx1-ubyte.gz").astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))
    parts = np.split(order, [TRAIN, TRAIN + CALIBRATE])
    train, calibrate, test = ((x[rows], y[rows]) for rows in parts)
    return train, calibrate, test


def predicted(folder: Path) -> tuple[dict[str, tuple[uq.ClassSets, Numbers]], uq.Point, np.ndarray]:
    """Class sets by name, with coverage and mean size by their own library; the probabilities behind them; the labels."""
    from crepes import WrapClassifier
    from mapie.classification import SplitConformalClassifier
    from mapie.metrics.classification import classification_coverage_score, classification_mean_width_score
    from sklearn.linear_model import LogisticRegression

    (x, y), (x_held, y_held), (x_test, y_test) = split(folder)
    model = LogisticRegression(C=0.1, max_iter=300).fit(x, y)
    found: dict[str, tuple[uq.ClassSets, Numbers]] = {}
    for score in ("lac", "aps"):
        conformal = SplitConformalClassifier(
            model, confidence_level=list(LEVELS), conformity_score=score, prefit=True, random_state=0
        ).conformalize(x_held, y_held)
        _, sets = conformal.predict_set(x_test)
        told = zip(classification_coverage_score(y_test, sets), classification_mean_width_score(sets), strict=True)
        for k, (level, numbers) in enumerate(zip(LEVELS, told, strict=True)):
            found[f"MAPIE {score.upper()} {100 * level:.0f} %"] = uq.ClassSets(sets[:, :, k]), numbers
    wrapped = WrapClassifier(model)
    wrapped.calibrate(x_held, y_held)
    for level in LEVELS:
        options = {"confidence": level, "seed": 0}
        theirs = wrapped.evaluate(x_test, y_test, **options, metrics=["error", "avg_c"])
        lists = wrapped.predict_set(x_test, **options)
        found[f"crepes {100 * level:.0f} %"] = (
            uq.ClassSets.from_lists(lists, 10),
            (1 - theirs["error"], theirs["avg_c"]),
        )
    found |= by_torchcp(model, (x_held, y_held), (x_test, y_test))
    same = found["MAPIE LAC 95 %"][0]
    found["the same sets, by torch-uncertainty"] = same, by_torch_uncertainty(same, y_test)
    return found, uq.Point(model.predict_proba(x_test)), y_test


def by_torchcp(model: Any, held: tuple[Any, Any], test: tuple[Any, Any]) -> dict[str, tuple[uq.ClassSets, Numbers]]:
    """Sets of TorchCP of 95 %, with its own coverage and size."""
    import torch

    predictor = alone("torchcp.classification.predictor.split").SplitPredictor
    metrics = alone("torchcp.classification.utils.metrics").Metrics()
    torch.manual_seed(0)
    (x_held, y_held), (x_test, y_test) = held, test
    labels, found = torch.tensor(y_test), {}
    for score in ("LAC", "APS"):
        conformal = predictor(getattr(alone(f"torchcp.classification.score.{score.lower()}"), score)())
        conformal.calculate_threshold(torch.tensor(model.predict_log_proba(x_held)), torch.tensor(y_held), 0.05)
        sets = conformal.predict_with_logits(torch.tensor(model.predict_log_proba(x_test)))  # 0 and 1
        numbers = float(metrics("coverage_rate")(sets, labels)), float(metrics("average_size")(sets, labels))
        found[f"TorchCP {score} 95 %"] = uq.ClassSets(sets), numbers
    return found


def by_torch_uncertainty(sets: uq.ClassSets, y: np.ndarray) -> Numbers:
    """Coverage rate and set size of torch-uncertainty."""
    import torch

    found = []
    for module, metric in (("coverage_rate", "CoverageRate"), ("set_size", "SetSize")):
        measured = getattr(alone(f"torch_uncertainty.metrics.classification.{module}"), metric)()
        measured.update(torch.tensor(sets.sets), torch.tensor(y))
        found.append(float(measured.compute()))
    return found[0], found[1]


def compared(found: dict[str, tuple[uq.ClassSets, Numbers]], y: np.ndarray) -> Table:
    """Coverage and size of both libraries, and what they do not have: intervals, empty sets, and the worth of the sets."""
    rows = []
    for name, (sets, (coverage, size)) in found.items():
        ours = uq.metrics.class_set_scores(y, sets)
        differs = max(abs(coverage - ours.coverage), abs(size - ours.size))
        interval = f"{percent(ours.coverage.low)} to {percent(ours.coverage.high)}"
        empty = percent(float(sets.is_empty().mean()))
        pairs = ((coverage, ours.coverage), (size, ours.size))
        covered, sizes = ((f"{theirs:.4f}", f"{float(mine):.4f}") for theirs, mine in pairs)
        rows.append([name, *covered, interval, *sizes, f"{differs:.0e}", empty, f"{float(ours.u65):.3f}"])
    header = ("sets", "coverage, theirs", "ours", "95 % interval", "size, theirs", "ours", "difference", "empty", "u65")
    return Table(header, rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print, and store where asked."""
    parser = argparse.ArgumentParser(prog=RUN, description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", action="store_true", help="store the table and write the guide")
    parser.add_argument("--page", type=Path, help="write a page on the sets of 95 %% and the probabilities behind them")
    told = parser.parse_args(arguments)
    found, softmax, y = predicted(told.folder)
    table = compared(found, y)
    print("\n".join(table.markdown()))
    if told.store:
        store("conformal-mnist", table, SOURCE)
        write_pages()
    if told.page:
        chosen = {name: sets for name, (sets, _) in found.items() if "95 %" in name}
        uq.assay({"softmax": softmax, **chosen}, y, distance="js").to_html(told.page)


if __name__ == "__main__":
    main()

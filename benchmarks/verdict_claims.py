"""Measure how often the claims of an assay are false: make data sets, judge them, and compare `Assay.claims()` with the truth.

Run: python benchmarks/verdict_claims.py --results claims.jsonl   (a few minutes; 100 data sets in each cell)

Every data set is one line of the results, so that a run that was stopped goes on where it was. With --table the rates of the
lines that are there are printed, and nothing is made. A world is `make(cell, rng) -> (predictions, labels, groups, truth)`;
register more of them in `WORLDS`, and cells in `CELLS`.
"""

import argparse
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # so that it also runs uninstalled

import numpy as np

import uqassay as uq

LN2 = float(np.log(2))
FAR = 1e9  # stands for λ = ∞
ALIKE = 1e-12  # of two true means


@dataclass(frozen=True)
class Cell:
    """One kind of data sets: the world that makes them, the number of models and of instances."""

    world: str
    models: int
    n: int


@dataclass(frozen=True)
class Truth:
    """True means of the models and baselines, and options of the assay.

    `distance` and `nonspecificity` give the mean of each name, baselines included; `parts` the same two by (subgroup, value).
    """

    distance: Mapping[str, float]
    nonspecificity: Mapping[str, float]
    parts: Mapping[tuple[str, Any], "Truth"] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    def mean(self, name: str, tradeoff: float) -> float:
        """True mean of E."""
        return self.distance[name] + min(tradeoff, FAR) * self.nonspecificity[name]


Made = tuple[dict[str, Any], np.ndarray, np.ndarray | None, Truth]


# -- worlds -------------------------------------------------------------------------------------------------------------


def intervals(distance: np.ndarray, width: np.ndarray, y: np.ndarray) -> uq.Intervals:
    """Predictions of two classes whose KL distance and non-specificity are these: −ln of the label's upper probability, and
    the width of its interval times ln 2."""
    high = np.exp(-distance)
    low = high - width / LN2
    lower = np.where(np.arange(2) == y[:, np.newaxis], low[:, np.newaxis], 1 - high[:, np.newaxis])
    upper = np.where(np.arange(2) == y[:, np.newaxis], high[:, np.newaxis], 1 - low[:, np.newaxis])
    return uq.Intervals(lower, upper)


def with_baselines(distance: Mapping[str, float], nonspecificity: Mapping[str, float]) -> Truth:
    """The truth with both baselines; the class frequencies are known to be equal."""
    return Truth(
        {**distance, "vacuous": 0.0, "class-prior": LN2},
        {**nonspecificity, "vacuous": LN2, "class-prior": 0.0},
        options={"prior": [0.5, 0.5]},
    )


def normal(gap: float = 0.0, tilt: float = 0.0) -> Callable[[Cell, np.random.Generator], Made]:
    """Losses close to normal that share a part; distances rise by `gap`, and non-specificities fall by `tilt`, from model to
    model."""

    def make(cell: Cell, rng: np.random.Generator) -> Made:
        y = rng.integers(2, size=cell.n)
        shared = rng.uniform(-0.08, 0.08, size=(2, cell.n))
        models, d, ns = {}, {}, {}
        for j in range(cell.models):
            name = f"m{j}"
            d[name], ns[name] = 0.25 + gap * j, 0.2 - tilt * j
            own = rng.uniform(-0.08, 0.08, size=(2, cell.n))
            models[name] = intervals(d[name] + shared[0] + own[0], ns[name] + 0.5 * (shared[1] + own[1]), y)
        return models, y, None, with_baselines(d, ns)

    return make


WORLDS: dict[str, Callable[[Cell, np.random.Generator], Made]] = {
    "equal": normal(),
    "rising": normal(gap=0.01),
    "crossing": normal(gap=0.01, tilt=0.008),
}
CELLS = tuple(Cell(world, j, 300) for world in WORLDS for j in (2, 5, 10))


# -- counting -----------------------------------------------------------------------------------------------------------


def is_true(claim: uq.evidence.Claim, truth: Truth) -> bool | None:
    """Whether a claim is true; None if it claims nothing, or the truth is not known."""
    baselines = [name for name in truth.distance if name in ("vacuous", "class-prior")]
    ends = [t for t in (claim.low, claim.high) if not np.isnan(t)]

    def below(a: str, b: str, ts: Iterable[float], means: Truth = truth) -> bool:
        return all(means.mean(b, t) - means.mean(a, t) > ALIKE for t in ts)

    if claim.kind == "worse":
        return all(below(b, a, ends) for a in claim.models for b in claim.others)
    if claim.kind == "best":
        return all(below(claim.models[0], b, ends) for b in claim.others)
    if claim.kind == "same":
        return all(
            abs(truth.mean(claim.models[0], t) - truth.mean(b, t)) <= ALIKE for b in claim.others for t in (0, 1)
        )
    if claim.kind == "model-better":
        return all(below(a, b, ends) for a in claim.models for b in claim.others)
    if claim.kind == "baseline-better":
        if not claim.facts.get("every_model"):
            return all(below(b, a, ends) for a in claim.models for b in claim.others)
        high = min(claim.high, FAR)
        inside = np.unique([*np.linspace(claim.low, min(high, 10.0), 201), high])
        return all(any(below(b, a, [t]) for b in baselines) for a in claim.models for t in inside.tolist())
    if claim.kind == "subgroup":
        part = truth.parts.get((claim.facts["by"], claim.facts["value"]))
        return None if part is None else all(below(a, claim.others[0], ends, part) for a in claim.models)
    return None


def name_of(claim: uq.evidence.Claim) -> str:
    """Kind of a claim as it is counted: those on ranges of λ, and those under a condition, apart."""
    name = claim.kind
    if claim.kind in ("worse", "baseline-better") and claim.low < claim.high:
        name += " on a range"
    return f"{name}, if nothing is missing" if claim.limited_by == "unseen" else name


def judge(cell: Cell, seed: int) -> dict[str, Any]:
    """One data set: numbers of claims by name and of false ones."""
    rng = np.random.default_rng([seed, *cell.world.encode(), cell.models, cell.n])
    predictions, y, groups, truth = WORLDS[cell.world](cell, rng)
    options = {"calibration": (), "measures": ("total-entropy",), "n_draws": 200, **truth.options}
    a = uq.assay(predictions, y, groups=groups, **options)
    made: dict[str, int] = defaultdict(int)
    false: dict[str, int] = defaultdict(int)
    for claim in a.claims():
        made[name_of(claim)] += 1
        false[name_of(claim)] += is_true(claim, truth) is False
    lines = [len(text) for text in a.headline()]
    return {
        **asdict(cell),
        "seed": seed,
        "made": made,
        "false": {k: v for k, v in false.items() if v},
        "headline": lines,
    }


def run(path: Path, samples: int, cells: Iterable[Cell] = CELLS) -> None:
    """Judge the data sets that are not in the results yet."""
    done = {(r["world"], r["models"], r["n"], r["seed"]) for r in results(path)}
    with path.open("a", encoding="utf-8") as file:
        for cell in cells:
            for seed in range(samples):
                if (cell.world, cell.models, cell.n, seed) not in done:
                    file.write(json.dumps(judge(cell, seed)) + "\n")
                    file.flush()
            print(cell, file=sys.stderr, flush=True)


def results(path: Path) -> list[dict[str, Any]]:
    """The lines that are there; the last one may be torn."""
    if not path.exists():
        return []
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def print_table(rows: Iterable[Mapping[str, Any]]) -> None:
    """By cell and kind of claim: percentage of data sets with any false claim, and mean number of claims."""
    by_cell: dict[tuple[Any, ...], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_cell[row["world"], row["models"], row["n"]].append(row)
    print("| world | J | n | data sets | claim | data sets with a false one, % | claims in a data set |")
    print("|---|---|---|---|---|---|---|")
    for (world, j, n), cell in by_cell.items():
        for kind in sorted({kind for row in cell for kind in row["made"]}):
            false = 100 * np.mean([row["false"].get(kind, 0) > 0 for row in cell])
            made = np.mean([row["made"].get(kind, 0) for row in cell])
            print(f"| {world} | {j} | {n} | {len(cell)} | {kind} | {false:.1f} | {made:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--results", type=Path, default=Path("verdict_claims.jsonl"), help="JSON lines, read and continued"
    )
    parser.add_argument("--samples", type=int, default=100, help="data sets in each cell")
    parser.add_argument("--table", action="store_true", help="only print the rates of the lines that are there")
    arguments = parser.parse_args()
    if not arguments.table:
        run(arguments.results, arguments.samples)
    print_table(results(arguments.results))


if __name__ == "__main__":
    main()

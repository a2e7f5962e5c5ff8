"""The true means of a cell's models, from a million independent instances, and which model is truly better where."""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import uqassay as uq
from benchmarks.source_digests import code_version
from benchmarks.verdict_claims.worlds import CHANCE, SUBGROUP, Cell, DataSet, Kind, data_set
from uqassay.evidence.scale import SCALES, scaled_prediction

__all__ = ["ALIKE", "BASELINES", "FAR", "Means", "Truth", "definition", "given_single_runs", "truth_of"]

SAMPLES, CHUNK = 1_000_000, 100_000
SCALED = 20_000  # of a chunk's instances, for the means of scaled sets
FUNCTION = "benchmarks.verdict_claims.truth:truth_of"
FAR = 1e6  # stands for λ = ∞
ALIKE = (
    1e-3  # true means closer than this count as equal: the truth's own error, so that more claims are counted as false
)
BASELINES = ("vacuous", "class-prior")
KEPT = 0.9


@dataclass(frozen=True)
class Means:
    """True means of one model: the two terms of E, further losses, and of each score UQ-AUC and accuracy kept.

    `scaled` holds the two terms of E with the spread of the sets scaled, by the scale.
    """

    distance: float
    nonspecificity: float = 0.0
    log_loss: float = float("nan")
    brier: float = float("nan")
    accuracy: float = float("nan")
    confidence: float = float("nan")
    uq_auc: Mapping[str, float] = field(default_factory=dict)
    kept: Mapping[str, float] = field(default_factory=dict)
    scaled: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    calibrated: bool = True

    def at(self, tradeoff: float) -> float:
        """Mean E."""
        return self.distance + min(tradeoff, FAR) * self.nonspecificity

    def gain_of_scale(self, scale: float, tradeoff: float) -> float:
        """How much lower the mean E is with the spread of the sets scaled."""
        own, other = (np.array(self.scaled[f"{s:g}"]) for s in (1.0, scale))
        return float((own - other) @ [1.0, tradeoff])


@dataclass(frozen=True)
class Truth:
    """True means by name, baselines included, and of every value of the subgroup."""

    models: Mapping[str, Means]
    parts: Mapping[int, Mapping[str, Means]] = field(default_factory=dict)
    failing: Mapping[str, float] = field(default_factory=dict)  #: Share of cases with probability 0 of the label.
    in_groups: frozenset[str] = frozenset()  #: Models that fail so in whole groups.

    def better(self, a: str, b: str, tradeoffs: Iterable[float], part: int | None = None) -> bool:
        """Whether the mean E of `a` is below that of `b` at all these λ; between two λ as well, as E is linear in λ."""
        means = self.models if part is None else self.parts[part]
        return all(means[b].at(t) - means[a].at(t) > ALIKE for t in tradeoffs)

    def beaten(self, model: str, low: float, high: float, baselines: Sequence[str] = BASELINES) -> bool:
        """Whether some of the baselines is better than a model at every λ of a range."""
        ends = [low, min(high, FAR)]
        where_equal = self.models["class-prior"].distance / self.models["vacuous"].nonspecificity
        inside = [t for t in (where_equal,) if ends[0] < t < ends[1]]  # the lower of two lines is least far below there
        return all(any(self.better(b, model, [t]) for b in baselines) for t in (*ends, *inside))


def definition(cell: Cell) -> str:
    """Checksum of all that decides the data of a cell: the attributes that differ from their defaults, without the text."""
    told = [_told(replace(cell, kinds=(), about="")), *map(_told, cell.kinds)]
    return sha256(json.dumps(told).encode()).hexdigest()[:16]


def _told(given: Cell | Kind) -> dict[str, Any]:
    values = asdict(given)
    return {f.name: values[f.name] for f in fields(given) if values[f.name] != f.default}


def truth_of(cell: Cell, folder: Path, *, samples: int = SAMPLES) -> Truth:
    """The truth of a cell; cells of the same kinds of models share a file, whose name holds a digest of the code."""
    each = _one_of_each(cell)
    path = folder / "truth" / f"{definition(each)}-{samples}-{code_version(FUNCTION)[:16]}.json"
    if path.exists():
        held = json.loads(path.read_text(encoding="utf-8"))
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = [{part: asdict(m) for part, m in found.items()} for found in _means_of_kinds(each, samples)]
        new = path.with_name(f"{path.name}.{os.getpid()}")
        new.write_text(json.dumps(held), encoding="utf-8")
        new.replace(path)
    kinds = [{part: Means(**m) for part, m in found.items()} for found in held]
    whole = {name: kinds[place]["all"] for name, place in cell.models.items()}
    parts = {v: {name: kinds[place][str(v)] for name, place in cell.models.items()} for v in range(cell.parts)}
    kinds_of = {name: cell.kinds[place] for name, place in cell.models.items()}
    failing = {name: kind.rare for name, kind in kinds_of.items() if kind.rare}
    in_groups = frozenset(name for name, kind in kinds_of.items() if kind.whole_groups)
    return Truth({**whole, **_baselines(cell)}, parts, failing, in_groups)


def given_single_runs(cell: Cell, truth: Truth, data: DataSet) -> Truth:
    """The truth if a model of one run stands for that trained model; models of several runs stand for their training."""
    found = dict(truth.models)
    for name, place in cell.models.items():
        kind = cell.kinds[place]
        if kind.runs == 1 and kind.run_spread:
            alone = replace(_one_of_each(cell), kinds=(replace(kind, count=1),))
            sample = data_set(alone, np.random.default_rng(13), size=CHUNK, factor=data.factors[name][0])
            means = _chunk(sample, "m0", np.ones(CHUNK, bool), cell.distance)
            found[name] = Means(**means, calibrated=False)
    return replace(truth, models=found)


def _one_of_each(cell: Cell) -> Cell:
    """One model of each kind, without what changes no mean."""
    kinds = tuple(replace(kind, count=1, runs=1) for kind in cell.kinds)
    return Cell("truth", kinds, classes=cell.classes, shared=cell.shared, parts=cell.parts, distance=cell.distance)


def _baselines(cell: Cell) -> dict[str, Means]:
    k = cell.classes
    same_for_all = {"kl": float(np.log(k)), "brier": 1 - 1 / k}[cell.distance]
    return {"vacuous": Means(0.0, float(np.log(k))), "class-prior": Means(same_for_all, 0.0)}


def _means_of_kinds(each: Cell, samples: int) -> list[dict[str, Means]]:
    """Means of each kind, over all instances and in each part; levels averaged."""
    rng = np.random.default_rng(11)
    names = list(each.models)
    keys = ["all", *map(str, range(each.parts))]
    sums: dict[tuple[str, str], list[dict[str, Any]]] = {(m, key): [] for m in names for key in keys}
    sizes: dict[str, list[int]] = {key: [] for key in keys}
    done = 0
    while done < samples:
        size = min(CHUNK, samples - done)
        data = data_set(each, rng, size=size)
        for key in keys:
            rows = np.ones(size, bool) if key == "all" else data.subgroups[SUBGROUP] == int(key)
            sizes[key].append(int(rows.sum()))
            for name in names:
                sums[name, key].append(_chunk(data, name, rows, each.distance))
        done += size
    found = []
    for name, kind in zip(names, each.kinds, strict=True):
        calibrated = kind.sharpness == 1 and not (kind.rare or kind.members or kind.run_spread or kind.blind)
        found.append({key: _pooled(sums[name, key], sizes[key], calibrated, blind=kind.blind) for key in keys})
    levels = [kind.level for kind in each.kinds]
    for level in {level for level in levels if level}:
        same = [i for i, mine in enumerate(levels) if mine == level]
        for key in keys:
            d, ns = (float(np.mean([getattr(found[i][key], f) for i in same])) for f in ("distance", "nonspecificity"))
            for i in same:
                found[i][key] = replace(found[i][key], distance=d, nonspecificity=ns)
    return found


def _chunk(data: DataSet, name: str, rows: np.ndarray, distance: str) -> dict[str, Any]:
    """Means over the rows of one sample."""
    p, y = data.runs[name][0][rows], data.labels[rows]
    mean = (p if p.ndim == 2 else p.mean(axis=1)).astype(float)
    right = mean.argmax(axis=1) == y
    brier = float(((mean - np.eye(mean.shape[1])[y]) ** 2).sum(axis=1).mean())
    if distance == "kl":
        loss = uq.losses.unified_loss(y, uq.Point(p) if p.ndim == 2 else uq.Members(p))
        terms = float(loss.distance.mean()), float(loss.nonspecificity.mean())
    else:
        terms = brier, 0.0
    scaled = _scaled(p[:SCALED], y[:SCALED]) if p.ndim == 3 and distance == "kl" else {}
    entropy = -(mean * np.log(np.maximum(mean, 1e-300))).sum(axis=1)
    scores = {"total-entropy": entropy}
    scores |= {key: values[0][rows] for key, values in data.scores.get(name, {}).items()}
    return {
        "distance": terms[0],
        "nonspecificity": terms[1],
        "log_loss": float(-np.log(np.maximum(mean[np.arange(len(y)), y], np.finfo(np.float64).eps)).mean()),
        "brier": brier,
        "accuracy": float(right.mean()),
        "confidence": float(mean.max(axis=1).mean()),
        "scaled": scaled,
        "uq_auc": {key: _auc(values, ~right) for key, values in scores.items()},
        "kept": {
            key: float(right[np.argsort(values)[: round(KEPT * len(y))]].mean()) for key, values in scores.items()
        },
    }


def _scaled(p: np.ndarray, y: np.ndarray) -> dict[str, tuple[float, float]]:
    """Both terms of E of ensembles (n, M, K) at each scale of their spread."""
    found = {}
    for scale in SCALES:
        loss = uq.losses.unified_loss(y, scaled_prediction(uq.Members(p), scale)[0])
        found[f"{scale:g}"] = (float(loss.distance.mean()), float(loss.nonspecificity.mean()))
    return found


def _auc(score: np.ndarray, wrong: np.ndarray) -> float:
    """Probability that a wrong instance has the greater score, for scores without ties."""
    ranks = np.empty(len(score))
    ranks[np.argsort(score)] = np.arange(1, len(score) + 1)
    m = int(wrong.sum())
    return float((ranks[wrong].sum() - m * (m + 1) / 2) / (m * (len(score) - m)))


def _pooled(chunks: list[dict[str, Any]], sizes: list[int], calibrated: bool, *, blind: bool) -> Means:
    def mean(values: list[float]) -> float:
        return float(np.average(values, weights=sizes))

    losses = ("distance", "nonspecificity", "log_loss", "brier", "accuracy", "confidence")
    plain = {k: mean([c[k] for c in chunks]) for k in losses}
    scaled = {s: tuple(mean([c["scaled"][s][i] for c in chunks]) for i in (0, 1)) for s in chunks[0]["scaled"]}
    scores = {k: {s: mean([c[k][s] for c in chunks]) for s in chunks[0][k]} for k in ("uq_auc", "kept")}
    for score in scores["uq_auc"]:
        if blind or score == CHANCE:  # by construction
            scores["uq_auc"][score], scores["kept"][score] = 0.5, plain["accuracy"]
    return Means(**plain, **scores, scaled=scaled, calibrated=calibrated)

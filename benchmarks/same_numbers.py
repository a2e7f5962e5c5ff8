"""Save every number that uqassay finds on real predictions, and compare two such files, to the last digit or to a tolerance.

The folder holds cifar10_test/, cifar100_test/ and ecg/. Notes and sentences are left out, for their wording may change.
A call that fails is saved as its message: it spoils one path and not the whole file.
"""

import argparse
import inspect
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import sha256
from importlib import import_module
from itertools import combinations, product
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the last digits of a matrix product may depend on the number of threads

import numpy as np

import uqassay as uq

# What another version may call otherwise: here, and the methods of an assay in `save_assay`.
ROOMS = ("", ".losses", ".metrics", ".calibration", ".statistics", ".measures", ".evidence", ".assay")
LEFT_OUT = {"note", "notes", "sentence", "alternative", "estimator", "tradeoff"}  # words, a fitted learner, an input
NEW_TO_OLD: dict[str, str] = {
    "models": "model"
}  # names of columns and fields that were renamed: the new one to the old one
TRADEOFFS = (0.1, 0.5, 1.0, 2.0)
FINDING = ("model", "run", "metric", "score", "tradeoff")  # what tells the rows of the findings apart


def find(name: str) -> Any:
    """Look a public name up in one room after the other."""
    for room in ROOMS:
        with suppress(ImportError, AttributeError):
            return getattr(import_module(f"uqassay{room}"), name)
    raise AttributeError(f"uqassay has no public name {name!r}")


def mistakes(a: Any) -> Any:
    """How the scores rank the mistakes, a method or in older versions an attribute."""
    return a.mistake_ranking() if callable(a.mistake_ranking) else a.mistake_ranking


def ood_metric(inside: Any, outside: Any, *, metric: str, groups: Any = (None, None), **more: Any) -> Any:
    """Call a metric of two samples, whichever of the two signatures it has; `groups` holds those of either sample."""
    if "uncertainty_in" in inspect.signature(find(metric)).parameters:
        return find(metric)(inside, outside, groups_in=groups[0], groups_out=groups[1], **more)
    joined = None if groups[0] is None else np.concatenate(groups)
    is_out = np.repeat([0, 1], [len(inside), len(outside)])
    return find(metric)(is_out, np.concatenate([inside, outside]), groups=joined, **more)


def table(found: Any, name: str = "findings", **options: Any) -> Any:
    """Make a table of one kind of finding, in the new way or in that of versions with a method for each."""
    if hasattr(found, "table"):
        return found.table(name, **options) if hasattr(found, "ranking") else found.table()
    if name == "findings":
        return found.findings
    return found.subset_findings(options["by"]) if name == "subsets" else found.calibration_table()


def flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Walk through a value and give every number and name in it with its path; of long arrays a digest."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size <= 12 or value.dtype.kind == "U" else digest(value)
    if isinstance(value, float) and hasattr(value, "low"):  # an estimate
        value = {"value": float(value)} | {k: getattr(value, k) for k in ("low", "high", "level", "n", "method")}
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value) if not field.name.startswith("_")}
    elif isinstance(value, list | tuple):
        value = value._asdict() if hasattr(value, "_asdict") else dict(enumerate(value))
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in LEFT_OUT and not (name == "method" and "calibration-pvalue" in path):  # that is a phrase
                yield from flat(f"{path}/{NEW_TO_OLD.get(name, name)}", part)
    elif value is None or isinstance(value, bool | int | float | str):
        yield path, value
    else:
        raise TypeError(f"{path}: {type(value).__name__} is no number")


def digest(values: np.ndarray) -> dict[str, Any]:
    """Shorten an array to its shape, sum, quantiles and the hash of its bytes as float64."""
    exact = np.where(np.isnan(values), np.nan, values).astype("<f8", order="C")
    finite = exact[np.isfinite(exact)]
    quantiles = np.quantile(finite, [0, 0.25, 0.5, 0.75, 0.95, 1]) if finite.size else None
    return {"shape": values.shape, "sum": finite.sum(), "quantiles": quantiles, "sha256": sha256(exact).hexdigest()}


def keyed(table: Any, *names: str) -> dict[str, dict]:
    """Name each row of a table by some of its columns, so that the order of rows does not matter."""
    found = {"|".join(str(row.pop(name)) for name in names): row for row in table.to_dict("records")}
    if len(found) != len(table):
        raise ValueError(f"{names} do not tell the rows apart")
    return found


def keep(numbers: dict, path: str, work: Callable | str, *args: Any, **options: Any) -> None:
    """Call a function, or public ones by their names, with all values of options that are tuples; keep the numbers."""
    names = work.split() if isinstance(work, str) else [work]
    for name, *values in product(names, *(v if isinstance(v, tuple) else [v] for v in options.values())):
        chosen = dict(zip(options, values, strict=True))
        words = [f"{k}={v}" if isinstance(v, str | int | float) else k for k, v in chosen.items()]
        where = "/".join(filter(None, [path, name if isinstance(name, str) else "", ", ".join(words)]))
        try:
            found = dict(flat(where, (find(name) if isinstance(name, str) else name)(*args, **chosen)))
        except Exception as problem:
            found = {where: f"failed: {type(problem).__name__}: {problem}"}
        if twice := found.keys() & numbers.keys():
            raise ValueError(f"{min(twice)} is there twice")
        numbers |= found


def save_assay(numbers: dict, name: str, models: dict, labels: np.ndarray, by: tuple = (), **options: Any) -> Any:
    """Make an assay and keep what it answers, on parts of the instances as well; give it back."""
    a, found = uq.assay(models, labels, **options), {}
    add = partial(keep, found)
    add("findings", lambda: keyed(table(a), *FINDING))
    add("findings", lambda by: keyed(table(a, "subsets", by=by), "subset", *FINDING), by=("correct", *by))
    add("ranking", lambda t: keyed(table(a, "ranking", tradeoff=t), "model"), t=TRADEOFFS)
    add("winning probabilities", a.win_shares, TRADEOFFS)
    add("breakpoints", lambda: a.breakpoints().to_dict("records"))
    for part in ("winners", "ranking_changes", "extreme_instances"):
        add(part, getattr(a, part))
    add("tradeoff scale", lambda: a.tradeoff_scale() if a.labels.ndim == 1 else None)
    add("mistake ranking", lambda: {f"{r.model}|{r.score}|{r.metric}|{r.run}": r.estimate for r in mistakes(a)})
    add("calibration rows", lambda: keyed(table(a, "calibration"), "model", "run", "measure"))
    add("calibration tests", lambda: {f"{t.model}|{t.run}|{t.measure}": t for t in a.calibration})
    numbers_of = partial(table, a, "scores")
    add("instances", lambda: {name: column.to_numpy() for name, column in numbers_of().select_dtypes("number").items()})
    add("models and their sets", lambda: {m.name: [m, a.sets.get(m.name)] for m in a.models})
    add("reliability", a.reliability, model=a.model_names, n_bins=7)
    for one, other in combinations(a.model_names, 2):
        add(f"compare {one}, {other}", a.compare, one, other, tradeoff=TRADEOFFS)
    pairs, metrics = [(m, s) for m in a.model_names for s in a.uncertainty_names(m)[:4]], tuple(find("RANKING_METRICS"))
    add("compare uncertainties", a.compare_uncertainties, pairs[0], pairs[-1], metric=metrics)
    add("pairwise uncertainties", a.pairwise_uncertainties, pairs[:8], metric=metrics)
    for m, s in pairs:
        add(f"refusal {m}, {s}", a.refusal, m, s, coverage=(0.5, 0.9))
        add(f"risk-coverage {m}, {s}", a.risk_coverage, m, s, [0.05, 0.25, 0.5, 0.75, 0.95, 1.0])
    numbers |= {f"{name}/{path}": value for path, value in found.items()}
    return a


def cifar10(data: dict, rows: slice, n_models: int = 5) -> dict[str, Any]:
    """Make models on some test images: five of the data, then others, so that every kind of prediction is there."""
    networks, beliefs = data["three_networks/probs"][rows], data["rs_nn_beliefs/beliefs"][rows]
    probs = networks.astype(float) / networks.astype(float).sum(axis=2, keepdims=True)
    logits = np.log(np.maximum(probs, 1e-6))
    models = {
        "networks": uq.Members(networks),
        "SNN": uq.Point(data["snn/probs"][rows]),
        "RS-NN": uq.Masses.from_beliefs(beliefs, data["rs_nn_beliefs/focal_sets"]).repaired(),
        "DE average": uq.Point(data["deep_ensemble_average/probs"][rows]),
        "runs": [uq.Point(networks[:, m]) for m in range(networks.shape[1])],
        "point from logits": uq.Point.from_logits(logits[:, 0]),
        "weighted members": uq.Members(probs, [0.5, 0.3, 0.2]),
        "members from logits": uq.Members.from_logits(logits),
        "intervals": uq.Intervals(probs.min(axis=1), probs.max(axis=1)),
        "vertices": uq.Vertices(probs),
        "dirichlet": uq.Dirichlet(0.1 + 20 * probs.mean(axis=1), n_draws=15, seed=1),
        "gaussian logits": uq.GaussianLogits(
            logits.mean(axis=1), logits.var(axis=1) + 0.1, variance_is="epistemic", n_draws=15, seed=1
        ),
    }
    return dict(list(models.items())[:n_models])


def save_assays(numbers: dict, data: dict) -> None:
    """Make the assays and keep what they say."""
    y, human = data["labels"].astype(int), data["human_counts"].astype(float)
    few, some, many, kinds = (cifar10(data, slice(n), m) for n, m in ((300, 5), (600, 5), (1000, 5), (200, 12)))
    inside = save_assay(numbers, "cifar10", many, y[:1000], ("class",))
    save_assay(numbers, "whole test set", cifar10(data, slice(None), 3), y, n_draws=500)
    save_assay(numbers, "human labels", some, human[:600], level=0.9)
    some["raw"] = uq.Masses.from_beliefs(data["rs_nn_beliefs/beliefs"][:600], data["rs_nn_beliefs/focal_sets"])
    save_assay(numbers, "paper", some, y[:600], convention="paper", calibration=())
    given = {"SNN": {"distance to average": np.abs(few["SNN"].probs - few["DE average"].probs).sum(axis=1)}}
    options = {"prior": np.arange(1, 11) / 55, "tradeoffs": (0.25, 4.0), "calibration": ("skce-ul", "hosmer-lemeshow")}
    options |= {"distance": "brier", "nonspecificity": "korner", "uncertainties": given, "rng": 3, "level": 0.9}
    save_assay(numbers, "brier, korner", few, y[:300], **options)
    options = {"measures": tuple(find("SCORES")), "common_members": 3, "distance": "hellinger", "nonspecificity": "pal"}
    save_assay(numbers, "kinds", kinds, y[:200], **options)
    save_assay(numbers, "kinds, human", kinds, human[:200], distance="js", nonspecificity="credal-uncertainty")
    both, y100 = data["two_networks/probs"][:300], data["two_networks/labels"][:300].astype(int)
    hundred = {"both": uq.Members(both), "DenseNet": uq.Point(both[:, 0]), "WRN": uq.Point(both[:, 1])}
    save_assay(numbers, "cifar100", hundred, y100, tolerance=0.02)
    ecg, gold = data["ten_seeds/probs"][:, :, 0], data["ten_seeds/gold"][:, 0].astype(int)  # one of six diagnoses
    seeds = {"seeds": [uq.Point.from_binary(p) for p in ecg], "ensemble": uq.Members.from_binary(ecg, member_axis=0)}
    save_assay(numbers, "ecg", seeds, gold)
    seeds |= {"seeds": seeds["seeds"][:5], "half": uq.Members.from_binary(ecg[:5], member_axis=0)}
    parts = {"groups": np.arange(len(gold)) // 3, "subgroups": {"expert": data["ten_seeds/cardiologist1"][:, 0]}}
    save_assay(numbers, "ecg, three rows a group", seeds, gold, ("class", "expert"), **parts)
    elsewhere = cifar10(data, slice(5000, 5400))
    outside = uq.assay(elsewhere, y[5000:5400], calibration=())
    for other, more in ((outside, {}), (outside, {"positive": "in"}), (elsewhere, {"groups": y[:400]})):
        found, path, metrics = inside.ood(other, **more), f"ood {', '.join(more)}", find("OOD_METRICS")
        keep(numbers, f"{path}/findings", lambda found=found: keyed(table(found), *FINDING))
        tested = tuple(name for name, metric in metrics.items() if metric.statistic is not None)
        keep(numbers, f"{path}/estimate", found.estimate, "networks", "margin", metric=tuple(metrics))
        keep(numbers, f"{path}/compare", found.compare, ("networks", "margin"), ("SNN", "margin"), metric=tested)


def save_predictions(numbers: dict, data: dict, n: int = 100) -> None:
    """Keep the losses and scores of every kind of prediction."""
    y, human, add = data["labels"][:n].astype(int), data["human_counts"][:n].astype(float), partial(keep, numbers)
    distances = ("kl", "js", "js_distance", "tv", "hellinger", "brier")
    losses = "log_loss brier_loss is_correct prediction_errors probability_gap"
    for kind, p in cifar10(data, slice(n), 12).items():
        if kind == "runs":
            continue
        for labels, target in (("y", y), ("human", human)):
            add(f"{kind}/{labels}", "unified_loss", target, p, tradeoff=0.5, distance=distances)
            add(f"{kind}/{labels}", losses, target, p)
        add(kind, "unified_loss", y, p, tradeoff=1.0, nonspecificity=("korner", "pal"), convention=("exact", "paper"))
        add(kind, "nonspecificity", p, measure=("hartley", "smets", "korner", "pal"))
        add(kind, "uncertainty_score", p, name=tuple(n for n, s in find("SCORES").items() if s.offered_by(p)))
        add(kind, "generalised_hartley", p)
        add(kind, "misclassification_truth misalignment_truth", human, p)
    add("cifar100 functions", "generalised_hartley", uq.Members(data["two_networks/probs"][:n]), rng=1, tolerance=0.01)


def save_scores(numbers: dict, data: dict, n: int = 800) -> None:
    """Keep the metrics of ranking and risk, those of two samples, and the statistics behind them."""
    p, y, groups = uq.Members(data["three_networks/probs"][:n]), data["labels"][:n].astype(int), np.arange(n) // 4
    errors, gap, loss = (find(name)(y, p) for name in ("prediction_errors", "probability_gap", "log_loss"))
    first, second = (find("uncertainty_score")(p, name) for name in ("total-entropy", "epistemic-variance"))
    other, add = find("log_loss")(y, uq.Point(data["snn/probs"][:n])), partial(keep, numbers)
    linear = [find("Linearised")(values.mean(), values - values.mean()) for values in (loss, other)]
    of_errors = "uq_auc_score g_auc_score h_auc_score aurc_loss e_aurc_loss augrc_loss prediction_rejection_score"
    for more in ({}, {"groups": groups}, {"sample_weight": data["human_counts"][:n].max(axis=1)}):
        add("scores", f"{of_errors} risk_coverage_curve auc_estimate", errors, first, **more)
        add("scores", "accuracy_at_coverage_score selective_gain", errors, first, coverage=(0.5, 0.8), **more)
        add("scores", "coverage_at_risk_score", errors, first, risk=0.02, **more)
        add("scores", "uq_c_index_score kendall_tau_score kendall_tau_estimate", gap, first, **more)
        for metric, facts in find("RANKING_METRICS").items():
            pairs = [(gap if facts.truth == "gap" else errors, score) for score in (first, second, loss)]
            add("scores", "paired_ranking_test", *pairs[:2], metric=metric, **more)
            add("scores", "pairwise_ranking_tests", dict(zip("abc", pairs, strict=True)), metric=metric, **more)
        add("statistics", "mean_estimate", loss, method=("student-t", "hall", "bca"), **more)
        add("statistics", "proportion_estimate", errors, **more)
        add("statistics", "paired_mean_test", loss, other, method=("student-t", "permutation"), **more)
        add("statistics", "paired_statistic_test", *linear, **more)
        add("statistics", "linearised_estimate", linear[0], **more)
        add("statistics", "pairwise_mean_tests", {"a": loss, "b": other, "c": first}, bound=(0.0, 5.0), **more)
        add("statistics", "bootstrap_means", np.stack([loss, other], axis=1), n_draws=200, rng=1, **more)
    metrics, halves = ("ood_auc_score", "fpr_at_tpr_error", "aupr_score"), (first[:500], 2 * first[500:])
    add("two samples", ood_metric, *halves, metric=metrics)
    add("two samples", ood_metric, *halves, metric=metrics, groups=[groups[:500], groups[500:]])
    add("two samples", ood_metric, *halves, metric=metrics[1:], positive="in")
    add("scores", "correlation_study", {"entropy": first[:60], "loss": loss[:60]}, {"gap": gap[:60]})
    add("statistics", "mean_estimate", [loss, other], level=0.9)  # two runs
    add("statistics", "pearson_estimate", loss, other, method=("jackknife", "fisher", "bca"))
    add("statistics", "delong_covariance", errors, np.stack([first, second]))
    add("statistics", "concordance kendall_tau_influence", gap, first)
    add("statistics", "holm benjamini_hochberg shaffer", np.sort(first)[:45])
    add("statistics", "bootstrap_estimate", lambda w: np.average(loss, weights=w), n, n_draws=200, rng=1)
    add("statistics", "percentile_interval win_shares", find("bootstrap_means")(np.stack([loss, other]).T))


def save_calibration(numbers: dict, data: dict, n: int = 300) -> None:
    """Keep the calibration errors and tests of one network and of the mixtures of three."""
    y, add = data["labels"][:n].astype(int), partial(keep, numbers, "calibration")
    p, members = (x[:n] / x[:n].sum(axis=-1, keepdims=True) for x in (data["snn/probs"], data["three_networks/probs"]))
    errors = "confidence_calibration_error classwise_calibration_error"
    add(errors, y, p, norm=("l1", "l2", "max"), binning=("width", "mass"), direction=("both", "over", "under"))
    add("hosmer_lemeshow_statistic hosmer_lemeshow_test", y, p, bins=("classwise", "common"))
    add("kernel_calibration_error", y, p, estimator=("quadratic", "linear", "block", "biased"))
    add("skce_pvalue", y, p, estimator=("quadratic", "linear", "block"), method=("asymptotic", "bound"), rng=1)
    add("proper_score_parts", y, p, score=("brier", "log"), by=("bins", "distinct"))
    add("reliability_diagram kernel_calibration_estimate", y, p)
    add("calibration_test", y, p, measure=tuple(find("CALIBRATION_MEASURES")), n_draws=99, rng=1)
    add("credal_calibration_test", y, members, measure=tuple(find("CALIBRATION_MEASURES")), n_draws=19, rng=1)
    add("credal_calibration_test", y, members, null=("random", "berger-boos"), n_draws=39, rng=1)
    add("credal_calibration_test", y, members, convention="paper-code", null="random", n_draws=39, rng=1)
    add("instance_dependent_calibration_test", y, members, n_draws=19, rng=1)
    add("weighted_average_effect", y, members, n_draws=100, null_draws=19, rng=1)
    add("calibration_power", p, find("Miscalibration").temperature(1.5), 200, n_samples=20, n_draws=39, rng=1)


def save(folder: Path, out: Path) -> bool:
    """Write all numbers into a file; give whether calls failed."""
    numbers, data = {}, {}
    for file in (*folder.glob("cifar*_test/*.np[yz]"), *folder.glob("ecg/*.npz")):
        loaded = np.load(file)
        data |= {file.stem: loaded} if file.suffix == ".npy" else {f"{file.stem}/{key}": loaded[key] for key in loaded}
    for step in (save_predictions, save_scores, save_calibration, save_assays):
        step(numbers, data)
    out.write_text(json.dumps(numbers, indent=0), encoding="utf-8")
    failed = [f"{path}: {value}" for path, value in numbers.items() if str(value).startswith("failed: ")]
    print(*failed, f"{len(numbers):,} numbers of {uq.__file__}; {len(failed)} calls failed", sep="\n")
    return bool(failed)


def same(one: Any, other: Any, tolerance: float) -> bool:
    """Tell whether two values are written alike, or are numbers that differ by less."""
    if repr(one) == repr(other):
        return True
    return isinstance(one, float) and isinstance(other, float) and math.isclose(one, other, rel_tol=tolerance)


def compare(before: Path, after: Path, skipped: list[str], tolerance: float) -> bool:
    """Print what differs, floats by more than the tolerance times the greater; give whether anything does."""
    old, new = (json.loads(path.read_text(encoding="utf-8"), parse_int=float) for path in (before, after))
    paths = [path for path in old | new if not any(part in path for part in skipped)]
    pairs = {path: (old.get(path, "absent"), new.get(path, "absent")) for path in paths}
    differ = [f"{path}: {one!r} → {other!r}" for path, (one, other) in pairs.items() if not same(one, other, tolerance)]
    print(*differ[:50], f"{len(differ):,} of {len(paths):,} numbers differ", sep="\n")
    return bool(differ)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("save", "compare"))
    parser.add_argument("paths", nargs=2, type=Path, help="FOLDER_OF_DATA OUT.json, or BEFORE.json AFTER.json")
    parser.add_argument("--skip", nargs="+", default=[], metavar="PART", help="leave out paths that hold such a text")
    parser.add_argument("--tolerance", type=float, default=0.0, help="relative, such as 1e-12; all digits by default")
    given = parser.parse_args()
    work = save if given.command == "save" else partial(compare, skipped=given.skip, tolerance=given.tolerance)
    raise SystemExit(work(*given.paths))

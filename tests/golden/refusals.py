"""Sentences of errors: parameter, rule, what was received, remedy, code."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import uqassay as uq
from tests.golden import data
from tests.golden.registry import Scenario
from uqassay import calibration, credal, losses, measures, metrics, statistics


def predictions() -> dict[str, Callable[[], Any]]:
    p = data.members(4)[:, 0]
    return {
        "no sum": lambda: uq.Point([[0.5, 0.4]]),
        "negative": lambda: uq.Point([[1.5, -0.5]]),
        "nan": lambda: uq.Point([[np.nan, 1.0]]),
        "one class": lambda: uq.Point([[1.0], [1.0]]),
        "one axis": lambda: uq.Point([0.5, 0.5]),
        "words": lambda: uq.Point([["a", "b"]]),
        "logits": lambda: uq.Point([[3.0, -1.0]]),
        "members of two axes": lambda: uq.Members(p),
        "weights": lambda: uq.Members(data.members(4), [0.5, 0.5]),
        "weights without sum": lambda: uq.Members(data.members(4)[:, :2], [0.5, 0.6]),
        "evidence": lambda: uq.Dirichlet([[0.0, 1.0]]),
        "crossed bounds": lambda: uq.Intervals([[0.6, 0.6]], [[0.5, 0.5]]),
        "bounds without a point": lambda: uq.Intervals([[0.1, 0.1]], [[0.2, 0.2]]),
        "class sets": lambda: uq.ClassSets([[0.5, 0.5]]),
        "masses": lambda: uq.Masses([[0.5, 0.4]], [[1, 0], [0, 1]]),
        "focal sets": lambda: uq.Masses([[1.0]], [[0, 0]]),
        "meaning of a variance": lambda: uq.GaussianLogits([[0.0, 1.0]], [[1.0, 1.0]], variance_is="noise"),
        "variance": lambda: uq.GaussianLogits([[0.0, 1.0]], [[-1.0, 1.0]], variance_is="epistemic"),
        "class names": lambda: uq.Point(p, class_names=("a", "b")),
        "class names twice": lambda: uq.Point(p, class_names=("a", "a", "b")),
        "ids": lambda: uq.Point(p, ids=[1, 1, 2, 3]),
        "groups": lambda: uq.Point(p, groups=[1, 2]),
        "object": lambda: uq.from_object(object()),
        "file": lambda: uq.load("nothing-there.npz"),
        "extension": lambda: uq.load("nothing.xyz"),
    }


def assays() -> dict[str, Callable[[], Any]]:
    y, p = data.labels(6), data.members(6)[:, 0]
    a = uq.assay({"m": p, "q": data.members(6)}, y, calibration=())

    def options(**given: Any) -> Callable[[], Any]:
        return lambda: uq.assay({"m": p}, y, **given)

    return {
        "no model": lambda: uq.assay({}, y),
        "not a dict": lambda: uq.assay(p, y),
        "empty name": lambda: uq.assay({"": p}, y),
        "baseline's name": lambda: uq.assay({"vacuous": p}, y),
        "no runs": lambda: uq.assay({"m": []}, y),
        "labels too few": lambda: uq.assay({"m": p}, y[:3]),
        "labels too great": lambda: uq.assay({"m": p}, y + 5),
        "labels negative": lambda: uq.assay({"m": p}, y - 1),
        "labels as names": lambda: uq.assay({"m": p}, ["x"] * 6),
        "labels with nan": lambda: uq.assay({"m": p}, np.full((6, 3), np.nan)),
        "votes of nobody": lambda: uq.assay({"m": p}, np.zeros((6, 3))),
        "other instances": lambda: uq.assay({"m": p, "n": p[:3]}, y),
        "other classes": lambda: uq.assay({"m": p, "n": data.members(6, 4)[:, 0]}, y),
        "distance": options(distance="euclid"),
        "non-specificity": options(nonspecificity="x"),
        "convention": options(convention="x"),
        "measure": options(measures=["total-entropie"]),
        "calibration": options(calibration=["ece"]),
        "level": options(level=1.0),
        "tradeoff": options(tradeoffs=[-1.0]),
        "floor": options(floor=2.0),
        "margin": options(margin=-1.0),
        "groups": options(groups=[1, 2]),
        "subgroups": options(subgroups={"s": [1]}),
        "prior": options(prior=[0.5, 0.5]),
        "scores of nobody": options(uncertainties={"x": {"s": y}}),
        "scores too few": options(uncertainties={"m": {"s": [1.0]}}),
        "draws": options(n_draws=0),
        "seed": options(rng=-1),
        "common members": options(common_members=9),
        "scales": options(scales=[-1.0]),
        "model": lambda: a["x"],
        "table": lambda: a.table("finding"),
        "option of a table": lambda: a.table("ranking", by="x"),
        "subset": lambda: a.table("subsets", by="site"),
        "compare": lambda: a.compare("m", "x"),
        "method": lambda: a.compare("m", "q", method="z"),
        "metric": lambda: a.rank_sets(metric="acc"),
        "score missing": lambda: a.rank_sets(metric="uq-auc"),
        "score": lambda: a.refusal("m", "x"),
        "coverage": lambda: a.refusal("m", "margin", 2.0),
        "λ": lambda: a.ranking(-1.0),
        "risk": lambda: a.certified_refusal(risk=2.0),
        "spread": lambda: a.to_latex(spread="runs"),
        "ood": lambda: a.ood({"x": p}),
        "merge": lambda: uq.AssayStream().merge(uq.AssayStream(first_row=5)),
        "first row": lambda: uq.AssayStream(first_row=-1),
        "empty stream": lambda: uq.AssayStream().compute(),
        "folder": lambda: uq.Assay.load("nowhere"),
    }


def functions() -> dict[str, Callable[[], Any]]:
    e, u, v = data.errors(20)
    y, p = data.labels(20), data.members(20)
    return {
        "lengths": lambda: metrics.uq_auc_score(e, u[:5]),
        "nan": lambda: metrics.uq_auc_score(e, np.full(20, np.nan)),
        "level": lambda: metrics.uq_auc_score(e, u, level=95),
        "weights": lambda: metrics.aurc_loss(e, u, sample_weight=-u),
        "errors": lambda: metrics.aurc_loss(u, u),
        "convention": lambda: metrics.aurc_loss(e, u, convention="x"),
        "metric": lambda: metrics.paired_ranking_test((e, u), (e, v), metric="auc"),
        "risk": lambda: metrics.certified_refusal(e, u, risk=0.0),
        "few": lambda: metrics.certified_refusal(e[:3], u[:3], risk=0.1),
        "one sample": lambda: metrics.ood_auc_score(np.zeros(20), u),
        "norm": lambda: metrics.confidence_calibration_error(y, p[:, 0], norm="l3"),
        "bins": lambda: metrics.confidence_calibration_error(y, p[:, 0], n_bins=0),
        "cost": lambda: metrics.tradeoff_range(False, 0.3),
        "runs": lambda: metrics.doubt_sources(np.ones((2, 2, 3, 2)) / 2, np.ones((2, 2, 3)), [0, 1, 0], [0.5, 1.0]),
        "measure": lambda: calibration.calibration_test(y, p[:, 0], measure="ece"),
        "null": lambda: calibration.credal_calibration_test(y, p, null="x"),
        "no members": lambda: calibration.credal_calibration_test(y, p[:, 0]),
        "few votes": lambda: calibration.second_order_test(np.eye(3)[y], uq.Members(p)),
        "distance": lambda: losses.unified_loss(y, p, distance="l2"),
        "tradeoff": lambda: losses.unified_loss(y, p, tradeoff=-1.0),
        "sets": lambda: losses.log_loss(y, data.prediction("ClassSets", 20)),
        "score": lambda: measures.uncertainty_score(uq.Point(p[:, 0]), "epistemic-entropy"),
        "score's name": lambda: measures.uncertainty_score(uq.Members(p), "entropy"),
        "decomposition": lambda: measures.decompose(uq.Point(p[:, 0]), "x"),
        "too many classes": lambda: credal.all_focal_sets(40),
        "mean": lambda: statistics.mean_estimate([]),
        "pairs": lambda: statistics.paired_mean_test([1.0, 2.0], [1.0]),
        "method": lambda: statistics.mean_estimate([1.0, 2.0], method="t"),
        "plan": lambda: statistics.plan_precision(statistics.auc_influence([0, 1, 1, 0], [1, 2, 3, 4])),
        "p-values": lambda: statistics.holm([2.0]),
        "data set": lambda: uq.lab.datasets.load_dataset("iriss"),
        "method of learning": lambda: uq.lab.methods.build_method("snnn"),
    }


def refused(calls: Callable[[], dict[str, Callable[[], Any]]]) -> str:
    """One line for the sentence of each error and one for its code; what is not refused says so."""
    lines = []
    for name, work in calls().items():
        try:
            found = work()
        except uq.UqassayError as problem:
            lines.append(f"{name} ({type(problem).__name__}, {problem.code}, {problem.parameter})\n  {problem}")
        else:
            lines.append(f"{name}\n  not refused: {type(found).__name__}")
    return "\n".join(lines)


def scenarios() -> Iterator[Scenario]:
    """Three lists of refusals."""
    yield Scenario("predictions", partial(refused, predictions))
    yield Scenario("assays", partial(refused, assays), ("pandas",))
    yield Scenario("functions", partial(refused, functions))

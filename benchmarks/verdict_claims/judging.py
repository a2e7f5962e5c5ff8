"""The claims of one assay against the truth: which are false, and how many of the true differences are told."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import uqassay as uq
from benchmarks.verdict_claims.cells import CELLS
from benchmarks.verdict_claims.truth import ALIKE, BASELINES, FAR, Truth, given_single_runs
from benchmarks.verdict_claims.worlds import Cell, DataSet, data_set
from uqassay.evidence import Claim, Ranked
from uqassay.losses.unified import DEFAULT_TRADEOFF

__all__ = ["KINDS", "NOT_COUNTED", "false_and_true", "former_procedure", "judge"]

# what is counted, and the sentence that it stands for
KINDS = {
    "headline: better than the baselines": "For λ from … choose A",
    "headline: worse than the choice": "For λ from … choose A, of the models that are worse at these λ, or at some of them",
    "headline: if no huge loss is missing": "For λ from … choose A, unless a rare huge loss is missing from these …",
    "no model is worth using": "Below λ = … no model is worth using",
    "worse than the winner": "Worse than A at λ = 0.5: B by …",
    "best": "At λ = 0.5 A has the lowest mean E and is the best",
    "best: mean E": "in `Assay.claims()` alone: the lowest mean E with an interval that allows for the choice",
    "best: own interval": "in the table of the models: the interval of this mean E, which does not",
    "baseline better at the default λ": "At λ = 0.5 saying nothing does better than A",
    "same losses": "A and B have the same loss in every instance",
    "bounded losses": "By the Brier score B is not as good",
    "rank sets of E": "Rank 2 to 4 at λ = 0.5",
    "rank sets of accuracy": "Rank 2 to 4 by accuracy",
    "rank sets of the Brier score": "Rank 2 to 4 by the Brier score",
    "subgroup": "Better than A at λ = 0.5 in a part of the test set: B by … where site is 3",
    "refusal": "Refuse the 10 % … and its accuracy rises",
    "refusal: accuracy kept": "… to 77.8 % (72.3 to 82.4 %)",
    "refusal: change of accuracy": "Refusing … need not help: accuracy changes by … points",
    "backward score": "Do not refuse by …, which is lower where the model is wrong",
    "backward score: cost": "… costs 2.6 points of accuracy (1.2 to 4.0)",
    "wider sets": "Wider sets would win: 3 times the spread of A would score better",
    "not calibrated": "A is not calibrated",
    "not calibrated: direction": "A is overconfident",
    "order under a condition that is not met": "… if A gives the true class probability 0 in at most 1 of N cases unlike these",
}
# what is counted once more or under a condition, and so is no part of "any false sentence"
NOT_COUNTED = frozenset(
    {
        "headline: if no huge loss is missing",
        "best: mean E",
        "best: own interval",
        "rank sets of accuracy",
        "rank sets of the Brier score",
        "refusal: accuracy kept",
        "refusal: change of accuracy",
        "backward score: cost",
        "order under a condition that is not met",
    }
)
FIRST = 5  # data sets of a cell whose verdict is kept; so are all that are false
Judged = Iterator[tuple[str, bool]]  # name, and whether it is true


def assay_of(cell: Cell, data: DataSet) -> uq.Assay:
    """The assay of one data set."""
    return uq.assay(
        data.predictions(),
        data.labels,
        groups=data.groups,
        subgroups=data.subgroups,
        uncertainties=data.scores or None,
        calibration=cell.calibration,
        distance=cell.distance,
        measures=("total-entropy",),
        n_draws=200,
    )


def golden() -> object:
    """The claims on one data set of each of four small cells."""
    cells = (CELLS[name] for name in ("equal-2-100-brier", "ahead-2-100-brier", "groups-5-2-brier", "runs-3-2-brier"))
    return [assay_of(cell, data_set(cell, np.random.default_rng(0))).claims() for cell in cells]


def judge(cell: Cell, truth: Truth, seed: int) -> dict[str, Any]:
    """Make one data set and its assay, and count what it claims."""
    rng = np.random.default_rng([seed, *cell.name.encode()])
    data = data_set(cell, rng)
    a = assay_of(cell, data)
    of_procedures, truth = truth, given_single_runs(cell, truth, data)
    made: dict[str, int] = defaultdict(int)
    false: dict[str, int] = defaultdict(int)
    ranked = [r for r in a.ranked(DEFAULT_TRADEOFF) if r.rank is not None]
    for name, true in false_and_true(a, truth):
        made[name] += 1
        false[name] += not true
    row = {"seed": seed, "made": dict(made), "false": {k: v for k, v in false.items() if v}, **_power(a, truth, ranked)}
    if of_procedures.models != truth.models:
        wrong = (not true and name not in NOT_COUNTED for name, true in false_and_true(a, of_procedures))
        row["false_of_procedures"] = any(wrong)
    row["former"] = former_procedure(a, truth, ranked[0].model)
    row["limits"] = sorted({c.limited_by for c in a.claims() if c.kind == "cannot-tell"})
    kept = seed < FIRST or any(k not in NOT_COUNTED for k in row["false"])
    row["said"], row["warned"] = (list(a.verdict()), [note.text for note in a.warnings]) if kept else ([], [])
    return row


def false_and_true(assay: uq.Assay, truth: Truth) -> Judged:
    """Every claim that can be false, by the names of `KINDS`.

    A claim that is false because a model fails more often than the condition printed with it allows counts as "order under a
    condition that is not met", and not as false.
    """
    conditions = Conditions(assay, truth)
    for claim in assay.claims():
        for name, true in _TESTS[claim.kind](claim, truth):
            yield from conditions.judged(name, true, _better_of(claim), claim.low)
    yield from _own_interval(assay, truth)
    yield from _rank_sets(assay, truth, conditions)


def _better_of(claim: Claim) -> tuple[str, ...]:
    """The models that a claim on an order says to be better."""
    if claim.kind in ("worse", "baseline-better"):
        return claim.others
    return claim.models if claim.kind in ("model-better", "best", "subgroup") else ()


class Conditions:
    """What the claims of an assay rest on, as it is printed with them, and whether that is true."""

    def __init__(self, assay: uq.Assay, truth: Truth) -> None:
        claims = assay.claims()
        self._truth = truth
        self._of_ranges = [
            (c.low, c.high, c.facts["cases"]) for c in claims if c.kind == "top-group" and "cases" in c.facts
        ]
        limits = {c.limited_by: c for c in claims if c.kind == "cannot-tell"}
        self._at_default = limits["inputs"].facts["cases"] if "inputs" in limits else {}
        self._in_groups = frozenset(limits["groups"].models) if "groups" in limits else frozenset[str]()

    def judged(self, name: str, true: bool, better: tuple[str, ...], tradeoff: float) -> Judged:
        """The claim as counted."""
        if not true and any(self._not_met(model, tradeoff) for model in better):
            yield "order under a condition that is not met", False
        else:
            yield name, true

    def _not_met(self, model: str, tradeoff: float) -> bool:
        if model in self._in_groups & self._truth.in_groups:
            return True
        stated = [self._at_default] if tradeoff == DEFAULT_TRADEOFF else []
        stated += [cases for low, high, cases in self._of_ranges if low <= tradeoff <= high]
        return any(self._truth.failing.get(model, 0.0) > 1 / cases[model] for cases in stated if model in cases)


# -- the kinds of claims --------------------------------------------------------------------------------------------------


def _ends(claim: Claim) -> list[float]:
    return [claim.low, min(claim.high, FAR)]


def _all_better(claim: Claim, truth: Truth, *, turned: bool = False) -> bool:
    pairs = [(b, a) if turned else (a, b) for a in claim.models for b in claim.others]
    return all(truth.better(a, b, _ends(claim)) for a, b in pairs)


def _model_better(claim: Claim, truth: Truth) -> Judged:
    condition = claim.limited_by == "unseen"
    name = "headline: if no huge loss is missing" if condition else "headline: better than the baselines"
    yield name, _all_better(claim, truth)


def _worse(claim: Claim, truth: Truth) -> Judged:
    name = "worse than the winner" if claim.low == claim.high else "headline: worse than the choice"
    yield name, _all_better(claim, truth, turned=True)


def _no_worse(claim: Claim, truth: Truth) -> Judged:
    means = {m: truth.models[m].at(claim.low) for m in truth.models if m not in BASELINES}
    yield "no worse by the margin", means[claim.models[0]] - min(means.values()) < claim.facts["margin"]


def _best(claim: Claim, truth: Truth) -> Judged:
    yield "best", _all_better(claim, truth)
    yield from _mean_of_the_lowest(claim, truth)


def _mean_of_the_lowest(claim: Claim, truth: Truth) -> Judged:
    """At the default λ: whether the interval of the lowest mean E holds the true mean of that model."""
    if claim.estimate is not None:
        mean = truth.models[claim.models[0]].at(claim.low)
        yield "best: mean E", claim.estimate.low <= mean <= claim.estimate.high


def _top_group(claim: Claim, truth: Truth) -> Judged:
    yield from _mean_of_the_lowest(claim, truth)


def _baseline_better(claim: Claim, truth: Truth) -> Judged:
    if claim.facts.get("every_model"):
        yield "no model is worth using", all(truth.beaten(m, claim.low, claim.high, claim.others) for m in claim.models)
    else:
        yield "baseline better at the default λ", _all_better(claim, truth, turned=True)


def _same(claim: Claim, truth: Truth) -> Judged:
    first = truth.models[claim.models[0]]
    same = [abs(first.at(t) - truth.models[b].at(t)) <= ALIKE for b in claim.others for t in (0.0, 1.0)]
    yield "same losses", all(same)


def _cannot_tell(claim: Claim, truth: Truth) -> Judged:
    for metric, found in claim.facts.get("bounded", {}).items():
        sign = -1 if metric == "accuracy" else 1
        loss = {m: sign * getattr(means, metric) for m, means in truth.models.items() if m not in BASELINES}
        for name in found["rest"]:
            yield "bounded losses", loss[name] - min(loss.values()) > ALIKE
    if claim.limited_by == "refusal" and claim.estimate is not None:
        gain = _gain(claim, truth)
        yield "refusal: change of accuracy", claim.estimate.low <= gain <= claim.estimate.high


def _subgroup(claim: Claim, truth: Truth) -> Judged:
    part = claim.facts["value"]
    yield "subgroup", all(truth.better(m, claim.others[0], _ends(claim), part) for m in claim.models)


def _gain(claim: Claim, truth: Truth) -> float:
    means = truth.models[claim.models[0]]
    return means.kept[claim.metric] - means.accuracy


def _refusal(claim: Claim, truth: Truth) -> Judged:
    yield "refusal", _gain(claim, truth) > ALIKE
    kept = truth.models[claim.models[0]].kept[claim.metric]
    yield "refusal: accuracy kept", claim.facts["accuracy_kept_low"] <= kept <= claim.facts["accuracy_kept_high"]


def _backward(claim: Claim, truth: Truth) -> Judged:
    means = truth.models[claim.models[0]]
    costs = means.kept[claim.metric] - means.accuracy < 0 or not claim.facts["costs"]
    yield "backward score", means.uq_auc[claim.metric] < 0.5 - ALIKE and costs
    if claim.facts["costs"]:
        yield "backward score: cost", claim.facts["gain_low"] <= _gain(claim, truth) <= claim.facts["gain_high"]


def _wider(claim: Claim, truth: Truth) -> Judged:
    means = truth.models[claim.models[0]]
    yield "wider sets", means.gain_of_scale(claim.facts["scale"], claim.low) > ALIKE


def _not_calibrated(claim: Claim, truth: Truth) -> Judged:
    means = truth.models[claim.models[0]]
    yield "not calibrated", not means.calibrated
    direction = claim.facts.get("direction", "")
    if direction:
        gap = means.confidence - means.accuracy
        yield "not calibrated: direction", (gap if direction == "overconfident" else -gap) > 0


def _covered_less(claim: Claim, truth: Truth) -> Judged:
    """Not judged here, because classes differ in no world of these: tests.metrics.sets.test_error_rates measures it."""
    yield from ()


# every kind of claim; what the verdict says besides are facts of the test set itself: lowest means, shares of resamples, names
# that cannot be told apart, where a few losses make up a difference, scales of λ
_TESTS: dict[str, Callable[[Claim, Truth], Judged]] = {
    "model-better": _model_better,
    "worse": _worse,
    "no-worse": _no_worse,
    "best": _best,
    "baseline-better": _baseline_better,
    "top-group": _top_group,
    "same": _same,
    "cannot-tell": _cannot_tell,
    "subgroup": _subgroup,
    "refusal": _refusal,
    "backward-score": _backward,
    "wider-better": _wider,
    "not-calibrated": _not_calibrated,
    "covered-less": _covered_less,
}


def _own_interval(assay: uq.Assay, truth: Truth) -> Judged:
    """Of several models that with the lowest mean E: whether its interval in the ranking holds its true mean."""
    rows = [r for r in assay.ranked(DEFAULT_TRADEOFF) if r.rank is not None]
    if len(rows) > 1:
        mean = truth.models[rows[0].model].at(DEFAULT_TRADEOFF)
        yield "best: own interval", rows[0].estimate.low <= mean <= rows[0].estimate.high


def _rank_sets(assay: uq.Assay, truth: Truth, conditions: Conditions) -> Judged:
    """All pairs of models: one record for each metric, true if no pair that is told apart is in the wrong order."""
    losses = {
        "rank sets of E": ("unified", lambda m: truth.models[m].at(DEFAULT_TRADEOFF)),
        "rank sets of accuracy": ("accuracy", lambda m: -truth.models[m].accuracy),
        "rank sets of the Brier score": ("brier", lambda m: truth.models[m].brier),
    }
    for name, (metric, loss) in losses.items():
        found = assay.rank_sets(DEFAULT_TRADEOFF, metric=metric)
        told = np.argwhere(found.better).tolist()
        wrong = {found.names[i] for i, j in told if not loss(found.names[j]) - loss(found.names[i]) > ALIKE}
        if metric == "unified":
            wrong = {m for m in wrong if (name, False) in conditions.judged(name, False, (m,), DEFAULT_TRADEOFF)}
        if told:
            yield name, not wrong


# -- power ------------------------------------------------------------------------------------------------------------------


def _power(assay: uq.Assay, truth: Truth, ranked: list[Ranked]) -> dict[str, Any]:
    """Of the true differences at the default λ how many are told; size of the top group; scores and calibration told."""
    names, at = assay.model_names, [DEFAULT_TRADEOFF]
    ranks = assay.rank_sets(DEFAULT_TRADEOFF)
    pairs = [(a, b) for a in names for b in names if a != b and truth.better(a, b, at)]
    winner = ranked[0].model
    rivals = [b for b in names if truth.better(winner, b, at)]
    told = {m for c in assay.claims() if c.kind == "worse" and c.low == c.high for m in c.models}
    told |= {m for c in assay.claims() if c.kind == "best" for m in c.others}
    backward = [(m, s) for m in names for s, auc in truth.models[m].uq_auc.items() if auc < 0.5 - ALIKE]
    found = {(c.models[0], c.metric) for c in assay.claims() if c.kind == "backward-score"}
    wrong = [m for m in names if not truth.models[m].calibrated] if assay.calibration else []
    rejected = {c.models[0] for c in assay.claims() if c.kind == "not-calibrated"}
    return {
        "pairs": [sum(ranks.is_better(a, b) for a, b in pairs), len(pairs)],
        "rivals": [sum(b in told for b in rivals), len(rivals)],
        "top": int(ranks.top.sum()),
        "unadjusted_best": _unadjusted_best(ranked, truth, 1 - assay.settings.level),
        "backward": [sum(b in found for b in backward), len(backward)],
        "miscalibrated": [sum(m in rejected for m in wrong), len(wrong)],
    }


def _unadjusted_best(rows: list[Ranked], truth: Truth, alpha: float) -> list[bool]:
    """Best by the largest unadjusted p-value against any rival (Hung, Fithian 2019): said, true, and said by the rank set."""
    if len(rows) == 1:
        return [False, False, False]
    winner, p = rows[0], max(r.pvalue for r in rows[1:])
    said = bool(p <= alpha)
    return [said, all(truth.better(winner.model, r.model, [DEFAULT_TRADEOFF]) for r in rows[1:]), winner.rank_high == 1]


def former_procedure(assay: uq.Assay, truth: Truth, winner: str) -> dict[str, Any]:
    """Student's paired t of the winner against each other model, adjusted by Holm for J − 1: what it tells, and falsely."""
    names, at = assay.model_names, [DEFAULT_TRADEOFF]
    others = [m for m in names if m != winner]
    p = np.array([assay.compare(m, winner, tradeoff=DEFAULT_TRADEOFF).alone.pvalue for m in others])
    adjusted = uq.statistics.holm(p) if len(others) else p
    told = [m for m, q in zip(others, adjusted, strict=True) if q <= 1 - assay.settings.level]
    true = [m for m in others if truth.better(winner, m, at)]
    return {"false": sum(m not in true for m in told), "told": sum(m in true for m in told), "true": len(true)}

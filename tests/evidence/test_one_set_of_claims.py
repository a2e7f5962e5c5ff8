"""Nothing that an assay says contradicts anything else that it says: held together over thousands of random assays."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import uqassay as uq
from uqassay.evidence.answer import Recommendation
from uqassay.evidence.order import order_of, rank_sets_at
from uqassay.evidence.subgroups import part_names, subgroups_of
from uqassay.losses.unified import DEFAULT_TRADEOFF

DISTANCES = ("kl", "kl", "kl", "brier", "js", "tv")
FAR = 1e4  # stands for ranges without an end
ASKED = (0.0, 0.05, 0.3, DEFAULT_TRADEOFF, 0.87, 1.0, 2.0, 10.0)  # λ that people ask for


def random_assay(seed: int) -> uq.Assay:
    """1 to 10 models, sets and single distributions, near each other or apart; votes, groups, runs and margins at times."""
    rng = np.random.default_rng([16, seed])
    n, k, j = (
        int(np.exp(rng.uniform(np.log(6), np.log(800)))),
        int(rng.integers(2, 6)),
        int(rng.choice([1, 2, 2, 3, 3, 4, 6, 10])),
    )
    truth = rng.dirichlet(np.full(k, rng.choice([0.2, 1.0])), n)
    labels = (truth.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(0, k - 1)
    parts = {"site": rng.integers(0, 3, n), "kind": rng.integers(0, 2, n)} if rng.random() < 0.25 else {}
    sets = rng.random() < 0.75  # with points alone nothing depends on λ
    spread = rng.choice([0.02, 0.1, 0.5])  # between the models
    models: dict[str, object] = {}
    for i in range(j):
        if i and rng.random() < 0.06:
            models[f"m{i}"] = models["m0"]
            continue
        kind = str(rng.choice(["point", "members", "intervals"])) if sets else "point"
        # where there are parts, each model is weak in one of them
        weak = parts["site"] == rng.integers(0, 3) if parts else np.zeros(n, dtype=bool)
        seen = np.where(weak[:, np.newaxis], 0.5 * truth + 0.5 / k, truth)
        runs = [_prediction(rng, kind, seen, spread) for _ in range(int(rng.choice([1, 1, 1, 3])))]
        models[f"m{i}"] = runs if len(runs) > 1 else runs[0]
    votes = rng.random() < 0.1
    answers = rng.multinomial(9, truth / truth.sum(axis=1, keepdims=True)) if votes else labels
    return uq.assay(
        models,
        answers,
        subgroups=parts,
        groups=np.sort(rng.integers(0, max(2, n // 6), n)) if rng.random() < 0.2 else None,
        distance=str(rng.choice(DISTANCES)),
        floor=float(rng.choice([0.0, 1e-3])) if rng.random() < 0.15 else None,
        nonspecificity="pal" if rng.random() < 0.15 else "hartley",
        margin=float(rng.choice([0.01, 0.1])) if rng.random() < 0.3 else None,
        votes_are="counts" if votes else None,
        calibration=(),
        measures=("total-entropy",),
        scales=(),
        n_draws=20,
    )


def _prediction(rng: np.random.Generator, kind: str, truth: np.ndarray, spread: float) -> uq.Prediction:
    def near(noise: float, power: float) -> np.ndarray:
        logits = power * np.log(truth + 0.02) + noise * rng.normal(size=truth.shape)
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    power, noise = np.exp(spread * rng.normal()), 0.3 * np.exp(spread * rng.normal())
    if kind == "point":
        return uq.Point(near(noise, power))
    vague = rng.choice([0.1, 0.5, 1.0])
    members = np.stack([near(np.hypot(noise, vague), power) for _ in range(int(rng.integers(2, 5)))], axis=1)
    return uq.Members(members) if kind == "members" else uq.Intervals(members.min(axis=1), members.max(axis=1))


def contradictions(a: uq.Assay, rng: np.random.Generator) -> Iterator[str]:
    """Statements of an assay that contradict each other, in words."""
    pool = sorted({*ASKED, *np.round(np.exp(rng.uniform(np.log(0.02), np.log(100), 12)), 6).tolist()})
    rank_sets_at(a, pool)  # those of all λ together, which saves time
    yield from _order_at_the_default(a)
    yield from _ranges_of_claims(a, pool)
    yield from _choices(a, pool)
    yield from _rankings(a, rng)
    yield from _parts(a)


def _inside(low: float, high: float, pool: list[float]) -> list[float]:
    """λ of a pool inside a range, off its ends by what two digits hide; of a short range its middle."""
    if low == high:
        return [low]
    first, last = low + _digit(low), min(high, FAR) - _digit(min(high, FAR))
    found = [t for t in pool if first <= t <= last]
    return found if found or first >= last else [(first + last) / 2]


def _digit(end: float) -> float:
    """What an end may be off by: one of two decimals, or of two digits."""
    return 0.01 if end >= 0.1 else 10.0 ** (np.floor(np.log10(end)) - 1) if end > 0 else 0.0


def _order_at_the_default(a: uq.Assay) -> Iterator[str]:
    alpha, ranks = 1 - a.settings.level, a.rank_sets(DEFAULT_TRADEOFF)
    at = [c for c in a.claims() if c.low == c.high == DEFAULT_TRADEOFF]
    rows = [r for r in a.ranked(DEFAULT_TRADEOFF) if r.rank is not None]
    best = [c for c in at if c.kind == "best"]
    if bool(best) != (len(rows) > 1 and rows[0].rank_high == 1):
        yield f"best is claimed: {bool(best)}, and the winner has ranks {rows[0].rank_low} to {rows[0].rank_high}"
    for r in rows[1:]:
        told = ranks.is_better(rows[0].model, r.model)
        if told != bool(r.pvalue_adjusted <= alpha):
            yield f"{r.model}: told {told}, adjusted p {r.pvalue_adjusted}"
        said = any(c.kind == "worse" and r.model in c.models and rows[0].model in c.others for c in at)
        if said != told:
            yield f"{r.model} is said to be worse: {said}, told {told}"
        tied = any(c.kind == "top-group" and r.model in c.others for c in at)
        if tied != (r.top and not best):
            yield f"{r.model} could be as good: {tied}, and is in the top group: {r.top}"
        test = a.compare(r.model, rows[0].model)
        if told and not (test.pvalue <= alpha or np.isnan(test.pvalue)):
            yield f"{r.model} is worse, and compare has p = {test.pvalue}"


def _ranges_of_claims(a: uq.Assay, pool: list[float]) -> Iterator[str]:
    for c in a.claims():
        if c.kind not in ("worse", "model-better", "baseline-better") or np.isnan(c.low) or c.limited_by == "unseen":
            continue
        for t in _inside(c.low, c.high, pool):
            ranks = a.rank_sets(t)
            for one in c.models:
                others = [ranks.is_better(*((one, b) if c.kind == "model-better" else (b, one))) for b in c.others]
                if c.facts.get("every_model"):
                    baselines = order_of(a).yardsticks
                    others = [any(ranks.is_better(b, one) for b in baselines)]
                if not all(others):
                    yield f"{c.kind} {one} {c.others} for λ from {c.low} to {c.high}, and at {t} the tests do not tell it"


def _choices(a: uq.Assay, pool: list[float]) -> Iterator[str]:
    answer = a.answer()
    for c in answer.choices:
        for t in _inside(c.low, c.high, pool):
            yield from _choice_at(a, c, t, conditional=answer.condition == "unseen")
        for low, high in answer.none:
            if max(low, c.low) < min(high, c.high):
                yield f"{c.models} for λ from {c.low} to {c.high}, and no model from {low} to {high}"
    for s in answer.stretches:
        if s.kind == "open" and answer.condition != "unseen" and answer.kind not in ("one-unit", "infinite"):
            for t in _inside(s.low, s.high, pool):
                ranks = a.rank_sets(t)
                baselines = order_of(a).yardsticks
                first = ranks.names[int(np.argmin(ranks.values))]
                if all(ranks.is_better(first, b) for b in baselines):
                    yield f"nothing is told from {s.low} to {s.high}, and at {t} {first} is better than the baselines"


def _choice_at(a: uq.Assay, c: Recommendation, t: float, *, conditional: bool) -> Iterator[str]:
    ranks = a.rank_sets(t)
    where = f"at λ = {t} of {c.low} to {c.high}"
    top = set(ranks.top_names)
    if not set(c.models) <= top:
        yield f"{where} choose {c.models}, and none is shown to be better than {sorted(top)}"
    if not set(c.tied) <= top:
        yield f"{where} {c.tied} cannot be told from {c.models}, and none is shown to be better than {sorted(top)}"
    if top & set(c.worse):
        yield f"{where} {c.worse} are worse, and none is shown to be better than {sorted(top)}"
    least = ranks.values.min()
    if not any(ranks.values[ranks.names.index(m)] <= least + 1e-12 for m in c.models):
        yield f"{where} choose {c.models}, and the lowest is {ranks.names[int(ranks.values.argmin())]}"
    first = min(c.models, key=lambda m: ranks.values[ranks.names.index(m)])
    if not conditional and not all(ranks.is_better(first, b) for b in order_of(a).yardsticks):
        yield f"{where} {first} is worth using, and the tests do not tell it from the baselines"


def _parts(a: uq.Assay) -> Iterator[str]:
    """Of the parts of the test set the claims, and the sentence, say what the rank sets and p-values of the tables say."""
    rows = [r for r in a.ranked(DEFAULT_TRADEOFF) if r.rank is not None]
    if not a.winners():
        return
    winner, claimed = rows[0].model, [c for c in a.claims() if c.kind == "subgroup"]
    if bool(claimed) != any(s.startswith(f"Better than {winner}") and " of the test set: " in s for s in a.verdict()):
        yield f"{len(claimed)} claims on parts, and the verdict is {a.verdict()}"
    for part in (part for by in part_names(a) for part in subgroups_of(a, by)):
        mine = [c for c in claimed if (c.facts["by"], c.facts["value"]) == (part.by, part.value)]
        said = {name: p for c in mine for name, p in c.facts["pvalues"].items()}
        ranks = part.assay.rank_sets(DEFAULT_TRADEOFF)
        told = {name for name in ranks.names if ranks.is_better(name, winner)}
        if told != said.keys():
            yield f"where {part.by} is {part.value} {sorted(said)} are said to be better than {winner}, told {sorted(told)}"
        names = ranks.comparisons.names
        for name, p in said.items():
            if p != ranks.comparisons.adjusted[names.index(name), names.index(winner)]:
                yield f"where {part.by} is {part.value} p of {name} is {p}, and another one in the table"
        shown = next(r for r in part.assay.ranked(DEFAULT_TRADEOFF) if r.model == winner)
        if told and shown.rank_low == 1:
            yield f"where {part.by} is {part.value} {winner} is beaten by {sorted(told)}, and its ranks begin with 1"


def _rankings(a: uq.Assay, rng: np.random.Generator) -> Iterator[str]:
    """With points alone, E is the distance at every λ, and the same tests tell the same."""
    if any(m.columns["nonspecificity"].any() for m in a.candidates):
        return
    here, there = a.rank_sets(DEFAULT_TRADEOFF), a.rank_sets(metric=a.settings.distance_metric)
    if not np.array_equal(here.better, there.better):
        yield f"E tells {here.better.tolist()} and the distance {there.better.tolist()}"
    beyond = a.rank_sets(float(rng.uniform(0, 5)))
    if not np.array_equal(here.better, beyond.better):
        yield "E of points tells something else at another λ"


QUESTIONS = {
    "comparison": lambda a: a.compare(a.model_names[0], a.model_names[-1]),
    "ranking": lambda a: a.ranked(0.3),
    "rank sets": lambda a: [a.rank_sets(t) for t in (0.0, 0.1, 2.0)],
    "verdict": lambda a: a.verdict(),
    "accuracy": lambda a: a.rank_sets(metric="accuracy"),
    "metrics": lambda a: a.metrics(0.7),
    "scale check": lambda a: a.scale_check(0.3),
    "mistakes": lambda a: a.mistake_ranking(),
    "parts": lambda a: a.rows("subsets", by="part"),
}


@pytest.mark.parametrize("seed", range(4))
def test_answers_do_not_depend_on_the_order_of_the_questions(seed):
    """To the last bit, with more instances than one chunk of sums has."""
    rng = np.random.default_rng(seed)
    n, j = 9000, int(rng.integers(2, 5))
    labels = rng.integers(0, 3, n)
    near = np.where(np.eye(3)[labels] == 1, 0.6, 0.2)
    models = {f"m{i}": _prediction(rng, ("members", "point")[(i + seed) % 2], near, 0.05) for i in range(j)}
    a = uq.assay(
        models,
        labels,
        groups=rng.integers(0, 900, n) if seed == 3 else None,
        subgroups={"part": rng.integers(0, 2, n)},
        calibration=(),
        measures=("total-entropy",),
        tradeoffs=(DEFAULT_TRADEOFF,),
        scales=(1.0, 2.0),
        n_draws=20,
    )

    def found(questions: list[str]) -> dict[str, object]:
        asked = replace(a)  # which knows nothing
        for question in questions:
            QUESTIONS[question](asked)
        return {key: value for key, value in asked.to_json().items() if key != "provenance"}

    expected = found([])
    for first in ("comparison", str(rng.choice(list(QUESTIONS)))):
        rest = [str(name) for name in rng.permutation(list(QUESTIONS)) if name != first]
        assert found([first, *rest]) == expected, (first, rest)


@pytest.mark.parametrize("block", range(30))
def test_nothing_contradicts_anything(block):
    for seed in range(100 * block, 100 * (block + 1)):
        assert list(contradictions(random_assay(seed), np.random.default_rng(seed))) == [], seed

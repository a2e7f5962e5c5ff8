"""Nothing that an assay says contradicts anything else that it says: held together over random assays.

The test judges 800 of them. The command judges thousands, and prints what contradicts what:

    python -m tests.evidence.test_one_set_of_claims [assays]
"""

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli.fail_if import outcome_of, parse_check
from uqassay.evidence.answer import Recommendation
from uqassay.evidence.order import order_of, rank_sets_at
from uqassay.evidence.pair_tests import rests_on_inputs
from uqassay.evidence.subgroups import part_names, subgroups_of
from uqassay.losses.unified import DEFAULT_TRADEOFF

DISTANCES = ("kl", "kl", "kl", "brier", "js", "tv")
FAR = 1e4  # stands for ranges without an end
ASKED = (0.0, 0.05, 0.3, DEFAULT_TRADEOFF, 0.87, 1.0, 2.0, 10.0)  # λ that people ask for


def random_assay(seed: int) -> uq.Assay:
    """1 to 10 models, sets and single distributions, near each other or apart; votes, groups, runs and margins at times.

    A part has few cases, hard predictions and constant models, a part answers that are right or wrong.
    """
    rng = np.random.default_rng([16, seed])
    if seed % 7 == 0:
        return _random_answers(rng)
    few = seed % 7 == 1
    n, k, j = (
        int(np.exp(rng.uniform(0, np.log(30)) if few else rng.uniform(np.log(6), np.log(800)))),
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
        kind = str(rng.choice([kind, "hard", "constant"])) if few else kind
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


def _random_answers(rng: np.random.Generator) -> uq.Assay:
    n, j = int(np.exp(rng.uniform(0, np.log(300)))), int(rng.integers(1, 7))
    ease, stated = rng.random(n), rng.random() < 0.5
    models: dict[str, object] = {}
    for i in range(j):
        right = ease < rng.choice([0.0, 0.5, 0.7, 0.72, 1.0])
        models[f"m{i}"] = uq.Answers(right, rng.random(n)) if stated else uq.Answers(right)
    return uq.assay(
        models,
        groups=np.sort(rng.integers(0, max(2, n // 6), n)) if rng.random() < 0.2 else None,
        margin=float(rng.choice([0.01, 0.1])) if rng.random() < 0.3 else None,
        calibration=(),
        n_draws=20,
    )


def _prediction(rng: np.random.Generator, kind: str, truth: np.ndarray, spread: float) -> uq.Prediction:
    def near(noise: float, power: float) -> np.ndarray:
        logits = power * np.log(truth + 0.02) + noise * rng.normal(size=truth.shape)
        p = np.exp(logits - logits.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    power, noise = np.exp(spread * rng.normal()), 0.3 * np.exp(spread * rng.normal())
    if kind == "constant":
        return uq.Point(np.tile(truth.mean(axis=0) / truth.mean(axis=0).sum(), (len(truth), 1)))
    if kind == "hard":
        return uq.Point(np.eye(truth.shape[1])[near(noise, power).argmax(axis=1)])
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
    yield from _pairs(a, pool, rng)
    yield from _checks(a, rng)
    yield from _ties(a)
    yield from _conditions(a)


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
        if not (test.pvalue == r.pvalue_adjusted or np.isnan([test.pvalue, r.pvalue_adjusted]).all()):
            yield f"{r.model} has p = {r.pvalue_adjusted} in the ranking, and compare has p = {test.pvalue}"
        if repr(test.difference) != repr(r.difference):
            yield f"{r.model} differs by {r.difference!r} in the ranking, and in compare by {test.difference!r}"


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


def _pairs(a: uq.Assay, pool: list[float], rng: np.random.Generator) -> Iterator[str]:
    """What `compare` says of a pair, in its interval, sentences and table, is what the rank sets tell."""
    names = [m.name for m in a.models]
    for t in (DEFAULT_TRADEOFF, float(rng.choice(pool))):
        ranks = a.rank_sets(t)
        one, other = rng.choice(names, 2, replace=True)
        found = a.compare(str(one), str(other), tradeoff=t)
        told = {x: ranks.is_better(x, y) for x, y in ((found.model, found.other), (found.other, found.model))}
        better = next((name for name, yes in told.items() if yes), None)
        where = f"at λ = {t} {found.model} and {found.other}:"
        if found.better != better:
            yield f"{where} compare tells {found.better} better, and the rank sets {better}"
        d = found.difference
        if not np.isnan(d.low) and (d.low > 0 or d.high < 0) != (better is not None):
            yield f"{where} the interval is {d!r}, and told better is {better}"
        texts = [*found._shown_sentences(), *found._shown_table().as_text(), repr(found)]
        if (better is None) and any("is better than" in text for text in texts):
            yield f"{where} {texts}, and none is shown to be better"
        if better is not None and np.isfinite(float(d)) and f"{better} is better than" not in texts[0]:
            yield f"{where} {texts[0]}, and {better} is shown to be better"
        if found.margin is not None and (found.margin.verdict == "better") != (better == found.model != found.other):
            yield f"{where} the margin says {found.margin.verdict}, and told better is {better}"


def _checks(a: uq.Assay, rng: np.random.Generator) -> Iterator[str]:
    """A check of a pair on intervals says what the rank sets tell; a demand what the claims on margins say."""
    alpha, answers = 1 - a.settings.level, a.of_answers
    if len(a.model_names) < 2:
        return
    one, other = map(str, rng.choice(a.model_names, 2, replace=False))
    for metric, sign in (("unified", -1), ("accuracy", 1)):
        ranks = a.rank_sets(DEFAULT_TRADEOFF, metric=metric)
        at = f"@{DEFAULT_TRADEOFF}" if metric == "unified" and order_of(a).priced else ""
        worse = "<" if sign > 0 else ">"
        if metric == "accuracy" and not {one, other} <= set(ranks.names):
            continue
        outcome = outcome_of(parse_check(f"{one}-{other}:{metric}{at}{worse}0"), a, on_intervals=True)
        told = ranks.is_better(other, one)
        if told and outcome.word != "fail" and np.isfinite(ranks.values).all():
            yield f"{other} is better than {one} by {metric}, and the check says {outcome}"
        if not told and outcome.word == "fail":
            yield f"{other} is not shown to be better than {one} by {metric}, and the check says {outcome}"
    if a.settings.margin is None or (answers and a.n_units == 1):
        return
    rows = [r for r in a.ranked(DEFAULT_TRADEOFF) if r.rank is not None]
    for r in rows[1:]:
        demand = outcome_of(parse_check(f"no-worse({r.model},{rows[0].model})<{a.settings.margin}"), a)
        said = [
            c
            for c in a.claims()
            if c.kind in ("no-worse", "cannot-tell") and c.models == (r.model,) and c.low == c.high
        ]
        if any(c.kind == "no-worse" for c in said) and demand.word != "pass":
            yield f"{r.model} is no worse by the claims, and the demand says {demand}"
        if any(c.limited_by == "margin" for c in said) and demand.word == "pass":
            yield f"{r.model} is not shown to be no worse by the claims, and the demand passes ({r.pvalue_no_worse} > {alpha})"


def _ties(a: uq.Assay) -> Iterator[str]:
    """Models with the same mean are named together, and neither is called the best."""
    rows = [r for r in a.ranked(DEFAULT_TRADEOFF) if r.rank is not None]
    if len(rows) < 2 or not a.winners():
        return
    same = {r.model for r in rows if float(r.estimate) == float(rows[0].estimate)}
    lowest = [text for text in a.verdict() if "lowest" in text and "resamples" not in text and " λ up to" not in text]
    for text in lowest:
        if len(same) > 1 and f"is that of {rows[0].model}." in text:
            yield f"{sorted(same)} have the same mean, and the verdict says {text}"
    if a.n_units == 1 and any("intervals are wide" in text for text in (*a.verdict(), *(n.text for n in a.warnings))):
        yield "one case has no interval that could be wide"


def _conditions(a: uq.Assay) -> Iterator[str]:
    """What rests on other inputs is said with its condition; each model has one bound at the default λ."""
    ranks, said = a.rank_sets(DEFAULT_TRADEOFF), " ".join(a.verdict())
    inputs = [c for c in a.claims() if c.kind == "cannot-tell" and c.limited_by == "inputs"]
    resting = {
        one
        for one in ranks.names
        for other in ranks.names
        if ranks.is_better(one, other) and rests_on_inputs(a, one, other, DEFAULT_TRADEOFF)
    }
    told = {name for c in inputs for name in c.facts["cases"]}
    if not resting <= told:
        yield f"the order of {sorted(resting - told)} rests on other inputs, and no claim says so"
    if resting and " unlike these" not in said:
        yield f"the order of {sorted(resting)} rests on other inputs, and the verdict is {said}"


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


def test_a_pair_alone_is_not_told_where_the_ranking_tells_nothing():
    """Three questions, all answered right by one model: a paired test of these two has p = 0, and a wrong answer is to come."""
    a = uq.assay({"A": uq.Answers([0, 0, 0]), "B": uq.Answers([1, 1, 1])}, calibration=())
    found = a.compare("A", "B")
    assert (found.alone.pvalue, found.better, found.reject()) == (0.0, None, False)
    assert found.pvalue == a.ranked()[1].pvalue_adjusted == pytest.approx(0.125)
    assert found.difference.low < 0 < found.difference.high == 1
    assert found._shown_sentences() == [
        "B has the lower error rate here, but A could be as good: the difference is 1.000 (95 % interval −0.683 to 1.000; "
        "p = .13; adjusted for all pairs)."
    ]
    assert "this pair alone" in found.to_markdown()
    assert outcome_of(parse_check("A-B:unified>0"), a, on_intervals=True).word == "cannot tell"
    assert outcome_of(parse_check("A-B:accuracy<0"), a, on_intervals=True).word == "cannot tell"
    assert outcome_of(parse_check("no-worse(B,A)<0.01"), a).word == "cannot tell"


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


def contradictory(seeds: range) -> Iterator[tuple[int, list[str]]]:
    for seed in seeds:
        if found := list(contradictions(random_assay(seed), np.random.default_rng(seed))):
            yield seed, found


@pytest.mark.usefixtures("without_detectable")
@pytest.mark.parametrize("block", range(8))
def test_nothing_contradicts_anything(block):
    assert list(contradictory(range(100 * block, 100 * (block + 1)))) == []


if __name__ == "__main__":
    for told in contradictory(range(*map(int, sys.argv[1:] or ["3000"]))):
        print(*told, flush=True)

"""The sections of the page of an assay: subgroups, rank sets, mistakes, refusal, calibration, sets, votes."""

import base64
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, partial, reduce
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from uqassay.arrays import Floats, available_cores
from uqassay.calibration.one_classifier import property_of
from uqassay.evidence.calibration import JudgedTest, judged_tests, point_models
from uqassay.evidence.data import ChosenColumns, with_numbered_groups
from uqassay.evidence.findings import subset_rows
from uqassay.evidence.mistakes import (
    TESTED,
    RankedScore,
    compare_rankings,
    errors_in_order,
    linearised_scores,
    metrics_of,
    reference_score,
)
from uqassay.evidence.order import loss_name, order_of
from uqassay.evidence.pair_tests import mean_metrics
from uqassay.evidence.ranking import metric_label
from uqassay.evidence.sentences import advice, calibration_sentences, claim, measure_label
from uqassay.evidence.sets import ALPHA, models_with_sets, set_scores_of, shown_rule, vote_shares
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.measures.registry import SCORES
from uqassay.metrics.certified_thresholds import divide
from uqassay.metrics.ranking import RANKING_METRICS
from uqassay.metrics.reliability_diagrams import inner_edges
from uqassay.metrics.risk import detectable_gain, independent_instances
from uqassay.metrics.sets import CLASS_SET_SCORES
from uqassay.predictions.sets import NO_CLASS
from uqassay.report.definitions import calibration_definitions, score_label
from uqassay.report.sentences import BEST as BEST_SHOWN
from uqassay.report.sentences import (
    Refused,
    backward_note,
    cautions,
    comparison_note,
    confidence_finding,
    confidence_text,
    decimals_of,
    epistemic_sentence,
    few_scores,
    mistakes_sentences,
    outcome_text,
    refusal_sentence,
    reliability_sentences,
    remarks,
    sentences_around_tests,
    undefined_text,
    view_sentences,
    why_absent,
    why_nothing,
    words_of_test,
)
from uqassay.statistics import Estimate, RankSets
from uqassay.statistics.units import ascending_order, weighted_mean
from uqassay.text import (
    count,
    counted,
    level_text,
    listed,
    listed_names,
    named,
    number,
    part_of,
    percent,
    percent_interval,
    tradeoff,
)

if TYPE_CHECKING:
    from uqassay.evidence.mistakes import ModelRefusal
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores, SetSample
    from uqassay.metrics.certified_thresholds import RefusalParts
    from uqassay.metrics.expected_cost import ExpectedCost
    from uqassay.metrics.risk import SelectiveGain
    from uqassay.statistics import PairwiseComparisons

__all__ = [
    "COVERAGES",
    "LIMITS",
    "PLAIN_METRICS",
    "PRICES_SHOWN",
    "RANKING_METRICS_SHOWN",
    "InstancePacker",
    "best_scores",
    "calibration_section",
    "confidence_lines",
    "densities",
    "mean_regions",
    "mistakes_section",
    "packed",
    "packed_decimals",
    "parts_section",
    "probability_codes",
    "rank_sets_section",
    "ranked_scores",
    "refusal_section",
    "risk_curve",
    "rounded",
    "sets_section",
    "single_instances",
    "votes_section",
]


# The page's section on parts of the test set: which model is best in every subgroup and every true class.

SHOWN_NAMES = 4  # before the others are counted
SHOWN_PARTS = 3  # subgroups of which the section speaks first
MOST_PARTS = 40  # of one subgroup; more are an identifier rather than a part of the test set
METRICS = {"unified": "{loss}", "accuracy": "accuracy", "distance": "mean distance", "nonspecificity": "mean NS"}
BEST = {
    "unified": "the lowest {loss}{at}",
    "accuracy": "the highest accuracy",
    "distance": "the lowest mean distance",
}  # a small set is good only where the label is in it, so that no model is best by non-specificity


def parts_section(assay: "Assay") -> dict[str, Any] | None:
    """Accuracy, distance, non-specificity and E of each model in each subgroup and each true class.

    Returns
    -------
    dict or None
        "finding": what the section says first; "metrics": names of the metrics; "tables": one per subgroup, with its "parts",
        and by metric the "views": one per λ of the findings for E, one for any other metric, each with the "best" model of
        every part, a "sentence" and a "caption". None where no subgroup has two parts.
    """
    kinds = [name for name, values in assay.subgroups.items() if 1 < len(np.unique(values)) <= MOST_PARTS]
    if assay.n_classes <= MOST_PARTS and not assay.of_answers:
        kinds.append("class")
    tables = [table for table in (_table(assay, by) for by in kinds) if len(table["parts"]) > 1]
    if not tables:
        return None
    text = {
        "none": "no such cases",
        "by": " by ",
        "parts": "Parts",
        "metric": "Metric",
        "part": "Parts of the test set",
    }
    metrics = {name: METRICS[name] for name in _metrics_of_parts(assay)} | {"unified": loss_name(assay)}
    near = _nearest(assay, DEFAULT_TRADEOFF)
    views = [table["views"]["unified"][near] for table in tables if table["by"] != "class" or len(tables) == 1]
    views.sort(key=lambda view: len(set(view["best"] or ())), reverse=True)  # the parts that differ are told first
    more = f"See below for {counted(len(views) - SHOWN_PARTS, 'more subgroup')}." if len(views) > SHOWN_PARTS else ""
    finding = " ".join([*(view["sentence"] for view in views[:SHOWN_PARTS]), more]).strip()
    return {"finding": finding, "tables": tables, "metrics": metrics, "tradeoffs": list(assay.tradeoffs), "text": text}


def _metrics_of_parts(assay: "Assay") -> tuple[str, ...]:
    return ("unified", "accuracy") if assay.of_answers else tuple(METRICS)


def _nearest(assay: "Assay", tradeoff: float) -> int:
    return min(range(len(assay.tradeoffs)), key=lambda i: abs(assay.tradeoffs[i] - tradeoff))


def _table(assay: "Assay", by: str) -> dict[str, Any]:
    cells = _cells(assay, by)
    parts = [{"part": part, "models": models} for part, models in cells.items()]
    title = "true class" if by == "class" else by
    views = {metric: [_view(assay, title, parts, metric)] for metric in _metrics_of_parts(assay) if metric != "unified"}
    views["unified"] = [_view(assay, title, parts, "unified", place) for place in range(len(assay.tradeoffs))]
    return {"by": by, "title": title, "parts": parts, "views": views}


def _cells(assay: "Assay", by: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Estimate and ends of every metric by part and model; those of E one per λ of the findings."""
    distance = assay.settings.distance_metric
    cells: dict[str, dict[str, dict[str, Any]]] = {}
    for row in subset_rows(assay, by, ranking=False, metrics=("accuracy", distance, "nonspecificity", "unified")):
        if row["model"] not in assay.model_names:
            continue
        mine = cells.setdefault(row["subset"], {}).setdefault(row["model"], {"n": row["n"], "unified": []})
        interval = [float(f"{row[end]:.6g}") for end in ("estimate", "low", "high")]  # more than is shown
        if row["metric"] == "unified":
            mine["unified"].append([row["tradeoff"], *interval])
        else:
            mine["distance" if row["metric"] == distance else row["metric"]] = interval
    return cells


def _view(assay: "Assay", title: str, parts: Sequence[dict[str, Any]], metric: str, place: int = 0) -> dict[str, Any]:
    """Who is best in every part by one metric (at one λ), and what that amounts to."""
    judged = metric in BEST and len(assay.model_names) > 1
    loss, where = loss_name(assay), f" at λ = {tradeoff(assay.tradeoffs[place])}" if order_of(assay).priced else ""
    at = f"{loss}{where}" if metric == "unified" else METRICS[metric]
    marks = "; bold: the best of a part" if judged else ""
    rest = f"{marks}; intervals are not adjusted for the number of parts."
    at = f"{at[0].upper()}{at[1:]}"
    view = {"best": None, "caption": f"{at}{rest}", "caption_near": f"{at}, the nearest λ of the findings{rest}"}
    if not judged:
        single = len(assay.model_names) == 1
        return view | {"sentence": _range(assay, title, parts, metric, place) if single else ""}
    best = [_best(assay.model_names, part["models"], metric, place) for part in parts]
    what = BEST[metric].format(loss=loss, at=where)
    won = Counter(best)
    (first, n), *others = sorted(
        ((name, won[name]) for name in assay.model_names if won[name]), key=lambda pair: -pair[1]
    )
    won_in = f"{n} of the {len(parts)} parts by {title}"
    if others:
        rest_of = listed([f"{named(name)} in {k}" for name, k in others], most=SHOWN_NAMES)
        sentence = f"{first} has {what} in {won_in}, {rest_of}."
    else:
        sentence = f"{first} has {what} in {'both' if len(parts) == 2 else f'all {len(parts)}'} parts by {title}."
    return view | {"best": best, "sentence": sentence}


def _range(assay: "Assay", title: str, parts: Sequence[dict[str, Any]], metric: str, place: int) -> str:
    """Between which parts the value of the only model differs most."""
    (name,) = assay.model_names

    def value(part: dict[str, Any]) -> float:
        found = part["models"][name]
        return float(found["unified"][place][1] if metric == "unified" else found[metric][0])

    least, most = min(parts, key=value), max(parts, key=value)
    low, high = (percent(value(p)) if metric == "accuracy" else number(value(p), bounded=True) for p in (least, most))
    at = f" at λ = {tradeoff(assay.tradeoffs[place])}" if metric == "unified" and order_of(assay).priced else ""
    what = METRICS[metric].format(loss=loss_name(assay))
    return f"By {title}, the {what} of {name}{at} goes from {low} ({least['part']}) to {high} ({most['part']})."


def _best(names: Sequence[str], models: dict[str, dict[str, Any]], metric: str, place: int) -> str:
    """The best model of one part; of equal ones the first."""

    def loss(name: str) -> float:
        if metric == "unified":
            return float(models[name]["unified"][place][1])
        value = float(models[name][metric][0])
        return -value if metric == "accuracy" else value

    return min((name for name in names if name in models), key=loss)


# Rank sets of the page: which ranks each model can have by metrics that do not depend on λ.

PLAIN_METRICS = ("accuracy", "log-loss", "brier")
RANKING_METRICS_SHOWN = ("uq-auc", "uq-c-index", "aurc", "augrc", "prediction-rejection")


def rank_sets_section(assay: "Assay") -> dict[str, Any] | None:
    """Rank sets by each metric, best model first.

    Returns
    -------
    dict or None
        "metrics": one entry per metric (and score that ranks the mistakes) with its "label" and "rows", models and baselines by
        their value, each with its place among the models of the page, and the ranks "low" and "high" and "top" of models.
        None for a single model. A metric that is undefined for all models is left out.

    Examples
    --------
    >>> import uqassay as uq
    >>> right, wrong = uq.Point([[0.8, 0.2]] * 300), uq.Point([[0.3, 0.7]] * 300)
    >>> section = rank_sets_section(uq.assay({"a": right, "b": wrong}, [0] * 300))
    >>> section["metrics"][0]["label"], [row["high"] for row in section["metrics"][0]["rows"]]
    ('accuracy', [1, None, 2])
    """
    if len(assay.candidates) < 2:
        return None
    scores = dict.fromkeys(reference_score(assay, name) for name in assay.model_names)
    known = mean_metrics(assay)
    wanted: list[tuple[str, str | None]] = [(metric, None) for metric in PLAIN_METRICS if metric in known]
    wanted += [
        (metric, score) for score in scores if score is not None for metric in metrics_of(assay, RANKING_METRICS_SHOWN)
    ]
    places = {m.name: j for j, m in enumerate(assay.models)}
    metrics = []
    for metric, score in wanted:
        found = assay.rank_sets(metric=metric, score=score)
        if np.isnan(found.values).all():
            continue
        label = metric_label(metric, "" if score is None else score_label(score))
        metrics.append({"metric": metric, "score": score, "label": label, "rows": _rows(found, places)})
    return {"metrics": metrics}


def _rows(found: RankSets, places: dict[str, int]) -> list[dict[str, Any]]:
    """Models and references from the best value to the worst, undefined ones last."""
    compared, sign = found.comparisons, -1.0 if found.greater_is_better else 1.0
    order = np.argsort(sign * compared.values, kind="stable")  # nan last
    ranked = {name: k for k, name in enumerate(found.names)}
    rows = []
    for i in order.tolist():
        name = compared.names[i]
        row: dict[str, Any] = {"j": places[name], "value": float(compared.values[i])}
        k = ranked.get(name)
        ranks = (None, None, None) if k is None else (int(found.low[k]), int(found.high[k]), bool(found.top[k]))
        rows.append(row | dict(zip(("low", "high", "top"), ranks, strict=True)))
    return rows


# Numbers with as many significant digits as the page may show.


def rounded(values: Iterable[float], digits: int) -> list[float]:
    """The numbers that `digits` significant digits stand for.

    Examples
    --------
    >>> rounded(np.array([0.123456, 1234.56, np.inf]), 3)
    [0.123, 1230.0, inf]
    """
    numbers = values.tolist() if isinstance(values, np.ndarray) else [float(x) for x in values]
    # one format for all of them: the page has hundreds of thousands
    return list(map(float, (f"%.{digits}g " * len(numbers) % tuple(numbers)).split()))


# The page's section on whether a model knows when it is wrong: refusal, ranking metrics, curves, paired tests.

FIRST_SCORE, FIRST_SHARE = "total-entropy", 0.1  # that the section begins with
REFUSED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
COVERAGES = (0.01, *(i / 100 for i in range(2, 101, 2)))
TABLED = ("uq-auc", "uq-c-index", "aurc", "e-aurc", "augrc", "prediction-rejection")
AT_AN_END = ("edge",)  # code of the note that a share kept has no error


def mistakes_section(assay: "Assay") -> dict[str, Any] | None:
    """Refusal and paired tests of every model and score; None where no model has a score.

    Returns
    -------
    dict
        "finding": what the section says first; "first": the score and the share that this is about. "scores": every score of
        some model, "known" where it has a definition, "offered" where it can be chosen; "refused": shares; "compared": the
        metrics of the paired tests. "models": one entry per model with its "best" score (None without mistakes or right
        predictions), "unmixed" (what it makes where that is so), the scores that are "constant", and under "scores" of each
        other score "refusals" (per share the accuracy of what is kept and the gain, each with its ends; none of an unmixed
        model), "backward" (whether it is in `Assay.backward`) and "undefined" (per metric why it has no value).
        "comparisons": matrices over the models of each score and over the scores of each model.
        "views": sentences that follow the chosen score; "text": all others; "cautions". The estimates of the ranking metrics
        are among the findings. Where nothing can be ranked, there is only the "finding".
    """
    found = _Found(assay)
    if not found.estimates:
        return None
    if not any(found.best.values()):
        return {"finding": why_nothing(found.unmixed)}
    names = list(dict.fromkeys(score for _, score, _ in found.estimates))
    mixed = [m for m in assay.model_names if not found.unmixed[m]]
    offered = [s for s in names if any(s in found.ranked[m] for m in mixed)]
    cautions = remarks(assay, {(m, s): found.estimates[m, s, "uq-auc"] for m in mixed for s in found.ranked[m]})
    views = [_mistakes_view(found, score, cautions) for score in (BEST_SHOWN, *offered)]
    epistemic = _epistemic(found)
    first = FIRST_SCORE if FIRST_SCORE in offered else BEST_SHOWN
    share = next(share for share in found.refused if share >= FIRST_SHARE)
    said = next(view["refusal"] for view in views if view["score"] == first)
    return {
        "finding": " ".join(filter(None, [said[found.refused.index(share)], epistemic])),
        "first": {"score": first, "share": share},
        "scores": [{"score": s, "label": score_label(s), "known": s in SCORES, "offered": s in offered} for s in names],
        "refused": found.refused,
        "compared": list(metrics_of(assay, TESTED)),
        "tabled": [
            [metric, "↑" if RANKING_METRICS[metric].higher_is_better else "↓"] for metric in metrics_of(assay, TABLED)
        ],
        "cautions": cautions,
        "text": mistakes_sentences(assay) | {"backward_note": backward_note(found.backward), "epistemic": epistemic},
        "views": views,
        "models": [_model(found, m) for m in assay.model_names],
        "comparisons": _comparisons(found),
    }


class _Found:
    """Results that the section needs, computed once: estimates, scores that rank, refusals."""

    def __init__(self, assay: "Assay") -> None:
        self.assay = assay
        self.estimates: dict[tuple[str, str, str], Estimate] = {
            (r.model, r.score, r.metric): r.estimate for r in assay.mistake_ranking() if r.run is None
        }
        self.statistics = {
            (r.model, r.score, r.metric): r.statistic
            for r in assay.mistake_ranking()
            if r.run is None and r.metric in TESTED
        }
        least = 1 / assay.n_instances  # less than one instance is nobody's share
        self.refused = [share for share in REFUSED if share >= least]
        self.ranked = {m: ranked_scores(assay, m) for m in assay.model_names}
        self.best = best_scores(assay)
        self.unmixed = {m: _unmixed(assay, m) for m in assay.model_names}
        self.backward = assay.backward
        self.fast = with_numbered_groups(assay)
        self.refusals: dict[tuple[str, str], list[SelectiveGain]] = {}
        self._adjusted: dict[tuple[str, str, int], list[SelectiveGain]] = {}
        for m, scores in self.ranked.items() if any(self.best.values()) else ():
            first = errors_in_order(assay, assay[m])
            for s in scores:
                if not self.unmixed[m]:
                    ranked = RankedScore(self.fast, m, s, like=first)
                    self.refusals[m, s] = ranked.refusals([1 - share for share in self.refused])

    def adjusted(self, model: str, score: str, choices: int) -> list["SelectiveGain"]:
        """The refusals with intervals that hold for whichever of so many models or scores the accuracy chooses."""
        if choices == 1:
            return self.refusals[model, score]
        if (model, score, choices) not in self._adjusted:
            level = 1 - (1 - self.assay.settings.level) / choices
            ranked = RankedScore(
                self.fast, model, score, level=level, like=errors_in_order(self.assay, self.assay[model])
            )
            self._adjusted[model, score, choices] = ranked.refusals([1 - share for share in self.refused])
        return self._adjusted[model, score, choices]

    def constant(self, model: str) -> list[str]:
        return [s for s in self.assay.uncertainty_names(model) if s not in self.ranked[model]]

    def chosen(self, model: str, score: str) -> str | None:
        """The score of a model that is meant by one, or by `BEST_SHOWN`."""
        own = score or self.best[model]
        return own if own in self.ranked[model] else None


def _mistakes_view(found: _Found, score: str, cautions: Sequence[str]) -> dict[str, Any]:
    """Sentences that follow the chosen score, and notes on the refusals at every share."""
    assay, absent = found.assay, {}
    judged = {m: own for m in assay.model_names if (own := found.chosen(m, score)) and not found.unmixed[m]}
    for m in assay.model_names:
        if m not in judged:
            first = found.estimates[m, found.ranked[m][0], "uq-auc"] if found.ranked[m] else None
            absent[m] = why_absent(found.unmixed[m], score, found.constant(m), first)
    told = {
        (m, metric): found.estimates[m, own, metric]
        for m, own in judged.items()
        for metric in metrics_of(assay, TABLED)
    }
    notes = [remark for remark in remarks(assay, told) if remark not in cautions]
    ends = [
        {(m, ""): found.refusals[m, own][k].accuracy_kept for m, own in judged.items()}
        for k in range(len(found.refused))
    ]
    view = view_sentences(assay, score, absent, notes)
    return view | {
        "refusal": [
            refusal_sentence(assay, share, view["by"], _refused(found, score, judged, k))
            for k, share in enumerate(found.refused)
        ],
        "refusal_notes": [" ".join(remarks(assay, kept, AT_AN_END)) for kept in ends],
    }


def _epistemic(found: _Found) -> str:
    """How well epistemic uncertainty alone ranks the mistakes, by the first such score that all models with sets have."""
    assay = found.assay
    scores = [s for s in assay.settings.measures if s in SCORES and SCORES[s].epistemic]
    stated = {m: [s for s in scores if s in found.ranked[m]] for m in assay.model_names if not found.unmixed[m]}
    stated = {m: own for m, own in stated.items() if own}
    common = [s for s in scores if all(s in own for own in stated.values())]
    if not stated or not common:
        return ""
    score = common[0]
    top = assay.rank_sets(metric="uq-auc", score=score).top_names if len(stated) > 1 else tuple(stated)
    return epistemic_sentence(score_label(score), {m: found.estimates[m, score, "uq-auc"] for m in stated}, top)


def _refused(found: _Found, score: str, judged: Mapping[str, str], k: int) -> list[Refused]:
    """Each model's refusal of one share, with the digits of the page; of the one told, intervals adjusted for its choice."""
    kept_by = {m: float(found.refusals[m, own][k].accuracy_kept) for m, own in judged.items()}
    told = max(kept_by, key=kept_by.__getitem__)
    choices = sum(len(found.ranked[m]) for m in judged) if score == BEST_SHOWN and len(judged) > 1 else len(judged)
    out = []
    for m, own in judged.items():
        refusal = found.adjusted(m, own, choices)[k] if m == told else found.refusals[m, own][k]
        kept, kept_low, kept_high, gain, low, high = _six(refusal)
        accuracy = float(refusal.accuracy_all)
        shown = _shown_gain(refusal) if m == told and low <= 0 <= high else np.nan
        out.append(Refused(m, score_label(own), accuracy, (kept, kept_low, kept_high), (gain, low, high), shown))
    return out


def _shown_gain(refusal: "SelectiveGain") -> float:
    """The smallest gain that could have been shown by so many instances, or by groups that tell as much as so many."""
    every, level = refusal.accuracy_all, refusal.gain.level
    n = independent_instances(float(every), every.low, every.high, level=every.level, most=every.n)
    return detectable_gain(1 - float(every), refusal.coverage, n, level=level)


def _six(refusal: "SelectiveGain") -> list[float]:
    """Accuracy of the instances kept and the gain, each with its interval, with the digits of the page."""
    kept, gain = refusal.accuracy_kept, refusal.gain
    return rounded([kept, kept.low, kept.high, gain, gain.low, gain.high], 5)


def _model(found: _Found, model: str) -> dict[str, Any]:
    return {
        "model": model,
        "best": found.best[model],
        "unmixed": found.unmixed[model],
        "constant": found.constant(model),
        "few_scores": few_scores(model, found.unmixed[model]),
        "scores": [_one_score(found, model, s) for s in found.ranked[model]],
    }


def ranked_scores(assay: "Assay", model: str) -> tuple[str, ...]:
    """Scores of a model that differ between instances; the others rank nothing.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Members([[[0.9, 0.1]] * 2, [[0.6, 0.4]] * 2])}, [0, 1])
    >>> "epistemic-entropy" in a.uncertainty_names("m"), "epistemic-entropy" in ranked_scores(a, "m")
    (True, False)
    """
    columns = assay[model].columns
    return tuple(s for s in assay.uncertainty_names(model) if (columns[s] != columns[s][:, :1]).any())


def best_scores(assay: "Assay") -> dict[str, str | None]:
    """Each model's score of the highest UQ-AUC, or None where none is defined.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = uq.Point([[0.8, 0.1, 0.1], [0.6, 0.4, 0.0], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
    >>> best_scores(uq.assay({"m": p}, [0, 0, 1, 1]))
    {'m': 'least-confidence'}
    """
    found: dict[str, list[tuple[float, str]]] = {model: [] for model in assay.model_names}
    ranked = {model: ranked_scores(assay, model) for model in found}
    for r in assay.mistake_ranking():
        if r.run is None and r.metric == "uq-auc" and r.score in ranked[r.model] and not np.isnan(r.estimate):
            found[r.model].append((float(r.estimate), r.score))
    return {m: max(pairs, key=lambda pair: pair[0])[1] if pairs else None for m, pairs in found.items()}


def _unmixed(assay: "Assay", model: str) -> str:
    """Note for a model with no errors or no correct predictions; else empty."""
    if not assay[model].predicts_classes:
        return "no prediction of a single class"
    correct = assay[model].columns["correct"]
    return "no mistake" if (correct == 1).all() else "only mistakes" if (correct == 0).all() else ""


def _one_score(found: _Found, model: str, score: str) -> dict[str, Any]:
    undefined = {metric: found.estimates[model, score, metric] for metric in metrics_of(found.assay, TESTED)}
    return {
        "score": score,
        "refusals": [_six(refusal) for refusal in found.refusals.get((model, score), ())],
        "backward": any((b.model, b.score) == (model, score) for b in found.backward),
        "undefined": {metric: undefined_text(e) for metric, e in undefined.items() if np.isnan(e)},
    }


def risk_curve(assay: "Assay", model: str, score: str, coverages: Sequence[float]) -> Floats:
    """Risk, low and high of `Assay.risk_coverage`, ``(3, B)``.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])}, [0, 0, 0, 1])
    >>> risk_curve(a, "m", "total-entropy", [0.75, 1.0])[0].tolist()
    [0.0, 0.25]
    """
    return RankedScore(assay, model, score).curve(coverages)


def _comparisons(found: _Found) -> list[dict[str, Any]]:
    """Paired tests over the models, by the best score of each and by each score, and over the scores of each model."""
    names = dict.fromkeys(score for scores in found.ranked.values() for score in scores)
    over_models = {BEST_SHOWN: [(m, s) for m, s in found.best.items() if s is not None]}
    over_models |= {score: [(m, score) for m, scores in found.ranked.items() if score in scores] for score in names}
    over_scores = {m: [(m, score) for score in scores] for m, scores in found.ranked.items()}
    out = []
    for metric in metrics_of(found.assay, TESTED):
        pairs = [(m, s) for m, scores in found.ranked.items() for s in scores]
        kept_before = {p: one for p in pairs if (one := found.statistics[*p, metric]) is not None}
        missing = [p for p in pairs if p not in kept_before and not np.isnan(found.estimates[*p, metric])]
        known = {**kept_before, **linearised_scores(found.fast, missing, metric=metric)}
        for key, row, families in (("score", 0, over_models), ("model", 1, over_scores)):
            for name, members in families.items():
                absent = [pair for pair in members if np.isnan(found.estimates[*pair, metric])]
                kept = [pair for pair in members if pair not in absent]
                if len(kept) > 1:
                    tests = compare_rankings(found.fast, kept, metric=metric, known=known)
                    labelled = [(score_label(pair[1]) if row else pair[0], pair) for pair in absent]
                    note = comparison_note(
                        found.assay,
                        metric,
                        len(kept),
                        best=(key, name) == ("score", BEST_SHOWN),
                        absent=[(label, found.estimates[*pair, metric]) for label, pair in labelled],
                    )
                    rows = [pair[row] for pair in kept]
                    out.append({"metric": metric, key: name, "rows": rows, "note": note, **_matrix(tests)})
    return out


def _matrix(found: "PairwiseComparisons") -> dict[str, Any]:
    """The values, whose differences the page computes, and of each pair below the diagonal, row by row, the ends of row minus
    column, the adjusted p-value and, where it rejects nothing, the difference that could have been shown (None: no difference).
    """
    below = np.tril_indices(len(found.names), -1)
    low, high = found.low[below], found.high[below]
    widths = (high - low)[high > low] / 2
    places = 5 if not widths.size else int(np.clip(2 - np.floor(np.log10(np.median(widths))), 3, 9))
    ends = [np.round(end, places).tolist() for end in (low, high)]
    adjusted = found.adjusted[below]
    shown = (
        np.zeros(adjusted.size) if found.detectable is None else np.nan_to_num(found.detectable[below], posinf=np.inf)
    )
    told = [0 if p <= 1 - found.level else d for p, d in zip(adjusted.tolist(), _two_digits(shown), strict=True)]
    return {"values": rounded(found.values, 9), "pairs": [*ends, rounded(adjusted, 3), told]}


def _two_digits(values: "Floats") -> list[float | None]:
    """Numbers with two significant digits; None for infinity."""
    finite = np.where(np.isfinite(values) & (values > 0), values, 1.0)
    step = 10.0 ** (1 - np.floor(np.log10(finite)))
    short = np.where(values > 0, np.round(finite * step) / step, 0.0)
    return [None if infinite else v for v, infinite in zip(short.tolist(), np.isinf(values).tolist(), strict=True)]


# The page's section on deploying a model that refuses: certified limits of the error rate, and the expected cost.

LIMITS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)  # of the error rate of the cases kept
MOST_LIMITS = 4
PRICES_SHOWN = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # of passing a case on
CHOOSING = 0.3  # share of the instances that choose, as in `uqassay refuse`
RUN = 0  # of models that have several
NOT_CERTIFIED = "No limit of the error rate is certified, because that counts cases and these are weighted."


def refusal_section(assay: "Assay") -> dict[str, Any] | None:
    """Thresholds with certified error rates, and the cost of refusing at several prices, of models with an uncertainty score.

    The choosing part of `Assay.certified_refusal` also chooses the limits: the `LIMITS` below the lowest error rate in it, at
    most the highest four, and for the finding the one nearest to half of this error rate. Therefore the confidence of a row
    does not depend on the choice of its limit.

    Returns
    -------
    dict or None
        "finding": what the section says first; "limits": one entry per limit, the lowest first; "costs": one entry per model
        with the estimates at "prices"; "text". None of label distributions, where no model has a score, and where fewer than
        two instances (groups) cannot both choose and certify.
    """
    scores = {name: score for name in assay.model_names if (score := reference_score(assay, name)) is not None}
    units = assay.n_instances if assay.groups is None else np.unique(assay.groups).size
    if assay.labels.ndim == 2 or not scores or units < 2:
        return None
    assay = with_numbered_groups(assay)
    costs = {name: assay.expected_cost(name, prices=PRICES_SHOWN, run=RUN) for name in scores}
    of_costs = {"prices": PRICES_SHOWN, "costs": [_cost(assay, name, scores, costs[name]) for name in scores]}
    if assay.weights is not None:
        text = _text(assay, scores, None) | {"none": NOT_CERTIFIED}
        return {"finding": NOT_CERTIFIED, "limits": [], **of_costs, "text": text}
    parts = divide(assay.n_instances, assay.groups, None, CHOOSING, None)
    rates = {name: 1 - float(assay[name].columns["correct"][RUN][parts.choosing].mean()) for name in scores}
    best = min(rates, key=rates.__getitem__)
    shown = [limit for limit in LIMITS if limit < rates[best]][-MOST_LIMITS:]
    found = [
        assay.certified_refusal(
            score=list(dict.fromkeys(scores.values())),
            risk=limit,
            confidence=assay.settings.level,
            run=RUN,
            choosing=parts.choosing,
        )
        for limit in shown
    ]
    told = [found[k] for k in _told(shown, rates[best])]
    return {
        "finding": _finding(told[0]) if told else _no_limit(best, rates[best]),
        "limits": [_limit(one) for one in found],
        **of_costs,
        "text": _text(assay, scores, parts) | {"none": "" if found else _no_limit(best, rates[best])},
    }


def _told(limits: Sequence[float], rate: float) -> list[int]:
    """The place of the limit that the finding quotes."""
    return sorted(range(len(limits)), key=lambda k: abs(limits[k] - rate / 2))[:1]


# -- values ------------------------------------------------------------------------------------------------------------


def _limit(found: "ModelRefusal") -> dict[str, Any]:
    refusal = found.refusal
    return {
        "limit": f"{100 * refusal.risk:g} %",
        "model": found.model,
        "run": "" if found.run is None else f"run {found.run + 1}",
        "threshold": _threshold(found.threshold),
        "score": score_label(found.score) if math.isfinite(found.threshold) else "",
        "certified": found.certified,
        "kept": _ends(refusal.coverage) if found.certified else [None] * 3,
        "observed": float(refusal.observed_risk),
        "of": f"of {counted(refusal.observed_risk.n, 'case')}" if found.certified else "",
        "sentence": found.sentence(),
    }


def _threshold(value: float) -> str:
    """In full, so that it can be copied."""
    if math.isnan(value):
        return "cannot be certified"
    return "every case" if math.isinf(value) else f"≤ {value!r}"


def _cost(assay: "Assay", name: str, scores: Mapping[str, str], found: "ExpectedCost") -> dict[str, Any]:
    """Cost with its ends and share passed on at each price; whether it is shown to be lower than that of both simple rules."""
    several = len(set(scores.values())) > 1
    about = [score_label(scores[name])] if several else []
    about += [f"run {RUN + 1}"] if assay[name].n_runs > 1 else []
    return {
        "model": name,
        "about": ", ".join(about),
        "every": _ends(found.keep_all),
        "costs": [_ends(cost) for cost in found.costs],
        "passed": [f"{percent(1 - kept)} passed on" for kept in found.kept],
        "saves": [saving.low > 0 for saving in found.savings],
    }


def _ends(estimate: "Estimate") -> list[float]:
    return rounded((float(estimate), estimate.low, estimate.high), 6)  # more than is shown


# -- sentences ---------------------------------------------------------------------------------------------------------


def _finding(found: "ModelRefusal") -> str:
    refusal = found.refusal
    limit, sure = f"at most {100 * refusal.risk:g} %", f"{level_text(refusal.confidence)} confidence"
    model = found.model if found.run is None else f"{found.model} (run {found.run + 1})"
    by = f"the {score_label(found.score)} of {model}"
    if not found.certified:
        n = counted(refusal.n_certifying, "certifying case")
        return f"No threshold on {by} is certified to keep {limit} errors ({sure}, {n})."
    if math.isinf(refusal.threshold):
        return f"Without refusing any case of {model}, {limit} of new cases are wrong ({sure})."
    kept = f"keeps {percent(float(refusal.coverage), in_sentence=True)} of the cases"
    return f"Refusing by {by} {kept}, and {limit} of the new cases kept are wrong ({sure})."


def _no_limit(model: str, rate: float) -> str:
    wrong = f"{model} is wrong on {percent(rate, in_sentence=True)} of the cases that choose"
    return f"{wrong}, no more than the lowest limit here ({100 * LIMITS[0]:g} %), so no refusal is certified."


def _text(assay: "Assay", scores: Mapping[str, str], parts: "RefusalParts | None") -> dict[str, Any]:
    level = level_text(assay.settings.level)
    labels = listed([score_label(score) for score in dict.fromkeys(scores.values())], last="or")
    heads = {
        "limit": "Errors at most",
        "model": "Model",
        "threshold": "Keep",
        "kept": "Share kept",
        "observed": "Errors seen",
        "price": "Price",
    }
    return {
        "lead": _lead(assay, scores, labels, parts),
        "limits_title": "Limits of the error rate",
        "limits_caption": (
            f"Each limit holds with {level} confidence by itself, not all rows together. "
            "Errors seen: among the certifying cases that are kept."
        ),
        "words": "Each limit in words",
        "costs_title": "What refusing costs",
        "costs_note": (
            f"A mistake costs 1, passing a case on costs the price. Cases are passed on by {labels}. Each half of the "
            "cases is judged by the threshold that the other half chose."
        ),
        "costs_caption": (
            f"Expected cost per case with {level} intervals, each by itself. Bold: shown to be lower than keeping every case "
            "and than passing every case on, which costs the price. No test compares the models."
        ),
        "every": "keep every case",
        "heads": heads,
        "undefined": "no threshold is certified",
        "remarks": _remarks(assay, scores),
    }


def _lead(assay: "Assay", scores: Mapping[str, str], labels: str, parts: "RefusalParts | None") -> str:
    """Who chose, who certified, and for which cases it holds."""
    kept = f"A case is kept if its score ({labels}) is at most the threshold"
    kept = f"{kept}; the others are passed on, for example to a person."
    if parts is None:
        return kept
    chose, n = int(parts.choosing.sum()), assay.n_instances
    model = ", the model and" if len(scores) > 1 else " and"
    part = f"{percent(CHOOSING, 0)} of the {'cases' if assay.groups is None else 'groups'}"
    return (
        f"{kept} {part}, drawn at random ({counted(chose, 'case')}), chose the limits below{model} the threshold; the "
        f"other {count(n - chose)} certified it. New cases must come from the same source. "
        "“uqassay refuse” certifies any limit, and chooses among all scores."
    )


def _remarks(assay: "Assay", scores: Mapping[str, str]) -> list[str]:
    said = []
    if any(assay[name].n_runs > 1 for name in scores):
        said.append(
            f"Models with several training runs are judged by run {RUN + 1}: a threshold belongs to one trained model."
        )
    absent = [name for name in assay.model_names if name not in scores]
    if absent:
        names = listed_names(absent, most=SHOWN_NAMES)
        said.append(f"Left out, without a score to refuse by: {names}.")
    return said


# The page's section on calibration: tests of the mixtures of an ensemble's members, and how far off the confidence is.


def calibration_section(assay: "Assay") -> dict[str, Any] | None:
    """Reliability of every model's confidence, and the tests of `Assay.calibration` where something was tested.

    Returns
    -------
    dict, or None if no model states probabilities
        "finding": what the section says first; "models": the mean confidence of each model ("confidence_all"), how it is
        "judged", and where overconfidence is "shown"; "text": sentences around them. With tests also "title", and "tests":
        "alpha", "further" (sentences on all tests after the finding), "cautions", "text", the "measures" with their
        "definitions", and "rows", one per model, run and measure, with the p-value adjusted by Holm for all rows, the outcome,
        its words, and values and p-values of the mean and of single members.
    """
    tested = any(t.tested != "nothing" for t in assay.calibration)
    models = _confidences(assay)
    if not models:
        return None
    section = {
        "models": models,
        "text": reliability_sentences(assay.settings.level, votes=assay.labels.ndim == 2, tested=tested),
    }
    if not tested:
        return section | {"finding": confidence_finding({m["model"]: m["judged"] for m in models})}
    tests = _tests(assay)
    return section | {"finding": tests.pop("finding"), "title": "Can it be calibrated?", "tests": tests}


# -- the tests ---------------------------------------------------------------------------------------------------------


def _tests(assay: "Assay") -> dict[str, Any]:
    alpha = 1 - assay.settings.level
    judged = judged_tests(assay.calibration, alpha, points=point_models(assay))
    n_tests = sum(j.outcome != "undefined" for j in judged)
    measures = {j.test.measure: j.test.notion for j in judged}
    finding, *further = calibration_sentences(judged) if len(judged) > 1 else (claim(judged[0]), *advice(judged[0]))
    return {
        "finding": finding,
        "alpha": float(f"{alpha:.6g}"),
        "n_tests": n_tests,
        "further": " ".join(further),
        "cautions": cautions(judged),
        "text": sentences_around_tests(judged, n_tests),
        "width_places": decimals_of(j.test.width for j in judged),
        "measures": [_measure(measure, notion, judged) for measure, notion in measures.items()],
        "definitions": {name: d._asdict() for name, d in calibration_definitions(measures).items()},
        "rows": [_row(assay, j) for j in judged],
    }


def _measure(measure: str, notion: str, judged: Iterable[JudgedTest]) -> dict[str, Any]:
    mine = [j.test for j in judged if j.test.measure == measure]
    return {
        "measure": measure,
        "label": measure_label(measure),
        "property": property_of(notion),
        "places": decimals_of(v for t in mine for v in (t.statistic, t.mean_value)),
    }


def _row(assay: "Assay", judged: JudgedTest) -> dict[str, Any]:
    t = judged.test
    n_runs = len({other.run for other in assay.calibration if other.model == t.model})
    return {
        "model": t.model,
        "run": t.run,
        "run_label": f"run {t.run + 1}" if n_runs > 1 else "",
        "measure": t.measure,
        "outcome": judged.outcome,
        "said": outcome_text(judged),
        "words": words_of_test(judged),
        "statistic": _short(t.statistic, 7),
        "pvalue": _short(judged.adjusted, 4),
        "n_members": t.n_members,
        "mean": [_short(t.mean_value, 7), _short(t.mean_pvalue, 4)],
        "members": [_short(v, 4) for v in t.member_values],
        "member_pvalues": [_short(p, 3) for p in t.member_pvalues],
        "width": _short(t.width, 4),
        "notes": [note.to_dict() for note in t.notes],
    }


# -- bins --------------------------------------------------------------------------------------------------------------


def _confidences(assay: "Assay") -> list[dict[str, Any]]:
    """The mean confidence of each model, whether it agrees with its accuracy, and where it is shown to be too high or low."""
    accuracy = {r["model"]: r for r in assay.rows("findings") if (r["metric"], r["run"]) == ("accuracy", "all")}
    return [_confidence(assay, m.name, accuracy[m.name]) for m in assay.candidates if m.states_confidence]


def _confidence(assay: "Assay", model: str, accuracy: Mapping[str, Any]) -> dict[str, Any]:
    bins = assay.reliability(model)
    filled = bins.count > 0
    confidence = float(np.average(bins.confidence[filled], weights=bins.count[filled]))
    if assay.weights is not None:
        confidence = assay.overall(assay[model].columns["confidence"])
    gap = confidence - accuracy["estimate"]
    return {
        "model": model,
        "confidence_all": confidence,
        "gap": gap,
        "judged": confidence_text(gap, accuracy["low"], accuracy["high"]),
        "shown": bins.sentence(),
    }


def _short(value: float, digits: int) -> float:
    """A number with as many significant digits as the page may show."""
    return float(f"{value:.{digits}g}")


# The page's section on sets as decisions: which classes each model's sets leave, and whether the label is among them.

NAMES_OF_SETS = 3  # before the others are counted
HEADS = {
    "model": "model",
    "coverage": "labels covered",
    "size": "classes left",
    "determinacy": "one class left",
    "single_accuracy": "right if one",
    "set_accuracy": "covered if several",
    "u65": "u65",
    "u80": "u80",
}
SHARES = ("coverage", "determinacy", "single_accuracy", "set_accuracy")
RULES = {
    "maximality": "A set rules a class out if another class is more probable under every distribution in it (maximality).",
    "interval-dominance": (
        "A set rules a class out if its upper probability is below the lower probability of another (interval dominance)."
    ),
}
AS_GIVEN = "Class sets leave the classes that they hold."
NOTE = (
    "Covered: the label is not ruled out. u65 and u80 are the worth of the set as a decision: 0 without the label, "
    "1 for the label alone, 0.65 and 0.80 for two classes with it."
)


def sets_section(assay: "Assay") -> dict[str, Any] | None:
    """Coverage, size and utility of the classes that are left, for each model with sets.

    Returns
    -------
    dict or None
        "finding": what the section says first; "models": scores with their intervals, by model; "text". None if no model has
        sets.
    """
    models, rule = [], shown_rule(assay)
    for model in models_with_sets(assay):
        found = set_scores_of(assay, model.name, rule)
        scores = {name: getattr(found, name) for name in CLASS_SET_SCORES}
        models.append({"model": model.name} | {name: [float(e), e.low, e.high] for name, e in scores.items()})
    if not models:
        return None
    stated = [m.predicts_classes for m in models_with_sets(assay)]
    how = [*([RULES[rule]] if any(stated) else []), *([] if all(stated) else [AS_GIVEN])]
    text = {"heads": HEADS, "note": " ".join([*how, NOTE]), "none": "no such cases"}
    return {
        "finding": _sets_finding(models),
        "models": models,
        "shares": SHARES,
        "text": text,
    }


def _sets_finding(models: list[dict[str, Any]]) -> str:
    said = [
        f"{m['model']} in {percent(m['coverage'][0], in_sentence=True)} of cases ({number(m['size'][0], 2)} classes on average)"
        for m in models[:NAMES_OF_SETS]
    ]
    rest = len(models) - NAMES_OF_SETS
    said += [f"{rest} {'other' if rest == 1 else 'others'} below"] if rest > 0 else []
    return f"The set contains the right class for {listed(said)}."


# The page's section on people's votes: could they come from the set, or from the mean, that a model states?

NAMES_OF_VOTES = 3  # before the others are counted
VOTES_HEADS = {"model": "model", "set": "votes from its set", "mean": "votes from its mean alone"}

FROM_POINTS = "votes from what it states"


def votes_section(assay: "Assay") -> dict[str, Any] | None:
    """Shares of the instances whose votes could come from each model's set and mean.

    Returns
    -------
    dict or None
        "finding": what the section says first; "models": both shares with their intervals, by model; "text". None where the
        labels were not given as numbers of votes.
    """
    shares = {model: vote_shares(assay, model) for model in assay.votes}
    if not shares:
        return None
    models = [
        {"model": model} | {of: _votes_ends(found.get(of)) for of in VOTES_HEADS if of != "model"}
        for model, found in shares.items()
    ]
    heads = (
        VOTES_HEADS
        if any("set" in found for found in shares.values())
        else {"model": VOTES_HEADS["model"], "mean": FROM_POINTS}
    )
    text = {"heads": heads, "note": _note(assay), "none": "states one distribution"}
    return {"finding": _votes_finding(shares), "models": models, "shares": tuple(VOTES_HEADS), "text": text}


def _votes_ends(share: Estimate | None) -> list[float | None]:
    return [None, None, None] if share is None else [float(share), share.low, share.high]


def _votes_finding(shares: dict[str, dict[str, Estimate]]) -> str:
    firsts = {model: found.get("set", found["mean"]) for model, found in shares.items()}
    said = {model: percent(first, in_sentence=True) for model, first in firsts.items()}
    of = {model: f"the set of {model}" if "set" in found else model for model, found in shares.items()}
    model, first = next(iter(firsts.items()))
    begin = f"Of {counted(first.n, 'case')}, an estimated {said[model]}"
    if len(shares) == 1:
        sure = "" if math.isnan(first.low) else f" ({percent_interval(first.low, first.high, in_sentence=True)})"
        mean = (
            f", {percent(shares[model]['mean'], in_sentence=True)} from its mean alone"
            if "set" in shares[model]
            else ""
        )
        return f"{begin}{sure} have votes that could come from {of[model]}{mean}."
    others = [f"{said[name]} from {of[name]}" for name in list(shares)[1:NAMES_OF_VOTES]]
    rest = len(shares) - NAMES_OF_VOTES
    others += [f"{rest} {'other' if rest == 1 else 'others'} below"] if rest > 0 else []
    return f"{begin} have votes that could come from {listed([of[model], *others])}."


def _note(assay: "Assay") -> str:
    tests = next(iter(assay.votes.values()))
    least, most = int(tests.votes.min()), int(tests.votes.max())
    mean = number(float(tests.votes.mean()), 1)
    each = f"{least} votes" if least == most else f"{least} to {most} votes, {mean} in the mean"
    runs = "; run 1 of models with several" if any(assay[model].n_runs > 1 for model in assay.votes) else ""
    level, alpha, passing = level_text(assay.settings.level), percent(ALPHA, 0), percent(1 - ALPHA, 0)
    instances = part_of(len(tests.rows), assay.n_instances, "case")
    drawn = ""
    if any(len(found.of_set) for found in assay.votes.values()):
        drawn = " The tests of a set and of its mean draw votes of their own, so either share can be greater by chance."
    return (
        f"Each case is tested at the level {alpha}: do its votes scatter about some distribution in the set, or about the "
        f"mean, as independent votes do? The share is that of the cases that pass, divided by {passing}. Cases with "
        f"too few votes to tell pass as well, so the shares tend to be too high. On {instances}, "
        f"each with {each}{runs}. {level} interval of each share by itself.{drawn}"
    )


# Where the losses of single instances lie: densities by correctness, means by confidence, regions of the two means.

Array = NDArray[np.float64]

N_BINS = 96
LEAST = 1e-4  # smaller values count at the left end of the axis
SMOOTHING = 1.6  # bins
KERNEL = np.exp(-0.5 * (np.arange(-5, 6) / SMOOTHING) ** 2)
KERNEL /= KERNEL.sum()
PEAK = 200  # of a density; the page draws each with the same height, of some thirty pixels
MOST_TRADEOFFS, LEAST_TRADEOFFS = 21, 7  # λ at which the distribution of E is kept, besides the default
WEIGHT = 600  # models × λ, of which the page gets no heavier


def densities(assay: "Assay", top: float) -> dict[str, Any]:
    """Densities of distance, non-specificity and E on a logarithmic axis, for correct and wrong predictions apart.

    Parameters
    ----------
    assay : Assay
    top : float
        Largest λ for which E is wanted.

    Returns
    -------
    dict
        "distance" and "nonspecificity": {"axis", "models"}; "unified": {"axis", "tradeoffs", "models" per λ}. All
        instances and runs count. A density is the smoothed number of values per bin of the axis, relative to its
        peak, which is `PEAK`; "at_end" the share of those at or below its left end. None where a part has no finite
        instance.
    """
    models = assay.candidates
    masks = [assay.hits(m.name) for m in models]
    d = [m.columns["distance"] for m in models]
    ns = [m.columns["nonspecificity"] for m in models]
    steps = int(np.clip(WEIGHT // len(models), LEAST_TRADEOFFS, MOST_TRADEOFFS))
    tradeoffs = np.union1d(np.linspace(0.0, top, steps), DEFAULT_TRADEOFF)
    # the values of correct and of wrong predictions are picked once
    parts = [
        {"correct": _chosen(assay, a, b, mask), "wrong": _chosen(assay, a, b, ~mask)}
        for a, b, mask in zip(d, ns, masks, strict=True)
    ]
    out: dict[str, Any] = {}
    for name, values in (("distance", d), ("nonspecificity", ns)):
        edges = _edges(values)
        out[name] = {
            "axis": _centres(edges),
            "models": [
                {part: _density(a if values is d else b, edges, w) for part, (a, b, w) in own.items()} for own in parts
            ],
        }
    edges = _edges([*d, *(a + top * b for a, b in zip(d, ns, strict=True))])
    out["unified"] = {
        "axis": _centres(edges),
        "tradeoffs": tradeoffs.tolist(),
        "models": [list(at_one) for at_one in zip(*(_of_unified(own, tradeoffs, edges) for own in parts), strict=True)],
    }
    return out


_Part = tuple[Array, Array, Array | None]  # distance, non-specificity and weight of each instance


def _chosen(assay: "Assay", d: Array, ns: Array, mask: NDArray[np.bool_]) -> _Part:
    """Those of a mask (R, n)."""
    return d[mask], ns[mask], None if assay.weights is None else np.broadcast_to(assay.weights, mask.shape)[mask]


def _of_unified(parts: dict[str, _Part], tradeoffs: Array, edges: Array) -> list[dict[str, Any]]:
    """Densities of E = d + λ·ns at every λ, of each part; without non-specificity they are the same at all."""
    if not any(ns.any() for _, ns, _ in parts.values()):
        return [{part: _density(d, edges, w) for part, (d, _, w) in parts.items()}] * len(tradeoffs)
    return [{part: _density(d + t * ns, edges, w) for part, (d, ns, w) in parts.items()} for t in tradeoffs.tolist()]


def _edges(values: list[Array]) -> Array:
    positive = np.concatenate([v[(v > 0) & np.isfinite(v)].ravel() for v in values])
    if positive.size == 0:
        return np.array([-1.0, 0.0])
    low = max(float(np.quantile(positive, 0.005)), LEAST)
    high = float(positive.max()) * 1.05
    return np.linspace(np.log10(min(low, high / 10)), np.log10(high), N_BINS + 1)


def _centres(edges: Array) -> list[float]:
    return rounded(10 ** ((edges[1:] + edges[:-1]) / 2), 4)


def _density(values: Array, edges: Array, weights: Array | None) -> dict[str, Any] | None:
    n_infinite = 0
    with np.errstate(invalid="ignore"):
        mean = float(weighted_mean(values, weights)) if values.size else np.nan
    if not np.isfinite(mean):
        finite = np.isfinite(values)
        n_infinite = int(values.size - finite.sum())
        values, weights = values[finite], None if weights is None else weights[finite]
        if values.size == 0:
            return None
        mean = float(weighted_mean(values, weights))
    order = ascending_order(values)
    ordered, by_weight = values[order], None if weights is None else weights[order]
    first = np.searchsorted(ordered, 10 ** edges[0], side="right")
    beyond = ordered[first:]
    if by_weight is None:
        density, at_end, quartiles = _counts(beyond, 10**edges).astype(np.float64), 1 - beyond.size / values.size, None
    else:
        density = np.histogram(beyond, 10**edges, weights=by_weight[first:])[0]
        at_end = float(by_weight[:first].sum() / by_weight.sum())
        middle = (np.cumsum(by_weight) - by_weight / 2) / by_weight.sum()
        quartiles = np.interp([0.25, 0.5, 0.75], middle, ordered)
    if len(density) > 1:
        mirrored = np.concatenate([density[4::-1], density, density[:-6:-1]])
        density = np.convolve(mirrored, KERNEL, mode="valid")
    return {
        "density": np.rint(PEAK * density / (density.max() or 1.0)).astype(int).tolist(),
        "n": int(values.size),
        "infinite": n_infinite,
        "mean": mean,
        "quartiles": rounded(_quartiles(ordered) if quartiles is None else quartiles, 4),
        "at_end": at_end,
        "zero": bool(ordered[0] == ordered[-1] == 0),
    }


def _counts(ordered: Array, edges: Array) -> NDArray[np.intp]:
    """`np.histogram` of sorted values."""
    below = np.searchsorted(ordered, edges)
    below[-1] = np.searchsorted(ordered, edges[-1], side="right")
    return np.diff(below)


def _quartiles(ordered: Array) -> Array:
    """`np.quantile` of sorted values at 0.25, 0.5 and 0.75."""
    at = (len(ordered) - 1) * np.array([0.25, 0.5, 0.75])
    below = at.astype(np.intp)
    above = np.minimum(below + 1, len(ordered) - 1)
    low, step, share = ordered[below], ordered[above] - ordered[below], at - below
    return np.where(share < 0.5, low + step * share, ordered[above] - step * (1 - share))


def confidence_lines(assay: "Assay", names: tuple[str, ...], *, n_bins: int = 10) -> dict[str, list[dict[str, Any]]]:
    """Mean of each named column in equal-width, right-inclusive bins of confidence, over all instances and runs."""
    out: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for model in assay.candidates:
        confidence = model.columns["confidence"].ravel()
        which = np.searchsorted(inner_edges(n_bins, confidence), confidence, side="left")
        count = np.bincount(which, minlength=n_bins)
        filled = count > 0
        weight: Any = 1.0 if assay.weights is None else np.tile(assay.weights, model.n_runs)
        mass = count if assay.weights is None else np.bincount(which, weight, n_bins)
        centre = np.bincount(which, weight * confidence, n_bins)[filled] / mass[filled]
        for name in names:
            values = model.columns[name].ravel()
            mean = np.bincount(which, weight * values, n_bins)[filled] / mass[filled]
            out[name].append({"confidence": centre.tolist(), "mean": mean.tolist(), "n": count[filled].tolist()})
    return out


def mean_regions(assay: "Assay") -> dict[str, list[dict[str, Any] | None]]:
    """Mean distance and mean non-specificity with their joint confidence ellipse, for all, correct and wrong predictions.

    The intervals are those of the findings. The ellipse is that of a normal distribution with the standard errors of the
    two means, and the covariance that follows from the standard error of their sum.
    """
    metrics = (assay.settings.distance_metric, "nonspecificity", "unified")
    rows: dict[str, dict[str, list[dict[str, Any]]]] = {"all": {}}
    for row in assay.rows("findings"):
        if row["run"] == "all" and row["metric"] in metrics:
            rows["all"].setdefault(row["model"], []).append(row)
    for row in subset_rows(assay, "correct", ranking=False, metrics=metrics):
        rows.setdefault(row["subset"], {}).setdefault(row["model"], []).append(row)
    return {
        part: [_region(assay, m, found[m.name], part) if m.name in found else None for m in assay.models]
        for part, found in rows.items()
    }


def _region(assay: "Assay", model: "ModelScores", mine: list[dict[str, Any]], part: str) -> dict[str, Any]:
    correct = assay.hits(model.name)
    mask = {"all": None, "correct": correct, "wrong": ~correct}[part]
    d = next(r for r in mine if r["metric"] == assay.settings.distance_metric)
    ns = next(r for r in mine if r["metric"] == "nonspecificity")
    h_d, h_ns, h_sum = _half_widths(assay, model, mask)
    covariance = float(np.clip((h_sum**2 - h_d**2 - h_ns**2) / 2, -h_d * h_ns, h_d * h_ns))
    level = assay.settings.level
    joint = float(np.sqrt(chdtri(2, 1 - level)) / ndtri(0.5 + level / 2))  # one interval → both means together
    return {
        "model": model.name,
        "n": d["n"],
        "distance": [d["estimate"], d["low"], d["high"]],
        "nonspecificity": [ns["estimate"], ns["low"], ns["high"]],
        "unified": [[r["tradeoff"], r["estimate"], r["low"], r["high"]] for r in mine if r["metric"] == "unified"],
        "half_widths": [h_d * joint, h_ns * joint],
        "covariance": covariance * joint**2,
    }


def _half_widths(assay: "Assay", model: "ModelScores", mask: NDArray[np.bool_] | None) -> tuple[float, float, float]:
    """Half the widths of Student's intervals of the means of both terms and of their sum, over some instances."""
    chosen = ChosenColumns(assay, model, mask=mask)
    d, ns = chosen["distance"], chosen["nonspecificity"]
    found = chosen.means([d, ns, d + ns], method="student-t")
    first, second, third = ((one.high - one.low) / 2 for one in found)
    return first, second, third


# Single instances for the page: their scores and credal sets, quantised so that the page stays small.

SAMPLE = 2000  # instances in a scatter plot
LISTED = 20  # instances in each list of extremes
BUDGET = 4_800_000  # characters of the page's data; with its scripts the page stays below 5 MB
LEAST_SHOWN = 1_500_000  # of these for single instances, however many models there are
DECIMALS = 3  # shown of the scores of an instance
POINT_VALUES = 300_000  # numbers kept of one model's set points


def single_instances(assay: "Assay", *, taken: int = 0) -> dict[str, Any] | None:
    """Scores of single instances (first training run) and their credal sets; None where the assay keeps none.

    Parameters
    ----------
    assay : Assay
    taken : int
        Characters of `BUDGET` that other data take.

    Returns
    -------
    dict
        "rows": the instances held, "sample": positions in rows of a random sample for scatter plots, "set_rows":
        positions in rows of the instances whose sets are held, "extremes": positions by kind, and packed arrays. Sets
        are held at 16 bits, at 8 bits, or for fewer instances, whichever first fits `BUDGET`; scores at `DECIMALS`.
        Of a set the codes of its "mean" are held, and how much lower and higher those of its ends are ("below", "above").
    """
    with InstancePacker(assay) as packer:
        return packer.at(taken)


@final
class InstancePacker:
    """Single instances for the page, packed by threads, ahead of the time when the page knows how much room it has.

    Use it in a `with` block; `start` begins to pack where there is a second core.

    Parameters
    ----------
    assay : Assay
    """

    def __init__(self, assay: "Assay") -> None:
        self._assay = assay
        self._tried: dict[tuple[int, int], _Packed] = {}
        self._ahead: Future[None] | None = None
        self._pool = ThreadPoolExecutor(available_cores())
        self._last = Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._last.set()
        self._pool.shutdown(cancel_futures=True)

    def start(self) -> None:
        """Begin to pack, as far as that does not depend on the room."""
        if self._assay.sets and available_cores() > 1:
            self._ahead = self._pool.submit(self._pack_ahead)

    def at(self, taken: int) -> dict[str, Any] | None:
        """What `single_instances` returns."""
        if not self._assay.sets:
            return None
        if self._ahead is not None:
            self._ahead.result()
        count, n_pointed = len(self._order.held), self._order.n_pointed
        bits, budget = 16, max(LEAST_SHOWN, BUDGET - taken)
        while True:
            # at 8 bits the size tells how many fit; at 16 it is enough to know that it is too much
            found = self._packed(bits, count, budget if bits == 16 and count > n_pointed else None)
            if found.size <= budget or count <= n_pointed:
                return found.out
            bits, count = (8, count) if bits == 16 else (8, max(n_pointed, int(0.9 * count * budget / found.size)))

    def _pack_ahead(self) -> None:
        count = len(self._order.held)
        most = BUDGET if count > self._order.n_pointed else None
        fits = self._packed(16, count, most, alone=True).size <= BUDGET
        if not fits and not self._last.is_set():
            self._packed(8, count, None, alone=True)

    def _packed(self, bits: int, count: int, most: int | None, *, alone: bool = False) -> "_Packed":
        """Pack this much, with the threads of the pool unless the page is being made beside."""
        found = self._tried.get((bits, count))
        if found is None:
            out = _at_size(self._assay, self._order, count, bits)
            ids = sum(len(i) + 3 for i in out["ids"] or ())
            room = None if most is None else most - ids
            found = _Packed(out, ids + _pack_all(out, None if alone else self._pool, most=room))
            if most is None or found.size <= most or found.size > BUDGET:  # what was cut short is too much in any case
                self._tried[bits, count] = found
        return found

    @cached_property
    def _order(self) -> "_Order":
        assay = self._assay
        held = np.asarray(next(iter(assay.sets.values())).rows)
        order = np.random.default_rng(assay.settings.seed).permutation(assay.n_instances)
        n_pointed = max(len(s.points) for s in assay.sets.values())
        # the instances with points come first, then the others at random, so that any beginning is a fair choice
        first, others = held[:n_pointed], held[n_pointed:]
        held = np.concatenate([first, others[np.argsort(np.argsort(order)[others], kind="stable")]])
        places = _places(assay.sets, held)
        upper = (s.upper[at] for s, at in zip(assay.sets.values(), places, strict=True))
        greatest = reduce(np.maximum, upper).copy()  # (k, K)
        greatest[np.arange(len(held)), assay.classes[held]] = np.inf  # the label is always a corner of the triangle
        return _Order(
            held=held,
            sample=np.sort(order[:SAMPLE]),
            n_pointed=n_pointed,
            extremes=assay.extreme_instances(LISTED),
            top_three=np.argsort(-greatest, axis=1, kind="stable")[:, :3],
            angles={name: _Angles.of(s, at) for (name, s), at in zip(assay.sets.items(), places, strict=True)},
        )


class _Packed(NamedTuple):
    """The data, and the characters that they take or more than what was allowed."""

    out: dict[str, Any]
    size: int


class _Order(NamedTuple):
    """Instances whose sets may be held, in the order of choice, those of the scatter plots, and the extreme ones."""

    held: NDArray[np.int64]
    sample: NDArray[np.int64]
    n_pointed: int
    extremes: Mapping[str, NDArray[np.int64]]
    top_three: NDArray[np.int64]  # classes that the triangle of each instance held shows, (k, 3)
    angles: Mapping[str, "_Angles"]  # of the sets of each model


class _Angles(NamedTuple):
    """The sets of one model as angles asin √p, (k, K) each, in the order of choice; of a point the mean alone."""

    mean: Array
    ends: tuple[Array, Array] | None  # lower and upper

    @classmethod
    def of(cls, sample: "SetSample", at: NDArray[np.intp]) -> Self:
        point = np.array_equal(sample.lower, sample.upper)
        return cls(_angle(sample.mean[at]), None if point else (_angle(sample.lower[at]), _angle(sample.upper[at])))


class _Later(NamedTuple):
    """A packed array, or a dict of them, that `_pack_all` makes."""

    make: Callable[..., dict[str, Any]]
    arguments: tuple[Any, ...]


def _pack_all(out: dict[str, Any], pool: ThreadPoolExecutor | None, *, most: int | None) -> int:
    """Make what is to be packed, in its place; the characters that it takes, or more than `most` once that is known."""
    places = [out["sets"], out, *out["columns"].values()]  # the largest first
    waiting = [(place, name, value) for place in places for name, value in place.items() if isinstance(value, _Later)]
    makes = [partial(later.make, *later.arguments) for _, _, later in waiting]
    running = [] if pool is None else [pool.submit(make) for make in makes]
    size = 0
    for k, (place, name, _) in enumerate(waiting):
        place[name] = running[k].result() if running else makes[k]()
        size += _size(place[name])
        if most is not None and size > most:
            for rest in running:
                rest.cancel()
            break
    return size


def _labels(predicted: Array, n_classes: int) -> NDArray[Any]:
    """Predicted classes as small whole numbers; K for class sets without a single class."""
    whole = np.where(predicted == NO_CLASS, n_classes, predicted)
    return whole.astype(np.uint8 if n_classes < 256 else np.uint16)


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array of whole numbers as compressed text: {"dtype", "shape", "zlib"}, first the low bytes of all, then the next.

    Examples
    --------
    >>> import numpy as np
    >>> packed(np.array([1, 2], dtype=np.uint8))
    {'dtype': 'uint8', 'shape': [2], 'zlib': 'eAFjZAIAAAYABA=='}
    """
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    planes = little.reshape(-1, 1).view(np.uint8).T  # alike bytes next to each other: a quarter smaller
    # in bytes like noise only runs are worth looking for: a fifth of the time of other matches, and seldom larger
    stream = zlib.compressobj(strategy=zlib.Z_RLE)
    text = base64.b64encode(stream.compress(planes.tobytes()) + stream.flush()).decode("ascii")
    return {"dtype": str(array.dtype), "shape": list(array.shape), "zlib": text}


def packed_decimals(values: Array, decimals: int = DECIMALS) -> dict[str, Any]:
    """Values from 0 on, infinite ones among them, rounded to decimals and packed as whole numbers, with "decimals".

    Examples
    --------
    >>> import numpy as np
    >>> packed_decimals(np.array([0.0004, 0.0006, np.inf]))
    {'dtype': 'uint16', 'shape': [3], 'zlib': 'eAFjYPzPwPAfAAUGAgA=', 'decimals': 3}
    """
    codes = np.rint(np.where(np.isfinite(values), values, 0.0) * 10.0**decimals)
    dtype = np.uint16 if codes.max(initial=0) < 2**16 - 2 else np.uint32
    top = np.iinfo(dtype).max
    codes = np.where(np.isnan(values), top - 1, np.where(np.isposinf(values), top, np.minimum(codes, top - 2)))
    return packed(codes.astype(dtype)) | {"decimals": decimals}


def probability_codes(p: NDArray[Any], bits: int) -> NDArray[Any]:
    """Probabilities on the arcsine scale, whose steps are finest near 0 and 1: q = (2^bits − 1) · 2/π · asin √p.

    Examples
    --------
    >>> import numpy as np
    >>> probability_codes(np.array([0.0, 0.001, 0.5, 1.0]), 8).tolist()
    [0, 5, 128, 255]
    """
    return _codes(_angle(p), bits)


def _angle(p: NDArray[Any]) -> Array:
    found: Array = np.arcsin(np.sqrt(np.clip(np.asarray(p, dtype=np.float64), 0.0, 1.0)))
    return found


def _codes(angle: Array, bits: int) -> NDArray[Any]:
    return np.rint((2**bits - 1) * angle / (np.pi / 2)).astype(np.uint8 if bits == 8 else np.uint16)


def _at_size(
    assay: "Assay",
    order: _Order,
    count: int,
    bits: int,
) -> dict[str, Any]:
    """The parts of the page's data, with arrays that wait to be packed."""
    held, sample = order.held[:count], order.sample
    rows, top_three = np.union1d(held, sample), order.top_three[:count]
    measures = [m for m in assay.settings.measures if m in ("total-entropy", "credal-width")]
    columns = {}
    for model in assay.candidates:
        first_run = {
            key: model.columns[key][0][rows] for key in ("distance", "nonspecificity", "confidence", "label", *measures)
        }
        columns[model.name] = {
            "distance": _Later(packed_decimals, (first_run["distance"],)),
            "nonspecificity": _Later(packed_decimals, (first_run["nonspecificity"],)),
            "confidence": _Later(_packed_probabilities, (first_run["confidence"],)),
            "label": _Later(packed, (_labels(first_run["label"], assay.n_classes),)),
            **{m: _Later(packed_decimals, (first_run[m],)) for m in measures if np.isfinite(first_run[m]).all()},
        }
    position = {row: i for i, row in enumerate(rows.tolist())}
    truth = assay.labels[rows]
    return {
        "n": assay.n_instances,
        "rows": _Later(packed, (rows.astype(np.uint32),)),
        "ids": None if assay.ids is None else [str(i) for i in assay.ids[rows]],
        "sample": _Later(packed, (np.searchsorted(rows, sample).astype(np.uint32),)),
        "set_rows": _Later(packed, (np.searchsorted(rows, held).astype(np.uint32),)),
        "extremes": {
            kind: [position[r] for r in found.tolist() if r in position] for kind, found in order.extremes.items()
        },
        "truth": _Later(packed, ((truth if truth.ndim == 1 else truth.argmax(axis=1)).astype(np.uint16),)),
        "shares": _Later(_packed_probabilities, (truth,)) if truth.ndim == 2 else None,
        "bits": bits,
        "top_three": _Later(packed, (top_three[: order.n_pointed].astype(np.uint16),)),
        "columns": columns,
        "sets": {
            name: _Later(_packed_set, (order.angles[name], count, s.points, top_three, bits))
            for name, s in assay.sets.items()
        },
    }


def _packed_probabilities(p: NDArray[Any]) -> dict[str, Any]:
    return packed(probability_codes(p, 16))


def _places(sets: Mapping[str, "SetSample"], held: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Where the sets of these instances stand in each sample."""
    found, rows = [], None
    for sample in sets.values():
        if rows is None or not np.array_equal(sample.rows, rows):  # mostly those of the model before
            rows = sample.rows
            order = np.argsort(rows, kind="stable")
            at = order[np.searchsorted(rows[order], held)]
        found.append(at)
    return found


def _packed_set(
    angles: _Angles, count: int, points: NDArray[Any], top_three: NDArray[np.int64], bits: int
) -> dict[str, Any]:
    mean = _codes(angles.mean[:count], bits)
    out: dict[str, Any] = {"mean": packed(mean)}
    if angles.ends is not None:  # differences are small numbers; one that rounding makes negative goes around, and back
        lower, upper = (_codes(end[:count], bits) for end in angles.ends)
        out["below"], out["above"] = packed(mean - lower), packed(upper - mean)
    k, n_points, n_classes = points.shape
    if k and n_points > 1 and n_classes >= 3:
        k = max(1, min(k, POINT_VALUES // (2 * n_points)))
        three = np.take_along_axis(points[:k], top_three[:k, None, :], axis=2).astype(np.float64)  # (k, V, 3)
        total = three.sum(axis=2, keepdims=True)
        shares = np.divide(three, total, out=np.full_like(three, -1.0), where=total > 0)[..., :2]
        # 65535 marks a point that gives nothing to the three classes
        out["points"] = packed(np.where(shares < 0, 65535, np.rint(shares * 65534)).astype(np.uint16))
    return out


def _size(part: Any) -> int:
    if isinstance(part, dict):
        return len(part["zlib"]) if "zlib" in part else sum(_size(value) for value in part.values())
    return 0

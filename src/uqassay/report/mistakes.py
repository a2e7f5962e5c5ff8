"""The page's section on whether a model knows when it is wrong: refusal, ranking metrics, curves, paired tests."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.evidence.chosen_columns import with_numbered_groups
from uqassay.evidence.mistake_ranking import (
    TESTED,
    RankedScore,
    compare_rankings,
    errors_in_order,
    linearised_scores,
)
from uqassay.measures.scores import SCORES
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.metrics.risk.detectable_gain import detectable_gain, independent_instances
from uqassay.report.definitions import score_label
from uqassay.report.rounding import rounded
from uqassay.report.sentences.mistakes import (
    BEST,
    backward_note,
    comparison_note,
    few_scores,
    mistakes_sentences,
    remarks,
    undefined_text,
    view_sentences,
    why_absent,
    why_nothing,
)
from uqassay.report.sentences.refusal import Refused, refusal_sentence

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.metrics.risk.selective_accuracy import SelectiveGain
    from uqassay.statistics import Estimate, PairwiseComparisons

__all__ = ["BEST", "COVERAGES", "best_scores", "mistakes_section", "ranked_scores", "risk_curve"]

Floats = NDArray[np.float64]
FIRST_SCORE, FIRST_SHARE = "total-entropy", 0.1  # that the section begins with
REFUSED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
COVERAGES = (0.01, *(i / 100 for i in range(2, 101, 2)))
TABLED = ("uq-auc", "uq-c-index", "aurc", "e-aurc", "augrc", "prediction-rejection")
AT_AN_END = ("edge",)  # code of the note that a share kept has no error


def mistakes_section(assay: "Assay") -> dict[str, Any] | None:
    """Refusal, risk-coverage curves and paired tests of every model and score; None where no model has a score.

    Returns
    -------
    dict
        "finding": what the section says first; "first": the score and the share that this is about. "scores": every score of
        some model, "known" where it has a definition, "offered" where it can be chosen; "refused" and "coverages": shares;
        "compared": the metrics of the paired tests. "models": one entry per model with its "best" score
        (None without mistakes or right predictions), "unmixed" (what it makes where that is so), the scores that are
        "constant", and under "scores" of each other score "refusals" (per share the accuracy of what is kept and the gain,
        each with its ends; none of an unmixed model), "curve" (risk, low and high per coverage), "backward" (whether it is
        in `Assay.backward`) and "undefined" (per metric why it has no value). "comparisons": matrices over the models
        of each score and over the scores of each model.
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
    views = [_view(found, score, cautions) for score in (BEST, *offered)]
    first = FIRST_SCORE if FIRST_SCORE in offered else BEST
    share = next(share for share in found.refused if share >= FIRST_SHARE)
    return {
        "finding": next(view for view in views if view["score"] == first)["refusal"][found.refused.index(share)],
        "first": {"score": first, "share": share},
        "scores": [{"score": s, "label": score_label(s), "known": s in SCORES, "offered": s in offered} for s in names],
        "refused": found.refused,
        "coverages": found.coverages,
        "compared": list(TESTED),
        "tabled": [[metric, "↑" if RANKING_METRICS[metric].higher_is_better else "↓"] for metric in TABLED],
        "cautions": cautions,
        "text": mistakes_sentences(assay) | {"backward_note": backward_note(found.backward)},
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
        self.coverages = [c for c in COVERAGES if c >= least]
        self.ranked = {m: ranked_scores(assay, m) for m in assay.model_names}
        self.best = best_scores(assay)
        self.unmixed = {m: _unmixed(assay, m) for m in assay.model_names}
        self.backward = assay.backward
        self.fast = with_numbered_groups(assay)
        self.refusals: dict[tuple[str, str], list[SelectiveGain]] = {}
        self.curves: dict[tuple[str, str], Floats] = {}
        self._adjusted: dict[tuple[str, str, int], list[SelectiveGain]] = {}
        for m, scores in self.ranked.items() if any(self.best.values()) else ():
            first = errors_in_order(assay[m])
            for s in scores:
                sorted_once = RankedScore(self.fast, m, s, like=first)
                self.curves[m, s] = sorted_once.curve(self.coverages)
                if not self.unmixed[m]:
                    self.refusals[m, s] = sorted_once.refusals([1 - share for share in self.refused])

    def adjusted(self, model: str, score: str, choices: int) -> list["SelectiveGain"]:
        """The refusals with intervals that hold for whichever of so many models or scores the accuracy chooses."""
        if choices == 1:
            return self.refusals[model, score]
        if (model, score, choices) not in self._adjusted:
            level = 1 - (1 - self.assay.settings.level) / choices
            ranked = RankedScore(self.fast, model, score, level=level, like=errors_in_order(self.assay[model]))
            self._adjusted[model, score, choices] = ranked.refusals([1 - share for share in self.refused])
        return self._adjusted[model, score, choices]

    def constant(self, model: str) -> list[str]:
        return [s for s in self.assay.uncertainty_names(model) if s not in self.ranked[model]]

    def chosen(self, model: str, score: str) -> str | None:
        """The score of a model that is meant by one, or by `BEST`."""
        own = score or self.best[model]
        return own if own in self.ranked[model] else None


def _view(found: _Found, score: str, cautions: Sequence[str]) -> dict[str, Any]:
    """Sentences that follow the chosen score, and notes on the refusals at every share."""
    assay, absent = found.assay, {}
    judged = {m: own for m in assay.model_names if (own := found.chosen(m, score)) and not found.unmixed[m]}
    for m in assay.model_names:
        if m not in judged:
            first = found.estimates[m, found.ranked[m][0], "uq-auc"] if found.ranked[m] else None
            absent[m] = why_absent(found.unmixed[m], score, found.constant(m), first)
    told = {(m, metric): found.estimates[m, own, metric] for m, own in judged.items() for metric in TABLED}
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


def _refused(found: _Found, score: str, judged: Mapping[str, str], k: int) -> list[Refused]:
    """Each model's refusal of one share, with the digits of the page; of the one told, intervals adjusted for its choice."""
    kept_by = {m: float(found.refusals[m, own][k].accuracy_kept) for m, own in judged.items()}
    told = max(kept_by, key=kept_by.__getitem__)
    choices = sum(len(found.ranked[m]) for m in judged) if score == BEST and len(judged) > 1 else len(judged)
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
    undefined = {metric: found.estimates[model, score, metric] for metric in TESTED}
    return {
        "score": score,
        "refusals": [_six(refusal) for refusal in found.refusals.get((model, score), ())],
        "curve": [rounded(x, 4) for x in found.curves[model, score]],
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
    over_models = {BEST: [(m, s) for m, s in found.best.items() if s is not None]}
    over_models |= {score: [(m, score) for m, scores in found.ranked.items() if score in scores] for score in names}
    over_scores = {m: [(m, score) for score in scores] for m, scores in found.ranked.items()}
    out = []
    for metric in TESTED:
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
                        best=(key, name) == ("score", BEST),
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

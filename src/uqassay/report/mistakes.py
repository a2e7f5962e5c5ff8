"""What the page says on whether a model knows when it is wrong: refusal, ranking metrics, curves and their comparisons."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay.measures.scores import SCORES
from uqassay.metrics.risk.risk_coverage import risk_coverage_curve
from uqassay.report.definitions import score_label

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.statistics.statistic_comparisons import PairwiseComparisons

__all__ = ["best_scores", "mistakes", "ranked_scores", "risk_curve"]

Floats = NDArray[np.float64]
REFUSED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
COVERAGES = (0.01, *(i / 100 for i in range(2, 101, 2)))
COMPARED = ("uq-auc", "uq-c-index")
BEST = ""  # in the place of a score's name: each model by its best one


def mistakes(assay: "Assay") -> dict[str, Any] | None:
    """Refusal, risk-coverage curves and paired tests of every model and score; None where no model has a score.

    Returns
    -------
    dict
        "scores": every score of some model, "known" where it has a definition; "refused" and "coverages": shares;
        "compared": the metrics of the paired tests. "models": one entry per model with its "best" score (None without
        mistakes or right predictions), "unmixed" (what it makes where that is so), the scores that are "constant", and
        under "scores" of each other score "refusals" (per share the accuracy of what is kept and the gain, each with its
        ends, and the notes; none of an unmixed model) and "curve" (risk, low and high per coverage).
        "comparisons": matrices over the models of each score and over the scores of each model. The estimates of the
        ranking metrics are among the findings. Where nothing can be ranked, only {"nothing": why}.
    """
    found = {(r.model, r.score, r.metric): r.estimate for r in assay.mistake_ranking if r.run is None}
    defined = {key for key, estimate in found.items() if not np.isnan(estimate)}
    best = best_scores(assay)
    if not any(best.values()):
        return {"nothing": _why_nothing(assay)} if found else None
    least = 1 / assay.n_instances  # less than one instance is nobody's share
    refused = [share for share in REFUSED if share >= least]
    coverages = [c for c in COVERAGES if c >= least]
    names = dict.fromkeys(score for _, score, _ in found)
    ranked = {m: ranked_scores(assay, m) for m in assay.model_names}
    same = assay
    if assay.groups is not None:  # whole numbers are sorted faster than names, and that is done thousands of times
        same = replace(assay, groups=np.unique(assay.groups, return_inverse=True)[1])
    return {
        "scores": [{"score": s, "label": score_label(s), "known": s in SCORES} for s in names],
        "refused": refused,
        "coverages": coverages,
        "compared": list(COMPARED),
        "models": [
            {
                "model": m,
                "best": best[m],
                "unmixed": _unmixed(assay, m),
                "constant": [s for s in assay.uncertainty_names(m) if s not in ranked[m]],
                "scores": [_one_score(same, m, s, refused, coverages) for s in ranked[m]],
            }
            for m in assay.model_names
        ],
        "comparisons": _comparisons(same, ranked, best, defined),
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
    out: dict[str, str | None] = {}
    for model in assay.model_names:
        scores = ranked_scores(assay, model)
        found = [
            (float(r.estimate), r.score)
            for r in assay.mistake_ranking
            if r.run is None and r.model == model and r.metric == "uq-auc" and r.score in scores
        ]
        defined = [pair for pair in found if not np.isnan(pair[0])]
        out[model] = max(defined, key=lambda pair: pair[0])[1] if defined else None
    return out


def _unmixed(assay: "Assay", model: str) -> str:
    """What a model makes that predicts everything rightly, or everything wrongly; empty for any other."""
    correct = assay[model].columns["correct"]
    return "no mistake" if (correct == 1).all() else "only mistakes" if (correct == 0).all() else ""


def _why_nothing(assay: "Assay") -> str:
    """One sentence on why no model's mistakes can be ranked."""
    made = {m: _unmixed(assay, m) for m in assay.model_names}
    kinds = set(made.values())
    if kinds == {"no mistake"}:
        return "No model makes a mistake on these instances: there is nothing to rank."
    if kinds == {"only mistakes"}:
        return "All predictions are mistakes on these instances: there is nothing to rank."
    reasons = (
        f"{m} makes {it} here" if it else f"{m} has no score that differs between instances" for m, it in made.items()
    )
    return f"There is nothing to choose by: {'; '.join(reasons)}."


def _one_score(assay: "Assay", model: str, score: str, refused: list[float], coverages: list[float]) -> dict[str, Any]:
    refusals = []
    for share in [] if _unmixed(assay, model) else refused:
        found = assay.refusal(model, score, 1 - share)
        kept, gain = found.accuracy_kept, found.gain
        refusals.append(
            [
                *_short([kept, kept.low, kept.high, gain, gain.low, gain.high], 5),
                [note.to_dict() for note in kept.notes],
            ]
        )
    return {
        "score": score,
        "refusals": refusals,
        "curve": [_short(x, 4) for x in risk_curve(assay, model, score, coverages)],
    }


def risk_curve(assay: "Assay", model: str, score: str, coverages: Sequence[float]) -> Floats:
    """Risk, low and high of `Assay.risk_coverage`, ``(3, B)``; of a single run all coverages come from one pass.

    Examples
    --------
    >>> import uqassay as uq
    >>> a = uq.assay({"m": uq.Point([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])}, [0, 0, 0, 1])
    >>> risk_curve(a, "m", "total-entropy", [0.75, 1.0])[0].tolist()
    [0.0, 0.25]
    """
    if assay[model].n_runs == 1:
        errors, scores = 1.0 - assay[model].columns["correct"][0], assay[model].columns[score][0]
        curve = risk_coverage_curve(errors, scores, groups=assay.groups, level=assay.settings.level).at(coverages)
        return np.stack([curve.risk, curve.low, curve.high])
    return np.array([(e, e.low, e.high) for e in assay.risk_coverage(model, score, coverages)]).T


def _comparisons(
    assay: "Assay", ranked: dict[str, tuple[str, ...]], best: dict[str, str | None], defined: set[tuple[str, str, str]]
) -> list[dict[str, Any]]:
    """Paired tests over the models, by the best score of each and by each score, and over the scores of each model."""
    names = dict.fromkeys(score for scores in ranked.values() for score in scores)
    over_models = {BEST: [(m, s) for m, s in best.items() if s is not None]}
    over_models |= {score: [(m, score) for m, scores in ranked.items() if score in scores] for score in names}
    over_scores = {m: [(m, score) for score in scores] for m, scores in ranked.items()}
    out = []
    for metric in COMPARED:
        for key, row, families in (("score", 0, over_models), ("model", 1, over_scores)):
            for name, pairs in families.items():
                kept = [pair for pair in pairs if (*pair, metric) in defined]
                if len(kept) > 1:
                    found = assay.pairwise_uncertainties(kept, metric=metric)
                    out.append({"metric": metric, key: name, "rows": [pair[row] for pair in kept], **_matrix(found)})
    return out


def _matrix(found: "PairwiseComparisons") -> dict[str, Any]:
    """The values, and of each pair below the diagonal, row by row: row minus column, its ends, and the p-value by Holm."""
    below = np.tril_indices(len(found.names), -1)
    pairs = [_short(table[below], 4) for table in (found.difference, found.low, found.high)]
    return {"values": _short(found.values, 6), "pairs": [*pairs, _short(found.holm[below], 3)]}


def _short(values: Iterable[float], digits: int) -> list[float]:
    """Numbers with as many significant digits as the page may show."""
    return [float(f"{x:.{digits}g}") for x in values]

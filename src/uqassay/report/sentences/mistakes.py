"""Does it know when it is wrong: sentences of rankings, curves, paired tests and the table of metrics.

Of a sentence that follows the chosen score there is one for every score ("views"); the share refused and the numbers that
depend on it are filled in by the page.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uqassay.evidence.backward import BackwardScore
from uqassay.notes import reason
from uqassay.report.definitions import DEFINITIONS, score_label
from uqassay.wording import counted, level_text, listed, listed_names

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.statistics import Estimate

__all__ = [
    "BEST",
    "backward_note",
    "comparison_note",
    "few_scores",
    "mistakes_sentences",
    "remarks",
    "undefined_text",
    "view_sentences",
    "why_absent",
    "why_nothing",
    "why_unmixed",
]

BEST = ""  # in the place of a score's name: each model by its best one
COUNTS = ("groups", "runs")  # codes of notes that the page states once for all numbers
FLATTERED = (
    "The best score of a model has the highest UQ-AUC on these instances; it is judged on the same ones, which flatters it a "
    "little."
)
CHOSEN = "Best scores were chosen on the same instances, so these p-values are somewhat too small."


# -- the whole section -------------------------------------------------------------------------------------------------


def mistakes_sentences(assay: "Assay") -> dict[str, Any]:
    """Sentences and templates that no choice on the page changes, but for numbers."""
    level, several = level_text(assay.settings.level), len(assay.model_names) > 1
    votes = assay.labels.ndim == 2
    best = _best_words(assay)
    return {
        "lead": (
            "A model knows when it is wrong if its mistakes are more uncertain than its right predictions. Then fewer are left "
            "when the most uncertain predictions are refused, or passed on to a person."
        ),
        "best": best,
        "best_title": best[0].upper() + best[1:],
        "by_score": "Uncertainty by",
        "refuse": "Refuse",
        "compare": "Compare",
        "by": "by",
        "rows": "Rows",
        "heads": {
            "model": "Model",
            "score": "Score",
            "all": "Accuracy of all",
            "gain": "Gain, points",
            "outcome": "Outcome",
            "share": "Share kept",
        },
        "votes": "Accuracy is the share of the votes for the predicted class." if votes else "",
        "refusal_title": "The gain from refusing",
        "refusal_table": "The gain from refusing",
        "kept": "Accuracy of the {share} kept",
        "outcomes": {"gain": "", "none": "could be chance", "loss": "it falls", "unknown": "no interval"},
        "ranking_title": "How well the mistakes are ranked",
        "layouts": {
            "short": f"best {'scores' if several else 'score'} and total entropy",
            "score": "all, by score",
            "model": "all, by model",
        },
        "ranking_note": (
            "A random ordering has ½, the vertical line. “◂½” at the left end of an axis means that the axis starts above ½. "
            f"{level} intervals, sorted by UQ-AUC."
        ),
        "backward": "backward",
        "flattered": FLATTERED,
        "left_out": _left_out(assay),
        "curve_title": "Errors among the predictions kept",
        "no_curve": "None of the models shown has this score.",
        "curve_axes": ["share kept, least uncertain first (%)", "errors among those kept (%)"],
        "curve_data": "Error rate among the least uncertain instances, by their share, of the models shown.",
        "curve_hover": "of the {share} % kept",
        "curve_risk": "{risk} % wrong",
        "curve_risk_interval": "{risk} % wrong ({low} to {high})",
        "tests_title": "Could the differences be chance?",
        "the_models": "the models",
        "the_scores": "the scores of {model}",
        "point_at": "Point at a cell, or move with the arrow keys, for the difference with its interval.",
        "matrix": _matrix_templates(assay),
        "metrics_title": "All ranking metrics",
    }


def backward_note(found: Sequence[BackwardScore]) -> str:
    """Note below the rankings that explains the mark of backward scores; empty if there are none."""
    if not found:
        return ""
    joint = f", jointly for {counted(found[0].n_tests, 'score')}" if found[0].n_tests > 1 else ""
    return (
        f"“backward”: shown to have a UQ-AUC below ½ ({level_text(found[0].level)}{joint}), so its mistakes are among the last "
        "to be refused. The intervals drawn here are for each score on its own."
    )


def _best_words(assay: "Assay") -> str:
    return "each model's best score" if len(assay.model_names) > 1 else "its best score"


def _left_out(assay: "Assay") -> str:
    """Scores that rank nothing, by model."""
    said = []
    for model in assay.model_names:
        constant = [score_label(s) for s in assay.uncertainty_names(model) if _is_constant(assay, model, s)]
        if constant:
            said.append(f"Left out, since the same in every instance: {listed(constant)} of {model}.")
    return " ".join(said)


def _is_constant(assay: "Assay", model: str, score: str) -> bool:
    values = assay[model].columns[score]
    return not bool((values != values[:, :1]).any())


def _matrix_templates(assay: "Assay") -> dict[str, str]:
    """Templates for a cell of the matrix of paired tests."""
    only = "1 instance" if assay.groups is None else "1 group"
    untested = "no test, for the difference does not vary over the instances"
    if assay.n_units == 1:
        untested = f"no test, for there is only {only}"
    values = "{row} against {column}: {metric} {row_value} − {column_value} = {difference}"
    tested = f"{values} ({{low}} to {{high}}), {{pvalue}}"
    return {
        "label": "Paired tests, {metric}",
        "by": "{name} ({score})",
        "own": "{row}: {metric} {row_value}",
        "untested": f"{values}; {untested}",
        "same": f"{values}; the two agree on every instance",
        "chance": f"{tested}{{adjusted}}: could be chance; this test set could have shown {{shown}}",
        "shown": "a difference of {difference}",
        "shown_none": "no difference",
        "better": f"{tested}{{adjusted}}: {{better}} ranks better",
        "adjusted": " (adjusted)",
        "same_order": "same order",
        "no_test": "no test",
        "pvalue": "p {pvalue}",
    }


# -- one score ---------------------------------------------------------------------------------------------------------


def view_sentences(assay: "Assay", score: str, absent: Mapping[str, str], notes: Sequence[str]) -> dict[str, Any]:
    """Sentences that follow the chosen score.

    Parameters
    ----------
    assay : Assay
    score : str
        `BEST` for each model's best one.
    absent : mapping of str to str
        Models that cannot be judged by it, with the reason.
    notes : sequence of str
        Remarks on the metrics.
    """
    by = score_label(score) if score else _best_words(assay)
    votes = assay.labels.ndim == 2
    wrong = " (share of the votes against the predicted class)" if votes else ""
    level = level_text(assay.settings.level)
    left = "; ".join(f"{model} ({why})" for model, why in absent.items())
    return {
        "score": score,
        "by": by,
        "absent": " ".join(filter(None, (f"Not shown: {left}." if left else "", "" if score else FLATTERED))),
        "curve": (
            f"Error rate{wrong} among the least uncertain instances, by {{by}}, against their share. The {level} bands are "
            "pointwise: they hold for each share separately, not for a whole curve. The line keeps {share}. The axis is cut "
            "where a few instances make a band wide."
        ),
        "few_models": f"Fewer than two models have a ranking by {by}.",
        "metrics": f"By {by}; ↑ higher is better, ↓ lower is better.",
        "metrics_note": " ".join(notes),
    }


def why_absent(made: str, score: str, constant: Sequence[str], first: "Estimate | None") -> str:
    """The reason that a model is not judged by a score, or by its best one.

    Parameters
    ----------
    made : str
        "no mistake" or "only mistakes" where that is all it makes.
    score : str
    constant : sequence of str
        Its scores that are the same in every instance.
    first : Estimate, optional
        UQ-AUC of the first of its other scores; None where there is none.
    """
    if made:
        return why_unmixed(made)
    if score:
        same = "the score is the same in every instance: nothing to choose by"
        return same if score in constant else "it has no such score"
    if first is None:
        return "no score of it differs between instances: nothing to choose by" if constant else "it has no score"
    return undefined_text(first)


def why_unmixed(made: str) -> str:
    """The reason that a model without errors, or without correct predictions, cannot be judged."""
    return f"it makes {made} on these instances"


def why_nothing(made: Mapping[str, str]) -> str:
    """The reason that no model's mistakes can be ranked; `made` by model: "no mistake", "only mistakes", or "" for both kinds.

    Examples
    --------
    >>> why_nothing({"a": "no mistake", "b": "only mistakes"})
    'There is nothing to choose by: a makes no mistake here; b makes only mistakes here.'
    """
    kinds = set(made.values())
    if kinds == {"no mistake"}:
        return "No model makes a mistake on these instances: there is nothing to rank."
    if kinds == {"only mistakes"}:
        return "All predictions are mistakes on these instances: there is nothing to rank."
    reasons = (
        f"{m} makes {it} here" if it else f"{m} has no score that differs between instances" for m, it in made.items()
    )
    return f"There is nothing to choose by: {'; '.join(reasons)}."


def undefined_text(estimate: "Estimate") -> str:
    """Why an estimate is undefined."""
    kept = [note for note in estimate.notes if note.code not in COUNTS]
    return reason(kept) or "undefined"


def remarks(assay: "Assay", estimates: Mapping[tuple[str, str], "Estimate"], codes: Iterable[str] = ()) -> list[str]:
    """Sentences of the notes of some estimates, each once, with the models concerned.

    Parameters
    ----------
    assay : Assay
    estimates : mapping
        By model and anything else.
    codes : iterable of str
        Codes of the notes meant; by default all but the numbers of groups and runs.
    """
    wanted, found = set(codes), dict[str, list[str]]()
    for (model, _), estimate in estimates.items():
        for note in estimate.notes:
            if note.code in wanted if wanted else note.code not in COUNTS:
                names = found.setdefault(note.text, [])
                names += [] if model in names else [model]
    out, n_models = [], len(assay.model_names)
    for text, names in found.items():
        every = " (every model)" if len(names) == n_models else f" ({listed_names(names)})"
        out.append(f"{text[0].upper()}{text[1:]}{every if n_models > 1 else ''}.")
    return out


# -- paired tests ------------------------------------------------------------------------------------------------------


def comparison_note(
    assay: "Assay", metric: str, n: int, *, best: bool, absent: Sequence[tuple[str, "Estimate"]]
) -> str:
    """Note below a matrix of paired tests: its entries, their adjustment, and the models or scores left out.

    Parameters
    ----------
    assay : Assay
    metric : str
    n : int
        Models or scores compared.
    best : bool
        Whether each model stands with its best score.
    absent : sequence of (name, estimate)
        Those whose metric is undefined.
    """
    pairs = n * (n - 1) // 2
    adjusted = (
        f", adjusted by Shaffer for the {pairs} pairs of this matrix (not for other matrices that can be chosen here); the "
        "intervals are for each pair on its own, not adjusted for the number of pairs"
    )
    said = [
        f"{DEFINITIONS[metric].title} on the diagonal; in the other cells the row minus the column, + where the row ranks "
        f"better, with the p-value of the paired test{adjusted if pairs > 1 else ''}.",
        f"Bold and tinted where p ≤ {1 - assay.settings.level:.3g}.",
    ]
    if best:
        said.append(CHOSEN)
    if absent:
        said.append(f"Not compared: {'; '.join(f'{name} ({undefined_text(e)})' for name, e in absent)}.")
    return " ".join(said)


def few_scores(model: str, made: str) -> str:
    """Why the scores of a model are not compared by a metric.

    Examples
    --------
    >>> few_scores("m", "no mistake")
    'Fewer than two scores of m have this metric: it makes no mistake on these instances.'
    """
    return f"Fewer than two scores of {model} have this metric{f': {why_unmixed(made)}' if made else ''}."

"""Sets judged as sets: coverage, size and utility of the classes that each model does not rule out, as rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uqassay.credal.undominated import CLASS_RULES
from uqassay.errors import InputError
from uqassay.evidence.chosen_columns import one_run
from uqassay.evidence.findings import estimate_fields
from uqassay.evidence.scoring import ModelScores
from uqassay.evidence.set_columns import covered_column, rules_for, size_column
from uqassay.metrics.sets.class_set_scores import CLASS_SET_SCORES, ClassSetScores, scores_of_columns
from uqassay.statistics.samples import check_choice

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["SET_ROW_COLUMNS", "models_with_sets", "set_rows", "set_scores_of", "shown_rule"]

SET_ROW_COLUMNS = ("model", "run", "rule", "metric", "estimate", "low", "high", "level", "n", "method", "notes")


def models_with_sets(assay: "Assay") -> tuple[ModelScores, ...]:
    """The models that state sets, without the baselines; of assays saved by older versions none."""
    return tuple(m for m in assay.candidates if covered_column(CLASS_RULES[0]) in m.columns)


def shown_rule(assay: "Assay") -> str:
    """Maximality, or interval dominance where there are too many classes for it."""
    return rules_for(assay.n_classes)[:2][-1]


def set_scores_of(assay: "Assay", model: str, rule: str, run: int | None = None) -> ClassSetScores:
    """The scores of one model by one rule, over all runs or of one."""
    chosen = slice(None) if run is None else slice(run, run + 1)
    columns = assay[model].columns

    def found() -> ClassSetScores:
        covered, size = (one_run(columns[name(rule)][chosen]) for name in (covered_column, size_column))
        return scores_of_columns(covered, size, groups=assay.groups, level=assay.settings.level)

    return assay.shared.once(("class-sets", model, rule, run), found)


def set_rows(assay: "Assay", *, rule: str | None = None) -> list[dict[str, Any]]:
    """One row for each model with sets, run, rule and score; None is every rule."""
    if rule is not None:
        check_choice(rule, "rule", CLASS_RULES)
    known = rules_for(assay.n_classes)
    if rule is not None and rule not in known:
        raise InputError(
            "rule",
            f"an assay of {assay.n_classes} classes uses {' and '.join(known)} alone",
            f"got {rule!r}",
            "use metrics.class_set_scores(y_true, prediction, rule=…), which can take long",
            code="choice",
        )
    rules: Sequence[str] = known if rule is None else (rule,)
    rows = []
    for model in models_with_sets(assay):
        for run in (None, *range(model.n_runs if model.n_runs > 1 else 0)):
            for each in rules:
                scores = set_scores_of(assay, model.name, each, run)
                rows += [_row(model.name, run, each, metric, getattr(scores, metric)) for metric in CLASS_SET_SCORES]
    return rows


def _row(model: str, run: int | None, rule: str, metric: str, estimate: Any) -> dict[str, Any]:
    return {
        "model": model,
        "run": "all" if run is None else str(run + 1),
        "rule": rule,
        "metric": metric.replace("_", "-"),
        "estimate": float(estimate),
        **estimate_fields(estimate),
    }

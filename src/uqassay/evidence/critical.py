"""Lens: what does refusing cost and save for the class that matters?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from uqassay.checks import fail
from uqassay.evidence.data import Judged, one_run
from uqassay.evidence.findings import estimate_fields
from uqassay.evidence.mistakes import reference_score, scores_of
from uqassay.evidence.scoring import CRITICAL_SCORES
from uqassay.metrics.critical_class import CRITICAL_SHARES, CriticalRefusal, critical_class_refusal
from uqassay.metrics.risk import check_coverage
from uqassay.results import Shown, ShownCell, ShownRow, ShownTable
from uqassay.statistics import Estimate
from uqassay.text import counted, drawable, level_text, named, percent, percent_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CRITICAL_COLUMNS",
    "CriticalRefusals",
    "critical_figures",
    "critical_refusals",
    "critical_rows",
    "shown_critical",
]

CRITICAL_COLUMNS = ("model", "score", "coverage", "share", "estimate", "low", "high", "level", "n", "method", "notes")
KEPT = 0.9
SHOWN_SCORES = ("epistemic-entropy", *CRITICAL_SCORES)  # besides the reference score
SENTENCES = 3  # models
DRAWN = 15  # rows of the figure
HEADS = {
    "recall": "found",
    "recall_kept": "found of those kept",
    "caught": "misses refused",
    "missed": "still missed",
    "refused": "refused",
    "refused_others": "refused of others",
}


@final
@dataclass(frozen=True, eq=False, repr=False)
class CriticalRefusals(Shown):
    """What refusing the most uncertain cases does to the cases of one class, for each model and score."""

    _shown_more: ClassVar[str] = 'Assay.table("critical"), Assay.critical_refusals(coverage=…)'

    class_name: str
    coverage: float  #: Share of all cases that is kept.
    found: dict[tuple[str, str], CriticalRefusal]  #: By model and score; the reference score of a model comes first.
    level: float

    def rows(self) -> list[dict[str, Any]]:
        """One row for each model, score and share."""
        return [
            {"model": model, "score": score, "coverage": self.coverage, "share": share.replace("_", "-")}
            | estimate_fields(getattr(one, share))
            for (model, score), one in self.found.items()
            for share in CRITICAL_SHARES
        ]

    def _shown_title(self) -> str:
        return f"Refusing {percent(1 - self.coverage, 0)} of all cases, for those of class {named(self.class_name)}"

    def _shown_sentences(self) -> Sequence[str]:
        firsts: dict[str, tuple[str, CriticalRefusal]] = {}
        for (model, score), one in self.found.items():
            firsts.setdefault(model, (score, one))
        said = [self._sentence(model, *first) for model, first in list(firsts.items())[:SENTENCES]]
        more = len(firsts) - SENTENCES
        return [*said, *([f"{counted(more, 'other model')} below."] if more > 0 else [])]

    def _sentence(self, model: str, score: str, one: CriticalRefusal) -> str:
        name, refused = named(self.class_name), percent(1 - self.coverage, 0)
        if not one.n:
            return f"No case is of class {name}."
        how = f"({score.replace('-', ' ')})"
        cost = f"Refusing the {refused} that {named(model)} is most unsure of {how} passes on {_said(one.refused)}"
        if np.isnan(one.caught):
            return f"{named(model)} misses none of the {counted(one.n, 'case')} of class {name}. {cost} of them."
        return (
            f"{named(model)} finds {_said(one.recall)} of the {counted(one.n, 'case')} of class {name}. {cost} of them, and "
            f"{_said(one.caught)} of those it misses; {_said(one.missed)} stay missed."
        )

    def _shown_table(self) -> ShownTable:
        rows = [
            ShownRow(
                (
                    ShownCell(named(model)),
                    ShownCell(score.replace("-", " ")),
                    *(_cell(getattr(one, share)) for share in HEADS),
                )
            )
            for (model, score), one in self.found.items()
        ]
        return ShownTable(
            header=("model", "refused by", *HEADS.values()),
            rows=tuple(rows),
            n_words=2,
            below=True,
            caption=(
                f"Of the cases of class {named(self.class_name)}: found is predicted right; still missed is kept and wrong. "
                f"{level_text(self.level)} interval of each share by itself; the threshold, found from these cases, is in it."
            ),
        )


def _said(share: Estimate) -> str:
    ends = percent_interval(share.low, share.high, in_sentence=True)
    return (
        f"{percent(share, in_sentence=True)} ({ends})" if share.low < share.high else percent(share, in_sentence=True)
    )


def _cell(share: Estimate) -> ShownCell:
    if np.isnan(share):
        return ShownCell("–")
    return ShownCell(
        percent(share), after=f"[{percent_interval(share.low, share.high)}]" if share.low < share.high else ""
    )


def critical_refusals(judged: Judged, *, coverage: float = KEPT) -> CriticalRefusals:
    """See `Assay.critical_refusals`."""
    check_coverage(coverage)
    critical = judged.settings.critical
    if critical is None:
        fail("critical", "is not set", "got None", 'write uq.assay(…, critical="name")', code="missing")

    def found() -> CriticalRefusals:
        each = {}
        for model in judged.candidates:
            known = scores_of(model, judged)
            first = reference_score(judged, model.name)
            for score in dict.fromkeys(name for name in (first, *SHOWN_SCORES) if name in known):
                each[model.name, str(score)] = critical_class_refusal(
                    judged.classes,
                    one_run(model.columns["label"]).astype(np.int64),
                    one_run(model.columns[str(score)]),
                    critical=critical,
                    coverage=coverage,
                    level=judged.settings.level,
                    **judged.sample(),
                )
        return CriticalRefusals(judged.class_names[critical], float(coverage), each, judged.settings.level)

    return judged.shared.once(("critical", coverage), found)


def shown_critical(judged: Judged) -> CriticalRefusals | None:
    """What is shown without being asked for: where a class was named that matters, and some model predicts classes."""
    found = None if judged.settings.critical is None else critical_refusals(judged)
    return found if found is not None and found.found else None


def critical_rows(assay: Judged, *, coverage: float = KEPT) -> list[dict[str, Any]]:
    """One row for each model, score and share; none where no class was named that matters."""
    return [] if assay.settings.critical is None else critical_refusals(assay, coverage=coverage).rows()


def critical_figures(found: CriticalRefusals) -> dict[str, Callable[["Axes"], None]]:
    """Cost and gain of each score: share of the class refused, and share of its misses refused."""
    return {"What is refused": partial(_draw, found)}


def _draw(found: CriticalRefusals, ax: "Axes") -> None:
    rows = list(found.found.items())[:DRAWN]
    places = np.arange(len(rows))[::-1].astype(float)
    shares = (
        ("caught", "its misses", 0.12),
        ("refused", "all its cases", 0.0),
        ("refused_others", "other classes", -0.12),
    )
    for share, label, up in shares:
        kept = [(place, getattr(one, share)) for place, (_, one) in zip(places, rows, strict=True)]
        kept = [(place, one) for place, one in kept if not np.isnan(one.low)]
        x = np.array([float(one) for _, one in kept])
        ends = np.array([(one.low, one.high) for _, one in kept]).reshape(-1, 2)
        y = np.array([place for place, _ in kept]) + up
        ax.errorbar(x, y, xerr=np.abs(ends.T - x), fmt="o", capsize=2, markersize=4, label=label, clip_on=False)
    ax.set_yticks(places, [drawable(f"{model}: {score.replace('-', ' ')}") for (model, score), _ in rows])
    ax.set_xlabel(f"share refused, {level_text(found.level)} intervals")
    ax.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(shares), frameon=False)

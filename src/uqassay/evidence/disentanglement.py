"""Lens: do the aleatoric and epistemic estimates move only when they should?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from uqassay.checks import fail
from uqassay.evidence.disentanglement_runs import (
    EXPERIMENTS,
    PARTS,
    STUDY_TABLES,
    ClassDetection,
    Measured,
    chosen,
    class_detection,
    contenders_of,
    rank_disentanglement,
    study_rows,
    study_table,
)
from uqassay.evidence.disentanglement_words import disentanglement_sentences, disentanglement_table, joint_level
from uqassay.evidence.storage import Saved
from uqassay.measures import Decomposition
from uqassay.metrics import (
    DoubtSources,
    EpistemicTrend,
    EstimateCorrelations,
    doubt_sources,
    epistemic_trend_test,
    estimate_correlations,
)
from uqassay.metrics.disentanglement import LEAST_RUNS, Disentanglement, disentanglement_error
from uqassay.notes import Note, distinct
from uqassay.results import Shown, ShownTable, plain
from uqassay.statistics import Estimate
from uqassay.text import counted, estimate_text, listed, percent, pvalue_text, shown

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DisentanglementBehaviour",
    "DisentanglementStudy",
    "Measured",
    "disentanglement_behaviour",
    "join_studies",
    "study_correlations",
]


# A disentanglement study as plain JSON values.


def study_json(study: "DisentanglementStudy", *, level: float = 0.95) -> dict[str, Any]:
    """Curves, errors, terms and left-out classes; see `DisentanglementStudy.to_json`."""
    found: dict[str, Any] = plain(
        {
            "schema": "uqassay.disentanglement-study/1",  # of this JSON
            "method": study.method,
            "dataset": study.dataset,
            "seeds": study.seeds,
            "class_names": study.class_names,
            "decompositions": study.decompositions,
            **{name: study.rows(name, level=level) for name in STUDY_TABLES},
            "facts": study.facts,
            "notes": study.notes,
        }
    )
    return found


# How the aleatoric and epistemic estimates of one method move with more data, with label noise, and for a class left
# out.
#
# A study holds the predictions of one method for the same n test instances in R runs of three experiments (disentanglement,
# sections 3 to 5). Each experiment has its own conditions: shares of the training instances, shares of permuted labels,
# or the class that was left out of the training.


@final
@dataclass(frozen=True, eq=False, repr=False)
class DisentanglementStudy(Shown, Saved):
    """The three experiments of one method on one data set."""

    _schema: ClassVar[str] = "uqassay.disentanglement-study/2"
    _shown_more: ClassVar[str] = "summary(), error(decomposition), table(name)"

    method: str
    dataset: str
    seeds: tuple[int, ...]  #: One for each run.
    class_names: tuple[str, ...]
    measured: Mapping[str, Measured]  #: By the name of the experiment, one of `EXPERIMENTS`; not all need to be there.
    facts: Mapping[str, Any] = field(default_factory=dict)  #: Plain values for the reader: options, sizes, times.
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        seeds, names = tuple(_whole(seed) for seed in self.seeds), tuple(str(name) for name in self.class_names)
        if len(set(seeds)) < len(seeds):
            fail("seeds", "must differ from run to run", f"got {seeds}", "count every run once", code="duplicate")
        if not self.measured:
            fail("measured", "needs at least one experiment", "got none", "run one first", code="empty")
        if not isinstance(self.facts, Mapping):
            fail("facts", "must be a mapping", f"got {shown(self.facts)}", 'pass {"epochs": 100}', code="type")
        for name, found in self.measured.items():
            chosen("measured", name, EXPERIMENTS)
            _check_experiment(name, found, len(seeds), len(names))
        ordered = {name: self.measured[name] for name in EXPERIMENTS if name in self.measured}
        for key, value in {"seeds": seeds, "class_names": names, "measured": ordered}.items():
            object.__setattr__(self, key, value)

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.seeds)

    @property
    def decompositions(self) -> tuple[str, ...]:
        """Names of the decompositions that all experiments have."""
        first, *others = (measured.parts for measured in self.measured.values())
        return tuple(name for name in first if all(name in parts for parts in others))

    def experiment(self, name: str) -> Measured:
        """The results of one experiment."""
        return self.measured[chosen("experiment", name, tuple(self.measured))]

    def error(self, decomposition: str, *, aggregate: str = "mean", level: float = 0.95) -> Disentanglement:
        """The disentanglement error of one decomposition: see `uqassay.metrics.disentanglement_error`."""
        size, noise = (self.experiment(name).curves(decomposition) for name in EXPERIMENTS[:2])
        return disentanglement_error(size, noise, aggregate=aggregate, level=level)

    def detection(self, decomposition: str, *, level: float = 0.95) -> ClassDetection:
        """ROC-AUC of both estimates for the instances of a class that the training did not have (disentanglement, section 5).

        A class without test instances, or the only one of the test set, has the value nan and is left out of the means.
        """
        measured = self.experiment("left-out-class")
        return class_detection(measured, decomposition, self.class_names, level=level)

    def rows(self, name: str, *, level: float = 0.95) -> list[dict[str, Any]]:
        """One finding as rows of plain values.

        Parameters
        ----------
        name : {"curves", "errors", "terms", "detection"}
            "curves": accuracy and mean estimates of every experiment, run and condition. "errors": the disentanglement error
            of every decomposition. "terms": its four terms. "detection": ROC-AUC of both estimates for each class left out,
            and their means. A finding whose experiment was not run has no rows.
        level : float
            Confidence level of the intervals.
        """
        return study_rows(self, name, level=level)

    def table(self, name: str, *, level: float = 0.95) -> "pd.DataFrame":
        """The same rows as a table."""
        return study_table(self, name, level=level)

    def to_json(self, *, level: float = 0.95) -> dict[str, Any]:
        """Every finding as plain values for strict JSON, without the values of single instances."""
        return study_json(self, level=level)

    def _shown_title(self) -> str:
        on = f" on {self.dataset}" if self.dataset else ""
        return f"Disentanglement of {self.method}{on}: {listed(list(self.measured))}, {counted(self.n_runs, 'run')}"

    def _shown_sentences(self) -> Sequence[str]:
        return disentanglement_sentences(contenders_of(self))

    def _shown_table(self) -> ShownTable:
        return disentanglement_table(rank_disentanglement(contenders_of(self)))

    def _shown_notes(self) -> Sequence[str]:
        return [note.text for note in self.notes]


def join_studies(studies: Sequence[DisentanglementStudy]) -> DisentanglementStudy:
    """Studies of the same method, data and conditions as one, with the runs one after another."""
    studies = list(studies)
    if not studies:
        fail("studies", "needs at least one study", "got none", "pass a list of studies", code="empty")
    first = studies[0]
    for study in studies[1:]:
        if (different := _first_difference(first, study)) is not None:
            fail(
                "studies",
                "must be of the same method, data set, classes, conditions and decompositions",
                different,
                "join the studies of each one separately",
                code="mismatch",
            )
    measured = {}
    for name in first.measured:
        blocks = [study.measured[name] for study in studies]
        parts = {
            key: Decomposition(*(np.concatenate([getattr(b.parts[key], part) for b in blocks]) for part in PARTS))
            for key in blocks[0].parts
        }
        measured[name] = Measured(
            blocks[0].conditions,
            np.concatenate([b.labels for b in blocks]),
            np.concatenate([b.probs for b in blocks]),
            parts,
        )
    seeds = tuple(seed for study in studies for seed in study.seeds)
    notes = distinct(*(study.notes for study in studies))
    return replace(first, seeds=seeds, measured=measured, notes=notes)


# -- checks -------------------------------------------------------------------------------------------------------------


def _whole(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, Integral):
        fail("seeds", "must be whole numbers", f"got {shown(seed)}", "give the seed of each run", code="type")
    return int(seed)


def _check_experiment(name: str, found: Measured, n_runs: int, n_classes: int) -> None:
    if not isinstance(found, Measured):
        fail(
            f"measured[{name!r}]",
            "must be a Measured",
            f"got {shown(found)}",
            "pass Measured(conditions, labels, probs, parts)",
            code="type",
        )
    got = (found.n_runs, found.n_classes)
    if got != (n_runs, n_classes):
        fail(
            f"measured[{name!r}]",
            "must have one run for each seed and one probability for each class name",
            f"got {counted(got[0], 'run')} of {counted(got[1], 'class', 'classes')} for {counted(n_runs, 'seed')} "
            f"and {counted(n_classes, 'class name')}",
            "give the seeds and class names of this experiment",
            code="mismatch",
        )
    classes = found.labels if name != "left-out-class" else np.append(found.labels.ravel(), found.conditions)
    if classes.min() < 0 or classes.max() >= n_classes or (classes % 1 != 0).any():
        fail(
            f"measured[{name!r}]",
            f"must have class indices from 0 to {n_classes - 1} as labels and as classes left out",
            f"found {classes.min():g} to {classes.max():g}",
            "number the classes from 0",
            code="range",
        )


def _first_difference(a: DisentanglementStudy, b: DisentanglementStudy) -> str | None:
    """The first thing in which two studies differ, with both values."""
    for name in ("method", "dataset", "class_names"):
        if getattr(a, name) != getattr(b, name):
            return f"{name} {getattr(a, name)!r} and {getattr(b, name)!r}"
    if list(a.measured) != list(b.measured):
        return f"experiments {list(a.measured)} and {list(b.measured)}"
    for name in a.measured:
        for field_name in ("conditions", "n_instances"):
            mine, other = getattr(a.measured[name], field_name), getattr(b.measured[name], field_name)
            if mine != other:
                return f"{field_name} of {name}: {mine} and {other}"
        mine, other = list(a.measured[name].parts), list(b.measured[name].parts)
        if mine != other:
            return f"decompositions of {name}: {mine} and {other}"
    return None


# Three further findings on the runs of a disentanglement study, beyond the disentanglement error.
#
# Whether epistemic uncertainty falls with more data, how strongly all estimates correlate with one another, and which
# source of doubt (few data, seed, bias of the family) the epistemic estimate follows. Sentences claim only things that
# an interval or a test holds.

FINDINGS = ("trend", "correlations", "doubts")
NEARLY_ONE = 0.9  # estimates whose correlation surely exceeds this are called nearly one
SOURCE_TEXT = {
    "seed": "another seed changes the prediction more",
    "few-data": "other training cases change it more",
    "bias": "the run-averaged prediction is further from the label",
}


@final
@dataclass(frozen=True, eq=False)
class DisentanglementBehaviour:
    """Trend, correlations and sources of doubt of one method by one decomposition."""

    method: str
    dataset: str
    decomposition: str
    trend: EpistemicTrend | None
    correlations: EstimateCorrelations | None  #: Of all decompositions of the study.
    doubts: DoubtSources | None
    sentences: tuple[str, ...]  #: The claims that the intervals and tests hold.
    level: float
    notes: tuple[Note, ...] = ()  #: Why a finding is None, and the notes of the findings.

    def rows(self, name: str) -> list[dict[str, Any]]:
        """One finding as rows of plain values: "trend", "correlations" or "doubts"; none where it could not be computed."""
        if name not in FINDINGS:
            fail("name", f"must be {listed(FINDINGS, last='or')}", f"got {name!r}", "choose one", code="choice")
        found = getattr(self, name)
        return [] if found is None else list(found.rows())


def disentanglement_behaviour(
    study: DisentanglementStudy, decomposition: str, *, level: float = 0.95
) -> DisentanglementBehaviour:
    """Trend with more data, correlations of the estimates, and sources of doubt, from the runs of a study.

    Parameters
    ----------
    study : DisentanglementStudy
        The trend and the sources need its dataset-size experiment; the sources also three runs on the same test labels.
    decomposition : str
        Name of the decomposition whose epistemic part is examined.
    level : float
        Of each interval; tests claim at 1 − level. The sentences on the three sources hold together at it (Bonferroni).

    Returns
    -------
    DisentanglementBehaviour
    """
    notes: list[Note] = []
    trend = doubts = None
    claims: list[str] = []
    sizes = study.measured.get("dataset-size")
    if sizes is None:
        notes.append(Note("left-out", "no dataset-size experiment: no trend and no sources of doubt"))
    else:
        epistemic = sizes.decomposed(decomposition).epistemic
        if len(sizes.conditions) > 1:
            trend = epistemic_trend_test(epistemic, sizes.conditions, level=level)
        else:
            notes.append(Note("left-out", "one share of the training cases: no trend"))
        missing = _no_sources(sizes)
        if missing:
            notes.append(Note("left-out", f"{missing}: no sources of doubt"))
        else:
            given = (sizes.probs, epistemic, sizes.labels[0, 0], sizes.conditions)
            doubts = doubt_sources(*given, level=level)
            joint = joint_level(level)  # the claims about the three sources hold together at `level`
            claims = _doubt_sentences(doubt_sources(*given, level=joint), round(joint, 3))
    correlations, why = study_correlations(study, level=level)
    if why is not None:
        notes.append(why)
    sentences = [
        *(_trend_sentences(trend, level) if trend is not None else []),
        *(_correlation_sentences(correlations, decomposition, level) if correlations is not None else []),
        *claims,
    ]
    return DisentanglementBehaviour(
        method=study.method,
        dataset=study.dataset,
        decomposition=decomposition,
        trend=trend,
        correlations=correlations,
        doubts=doubts,
        sentences=tuple(sentences),
        level=level,
        notes=tuple(notes),
    )


def study_correlations(
    study: DisentanglementStudy, *, parts: Sequence[str] = PARTS, level: float = 0.95
) -> tuple[EstimateCorrelations | None, Note | None]:
    """Correlations of all estimates of a study, on all training instances and without noise.

    Parameters
    ----------
    study : DisentanglementStudy
    parts : sequence of str
        Of "total", "aleatoric" and "epistemic".
    level : float

    Returns
    -------
    correlations : EstimateCorrelations or None
        The names are "DECOMPOSITION PART". Of estimates with the same numbers the first alone is used.
    note : Note or None
        Why there are none, or which estimates are left out.
    """
    name, place = _plain_condition(study)
    if name is None:
        return None, Note("left-out", "no correlations, which need a condition with all cases and unchanged labels")
    measured = study.measured[name]
    chosen: dict[str, NDArray[Any]] = {}
    same: list[str] = []
    for decomposition, found in measured.parts.items():
        for part in parts:
            values = getattr(found, part)[:, place]
            if any(np.array_equal(values, other) for other in chosen.values()):
                same.append(f"{decomposition} {part}")
            else:
                chosen[f"{decomposition} {part}"] = values
    if len(chosen) < 2 or measured.n_instances < 2:
        return None, Note("left-out", "fewer than two different estimates or cases: no correlations")
    text = f"{listed(same)}: the same numbers as another estimate"
    return estimate_correlations(chosen, level=level), Note("left-out", text, {"names": same}) if same else None


def _plain_condition(study: DisentanglementStudy) -> tuple[str | None, int]:
    """Experiment and place of the condition with all training instances and no permuted label."""
    for name, value in (("dataset-size", 1.0), ("label-noise", 0.0)):
        conditions = study.measured[name].conditions if name in study.measured else ()
        if value in conditions:
            return name, conditions.index(value)
    return None, 0


def _no_sources(sizes: Measured) -> str:
    """Why the sources of doubt cannot be found; empty if they can."""
    if sizes.n_runs < LEAST_RUNS:
        return f"{counted(sizes.n_runs, 'run')} of the {LEAST_RUNS} needed"
    if (sizes.labels != sizes.labels[0, 0]).any():
        return "the runs have different test labels"
    return ""


# -- sentences ----------------------------------------------------------------------------------------------------------------


def _text(found: Estimate, level: float, decimals: int = 2) -> str:
    return estimate_text(float(found), found.low, found.high, level=level, decimals=decimals)


def _percent(share: float) -> str:
    return percent(share, 0 if (100 * share) % 1 < 1e-9 else 1)


def _trend_sentences(trend: EpistemicTrend, level: float) -> list[str]:
    alpha, n_runs = 1 - level, len(trend.means)
    tau = f"mean Kendall's τ {_text(trend.mean_tau, level)}"
    rising = percent(float(trend.rising), 0, in_sentence=True)
    if trend.pvalue_falls <= alpha:
        said = [
            f"Epistemic uncertainty falls with more training data: {tau}, {pvalue_text(trend.pvalue_falls)} "
            f"(sign flips over {counted(n_runs, 'run')}); it rises for {rising} of the cases."
        ]
    elif trend.pvalue_rises <= alpha:
        said = [
            f"Epistemic uncertainty rises with more training data, though it should fall: {tau}, "
            f"{pvalue_text(trend.pvalue_rises)} (sign flips over {counted(n_runs, 'run')})."
        ]
    elif 2.0**-n_runs > alpha:
        said = [
            f"{counted(n_runs, 'run').capitalize()} cannot show whether epistemic uncertainty falls with more training data: "
            f"{tau}."
        ]
    else:
        said = [f"These runs do not show that epistemic uncertainty falls with more training data: {tau}."]
    holes = [step for step in trend.steps if step.pvalue_holm <= alpha]
    if holes:
        steps = listed([f"from {_percent(step.start)} to {_percent(step.end)}" for step in holes])
        largest = max(step.pvalue_holm for step in holes)
        relation = "=" if len(holes) == 1 else "≤"
        said.append(
            f"Its mean rises {steps} of the training cases, an epistemic uncertainty hole "
            f"({pvalue_text(largest, relation)}, t tests over the runs, adjusted for {counted(len(trend.steps), 'step')})."
        )
    return said


def _correlation_sentences(found: EstimateCorrelations, decomposition: str, level: float) -> list[str]:
    pair = [f"{decomposition} {part}" for part in ("aleatoric", "epistemic")]
    if any(name not in found.names for name in pair):
        return []
    between = found.between(*pair)
    text = f"rank correlation {_text(between, level)}"
    if between.low > NEARLY_ONE:
        return [
            f"The aleatoric and the epistemic estimate are nearly one: they put the cases in the same order, {text}."
        ]
    if between.low > 0:
        return [f"Instances with a higher aleatoric estimate have a higher epistemic one: {text}."]
    if between.high < 0:
        return [f"Instances with a higher aleatoric estimate have a lower epistemic one: {text}."]
    return []


def _doubt_sentences(found: DoubtSources, level: float) -> list[str]:
    sure = {
        name: found.overall[name] for name in SOURCE_TEXT if found.overall[name].low > 0 or found.overall[name].high < 0
    }
    said = []
    for above, word in ((True, "higher"), (False, "lower")):
        clauses = [
            f"{SOURCE_TEXT[name]} (correlation {_text(value, level)})"
            for name, value in sure.items()
            if (value.low > 0) == above
        ]
        if clauses:
            said.append(f"The epistemic estimate is {word} where {listed(clauses)}.")
    unsure = [name for name in SOURCE_TEXT if name not in sure and np.isfinite(found.overall[name].low)]
    if unsure:
        names = {"seed": "the seed", "few-data": "few data", "bias": "the bias of the family"}
        who = "it" if said else "the epistemic estimate"
        said.append(f"These runs do not show that {who} follows {listed([names[name] for name in unsure], last='or')}.")
    return said

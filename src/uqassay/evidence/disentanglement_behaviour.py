"""Three further findings on the runs of a disentanglement study, beyond the disentanglement error.

Whether epistemic uncertainty falls with more data, how strongly all estimates correlate with one another, and which source of
doubt (few data, seed, bias of the family) the epistemic estimate follows. Sentences claim only things that an interval or a
test holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from uqassay.errors import InputError
from uqassay.evidence.disentanglement import DisentanglementStudy
from uqassay.evidence.disentanglement_measured import PARTS, Measured
from uqassay.evidence.disentanglement_readings import joint_level
from uqassay.metrics import (
    DoubtSources,
    EpistemicTrend,
    EstimateCorrelations,
    doubt_sources,
    epistemic_trend_test,
    estimate_correlations,
)
from uqassay.metrics.doubts import LEAST_RUNS
from uqassay.notes import Note
from uqassay.statistics import Estimate
from uqassay.wording import counted, estimate_text, listed, percent, pvalue_text

__all__ = ["DisentanglementBehaviour", "disentanglement_behaviour", "study_correlations"]

FINDINGS = ("trend", "correlations", "doubts")
NEARLY_ONE = 0.9  # estimates whose correlation surely exceeds this are called nearly one
SOURCE_TEXT = {
    "seed": "another seed changes the prediction more",
    "few-data": "other training instances change it more",
    "bias": "the run-averaged prediction is further from the label",
}


@final
@dataclass(frozen=True, eq=False)
class DisentanglementBehaviour:
    """Trend, correlations and sources of doubt of one method by one decomposition.

    Attributes
    ----------
    method, dataset, decomposition : str
    trend : EpistemicTrend or None
    correlations : EstimateCorrelations or None
        Of all decompositions of the study.
    doubts : DoubtSources or None
    sentences : tuple of str
        The claims that the intervals and tests hold.
    level : float
    notes : tuple of Note
        Why a finding is None, and the notes of the findings.
    """

    method: str
    dataset: str
    decomposition: str
    trend: EpistemicTrend | None
    correlations: EstimateCorrelations | None
    doubts: DoubtSources | None
    sentences: tuple[str, ...]
    level: float
    notes: tuple[Note, ...] = ()

    def rows(self, name: str) -> list[dict[str, Any]]:
        """One finding as rows of plain values: "trend", "correlations" or "doubts"; none where it could not be computed.

        Raises
        ------
        InputError
            Another name.
        """
        if name not in FINDINGS:
            raise InputError(
                "name", f"must be {listed(FINDINGS, last='or')}", f"got {name!r}", "choose one", code="choice"
            )
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

    Raises
    ------
    InputError
        The study has no such decomposition.
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
            notes.append(Note("left-out", "one share of the training instances: no trend"))
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
        return None, Note("left-out", "no correlations, which need a condition with all instances and unchanged labels")
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
        return None, Note("left-out", "fewer than two different estimates or instances: no correlations")
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
            f"(sign flips over {counted(n_runs, 'run')}); it rises for {rising} of the instances."
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
            f"Its mean rises {steps} of the training instances, an epistemic uncertainty hole "
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
            f"The aleatoric and the epistemic estimate are nearly one: they put the instances in the same order, {text}."
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

"""Certified refusal by one score of one model, both chosen on the part of the instances that does not certify."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from uqassay._shown import Shown
from uqassay._shown_table import ShownTable
from uqassay.errors import InputError
from uqassay.evidence.mistake_ranking import reference_score, scores_of, truths_and_scores
from uqassay.metrics.risk.certified_refusal import CertifiedRefusal, certify, plan_on
from uqassay.metrics.risk.expected_cost import ExpectedCost, expected_cost_curve
from uqassay.metrics.risk.refusal_parts import divide, whole_errors
from uqassay.statistics.samples import Floats

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["Considered", "ModelRefusal", "certified_refusal_of", "errors_and_score", "expected_cost_of"]


class Considered(NamedTuple):
    """One score of one model in the choosing part.

    Attributes
    ----------
    model, score : str
    coverage : float
        Share kept at the highest threshold that is likely to be certified; 0 if none is. It is no estimate for new data.
    evidence : float
        At the first threshold: the power of the binomial test, or the expected evidence of the test for groups (1 suffices).
    """

    model: str
    score: str
    coverage: float
    evidence: float


@dataclass(frozen=True, eq=False, repr=False)
class ModelRefusal(Shown):
    """A threshold on one score of one model; made by `Assay.certified_refusal`.

    Attributes
    ----------
    model, score : str
        Chosen on the choosing part, if there were several.
    run : int or None
        The training run, counted from 0, of a model that has several.
    refusal : CertifiedRefusal
    considered : tuple of Considered
        All scores that could be chosen, the best first.
    """

    _shown_more: ClassVar[str] = "summary(), sentence(), refusal, considered, to_dict()"

    model: str
    score: str
    run: int | None
    refusal: CertifiedRefusal
    considered: tuple[Considered, ...]

    @property
    def threshold(self) -> float:
        """The threshold to deploy; nan if none could be certified."""
        return self.refusal.threshold

    @property
    def certified(self) -> bool:
        """True if there is a threshold."""
        return self.refusal.certified

    def sentence(self) -> str:
        """The result in one sentence. The choice of model and score does not weaken its confidence."""
        model = self.model if self.run is None else f"{self.model} (run {self.run + 1})"
        return self.refusal.sentence(score=self.score, model=model)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for strict JSON."""
        return {
            "model": self.model,
            "score": self.score,
            "run": None if self.run is None else self.run + 1,
            **self.refusal.to_dict(),
            "sentence": self.sentence(),
            "considered": [one._asdict() for one in self.considered],
        }

    def _shown_title(self) -> str:
        return self.refusal._shown_title()

    def _shown_sentences(self) -> Sequence[str]:
        return (self.sentence(),)

    def _shown_details(self) -> Sequence[str]:
        n = len(self.considered)
        return () if n == 1 else (f"Chosen among {n} scores on the choosing part alone.",)

    def _shown_notes(self) -> Sequence[str]:
        return self.refusal._shown_notes()

    def _shown_table(self) -> ShownTable:
        return self.refusal._shown_table()


def certified_refusal_of(
    assay: "Assay",
    model: str | None,
    score: str | Sequence[str] | None,
    *,
    risk: float,
    confidence: float,
    run: int | None,
    choosing: ArrayLike | None,
    share: float,
    rng: int | np.random.Generator | None,
) -> ModelRefusal:
    """See `Assay.certified_refusal`."""
    parts = divide(assay.n_instances, assay.groups, choosing, share, rng)
    plans = []
    for name, one, errors, uncertainty in _offered(assay, model, score, run):
        plan = plan_on(errors, uncertainty, parts, risk, confidence)
        plans.append((Considered(name, one, *plan.promise), errors, uncertainty, plan))
    plans.sort(key=lambda found: (-found[0].coverage, -found[0].evidence))  # stable: the first given of equal ones
    best, errors, uncertainty, plan = plans[0]
    return ModelRefusal(
        model=best.model,
        score=best.score,
        run=run if assay[best.model].n_runs > 1 else None,
        refusal=certify(errors, uncertainty, parts, plan, confidence),
        considered=tuple(found[0] for found in plans),
    )


def expected_cost_of(
    assay: "Assay",
    model: str,
    score: str | None,
    *,
    prices: ArrayLike | None,
    run: int | None,
    rng: int | np.random.Generator | None,
) -> ExpectedCost:
    """See `Assay.expected_cost`."""
    chosen = reference_score(assay, model) if score is None else score
    if chosen is None:
        raise InputError(
            "score", f"{model!r} has none", "", "compute one by the argument measures of assay", code="missing"
        )
    errors, uncertainty = errors_and_score(assay, model, chosen, run)
    return expected_cost_curve(
        errors, uncertainty, prices=prices, groups=assay.groups, level=assay.settings.level, rng=rng
    )


def errors_and_score(assay: "Assay", model: str, score: str, run: int | None) -> tuple[Floats, Floats]:
    """Errors of 0 and 1, and a score, of one training run, (n,) each.

    Raises
    ------
    InputError
        A model of several runs where none is chosen, a run that it does not have, label distributions.
    """
    if assay.labels.ndim == 2:
        raise InputError(
            "y_true",
            "a threshold on mistakes needs one label for each instance",
            "got label distributions",
            "give class indices",
            code="type",
        )
    errors, scores = truths_and_scores(assay, model, score, "errors")
    n = len(errors)
    if n > 1 and run is None:
        raise InputError(
            "run",
            "a threshold belongs to one training run",
            f"{model!r} has {n}",
            f"choose one of 0 to {n - 1}",
            code="missing",
            facts={"runs": n},
        )
    if run is not None and n > 1 and run not in range(n):
        raise InputError(
            "run",
            f"must be one of the {n} runs of {model!r}",
            f"got {run!r}",
            f"choose one of 0 to {n - 1}",
            code="range",
            facts={"runs": n, "run": run},
        )
    row = 0 if run is None or n == 1 else int(run)
    return whole_errors(errors[row], scores[row])


def _offered(
    assay: "Assay", model: str | None, score: str | Sequence[str] | None, run: int | None
) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Model, score, errors and uncertainty of everything that may be chosen."""
    names = assay.model_names if model is None else (assay[model].name,)
    wanted = None if score is None else [score] if isinstance(score, str) else list(score)
    known = {name: scores_of(assay[name], assay) for name in names}
    every = list(dict.fromkeys(one for of_model in known.values() for one in of_model))
    if not any(assay[name].predicts_classes for name in names):
        raise InputError(
            "model",
            "must predict one class for each instance, so that there are mistakes",
            f"got class sets of {', '.join(names)}",
            "give the probabilities behind the sets",
            code="undefined",
        )
    unknown = [one for one in wanted or () if one not in every]
    if unknown or not (wanted if wanted is not None else every):
        raise InputError(
            "score",
            f"must be among {', '.join(every) or 'none'}",
            f"got {unknown[0]!r}" if unknown else "got none",
            "choose from them",
            code="choice",
        )
    for name in names:
        for one in known[name]:
            if wanted is None or one in wanted:
                yield name, one, *errors_and_score(assay, name, one, run)

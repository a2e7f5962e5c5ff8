"""Everything the page shows, as plain values computed from an `Assay` alone."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uqassay._json import plain
from uqassay.errors import InputError
from uqassay.evidence.colour_order import colour_order
from uqassay.evidence.rank_sets import rank_sets_at
from uqassay.evidence.storage import to_json
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.measures.scores import SCORES
from uqassay.metrics.choice_of_tradeoff import tradeoff_range
from uqassay.report.definitions import Definition, definition_of, page_definitions
from uqassay.report.distributions import confidence_lines, densities, mean_regions
from uqassay.report.lenses import LENSES, lens_sections
from uqassay.report.rank_sets import rank_sets_section
from uqassay.report.sentences import page_sentences
from uqassay.report.sentences.comparison import kind_text
from uqassay.report.sentences.ranking import answer_sentence, beyond_sentence, cost_label, winner_sentence
from uqassay.report.sentences.sections import order_values
from uqassay.wording import level_text, listed_names

if TYPE_CHECKING:
    from uqassay.evidence.ranking import Ranked
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores

__all__ = ["SCHEMA", "STEPS", "payload", "tradeoff_grid"]

SCHEMA = "uqassay.page/1"
WORK = 4e7  # models × runs × instances × λ of the rankings kept; fewer λ where it would be more
PAIR_WORK = 5e7  # pairs of models × instances × λ, likewise
SUMMARISED = ("total-entropy", "epistemic-entropy", "credal-width")  # and those computed on request only
STEPS = (
    *("scores", "findings", "conclusions", "rankings", "rank sets", "pictures"),
    *(lens.id for lens in LENSES),
    "instances",
)  # parts of the page in the order in which they are made
ABSTENTION_COSTS = (0.01, 0.02, 0.05, 0.1, 0.2, 1 / 3, 0.5, 1.0)


def payload(
    assay: "Assay", *, command: str | None = None, progress: Callable[[str], None] = lambda step: None
) -> dict[str, Any]:
    """Values of the page that a strict JSON writer takes.

    Parameters
    ----------
    assay : Assay
    command : str, optional
        The command line that makes the page again.
    progress : callable, optional
        Called with the name of each part when it begins: all of `STEPS` but the last.

    Returns
    -------
    dict
        "assay": findings and settings as `Assay.to_json` gives them; "ranking": `Assay.ranked` at every λ of
        `tradeoff_grid`; "rank_sets": the ranks that each model can have by other metrics; "regions", "densities",
        "confidence": from all instances; "lenses": one entry per further question; "definitions"; "text": sentences and
        templates of the fixed sections. `single_instances` gives the rest.

    Examples
    --------
    >>> import uqassay as uq
    >>> p = payload(uq.assay({"m": uq.Point([[0.9, 0.1], [0.2, 0.8]])}, [0, 1]))
    >>> p["models"][0]["name"], p["ranking"]["grid"][:3]
    ('m', [0.0, 0.01, 0.02])
    """
    grid = tradeoff_grid(assay)
    measures = [m for m in ("nonspecificity", "total-entropy") if m in assay.candidates[0].columns]
    stages: dict[str, Callable[[], dict[str, Any]]] = {
        "scores": lambda: _found_before(assay.mistake_ranking()),
        "findings": lambda: _found_before(assay.rows("findings")),
        "conclusions": lambda: {
            "assay": to_json(assay),
            "models": _models(assay),
            "facts": _facts(assay),
            "text": page_sentences(assay),
            "definitions": {name: d._asdict() for name, d in _definitions(assay).items()},
        },
        "rankings": lambda: {"ranking": _ranking(assay, grid)},
        "rank sets": lambda: {"rank_sets": rank_sets_section(assay)},
        "pictures": lambda: {
            "regions": mean_regions(assay),
            "densities": densities(assay, float(grid[-1])),
            "confidence": confidence_lines(assay, tuple(measures)),
        },
    }
    values: dict[str, Any] = {"schema": SCHEMA, "command": command}
    for stage, build in stages.items():
        progress(stage)
        values |= {name: value if name == "assay" else plain(value) for name, value in build().items()}
    return values | {"lenses": plain(lens_sections(assay, progress=progress))}


def _found_before(found: object) -> dict[str, Any]:
    """Nothing of the page: what is found here is kept by the assay, and later stages take it from there."""
    return {}


def _models(assay: "Assay") -> list[dict[str, Any]]:
    places = {name: place for place, name in enumerate(colour_order(assay))}
    return [_model(m) | {"colour": places.get(m.name)} for m in assay.models]


def _model(m: "ModelScores") -> dict[str, Any]:
    return {
        "name": m.name,
        "kind": m.kind,
        "kind_text": kind_text(m),
        "baseline": m.baseline,
        "runs": m.n_runs,
        "points": m.n_points,
        "precise": m.n_points == 1,
        "accuracy": float(m.columns["correct"].mean()),
        "notes": [note.to_dict() for note in m.notes],
    }


def _facts(assay: "Assay") -> dict[str, Any]:
    settings = assay.settings
    return {
        "instances": assay.n_instances,
        "classes": assay.n_classes,
        "groups": None if assay.groups is None else len(np.unique(assay.groups)),
        "distributions": assay.labels.ndim == 2,
        "level": settings.level,
        "level_text": level_text(settings.level),
        "draws": settings.n_draws,
        "resampled": assay.n_units,
        "distance": settings.distance,
        "distance_metric": settings.distance_metric,
        "measures": [m for m in settings.measures if m in SUMMARISED or (m in SCORES and SCORES[m].on_request)],
    }


def _definitions(assay: "Assay") -> dict[str, Definition]:
    found = page_definitions(assay.settings, label_distributions=assay.labels.ndim == 2)
    found |= {m: definition_of(m) for m in assay.settings.measures if m in SCORES}
    return found | {"distance": definition_of(assay.settings.distance_metric)}


def tradeoff_grid(assay: "Assay") -> NDArray[np.float64]:
    """The λ of the page: evenly spaced from 0 past the last change of the winner, with `assay.tradeoffs` and 0.5.

    The grid ends at ten times the usual largest λ at the latest; the page names the winners beyond.

    Examples
    --------
    >>> import uqassay as uq
    >>> grid = tradeoff_grid(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    >>> len(grid), float(grid[-1])
    (201, 2.0)
    """
    scale = _scale(assay)
    last = max((low for low, _, _ in assay.winners()), default=0.0)
    top = max(2 * scale, assay.tradeoffs[-1], DEFAULT_TRADEOFF)
    top = max(top, min(1.2 * last, 10 * top))
    work = sum(m.n_runs for m in assay.models) * assay.n_instances
    pairs = len(assay.models) * (len(assay.models) - 1) / 2 * assay.n_instances
    intervals = int(np.clip(min(WORK / work, PAIR_WORK / pairs if pairs else np.inf), 21, 201)) - 1
    wanted = top / intervals
    power = 10.0 ** np.floor(np.log10(wanted))
    step = next(float(f) * power for f in (1, 2, 5, 10) if f * power >= wanted * (1 - 1e-9))
    even = np.round(np.arange(int(np.ceil(top / step - 1e-9)) + 1) * step, 12)
    return np.union1d(even, [*assay.tradeoffs, DEFAULT_TRADEOFF])


def _scale(assay: "Assay") -> float:
    """How λ shrinks from KL to this assay's distance; 1 where that cannot be known."""
    try:
        scale = assay.tradeoff_scale()
    except InputError:
        return 1.0
    return scale if scale > 0 else 1.0


def _ranking(assay: "Assay", grid: NDArray[np.float64]) -> dict[str, Any]:
    """Tables of all models along λ, the winners with their words, changes of the order, the questionnaire."""
    tables: dict[str, list[dict[str, Any]]] = {m.name: [] for m in assay.models}
    order, findings = [], list[dict[str, Any]]()
    rank_sets_at(assay, grid.tolist())  # those of all λ together, which `ranked` takes
    for tradeoff in grid.tolist():
        ranked = assay.ranked(tradeoff)
        order.append([r.model for r in ranked])
        findings.append(order_values(ranked, assay.settings))
        for r in ranked:
            tables[r.model].append(_ranked(r, one=assay.n_units == 1))
    place = {m.name: j for j, m in enumerate(assay.models)}
    winners = [(low, high, list(names)) for low, high, names in assay.winners()]
    changes = [{"at": at, "below": a, "above": b} for at, a, b in assay.ranking_changes()]
    top = float(grid[-1])
    return {
        "grid": grid.tolist(),
        "reference": int(np.flatnonzero(grid == DEFAULT_TRADEOFF)[0]),
        "models": [{key: [row[key] for row in tables[m.name]] for key in tables[m.name][0]} for m in assay.models],
        "order": [[place[name] for name in names] for names in order],
        "winners": [
            {"low": low, "high": high, "models": names, "name": listed_names(names)}
            | {"words": winner_sentence(low, high, names, top)}
            for low, high, names in winners
        ],
        "beyond": beyond_sentence(assay, winners, top),
        "changes": changes,
        "findings": _stretches(findings),
        "questions": _questions(winners, _scale(assay)),
        "scale": _scale(assay),
    }


def _stretches(findings: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings that are the same at neighbouring λ once, each "from" its first place of the grid."""
    return [{"from": i} | found for i, found in enumerate(findings) if not i or found != findings[i - 1]]


def _ranked(row: "Ranked", *, one: bool) -> dict[str, Any]:
    """One model at one λ; with `one` instance or group there is nothing to resample, so no share of resamples."""
    return {
        "estimate": float(row.estimate),
        "low": row.estimate.low,
        "high": row.estimate.high,
        "win_share": None if one else row.win_share,
        "difference": float(row.difference),
        "difference_low": row.difference.low,
        "difference_high": row.difference.high,
        "pvalue_adjusted": row.pvalue_adjusted,
        "limited_by": row.limited_by,
        "rank_low": row.rank_low,
        "rank_high": row.rank_high,
        "top": row.top,
        "below": row.below,
    }


def _questions(winners: Sequence[tuple[float, float, Sequence[str]]], scale: float) -> list[dict[str, Any]]:
    """The λ and the sentence for every answer of the questionnaire."""
    out = []
    for abstention, cost in ((False, None), *((True, cost) for cost in ABSTENTION_COSTS)):
        found = _range(abstention, cost, scale)
        answer = answer_sentence(found["low"], found["high"], found["reason"], winners)
        label = "" if cost is None else cost_label(cost)
        out.append({"abstention": abstention, "cost": cost, "label": label, **found, "answer": answer})
    return out


def _range(abstention: bool, cost: float | None, scale: float) -> dict[str, Any]:
    low, high, reason = tradeoff_range(abstention, cost)
    reason = reason.replace(f"{1 / 3:g}", "1/3")
    if scale != 1.0:
        reason += (
            f" For this distance λ is multiplied by {scale:.3g}, the ratio of the largest distance to the largest KL."
        )
    return {"low": low * scale, "high": high * scale, "reason": reason}

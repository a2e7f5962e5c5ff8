"""The calibration tests of an assay in one sentence of its verdict."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from uqassay.calibration.monte_carlo import pvalue_text
from uqassay.evidence.calibration_tests import ModelCalibration, holm_adjusted

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["calibration_sentence"]

SHOWN_MODELS = 5  # names that one sentence can still hold
_NOTION = {"strong": "strongly"}


def calibration_sentence(assay: "Assay") -> str:
    """Which models the calibration tests reject, adjusted for all of them."""
    adjusted = holm_adjusted(assay.calibration).tolist()
    tests = [(test, p) for test, p in zip(assay.calibration, adjusted, strict=True) if not np.isnan(p)]
    if not tests:
        return ""
    alpha, first = 1 - assay.settings.level, tests[0][0]
    part = ""
    if first.n_tested < first.n_instances:
        part = f" on {first.n_tested:,} of {first.n_instances:,} instances"
    rejected = [(test, p) for test, p in tests if p <= alpha + 1e-12]
    if not rejected:
        least = min(p for _, p in tests)
        hopeless = all(len(tests) / (test.n_draws + 1) > alpha for test, _ in tests)
        why = f", where {first.n_draws} draws could reject none" if hopeless and least < 1 else ""
        among = f"least {pvalue_text(least)} by Holm in {len(tests)} tests" if len(tests) > 1 else pvalue_text(least)
        return f"The calibration tests could not tell {_untold(assay)} from a calibrated one ({among}{part}{why})."
    groups: dict[tuple[str, tuple[str, ...]], dict[str, list[tuple[ModelCalibration, float]]]] = {}
    for model in assay.model_names:
        mine = [(test, p) for test, p in rejected if test.model == model]
        if mine:
            notions = tuple(dict.fromkeys(test.notion for test, _ in mine))
            kind = "point" if assay[model].n_points == 1 else mine[0][0].tested
            groups.setdefault((kind, notions), {})[model] = mine
    parts = [_rejected(assay, kind, notions, models) for (kind, notions), models in groups.items()]
    if next(iter(groups))[0] != "point":  # names stand as they were given
        parts[0] = parts[0][0].upper() + parts[0][1:]
    parts[-1] += _yet(rejected, alpha)
    how = f"adjusted by Holm for {len(tests)} tests{part}" if len(tests) > 1 else f"in a test{part}"
    return f"{'; '.join(parts)}, {how}."


def _rejected(
    assay: "Assay",
    kind: str,
    notions: tuple[str, ...],
    models: dict[str, list[tuple[ModelCalibration, float]]],
) -> str:
    """What the tests reject of models that they say the same of."""
    words = [_NOTION.get(notion, notion) for notion in notions]
    pvalues = [p for found in models.values() for _, p in found]
    word = pvalue_text(max(pvalues))
    p = word.replace("p = ", "p ≤ ") if len(pvalues) > 1 else word
    tested = [t for t in assay.calibration if t.model in models]
    n_runs = len({t.run for t in tested})
    if n_runs > 1:
        n_bad = len({(t.model, t.run) for found in models.values() for t, _ in found})
        p = f"in {n_bad} of {len({(t.model, t.run) for t in tested})} runs, {p}"
    names = list(models)
    if kind == "mixtures":
        counts = {name: (models[name][0][0].n_members, models[name][0][0].noun) for name in names}
        if len(names) == 1:
            n, noun = counts[names[0]]
            return f"no mixture of the {n} {noun} of {names[0]} is {' or '.join(words)} calibrated ({p})"
        nouns = {noun for _, noun in counts.values()}
        noun = nouns.pop() if len(nouns) == 1 else "members or vertices"
        return f"no mixture of the {noun} of {_shown(names, 'or')} is {' or '.join(words)} calibrated ({p})"
    not_so = f"not {words[0]}" if len(words) == 1 else f"neither {' nor '.join(words)}"
    subject = _shown(names, "and") if kind == "point" else f"the mean of {_shown(names, 'and of')}"
    return f"{subject} {'are' if len(names) > 1 and kind == 'point' else 'is'} {not_so} calibrated ({p})"


def _yet(rejected: list[tuple[ModelCalibration, float]], alpha: float) -> str:
    """Models whose mean passes where every mixture is rejected: a mixture itself, so the two tests disagree."""
    passing = dict.fromkeys(t.model for t, _ in rejected if t.tested == "mixtures" and t.mean_pvalue > alpha + 1e-12)
    if not passing:
        return ""
    return f" (yet the mean of {_shown(list(passing), 'and of')}, tested alone, is not rejected)"


def _untold(assay: "Assay") -> str:
    tested = {test.tested for test in assay.calibration}
    if tested == {"mixtures"}:
        return (
            "the best mixture of any model's members"
            if len(assay.candidates) > 1
            else "the best mixture of the members"
        )
    many = "any model" if len(assay.candidates) > 1 else assay.model_names[0]
    return f"{many}, or the best mixture of its members," if "mixtures" in tested else many


def _shown(names: Sequence[str], joint: str) -> str:
    """As many names as one sentence can hold."""
    if len(names) > SHOWN_MODELS:
        names = [*names[: SHOWN_MODELS - 1], f"{len(names) - SHOWN_MODELS + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {joint} {names[-1]}"

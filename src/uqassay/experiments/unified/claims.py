"""The paper's qualitative findings, tested on predictors trained here: each with the paired intervals that decide it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from uqassay.evidence.findings import one_run
from uqassay.experiments.unified.tables import LINE, means_by_part
from uqassay.statistics import PairedComparison, holm, paired_mean_test

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["claim_lines"]

ALPHA = 0.05
Verdict = Literal["holds", "does not hold", "open"]


def claim_lines(
    dataset: str,
    assays: "Mapping[str, Assay]",
    ranked: "Mapping[str, Assay]",
    members: "Mapping[str, Mapping[str, Mapping[int, Assay]]]",
) -> list[str]:
    """One sentence for each finding of the paper and convention.

    Parameters
    ----------
    dataset : str
    assays, ranked : dict of str to Assay
        As in `table_cells`.
    members : dict of str to dict of str to dict of int to Assay
        By convention, model and number of members (Figure 13).

    Notes
    -----
    A finding that orders two means holds if the paired 95 % interval of their difference lies on its side of 0, does not hold
    if it lies on the other side, and is open if it contains 0; several comparisons are adjusted by Holm.
    """
    lines = [
        f"Findings of the paper, on {dataset} (paired tests over instances and runs, Holm at 5 %; intervals are not adjusted):"
    ]
    for convention, found in ranked.items():
        lines.append(f"  {LINE[convention]}")
        claims = [
            _first(found, "DE", 0.1),
            _first(found, "RS-NN", 1.0),
            _extreme(found, ("RS-NN",), least=True),
            _extreme(found, ("EDL", "E-CNN"), least=False),
            _correct_below(assays[convention], "kl", "KL"),
            _correct_below(found, "ns", "NS"),
            *(_grows(name, by_size) for name, by_size in members[convention].items()),
        ]
        lines += [f"    {claim}" for claim in claims if claim]
    return lines


# ---- findings --------------------------------------------------------------------------------------------------------


def _first(found: "Assay", model: str, tradeoff: float) -> str:
    """Whether a model has the lowest mean E of those that state sets."""
    if model not in found.model_names or len(found.model_names) < 2:
        return ""
    others = [name for name in found.model_names if name != model]
    tests = [found.compare(model, other, tradeoff=tradeoff) for other in others]
    place = next(r.rank for r in found.ranked(tradeoff) if r.model == model)
    rival = min(range(len(others)), key=lambda j: found.loss(others[j], tradeoff).mean())
    verdict = _verdict(tests, lower=True)
    return (
        f"{model} has the lowest E at λ = {tradeoff:g}: {verdict}; place {place} of {len(found.model_names)}, "
        f"E minus that of {others[rival]} {_words(tests[rival])}"
    )


def _extreme(found: "Assay", chosen: Sequence[str], *, least: bool) -> str:
    """Whether some models have lower, or greater, mean NS than all others."""
    others = [name for name in found.model_names if name not in chosen]
    if not others or any(name not in found for name in chosen):
        return ""
    pairs = [(a, b) for a in chosen for b in others]
    tests = [_of_columns(found, a, b) for a, b in pairs]
    # the comparison that tells least in favour of the finding
    nearest = max(range(len(tests)), key=lambda i: float(tests[i].difference) * (1 if least else -1))
    a, b = pairs[nearest]
    what = "the least NS" if least else "greater NS than all others"
    return (
        f"{' and '.join(chosen)} {'has' if len(chosen) == 1 else 'have'} {what}: {_verdict(tests, lower=least)}; "
        f"nearest to the contrary, NS of {a} minus that of {b} {_words(tests[nearest])}"
    )


def _correct_below(found: "Assay", quantity: str, name: str) -> str:
    """In how many models a quantity is lower where the prediction is correct; intervals of the two parts, not paired."""
    means = means_by_part(found, "correct", terms=True)
    below, above, unclear = [], [], []
    for model in found.model_names:
        right, wrong = (means.get((model, part, quantity)) for part in ("correct", "wrong"))
        if right is None or wrong is None or (quantity == "ns" and right.mean == wrong.mean == 0):
            continue
        if right.high < wrong.low:
            below.append(model)
        elif wrong.high < right.low:
            above.append(model)
        else:
            unclear.append(model)
    total = len(below) + len(above) + len(unclear)
    if total == 0:
        return ""
    verdict: Verdict = "does not hold" if above else "open" if unclear else "holds"
    rest = [f"contrary {', '.join(above)}"] * bool(above) + [f"open {', '.join(unclear)}"] * bool(unclear)
    tail = f" ({'; '.join(rest)})" if rest else ""
    return (
        f"{name} is lower for correct than for incorrect predictions: {verdict}; the intervals lie apart in "
        f"{len(below)} of {total} models{tail}"
    )


def _grows(model: str, by_size: "Mapping[int, Assay]") -> str:
    """Whether mean E at λ = 1 grows with the number of members or draws (Figure 13)."""
    if len(by_size) < 2:
        return ""
    few, many = min(by_size), max(by_size)
    test = paired_mean_test(one_run(by_size[many].loss(model, 1.0)), one_run(by_size[few].loss(model, 1.0)))
    verdict = _verdict([test], lower=False)
    return f"E of {model} at λ = 1 grows with its members: {verdict}; with {many} minus with {few} {_words(test)}"


# ---- tests -----------------------------------------------------------------------------------------------------------


def _of_columns(found: "Assay", a: str, b: str) -> PairedComparison:
    """Paired test of the mean NS of two models."""
    one, other = (one_run(found[name].columns["nonspecificity"]) for name in (a, b))
    return paired_mean_test(one, other, groups=found.groups, level=found.settings.level)


def _verdict(tests: Sequence[PairedComparison], *, lower: bool) -> Verdict:
    """Whether all differences are significantly below 0, or above; or one is significantly on the other side."""
    adjusted = holm([test.pvalue for test in tests]).tolist()
    signs = [float(test.difference) * (1 if lower else -1) for test in tests]
    if any(sign > 0 and p <= ALPHA for sign, p in zip(signs, adjusted, strict=True)):
        return "does not hold"
    return "holds" if all(s < 0 and p <= ALPHA for s, p in zip(signs, adjusted, strict=True)) else "open"


def _words(test: PairedComparison) -> str:
    d = test.difference
    return f"{float(d):+.4f} [{d.low:+.4f}, {d.high:+.4f}]"

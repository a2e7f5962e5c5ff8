"""The non-specificities that E can price: one entry of one table each, with formulas, bounds and words.

Whatever computes, names, bounds, draws or explains a non-specificity reads `NONSPECIFICITIES`: a new one is one more entry.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from uqassay.arrays import RandomState
from uqassay.measures.entropies import credal_uncertainty
from uqassay.measures.imprecision import OF_SIZES, Convention, Nonspecificity, OfSizes, nonspecificity
from uqassay.predictions import Prediction

__all__ = ["NONSPECIFICITIES", "SetSize"]


@final
@dataclass(frozen=True)
class SetSize:
    """A non-specificity of a credal set: greater is less precise.

    Most are sums Σ m(A) g(|A|) over the masses m, the Möbius inverse of the set's lower probability; these are linear in the
    set as long as nothing is clipped.
    """

    name: str  #: As users pass it.
    axis: str  #: Name with the unit, as of an axis.
    sentence: str  #: Definition for the page: one sentence, the formula and the source.
    equation: str
    source: str
    greatest: Callable[[int], float]  #: Of the set of all distributions of K classes.
    greatest_text: str  #: The same in symbols, as a factor.
    #: (prediction, convention, focal sets, rng, tolerance) → one number per instance, with its error.
    compute: "Compute"
    unit: str = ""  #: "nats" or "".
    of_sizes: OfSizes | None = None  #: g, of numbers of classes; None for other measures.
    complemented: bool = False  #: Whether the sum is one of specificity s, and 1 − s enters E.
    least: float = 0.0  #: Of a single distribution.

    def of_sum(self, values: Nonspecificity) -> Nonspecificity:
        """The non-specificity for the sums Σ m(A) g(|A|)."""
        return values.complement() if self.complemented else values


Compute = Callable[[Prediction, Convention, Any, RandomState, float | None], Nonspecificity]


def _sum_over_masses(name: str) -> Compute:
    def compute(
        p: Prediction, convention: Convention, focal_sets: Any, rng: RandomState, tolerance: float | None
    ) -> Nonspecificity:
        return NONSPECIFICITIES[name].of_sum(
            nonspecificity(p, name, convention=convention, focal_sets=focal_sets, rng=rng, tolerance=tolerance)  # type: ignore[arg-type]
        )

    return compute


def _credal_uncertainty(over: str) -> Compute:
    def compute(p: Prediction, convention: Convention, *_: Any) -> Nonspecificity:
        values = credal_uncertainty(p, over=over, convention=convention)
        return Nonspecificity(values, np.zeros(len(values)))

    return compute


MASSES = "m are the masses, the Möbius inverse of the set's lower probability."

NONSPECIFICITIES: dict[str, SetSize] = {
    entry.name: entry
    for entry in (
        SetSize(
            "hartley",
            "non-specificity (nats)",
            "How large the credal set is: 0 for a point prediction, ln K for a prediction that says nothing (Hartley, in "
            f"nats). {MASSES}",
            "NS(ŷ) = Σ over A ⊆ Ω of m(A) ln |A|",
            "paper 000, equation 7",
            greatest=lambda k: float(np.log(k)),
            greatest_text="ln K",
            compute=_sum_over_masses("hartley"),
            unit="nats",
            of_sizes=OF_SIZES["hartley"],
        ),
        SetSize(
            "korner",
            "Körner non-specificity",
            "Mean size of the events that carry mass (Körner): 1 for a point prediction, K for one that says nothing. "
            f"{MASSES}",
            "NS(ŷ) = Σ over A ⊆ Ω of m(A) |A|",
            "paper 000, equation 10",
            greatest=float,
            greatest_text="K",
            compute=_sum_over_masses("korner"),
            of_sizes=OF_SIZES["korner"],
            least=1.0,
        ),
        SetSize(
            "pal",
            "1 − Pal's specificity",
            f"One minus Pal's specificity: 0 for a point prediction, 1 − 1/K for one that says nothing. {MASSES}",
            "NS(ŷ) = 1 − Σ over A ⊆ Ω of m(A) / |A|",
            "paper 000, equation 11",
            greatest=lambda k: 1 - 1 / k,
            greatest_text="(1 − 1/K)",
            compute=_sum_over_masses("pal"),
            of_sizes=OF_SIZES["pal"],
            complemented=True,
        ),
        SetSize(
            "credal-uncertainty",
            "credal uncertainty (nats)",
            "Credal uncertainty: highest minus lowest entropy in the credal set, in nats; 0 for a point prediction.",
            "NS(ŷ) = max over p in ŷ of H(p) − min over p in ŷ of H(p)",
            "paper 000, equation 20",
            greatest=lambda k: float(np.log(k)),
            greatest_text="ln K",
            compute=_credal_uncertainty("set"),
            unit="nats",
        ),
        SetSize(
            "credal-uncertainty-box",
            "credal uncertainty over the box (nats)",
            "Credal uncertainty of the box: highest minus lowest entropy among all distributions between the lower and upper "
            "probabilities of the classes, in nats; 0 for a point prediction.",
            "NS(ŷ) = max of H(p) − min of H(p), both over P̲ ≤ p ≤ P̄",
            "paper 000, equation 20",
            greatest=lambda k: float(np.log(k)),
            greatest_text="ln K",
            compute=_credal_uncertainty("box"),
            unit="nats",
        ),
    )
}

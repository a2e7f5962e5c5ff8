"""Which functions compute on the device of an array of PyTorch, JAX or others: one declaration that also dispatches calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

__all__ = ["SUPPORT", "ArraySupport", "Support", "array_support"]


@final
@dataclass(frozen=True)
class Support:
    """Where one function computes on arrays of other libraries.

    Attributes
    ----------
    function : str
        Name below `uqassay`.
    native : bool
        True if it computes on the device of the array; else the probabilities are copied to the host.
    only : mapping of str to tuple
        Options with the values that are computed on the device; with any other value the probabilities are copied.
    label_distributions : bool
        True if label distributions (n, K) are computed on the device, as labels (n,) are.
    """

    function: str
    native: bool = True
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    label_distributions: bool = True

    def computes_natively(self, options: Mapping[str, Any], *, one_label_each: bool = True) -> bool:
        """True if a call with these options computes on the device."""
        fits = all(_among(options.get(name, values[0]), values) for name, values in self.only.items())
        return self.native and fits and (one_label_each or self.label_distributions)

    @property
    def where(self) -> str:
        """The place of the computation, in words."""
        if not self.native:
            return "on the host"
        limits = [f"`{name}` {_either(values)}" for name, values in self.only.items()]
        limits += [] if self.label_distributions else ["labels (n,)"]
        return f"on the device, with {', '.join(limits)}; otherwise on the host" if limits else "on the device"


def _among(value: Any, values: tuple[Any, ...]) -> bool:
    """Whether a value of any type is one of the values."""
    return any(value is one or (type(value) is type(one) and value == one) for one in values)


def _either(values: tuple[Any, ...]) -> str:
    texts = [f'"{value}"' if isinstance(value, str) else str(value) for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


_NATIVE_SCORES = (
    *("least-confidence", "margin", "total-entropy", "aleatoric-entropy", "epistemic-entropy", "total-variance"),
    *("aleatoric-variance", "epistemic-variance", "predicted-class-variance", "variation-ratio", "vote-entropy"),
    *("credal-width", "nonspecificity", "total-zero-one", "aleatoric-zero-one", "epistemic-zero-one"),
    *("total-spherical", "aleatoric-spherical", "epistemic-spherical", "epistemic-pairwise-kl"),
    *("total-label-wise", "aleatoric-label-wise", "epistemic-label-wise"),
)
_EXACT_SETS = {"convention": ("exact",), "focal_sets": (None,), "tolerance": (None,)}
_CLOSED_DISTANCES = ("kl", "js", "js_distance", "tv", "hellinger")

SUPPORT: dict[str, Support] = {
    one.function: one
    for one in (
        Support(
            "losses.unified_loss",
            only={
                "distance": _CLOSED_DISTANCES,
                "nonspecificity": ("hartley", "korner", "pal"),
                "convention": ("exact",),
                "focal_sets": (None,),
            },
            label_distributions=False,
        ),
        Support("losses.is_correct"),
        Support("losses.prediction_errors"),
        Support("losses.probability_gap"),
        Support("losses.log_loss"),
        Support("losses.brier_loss"),
        Support(
            "measures.decompose",
            only={
                "decomposition": (
                    "information-theoretic",
                    "variance",
                    "label-wise",
                    "zero-one",
                    "brier",
                    "log",
                    "spherical",
                ),
            },
        ),
        Support("measures.entropy"),
        Support("measures.entropy_decomposition"),
        Support("measures.variance_decomposition"),
        Support("measures.zero_one_decomposition"),
        Support(
            "measures.proper_score_decomposition",
            only={
                "score": ("log", "brier", "spherical"),
                "reference": ("mean", "pairwise"),
            },
        ),
        Support("measures.probability_moments"),
        Support("measures.least_confidence"),
        Support("measures.margin_uncertainty"),
        Support("measures.total_variance"),
        Support("measures.predicted_class_variance"),
        Support("measures.variation_ratio"),
        Support("measures.vote_entropy"),
        Support("measures.credal_width"),
        Support("measures.generalised_hartley", only={"tolerance": (None,)}),
        Support("measures.nonspecificity", only={"measure": ("hartley", "korner", "pal"), **_EXACT_SETS}),
        Support("measures.uncertainty_score", only={"name": _NATIVE_SCORES}),
        Support("measures.label_wise_decomposition"),
        Support("measures.label_wise_parts"),
        Support("measures.upper_entropy", native=False),
        Support("measures.lower_entropy", native=False),
        Support("measures.credal_uncertainty", native=False),
    )
}


@final
@dataclass(frozen=True)
class ArraySupport:
    """Where each function computes on arrays of other libraries that lie on an accelerator; printed, it is a table.

    Attributes
    ----------
    functions : tuple of Support
    """

    functions: tuple[Support, ...]

    def __getitem__(self, function: str) -> Support:
        return {one.function: one for one in self.functions}[function]

    def markdown(self) -> str:
        """The table in Markdown."""
        rows = [f"| `{one.function}` | {one.where} |" for one in self.functions]
        return "\n".join(["| function | computed |", "|---|---|", *rows])

    def __str__(self) -> str:
        width = max(len(one.function) for one in self.functions)
        return "\n".join(f"{one.function:<{width}}  {one.where.replace('`', '')}" for one in self.functions)


def array_support() -> ArraySupport:
    """Where each function computes on arrays of other libraries (PyTorch, JAX, CuPy) that lie on an accelerator.

    The same declaration dispatches the calls. `assay` follows it for its scores; functions of `metrics` and `calibration`
    compute on the host.

    Examples
    --------
    >>> import uqassay as uq
    >>> uq.array_support()["measures.least_confidence"].where
    'on the device'
    """
    return ArraySupport(tuple(SUPPORT.values()))

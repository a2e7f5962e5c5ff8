"""Shared by all figures: one look per model, plain text, and numbers in words."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uqassay._array import as_numeric
from uqassay._optional import optional_package
from uqassay.errors import InputError
from uqassay.evidence.colour_order import colour_order
from uqassay.losses.unified import check_tradeoff
from uqassay.report.figures.names import escaped, printable
from uqassay.wording import counted, level_text, tradeoff

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay
    from uqassay.evidence.scoring import ModelScores

__all__ = [
    "BANDED",
    "GREY",
    "Look",
    "at_tradeoff",
    "interval_level",
    "look_at",
    "looks",
    "loss_label",
    "matplotlib_module",
    "model_colours",
    "named_model",
    "plain",
    "quantity_label",
    "resampled_units",
    "swatch",
    "tradeoff_grid",
    "window",
]

Array = NDArray[np.float64]

# Okabe and Ito (2008); black, the colour of text, and yellow, darkened so that it shows on white, come last
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#B8A800")
MARKERS = ("o", "s", "D", "^", "v", "P", "X", ">", "<", "p", "h", "*")
LINES: tuple[Any, ...] = (
    "-",
    "-.",
    (0, (6, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)  # a second model of one colour differs here
HATCHES = ("", "///", "...", "xxx")
GREY = "#737373"
BASELINES = {"vacuous": ("x", "--"), "class-prior": ("+", ":")}

LONGEST = 32  # characters of a name
BANDED = 10  # curves whose bands can be told apart; of more, bands are left out
DISTANCES = {
    "kl": "KL divergence (nats)",
    "js": "JS divergence (nats)",
    "js_distance": "JS distance (√nats)",
    "tv": "total variation distance",
    "hellinger": "Hellinger distance",
    "brier": "Brier distance",
}
NONSPECIFICITIES = {
    "hartley": "non-specificity (nats)",
    "korner": "Körner non-specificity",
    "pal": "1 − Pal's specificity",
    "credal-uncertainty": "credal uncertainty (nats)",
    "credal-uncertainty-box": "credal uncertainty over the box (nats)",
}
PAPERS_CREDAL_UNCERTAINTY = "credal uncertainty of the authors' code (bits)"
MEASURES = {"credal-width": "credal width, mean over classes"}


class Look(NamedTuple):
    """How one model is drawn in every figure."""

    colour: str
    marker: str
    line: Any
    hatch: str


def look_at(place: int) -> Look:
    """Look of the model at a place in the order of colours."""
    turn = place // len(PALETTE)
    line, hatch = LINES[turn % len(LINES)], HATCHES[(place + turn) % len(HATCHES)]
    return Look(PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)], line, hatch)


def looks(assay: "Assay") -> dict[str, Look]:
    """Look of every model by its place in the order of colours; baselines are grey."""
    places = {name: place for place, name in enumerate(colour_order(assay))}
    return {m.name: Look(GREY, *BASELINES[m.name], "") if m.baseline else look_at(places[m.name]) for m in assay.models}


def model_colours(assay: "Assay") -> dict[str, str]:
    """Colour of each model and baseline in every figure, for the user's own pictures.

    Examples
    --------
    >>> import uqassay as uq
    >>> model_colours(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))
    {'m': '#0072B2', 'vacuous': '#737373', 'class-prior': '#737373'}
    """
    return {name: look.colour for name, look in looks(assay).items()}


# -- matplotlib, only when something is drawn -------------------------------------------------------------------------


def matplotlib_module(name: str = "") -> Any:
    """Import a module of matplotlib, by default the package; the error for a missing one names the extra."""
    return optional_package(f"matplotlib.{name}".rstrip("."), "figures", "a figure")


def swatch(look: Look, label: str, *, line: bool = True) -> Any:
    """Legend entry of one model: its line and marker, or its marker alone."""
    return matplotlib_module("lines").Line2D(
        [],
        [],
        color=look.colour,
        marker=look.marker,
        linestyle=look.line if line else "none",
        markersize=5,
        label=label,
    )


# -- words and numbers ------------------------------------------------------------------------------------------------


def plain(text: object, *, limit: int = LONGEST) -> str:
    r"""Text from data as matplotlib shows it letter by letter: no formulas, one line, no legend entry that vanishes.

    Examples
    --------
    >>> plain("$x_1$"), plain("two\nlines"), plain("_hidden")
    ('\\$x_1\\$', 'two\\nlines', ' _hidden')
    """
    shown = printable(text)
    return escaped(shown if len(shown) <= limit else f"{shown[: limit - 11]}…{shown[-10:]}")


def interval_level(assay: "Assay") -> str:
    """The confidence level of the assay's intervals in words."""
    return level_text(assay.settings.level)


def at_tradeoff(value: float) -> str:
    """λ as the title of a figure writes it.

    Examples
    --------
    >>> at_tradeoff(0.5)
    'λ = 0.5'
    """
    return f"λ = {tradeoff(value)}"


def resampled_units(assay: "Assay") -> str:
    """Number of instances, and of groups if groups are resampled."""
    text = counted(assay.n_instances, "instance")
    if assay.groups is not None:
        text += f" in {counted(len(np.unique(assay.groups)), 'group')}"
    return text


def quantity_label(assay: "Assay", quantity: str) -> str:
    """Axis label of a column, with its unit."""
    if quantity == "distance":
        return DISTANCES[assay.settings.distance]
    if quantity == "nonspecificity":
        if assay.settings.convention == "paper" and assay.settings.nonspecificity.startswith("credal-uncertainty"):
            return PAPERS_CREDAL_UNCERTAINTY
        return NONSPECIFICITIES[assay.settings.nonspecificity]
    return MEASURES.get(quantity, quantity.replace("-", " ") + (" (nats)" if "entropy" in quantity else ""))


def loss_label(assay: "Assay", weight: str = "λ·") -> str:
    """Axis label of the unified loss; it is in nats where both of its terms are."""
    both = assay.settings.distance in ("kl", "js") and assay.settings.nonspecificity == "hartley"
    return f"E = d + {weight}NS" + (" (nats)" if both else "")


# -- arguments ---------------------------------------------------------------------------------------------------------


def named_model(assay: "Assay", model: str) -> "ModelScores":
    """The scores of a model; baselines are refused."""
    found = assay[model]
    if found.baseline:
        raise InputError(
            "model",
            "must be a model to choose from",
            f"got the baseline {model!r}",
            "name one of assay.model_names",
            code="type",
        )
    return found


def tradeoff_grid(assay: "Assay", tradeoffs: ArrayLike | None, n: int) -> Array:
    """The λ asked for, increasing; by default n of them from 0 past the last change of the winner, within reason."""
    if tradeoffs is None:
        top = assay.tradeoffs[-1]
        last = max((low for low, _, _ in assay.winners()), default=0.0)
        top = max(top, 1.25 * last) if last <= 2 * top else top
        return np.union1d(np.linspace(0.0, top if top > 0 else 1.0, n).round(12), assay.tradeoffs)
    grid = np.unique(as_numeric(tradeoffs, "tradeoffs", ndim=1).astype(np.float64))
    for value in grid.tolist():
        check_tradeoff(value)
    if len(grid) < 2:
        raise InputError(
            "tradeoffs", "needs at least two different λ", "got one", "plot_ranking shows a single one", code="mismatch"
        )
    return grid


def window(values: Array, *, from_zero: bool) -> tuple[float, float]:
    """Ends of an axis around finite values; from 0 where that is near."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    margin = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
    near_zero = (from_zero and 0 <= low < 0.6 * high) or low == 0.0
    return 0.0 if near_zero else low - margin, high + margin

"""Could the difference between two rankings of the mistakes be chance: the matrix of paired tests."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.errors import InputError
from uqassay.evidence.mistake_ranking import METRICS
from uqassay.metrics.ranking.registry import RANKING_METRICS
from uqassay.report.definitions import DEFINITIONS, score_label
from uqassay.report.figures.layout import Width, axes_for, every, fitting, headline, room_for, text_size, text_width
from uqassay.report.figures.mistakes import models_with, no_score, reason_of
from uqassay.report.figures.style import GREY, matplotlib_module, named_model
from uqassay.report.mistakes import ranked_scores
from uqassay.wording import decimals_for, number, pvalue_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.result import Assay
    from uqassay.statistics import PairwiseComparisons

__all__ = ["plot_ranking_comparisons"]

BETTER, WORSE = "#0072B2", "#D55E00"  # Okabe and Ito's blue and vermilion
SAME = "same\norder"


def plot_ranking_comparisons(
    assay: "Assay",
    pairs: Sequence[tuple[str, str]] | str | None = None,
    *,
    metric: str = "uq-auc",
    ax: "Axes | None" = None,
    width: Width = "text",
) -> "Axes":
    """Matrix of paired tests: could the difference between two rankings be chance?

    Parameters
    ----------
    assay : Assay
    pairs : sequence of (model, score), str, or None
        What is compared; a score's name stands for all models that have it. None: each model by its score of the highest
        UQ-AUC, or the scores of the only model.
    metric : str
        "uq-auc", "uq-c-index", "aurc", "e-aurc", "augrc" or "prediction-rejection".
    ax : matplotlib Axes, optional
    width : {"column", "text"}
        Of a new figure: 3.3 or 6.8 inches, as one column or the text of a paper.

    Returns
    -------
    Axes
        In each cell the row minus the column, and the p-value adjusted for all pairs of the matrix (Shaffer); blue where the
        row ranks better, orange where it ranks worse, both only where p is at most 1 − level. The diagonal holds the
        metric itself. Cells too narrow for numbers have a + or a − where the difference is significant. What is undefined is
        named in the title with the reason.

    Raises
    ------
    InputError
        A metric, a model or a score that is not there.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Notes
    -----
    Where the scores were chosen as the best on the same instances, the p-values are somewhat too small.

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> p = uq.Point([[0.8, 0.1, 0.1], [0.6, 0.4, 0.0], [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
    >>> a = uq.assay({"m": p}, [0, 0, 1, 1])
    >>> ax = plot_ranking_comparisons(a, [("m", "margin"), ("m", "total-entropy")], ax=Figure().subplots())
    >>> [t.get_text() for t in ax.get_yticklabels()], ax.texts[1].get_text()
    (['margin', 'total entropy'], '−0.125\\np = .54')
    """
    if metric not in METRICS:
        raise InputError(
            "metric", f"must be one of {', '.join(METRICS)}", f"got {metric!r}", "choose one of them", code="choice"
        )
    wanted = _wanted(assay, pairs)
    undefined = {pair: reason for pair in wanted if (reason := _undefined(assay, pair, metric))}
    kept = [pair for pair in wanted if pair not in undefined]
    room = room_for(ax, width)
    labels = dict(zip(wanted, fitting(_pair_labels(wanted), 0.3 * room), strict=True))
    names = [labels[pair] for pair in kept]
    found = assay.pairwise_uncertainties(kept, metric=metric) if kept else None
    texts = [] if found is None else _cell_texts(found)
    taken = text_width(names) + 20
    cell = (room - taken) / max(len(kept), 1)
    written = text_width([text for row in texts for text in row]) + 5 <= cell
    row = (3.1 if written else 1.6) * text_size()
    ax = axes_for(ax, width, (row * max(len(kept), 3) + 0.7 * text_width(names) + 45) / 72)
    if found is not None:
        better = 1 if RANKING_METRICS[metric].higher_is_better else -1
        _draw_matrix(ax, found, better, texts if written else None)
    else:
        ax.annotate(
            "nothing to compare", (0.5, 0.5), xycoords="axes fraction", ha="center", color=GREY, fontsize=text_size()
        )
    steep = not written and len(kept) > 6
    turned: dict[str, Any] = {"rotation": 90} if steep else {"rotation": 40, "rotation_mode": "anchor"}
    step = every(cell) if steep else 1
    ax.set_xticks(range(len(kept))[::step], names[::step], ha="center" if steep else "right", **turned)
    ax.set_yticks(range(len(kept)), names)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    absent = ", ".join(f"{labels[pair]} ({reason})" for pair, reason in undefined.items())
    n_pairs = len(kept) * (len(kept) - 1) // 2
    headline(
        ax,
        f"{DEFINITIONS[metric].title}, row minus column",
        f"p adjusted for {n_pairs} pairs" if n_pairs > 1 else "",
        "" if written or not texts else "+ ranks better, − worse, both significant",
        f"not compared: {absent}" if absent else "",
        taken=taken,
    )
    return ax


def _cell_texts(found: "PairwiseComparisons") -> list[list[str]]:
    """The numbers of every cell."""
    j = len(found.names)
    below = np.tril_indices(j, -1)
    places = decimals_for(zip(found.low[below], found.high[below], strict=True))

    def text(row: int, column: int) -> str:
        d, p = found.difference[row, column], found.adjusted[row, column]
        if row == column:
            return number(found.values[row], places)
        if d == found.low[row, column] == found.high[row, column] == 0:
            return SAME
        return f"{_signed(d, places)}\n{_tested(p)}"

    return [[text(row, column) for column in range(j)] for row in range(j)]


def _draw_matrix(ax: Any, found: "PairwiseComparisons", better: int, texts: list[list[str]] | None) -> None:
    """Colours of the significant differences, and in the cells the numbers, or a sign where there are none."""
    j = len(found.names)
    patches = matplotlib_module("patches")
    ax.set_xlim(-0.5, j - 0.5)
    ax.set_ylim(j - 0.5, -0.5)
    for row, column in np.ndindex(j, j):
        text = "" if texts is None else texts[row][column]
        significant = row != column and found.adjusted[row, column] <= 1 - found.level
        look: dict[str, Any] = {"color": GREY} if row == column or text == SAME else {}
        if row == column:
            look["fontstyle"] = "italic"
        elif significant:
            ahead = better * found.difference[row, column] > 0
            face = BETTER if ahead else WORSE
            corner = (column - 0.5, row - 0.5)
            ax.add_patch(patches.Rectangle(corner, 1, 1, facecolor=face, alpha=0.2, linewidth=0))
            text, look = text or ("+" if ahead else "−"), {"fontweight": "bold"}
        if text:
            ax.text(column, row, text, ha="center", va="center", fontsize=text_size(), linespacing=1.15, **look)
    for at in np.arange(j + 1) - 0.5:
        ax.axhline(at, color="0.85", linewidth=0.6, zorder=0)
        ax.axvline(at, color="0.85", linewidth=0.6, zorder=0)


def _signed(d: float, places: int) -> str:
    """A difference with its sign."""
    text = number(d, places, bounded=True)
    return f"+{text}" if d > 0 and text[0].isdigit() else text


def _tested(p: float) -> str:
    return "no test" if np.isnan(p) else pvalue_text(p)


def _wanted(assay: "Assay", pairs: Sequence[tuple[str, str]] | str | None) -> list[tuple[str, str]]:
    """Models and scores to compare."""
    if isinstance(pairs, str):
        return models_with(assay, pairs, None)
    if pairs is None:
        if len(assay.model_names) == 1:
            return [(m, s) for m in assay.model_names for s in ranked_scores(assay, m)]
        return models_with(assay, None, None)
    wanted = [(named_model(assay, m).name, s) for m, s in pairs]
    for m, s in wanted:
        if s not in assay.uncertainty_names(m):
            raise no_score(assay, s, m)
    return list(dict.fromkeys(wanted))


def _undefined(assay: "Assay", pair: tuple[str, str], metric: str) -> str:
    """Why a metric is undefined; "" where it is not."""
    found = {(r.model, r.score): r.estimate for r in assay.mistake_ranking() if r.run is None and r.metric == metric}
    return reason_of(found[pair]) if np.isnan(found[pair]) else ""


def _pair_labels(pairs: list[tuple[str, str]]) -> list[str]:
    """The part in which pairs differ: model, score, or both."""
    if len({s for _, s in pairs}) <= 1 < len({m for m, _ in pairs}):
        return [m for m, _ in pairs]
    if len({m for m, _ in pairs}) <= 1:
        return [score_label(s) for _, s in pairs]
    return [f"{m}, {score_label(s)}" for m, s in pairs]

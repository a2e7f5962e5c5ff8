"""Can it be calibrated: the calibration tests of all models by one measure."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uqassay.evidence.calibration_result import adjusted_pvalues
from uqassay.evidence.calibration_verdict import measure_label
from uqassay.report.figures.calibration_choice import NEXT_TO, all_tests, instances_tested, named_run
from uqassay.report.figures.style import GREY, Look, axes_for, axes_points, headline, looks, text_width
from uqassay.wording import pvalue_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from uqassay.evidence.calibration_result import ModelCalibration
    from uqassay.evidence.result import Assay

__all__ = ["plot_calibration_tests"]

WIDTH = 3.6  # inches of the rows alone
NULL = 0.95  # share of the null draws that a grey bar spans


def plot_calibration_tests(
    assay: "Assay", measure: str | None = None, *, models: Sequence[str] | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Statistic of every model by one calibration measure, against its null distribution.

    Parameters
    ----------
    assay : Assay
    measure : str, optional
        One of those tested; by default the first.
    models : sequence of str, optional
        By default all that were tested.
    ax : matplotlib Axes, optional
        Where to draw; the p-values stand to the right of it.

    Returns
    -------
    Axes
        One row per model and run. The grey bar reaches from the least null draw to their 95 % quantile (of a model with
        members, draws below the marker are upper bounds), the marker is the least value over all mixtures of the members (of a
        model without members, its own), the hollow one the model's mean, the ticks are single members. p is adjusted by Holm
        for all tests of the assay.

    Raises
    ------
    InputError
        A measure or a model that was not tested.
    MissingDependencyError
        Without matplotlib (uqassay[figures]).

    Examples
    --------
    >>> import uqassay as uq
    >>> from matplotlib.figure import Figure
    >>> a = uq.assay({"m": uq.Members([[[0.9, 0.1], [0.4, 0.6]]] * 4)}, [0, 0, 1, 0])
    >>> ax = plot_calibration_tests(a, ax=Figure().subplots())
    >>> [t.get_text() for t in ax.get_yticklabels()], ax.get_xlabel()
    (['m'], 'Kuiper on confidence')
    """
    tests = all_tests(assay, measure, models)
    adjusted = {id(t): p for t, p in zip(assay.calibration, adjusted_pvalues(assay.calibration).tolist(), strict=True)}
    names = [named_run(assay, t) for t in tests]
    words = [pvalue_text(adjusted[id(t)]) for t in tests]
    size = WIDTH + (text_width(names, "medium") + text_width(words, "small")) / 72, 1.2 + 0.3 * len(tests)
    given = ax is not None
    ax = axes_for(ax, size)
    rejected = 1 - assay.settings.level + 1e-12
    for at, (t, word) in enumerate(zip(tests, words, strict=True)):
        _test_row(ax, at, t, looks(assay)[t.model])
        weight = "bold" if adjusted[id(t)] <= rejected else "normal"
        ax.annotate(word, (1.0, at), (10, 0), **NEXT_TO, va="center", fontweight=weight)
    ax.set_ylim(len(tests) - 0.4, -0.6)
    ax.set_yticks(range(len(tests)), names)
    ax.set_xlabel(measure_label(tests[0].measure))
    ax.margins(x=0.04)
    n_tests = int((~np.isnan(list(adjusted.values()))).sum())
    headline(
        ax,
        instances_tested(tests[0]),
        f"p by Holm over {n_tests} tests" if n_tests > 1 else "",
        f"grey: {100 * NULL:g} % of the null draws",
        "filled: best mixture" if any(t.n_members > 1 for t in tests) else "",
        "hollow: model's mean" if any(t.n_members > 1 for t in tests) else "",
        "ticks: members" if any(len(t.member_values) for t in tests) else "",
        taken=0.0 if given else max(axes_points(ax) - 72 * WIDTH, 0.0),
    )
    return ax


def _test_row(ax: Any, at: int, t: "ModelCalibration", look: Look) -> None:
    draws = t.null[np.isfinite(t.null)]
    if draws.size:
        end = float(np.quantile(draws, NULL))
        ax.plot([float(draws.min()), end], [at, at], color="0.78", linewidth=7, solid_capstyle="butt", zorder=1)
    members = t.member_values[np.isfinite(t.member_values)]
    if members.size:
        ax.plot(members, np.full(len(members), at), "|", color=look.colour, alpha=0.5, markersize=8, zorder=2)
    style = {"marker": look.marker, "linestyle": "none", "color": look.colour, "markersize": 6}
    if t.n_members > 1 and np.isfinite(t.mean_value):
        ax.plot([t.mean_value], [at], **style, markerfacecolor="white", zorder=3)
    if np.isfinite(t.statistic):
        ax.plot([t.statistic], [at], **style, zorder=4)
    else:
        ax.annotate(t.reason or "undefined", (0.0, at), (4, 0), **NEXT_TO, va="center", color=GREY)

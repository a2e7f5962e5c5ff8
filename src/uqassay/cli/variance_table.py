"""The table of the variance of mean E: how much comes from the training runs, and how much from the test instances."""

from math import isfinite, isnan

from rich.text import Text

from uqassay.cli.streams import open_console
from uqassay.cli.tables import explained, fitted_table
from uqassay.cli.text import printable
from uqassay.evidence import Assay
from uqassay.losses.unified import DEFAULT_TRADEOFF
from uqassay.statistics import MoreData, VarianceShare
from uqassay.wording import (
    ABSENT,
    count,
    decimals_for,
    level_text,
    listed_names,
    number,
    percent,
    percent_interval,
    tradeoff,
)

__all__ = ["print_variance"]


def print_variance(assay: Assay) -> None:
    """Shares of the variance of mean E at the default λ, of the models that have several training runs."""
    names = [m.name for m in assay.candidates if m.n_runs > 1]
    if not names:
        return
    found = {name: assay.variance(name) for name in names}
    widths = {name: one.half_width() for name, one in found.items()}
    goals = {name: one.for_half_width(widths[name] / 2) if widths[name] > 0 else None for name, one in found.items()}
    units = "groups" if assay.groups is not None else "instances"
    level = level_text(assay.settings.level)
    decimals = decimals_for((-w, w) for w in widths.values() if isfinite(w))
    runs, rest, half = f"from runs ({level} interval)", f"from {units}", f"to halve it: {units} or runs"
    columns = {
        "model": [printable(name) for name in names],
        "training runs": [count(one.n_runs[0]) for one in found.values()],
        runs: [_share(one.shares["runs"]) for one in found.values()],
        rest: [percent(one.shares["instances"].share, 0) for one in found.values()],
        "from both": [percent(one.shares["interaction"].share, 0) for one in found.values()],
        "mean E ±": [number(w, decimals) for w in widths.values()],
        half: [_goal(goal) for goal in goals.values()],
    }
    console = open_console()
    table = fitted_table(columns, width=console.width, spare=("from both", "training runs", half))
    console.print()
    console.print(Text(f"Where the variance of mean E at λ = {tradeoff(DEFAULT_TRADEOFF)} comes from", "bold"))
    console.print(table)
    said = {
        "from both": f"from both: other runs do better on other {units}",
        "mean E ±": f"mean E ±: half the {level} interval",
        "to halve it:": "to halve it: so many in all, if the other number stays",
    }
    few = [name for name, one in found.items() if any(note.code == "few" for note in one.notes)]
    lines = [explained(said, table)]
    if few:
        lines.append(
            f"few runs say little about the variance between runs, see its interval: {listed_names(few, most=5)}"
        )
    console.print(Text(printable("; ".join(line for line in lines if line)), "dim"))


def _share(found: VarianceShare) -> str:
    if isnan(found.share):
        return ABSENT
    return f"{percent(found.share, 0)} ({percent_interval(found.low, found.high, 0)})"


def _goal(goal: MoreData | None) -> str:
    if goal is None or isnan(goal.instances):
        return ABSENT
    more = goal.instances if isnan(goal.groups) else goal.groups
    texts = [count(int(n)) if isfinite(n) else "no number" for n in (more, goal.runs[0])]
    return " or ".join(texts)

"""What a person reads in a terminal about sets as sets: coverage, size and utility of the classes that are not ruled out."""

from rich.text import Text

from uqassay.cli.streams import open_console
from uqassay.cli.tables import explained, fitted_table
from uqassay.cli.text import printable
from uqassay.evidence import Assay
from uqassay.evidence.set_rows import models_with_sets, set_scores_of, shown_rule
from uqassay.statistics import Estimate
from uqassay.wording import interval, level_text, number, percent, percent_interval

__all__ = ["print_sets"]

WHY = {
    "maximality": "no class is more probable in the whole set",
    "interval-dominance": "no class has a lower probability above their upper one",
}


def print_sets(assay: Assay) -> None:
    """One line for each model that states sets; nothing where there is none."""
    rule = shown_rule(assay)
    found = {model.name: set_scores_of(assay, model.name, rule) for model in models_with_sets(assay)}
    if not found:
        return
    console = open_console()
    scores = list(found.values())
    level = level_text(assay.settings.level)
    covered, size, single = f"covered ({level} interval)", f"mean size ({level} interval)", "single class"
    right_single, right_set = "right if single", "covered if several"
    table = fitted_table(
        {
            "model": [printable(name) for name in found],
            covered: [f"{percent(s.coverage)} ({_percents(s.coverage)})" for s in scores],
            size: [f"{number(s.size, 2)} ({interval(s.size.low, s.size.high, 2)})" for s in scores],
            single: [percent(s.determinacy) for s in scores],
            right_single: [percent(s.single_accuracy) for s in scores],
            right_set: [percent(s.set_accuracy) for s in scores],
            "u65": [number(s.u65) for s in scores],
            "u80": [number(s.u80) for s in scores],
        },
        spare=(right_set, right_single, "u80", "u65", single, size),
        width=console.width,
    )
    console.print()
    console.print(Text("Which classes do the sets rule out, and is the label among the others", "bold"))
    console.print(table)
    said = {
        "covered": f"covered: share of the labels that are not ruled out, because {WHY[rule]}",
        "single": "single class: share of the instances where all other classes are ruled out",
        "u65": "u65, u80: worth of a set as a decision, 1 for the label alone, .65 and .8 for two classes with the label",
    }
    console.print(Text(explained(said, table), "dim"))


def _percents(share: Estimate) -> str:
    return percent_interval(share.low, share.high)

"""Fixed sentences, headings and labels of the page's template."""

from typing import TYPE_CHECKING

from uqassay.report.sentences.charts import of_class_sets
from uqassay.report.sentences.general import general_sentences
from uqassay.wording import count, level_text

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["template_sentences"]


def template_sentences(assay: "Assay") -> dict[str, str]:
    """Text by the name of its place in the template, with places {tradeoff}, {costs} and {labels_hashed} for elements.

    Examples
    --------
    >>> import uqassay as uq
    >>> template_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["ranking_title"]
    'Ranking at λ = {tradeoff}'
    """
    level, general = level_text(assay.settings.level), general_sentences()
    return {
        **_NAVIGATION,
        "scheme_auto": general["scheme_auto"],
        "auto": general["schemes"]["auto"],
        "compared": "Models compared",
        "compared_note": f"Means over all instances, with their {level} intervals.",
        "compared_how": "Click a heading to sort, ? for its definition.",
        "no_script": "The rest of this page needs its own script, which is switched off.",
        **_choice(assay),
        **_reasons(assay, level),
        "instances_title": "Look at instances",
        "kinds": "Choice of the instances listed",
        "instances": "Instances",
        "pick": "Instance",
        "previous": "◂ previous",
        "next": "next ▸",
        "any": "any",
        **_METHOD,
        "close": "Close",
    }


_NAVIGATION = {
    "skip": "Skip to the verdict",
    "report": "report",
    "sections": "Sections",
    "open_all": "Open all sections",
    "close_all": "Close all sections",
    "nav_verdict": "Verdict",
    "nav_choose": "Choose λ",
    "nav_why": "Why",
    "nav_instances": "Instances",
    "nav_how": "How computed",
}

_METHOD = {
    "how": "How it was computed",
    "inputs": "Inputs",
    "hashes": (
        "The hashes are of the arrays as read, not of the files. That of the labels is of 64-bit integers, {labels_hashed}. "
        "That of a model is of the name of its kind and then the bytes of its arrays, run after run."
    ),
    "all_findings": "All findings",
    "csv": "Download as CSV",
    "json": "Download as JSON",
    "show_findings": "Show the findings",
    "findings": "Findings",
    "glossary": "Glossary",
    "old_browser": "This browser is too old for the rest of the page; Chrome 80, Firefox 113 or Safari 16.4 show it.",
    "colophon": "Colours by Okabe and Ito. This page needs no network and sends nothing.",
}


def _choice(assay: "Assay") -> dict[str, str]:
    """Text of the section on the choice of λ."""
    return {
        "choose": "Choose λ, the price of imprecision",
        "previous_change": "◂ previous change of winner",
        "next_change": "next change ▸",
        "strip_note": (
            f"Upper band: share of {count(assay.settings.n_draws)} resamples that each model wins. Lower band: the model with "
            "the lowest mean E; bold numbers mark the λ where it changes."
        ),
        "questions": "Not sure? Two questions",
        "abstain": "May a case be passed on, to a person or a slower check?",
        "abstain_no": "No, every case needs a decision",
        "abstain_yes": "Yes",
        "cost": "Passing a case on costs {costs} as a mistake.",
        "ranking_title": "Ranking at λ = {tradeoff}",
        "ranking": "Ranking",
        "changes": "Every change of the order",
    }


def _reasons(assay: "Assay", level: str) -> dict[str, str]:
    """Text of the section on the reasons for the ranking."""
    return {
        "why": "Why",
        "plane_title": "Distance against non-specificity, equal E at λ = {tradeoff}",
        "plane_part": "Instances",
        "plane": (
            f"Each model's mean with its {level} confidence ellipse, from symmetric standard errors (the intervals of the "
            "tables follow skewed losses and can differ). On a line all points have equal E at λ = {tradeoff}. The dashed line "
            "goes through the best model; a model below it would be better."
        ),
        "lines_title": "E against λ",
        "lines": (
            f"Mean E with its {level} interval. Dotted grey: the baselines, as far as they fit. Lines cross where the "
            "order changes."
        ),
        "ridges_title": "By correctness",
        "ridges": (
            f"Above each line, in full colour: the instances that the model classifies correctly{of_class_sets(assay)}. Below "
            "it, lighter: those that it classifies wrongly. All instances, logarithmic axis; each half has its own height. The "
            "tick is the median; ◂ is the share at or below the left end."
        ),
        "correctness": "Means by correctness",
        "sample_how": "A click on a point opens the instance.",
        "scatter_title": "How the measures are related",
        "width_title": "Credal width against NS",
        "ns_title": "NS against confidence",
        "entropy_title": "Entropy against confidence",
    }

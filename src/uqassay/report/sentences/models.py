"""Many models: sentences of the choice of models, the filter of tables and the data of charts."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["MOST_SHOWN", "model_sentences"]

MOST_SHOWN = 8  # models of the top group that a chart shows by itself: as many as there are colours


def model_sentences(assay: "Assay") -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> import uqassay as uq
    >>> model_sentences(uq.assay({"m": uq.Point([[0.9, 0.1]])}, [0]))["shown"]
    '{n} of {models} models are shown in the charts.'
    """
    return {
        "data": "Data of this chart",
        "most": MOST_SHOWN,
        "choose": "Choose models",
        "shown": "{n} of {models} models are shown in the charts.",
        "follows": (
            "{n} of {models} models are shown in the charts: the best {most} of the top group of {top} "
            "at λ = {tradeoff}{own}."
        ),
        "follows_whole": "{n} of {models} models are shown in the charts: the top group at λ = {tradeoff}{own}.",
        "own": ", and {n} chosen by you",
        "others": " Grey: the others.",
        "without_bands": " Intervals are not drawn for more than four models; the data of the chart has them.",
        "find": "Find models by name",
        "top": "top group",
        "all": "all",
        "none": "none",
        "elided": ("In names, “…” stands for what they have in common; “Inputs” and the pointer show whole names."),
        "no_model": "No model is chosen.",
        "none_found": "No name contains these characters.",
        "filter": "Filter by name",
        "rows": "{n} of {rows} rows",
    }

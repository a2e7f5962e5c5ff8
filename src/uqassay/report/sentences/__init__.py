"""The page's sentences, all made here.

A sentence that is the same wherever the slider stands is sent whole. One whose numbers or names change on the page is sent as
a template with places such as ``{tradeoff}``; the page's `fillTemplate` puts numbers and names there and writes nothing itself.
Names that come from data are never part of a template, so that a brace in a name is no place.
"""

from typing import TYPE_CHECKING, Any

from uqassay.report.sentences.charts import chart_sentences
from uqassay.report.sentences.comparison import comparison_sentences
from uqassay.report.sentences.general import general_sentences
from uqassay.report.sentences.instances import instance_sentences
from uqassay.report.sentences.method import method_sentences
from uqassay.report.sentences.models import model_sentences
from uqassay.report.sentences.rank_sets import rank_set_sentences
from uqassay.report.sentences.ranking import ranking_sentences

if TYPE_CHECKING:
    from uqassay.evidence.result import Assay

__all__ = ["page_sentences"]


def page_sentences(assay: "Assay") -> dict[str, Any]:
    """Sentences and templates of the page's fixed sections, by section; those of the lenses are made with the lenses."""
    return {
        "general": general_sentences(),
        "comparison": comparison_sentences(assay),
        "ranking": ranking_sentences(assay),
        "rank_sets": rank_set_sentences(assay),
        "charts": chart_sentences(assay),
        "models": model_sentences(assay),
        "instances": instance_sentences(assay),
        "method": method_sentences(assay),
    }


def __dir__() -> list[str]:
    return sorted(__all__)

"""Fixed text that all pages with figures drawn beforehand share."""

from uqassay.report.sentences.general import general_sentences

__all__ = ["static_text"]


def static_text() -> dict[str, str]:
    """Text by its name.

    Examples
    --------
    >>> static_text()["warnings"]
    'Before believing it'
    """
    general = general_sentences()
    return {
        "skip": "Skip to the findings",
        "sections": "Sections",
        "nav_findings": "Findings",
        "nav_how": "How to read it",
        "auto": general["schemes"]["auto"],
        "scheme_auto": general["scheme_auto"],
        "how": "How to read it",
        "facts": "Settings",
        "warnings": "Before believing it",
        "command": "Command",
        "data": "Data of this figure",
        "json": "Download the numbers as JSON",
        "colophon": "Colours by Okabe and Ito. This page needs no network and sends nothing.",
    }

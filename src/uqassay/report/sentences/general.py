"""Sentences that several sections of the page share: help, failures, the colour scheme."""

from typing import Any

__all__ = ["general_sentences"]


def general_sentences() -> dict[str, Any]:
    """Templates by name.

    Examples
    --------
    >>> general_sentences()["what_is"]
    'What is {title}?'
    """
    return {
        "what_is": "What is {title}?",
        "range": "{low} to {high}",
        "undefined_here": "not defined here",
        "undefined": "not defined",
        "chart_failed": "This chart could not be drawn: {problem}",
        "page_failed": "The rest of the page could not be drawn: {problem}",
        "copied": "Copied",
        "copy_by_key": "Selected: press Ctrl+C",
        "schemes": {"auto": "◐ auto", "light": "☀ light", "dark": "☾ dark"},
        "scheme": "Colour scheme: {scheme}",
        "scheme_auto": "Colour scheme: auto, as the system",
    }

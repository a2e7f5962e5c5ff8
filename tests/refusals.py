"""Refusals are known by their fields, not by their words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from uqassay.errors import CODES, InputError, UqassayError


class Refusal:
    """What was refused, once the block has ended."""

    value: UqassayError


@contextmanager
def refuses(
    parameter: str,
    code: str | None = None,
    got: str = "",
    *,
    source: str | None = None,
    error: type[UqassayError] = InputError,
) -> Iterator[Refusal]:
    """The block raises `error` about this parameter, with this code; `got` is searched in what it says was found.

    `got` is a regular expression for the facts of the sentence (the row, the value, the name), never for its wording.
    """
    refusal = Refusal()
    with pytest.raises(error) as caught:
        yield refusal
    refusal.value = problem = caught.value
    assert problem.parameter == parameter, f"about {problem.parameter!r}: {problem}"
    assert code is None or problem.code == code, f"code {problem.code!r}: {problem}"
    assert problem.code in CODES, f"unknown code {problem.code!r}: {problem}"
    assert source is None or problem.source == source, f"source {problem.source!r}: {problem}"
    said = f"{problem.rule}; {problem.got}; {problem.remedy}"
    assert re.search(got, said), f"{got!r} not found in: {said}"
    assert problem.rule, "an error says which rule is broken"
    assert "\n" not in str(problem), "a sentence is one line"

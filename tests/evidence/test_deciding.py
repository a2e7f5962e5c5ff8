"""The methods of an assay that answer with a decision are passed on as they are."""

import inspect

import pytest

import uqassay as uq
from uqassay.evidence.mistakes import certified_refusal_of, expected_cost_of


@pytest.mark.parametrize(
    ("method", "function"),
    [(uq.Assay.certified_refusal, certified_refusal_of), (uq.Assay.expected_cost, expected_cost_of)],
)
def test_methods_take_what_their_functions_take(method, function):
    assert list(inspect.signature(method).parameters)[1:] == list(inspect.signature(function).parameters)[1:]


def test_defaults_are_those_of_the_metric():
    assert inspect.signature(uq.Assay.certified_refusal).parameters["share"].default == 0.3
    assert inspect.signature(uq.metrics.certified_refusal).parameters["share"].default == 0.3

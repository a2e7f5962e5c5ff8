"""The methods of an assay that answer with a decision are passed on as they are."""

import inspect

import uqassay as uq
from uqassay.evidence.refusing import certified_refusal_of


def test_the_method_takes_what_the_function_takes():
    method, function = (inspect.signature(f).parameters for f in (uq.Assay.certified_refusal, certified_refusal_of))
    assert list(method)[1:] == list(function)[1:]
    assert {name: p.default for name, p in method.items()}["share"] == 0.3
    assert inspect.signature(uq.metrics.certified_refusal).parameters["share"].default == 0.3

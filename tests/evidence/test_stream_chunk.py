"""The form of a chunk: what must be equal in all chunks of a stream, and what may differ."""

import numpy as np
import pytest
from tests.kinds import KINDS, random_prediction
from tests.refusals import refuses

import uqassay as uq
from uqassay.evidence.align import align
from uqassay.evidence.options import AssayOptions
from uqassay.evidence.stream import Chunk, check_same_form


def form_of(prediction, **more):
    aligned = align({"m": prediction}, np.zeros(prediction.n_instances, dtype=int), **more)
    return Chunk(aligned, {}, {}, AssayOptions().settings(aligned, {}), 0, {}).form()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_a_prediction_have_one_form(kind, random_generator):
    whole = random_prediction(kind, random_generator, 9, 4)
    check_same_form(form_of(whole[:2]), form_of(whole[2:]), "chunk")
    other = random_prediction(kind, random_generator, 9, 5)
    with refuses("chunk", "mismatch"):
        check_same_form(form_of(other), form_of(whole), "chunk")


def test_settings_of_a_kind_belong_to_the_form(random_generator):
    p = random_generator.dirichlet(np.ones(3), 4)
    cases = [
        (uq.Dirichlet(p, n_draws=10), uq.Dirichlet(p, n_draws=11), "n_draws of 'm'"),
        (uq.Dirichlet(p, seed=1), uq.Dirichlet(p), "seed of 'm'"),
        (uq.Members(p[:, None], [1.0]), uq.Members(p[:, None]), "weights of 'm'"),
        (uq.Point(p), uq.Dirichlet(p), "scores"),
    ]
    for found, first, part in cases:
        with refuses("chunk", "mismatch") as caught:
            check_same_form(form_of(found), form_of(first), "chunk")
        assert caught.value.facts["part"] == part
    groups = form_of(uq.Point(p), groups=[1, 1, 2, 2])
    check_same_form(groups, form_of(uq.Point(p), groups=[7, 8, 9, 10]), "chunk")
    with refuses("chunk", "mismatch"):
        check_same_form(groups, form_of(uq.Point(p), groups=["a", "a", "b", "b"]), "chunk")

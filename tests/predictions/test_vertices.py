"""Vertices: padding."""

import numpy as np

import uqassay as uq


def test_padding_a_vertex_list_changes_nothing():
    plain = uq.Vertices([[[0.6, 0.4], [0.3, 0.7]]])
    padded = uq.Vertices([[[0.6, 0.4], [0.3, 0.7], [0.6, 0.4], [0.6, 0.4]]])
    np.testing.assert_allclose(padded.mean_probs(), plain.mean_probs())
    assert padded.labels().tolist() == plain.labels().tolist() == [1]

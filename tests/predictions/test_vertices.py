"""Vertices: padding."""

import numpy as np

import uqassay as uq


def test_padding_a_vertex_list_changes_nothing():
    plain = uq.Vertices([[[0.6, 0.4], [0.3, 0.7]]])
    padded = uq.Vertices([[[0.6, 0.4], [0.3, 0.7], [0.6, 0.4], [0.6, 0.4]]])
    np.testing.assert_allclose(padded.mean_probs(), plain.mean_probs())
    assert padded.labels().tolist() == plain.labels().tolist() == [1]


def test_order_and_repeats_change_no_mean(random_generator):
    vertices = random_generator.dirichlet(np.ones(3), (20, 5))
    vertices[:, 3] = vertices[:, 1]
    expected = uq.Vertices(vertices[:, [0, 1, 2, 4]]).mean_probs()
    np.testing.assert_allclose(expected, vertices[:, [0, 1, 2, 4]].mean(axis=1), rtol=1e-14)
    for _ in range(5):
        order = random_generator.permutation(5)
        np.testing.assert_array_equal(uq.Vertices(vertices[:, order]).mean_probs(), expected)

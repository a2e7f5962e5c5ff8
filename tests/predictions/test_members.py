"""Members: weights, axes, binary probabilities, subsets."""

import numpy as np
from tests.refusals import refuses

import uqassay as uq


def test_weighted_members(random_generator):
    probs = random_generator.dirichlet(np.ones(3), (5, 2))
    shared = uq.Members(probs, weights=[3, 1])
    np.testing.assert_allclose(shared.mean_probs(), 0.75 * probs[:, 0] + 0.25 * probs[:, 1])
    own = uq.Members(probs, weights=np.array([[1, 0]] * 5))
    np.testing.assert_allclose(own.mean_probs(), probs[:, 0])
    np.testing.assert_allclose(own[2:3].mean_probs(), probs[2:3, 0])
    np.testing.assert_allclose(own.lower_probs(), probs.min(axis=1))
    assert (own.sample(20) == probs[:, None, 0]).all()


def test_binary_probabilities():
    p = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    np.testing.assert_allclose(uq.Members.from_binary(p, member_axis=1).probs[0, 2], [0.7, 0.3])
    np.testing.assert_allclose(uq.Members.from_binary(p, member_axis=0).probs[2, 1], [0.4, 0.6])
    assert uq.Members.from_binary(p[0]).probs.shape == (3, 1, 2)
    np.testing.assert_allclose(uq.Point.from_binary(p[0]).probs[:, 1], p[0])


def test_ecg_networks_one_diagnosis_at_a_time(shared):
    data = np.load(shared / "data" / "ecg" / "ten_seeds.npz")
    members = uq.Members.from_binary(data["probs"][:, :, 0], member_axis=0)
    assert members.probs.shape == (827, 10, 2)
    assert (members.labels() == data["gold"][:, 0]).mean() > 0.97
    loss = uq.losses.unified_loss(data["gold"][:, 0], members)
    assert np.isfinite(loss.total).all()


def test_weights_beyond_the_largest_number_keep_their_ratios():
    probs = np.array([[[0.2, 0.8], [0.6, 0.4]]])
    for weights in ([1e308, 1e308], [[1e308, 1e308]]):
        members = uq.Members(probs, weights)
        assert members.mean_probs().tolist() == [[0.4, 0.6000000000000001]]
    assert uq.Members(probs, [5e-324, 5e-324]).weights.tolist() == [0.5, 0.5]


def test_a_subset_has_a_note(random_generator):
    members = uq.Members(random_generator.dirichlet(np.ones(3), (4, 5)), weights=np.arange(1, 6))
    part = members.subset(2, rng=1)
    assert part.n_members == 2
    assert part.notes[0].code == "members-chosen"
    assert part.notes[0].facts == {"n_members": 2, "of": 5}
    for number in (0, 6, 1.5, "2"):
        with refuses("n_members", "common-members", got="1 … 5") as refusal:
            members.subset(number)
        assert refusal.value.facts == {"n_members": 5}


def test_impossible_classes_of_some_members():
    logits = np.array([[[0.0, 0.0, -np.inf], [0.0, -np.inf, 0.0]]])
    members = uq.Members.from_logits(logits)
    assert members.probs.tolist() == [[[0.5, 0.5, 0], [0.5, 0, 0.5]]]
    np.testing.assert_allclose(members.log_partition, np.log([[2, 2]]))
    with refuses("logits", "finite", got="row 0 holds −inf alone"):
        uq.Members.from_logits([[[0.0, 0.0], [-np.inf, -np.inf]]])

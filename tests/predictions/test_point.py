"""Points: tensors, precision, logits."""

import numpy as np
import pytest
from tests.refusals import refuses

import uqassay as uq


def test_tensors_are_copied_to_the_host(needs):
    needs("torch")
    import torch

    p = torch.tensor([[0.25, 0.75]], requires_grad=True)
    assert uq.Point(p).probs.tolist() == [[0.25, 0.75]]
    assert uq.Point(p.to(torch.bfloat16)).probs.dtype == np.float32


def test_precision_of_the_dtype_decides_the_tolerance():
    for dtype, slack in ((np.float64, 5e-7), (np.float32, 5e-5), (np.float16, 5e-4)):
        uq.Point(np.array([[0.5, 0.5 + slack]], dtype=dtype))
    with refuses("probs", "sum", got=r"row 0 sums to 1\.00005"):
        uq.Point(np.array([[0.5, 0.50005]]))


def test_rows_of_bfloat16_have_the_tolerance_of_bfloat16(needs):
    needs("torch")
    import torch

    p = torch.tensor([[0.2, 0.8]]).to(torch.bfloat16)  # sums to 1.00098
    assert uq.Point(p).n_classes == 2


@pytest.mark.parametrize("n_classes", [2, 10, 1000])
def test_softmax_in_bfloat16_is_accepted_in_its_type_and_refused_after_a_cast(needs, n_classes):
    needs("torch")
    import torch

    logits = torch.tensor(np.random.default_rng(0).normal(0, 3, (300, n_classes)), dtype=torch.bfloat16)
    probs = torch.softmax(logits, dim=1)
    assert abs(probs.double().sum(dim=1) - 1).max() > 1e-3  # beyond the tolerance of float16
    for given in (probs, list(probs), uq.Point(probs).probs):
        point = uq.Point(given)
        assert point.n_classes == n_classes
        assert point.with_metadata(groups=np.arange(300)).n_instances == 300  # checked anew
        assert point[100:].with_metadata(groups=np.arange(200)).n_instances == 200
    for cast in (probs.float(), probs.float().numpy(), probs.double().numpy(), list(probs.float())):
        with refuses("probs", "sum") as refusal:
            uq.Point(cast)
        assert refusal.value.facts["look"] == "counts"
        assert uq.Point(cast, normalise=True).n_instances == 300
    assert uq.Members(probs[:, None]).subset(1).n_members == 1


@pytest.mark.parametrize("neighbour", [[0.5, 0.5], [1 / 3, 2 / 3]])
def test_the_neighbours_of_a_row_do_not_decide_whether_it_is_valid(neighbour):
    """The second row has few digits, as numbers of 16 bits have, and sums to 1.0039."""
    with refuses("probs", "sum", got=r"within 1e-06; row 1 sums to 1\.00391"):
        uq.Point([neighbour, [0.50390625, 0.5]])
    with refuses("probs", "sum", got=r"within 1e-06; row 0 sums to 0\.75"):
        uq.Point([[0.5, 0.25], neighbour])


def test_rows_of_single_precision_in_a_list():
    probs = np.random.default_rng(0).dirichlet(np.ones(7), 50).astype(np.float32)
    assert uq.Point(list(probs)).probs.dtype == np.float32


def test_logits_of_impossible_classes():
    logits = np.array([[0.0, np.log(3), -np.inf], [-np.inf, 2.0, -np.inf]])
    point = uq.Point.from_logits(logits)
    np.testing.assert_allclose(point.probs, [[0.25, 0.75, 0], [0, 1, 0]], atol=1e-15)
    np.testing.assert_allclose(point.log_partition, [np.log(4), 2])
    entropy = uq.measures.entropy_decomposition(point).total
    np.testing.assert_allclose(entropy, [-0.25 * np.log(0.25) - 0.75 * np.log(0.75), 0], atol=1e-15)
    for odd, got in (([np.inf, 0.0], "row 1 holds inf"), ([np.nan, 0.0], "row 1 holds nan"), ([-np.inf] * 2, "row 1")):
        with refuses("logits", "finite", got=got):
            uq.Point.from_logits([[0.0, 0.0], odd])


def test_padded_rows_agree_with_unpadded_rows():
    rng = np.random.default_rng(1)
    counts = rng.integers(3, 6, 40)
    logits = np.full((40, 5), -np.inf)
    for row, k in enumerate(counts):
        logits[row, :k] = rng.normal(size=k)
    padded = uq.Point.from_logits(logits)
    for k in (3, 4, 5):
        alone = uq.Point.from_logits(logits[counts == k, :k])
        np.testing.assert_allclose(padded.probs[counts == k, :k], alone.probs, rtol=1e-15)
        for score in ("total-entropy", "least-confidence", "margin"):
            np.testing.assert_allclose(
                uq.measures.uncertainty_score(padded[counts == k], score),
                uq.measures.uncertainty_score(alone, score),
                atol=1e-14,
            )

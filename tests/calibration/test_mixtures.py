"""Mixtures of members and objectives: correct values that do not depend on the other mixtures, chunks or threads."""

import threading

import numpy as np
import pytest

import uqassay.calibration.mixtures as mixture_products
import uqassay.calibration.mixtures as module
from uqassay.calibration.mixtures import MixtureObjective, Mixtures
from uqassay.metrics.measures import CALIBRATION_MEASURES

SHAPES = ((12, 4, 3), (1, 2, 2), (7, 1, 5), (30, 9, 2))


def members_of(shape: tuple[int, int, int], seed: int = 0) -> np.ndarray:
    n, m, k = shape
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.7), (n, m))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lead", [(), (1,), (20,), (3, 5), (0,)])
def test_probs_against_brute_force(shape, lead):
    members = members_of(shape)
    weights = np.random.default_rng(1).dirichlet(np.ones(shape[1]), lead)
    found = Mixtures(members).probs(weights)
    assert found.shape == (*lead, shape[0], shape[2])
    np.testing.assert_allclose(found, np.einsum("...m,nmk->...nk", weights, members), atol=1e-15)


def test_a_mixture_of_one_member_is_that_member():
    members = members_of((12, 4, 3))
    np.testing.assert_array_equal(Mixtures(members).probs(np.eye(4)), members.swapaxes(0, 1))


@pytest.mark.parametrize("long_row", [mixture_products.LONG_ROW, 1])
def test_probs_do_not_depend_on_the_other_mixtures(monkeypatch, long_row):
    monkeypatch.setattr(mixture_products, "LONG_ROW", long_row)
    mixtures = Mixtures(members_of((101, 10, 7)))
    weights = np.random.default_rng(2).dirichlet(np.ones(10), 37)
    together = mixtures.probs(weights)
    for i, one in enumerate(weights):
        np.testing.assert_array_equal(mixtures.probs(one), together[i])
    np.testing.assert_array_equal(mixtures.probs(weights[5:].reshape(4, 8, 10)).reshape(32, 101, 7), together[5:])


@pytest.mark.parametrize("order", ["float32", "read-only", "fortran", "list"])
def test_members_in_any_form(order):
    members = members_of((12, 4, 3))
    given = {"float32": members.astype(np.float32), "fortran": np.asfortranarray(members), "list": members.tolist()}
    form = given.get(order, members)
    if order == "read-only":
        members.flags.writeable = False
    weights = np.full((1, 4), 0.25)
    np.testing.assert_allclose(Mixtures(form).probs(weights)[0], members.mean(axis=1), atol=1e-7)


def objective_of(name: str, n_targets: int = 5) -> MixtureObjective:
    mixtures = Mixtures(members_of((23, 4, 3)))
    labels = np.random.default_rng(4).integers(0, 3, (n_targets, 23))
    return MixtureObjective(mixtures, labels, CALIBRATION_MEASURES[name])


@pytest.mark.parametrize("name", CALIBRATION_MEASURES)
def test_shared_and_own_against_one_mixture_at_a_time(name):
    objective = objective_of(name)
    weights = np.random.default_rng(5).dirichlet(np.ones(4), (5, 6))
    shared, own = objective.shared(weights[0]), objective.own(weights)
    assert shared.shape == own.shape == (5, 6)
    assert objective.evaluations == 6 + 30
    for t in range(5):
        for i in range(6):
            for found, one in ((shared[t, i], weights[0, i]), (own[t, i], weights[t, i])):
                expected = objective.measure.prepare(objective.mixtures.probs(one)).values(objective.labels[t])
                assert abs(found - expected) <= 1e-15 * max(1.0, abs(expected))  # sums in another order


def test_other_labels_have_their_own_count_of_evaluations():
    objective = objective_of("ece-confidence")
    weights = np.random.default_rng(5).dirichlet(np.ones(4), (5, 6))
    others = objective.of_labels(objective.labels[::-1])
    np.testing.assert_array_equal(others.own(weights[::-1]), objective.own(weights)[::-1])
    assert (objective.evaluations, others.evaluations) == (30, 30)
    assert others.part(slice(2)).shared(weights[0]).shape == (2, 6)
    assert (objective.evaluations, others.evaluations) == (30, 36)


@pytest.mark.parametrize("name", CALIBRATION_MEASURES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_undefined_as_the_measure_of_the_mean_is(name, n):
    measure = CALIBRATION_MEASURES[name]
    for members in (members_of((n, 4, 3)), np.eye(3)[np.random.default_rng(1).integers(0, 3, (n, 4))]):
        for labels in (np.zeros(n, dtype=np.intp), np.arange(n) % 3):
            objective = MixtureObjective(Mixtures(members), labels[np.newaxis], measure)
            with np.errstate(all="ignore"):
                assert objective.undefined() == np.isnan(measure.prepare(members.mean(axis=1)).values(labels))
            assert objective.evaluations == 0


def test_own_of_some_targets():
    objective = objective_of("ece-classwise")
    weights = np.random.default_rng(5).dirichlet(np.ones(4), (5, 6))
    targets = np.array([3, 0, 3])
    np.testing.assert_array_equal(objective.own(weights[targets], targets), objective.own(weights)[targets])


@pytest.mark.parametrize("name", ["ece-confidence", "hosmer-lemeshow", "skce-ul"])
def test_neither_chunks_nor_threads_change_a_number(monkeypatch, name):
    weights = np.random.default_rng(6).dirichlet(np.ones(4), (5, 40))
    truths = weights[0]

    def everything() -> list[np.ndarray]:
        objective = objective_of(name)
        return [objective.shared(truths), objective.own(weights)]

    expected = everything()
    for chunk_bytes, few_parts, cores in ((1, 10**9, 1), (3_000, 0, 3), (1, 0, 2), (2**40, 0, 4)):
        monkeypatch.setattr(module, "CHUNK_BYTES", chunk_bytes)
        monkeypatch.setattr(module, "FEW_PARTS", few_parts)
        monkeypatch.setattr(module, "available_cores", lambda cores=cores: cores)
        for found, wanted in zip(everything(), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_a_thread_starts_no_threads(monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("a pool within a thread")

    monkeypatch.setenv("UQASSAY_PURE", "1")  # kernels take four mixtures at once
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    monkeypatch.setattr(module, "FEW_PARTS", 0)
    monkeypatch.setattr(module, "available_cores", lambda: 4)
    monkeypatch.setattr(module, "ThreadPoolExecutor", refuse)
    objective, found = objective_of("ece-confidence"), []
    with pytest.raises(AssertionError, match="a pool within a thread"):
        objective.shared(np.eye(4))
    worker = threading.Thread(target=lambda: found.append(objective.shared(np.eye(4))))
    worker.start()
    worker.join()
    assert found[0].shape == (5, 4)


def test_an_exception_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setenv("UQASSAY_PURE", "1")
    monkeypatch.setattr(module, "CHUNK_BYTES", 1)
    monkeypatch.setattr(module, "FEW_PARTS", 0)
    monkeypatch.setattr(module, "available_cores", lambda: 2)
    objective = objective_of("ece-confidence")
    objective.labels = objective.labels[:, :-1]
    with pytest.raises(ValueError, match="broadcast"):
        objective.shared(np.eye(4))


@pytest.mark.parametrize("n", [0, 1, 2, 17])
@pytest.mark.parametrize("bytes_each", [0.0, 1.0, 1e5, 1e6, 1e9])
def test_parts_cover_everything_once_and_evenly(n, bytes_each):
    parts = module._parts(n, bytes_each)
    assert [i for part in parts for i in range(n)[part]] == list(range(n))
    lengths = [part.stop - part.start for part in parts]
    assert max(lengths) - min(lengths) <= 1
    assert max(lengths) <= max(1, module.CHUNK_BYTES / max(bytes_each, 1e-300))

"""log_partition: what a softmax forgets of its logits, kept from the door to the file and back."""

import numpy as np
import pytest
from scipy.special import log_softmax, logsumexp
from tests.refusals import refuses

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.measures.logits import free_energy
from uqassay.predictions.files import inspect_file
from uqassay.predictions.keys import prediction_from_arrays

Z = np.random.default_rng(5).normal(0, 4, (6, 3, 5))  # (n, M, K)
PACKAGES = {".safetensors": "safetensors", ".zarr": "zarr", ".pt": "torch", ".npz": "numpy"}


def both():
    return {"Point": uq.Point.from_logits(Z[:, 0]), "Members": uq.Members.from_logits(Z, [1, 2, 5])}


# -- from logits ------------------------------------------------------------------------------------------------------


def test_logits_come_back():
    for prediction, z in zip(both().values(), (Z[:, 0], Z), strict=True):
        np.testing.assert_allclose(prediction.log_partition, logsumexp(z, axis=-1), rtol=1e-14)
        np.testing.assert_allclose(np.log(prediction.probs) + prediction.log_partition[..., None], z, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_logits_of_short_numbers_are_summed_in_double(dtype):
    z = np.round(Z * 3).astype(dtype)
    members = uq.Members.from_logits(z)
    assert members.log_partition.dtype == np.float64
    np.testing.assert_allclose(members.log_partition, logsumexp(z.astype(float), axis=2), rtol=1e-14)


def test_the_largest_logits_do_not_overflow():
    point = uq.Point.from_logits([[1e308, -1e308], [-1.7e308, -1.7e308], [1e4, 1e4]])
    np.testing.assert_allclose(point.log_partition, [1e308, -1.7e308, 1e4 + np.log(2)], rtol=1e-15)


@pytest.mark.parametrize("axis", [0, 1, -2])
def test_members_from_logits_on_any_axis(axis):
    members = uq.Members.from_logits(np.moveaxis(Z, 1, axis), [1, 2, 5], member_axis=axis, ids=np.arange(6))
    np.testing.assert_array_equal(members.log_partition, both()["Members"].log_partition)
    np.testing.assert_array_equal(members.probs, both()["Members"].probs)
    assert members.ids.tolist() == list(range(6))
    moved = uq.Members(np.moveaxis(members.probs, 1, 0), log_partition=members.log_partition.T, member_axis=0)
    np.testing.assert_array_equal(moved.log_partition, members.log_partition)


def test_log_probabilities_have_the_partition_zero(random_generator):
    z = random_generator.normal(0, 5, (300, 8))
    for dtype in (np.float16, np.float32, np.float64):
        assert (uq.Point.from_logits(log_softmax(z, axis=1).astype(dtype)).log_partition == 0).mean() > 0.5
    assert (uq.Point.from_logits(log_softmax(z, axis=1)).log_partition == 0).all()
    assert (uq.Point.from_logits(z).log_partition != 0).all()


def test_logits_that_are_not_finite_or_no_members_are_refused():
    with refuses("logits", "finite", got=r"row 1 holds nan at \[1, 0, 1\]"):
        uq.Members.from_logits([[[0.0, 1.0]], [[0.0, np.nan]]])
    with refuses("logits", "shape", got=r"got shape \(6, 5\)"):
        uq.Members.from_logits(Z[:, 0])


def test_a_table_of_logits_keeps_its_names_and_partition(needs):
    needs("pandas")
    import pandas as pd

    table = pd.DataFrame(Z[:, 0], columns=list("abcde"), index=list("uvwxyz"))
    point = uq.Point.from_logits(table)
    assert (point.class_names, point.ids.tolist()) == (tuple("abcde"), list("uvwxyz"))
    np.testing.assert_array_equal(point.log_partition, both()["Point"].log_partition)
    given = uq.Point(both()["Point"].probs, log_partition=pd.Series(point.log_partition))
    np.testing.assert_array_equal(given.log_partition, point.log_partition)


# -- the field --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["Point", "Members"])
def test_rows_metadata_and_choices_keep_it(kind):
    prediction = both()[kind]
    whole = prediction.log_partition
    np.testing.assert_array_equal(prediction[[4, 0]].log_partition, whole[[4, 0]])
    np.testing.assert_array_equal(prediction[2:4][1].log_partition, whole[[3]])
    np.testing.assert_array_equal(prediction[np.arange(6) % 2 == 0].log_partition, whole[::2])
    renamed = prediction.with_metadata(class_names=list("abcde"), groups=[1] * 6)
    np.testing.assert_array_equal(renamed.log_partition, whole)
    np.testing.assert_array_equal(uq.from_object(prediction, ids=range(6)).log_partition, whole)
    binary = prediction.one_versus_rest(3)
    np.testing.assert_array_equal(binary.log_partition, whole)
    np.testing.assert_array_equal(free_energy(binary), free_energy(prediction))
    rest = np.delete(Z[:, 0] if kind == "Point" else Z, 3, axis=-1)
    np.testing.assert_allclose(np.log(binary.probs[..., 0]) + whole, logsumexp(rest, axis=-1), atol=1e-12)
    assert "log_partition=(6" in repr(prediction)
    assert not prediction.log_partition.flags.writeable


def test_a_choice_of_members_keeps_theirs():
    members = both()["Members"]
    part = members.subset(2, rng=3)
    chosen = [int(np.flatnonzero((members.probs[0] == p).all(axis=1))[0]) for p in part.probs[0]]
    np.testing.assert_array_equal(part.log_partition, members.log_partition[:, chosen])


def test_it_may_be_given_in_any_numbers_and_is_not_required():
    assert uq.Point([[0.5, 0.5]]).log_partition is None
    assert uq.Members([[[0.5, 0.5]]]).log_partition is None
    for given in ([3], np.array([3], np.int8), np.array([3.0], np.float16), (3.0,)):
        point = uq.Point([[0.5, 0.5]], log_partition=given)
        assert free_energy(point).tolist() == [-3.0]
    assert free_energy(uq.Point([[0.5, 0.5]], log_partition=np.array([200], np.uint8))).tolist() == [-200.0]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: uq.Point([[0.5, 0.5]], log_partition=[1.0, 2.0]),
            r"must be \(1,\), .* each instance; got shape \(2,\)",
        ),
        (lambda: uq.Point([[0.5, 0.5]], log_partition=[[1.0]]), r"got shape \(1, 1\); use from_logits"),
        (lambda: uq.Point([[0.5, 0.5]], log_partition=1.0), r"got shape \(\); use from_logits"),
        (lambda: uq.Point([[0.5, 0.5]], log_partition=[np.inf]), "values must be finite; row 0 holds inf"),
        (lambda: uq.Point([[0.5, 0.5]], log_partition=["a"]), "must hold real numbers"),
        (lambda: uq.Members([[[0.5, 0.5]] * 2], log_partition=[1.0]), r"must be \(1, 2\), .* instance and member"),
        (
            lambda: uq.Members([[[0.5, 0.5]] * 2] * 3, log_partition=[[0, 1], [1, np.nan], [2, 2]]),
            r"values must be finite; row 1 holds nan at \[1, 1\]",
        ),
        (
            lambda: uq.Members(np.full((2, 3, 2), 0.5), log_partition=np.zeros((3, 2)), member_axis=0),
            r"must be \(2, 3\), one number",
        ),
    ],
)
def test_what_does_not_fit_is_refused(make, match):
    with refuses("log_partition", got=match):
        make()


# -- files and mappings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("extension", PACKAGES)
@pytest.mark.parametrize("kind", ["Point", "Members"])
def test_files_keep_it(tmp_path, needs, kind, extension):
    needs(PACKAGES[extension])
    prediction = both()[kind][[5, 0, 2]].with_metadata(groups=list("aab"))
    path = tmp_path / f"p{extension}"
    uq.save(prediction, path, labels=[0, 1, 2])
    back = uq.load(path)
    for name in ("probs", "log_partition", "row_numbers", "groups"):
        np.testing.assert_array_equal(getattr(back, name), getattr(prediction, name), err_msg=name)
        assert getattr(back, name).dtype == getattr(prediction, name).dtype
    found = inspect_file(path)
    assert (found["kind"], found["n_instances"], found["ignored"]) == (kind.lower(), 3, [])


def test_its_type_survives_a_file(tmp_path):
    point = uq.Point(np.array([[0.5, 0.5]], np.float32), log_partition=np.array([2.0], np.float16))
    uq.save(point, tmp_path / "p.npz")
    assert uq.load(tmp_path / "p.npz").log_partition.dtype == np.float16


def test_logits_in_a_file_or_a_mapping_leave_it(tmp_path):
    np.savez(tmp_path / "point.npz", logits=Z[:, 0])
    np.savez(tmp_path / "members.npz", logits=np.moveaxis(Z, 1, 0), weights=[1, 2, 5])
    loaded = uq.load(tmp_path / "point.npz"), uq.load(tmp_path / "members.npz", member_axis=0)
    mapped = uq.from_object({"logits": Z[:, 0]}), uq.from_object({"logits": Z, "weights": [1, 2, 5]})
    bare = uq.from_object(Z[:, 0], kind="logits"), uq.from_object(Z, kind="logits")
    for found in (loaded, mapped, bare):
        for prediction, expected in zip(found, both().values(), strict=True):
            np.testing.assert_array_equal(prediction.log_partition, expected.log_partition)


def test_a_mapping_may_state_it_beside_the_probabilities():
    members = both()["Members"]
    arrays = {"probs": np.moveaxis(members.probs, 1, 0), "log_partition": members.log_partition.T}
    found = prediction_from_arrays(arrays, member_axis=0)
    np.testing.assert_array_equal(found.log_partition, members.log_partition)
    with refuses("log_partition", "shape", got=r"must be \(6,\)"):
        prediction_from_arrays({"probs": both()["Point"].probs, "log_partition": np.zeros(5)})


def test_a_file_that_holds_another_shape_is_refused_by_name(tmp_path):
    np.savez(tmp_path / "bad.npz", probs=np.full((2, 2), 0.5), log_partition=np.zeros(3))
    with refuses("log_partition", "shape", got=r"\(2,\)", source="bad.npz", error=FileFormatError):
        uq.load(tmp_path / "bad.npz")


def test_outputs_of_fd_shifts_keep_it(tmp_path):
    np.savez(tmp_path / "raw_logits.npz", np.column_stack([Z[:, 0], np.zeros(6), np.zeros(6)]))
    np.savez(tmp_path / "raw_logits_dist.npz", np.moveaxis(Z, 1, 2))  # (N, C, M)
    for name, expected in (("raw_logits", both()["Point"]), ("raw_logits_dist", both()["Members"])):
        np.testing.assert_array_equal(uq.load(tmp_path / f"{name}.npz").log_partition, expected.log_partition)


def test_a_memory_map_is_walked_in_chunks_with_the_same_result(tmp_path, random_generator):
    z = random_generator.normal(0, 3, (900, 2, 1200))
    members = uq.Members.from_logits(z)
    path = tmp_path / "m.npz"
    uq.save(members, path)
    back = uq.load(path)
    assert isinstance(back.probs.base, np.memmap) or isinstance(back.probs, np.memmap)
    energies = np.empty(900)

    def work(rows, part):
        energies[rows] = free_energy(part, temperature=2.0)

    back.for_each_chunk(work, 8 * 2 * 1200, chunk_bytes=2**18)
    np.testing.assert_array_equal(energies, free_energy(members, temperature=2.0))
    np.testing.assert_allclose(energies, -2 * logsumexp(z / 2, axis=2).mean(axis=1), rtol=1e-12)

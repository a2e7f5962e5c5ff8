"""Tensors: safetensors and PyTorch's files."""

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.refusals import refuses
from tests.sample_files import is_mapped, rows

import uqassay as uq
from uqassay.errors import FileFormatError
from uqassay.predictions import file_tensors
from uqassay.predictions.files import inspect_file


def test_tensors_of_safetensors_are_mapped_when_large(tmp_path, needs, monkeypatch):
    needs("safetensors")
    prediction = uq.Members(rows(5, 3, 2, dtype=np.float32), ids=np.arange(5))
    uq.save(prediction, tmp_path / "p.safetensors")
    assert not is_mapped(uq.load(tmp_path / "p.safetensors").probs)
    monkeypatch.setattr(file_tensors, "MAP_BYTES", 1)
    mapped = uq.load(tmp_path / "p.safetensors")
    assert is_mapped(mapped.probs)
    np.testing.assert_array_equal(mapped.probs, prediction.probs)


@pytest.mark.parametrize("extension", [".safetensors", ".pt"])
@pytest.mark.parametrize("key", ["probs", "logits"])
def test_bfloat16_is_taken_within_its_own_precision_against_torch(tmp_path, needs, extension, key):
    needs("torch", "safetensors")
    import torch
    from safetensors.torch import save_file

    probs = torch.softmax(torch.tensor(np.random.default_rng(0).normal(0, 2, (200, 10))), dim=1).bfloat16()
    assert (probs.double().sum(dim=1) - 1).abs().max() > 1e-3  # beyond what 16 bits of float16 would be allowed
    path = tmp_path / f"p{extension}"
    save_file({key: probs}, path) if extension == ".safetensors" else torch.save({key: probs}, path)
    assert inspect_file(path)["arrays"][key]["dtype"] == "bfloat16"
    if key == "probs":
        np.testing.assert_array_equal(uq.load(path).probs, probs.float().numpy())
    else:
        expected = torch.softmax(probs.double(), dim=1).numpy()
        np.testing.assert_allclose(uq.load(path).probs, expected, rtol=1e-12)


def test_pt_reads_bare_tensors_gradients_and_the_older_layout(tmp_path, needs):
    needs("torch")
    import torch

    probs = torch.tensor(rows(3, 2), requires_grad=True)
    torch.save(probs, tmp_path / "bare.pt")
    torch.save({"probs": probs, "classes": ["a", "b"]}, tmp_path / "older.pt", _use_new_zipfile_serialization=False)
    np.testing.assert_array_equal(uq.load(tmp_path / "bare.pt").probs, rows(3, 2))
    assert uq.load(tmp_path / "older.pt").class_names == ("a", "b")


def test_pt_takes_focal_sets_as_lists_of_indices(tmp_path, needs):
    needs("torch")
    import torch

    held = {"masses": torch.tensor([[0.5, 0.5]]), "focal_sets": [[0], [0, 1]], "class_names": ["a", "b"]}
    torch.save(held, tmp_path / "m.pt")
    assert uq.load(tmp_path / "m.pt").focal_sets.tolist() == [[True, False], [True, True]]


def test_a_tensor_that_repeats_its_memory_is_held_to_the_limit(tmp_path, needs):
    needs("torch")
    import torch

    torch.save({"probs": torch.full((1, 2), 0.5).expand(5, 2)}, tmp_path / "small.pt")
    assert uq.load(tmp_path / "small.pt").n_instances == 5
    torch.save({"probs": torch.full((1, 2), 0.5).expand(10**9, 2)}, tmp_path / "p.pt")
    with refuses("probs", "size", got="8.00 GB", source="p.pt", error=FileFormatError):
        uq.load(tmp_path / "p.pt")


@pytest.mark.parametrize("kind", ["sparse", "quantized", "complex", "object"])
def test_tensors_that_are_not_plain_are_refused(tmp_path, needs, kind):
    needs("torch")
    import torch

    half = torch.full((2, 2), 0.5)
    held = {
        "sparse": half.to_sparse(),
        "quantized": half.to(torch.float8_e4m3fn),
        "complex": half.to(torch.complex64),
        "object": {"a": half},
    }
    torch.save({"probs": held[kind]}, tmp_path / "p.pt")
    with pytest.raises(FileFormatError) as caught:
        uq.load(tmp_path / "p.pt")
    assert caught.value.source == "p.pt"


class Explosive:
    """Unpickling this would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return (open, (str(self.path), "w"))


def test_pt_goes_through_the_weights_only_loader(tmp_path, needs):
    needs("torch")
    import torch

    trap = tmp_path / "exploded"
    torch.save({"probs": torch.full((2, 2), 0.5), "extra": Explosive(trap)}, tmp_path / "a.pt")
    with refuses("file", "pickle", source="a.pt", error=FileFormatError):
        uq.load(tmp_path / "a.pt")
    assert not trap.exists()


def test_a_pickle_under_the_name_of_a_pt_file_is_refused_without_a_warning(tmp_path, needs):
    needs("torch")
    with (tmp_path / "a.pt").open("wb") as stream:
        pickle.dump({"probs": [[0.5, 0.5]], "extra": Explosive(tmp_path / "exploded")}, stream)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(FileFormatError) as caught:
            uq.load(tmp_path / "a.pt")
    assert caught.value.source == "a.pt"
    assert not told
    assert not (tmp_path / "exploded").exists()


def safetensors(header: dict, values: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + values


@pytest.mark.parametrize(
    "content",
    [
        safetensors({"probs": {"dtype": "F64", "shape": [10**12, 2], "data_offsets": [0, 32]}}, bytes(32)),
        safetensors({"probs": {"dtype": "F64", "shape": [2, 2], "data_offsets": [0, 2**40]}}, bytes(32)),
        safetensors({"probs": {"dtype": "F64", "shape": [2**62, 4], "data_offsets": [0, 0]}}, b""),
        safetensors({"probs": {"dtype": "X9", "shape": [2, 2], "data_offsets": [0, 32]}}, bytes(32)),
        (2**63).to_bytes(8, "little") + b"{}",
        (9000).to_bytes(8, "little") + b"[" * 9000,
        b"\x02",
    ],
)
def test_no_header_of_safetensors_is_believed(tmp_path, needs, content):
    needs("safetensors")
    (tmp_path / "p.safetensors").write_bytes(content)
    with refuses("file", "unreadable", source="p.safetensors", error=FileFormatError):
        uq.load(tmp_path / "p.safetensors")

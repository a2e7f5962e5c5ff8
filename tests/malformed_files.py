"""Malformed files of every format: bytes and tokens changed, headers made up, parts exchanged."""

import io
import json
import os
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import uqassay as uq
from tests.malformed_arrays import TEXTS, Case, check_prediction, odd_array, odd_value, pick
from tests.malformed_tables import made_up_csv, made_up_line, made_up_parquet, made_up_record, made_up_text
from uqassay.predictions.files import file_hash, inspect_file, load_column

TEXT = (".csv", ".tsv", ".jsonl", ".json")
SUFFIXES = (".npy", ".npz", ".csv", ".tsv", ".parquet", ".jsonl", ".json", ".safetensors", ".pt")
HUGE = (
    b"-1",
    b"0",
    b"1",
    b"99999999999",
    b"4611686018427387904",
    b"18446744073709551616",
    b"1e9",
    b"3.5",
    b"null",
    b'"x"',
)
TOKENS = (
    b"O",
    b"<f8",
    b"|O",
    b"<U9999",
    b"|S0",
    b">i8",
    b"F99",
    b"BF16",
    b"NaN",
    b"Infinity",
    b"]",
    b"}",
    b",",
    b'"',
    b"\0",
    b"\r",
)
PLAIN_TYPES = "<f8 <f4 <f2 |b1 <i8 |O |S0 <U0 <U1000000 |V0 |V9 <c16 <M8[D] <f16 f8,f8 nonsense"
DESCRIPTIONS = (*PLAIN_TYPES.split(), 5, [("a", "<f8")], ("<f8", (2,)), [("a", "|O")])
NAMES = (
    "probs logits alpha lower upper masses beliefs focal_sets vertices mean variance weights labels label class_names classes "
    "ids groups notes note_codes row_numbers n_draws seed signed n_classes precision log_partition x a/b ../up"
)
KEYS = (*NAMES.split(), "")


@cache
def samples(suffix: str) -> tuple[bytes, ...]:
    """Valid files of a format, as bytes."""
    import tempfile

    rng = np.random.default_rng(5)
    carried: dict[str, Any] = {"class_names": ("a", "b", "c"), "ids": ["w", "x", "y", "z"], "groups": [1, 1, 2, 2]}
    point, members = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), (4, 2))
    full = suffix in (".npz", ".safetensors", ".pt")
    predictions = [uq.Point(point), uq.Point(point.astype(np.float32))] if suffix not in TEXT else [uq.Point(point)]
    if suffix != ".npy":
        predictions.append(uq.Point(point, **carried))
    if suffix not in (".csv", ".tsv", ".parquet"):
        predictions.append(uq.Members(members, **({} if suffix == ".npy" else carried)))
    if full:
        predictions += [
            uq.Dirichlet(point * 9, n_draws=5, **carried),
            uq.Intervals(point * 0.5, np.minimum(point + 0.3, 1)),
            uq.Masses(rng.dirichlet(np.ones(4), 4), [[0], [1], [2], [0, 1, 2]], n_classes=3),
            uq.GaussianLogits(members, members, variance_is="epistemic", n_draws=5),
        ]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for prediction in predictions:
            path = Path(folder, f"p{suffix}")
            uq.save(prediction, path, labels=None if suffix == ".npy" else [0, 1, 2, 0])
            found.append(path.read_bytes())
    return tuple(found)


# -- bytes ------------------------------------------------------------------------------------------------------------


def changed_bytes(rng: np.random.Generator, suffix: str) -> tuple[str, bytes]:
    """A valid file with a few changes."""
    data = bytearray(pick(rng, samples(suffix)))
    done = []
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(max(len(data), 1)))
        near = min(at, 200) if rng.random() < 0.5 else at  # headers stand first
        what = pick(rng, ("flip", "cut", "drop", "insert", "repeat", "splice", "head", "number", "token", "zero"))
        done.append(f"{what}@{near}")
        if what == "flip":
            data[near : near + 1] = bytes([rng.integers(256)])
        elif what == "cut":
            data = data[:at]
        elif what == "drop":
            del data[near : near + int(rng.integers(1, 40))]
        elif what == "insert":
            data[near:near] = rng.bytes(int(rng.integers(1, 20)))
        elif what == "repeat":
            data[near:near] = data[near : near + int(rng.integers(1, 100))]
        elif what == "splice":
            other = pick(rng, samples(suffix))
            data = data[:at] + other[int(rng.integers(len(other))) :]
        elif what == "head":
            other = pick(rng, samples(pick(rng, SUFFIXES)))
            size = int(rng.integers(1, 64))
            data[:size] = other[:size]
        elif what == "number":
            digits = [i for i, byte in enumerate(data[:4000]) if 48 <= byte <= 57]
            if digits:
                place = pick(rng, digits)
                data[place : place + 1] = pick(rng, HUGE)
        elif what == "token":
            token = pick(rng, TOKENS)
            data[near : near + len(token)] = token
        else:
            size = int(rng.integers(1, 30))
            data[near : near + size] = bytes([pick(rng, (0, 255))]) * min(size, max(len(data) - near, 0))
    return f"{suffix} {', '.join(done)}", bytes(data)


# -- structure --------------------------------------------------------------------------------------------------------


def npy_header(rng: np.random.Generator) -> bytes:
    """A made-up header of an array, and some values."""
    numbers = [0, 1, 2, 3, 4, -1, 10**6, 10**12, 2**62, 2**63, 2**64, 10**30]
    shape = tuple(pick(rng, numbers) for _ in range(rng.integers(0, 5)))
    if rng.random() < 0.1:
        shape = pick(rng, ("x", None, (True, 2), (1.5, 2), [2, 2], (2,) * 70))
    descr = pick(rng, DESCRIPTIONS)
    header: Any = {"descr": descr, "fortran_order": pick(rng, (True, False, False, 1, "x")), "shape": shape}
    if rng.random() < 0.1:
        header.pop(pick(rng, list(header)))
    text = repr(header).encode()
    if rng.random() < 0.1:
        text = pick(rng, (b"(" * 3000, b"{" * 500, b"'\\d'", b"", b"\xff" * 20, b"[]", b"1" * 5000, b"()" * 4000))
    version = pick(rng, (b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x04\x00", b"\x00\x00"))
    length = len(text) if rng.random() < 0.8 else pick(rng, (0, 1, 65535, 2**32 - 1))
    size = 2 if version == b"\x01\x00" else 4
    return (
        b"\x93NUMPY"
        + version
        + min(length, 256**size - 1).to_bytes(size, "little")
        + text
        + rng.bytes(pick(rng, (0, 32, 96)))
    )


def npy_of(array: np.ndarray) -> bytes:
    """The bytes of an .npy file; objects are pickled, as an attacker would."""
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=True)
    return stream.getvalue()


def made_up(rng: np.random.Generator, suffix: str) -> tuple[str, bytes]:
    """A file that is well formed in its container, with odd contents."""
    keys = [str(key) for key in rng.choice(KEYS, rng.integers(1, 5), replace=False)]
    if suffix == ".npy":
        return "made-up header", npy_header(rng)
    if suffix == ".npz":
        stream = io.BytesIO()
        with zipfile.ZipFile(
            stream, "w", pick(rng, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
        ) as archive:
            for key in keys:
                archive.writestr(f"{key}.npy", npy_header(rng) if rng.random() < 0.4 else npy_of(odd_array(rng)))
        return f"members {keys}", stream.getvalue()
    if suffix == ".pt":
        stream = io.BytesIO()
        held: Any = {pick(rng, (key, 5, None)): torch_value(rng) for key in keys}
        torch.save(
            torch_value(rng) if rng.random() < 0.2 else held,
            stream,
            _use_new_zipfile_serialization=bool(rng.random() < 0.8),
        )
        return f"keys {keys}", stream.getvalue()
    if suffix == ".parquet":
        return made_up_parquet(rng)
    if suffix in (".csv", ".tsv"):
        return "cells", made_up_text(rng) if rng.random() < 0.3 else made_up_csv(rng)
    if suffix in (".jsonl", ".json"):
        make = made_up_record if rng.random() < 0.4 else made_up_line
        lines = [make(rng) for _ in range(rng.integers(0, 5))]
        if suffix == ".json":
            return "items", b"[" + b",".join(lines) + b"]"
        return "lines", b"\n".join(lines) + pick(rng, (b"", b"\n", b"\n\n", b"\r\n"))
    header: dict[str, Any] = {}
    values = b""
    for key in keys:
        size = pick(rng, (0, 8, 32, 96))
        shape = pick(rng, ([4, 3], [2, 2], [2**62, 4], [10**12], [-1], "x", [], [0, 3], [1, 4]))
        dtype = pick(rng, ("F64", "F32", "BF16", "I64", "BOOL", "F8_E4M3", "C64", "X", 5))
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(values), len(values) + size]}
        values += rng.bytes(size)
    header["__metadata__"] = {key: pick(rng, ('["a", "b"]', "[", "5", "[1]", '["a"]')) for key in keys[:2]}
    text = json.dumps(header).encode()
    return f"keys {keys}", pick(rng, (len(text), len(text), 2**63, 5)).to_bytes(8, "little") + text + values


def torch_value(rng: np.random.Generator) -> Any:
    """Something that torch.save writes and a weights-only loader may read."""
    half = torch.full((4, 3), 1 / 3)
    tensors = (
        half,
        half.bfloat16(),
        half.half(),
        half.double(),
        half.to_sparse(),
        half.expand(4, 3),
        half[None],
        half.T,
    )
    odd = (half[:1].expand(10**9, 3), torch.zeros(0, 3), torch.tensor(1.0), torch.eye(3).bool(), half * float("nan"))
    types = (half.to(torch.complex64), half.to(torch.float8_e4m3fn), torch.arange(4), torch.nn.Parameter(half))
    others = ([half, half], (half,), {"a": half}, "text", 5, 0.5, None, True, 2**70)
    lists = (["a", "b", "c"], [], [[0], [0, 1]], {1: 2})
    return pick(rng, (*tensors, *odd, *types, *others, *lists))


# -- what is done with them -------------------------------------------------------------------------------------------


def use(rng: np.random.Generator, path: Path, words: str) -> Case:
    """Read the file in one of the ways there are."""
    way = pick(rng, ("load", "load", "load", "labels", "inspect", "hash", "column"))
    if way == "load":
        kind = pick(rng, (None, None, None, "point", "members", "logits", "fd-shifts", "masses", "dirichlet"))
        axis, normalise = pick(rng, (1, 1, 0, 5)), bool(rng.random() < 0.2)
        words = f"load({words}, kind={kind!r}, member_axis={axis}, normalise={normalise})"
        return Case(words, lambda: check_prediction(uq.load(path, kind=kind, member_axis=axis, normalise=normalise)))
    if way == "labels":
        key, names = pick(rng, (None, None, "probs", "x")), pick(rng, (None, ("a", "b", "c"), ("1", "2")))
        return Case(
            f"load_labels({words}, {key!r}, {names})",
            lambda: len(np.shape(uq.load_labels(path, key, class_names=names))),
        )
    if way == "inspect":
        return Case(f"inspect_file({words})", lambda: json.dumps(inspect_file(path)))
    if way == "hash":
        return Case(f"file_hash({words})", lambda: file_hash(path))
    return Case(f"load_column({words})", lambda: load_column(path, [pick(rng, KEYS[:-1]), "groups"]))


def file_of(suffix: str, structured: float) -> Any:
    """A family of malformed files of one format."""

    def make(rng: np.random.Generator, folder: Path) -> Case:
        words, data = made_up(rng, suffix) if rng.random() < structured else changed_bytes(rng, suffix)
        path = folder / f"{pick(rng, ('p', 'p', 'raw_logits', 'raw_output_dist'))}{suffix}"
        path.write_bytes(data)
        return use(rng, path, f"{path.name}: {words}, {len(data)} bytes")

    return make


def odd_call(rng: np.random.Generator, folder: Path) -> Case:
    """A valid file and odd arguments, or what is no file."""
    path: Any = folder / f"p{pick(rng, SUFFIXES)}"
    path.write_bytes(pick(rng, samples(path.suffix)))
    if rng.random() < 0.4:
        (folder / "pipe.npz").exists() or os.mkfifo(folder / "pipe.npz")
        path = pick(
            rng,
            (
                odd_value(rng),
                folder,
                folder / "none.npz",
                folder / "pipe.npz",
                "/dev/zero",
                "/dev/null",
                pick(rng, TEXTS),
            ),
        )
    name = pick(rng, ("kind", "member_axis", "normalise", "key", "class_names"))
    value = odd_value(rng)
    if name in ("key", "class_names"):
        return Case(f"load_labels({path}, {name}={value!r:.80})", lambda: uq.load_labels(path, **{name: value}))
    return Case(f"load({path}, {name}={value!r:.80})", lambda: check_prediction(uq.load(path, **{name: value})))

"""Which arrays belong to other libraries, where they lie, and in which precision they are computed."""

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

from tests.other_arrays import LIBRARIES, library, numbers
from tests.refusals import refuses
from uqassay._namespaces import (
    as_result,
    compute_dtype,
    detached,
    device_of,
    is_foreign,
    lies_on_host,
    like,
    namespace,
    result_dtype,
    smallest_normal,
)
from uqassay.errors import MissingDependencyError


@pytest.mark.parametrize("values", [np.zeros(2), np.float64(1), [0.5], (0.5,), 0.5, None, "text", np.ma.zeros(2)])
def test_what_is_not_foreign(values):
    assert not is_foreign(values)


@pytest.mark.parametrize("which", LIBRARIES)
def test_what_is_foreign(needs, which):
    needs(LIBRARIES[which])
    values = library(which).make(np.zeros(2))
    assert is_foreign(values)
    assert lies_on_host(values) == (which != "strict")
    assert namespace(values).asarray is not np.asarray


def test_tensors_without_plain_values_are_not_foreign(needs):
    needs("torch")
    import torch

    assert not is_foreign(torch.zeros(2, device="meta"))
    assert not is_foreign(torch.eye(2).to_sparse())


@pytest.mark.parametrize(
    ("which", "dtype"),
    [*product(LIBRARIES, ("float32", "float64", "int64")), ("torch", "float16"), ("jax", "float16")],
)
def test_precision_of_results(needs, which, dtype):
    needs(LIBRARIES[which])
    given = library(which).make(np.ones(3, dtype=dtype))
    xp = namespace(given)
    widest = xp.float32 if which == "jax" else xp.float64
    assert compute_dtype(given) == widest
    assert result_dtype(given) == (xp.float32 if dtype in ("float16", "float32") else widest)
    back = like(np.array([0.1, 0.2]), given)
    assert type(back) is type(given)
    assert (device_of(back), back.dtype) == (device_of(given), result_dtype(given))
    np.testing.assert_allclose(numbers(back), [0.1, 0.2], rtol=1e-7)
    ones = xp.astype(given, compute_dtype(given))
    assert as_result(ones, given).dtype == result_dtype(given)
    assert as_result(ones > 0, given).dtype == xp.bool


def test_complex_numbers_and_numbers_of_8_bits_are_refused(needs):
    needs("torch")
    import torch

    for dtype in (torch.complex64, torch.float8_e4m3fn):
        with refuses("prediction", "type", got=str(dtype).removeprefix("torch.")):
            detached(torch.zeros(2, dtype=dtype), "prediction")


def test_without_array_api_compat_the_extra_is_named(needs, monkeypatch):
    needs("torch")
    import torch

    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    said = r"an array on another device needs it; run pip install '\.\[arrays\]' in the clone of uqassay, or move"
    with pytest.raises(MissingDependencyError, match=said):
        namespace(torch.zeros(2))
    assert like(np.zeros(2), torch.zeros(2)).dtype == torch.float32  # the host does without it


def test_smallest_normal():
    assert smallest_normal(np.zeros(1)) == np.finfo(np.float64).tiny
    assert smallest_normal(np.zeros(1, np.float32)) == np.finfo(np.float32).tiny


def test_arrays_on_several_devices_are_gathered(needs):
    """In a process of its own, because JAX takes the number of its devices when it is loaded."""
    needs("jax")
    code = """
import numpy as np, jax, uqassay as uq
from jax.sharding import Mesh, NamedSharding, PartitionSpec
probs = np.random.default_rng(0).dirichlet(np.ones(4), (8, 3)).astype(np.float32)
spread = jax.device_put(probs, NamedSharding(Mesh(np.array(jax.devices()), ("a",)), PartitionSpec("a")))
for given in (spread, jax.device_put(probs, jax.devices()[1])):
    found = uq.losses.unified_loss(np.arange(8) % 4, given).total
    assert len(found.devices()) == 1 and isinstance(found, jax.Array)
    assert np.allclose(np.asarray(found), uq.losses.unified_loss(np.arange(8) % 4, probs).total, rtol=1e-6)
print("done")
"""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | flags, capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr

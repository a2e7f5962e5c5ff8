"""Arrays and tensors of every library and number type become NumPy arrays at the door, and give the numbers of NumPy."""

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

import uqassay as uq
from tests.refusals import refuses
from uqassay.arrays import as_numeric

RNG = np.random.default_rng(5)
PROBS = RNG.multinomial(16, [0.4, 0.2, 0.2, 0.2], (12, 3)) / 16  # (n, M, K), exact in every number type
LABELS = RNG.integers(0, 4, 12)


class OnDevice:
    """An array that NumPy cannot read, as of CuPy: it is copied by `get`."""

    def __init__(self, values):
        self.values, self.dtype, self.shape, self.ndim = values, values.dtype, values.shape, values.ndim

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __dlpack__(self, **_):
        raise BufferError("this array lies on a device")

    def get(self):
        return self.values


class OnlyDLPack:
    """An array that can be read by DLPack alone."""

    def __init__(self, values):
        self.values, self.dtype, self.shape, self.ndim = values, values.dtype, values.shape, values.ndim

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def of_torch(dtype, *, changed=lambda tensor: tensor):
    def make(values, needs):
        needs("torch")
        import torch

        exact = torch.tensor(values, dtype=getattr(torch, dtype) if values.dtype.kind == "f" else None)
        return changed(exact)

    return make


def of_jax(dtype):
    def make(values, needs):
        needs("jax")
        import jax.numpy as jnp

        return jnp.asarray(values, dtype=dtype if values.dtype.kind == "f" else None)

    return make


def read_only(values, needs):
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def with_gradient(tensor):
    return tensor.requires_grad_(tensor.is_floating_point())


def reordered(tensor):
    """The same values in another layout in memory."""
    return tensor.movedim(0, -1).contiguous().movedim(-1, 0)


MAKERS = {
    **{f"torch {dtype}": of_torch(dtype) for dtype in ("float16", "bfloat16", "float32", "float64")},
    "torch with gradients": of_torch("float64", changed=with_gradient),
    "torch in another layout": of_torch("float32", changed=reordered),
    **{f"jax {dtype}": of_jax(dtype) for dtype in ("bfloat16", "float16", "float32")},
    **{
        f"numpy {dtype}": lambda values, needs, dtype=dtype: (
            values.astype(dtype) if values.dtype.kind == "f" else values
        )
        for dtype in ("float16", "float32", ">f8")
    },
    "read only": read_only,
    "in columns": lambda values, needs: np.asfortranarray(values),
    "on a device": lambda values, needs: OnDevice(values),
    "DLPack alone": lambda values, needs: OnlyDLPack(values),
    "list": lambda values, needs: values.tolist(),
}
FUNCTIONS = {
    "unified_loss": lambda y, p: uq.losses.unified_loss(y, p),
    "brier": lambda y, p: uq.losses.unified_loss(y, p, distance="brier"),
    "log_loss": lambda y, p: uq.losses.log_loss(y, p),
    "is_correct": lambda y, p: uq.losses.is_correct(y, p),
    "decompose": lambda y, p: uq.measures.decompose(p),
    "upper_entropy": lambda y, p: uq.measures.upper_entropy(p),
    "generalised_hartley": lambda y, p: uq.measures.generalised_hartley(p),
    "vote_entropy": lambda y, p: uq.measures.vote_entropy(p),
    "entropy": lambda y, p: uq.measures.entropy(p),
    "uq_auc_score": lambda y, p: uq.metrics.uq_auc_score(y, y),
}


def arrays(found):
    """The arrays of a result."""
    if is_dataclass(found):
        return [getattr(found, f.name) for f in fields(found) if isinstance(getattr(found, f.name), np.ndarray)]
    return [np.asarray(found) if isinstance(found, float) else found]


@pytest.mark.parametrize("kind", MAKERS)
def test_numbers_of_numpy(needs, kind):
    make = MAKERS[kind]
    for name, function in FUNCTIONS.items():
        y = (LABELS > 1).astype(int) if name == "uq_auc_score" else LABELS
        expected, found = function(y, PROBS), function(make(y, needs), make(PROBS, needs))
        for one, other in zip(arrays(expected), arrays(found), strict=True):
            assert type(other) is np.ndarray
            np.testing.assert_array_equal(other, one, err_msg=name)
    np.testing.assert_array_equal(uq.Members(make(PROBS, needs)).mean_probs(), uq.Members(PROBS).mean_probs())


@pytest.mark.parametrize("kind", ["torch float32", "jax float32", "on a device"])
def test_an_assay(needs, kind):
    make = MAKERS[kind]
    single = PROBS.astype(np.float32)
    here = uq.assay({"DE": single, "mean": single[:, 0]}, LABELS, calibration=())
    there = uq.assay(
        {"DE": make(single, needs), "mean": make(single[:, 0], needs)}, make(LABELS, needs), calibration=()
    )
    assert here.verdict() == there.verdict()
    for one, other in zip(here.models, there.models, strict=True):
        for name, column in one.columns.items():
            np.testing.assert_array_equal(other.columns[name], column, err_msg=name)


def test_label_distributions_and_class_sets_of_torch(needs):
    needs("torch")
    import torch

    votes, sets = RNG.integers(0, 4, (12, 4)) + np.eye(4, dtype=int)[0], PROBS[:, 0] > 0
    np.testing.assert_array_equal(
        uq.losses.log_loss(torch.tensor(votes), torch.tensor(PROBS)), uq.losses.log_loss(votes, PROBS)
    )
    np.testing.assert_array_equal(
        uq.measures.credal_width(torch.tensor(sets)), uq.measures.credal_width(uq.ClassSets(sets))
    )


def test_values_without_numbers_are_refused(needs):
    needs("torch", "jax")
    import jax
    import jax.numpy as jnp
    import torch

    half = torch.full((2, 2), 0.5)
    for odd in (half.to(torch.complex64), half.to(torch.float8_e4m3fn)):
        with refuses("a", "type"):
            as_numeric(odd, "a")
    for code, odd in (("missing", half.to("meta")), ("sparse", half.to_sparse())):
        with refuses("prediction", code):
            uq.measures.least_confidence(odd)
    with refuses("prediction", "type", got="Tracer"):  # inside a compiled function
        jax.jit(uq.measures.least_confidence)(jnp.asarray(PROBS))
    with refuses("a", "type", got="NoCopy"):
        as_numeric(type("NoCopy", (OnDevice,), {"get": OnDevice.__array__})(PROBS), "a")

"""Time of the functions that compute on the device of an array, beside a plain copy of the same array in the same run.

The rate of a function is the bytes that it has to move (its probabilities once, its results once) over its time; that of the
copy is twice the bytes of the probabilities over its time. The first call, in which JAX compiles, is not counted. Where the
device is the host, the functions are called in two ways: by the formulas on the device, and as users call them, which takes
the formulas of NumPy and the compiled kernels.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import uqassay as uq
from uqassay.predictions import devices as device_labels
from uqassay.predictions import devices as keeping_arrays

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "losses.unified_loss": lambda y, p: uq.losses.unified_loss(y, p),
    "losses.probability_gap": lambda y, p: uq.losses.probability_gap(y, p),
    "measures.decompose, information-theoretic": lambda y, p: uq.measures.decompose(p),
    "measures.decompose, variance": lambda y, p: uq.measures.decompose(p, "variance"),
    "measures.decompose, zero-one": lambda y, p: uq.measures.decompose(p, "zero-one"),
    "measures.least_confidence": lambda y, p: uq.measures.least_confidence(p),
    "measures.margin_uncertainty": lambda y, p: uq.measures.margin_uncertainty(p),
    "measures.variation_ratio": lambda y, p: uq.measures.variation_ratio(p),
    "measures.credal_width": lambda y, p: uq.measures.credal_width(p),
    "measures.generalised_hartley": lambda y, p: uq.measures.generalised_hartley(p),
}


class Torch:
    """Arrays of PyTorch on a device by name, such as cpu, cuda, cuda:1, mps or xpu."""

    def __init__(self, device: str) -> None:
        import torch

        self.torch, self.device = torch, torch.device(device)
        of_device = getattr(torch, self.device.type)
        get_name = getattr(of_device, "get_device_name", None)
        self.name = f"PyTorch {torch.__version__}, {get_name(self.device) if get_name else device}"
        self.wait = getattr(of_device, "synchronize", lambda: None)

    def array(self, values: np.ndarray) -> Any:
        return self.torch.tensor(values, device=self.device)

    def copy(self, array: Any) -> Any:
        return array.clone()

    def finished(self, _: Any) -> None:
        self.wait()


class Jax:
    """Arrays of JAX on a device by the name of its platform, such as cpu, gpu or tpu."""

    def __init__(self, device: str) -> None:
        import jax

        self.jax, self.device = jax, jax.devices(device)[0]
        self.name = (
            f"JAX {jax.__version__}, {self.device.device_kind}, x64 {'on' if jax.config.jax_enable_x64 else 'off'}"
        )

    def array(self, values: np.ndarray) -> Any:
        return self.jax.device_put(values, self.device)

    def copy(self, array: Any) -> Any:
        return self.jax.numpy.array(array, copy=True)

    def finished(self, result: Any) -> None:
        for values in arrays_of(result):
            self.jax.block_until_ready(values)


def arrays_of(result: Any) -> list[Any]:
    found = [getattr(result, f.name) for f in fields(result)] if is_dataclass(result) else [result]
    return [values for values in found if getattr(values, "shape", ())]


def seconds(call: Callable[[], Any], finished: Callable[[Any], None], repeats: int) -> tuple[float, Any]:
    """Least wall time of several calls after a first one, and the result."""
    result = call()
    finished(result)
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = call()
        finished(result)
        best = min(best, time.perf_counter() - start)
    return best, result


def measure(library: Any, instances: int, members: int, classes: int, dtype: str, repeats: int) -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, (instances, members, classes))
    probs = np.exp(logits - logits.max(axis=2, keepdims=True))
    probs = (probs / probs.sum(axis=2, keepdims=True)).astype(dtype)
    given, y = library.array(probs), library.array(rng.integers(0, classes, instances))
    # several copies in one measurement, because one may be shorter than a launch
    copies = max(1, min(100, 2**28 // probs.nbytes))
    copied, _ = seconds(lambda: [library.copy(given) for _ in range(copies)][-1], library.finished, repeats)
    copy_rate = 2 * probs.nbytes * copies / copied
    print(f"{library.name}; {instances:,} × {members} × {classes}, {dtype}, {probs.nbytes / 1e6:.1f} MB")
    print(f"plain copy: {copied / copies * 1e3:.3g} ms, {copy_rate / 1e9:.3g} GB/s read and written\n")
    on_host = keeping_arrays.lies_on_host(given)
    ways = ["formulas on the device", *(["as called"] if on_host else [])]
    print("| function | " + " | ".join(f"{way}: ms | GB/s | of the copy" for way in ways) + " |")
    print("|---|" + "---|" * (3 * len(ways)))
    for name, function in FUNCTIONS.items():
        cells = []
        for way in ways:
            with nullcontext() if way == "as called" else computed_as_elsewhere():
                took, result = seconds(lambda f=function: f(y, given), library.finished, repeats)
            moved = probs.nbytes + sum(int(np.prod(a.shape)) * a.dtype.itemsize for a in arrays_of(result))
            cells.append(f"{took * 1e3:.3g} | {moved / took / 1e9:.3g} | {moved / took / copy_rate:.2%}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


@contextmanager
def computed_as_elsewhere() -> Iterator[None]:
    """Within the block, arrays on the host are computed in their own library, as those on an accelerator are."""
    with ExitStack() as stack:
        for module in (keeping_arrays, device_labels):
            stack.enter_context(patch.object(module, "lies_on_host", lambda values: False))
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", choices=("torch", "jax"), default="torch")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, mps, … of PyTorch; cpu, gpu, tpu of JAX")
    parser.add_argument("--instances", type=int, default=50_000)
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--dtype", choices=("float16", "float32", "float64"), default="float32")
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    library = {"torch": Torch, "jax": Jax}[chosen.library](chosen.device)
    measure(library, chosen.instances, chosen.members, chosen.classes, chosen.dtype, chosen.repeats)


if __name__ == "__main__":
    main()

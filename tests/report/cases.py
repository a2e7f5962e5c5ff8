"""Assays that the page is judged on: names that are markup, sets of every kind, runs and groups."""

import base64
import zlib

import numpy as np

import uqassay as uq

HOSTILE = "<img src=x onerror=alert(1)>"
CLASSES = ["</script><script>alert(2)</script>", "a & b", "\u2028 {{payload}}"]


def softmax(z):
    p = np.exp(z - z.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True)


def hostile_assay(n=120, k=3, *, seed=0, names=CLASSES, **options):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    z = 2.0 * np.eye(k)[y] + rng.normal(size=(n, k))
    members = softmax(z[:, None, :] + 0.6 * rng.normal(size=(n, 5, k)))
    p = softmax(1.3 * z)
    models = {
        HOSTILE: uq.Members(members),
        "%{x} {{js}}": uq.Point(p),
        "box": uq.Intervals(np.maximum(p - 0.1, 0), np.minimum(p + 0.1, 1)),
        "runs": [uq.Point(softmax(z + 0.3 * rng.normal(size=z.shape))) for _ in range(2)],
    }
    return uq.assay(models, y, class_names=names[:k] if names else None, **options)


def number(value):
    return {None: float("nan"), "Infinity": np.inf, "-Infinity": -np.inf}.get(value, value)


def unpack(entry):
    raw = np.frombuffer(zlib.decompress(base64.b64decode(entry["zlib"])), dtype=np.uint8)
    dtype = np.dtype(entry["dtype"])
    codes = raw.reshape(dtype.itemsize, -1).T.copy().view(dtype.newbyteorder("<")).reshape(entry["shape"])
    if "decimals" not in entry:
        return codes
    top = np.iinfo(dtype).max
    return np.select([codes == top, codes == top - 1], [np.inf, np.nan], codes / 10.0 ** entry["decimals"])


def ranked_assay(n=150, k=3, *, seed=0, **options):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    z = 1.5 * np.eye(k)[y] + rng.normal(size=(n, k))
    models = {
        "members": uq.Members(softmax(z[:, None, :] + 0.6 * rng.normal(size=(n, 4, k)))),
        "point": uq.Point(softmax(1.3 * z)),
        "runs": [uq.Members(softmax(z[:, None, :] + 0.9 * rng.normal(size=(n, 3, k)))) for _ in range(2)],
        "agreeing": uq.Members(softmax(z)[:, None, :].repeat(3, axis=1)),
    }
    return uq.assay(models, y, n_draws=50, **options)

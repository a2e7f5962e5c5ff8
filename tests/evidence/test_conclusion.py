"""The end of an assay: which instances are pictured, and what identifies the labels."""

from hashlib import sha256

import numpy as np

import uqassay as uq
from uqassay.evidence import stream as conclusion
from uqassay.evidence.kept_rows import random_keys, sample_reaching


def test_extreme_instances_and_a_random_sample_are_pictured(monkeypatch, random_generator):
    p, y = random_generator.dirichlet(np.ones(3), (80, 4)), random_generator.integers(0, 3, 80)
    monkeypatch.setattr(conclusion, "PICTURED_VALUES", 60)
    monkeypatch.setattr(conclusion, "PICTURED_POINTS", 2)
    assert conclusion.most_pictured(3) == 20
    found = uq.assay({"m": p}, y, calibration=(), scales=(), n_draws=5, rng=3)
    extreme = np.unique(np.concatenate(list(found.extreme_instances(2).values())))
    rows = found.sets["m"].rows
    assert rows[: len(extreme)].tolist() == extreme.tolist()
    assert len(rows) == 20
    others = np.setdiff1d(np.arange(80), extreme)
    chosen = others[sample_reaching(random_keys(80, None, 3)[others], 20 - len(extreme))]
    assert rows[len(extreme) :].tolist() == chosen.tolist()
    np.testing.assert_array_equal(found.sets["m"].points, p[extreme].astype(np.float32))
    assert found.provenance["labels_sha256"] == sha256(y.tobytes()).hexdigest()

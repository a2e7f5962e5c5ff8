"""Stated miscalibrations against brute force."""

import numpy as np
import pytest

from uqassay.calibration.miscalibration import Miscalibration


def test_stated_truths_against_brute_force():
    generator = np.random.default_rng(3)
    probs = generator.dirichlet(np.full(4, 0.5), 20)
    probs[0] = [1, 0, 0, 0]
    probs[1] = [0.4, 0.4, 0.2, 0.0]
    for i, p in enumerate(probs):
        tempered = np.array([value ** (1 / 1.7) for value in p])
        assert Miscalibration.temperature(1.7).truth(probs)[i] == pytest.approx(tempered / tempered.sum(), abs=1e-12)
        assert Miscalibration.label_noise(0.2).truth(probs)[i] == pytest.approx([0.8 * v + 0.05 for v in p], abs=1e-12)
        for delta in (0.3, -0.3, 0.9):
            top = int(np.argmax(p))
            new = min(max(p[top] - delta, 0.0), 1.0)
            rest = sum(p) - p[top]
            shares = [(1 - new) * (v / rest if rest > 0 else 1 / 3) for v in p]
            shares[top] = new
            assert Miscalibration.overconfidence(delta).truth(probs)[i] == pytest.approx(shares, abs=1e-12)
    assert np.array_equal(Miscalibration.none().truth(probs), probs)
    assert Miscalibration.temperature(1.0).truth(probs) == pytest.approx(probs, abs=1e-12)
    assert Miscalibration.overconfidence(-0.1).sentence == "the predicted class is true 0.1 more often than said"

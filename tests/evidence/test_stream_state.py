"""What a stream collects: the most extreme instances, sums, and no more of the predictions than later tests need."""

import numpy as np

import uqassay as uq
from uqassay.evidence import calibration as calibration_cost
from uqassay.evidence import stream as conclusion
from uqassay.evidence import stream as kept_pictures

OPTIONS = {"scales": (), "calibration": (), "n_draws": 5}


def test_extreme_instances_of_parts_are_those_of_the_whole(monkeypatch, random_generator):
    monkeypatch.setattr(conclusion, "PICTURED_POINTS", 4)
    monkeypatch.setattr(kept_pictures, "PICTURED_POINTS", 4)
    monkeypatch.setattr(conclusion, "PICTURED_VALUES", 0)
    p, y = random_generator.dirichlet(np.ones(3), (60, 4)).round(1) + 1e-3, random_generator.integers(0, 3, 60)
    p /= p.sum(axis=2, keepdims=True)  # rounded, so that instances tie
    p[5], p[40] = p[20], p[20]
    models = {"a": uq.Members(p), "b": uq.Point(p[:, 0])}
    stream = uq.AssayStream(**OPTIONS)
    for rows in (slice(0, 10), slice(10, 45), slice(45, 60)):
        stream.update({name: model[rows] for name, model in models.items()}, y[rows])
    whole = uq.assay(models, y, **OPTIONS)
    expected = np.unique(np.concatenate(list(whole.extreme_instances(4).values())))
    assert stream._state.pictures.samples["a"].joined()[1].tolist() == expected.tolist()


def test_predictions_are_kept_within_the_budget_alone(monkeypatch, random_generator):
    monkeypatch.setattr(conclusion, "PICTURED_VALUES", 30)
    monkeypatch.setattr(calibration_cost, "MOST_VALUES", 300)
    p, y = random_generator.dirichlet(np.ones(3), 2000), random_generator.integers(0, 3, 2000)
    stream = uq.AssayStream(**OPTIONS | {"calibration": ("ece-confidence",)})
    for start in range(0, 2000, 100):
        stream.update({"m": p[start : start + 100]}, y[start : start + 100])
    state = stream._state
    assert len(state.samples["m"].joined()[1]) < 120  # 300 numbers, three to an instance, and a tenth for rounding
    assert len(state.pictures.samples["m"].joined()[1]) <= 10 + 60
    assert stream.compute().calibration[0].n_tested == 100

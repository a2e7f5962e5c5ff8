"""Data sets and presets of the reproduction of paper 002."""

from uqassay.lab.papers.gain.choices import DATASETS, METHODS, PRESETS
from uqassay.lab.papers.gain.printed_values import PRINTED_AS


def test_every_data_set_has_every_preset_with_known_methods():
    for plan in DATASETS.values():
        assert tuple(plan.slices) == PRESETS
        for slice_ in plan.slices.values():
            assert set(slice_.methods) | set(slice_.options) <= set(METHODS)


def test_only_the_data_of_the_paper_are_compared_and_never_those_of_a_smoke_run():
    compared = {(name, preset) for name, plan in DATASETS.items() for preset, s in plan.slices.items() if s.as_printed}
    printed = {(name, preset) for name in PRINTED_AS for preset in ("cpu", "paper")}
    mismatch = {(name, preset) for name in ("toy-mismatch-1", "toy-mismatch-2") for preset in ("cpu", "paper")}
    assert compared - mismatch == printed


def test_mismatch_studies_differ_from_the_toy_data_in_one_thing():
    toy, *others = (DATASETS[name].plan for name in ("toy", "toy-mismatch-1", "toy-mismatch-2"))
    assert (others[0].calibration, others[0].layout, others[0].thinned) == ("three-discs", toy.layout, False)
    assert (others[1].calibration, others[1].layout, others[1].thinned) == (toy.calibration, toy.layout, True)


def test_another_share_is_of_toy_data_alone_and_stands_in_the_words():
    toy, digits = DATASETS["toy"], DATASETS["digits"]
    other = toy.with_train_share(0.05)
    assert (other.name, other.train_share, toy.train_share) == ("toy", 0.05, None)
    assert "with p = 5.0 % for every disc" in other.words("cpu", other.slices["cpu"])
    assert digits.with_train_share(0.05) is digits
    assert digits.train_share is None


def test_words_say_what_is_run():
    plan = DATASETS["toy"]
    text = plan.words("smoke", plan.slices["smoke"])
    assert "preset smoke (not compared with the paper)" in text
    assert "2 runs, at most 12,000 instances" in text
    assert "as printed as far as it is printed" in plan.words("cpu", plan.slices["cpu"])

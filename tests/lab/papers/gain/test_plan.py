"""Options of the reproduction of the paper."""

import pytest
from tests.refusals import refuses

from uqassay.lab.papers.gain.plan import DATASETS, METHODS, PRESETS, SPREADS, chosen, method_options

GIVEN = {"preset": "cpu", "dataset": None, "method": None, "spread": None, "data": None}


def asked(**options):
    return chosen(**{**GIVEN, **options})


def test_defaults():
    found = asked()
    assert [plan.name for plan in found.plans] == ["toy"]
    assert (found.methods, found.spreads, found.data) == (None, SPREADS, "")
    assert [m.name for m in found.methods_of(DATASETS["toy"].slices["paper"])] == ["sparse-gp"]


def test_a_mismatch_study_brings_the_toy_data_once():
    names = [plan.name for plan in asked(dataset=["toy-mismatch-2", "toy", "digits", "toy-mismatch-1"]).plans]
    assert names == ["toy", "toy-mismatch-2", "digits", "toy-mismatch-1"]


def test_names_and_spreads_are_taken_alone_or_in_a_list():
    found = asked(dataset="toy", method="random-forest", spread=0.25)
    assert ([m.name for m in found.methods], found.spreads) == (["random-forest"], (0.25,))
    assert asked(method=["local-gp", "deep-ensemble"], spread=[1, 0.5]).spreads == (1.0, 0.5)


def test_toy_data_stand_once_for_each_share_and_other_data_once():
    plans = asked(dataset=["toy-mismatch-2", "digits"], train_share=["0.05", "random"]).plans
    assert [(plan.name, plan.train_share) for plan in plans] == [
        ("toy", 0.05),
        ("toy-mismatch-2", 0.05),
        ("toy", "random"),
        ("toy-mismatch-2", "random"),
        ("digits", None),
    ]
    assert asked(train_share=0).plans[0].train_share == 0.0


def test_options_of_a_method_by_data_and_preset():
    forest, toy = METHODS["random-forest"], DATASETS["toy"]
    assert method_options(forest, toy, toy.slices["cpu"]) == {"n_members": 100, "min_samples_leaf": 5}
    assert method_options(forest, toy, toy.slices["smoke"])["n_members"] == 10
    digits = DATASETS["digits"]
    assert method_options(forest, digits, digits.slices["cpu"]) == {"n_members": 100}


@pytest.mark.parametrize(
    ("options", "parameter", "code", "got"),
    [
        ({"dataset": "toi"}, "dataset", "choice", "'toi'"),
        ({"dataset": ["toy", "toy"]}, "dataset", "duplicate", "toy twice"),
        ({"dataset": []}, "dataset", "empty", "none"),
        ({"method": "gp"}, "method", "choice", "'gp'"),
        ({"preset": "gpu-hour"}, "preset", "choice", "'gpu-hour'"),
        ({"spread": 0.3, "dataset": "digits"}, "spread", "conflict", "0.3"),
        ({"spread": [0.3, -1]}, "spread", "range", "-1"),
        ({"spread": [0.3, 0.3]}, "spread", "duplicate", "0.3, 0.3"),
        ({"spread": []}, "spread", "duplicate", r"\[\]"),
        ({"train_share": 0.1, "dataset": "digits"}, "train_share", "conflict", "0.1"),
        ({"train_share": [0.1, 0.7]}, "train_share", "range", "0.7"),
        ({"train_share": -0.1}, "train_share", "range", "-0.1"),
        ({"train_share": "half"}, "train_share", "range", "'half'"),
        ({"train_share": True}, "train_share", "range", "True"),
        ({"train_share": [None]}, "train_share", "range", "None"),
        ({"train_share": float("nan")}, "train_share", "range", "nan"),
        ({"train_share": ["0.1", 0.1]}, "train_share", "duplicate", "0.1"),
        ({"train_share": []}, "train_share", "duplicate", r"\[\]"),
        ({"dataset": "emnist-bymerge"}, "data", "missing", "none"),
        ({"dataset": "emnist-bymerge", "data": "nowhere.npz"}, "data", "missing", "nowhere.npz"),
        ({"dataset": "digits", "data": "x.npz"}, "data", "conflict", "digits"),
        ({"dataset": ["emnist-bymerge", "digits"], "data": "x.npz"}, "data", "conflict", "digits"),
    ],
)
def test_refusals(options, parameter, code, got):
    with refuses(parameter, code, got=got):
        asked(**options)


def test_the_learnt_kernel_is_an_option_of_the_local_gp():
    learnt = METHODS["local-gp-learnt"]
    toy = DATASETS["toy"]
    assert learnt.of == "local-gp"
    assert method_options(learnt, toy, toy.slices["cpu"]) == {"lengthscale": "bound", "signal_variance": "bound"}
    assert asked(method="local-gp-learnt").methods == (learnt,)


# -- Data sets and presets of the reproduction of the paper.


def test_every_data_set_has_every_preset_with_known_methods():
    for plan in DATASETS.values():
        assert tuple(plan.slices) == PRESETS
        for slice_ in plan.slices.values():
            assert set(slice_.methods) | set(slice_.options) <= set(METHODS)


def test_only_the_data_of_the_paper_are_compared_and_never_those_of_a_smoke_run():
    compared = {(name, preset) for name, plan in DATASETS.items() for preset, s in plan.slices.items() if s.as_printed}
    printed = {(name, preset) for name in ("toy", "emnist-balanced", "kuzushiji-49") for preset in ("cpu", "paper")}
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

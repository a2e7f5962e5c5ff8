"""Notes of the reproduction: choices that the paper does not print, and what happened."""

from dataclasses import replace

from tests.lab.papers.gain.made import row

from uqassay.lab.papers.gain.choices import chosen
from uqassay.lab.papers.gain.tables import choice_notes, run_notes
from uqassay.notes import Note


def notes(**options):
    given = {"preset": "cpu", "dataset": None, "method": None, "spread": None, "data": None}
    return "\n".join(choice_notes(chosen(**{**given, **options})))


def test_every_unprinted_choice_is_stated():
    toy = notes()
    for part in (
        "base of its logarithm",
        "1/M",
        "covariance I",
        "30 discs of radius 2.7",
        "near a spread of .35",
        "signal variance 9",
    ):
        assert part in toy
    assert "near a spread" not in notes(spread=0.25)
    assert "p from 1 to 50 %" in toy
    assert "p = 5.0 % or p random between 0 and 50 %" in notes(train_share=[0.05, "random"])
    real = notes(dataset="digits", method=["random-forest", "deep-ensemble"])
    for part in ("digits: training and test part are merged", "R: 25 %", "100 trees", "5 networks", "10 epochs"):
        assert part in real
    assert "toy data" not in real


def test_options_of_the_preset_stand_in_the_notes():
    assert "10 trees" in notes(method="random-forest", preset="smoke")


def test_radius_sizes_and_maps_of_the_runs():
    one = row(2, dataset="digits")
    facts = {"radius": 1.25, "neighbours": 36, "instances": 1797, "data": "1,797 instances"}
    first, *others = one.study.runs
    first = replace(first, notes=(Note("parts", "12 balls"), Note("skipped", "15 skipped")))
    found = run_notes([replace(one, study=replace(one.study, facts=facts, runs=(first, *others)))])
    assert found[0] == "digits: 1,797 instances; R = 1.25 for 36 neighbours of 1,797 instances"
    assert found[1] == "digits, first run: 12 balls"
    assert not any("skipped" in line for line in found)


def test_calibration_instances_outside_the_test_are_counted():
    one = row(1)
    test = one.study.runs[0].test
    wide = {name: values * 1.5 for name, values in test.epistemic.items()}
    run = replace(one.study.runs[0], calibration=replace(test, epistemic=wide))
    found = run_notes([replace(one, study=replace(one.study, runs=(run,)))])
    outside = int((wide["mutual-information"] > test.epistemic["mutual-information"].max()).sum())
    outside += int((wide["mutual-information"] < test.epistemic["mutual-information"].min()).sum())
    assert any("mutual information: 0 of 20 intervals" in line and f"{outside} calibration" in line for line in found)

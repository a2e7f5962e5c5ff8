"""Names of the command line: methods, decompositions, conventions, and the options that follow from them."""

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.lab.papers.disentangling.plan import (
    CONVENTIONS,
    DATASETS,
    IN_PAPER,
    METHODS,
    PRESETS,
    WHERE,
    chosen_convention,
    chosen_datasets,
    chosen_decompositions,
    chosen_methods,
    chosen_preset,
    chosen_where,
    method_options,
)
from uqassay.lab.papers.disentangling.printed import DECOMPOSITIONS, short_name
from uqassay.lab.papers.disentangling.printed import METHODS as PRINTED
from uqassay.lab.papers.disentangling.trainings import Conditions

WINE, DIGITS = DATASETS["wine"], DATASETS["digits"]
PAPER = WINE.slices["paper"]
IT, GL = "information-theoretic", "gaussian-logits"


def options(method: str, decomposition: str = IT, where: str = "printed", **extra: object) -> dict[str, object]:
    return method_options(METHODS[method], decomposition, WINE, PAPER, where=where, extra=extra)


def test_labels_are_those_of_the_printed_tables():
    assert tuple(method.label for method in METHODS.values())[:4] == PRINTED
    assert {short_name(name): name for name in (GL, IT)} == DECOMPOSITIONS
    assert short_name("label-wise") == "label-wise"


def test_options_are_the_printed_ones():
    common = {"backbone": (32, 32, 16), "batch_size": 128, "standardise": False, "progress": False}
    sampled = common | {"epochs": 100, "n_samples": 50}
    assert options("mc-dropout") == sampled | {"head": "softmax", "where": "last", "rate": 0.3}
    assert options("mc-dropconnect", GL) == sampled | {"head": GL, "where": "all", "rate": 0.3}
    assert options("flipout") == sampled | {"head": "softmax", "where": "hidden", "epochs": 500}
    assert options("deep-ensemble", GL) == common | {"head": GL, "epochs": 100, "n_members": 10}
    assert options("random-forest") == {}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("method", METHODS)
def test_every_choice_of_layers_is_accepted_by_the_method(method, where):
    from uqassay.lab.methods import build_method

    for decomposition in (IT, GL)[: 2 if METHODS[method].heads else 1]:
        build_method(method, **options(method, decomposition, where)).check_options((13,), 3)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_every_convention_is_accepted_by_methods_and_conditions(name):
    from uqassay.lab.methods import build_method

    convention = CONVENTIONS[name]
    Conditions(**convention.conditions)
    for method in METHODS.values():
        for decomposition in (IT, GL):
            for data, shape, k in (("wine", (13,), 3), ("cifar-10", (3, 32, 32), 10), ("bci", (22, 768), 4)):
                if method.offers(decomposition) and convention.concerns(method.name, decomposition, data):
                    own = {"backbone": DATASETS[data].backbone, **convention.own_options(method.name, data)}
                    given = options(method.name, decomposition, convention.where, **(own if method.heads else {}))
                    build_method(method.name, **given).check_options(shape, k)


def test_the_authors_code():
    authors = CONVENTIONS["authors"]
    together = Conditions(**authors.conditions)
    assert (len(together.noise_levels), together.nested_noise, together.delete_column) == (10, False, True)
    np.testing.assert_allclose(together.noise_levels, np.linspace(0, 1, 10), atol=1e-12)
    assert (authors.where, authors.epsilon, authors.sources) == ("last", 1e-6, {"wine": "wine-unstratified"})
    assert options("mc-dropconnect", where=authors.where)["where"] == "hidden"
    both = {"convention": "paper-code"}  # of Gaussian logits
    assert authors.own_options("deep-ensemble", "wine") == {**both, "rate": 0.3}
    assert authors.own_options("flipout", "wine") == {**both, "kl_weight": 32.0}
    assert authors.own_options("mc-dropout", "cifar-10") == {**both, "backbone": "cnn-valid"}
    assert authors.own_options("mc-dropout", "bci") == {**both, "backbone": "eeg-max-norm", "standardise": False}
    assert authors.concerns("mc-dropout", "variance", "digits")


def test_together_holds_every_choice_of_the_authors_and_no_other():
    authors = CONVENTIONS["authors"]
    for one in CONVENTIONS.values():
        held = [
            one.conditions.items() <= authors.conditions.items(),
            one.sources.items() <= authors.sources.items(),
            one.where in ("printed", authors.where),
            one.epsilon <= authors.epsilon,
            all(
                one.own_options(method, data).items() <= authors.own_options(method, data).items()
                for method in METHODS
                for data in DATASETS
            ),
        ]
        assert all(held) == (one.by_authors or one.name == "exact"), one.name


def test_choices_concern_what_they_change():
    assert not CONVENTIONS["gaussian-code"].concerns("mc-dropout", IT, "wine")
    assert CONVENTIONS["gaussian-code"].concerns("mc-dropout", GL, "wine")
    assert not CONVENTIONS["last-layer"].concerns("mc-dropout", IT, "wine")
    assert not CONVENTIONS["unstratified-split"].concerns("mc-dropout", IT, "digits")
    assert not CONVENTIONS["code-network"].concerns("mc-dropout", IT, "wine")
    assert not CONVENTIONS["entropy-epsilon"].concerns("mc-dropout", "variance", "wine")


def test_names_and_labels():
    assert [plan.name for plan in chosen_datasets(None)] == ["wine"]
    assert [plan.name for plan in chosen_datasets(["digits", "bci"])] == ["digits", "bci"]
    names = ["MC-Dropout", "deep ensembles", "flipout"]
    assert [m.name for m in chosen_methods(names, WINE, PAPER)] == ["mc-dropout", "deep-ensemble", "flipout"]
    assert [m.name for m in chosen_methods(None, DIGITS, DIGITS.slices["cpu"])] == list(DIGITS.methods)
    cifar = DATASETS["cifar-10"]
    assert [m.name for m in chosen_methods(None, cifar, cifar.slices["cpu"])] == ["mc-dropout", "deep-ensemble"]
    assert chosen_decompositions(None) == [IT, GL]
    assert chosen_decompositions(["gl", "variance"]) == [GL, "variance"]
    assert [c.name for c in chosen_convention("each")] == list(CONVENTIONS)
    assert (chosen_preset("gpu-hour"), chosen_where("all")) == ("gpu-hour", "all")


@pytest.mark.parametrize(
    ("call", "parameter", "remedy"),
    [
        (lambda: chosen_datasets("wien"), "dataset", "did you mean wine?"),
        (lambda: chosen_methods("mc-dropuot", WINE, PAPER), "method", "did you mean mc-dropout?"),
        (lambda: chosen_decompositions(["varience"]), "decomposition", "did you mean variance?"),
        (lambda: chosen_convention("ten"), "convention", "choose exact"),
        (lambda: chosen_where("first"), "where", "choose printed, last or all"),
        (lambda: chosen_preset("smok"), "preset", "did you mean smoke?"),
    ],
)
def test_unknown_names_have_a_suggestion(call, parameter, remedy):
    with refuses(parameter, "choice", got="got '") as caught:
        call()
    assert remedy in caught.value.remedy


def test_names_given_twice_or_not_at_all():
    with refuses("method", "duplicate", got="got flipout twice"):
        chosen_methods(["flipout", "Flipout"], WINE, PAPER)
    with refuses("decomposition", "empty", got="got none"):
        chosen_decompositions([])


def test_a_forest_has_no_gaussian_logits():
    with refuses("decomposition", "conflict"):
        options("random-forest", GL)


# -- Presets of the reproduction: the paper's numbers, and slices that say what they are.


@pytest.mark.parametrize("plan", DATASETS.values(), ids=list(DATASETS))
def test_every_data_set_has_every_preset(plan):
    n_classes = {"wine": 3, "bci": 4}.get(plan.name, 10)
    assert tuple(plan.slices) == PRESETS
    for slice_ in plan.slices.values():
        conditions = Conditions(**slice_.conditions)
        assert set(conditions.values(n_classes)) == {"dataset-size", "label-noise", "left-out-class"}
        assert slice_.runs >= 2


@pytest.mark.parametrize("name", ["wine", "fashion-mnist", "cifar-10", "bci"])
def test_paper_is_as_printed(name):
    plan = DATASETS[name]
    given = plan.slices["paper"]
    assert (given.epochs, given.n_members, given.n_samples, given.batch_size) == (100, 10, 50, 128)
    assert given.runs == (9 if name == "bci" else 5)
    assert (given.train_limit, given.test_limit, dict(given.conditions)) == (None, None, {})
    assert (plan.methods, plan.printed, given.as_printed) == (IN_PAPER, True, True)


def test_networks_are_the_printed_ones():
    assert DATASETS["wine"].backbone == (32, 32, 16)
    assert {name: DATASETS[name].backbone for name in ("cifar-10", "fashion-mnist", "bci")} == {
        "cifar-10": "cnn",
        "fashion-mnist": "cnn",
        "bci": "eeg",
    }
    assert DATASETS["bci"].sources == tuple(f"bci-iv-2a:{k}" for k in range(1, 10))


def test_only_whole_runs_of_the_papers_data_are_as_printed():
    as_printed = {(n, p) for n, plan in DATASETS.items() for p, slice_ in plan.slices.items() if slice_.as_printed}
    assert as_printed == {
        ("wine", "cpu"), ("wine", "gpu-hour"), ("wine", "paper"), ("fashion-mnist", "paper"), ("cifar-10", "paper"),
        ("bci", "paper"),
    }  # fmt: skip
    assert DATASETS["wine"].slices["cpu"].runs == 5


def test_a_slice_is_stated_in_full():
    plan = DATASETS["cifar-10"]
    cpu = plan.slices["cpu"]
    text = plan.sentence("cpu", cpu)
    for part in (
        "a slice, not compared with the paper",
        f"{cpu.runs} runs",
        f"{cpu.epochs} epochs",
        f"batches of {cpu.batch_size}",
        f"ensembles of {cpu.n_members}",
        "classes left out",
        "of the labels permuted",
        "training instances",
    ):
        assert part in text
    assert "as printed" in DATASETS["wine"].sentence("cpu", DATASETS["wine"].slices["cpu"])
    assert "2 subjects" in DATASETS["bci"].sentence("smoke", DATASETS["bci"].slices["smoke"])

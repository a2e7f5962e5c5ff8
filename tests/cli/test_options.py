"""Every field of a request is an option of the commands that take one, and every option of reading gives the right numbers."""

import csv
import inspect
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import uqassay as uq
from uqassay.cli import inputs as options
from uqassay.cli.inputs import AssayRequest, Reading


def test_every_field_of_the_request_has_an_option(run):
    listed = run("report", "--help").out
    for name in {**options.REQUEST_OPTIONS, **options.READING_OPTIONS}:
        assert (f"--{name.replace('_', '-')}" in listed) or name == "models"


def test_defaults_of_the_options_are_those_of_the_request():
    given = {}

    @options.takes_request
    def command(request, extra: int = 3):
        given.update(request=request, extra=extra)

    signature = inspect.signature(command)
    request, reading = list(options.REQUEST_OPTIONS), list(options.READING_OPTIONS)
    split = request.index("tradeoff")  # all inputs stand together
    assert list(signature.parameters) == [*request[:split], *reading, *request[split:], "extra"]
    assert reading == [field.name for field in fields(Reading)]
    defaults = {name: p.default for name, p in signature.parameters.items() if p.default is not inspect.Parameter.empty}
    command(models=["a.npz"], **defaults)
    assert given["extra"] == 3
    expected = AssayRequest(["a.npz"])
    for found, wanted in ((given["request"], expected), (given["request"].reading, expected.reading)):
        own = [field.name for field in fields(wanted) if field.name != "reading"]
        assert {name: getattr(found, name) or None for name in own} == {
            name: getattr(wanted, name) or None for name in own
        }


# -- options of reading: the same numbers as from plain arrays ----------------------------------------------------------

N, WRONG = 40, 10
Y = np.arange(N) % 3
JUDGING = {  # the words of a command, given model, labels and the same model on other inputs or with more data
    "rank": lambda m, y, other: ["rank", f"m={m}", *y, "--calibration", "none", "--json"],
    "report": lambda m, y, other: ["report", f"m={m}", *y, "--calibration", "none", "--draws", "10", "--json"],
    "refuse": lambda m, y, other: ["refuse", f"m={m}", *y, "--risk", "0.6", "--json"],
    "calibration-test": lambda m, y, other: ["calibration-test", f"m={m}", *y, "--draws", "19", "--json"],
    "ood": lambda m, y, other: ["ood", f"m={m}", "--out", f"m={other}", *y, "--score", "margin", "--json"],
    "gain": lambda m, y, other: ["gain", m, other, *y, "--name", "m", "--cross-fit", "0", "--json"],
}


def probabilities(seed):
    """Rows whose greatest entry is right, but for the first ten."""
    rng = np.random.default_rng(seed)
    said = np.where(np.arange(N) < WRONG, (Y + 1) % 3, Y)
    return 0.3 * rng.dirichlet(np.ones(3), N) + 0.7 * np.eye(3)[said]


P, Q = probabilities(1), probabilities(2)


def table(path, columns, **more):
    """A table with columns in this order."""
    with Path(path).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*columns, *more])
        writer.writerows(zip(*columns.values(), *more.values(), strict=True))


def numbers(value):
    """All numbers of a JSON value, in order; notes and facts about files aside."""
    if isinstance(value, dict):
        return [
            n
            for key, each in value.items()
            if key not in ("notes", "warnings", "class_names", "provenance")
            for n in numbers(each)
        ]
    if isinstance(value, list):
        return [n for each in value for n in numbers(each)]
    return [float(value)] if isinstance(value, (int, float)) else []


def columns_of(probs, names):
    return {name: probs[:, k].tolist() for k, name in enumerate(names)}


def by_kind(path, probs):
    table(path, columns_of(np.log(probs) + 3.0, ["a", "b", "c"]), fold=[1] * N)


def by_columns(path, probs):
    """Two models side by side; the classes stand in another order than the labels count."""
    right = columns_of(probs[:, [2, 0, 1]], ["new_c", "new_a", "new_b"])
    table(path, columns_of(probs[:, [1, 2, 0]], ["old_c", "old_a", "old_b"]), **right)


def by_id(path, probs):
    """Two columns may identify the rows, and only one of them tells the order."""
    order = np.arange(N) if probs is P else np.random.default_rng(0).permutation(N)
    rows = columns_of(probs[order], ["proba_0", "proba_1", "proba_2"])
    table(path, rows, case=[f"q{i}" for i in order], slot=list(range(N)))


def all_rows(path, probs):
    np.savez(path.with_suffix(".npz"), probs=np.concatenate([probs, np.full((5, 3), 1 / 3)]))


VARIANTS = {
    "--kind": (by_kind, lambda: np.save("y.npy", Y), ["--kind", "logits", "--columns", "a,b,c"]),
    "--columns": (by_columns, lambda: np.save("y.npy", Y), ["--columns", "new_a,new_b,new_c"]),
    "--id": (
        by_id,
        lambda: table(
            "y.csv", {"case": [f"q{i}" for i in range(N)][::-1], "slot": range(N), "label": Y[::-1].tolist()}
        ),
        ["--id", "case"],
    ),
    "--ignore-label": (all_rows, lambda: np.save("y.npy", np.concatenate([Y, [-1] * 5])), ["--ignore-label", "-1"]),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez("ref.npz", probs=P)
    np.savez("ref_other.npz", probs=Q)
    np.save("ref_y.npy", Y)
    return tmp_path


@pytest.mark.parametrize("command", JUDGING)
@pytest.mark.parametrize("option", VARIANTS)
def test_options_of_reading_give_the_numbers_of_plain_arrays(option, command, folder, run):
    write, labels, words = VARIANTS[option]
    labels()
    for name, probs in (("m", P), ("other", Q)):
        write(folder / f"{name}.csv", probs)
    if command == "ood" and option == "--ignore-label":
        np.savez("other.npz", probs=Q)  # has no labels, so nothing is left out
    end = next(path.suffix for path in (Path("m.csv"), Path("m.npz")) if path.exists())
    y = next(str(path) for path in (Path("y.npy"), Path("y.csv")) if path.exists())
    argv = JUDGING[command](f"m{end}", ["--labels", y], f"other{end}")
    if option == "--kind":  # logits have scores that probabilities lack
        np.savez("ref.npz", logits=np.log(P) + 3.0)
        np.savez("ref_other.npz", logits=np.log(Q) + 3.0)
    plain = run(*JUDGING[command]("ref.npz", ["--labels", "ref_y.npy"], "ref_other.npz"))
    assert plain.code == 0, plain.err
    assert run(*argv).code == 2, "the option is not needed here"
    found = run(*argv, *words)
    assert found.code == 0, found.err
    assert numbers(found.json()) == pytest.approx(numbers(plain.json()), rel=1e-6, abs=1e-9)
    if command == "report":
        accuracy = [row["estimate"] for row in found.json()["findings"] if row["metric"] == "accuracy"]
        assert accuracy[0] == 1 - WRONG / N


@pytest.mark.parametrize("command", [name for name in JUDGING if name != "ood"])  # whose --positive is another
def test_the_positive_class_of_a_table_of_two(command, folder, run):
    truth = np.arange(N) % 2
    for name, seed in (("m", 1), ("other", 2)):
        yes = np.where(np.arange(N) < WRONG, 1 - truth, truth) * 0.5 + 0.1 + 0.3 * np.random.default_rng(seed).random(N)
        table(f"{name}.csv", {"y_true": np.where(truth, "yes", "no").tolist(), "y_prob": yes.tolist()})
        np.savez(f"{name}.npz", probs=np.stack([1 - yes, yes], axis=1), labels=truth)
    plain = run(*JUDGING[command]("m.npz", [], "other.npz"))
    refused = run(*JUDGING[command]("m.csv", [], "other.csv"))
    assert (refused.code, "--positive no or --positive yes" in refused.err) == (2, True)
    found = run(*JUDGING[command]("m.csv", [], "other.csv"), "--positive", "yes")
    assert (plain.code, found.code) == (0, 0), found.err
    assert numbers(found.json()) == pytest.approx(numbers(plain.json()), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("command", ["rank", "report", "ood"])  # the others take no votes as labels
@pytest.mark.parametrize("meaning", ["single", "counts"])
def test_what_a_table_of_votes_holds(meaning, command, folder, run):
    votes = np.stack([Y, Y, (Y + np.arange(N) % 2) % 3], axis=1)
    np.save("votes.npy", votes)
    counts = (votes[:, :, None] == np.arange(3)).sum(axis=1) if meaning == "single" else votes
    np.savez("named.npz", probs=P, class_names=["a", "b", "c"])
    np.savez("named_other.npz", probs=Q, class_names=["a", "b", "c"])
    table(
        "counts.csv",
        {name: (counts + (counts.sum(axis=1) == 0)[:, None])[:, k].tolist() for k, name in enumerate("abc")},
    )
    np.save("votes.npy", votes if meaning == "single" else counts + (counts.sum(axis=1) == 0)[:, None])
    argv = JUDGING[command]("named.npz", ["--labels", "votes.npy"], "named_other.npz")
    refused = run(*argv)
    assert (refused.code, "--votes-are counts or --votes-are single" in refused.err) == (2, True)
    plain = run(*JUDGING[command]("named.npz", ["--labels", "counts.csv"], "named_other.npz"))
    found = run(*argv, "--votes-are", meaning)
    assert (plain.code, found.code) == (0, 0), plain.err + found.err
    assert numbers(found.json()) == pytest.approx(numbers(plain.json()), rel=1e-9)


@pytest.mark.parametrize("option", ["--kind", "--columns", "--id"])
def test_convert_and_inspect_read_with_the_same_options(option, folder, run):
    write, labels, words = VARIANTS[option]
    write(folder / "m.csv", P)
    labels()
    y = ["--labels", "y.csv"] if option == "--id" else ["--labels", "y.npy"]
    ran = run("convert", "m.csv", "new.npz", *y, *words)
    assert ran.code == 0, ran.err
    made = uq.load("new.npz")
    right = made.labels() == uq.load_labels("new.npz")
    assert right.mean() == 1 - WRONG / N
    assert np.sort(made.probs.ravel()) == pytest.approx(np.sort(P.ravel()))
    found = run("inspect", "m.csv", "--json", *words).json()
    assert (found["problem"], found["n_instances"], found["n_classes"]) == (None, N, 3)
    table("b.csv", {"y_true": ["yes", "no"], "y_prob": [0.9, 0.2]})
    assert run("convert", "b.csv", "b.npz", "--positive", "yes").code == 0
    assert uq.load("b.npz").probs[:, 1].tolist() == [0.9, 0.2]
    assert run("inspect", "b.csv", "--positive", "yes", "--json").json()["class_names"] == ["no", "yes"]


def test_second_order_reads_with_the_same_options(folder, run):
    rng = np.random.default_rng(3)
    votes = rng.multinomial(5, P)
    ids = [f"q{i}" for i in range(N)]
    np.savez("alpha.npz", alpha=1 + 9 * P, ids=ids, class_names=["a", "b", "c"])
    np.save("votes.npy", votes)
    plain = run("second-order", "m=alpha.npz", "--votes", "votes.npy", "--json")
    np.save("alpha.npy", 1 + 9 * P)
    assert run("second-order", "m=alpha.npy", "--votes", "votes.npy").code == 2
    by_kind = run("second-order", "m=alpha.npy", "--votes", "votes.npy", "--kind", "dirichlet", "--json")
    order = rng.permutation(N)
    turned = {name: votes[order, k].tolist() for name, k in (("c", 2), ("a", 0), ("b", 1))}
    table("votes.csv", {"case": [ids[i] for i in order]}, **turned)
    by_id = run("second-order", "m=alpha.npz", "--votes", "votes.csv", "--id", "case", "--json")
    single = np.array([np.repeat(np.arange(3), row) for row in votes])
    np.save("single.npy", single)
    by_votes = run("second-order", "m=alpha.npz", "--votes", "single.npy", "--votes-are", "single", "--json")
    assert plain.code == 0
    for found in (by_kind, by_id, by_votes):
        assert found.code == 0, found.err
        assert numbers(found.json()) == pytest.approx(numbers(plain.json()))

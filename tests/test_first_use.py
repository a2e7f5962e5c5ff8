"""The six walkthroughs of docs/first-use.md, played in an empty folder."""

import json
import re
import shlex
import types
from pathlib import Path

import numpy as np
import pytest

from uqassay.cli import main

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "first-use.md").read_text(encoding="utf-8")
PARTS = re.split(r"^## (?=[1-6]\. )", PAGE.partition("## If something")[0], flags=re.M)[1:]
N, K = 120, 3


def code_of(part: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", part, flags=re.M | re.S)


def commands_of(part: str) -> list[str]:
    return [line.removeprefix("$ ") for text in code_of(part, "console") for line in text.splitlines()]


def logits_of(rng, y, members):
    return 2 * np.eye(K)[y][:, None] + rng.normal(size=(len(y), members, K))


def softmax(z):
    return np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)


def tensors(folder, rng, y):
    torch = pytest.importorskip("torch")
    logits = torch.tensor(logits_of(rng, y, 1)[:, 0], dtype=torch.float32, requires_grad=True)
    passes = torch.tensor(logits_of(rng, y, 5).swapaxes(0, 1), dtype=torch.float32)
    return {"logits": logits, "passes": passes, "labels": torch.tensor(y)}


def patients(folder, rng, y):
    import pandas as pd

    pytest.importorskip("sklearn")
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    people = np.repeat(np.arange(N // 3), 3)
    known = rng.permutation(N // 3)[people] % K
    every = pd.DataFrame(np.eye(K)[known] + 0.5 * rng.normal(size=(N, K)), columns=["age", "pressure", "pulse"])
    every["patient"] = people
    every["site"] = np.array(["north", "south"])[people % 2]
    names = pd.Series(np.array(["healthy", "mild", "severe"])[known])
    X, tested = every[["age", "pressure", "pulse"]], people >= N // 6
    fitted = X[~tested], names[~tested]
    return {
        "forest": RandomForestClassifier(20, min_samples_leaf=3, random_state=0).fit(*fitted),
        "logistic": LogisticRegression().fit(*fitted),
        "test": every[tested].sample(frac=1, random_state=0),  # aligned by the index
        "X_test": X[tested],
        "y_test": names[tested],
    }


def answers(folder, rng, y):
    for name, left_out in (("llama", ()), ("qwen", (3, 8))):
        with (folder / f"{name}.jsonl").open("w") as stream:
            for i, label in enumerate(y):
                samples = rng.choice(K, size=rng.integers(4, 20), p=softmax(logits_of(rng, y, 1)[i, 0]))
                counts = {"ABC"[k]: int(n) for k, n in enumerate(np.bincount(samples, minlength=K)) if n}
                if i not in left_out:
                    stream.write(json.dumps({"id": f"q{i}", "probs": counts, "label": "ABC"[label]}) + "\n")
    return {}


def arrays(folder, rng, y):
    ensemble = softmax(logits_of(rng, y, 5)).swapaxes(0, 1).astype(np.float16)
    dropout = softmax(logits_of(rng, y, 8))
    for name, array in {"ensemble": ensemble, "dropout": dropout, "labels": y}.items():
        np.save(folder / f"{name}.npy", array)
    return {"ensemble": ensemble, "dropout": dropout, "labels": y}


def tables(folder, rng, y):
    for name in ("forest", "boosting"):
        rows = softmax(logits_of(rng, y, 1)[:, 0])
        text = "\n".join(f"{i}," + ",".join(map(str, row)) for i, row in enumerate(rows.tolist()))
        (folder / f"{name}.csv").write_text(f",setosa,versicolor,virginica\n{text}\n")
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    rows = "".join(f"{name},{i // 2}\n" for i, name in enumerate(names))
    (folder / "truth.csv").write_text(f"species,patch\n{rows}")
    return {}


def sent(folder, rng, y):
    arrays(folder, rng, y)
    words = "report dropout.npy --labels labels.npy --save assay --calibration none -o page.html"
    assert main(words.split()) == 0
    return {}


USES = {"1": tensors, "2": patients, "3": answers, "4": arrays, "5": tables, "6": sent}


def test_every_use_is_a_part_of_the_page():
    assert [part[0] for part in PARTS] == list(USES)
    for part in PARTS:
        python, shell = code_of(part, "py"), commands_of(part)
        assert python or shell
        assert all(sum(map(bool, block.splitlines())) <= 3 for block in python)


@pytest.mark.usefixtures("coarse_pages")
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.splitlines()[0])
def test_each_use_ends_in_a_page_and_leaves_nothing_else(part, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda where, **_: opened.append(where) or True)
    given = USES[part[0]](tmp_path, np.random.default_rng(int(part[0])), np.arange(N) % K)
    before = {path.name for path in tmp_path.iterdir()}
    capsys.readouterr()
    written = set()
    for block in code_of(part, "py"):
        exec(block, types.ModuleType("notebook").__dict__ | given)
        written |= set(re.findall(r'show\("(.*?)"\)', block))
    assert len(opened) == len(code_of(part, "py"))
    for command in commands_of(part):
        words = shlex.split(command)
        code, told = main(words[1:]), capsys.readouterr()
        assert (code, told.err) == (0, ""), f"{command}\n{told.err}"
        assert len(told.out.splitlines()) > 5
        written |= {words[words.index("-o") + 1]} if "-o" in words else set()
    assert {path.name for path in tmp_path.iterdir()} - before == written
    for name in written:
        assert "<!doctype html>" in (tmp_path / name).read_text(encoding="utf-8")[:100].lower()


@pytest.mark.usefixtures("coarse_pages")
def test_the_notes_count_what_language_models_lack(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    answers(tmp_path, np.random.default_rng(3), np.arange(N) % K)
    (command,) = commands_of(PARTS[2])
    assert main(shlex.split(command)[1:]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"qwen: has {N - 2} of {N} cases; the {N - 2} that every model has are judged" in out
    assert f"in {N} of {N} rows the probabilities were divided by their sums" in out


def test_a_reviewer_reads_the_notes_on_the_table_alone(capsys):
    assert main(shlex.split(commands_of(PARTS[5])[0])[1:]) == 0
    out = capsys.readouterr().out
    assert "printed" in out
    assert "note:" in out
    assert "table4" not in out

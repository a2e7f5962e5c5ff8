"""The documented schemas of `--json` are those of the code, and hold for outputs other than those they were made from."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.json_schemas import FOLDER, OUTPUTS, documented, schemas

import uqassay as uq
from uqassay.cli import main
from uqassay.evidence import Claim

TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float),
}  # fmt: skip


def problems(value, schema, root, place="$"):
    """Where a value breaks a schema of the words that these use."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in schema:
        return [] if any(not problems(value, one, root, place) for one in schema["anyOf"]) else [place]
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        return [place]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    number = isinstance(value, bool) and "boolean" not in kinds
    if kinds and (number or not any(isinstance(value, TYPES[kind]) for kind in kinds)):
        return [place]
    found = []
    if isinstance(value, dict):
        known = schema.get("properties", {})
        found += [f"{place}.{key} is missing" for key in schema.get("required", ()) if key not in value]
        if schema.get("additionalProperties") is False:
            found += [f"{place}.{key} is not documented" for key in value if key not in known]
        for key, one in value.items():
            found += problems(one, known.get(key, {}), root, f"{place}.{key}")
    if isinstance(value, list) and "items" in schema:
        found += [text for i, one in enumerate(value) for text in problems(one, schema["items"], root, f"{place}[{i}]")]
    return found


@pytest.fixture(scope="module")
def stored():
    return {name: json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")) for name in OUTPUTS}


def test_stored_schemas_are_those_of_the_code(stored):
    assert schemas() == stored  # else: python -m benchmarks.json_schemas


def test_other_outputs_are_valid(stored):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 4, 90)
    probs = rng.dirichlet(np.ones(4), (90, 3)) * 0.5 + 0.5 * np.eye(4)[y][:, None]
    made = [
        uq.assay(
            {"ensemble": probs, "vertices": uq.Vertices(probs), "bad": probs[:, 0][:, ::-1]}, y, subgroups={"s": y % 2}
        ),
        uq.assay(
            {"d": uq.Dirichlet(1 + 9 * probs.mean(axis=1), n_draws=9)}, y, distance="brier", groups=y, margin=0.05
        ),
        uq.assay({name: uq.Answers(rng.random(90) < 0.8, rng.random(90)) for name in "abc"}, subgroups={"s": y % 2}),
        uq.assay({"a": uq.Answers([1, 0], [1.0, 1.0]), "b": uq.Answers([1, 1])}),
    ]
    for assay in made:
        for name, output in OUTPUTS.items():
            assert problems(output(assay), stored[name], stored[name]) == []


def test_what_the_commands_print_is_valid(stored, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 50)
    for name in ("a", "b"):
        np.savez(f"{name}.npz", probs=rng.dirichlet(np.ones(3), 50), labels=y)
    np.save("site.npy", y % 2)
    for words, name in ((["rank", "--subgroup", "site=site.npy"], "ranking"), (["report"], "assay")):
        assert not main([words[0], "a.npz", "b.npz", *words[1:], "--json"])
        printed = json.loads(capsys.readouterr().out)
        assert problems(printed, stored[name], stored[name]) == []


def test_undocumented_fields_and_other_types_are_found(stored):
    schema, good = stored["ranking"], OUTPUTS["ranking"](uq.assay({"m": uq.Point([[0.9, 0.1]] * 4)}, [0, 0, 1, 0]))
    assert problems(good, schema, schema) == []
    assert problems(good | {"more": 1}, schema, schema) == ["$.more is not documented"]
    assert problems({k: v for k, v in good.items() if k != "verdict"}, schema, schema) == ["$.verdict is missing"]
    assert problems(good | {"default_tradeoff": "a half"}, schema, schema) == ["$.default_tradeoff"]
    assert problems(good | {"headline": [3]}, schema, schema) == ["$.headline[0]"]
    row = good["tradeoff"][0]["ranking"][0] | {"win_share": True}
    broken = good | {"tradeoff": [{"tradeoff": 0.1, "ranking": [row]}]}
    assert problems(broken, schema, schema) == ["$.tradeoff[0].ranking[0].win_share"]


def test_fields_have_the_sentences_of_their_records(stored):
    claims = stored["ranking"]["properties"]["claims"]["items"]["properties"]
    assert claims["metric"]["description"] == documented(Claim)["metric"]
    said = [key for key, one in claims.items() if one.get("description")]
    assert set(said) == set(claims)
    page = (Path(FOLDER).parent / "command-line.md").read_text(encoding="utf-8")
    assert "schemas/ranking.json" in page


def test_the_schema_holds_with_weights_and_a_class_that_matters():
    rng = np.random.default_rng(1)
    y, p = rng.integers(0, 3, 40), rng.dirichlet(np.ones(3), (40, 3))
    out = uq.assay({"a": uq.Members(p)}, y, critical=2, sample_weight=rng.random(40)).to_json()
    schema = json.loads((FOLDER / "assay.json").read_text(encoding="utf-8"))
    assert problems(json.loads(json.dumps(out)), schema, schema) == []

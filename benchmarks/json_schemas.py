"""Schemas of what `uqassay rank --json` and `report --json` print, with a sentence on each field.

    python -m benchmarks.json_schemas            write docs/schemas/ranking.json and docs/schemas/assay.json
    python -m benchmarks.json_schemas --check    exit code 1 if they differ from what the code makes

The fields and their types are those of the records as several assays give them; the sentences are those beside the fields of
the records' classes. A field that no sample has, or a value of another type, fails the test that validates outputs.
"""

import inspect
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np

import uqassay as uq
from uqassay.evidence import Assay, Claim
from uqassay.evidence.calibration import ModelCalibration
from uqassay.evidence.metric_table import MeasuredMetric
from uqassay.evidence.ranking import Ranked
from uqassay.evidence.scale import ScaleCheck
from uqassay.evidence.scoring import ModelScores, Settings
from uqassay.evidence.sets import PartCoverage
from uqassay.evidence.tables import ranking_json
from uqassay.files import whole_file
from uqassay.results import plain
from uqassay.statistics import Estimate, RankSets

__all__ = ["documented", "main", "samples", "schemas"]

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "schemas"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBER = {"anyOf": [{"type": "number"}, {"type": "null"}, {"enum": ["Infinity", "-Infinity"]}]}
FREE = ("facts", "provenance")  # whose fields depend on the kind of the record, or on the packages in use
TOP = {
    "schema": "Name and version of this form.",
    "default_tradeoff": "The λ that sentences are about where none is stated.",
    "headline": "The answer in one or two sentences.",
    "verdict": "The headline, then one sentence for each further claim.",
    "claims": "What the sentences say, as data.",
    "metrics": "Models and baselines by several metrics.",
    "tradeoff": "Rankings, one entry for each λ.",
    "rank_sets": "The ranks that each model can have, one entry for each λ.",
    "breakpoints": "Which models have the lowest mean E on which range of λ.",
    "n_instances": "Number of cases.",
    "n_effective": "Effective number of weighted cases, (Σw)²/Σw²; the number of cases without weights.",
    "class_names": "Names of the classes; wrong and right of answers.",
    "models": "Models and baselines.",
    "findings": "One row for each model, run and metric, with its interval.",
    "critical": "What refusing costs and saves for the class that matters.",
    "set_coverage": "Coverage of the sets in each class and at each size; all intervals hold together.",
    "calibration": "The calibration tests.",
    "scale_check": "Whether wider sets would have a lower E, one entry for each λ.",
    "settings": "How everything was computed.",
    "warnings": "What changes how much to believe it.",
    "provenance": "Versions, hashes and the time taken.",
}
RECORDS = {  # of the entries of a list, where its fields are documented
    "claims": (Claim, Estimate), "metrics": (MeasuredMetric, Estimate), "ranking": (Ranked, Estimate), "rank_sets": (RankSets,),
    "models": (ModelScores,), "findings": (Estimate,), "set_coverage": (PartCoverage, Estimate), "critical": (Estimate,),
    "calibration": (ModelCalibration,), "scale_check": (ScaleCheck,), "settings": (Settings,),
}  # fmt: skip


def documented(record: type) -> dict[str, str]:
    """The sentence on each field of a class: behind the field or above it, where it may name several fields.

    Examples
    --------
    >>> documented(Claim)["kind"]
    'One of `KINDS`.'
    """
    lines, found, above = dedent(inspect.getsource(record)).splitlines(), {}, list[str]()
    for line in lines:
        text = line.strip()
        if text.startswith("#:"):
            above.append(text.removeprefix("#:").strip())
            continue
        name = text.split(":")[0]
        if name.isidentifier() and ":" in text:
            behind = text.partition("#:")[2].strip()
            said = behind or " ".join(above)
            names, colon, rest = said.partition(": ")
            listed = [one.strip() for one in names.split(",")]
            if colon and name in listed:
                found |= dict.fromkeys(listed, rest)
            elif said:
                found[name] = said
        above = []
    parameters = inspect.getdoc(record) or ""
    if "Parameters\n" in parameters:  # numpydoc
        body = parameters.split("Parameters\n")[1].split("\n\n")[0].splitlines()[1:]
        for i, line in enumerate(body):
            if line and not line.startswith(" ") and " : " in line:
                text = " ".join(x.strip() for x in body[i + 1 :][: _until(body[i + 1 :])])
                found |= {name.strip(): text for name in line.split(" : ")[0].split(",")}
    return found


def _until(lines: Sequence[str]) -> int:
    return next((i for i, line in enumerate(lines) if not line.startswith(" ")), len(lines))


def samples() -> list[Assay]:
    """Assays of different kinds, which have every field."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    sharp = 0.6 * np.eye(3)[y] + 0.4 / 3
    members = rng.dirichlet(np.ones(3), (60, 4)) * 0.3 + 0.7 * sharp[:, None]
    intervals = uq.Intervals(sharp - 0.05, sharp + 0.05)
    right = rng.random(60) < 0.7
    answers = {"a": uq.Answers(right, rng.random(60)), "b": uq.Answers(rng.random(60) < 0.5, rng.random(60))}
    return [
        uq.assay({"DE": uq.Members(members), "box": intervals, "runs": [uq.Point(sharp), uq.Point(sharp[:, ::-1])]}, y),
        uq.assay({"p": uq.Point(sharp)}, y, groups=np.arange(60) // 3, margin=0.1, floor=0.0),
        uq.assay({"p": sharp, "sets": uq.ClassSets(sharp > 0.2), "wrong": uq.Point(np.eye(3)[(y + 1) % 3])}, y),
        uq.assay({"DE": uq.Members(members)}, rng.multinomial(10, [0.4, 0.3, 0.3], 60)),
        uq.assay({"DE": uq.Members(members)}, y, sample_weight=rng.random(60), critical=1),
        uq.assay(answers),
        uq.assay({"a": uq.Answers(right)}),
        uq.assay({"one": uq.Point([[0.9, 0.1]])}, [0]),
    ]


def rank_output(assay: Assay) -> dict[str, Any]:
    """What `rank --json` prints of an assay."""
    found = {
        "schema": "uqassay.ranking/3",
        "default_tradeoff": 0.5,
        "headline": assay.headline(),
        "verdict": assay.verdict(),
    }
    found |= {"claims": assay.rows("claims"), "metrics": assay.metrics().rows(), **ranking_json(assay, assay.tradeoffs)}
    return json.loads(json.dumps(plain(found)))


def report_output(assay: Assay) -> dict[str, Any]:
    """What `report --json` prints of an assay."""
    return json.loads(json.dumps(assay.to_json()))


OUTPUTS = {"ranking": rank_output, "assay": report_output}


def schemas() -> dict[str, dict[str, Any]]:
    """The schemas by the names of their files."""
    made = samples()
    return {name: _schema(name, [output(assay) for assay in made]) for name, output in OUTPUTS.items()}


def _schema(name: str, outputs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = _of(outputs, TOP, ())
    found["properties"]["schema"] = {"const": outputs[0]["schema"], "description": TOP["schema"]}
    command = {"ranking": "rank", "assay": "report"}[name]
    if name == "ranking":  # with --subgroup
        parts = {"type": "array", "items": {"type": "object"}, "description": "Rankings in the parts of the test set."}
        found["properties"]["subgroups"] = parts
    title = f"What `uqassay {command} --json` prints"
    return {"$schema": DIALECT, "$id": f"uqassay.{name}", "title": title, **found, "$defs": {"number": NUMBER}}


def _of(values: Sequence[Any], said: Mapping[str, str], place: tuple[str, ...]) -> dict[str, Any]:
    """The schema of values that stand in one place."""
    kinds = {type(value) for value in values}
    if place and place[-1] in FREE:
        return {"type": "object"}
    if dict in kinds and kinds <= {dict, type(None)}:
        held = [value for value in values if value is not None]
        keys = list(dict.fromkeys(key for value in held for key in value))
        properties = {}
        for key in keys:
            inside = [value[key] for value in held if key in value]
            properties[key] = _of(inside, _said_inside(key, said), (*place, key))
            if text := _sentence(key, said):
                properties[key] = properties[key] | {"description": text}
        always = [key for key in keys if all(key in value for value in held)]
        found: dict[str, Any] = {
            "type": "object",
            "properties": properties,
            "required": always,
            "additionalProperties": False,
        }
        return found if type(None) not in kinds else {"anyOf": [{"type": "null"}, found]}
    if kinds == {list}:
        items = [item for value in values for item in value]
        return {"type": "array", "items": _of(items, said, place)} if items else {"type": "array"}
    if kinds <= {int, float, type(None)} | ({str} if _infinite(values) else set()) and kinds & {int, float, str}:
        return {"$ref": "#/$defs/number"}
    names = {
        str: "string",
        bool: "boolean",
        int: "number",
        float: "number",
        type(None): "null",
        list: "array",
        dict: "object",
    }
    types = sorted(names[kind] for kind in kinds)
    return {"type": types[0] if len(types) == 1 else types} if types else {}


def _infinite(values: Iterable[Any]) -> bool:
    return all(value in ("Infinity", "-Infinity") for value in values if isinstance(value, str))


def _said_inside(key: str, said: Mapping[str, str]) -> Mapping[str, str]:
    if key not in RECORDS:
        return said if key == "tradeoff" else {}
    merged: dict[str, str] = {}
    for record in reversed(RECORDS[key]):
        merged |= documented(record)
    return merged


def _sentence(key: str, said: Mapping[str, str]) -> str:
    """The sentence on a field; the ends of an interval take that of their number."""
    if key in said:
        return said[key]
    for end, words in (("_low", "Lower"), ("_high", "Upper")):
        if key.endswith(end) and key.removesuffix(end) in said:
            return f"{words} limit of the interval of {key.removesuffix(end)}."
    return {"low": "Lower limit of the interval.", "high": "Upper limit of the interval."}.get(key, "")


def main(arguments: Sequence[str]) -> int:
    """Write or check the files; the exit code."""
    different = 0
    for name, schema in schemas().items():
        text, path = json.dumps(schema, ensure_ascii=False, indent=1) + "\n", FOLDER / f"{name}.json"
        if "--check" in arguments:
            different += not path.exists() or path.read_text(encoding="utf-8") != text
            continue
        path.parent.mkdir(exist_ok=True)
        with whole_file(path) as stream:
            stream.write(text.encode())
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

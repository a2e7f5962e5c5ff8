"""Malformed tables: rows of csv and JSON Lines with odd cells, parquet with columns of odd types."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tests.malformed_arrays import pick

CELLS = (
    "",
    "nan",
    "inf",
    "-1",
    "0,5",
    "1_0",
    "1e999",
    "0x1",
    "zero",
    '"',
    '"0.5"',
    "0.5;0.5",
    " 0.5 ",
    "٠",
    "\0",
    "1,000",
    "\ufeff",
)


def made_up_parquet(rng: np.random.Generator) -> tuple[str, bytes]:
    """A table with columns of odd types."""
    n = int(rng.integers(0, 5))
    columns = [
        (0.5, pa.float64()), (0.5, pa.float32()), (0.5, pa.float16()), (None, pa.float64()), ("x", pa.string()),
        (b"\xff", pa.binary()),
        ([0.5, 0.5], pa.list_(pa.float64())), ({"a": 1}, pa.struct([("a", pa.int64())])), (True, pa.bool_()), (1, pa.int8()),
        (1, pa.decimal128(5, 2)), (1, pa.date32()), (None, pa.null()), (1, pa.uint64()), (10**6, pa.timestamp("us", "UTC")),
        ("a", pa.dictionary(pa.int8(), pa.string())),
    ]  # fmt: skip
    values = [pa.array([value] * n, kind) for value, kind in (pick(rng, columns) for _ in range(rng.integers(1, 5)))]
    possible = ("proba_0", "proba_1", "proba_a", "proba_", "label", "id", "group", "x", "", "__x", "labels")
    names = [pick(rng, possible) for _ in values]
    stream = io.BytesIO()
    pq.write_table(pa.table(values, names=names), stream, compression=pick(rng, ("none", "snappy", "zstd")))
    return f"columns {names}, {n} rows", stream.getvalue()


def made_up_csv(rng: np.random.Generator) -> bytes:
    """A table with odd cells, separators and encodings."""
    names = ["proba_0", "proba_1", pick(rng, ("proba_2", "label", "id", "", "proba_1", "x y", "probä", "label "))]
    names = names[: rng.integers(0, 4)] if rng.random() < 0.2 else names
    separator = pick(rng, (",", ",", ",", ",", ";", "\t", "|", ", "))
    rows = [names] if rng.random() < 0.95 else []
    for _ in range(rng.integers(0, 5)):
        cells = ["0.25", "0.75", pick(rng, ("0", "1", "a", "2"))]
        for _ in range(rng.integers(0, 3)):
            cells[int(rng.integers(3))] = pick(rng, CELLS)
        rows.append(cells[: len(names)] if rng.random() < 0.9 else cells * 2)
    text = pick(rng, ("\n", "\r\n", "\r")).join(separator.join(row) for row in rows)
    return text.encode(pick(rng, ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1")), "replace")


def made_up_text(rng: np.random.Generator) -> bytes:
    """A table of another program with odd cells."""
    header, rows = pick(
        rng,
        (
            ("inst#,actual,predicted,error,distribution,", ["1,1:a,1:a,,*0.75,0.25", "2,2:b,1:a,+,*0.5,0.5"]),
            ("y_true,y_prob", ["1,0.75", "0,0.25"]),
            ("p,label", ["[0.7 0.3],0", '"[0.2, 0.8]",1', "0.5;0.5,1"]),
            (",cat,dog,label", ["r1,0.5,0.5,cat", "r2,1,0, dog"]),
        ),
    )
    text = "\n".join([header, *(pick(rng, rows) for _ in range(rng.integers(0, 4)))]) + "\n"
    for _ in range(rng.integers(0, 3)):
        at = int(rng.integers(len(text)))
        text = (
            text[:at] + pick(rng, (*CELLS, "*", ":", ",", "\n", "[", "]", "?")) + text[at + int(rng.integers(0, 2)) :]
        )
    return text.encode("utf-8", "replace")


def made_up_record(rng: np.random.Generator) -> bytes:
    """A record of another program, of which a value was replaced."""
    top = [{"token": "A", "logprob": -0.1}, {"token": " B", "logprob": -3.0}]
    record = pick(
        rng,
        (
            {"a": 0.25, "b": 0.75},
            [{"label": "a", "score": 0.25}, {"label": "b", "score": 0.75}],
            {"text": "x", "out": [{"label": "a", "score": 0.5}, {"label": "b", "score": 0.5}], "label": "a"},
            {"doc_id": 1, "target": "0", "filtered_resps": [["-1.0", "False"], ["-2.0", "True"]]},
            {"label": "A", "choices": [{"logprobs": {"content": [{"token": "A", "top_logprobs": top}]}}]},
            {"options": ["A", "B", "C"], "logprobs": {"content": [{"token": "A", "top_logprobs": top}]}},
            {"custom_id": "q", "label": "B", "response": {"body": {"choices": [{"logprobs": {"content": []}}]}}},
        ),
    )
    record = json.loads(json.dumps(record))
    if rng.random() < 0.5:
        replace_one(rng, record)
    return json.dumps(record).encode()


def replace_one(rng: np.random.Generator, value: list | dict) -> None:
    """Replace one part of a value of JSON, at any depth."""
    place = pick(rng, list(value) if isinstance(value, dict) else range(len(value))) if value else None
    if place is None:
        return
    inner = value[place]
    if isinstance(inner, (list, dict)) and inner and rng.random() < 0.7:
        replace_one(rng, inner)
    elif isinstance(value, dict) and rng.random() < 0.3:
        del value[place]
    else:
        value[place] = pick(
            rng, (None, True, -1, 2, 0.5, 1e999, 10**400, "", "A", "nan", [], {}, [[]], {"a": {}}, [0.5])
        )


def made_up_line(rng: np.random.Generator) -> bytes:
    """A line that is more or less a JSON object."""
    points = ([0.5, 0.5], [0.2, 0.3, 0.5], {"a": 0.5, "b": 0.5}, {"0": 1.0, "1": 0.0}, [[0.5, 0.5], [1, 0]])
    odd = ([], [[]], [None], ["x"], {}, 5, None, "x", [True, False], [[0.5, 0.5], [1]], [{"a": 1}], [[[0.5]]])
    numbers = ([1e308, 1e308], [float("nan"), 1], [2**70, 1], [-1, 2])
    value = pick(rng, (*points, *odd, *numbers))
    row = {pick(rng, ("probs", "probs", "probs", "logits", "alpha", "x")): value}
    for key in ("label", "id", "group", "weights", "extra"):
        if rng.random() < 0.3:
            row[key] = pick(rng, (0, 1, "a", None, [0, 1], {"b": 1}, 2**70, 0.5, True, [0.5, 0.5], float("inf"), ""))
    text = json.dumps(row)
    if rng.random() < 0.1:
        text = pick(
            rng,
            ("[" * 5000, "{" * 100, "null", "5", '"', text[:-1], text + text, "\ufeff" + text, "{" + '"a":' * 999, ""),
        )
    return text.encode("utf-8", "replace") if rng.random() < 0.95 else text.encode("utf-16")

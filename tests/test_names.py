"""Names are data: invisible characters, lone surrogates and markup in names of models, classes and groups, in every medium."""

import csv
import html
import io
import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import uqassay as uq
from tests.report.html_pages import ParsedPage
from tests.shown_results import Reader
from tests.test_text import INVISIBLE
from uqassay.cli import main
from uqassay.lab.bench.report import write_comparison
from uqassay.text import visible

MODELS = ("net\u202e", "net\u200b", "net\ud800", "net\\ud800", "\x1b[31mnet", "net\x00", "a, b", " net")
CLASSES = ("cat\udce9", "dog\u202e", "\x1b[2J")
N = 60


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, N)
    first = uq.Point(rng.dirichlet(np.ones(3), N), class_names=CLASSES, ids=[f"i{i}\udfff" for i in range(N)])
    sets = uq.Members(rng.dirichlet(np.ones(3), (N, 3)), class_names=CLASSES, ids=first.ids)
    models = dict.fromkeys(MODELS, first) | {MODELS[0]: sets}
    groups = [f"g{i // 2}\ud83d" for i in range(N)]
    sites = {"site\u2067": np.where(np.arange(N) < 30, "left\udc80", "right, \u202e")}
    return uq.assay(models, [CLASSES[i] for i in y], groups=groups, subgroups=sites, n_draws=50)


def assert_printable(text, names=MODELS):
    text.encode()
    assert all(line.isprintable() for line in text.replace("\u00a0", " ").split("\n"))
    for name in names:
        assert visible(name) in text


def test_texts_for_readers_can_be_printed(judged):
    for text in (repr(judged), *map(str, judged.warnings), *judged.verdict(), *judged.headline()):
        assert_printable(text, ())
    ranking = judged.ranking()
    assert_printable(ranking.summary())
    assert_printable(Reader(ranking._repr_html_()).text)
    assert_printable(ranking.to_markdown().replace("\\\\", "\\").replace("\\[", "[").replace("&#32;", " "))
    latex = ranking.to_latex().replace(r"\textbackslash{}", "\\").replace("{[}", "[")
    assert_printable(latex)


def test_json_has_the_names_as_they_are(judged, tmp_path):
    found = json.loads(json.dumps(judged.to_json(), allow_nan=False))
    assert {row["model"] for row in found["findings"]} >= set(MODELS)
    judged.save(tmp_path / "assay")
    assert uq.Assay.load(tmp_path / "assay").model_names == judged.model_names


def test_no_two_models_share_a_row(judged):
    rows = [row for row in judged.rows("findings") if row["metric"] == "accuracy" and row["run"] == "all"]
    assert sorted(row["model"] for row in rows if row["model"] in MODELS) == sorted(MODELS)
    table = judged.ranking().to_markdown()
    assert sum(line.startswith("| ") for line in table.splitlines()) >= 1 + len(MODELS)


def test_tables_spell_out_only_what_no_encoding_takes(judged):
    names = set(judged.table("ranking").model)
    assert names >= {"net\u202e", "net\\ud800", "\x1b[31mnet"}
    scores = judged.table("scores")
    assert set(scores.instance) == {f"i{i}\\udfff" for i in range(N)}
    scores.to_csv(io.StringIO())
    assert judged.table("breakpoints").models.map(lambda text: text.encode().decode() == text).all()


def test_the_page_shows_them_in_title_text_and_data(judged, tmp_path):
    text = judged.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    page = ParsedPage(text)
    shown = [page.text, *(value or "" for _, attributes in page.tags for value in attributes.values())]
    assert not [c for c in INVISIBLE if c != "\n" and any(c in part for part in shown)]
    assert set(MODELS) <= {model["name"] for model in page.payload["models"]}
    title = text[text.index("<title>") : text.index("</title>")]
    for name in MODELS:
        assert visible(name) in title
    assert "'a, b'" in html.unescape(title)


def test_figures_draw_them(judged):
    figure = judged.plot().figure
    figure.canvas.draw()
    drawn = [text.get_text() for ax in figure.axes for text in ax.texts + ax.get_xticklabels() + ax.get_yticklabels()]
    assert not [text for text in drawn if any(c in text for c in INVISIBLE if c != "\n")]


def test_a_csv_of_a_benchmark_has_one_line_of_text_for_each_row(judged, tmp_path):
    write_comparison(SimpleNamespace(folder=tmp_path, assay=judged))
    text = (tmp_path / "findings.csv").read_text(encoding="utf-8")
    assert all(line.isprintable() for line in text.split("\n"))
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == len(judged.rows("findings"))
    assert {row["model"] for row in rows} >= set(map(visible, MODELS))


def test_the_command_line_shows_them_and_its_json_has_them(tmp_path, capsys):
    path = str(tmp_path / "p.npz")
    uq.save(
        uq.Point([[0.7, 0.3], [0.4, 0.6]], class_names=["dog\u202e", "\x1b[2J"]), path, labels=["dog\u202e", "\x1b[2J"]
    )
    names = ("net\u202e", "net\u200b", "\x1b[31mnet", "a, b")
    copies = [str(tmp_path / f"{i}.npz") for i in range(len(names))]
    for copy in copies:
        shutil.copy(path, copy)
    argv = ["rank", *(f"{name}={copy}" for name, copy in zip(names, copies, strict=True)), "--calibration", "none"]
    assert main([*argv, "--markdown", str(tmp_path / "m.md")]) == 0
    shown = capsys.readouterr()
    for text in (shown.out, shown.err, (tmp_path / "m.md").read_text(encoding="utf-8")):
        assert all(line.isprintable() for line in text.split("\n"))
    assert all(visible(name) in shown.out for name in names)
    assert main([*argv, "--json"]) == 0
    said = capsys.readouterr().out
    json.loads(said)
    assert all(json.dumps(name) in said for name in names)


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".pt", ".zarr"])
def test_files_that_hold_any_text_give_it_back(suffix, tmp_path):
    prediction = uq.Point([[0.7, 0.3], [0.4, 0.6]], class_names=["cat\udce9", "dog\u202e"], ids=["x\ud800", "y"])
    uq.save(prediction, tmp_path / f"m{suffix}")
    back = uq.load(tmp_path / f"m{suffix}")
    assert back.class_names == prediction.class_names
    assert back.ids.tolist() == ["x\ud800", "y"]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("role", ["class_names", "ids"])
def test_files_of_utf8_refuse_lone_surrogates_and_the_remedy_works(suffix, role, tmp_path):
    prediction = uq.Point([[0.7, 0.3], [0.4, 0.6]], **{role: ["x\ud800", "y"]})
    with pytest.raises(
        uq.errors.FileFormatError, match=r"has no lone surrogates; got 'x\\ud800'; save it as .npz"
    ) as found:
        uq.save(prediction, tmp_path / f"m{suffix}")
    assert found.value.code == "encoding"
    assert not list(tmp_path.iterdir())
    uq.save(prediction, tmp_path / "m.npz")
    assert list(getattr(uq.load(tmp_path / "m.npz"), role)) == ["x\ud800", "y"]

"""The guide and the README: examples, links, numbers of papers, pages of questions, reference, tutorials."""

import ast
import json
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

import uqassay as uq
from uqassay.cli import main
from uqassay.lab.papers.gain.run import slice_of

# -- The guide is true: its commands run, its links lead somewhere, its tables are those of the docstrings -------------
# The Python examples are doctests of their own (`--doctest-glob=*.md`).


ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
N, K = 150, 3
CALIBRATION = uq.assay.__kwdefaults__["calibration"]

TRAINING = (
    "uqassay demo",
    "uqassay bench",
    "uqassay reproduce credal-calibration --table",
    "uqassay reproduce unified --",
    "uqassay reproduce disentanglement --",
)  # commands that train models


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def shell_lines(page: Path) -> list[str]:
    """Every line of the shell examples, with those that a backslash continues in one."""
    text = "".join(blocks(page, "sh")).replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with the files that the examples name."""
    g = np.random.default_rng(3)
    y = g.integers(0, K, N)
    logits = 1.5 * np.eye(K)[y] + g.normal(size=(N, K))

    def softmax(z):
        return np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)

    def network():
        return softmax(logits + 0.3 * g.normal(size=(N, K)))

    members = softmax(logits[:, None] + 0.5 * g.normal(size=(N, 5, K)))
    ids = np.arange(1000, 1000 + N)
    sets = np.vstack([np.eye(K), np.ones(K)]).astype(bool)
    beliefs = np.column_stack([0.9 * members.mean(axis=1), np.full(N, 0.97)])
    beliefs[0] = 0.5, 0.4, 0.3, 0.9  # no belief function
    arrays = {
        "ensemble": {"probs": members},
        "softmax": {"probs": network()},
        "ensemble_out": {"probs": softmax(0.5 * g.normal(size=(60, 5, K)))},
        "softmax_out": {"probs": softmax(0.5 * g.normal(size=(60, K)))},
        "edl": {"alpha": 1 + 20 * members.mean(axis=1)},
        "beliefs": {"beliefs": beliefs, "focal_sets": sets},
        **{f"run{r}": {"probs": network()} for r in (1, 2, 3)},
    }
    more = np.random.default_rng(4)
    for tag in ("", "2"):  # a model without and with more data
        for name, noise in (("before", 1.5), ("after", 0.3)):
            doubt = noise * more.random((N, 1, 1)) * more.normal(size=(N, 5, K))
            arrays[f"{name}{tag}"] = {"probs": softmax(2 * np.eye(K)[y][:, None] + doubt + doubt[:, :1])}
    for name, held in arrays.items():
        rows = {} if name.endswith("_out") else {"ids": ids}
        np.savez(tmp_path / f"{name}.npz", **held, **rows, class_names=np.array(["cat", "dog", "fox"]))
    for name, array in {
        "labels": y,
        "labels2": y,
        "logits": logits,
        "passes": members.swapaxes(0, 1),
        "votes": g.multinomial(10, members.mean(axis=1)),
        "site": np.arange(N) % 2,
    }.items():
        np.save(tmp_path / f"{name}.npy", array)
    rows = [f"{i},{i // 3}" for i in ids[::-1]]
    (tmp_path / "patients.csv").write_text("id,group\n" + "\n".join(rows) + "\n")
    for j, name in enumerate(("gpt", "llama")):
        right = g.random(N) < 0.6 + 0.1 * j
        lines = [f"q{i},{int(right[i])},{0.5 + 0.4 * right[i]:.2f}" for i in g.permutation(N)]
        (tmp_path / f"{name}.csv").write_text("question,correct,confidence\n" + "\n".join(lines) + "\n")
        several = [f"{name},{line}" for line in lines]
        with (tmp_path / "answers.csv").open("a") as stream:
            stream.write(("" if j else "model,question,correct,confidence\n") + "\n".join(several) + "\n")
    counts = [",".join(map(str, row)) for row in g.multinomial(10, members.mean(axis=1)) + 1]
    (tmp_path / "counts.csv").write_text("proba_cat,proba_dog,proba_fox\n" + "\n".join(counts) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- shell examples --------------------------------------------------------------------------------------------------


ARCHIVE = (
    "house.md",
    "moves.md",
    "reproduction.md",
    "sentences.md",
    "what-may-be-claimed.md",
)  # that nobody needs to read
QUESTIONS = sorted(path.name for path in (ROOT / "docs").glob("does-it-know-*.md"))


def with_commands(*, slow: bool) -> list[str]:
    """Pages with commands, but for those of `QUESTIONS`; those that train models are slow."""

    def trains(lines):
        return any(line.startswith(TRAINING) for line in lines)

    shown = {name: shell_lines(page) for name, page in zip(NAMES, PAGES, strict=True)}
    return [
        name
        for name, lines in shown.items()
        if any(line.startswith("uqassay ") for line in lines)
        and trains(lines) == slow
        and name.removeprefix("docs/") not in QUESTIONS
    ]


@pytest.fixture
def little_work(monkeypatch, coarse_pages, without_drawings):
    """Few instances, steps and members in what is trained, in this process; pages without figures and calibration tests."""
    monkeypatch.setitem(uq.assay.__kwdefaults__, "calibration", ())
    monkeypatch.setattr("uqassay.lab.bench.runner.processes_of", lambda *_: 0)  # each process would load PyTorch
    monkeypatch.setattr("uqassay.lab.papers.gain.run.slice_of", lambda *of: replace(slice_of(*of), limit=4_000))
    monkeypatch.setattr("uqassay.lab.papers.ranking.grid.EPOCHS", 10)
    monkeypatch.setattr("uqassay.lab.papers.figure_files.DPI", 50)
    for name, number in {"N_TREES": 5, "N_NETWORKS": 2, "COMMON_MEMBERS": 2}.items():
        monkeypatch.setattr(f"uqassay.lab.demo.{name}", number)


def run_examples(page, capsys):
    for line in shell_lines(page):
        words = shlex.split(line, comments=True)
        if words[:1] != ["uqassay"]:
            continue
        stated = re.search(r"# exit code (\d)$", line)
        code = main(words[1:])
        told = capsys.readouterr()
        assert code == (int(stated[1]) if stated else 0), f"{line}\n{told.err}"
        assert bool(told.err) == (code != 0), f"{line}\n{told.err}"


@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("name", with_commands(slow=False))
def test_shell_examples_run(name, here, capsys, monkeypatch):
    if name == "README.md":
        monkeypatch.setitem(uq.assay.__kwdefaults__, "calibration", CALIBRATION)
    run_examples(ROOT / name, capsys)


@pytest.mark.slow
@pytest.mark.usefixtures("little_work")
@pytest.mark.parametrize("name", with_commands(slow=True))
def test_shell_examples_run_where_models_are_trained(name, here, capsys):
    run_examples(ROOT / name, capsys)


@pytest.mark.usefixtures("little_work", "here")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if "unsure" in name else ()) for name in QUESTIONS]
)
def test_the_example_runs_and_prints_the_columns_that_are_explained(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    explained = re.search(r"^\| column \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", text, flags=re.M)[1]
    columns = [column for row in explained.splitlines() for column in row.split("|")[1].replace("`", "").split(",")]
    (command,) = shell_lines(ROOT / "docs" / name)
    assert main(shlex.split(command, comments=True)[1:]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert len(columns) >= 4
    missing = [one for one in columns if not re.search(rf"\s{re.escape(one.strip())}(\s|$)", printed.out)]
    assert missing == []


def workflow():
    """The shell script of the workflow that docs/command-line.md shows."""
    yaml = pytest.importorskip("yaml")
    (text,) = blocks(ROOT / "docs" / "command-line.md", "yaml")
    return yaml.safe_load(text)["jobs"]["judge"]["steps"][-1]["run"]


def test_the_command_of_the_workflow_runs(here, capsys):
    script = workflow().replace("\\\n", " ")
    (line,) = (line for line in script.splitlines() if line.lstrip().startswith("uqassay "))
    argv = shlex.split(line.partition(" || ")[0])[1:]
    assert main(argv) in (0, 1, 3)
    assert Path("summary.md").read_text(encoding="utf-8").startswith("## Uncertainty of DE and EDL")
    capsys.readouterr()


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (1, 1), (2, 2), (3, 0)])
def test_the_workflow_ends_by_the_checks(code, ends, tmp_path):
    """With a stand-in for uqassay that ends with this code; bad input leaves no summary."""
    stand_in = tmp_path / "uqassay"
    stand_in.write_text(f"#!/bin/sh\n[ {code} = 2 ] || echo '## Uncertainty' > summary.md\nexit {code}\n")
    stand_in.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_STEP_SUMMARY": str(tmp_path / "step.md")}
    ran = subprocess.run(
        ["bash", "-e", "-c", workflow()], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == ends, ran.stderr
    assert ("::warning::" in ran.stdout) == (code == 3)
    assert (tmp_path / "step.md").exists() == (code != 2)


def test_the_command_line_page_shows_every_command():
    from uqassay.cli.commands import COMMANDS

    assert {line.split()[1] for line in shell_lines(ROOT / "docs" / "command-line.md")} == set(COMMANDS)


@pytest.mark.parametrize("name", NAMES)
def test_make_targets_and_scripts_exist(name):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M))
    text = (ROOT / name).read_text(encoding="utf-8")
    assert {match.split()[1] for match in re.findall(r"make [a-z]+(?=[\s`]*$|`)", text, flags=re.M)} <= targets
    for script in re.findall(r"python ([\w/]+\.py)", text):
        assert (ROOT / script).is_file(), script


# ---- pages -----------------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    """The anchors that headings get: lower case, no punctuation, hyphens for spaces."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        assert not anchor or anchor in anchors(found), target


def test_the_index_leads_to_every_page():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", text)) == {p.name for p in PAGES[1:]} - {"index.md"}


def test_ten_everyday_questions_are_answered_in_two_clicks():
    """One click on the index, at most one on the page that it leads to; `test_links_lead_somewhere` follows both."""
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    table = text[text.index("## Everyday questions") :].split("\n## ")[0]
    found = re.findall(r"^\| (?!I want)([a-z][^|]*) \| \[[^\]]+\]\(([\w-]+\.md)(#[^)]+)?\) \|$", table, flags=re.M)
    assert len(found) >= 10
    for _, page, anchor in found:
        assert not anchor or anchor[1:] in anchors(ROOT / "docs" / page), anchor


@pytest.mark.parametrize("name", NAMES)
def test_every_python_example_is_a_doctest(name):
    for block in blocks(ROOT / name, "python"):
        assert block.startswith(">>> "), block
        assert block.endswith("\n\n"), f"a blank line must end what is expected:\n{block}"


def test_pages_are_short_and_pictures_small():
    texts = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
    lengths = {name: len(text.splitlines()) for name, text in texts.items()}
    read = {
        name: len(text.split())
        for name, text in texts.items()
        if name not in ARCHIVE and not name.startswith("evidence-")
    }
    assert {name: n for name, n in read.items() if n > 3200} == {}
    assert len(read) <= 28  # with the index, the README, glossary and gallery
    assert lengths[PAGES[0].name] <= 80
    assert all(picture.stat().st_size < 200_000 for picture in (ROOT / "docs" / "pictures").iterdir())


def test_the_kinds_of_prediction_are_all_described():
    text = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    public = {name: getattr(uq.predictions, name) for name in uq.predictions.__all__}
    kinds = {name for name, each in public.items() if isinstance(each, type) and issubclass(each, uq.Prediction)}
    assert len(kinds) == 12  # the eight kinds, answers without classes, and three base classes
    for kind in kinds - {"Prediction", "Drawn", "Box"}:
        assert f"`{kind}(" in text


# -- Links that leave the guide are well formed, and papers are named in one way ---------------------------------------
# Internal links are checked by tests/test_docs.py and `make guide`; `make links` asks the network about external ones.


TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in [
        *ROOT.glob("*.md"),
        ROOT / "CITATION.cff",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "tutorials").glob("*.ipynb")),
    ]
}
CODE = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py"))}
ARXIV = re.compile(r"\barXiv(?:\.org/abs/|[: ]\s*)([^\s,;)\]]+)", re.IGNORECASE)
DOI = re.compile(r"\bdoi(?:\.org/|[: ]\s*)([^\s,;)\]]+)", re.IGNORECASE)
TITLE = re.compile(r"\*([A-Z][^*]{15,200})\*")


def is_arxiv(number: str) -> bool:
    """YYMM.NNNNN, with a month; four digits before 2015."""
    found = re.fullmatch(r"(\d\d)(0[1-9]|1[0-2])\.(\d{4,5})(v\d+)?", number.rstrip("."))
    return bool(found) and len(found[3]) == (5 if int(found[1]) >= 15 else 4)


def plain(title: str) -> str:
    return re.sub(r"\W+", " ", title).strip().lower()


def urls(text: str) -> list[str]:
    return [found.rstrip(".,;:") for found in re.findall(r"https?://[^\s)\]>\"'`*|\\]+", text)]


@pytest.mark.parametrize("name", TEXTS)
def test_external_links_are_urls(name):
    for url in urls(TEXTS[name]):
        parts = urlsplit(url)
        assert parts.scheme == "https", url
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc), url
        assert "//" not in parts.path, url


def test_one_address_is_written_in_one_way():
    found = {url for text in TEXTS.values() for url in urls(text)}
    bare = [url.rstrip("/") for url in found]
    assert sorted(url for url in bare if bare.count(url) > 1) == []


@pytest.mark.parametrize(
    ("number", "expected"),
    [("2412.18808", True), ("1412.6980", True), ("2413.18808", False), ("2412.1880", False), ("1412.69801", False)],
)
def test_numbers_of_arxiv(number, expected):
    assert is_arxiv(number) is expected


def test_numbers_of_papers_are_well_formed():
    text = "\n".join([*TEXTS.values(), *CODE.values()])
    numbers = ARXIV.findall(text)
    assert len(numbers) >= 4
    assert [number for number in numbers if not is_arxiv(number)] == []
    assert [doi for doi in DOI.findall(text) if not re.fullmatch(r"10\.\d{4,9}/\S*\w", doi.rstrip("."))] == []


def test_a_number_has_one_title_and_a_title_one_number():
    pairs = set()
    for text in TEXTS.values():
        for found in ARXIV.finditer(text):
            titles = TITLE.findall(re.sub(r"\s+", " ", text[: found.start()][-300:]))
            pairs.add((found[1].rstrip("."), plain(titles[-1])))
    numbers, titles = zip(*pairs, strict=True)
    assert len(set(numbers)) == len(set(titles)) == len(pairs)


def test_the_five_papers_have_the_titles_of_the_citation_file():
    found = re.findall(r'^    title: "(.+)"\n    notes: "lens', TEXTS["CITATION.cff"], flags=re.M)
    cited = [plain(title) for title in found]
    assert len(cited) == 5
    named = [plain(title) for text in TEXTS.values() for title in TITLE.findall(re.sub(r"\s+", " ", text))]
    for title in cited:
        begin = " ".join(title.split()[:3])
        same = [other for other in named if other.startswith(begin)]
        assert same, title
        assert set(same) == {title}


# -- The rendered guide: reference pages for all public parts, tutorials stored without results. `make guide` build ----


DOCS = Path(__file__).resolve().parents[1] / "docs"
TUTORIALS = sorted((DOCS / "tutorials").glob("*.ipynb"))
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")


def test_every_public_room_has_a_page_of_reference():
    rooms = {name for name in uq.__all__ if f"uqassay.{name}" == getattr(getattr(uq, name), "__name__", "")}
    pages = {page.stem for page in (DOCS / "api").glob("*.rst")}
    assert rooms >= {"measures", "losses", "metrics", "calibration", "statistics"}
    assert rooms <= pages


@pytest.mark.parametrize("page", sorted((DOCS / "api").glob("*.rst")), ids=lambda p: p.stem)
def test_pages_of_reference_name_a_module_and_are_in_the_index(page):
    text = page.read_text(encoding="utf-8")
    (module,) = re.findall(r"^\.\. automodule:: (\S+)$", text, flags=re.MULTILINE)
    assert text.splitlines()[0] == module
    named = __import__(module, fromlist=["__all__"])
    assert named.__all__
    excluded = re.findall(r":exclude-members: (.*)", text)
    if module != "uqassay.lab.methods":  # those come from scikit-learn
        assert {name.strip() for line in excluded for name in line.split(",")} <= set(named.__all__) & set(uq.__all__)
    assert f"](api/{page.name})" in INDEX


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda p: p.stem)
def test_tutorials_are_stored_without_results_and_are_in_the_index(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert f"](tutorials/{path.name})" in INDEX
    for target in re.findall(r"\]\((\.\./[^)#]+)", "".join("".join(cell["source"]) for cell in cells)):
        assert (path.parent / target).resolve().exists(), target


# -- The guide's five pages "Does it know …?": each has every part, and the index leads with them. Its glossary has ----


FIRST = re.search(r"^## Does it know …\?\n(.*?)^## ", INDEX, flags=re.M | re.S)[1]
LISTED = re.findall(r"^\| \[([^\]]+)\]\(([\w-]+\.md)\) \| ([^|]+) \| \[[^\]]+\]\(([\w-]+\.md)\) \|$", FIRST, flags=re.M)
PARTS = [
    "The decision it serves",
    "What you need",
    "Run it",
    "How to read the answer",
    "What it cannot tell",
    "Where to go on",
]
GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")
ENTRIES = dict(re.findall(r"^### (.+)\n(.+)\n", GLOSSARY, flags=re.M))


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def part(page: str, heading: str) -> str:
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text_of(page), flags=re.M | re.S)[1]


def test_the_index_begins_with_the_five_questions():
    assert re.findall(r"^## .+", INDEX, flags=re.M)[0] == "## Does it know …?"
    assert len(LISTED) == 5
    assert {page for _, page, *_ in LISTED} == {path.name for path in DOCS.glob("does-it-know-*.md")}


pages = pytest.mark.parametrize(("question", "page", "decision", "deep"), LISTED, ids=[row[1] for row in LISTED])


@pages
def test_a_page_has_every_part_in_order(question, page, decision, deep):
    text = text_of(page)
    assert re.findall(r"^# (.+)", text, flags=re.M) == [question]
    assert re.findall(r"^## (.+)", text, flags=re.M) == PARTS
    assert len(text.splitlines()) <= 120
    assert part(page, PARTS[0]).strip().startswith(f"**{decision.split('?')[0]}?")
    for user in ("medicine", "driving", "finance"):
        assert re.search(rf"^\| {user}\b", part(page, PARTS[0]), flags=re.M), user
    assert "| what | shape |" in part(page, PARTS[1])
    assert re.search(r"\(n, M, K\)", part(page, PARTS[1]))
    assert len(re.findall(r"^\* \*\*.*?\*\*", part(page, PARTS[4]), flags=re.M | re.S)) >= 4
    assert "assumes" in part(page, PARTS[4])
    assert f"]({deep})" in part(page, PARTS[5])
    assert "The paper: " in part(page, PARTS[5])
    assert len(set(re.findall(r"\]\(glossary\.md#([^)]+)\)", text))) >= 2


@pages
def test_one_command_and_three_lines_of_python(question, page, decision, deep):
    run = part(page, PARTS[2])
    (command,) = re.findall(r"^```sh\n(.*?)^```$", run, flags=re.M | re.S)
    assert command.startswith("uqassay ")
    assert command.replace("\\\n", "").count("\n") == 1
    data, asked = re.findall(r"^```python\n(.*?)^```$", run, flags=re.M | re.S)
    assert len(re.findall(r"^>>> ", data, flags=re.M)) <= 5
    statements = re.findall(r"^>>> (.*)$", asked, flags=re.M)
    assert 1 <= len(statements) <= 3
    assert all(ast.parse(line).body for line in statements)


@pages
def test_a_picture_with_words_for_those_who_do_not_see_it(question, page, decision, deep):
    ((words, target),) = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", part(page, PARTS[3]))
    assert len(words) > 60
    picture = DOCS / target
    assert f'"{picture.stem}":' in text_of("make_question_pictures.py")
    assert picture.stat().st_size < 60_000
    with Image.open(picture) as image:
        assert image.convert("RGB").getpixel((2, 2)) == (255, 255, 255)


@pytest.mark.parametrize(
    "word",
    [
        "Lambda (λ)",
        "Holm",
        "Shaffer",
        "Classwise calibrated",
        "Floor",
        "Credal set",
        "Non-specificity (NS)",
        "Distance (d)",
        "E, the unified loss",
        "Top group",
        "Rank set",
        "EECE",
        "UQ-AUC",
        "UQ-C-index",
        "Vacuous",
        "Hartley measure",
        "Group",
    ],
)
def test_the_glossary_has(word):
    assert word in ENTRIES


def test_entries_of_the_glossary_are_one_or_two_sentences():
    assert len(ENTRIES) == GLOSSARY.count("\n### ")
    for word, meaning in ENTRIES.items():
        sentences = re.findall(r"[.:?](?= |$)", re.sub(r"\]\([^)]*\)", "]", meaning))
        assert meaning.endswith("."), word
        assert 1 <= len(sentences) <= 4, word  # a colon divides, too, and so does a link to more

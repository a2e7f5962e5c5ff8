"""The guide's five pages "Does it know …?": each has every part, and the index leads with them. Its glossary has the words."""

import ast
import re
from pathlib import Path

import pytest
from PIL import Image

DOCS = Path(__file__).resolve().parents[1] / "docs"
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
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

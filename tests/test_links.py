"""Links that leave the guide are well formed, and papers are named in one way.

Internal links are checked by tests/test_docs.py and `make guide`; `make links` asks the network about external ones.
"""

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[1]
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

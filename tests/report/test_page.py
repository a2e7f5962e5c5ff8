"""The page: it holds nothing that data could turn into markup, needs no network, and is written whole."""

import html
import re
from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest
from tests.report.calibration_cases import made_up, with_tests
from tests.report.cases import CLASSES, HOSTILE, hostile_assay, softmax
from tests.report.html_pages import ParsedPage, makes_no_markup

import uqassay as uq
from uqassay.evidence.sentences import details
from uqassay.records import Later
from uqassay.report.page import SCRIPTS, STEPS, answer_card, find_ahead, render, write_page
from uqassay.text import visible


@pytest.fixture(scope="module")
def hostile():
    return hostile_assay(subgroups={"<b>site": np.where(np.arange(120) < 50, "<i>A", "B & C")})


@pytest.fixture(scope="module")
def page(hostile):
    return render(hostile, command="uqassay report 'a <b>.npz' && echo")


@pytest.fixture(scope="module")
def tags(page):
    return ParsedPage(page)


def test_names_and_labels_make_no_markup(tags):
    assert makes_no_markup(tags, scripts=4)
    assert HOSTILE in tags.held["title"]


def test_payload_survives_the_page(tags, hostile):
    held = tags.payload
    assert held["models"][0]["name"] == HOSTILE
    assert held["assay"]["class_names"] == CLASSES
    assert held["command"] == "uqassay report 'a <b>.npz' && echo"


def test_page_needs_no_network(page):
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", page)
    assert "@import" not in page
    assert "url(" not in page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_verdict_and_warnings_stand_without_the_script(page, hostile):
    plain = html.unescape(page).replace("\u00a0", " ")
    for sentence in (*details(hostile, without=("best", "refusal")), *map(str, hostile.warnings)):
        assert visible(sentence) in plain
    assert answer_card(hostile) in page


def test_no_finding_of_the_card_is_told_again(page, hostile):
    plain = html.unescape(page[: page.index('<script type="text/plain"')]).replace("\u00a0", " ")
    assert not [sentence for sentence in hostile.headline() if sentence in plain]


def test_the_section_on_numbers_repeats_no_finding_of_other_sections(page, hostile):
    numbers = re.search(r'<div class="numbers">(.*?)</div>', page, re.DOTALL)[1]
    told = html.unescape(numbers).replace("\u00a0", " ")
    best, *others = details(hostile)
    assert best not in told
    assert all(sentence in told for sentence in others if "Refus" not in sentence)


def test_refusal_stands_among_the_numbers_only_if_the_section_on_mistakes_is_about_another_model():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    sharp = np.clip(0.5 + 0.3 * np.where(y, 1, -1) + rng.normal(0, 0.25, 400), 0.02, 0.98)
    vague = np.clip(0.5 + 0.1 * np.where(y, 1, -1) + rng.normal(0, 0.3, 400), 0.02, 0.98)
    a = uq.assay({"sharp": uq.Point.from_binary(sharp), "vague": uq.Point.from_binary(vague)}, y, calibration=())
    (told,) = (s for s in details(a) if s.startswith("Refuse the 10 % that sharp"))
    assert told not in html.unescape(render(a)).replace("\u00a0", " ")


def test_calibration_is_told_in_its_section_alone(page, hostile):
    from uqassay.evidence.sentences import calibration_sentence

    assert calibration_sentence(hostile)
    assert not [s for s in hostile.verdict() if "calibrated" in s]


def test_every_section_says_its_finding_without_the_script(page, tags, hostile):
    import html

    from uqassay.report.page import lens_sections
    from uqassay.report.sentences import section_findings

    shown = re.findall(r'<span class="finding" id="([\w-]+)-finding">(.*?)</span></summary>', page)
    told = {place: html.unescape(text).replace("\u00a0", " ") for place, text in shown}
    expected = section_findings(hostile) | {f"lens-{lens['id']}": lens["finding"] for lens in lens_sections(hostile)}
    assert told == {place: visible(text) for place, text in expected.items()}
    assert any(HOSTILE in text for text in told.values())
    unfolding = [attributes for tag, attributes in tags.tags if tag == "details"]
    closed = [one for one in unfolding if "section" in (one.get("class") or "").split()]
    assert {one["id"] for one in closed} >= set(told)
    assert not any("open" in one for one in closed)


def test_the_finding_on_calibration_is_the_first_sentence_on_all_tests(hostile):
    from uqassay.evidence.sentences import calibration_sentence
    from uqassay.report.sections import calibration_section

    assert calibration_section(hostile)["finding"] == calibration_sentence(hostile)


def test_scripts_never_set_markup():
    for name in SCRIPTS:
        text = files("uqassay.report").joinpath(name).read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text), name
        assert len(text.encode()) < 24_000, name


def test_progress_is_told_and_changes_nothing(hostile, page):
    told = []
    assert render(hostile, command="uqassay report 'a <b>.npz' && echo", progress=told.append) == page
    assert told == [f"writing the page: {step}" for step in STEPS]
    assert len(set(told)) == len(told) > 3


def test_what_is_found_ahead_needs_no_test_and_changes_nothing():
    def unmade():
        raise AssertionError("a test was made")

    generator = np.random.default_rng(0)
    models = {name: uq.Members(generator.dirichlet(np.ones(3), (60, 2))) for name in ("a", "b")}
    found = uq.assay(models, generator.integers(0, 3, 60))
    ahead = replace(found, tests=Later(unmade))
    find_ahead(ahead)
    object.__setattr__(ahead, "tests", found.tests)
    assert render(ahead) == render(found)


def test_write_page_replaces_in_one_step(tmp_path, hostile, page):
    target = tmp_path / "deep" / "report.html"
    assert write_page(hostile, target) == target
    first = target.read_text(encoding="utf-8")
    write_page(hostile, target)
    assert [p.name for p in target.parent.iterdir()] == ["report.html"]
    assert target.read_text(encoding="utf-8") == first  # the same assay, the same page


@pytest.mark.parametrize("n", [1, 3])
def test_tiny_assays(n):
    y = np.arange(n) % 2
    text = render(uq.assay({"only": uq.Point(np.tile([0.7, 0.3], (n, 1)))}, y))
    assert "only" in text


@pytest.mark.slow
def test_page_of_ten_models_stays_under_five_megabytes():
    rng = np.random.default_rng(0)
    n, k = 10_000, 10
    y = rng.integers(0, k, n)
    models = {
        f"model {j}": uq.Members(softmax((1.5 + 0.2 * j) * np.eye(k)[y][:, None, :] + rng.normal(size=(n, 4, k))))
        for j in range(10)
    }  # random numbers hardly compress: the worst case
    a = uq.assay(models, y, n_draws=50, calibration=())
    a = with_tests(a, *(made_up(name, "ece-confidence", pvalue=0.5) for name in models))
    text = render(a)
    assert len(text.encode()) < 5_000_000
    held = ParsedPage(text).instances
    assert held["set_rows"]["shape"] == [n]


def test_names_with_lone_surrogates_make_a_page(tmp_path):
    a = uq.assay({"mod\udce9": uq.Point([[0.7, 0.3], [0.4, 0.6]])}, [0, 1])
    text = write_page(a, tmp_path / "page.html", command="uqassay report mod\udce9").read_text(encoding="utf-8")
    assert ParsedPage(text).payload["command"] == "uqassay report mod\udce9"


def literals(script):
    """Texts between quotes in the lines of a script, without comments; of a template literal the texts around its places."""
    code = re.sub(r"/\*.*?\*/", "", script, flags=re.S)
    for line in code.splitlines():
        for match in re.finditer(r'"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`', re.sub(r"(?:^|\s)//.*", "", line)):
            yield from re.split(r"\$\{[^}]*\}", match[1] if match[1] is not None else match[2])


SENTENCE = re.compile(r"[A-Za-z’']+[,;:]? [a-z’']+[,;:]? [a-z’']+")
CLASSES_OF_CSS = "scroll grouped tall"


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_hold_no_sentences(name):
    script = files("uqassay.report").joinpath(name).read_text(encoding="utf-8")
    found = [text for text in literals(script) if SENTENCE.search(text) and text != CLASSES_OF_CSS]
    fonts, for_programmers = "Segoe UI", "no value for"
    assert not [text for text in found if fonts not in text and for_programmers not in text]


def test_the_search_for_sentences_finds_some():
    script = 'const a = `At ${x} the mean is`; // a comment of many words\nf("a box of text here")'
    assert [text for text in literals(script) if SENTENCE.search(text)] == [" the mean is", "a box of text here"]


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_readable(name):
    script = files("uqassay.report").joinpath(name).read_text(encoding="utf-8")
    assert max(map(len, script.splitlines())) <= 128
    assert len(script.splitlines()) <= 400


JOINS = re.compile(r"""\.(?:join|split)\(\s*(["'`]);\s*\1""")


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_join_no_notes_and_read_no_joined_ones(script):
    assert JOINS.findall('a.join("; ")\nb.split( \';\')\nc.join(", ")') == ['"', "'"]
    assert not JOINS.findall(files("uqassay.report").joinpath(script).read_text(encoding="utf-8"))


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_hold_no_headings(script):
    held = files("uqassay.report").joinpath(script).read_text(encoding="utf-8")
    assert not re.findall(r"""\btitle: ["'`][A-Za-z ]{2,}""", held)
    assert not re.findall(r"""\bchoice\(["'`]""", held)


def test_the_template_holds_no_words():
    template = files("uqassay.report").joinpath("page.html").read_text(encoding="utf-8")
    body = template[template.index("<body") :]
    said = re.sub(r"\{\{[\w.]+\}\}|<[^>]*>|uqassay", " ", body)
    assert not re.findall(r"[^\W\d]{2,}", said)
    assert not re.findall(r"""aria-label="(?!\{\{)""", body)


def test_places_of_the_template_are_filled(page):
    before_scripts = page[: page.index('<script type="text/plain"')]
    assert "{{text." not in before_scripts
    assert before_scripts.count("<span data-lambda></span>") == 3
    assert '<select id="cost"></select> as a mistake.' in before_scripts


def test_long_names_are_not_in_the_heading(monkeypatch):
    monkeypatch.setattr("uqassay.report.page.WORK", 0.0)  # 21 λ in place of 201
    y = [0, 1, 0]
    p = uq.Point([[0.9, 0.1]] * 3)
    assert "Which to use: a or b?" in render(uq.assay({"a": p, "b": p}, y, n_draws=5, calibration=()))
    named = {f"{letter} name of {'x' * 40}": p for letter in "ab"}
    assert "Which of these 2 models to use?" in render(uq.assay(named, y, n_draws=5, calibration=()))

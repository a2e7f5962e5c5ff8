"""The page in a real browser, from a file and without a network."""

import csv
import json
import re

import numpy as np
import pytest
from tests.report.html_pages import open_all, open_once, wait_until

import uqassay as uq
from uqassay import text as wording
from uqassay.evidence.mistakes import RankedScore
from uqassay.evidence.sentences import details
from uqassay.report.page import write_page

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
CLASSES = ["</script><script>alert(2)</script>", "a & b", "%{x} third", "fourth"]
TURNED = "dull\u202e"  # what follows would run from right to left
COMMAND = "uqassay report '<b>.npz'"


@pytest.fixture(scope="module")
def assay():
    rng = np.random.default_rng(7)
    n, k = 250, 4
    y = rng.integers(0, k, n)
    z = 2.0 * np.eye(k)[y] + rng.normal(size=(n, k))

    def softmax(z):
        p = np.exp(z)
        return p / p.sum(axis=-1, keepdims=True)

    models = {
        HOSTILE: uq.Members(softmax(z[:, None, :] + 0.9 * rng.normal(size=(n, 6, k)))),
        "point": uq.Point(softmax(1.2 * z)),
        TURNED: uq.Point(softmax(0.4 * z)),
        "box": uq.Intervals(np.maximum(softmax(z) - 0.1, 0), np.minimum(softmax(z) + 0.1, 1)),
    }
    subgroups = {"<i>site": np.where(rng.random(n) < 0.5, "<b>A", "B")}
    return uq.assay(models, y, class_names=CLASSES, subgroups=subgroups, n_draws=500)


@pytest.fixture(scope="module")
def address(assay, tmp_path_factory):
    return write_page(assay, tmp_path_factory.mktemp("page") / "report.html", command=COMMAND).as_uri()


@pytest.fixture
def page(driver, address):
    """The page as the last test left it, or opened and drawn where none did; afterwards nothing must have gone wrong."""
    open_once(driver, address)
    yield driver
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


@pytest.fixture
def unshared(driver):
    """For tests of how the page starts, and for those that change what others do not choose themselves: a page for one test."""
    driver.get("about:blank")
    yield
    driver.get("about:blank")


def texts(page, selector):
    return page.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((n) => n.textContent)", selector
    )


def ranked_names(page):
    return page.execute_script("return [...document.querySelectorAll('#ranking tbody tr')].map((n) => n.dataset.key)")


def press(page, selector, key):
    from selenium.webdriver.common.by import By

    page.find_element(By.CSS_SELECTOR, selector).send_keys(key)


def click(page, selector):
    page.execute_script("document.querySelector(arguments[0]).click()", selector)


@pytest.mark.usefixtures("unshared")
def test_opens_from_a_file_without_a_network(page):
    assert page.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert page.execute_script("return document.querySelectorAll('.chart .drawn, .drawing .drawn').length") > 10
    assert page.execute_script("return document.getElementById('failed').hidden")
    assert not [text for text in texts(page, ".chart") if "could not be drawn" in text]


def assert_numbers(window, assay):
    """The sentences of the verdict stand in "In numbers", but for those that other sections begin with."""
    found = tuple(t.replace("\u00a0", " ") for t in texts(window, ".numbers p"))
    assert found in (details(assay, without=["best"]), details(assay, without=["best", "refusal"]))


def test_an_old_browser_shows_the_verdict_and_says_why_nothing_else(driver, address, assay):
    script = "delete globalThis.DecompressionStream"
    added = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    driver.get("about:blank")
    driver.get(address)
    wait_until(lambda: not driver.execute_script("return document.getElementById('failed').hidden"))
    assert "too old" in texts(driver, "#failed")[0]
    assert_numbers(driver, assay)
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    driver.get_log("browser")


def pointer_at(page, node, mark, point):
    """Move the pointer to a point of a mark; the words that are then shown."""
    return page.execute_script(
        "const node = document.getElementById(arguments[0]);"
        "const shape = node.querySelectorAll('.points')[arguments[1]].children[arguments[2]];"
        "const box = shape.getBoundingClientRect();"
        "const [x, y] = [box.x + box.width / 2, box.y + box.height / 2].map(Math.floor);"  # as a click has them
        "const at = { clientX: x, clientY: y, bubbles: true };"
        "shape.dispatchEvent(new PointerEvent('pointermove', at));"
        "return [...node.querySelectorAll('.tip:not([hidden]) div')].map((n) => n.textContent);",
        node,
        mark,
        point,
    )


def test_words_at_the_pointer_are_text(page, assay):
    first = pointer_at(page, "plane", 0, 0)
    d, ns = (float(assay[HOSTILE].columns[name].mean()) for name in ("distance", "nonspecificity"))
    assert first[0] == HOSTILE
    assert f"{d:.3f}" in first[1]
    assert f"{ns:.3f}" in first[2]
    page.execute_script(
        "document.querySelector('#plane .drawn').dispatchEvent(new PointerEvent('pointerleave', { bubbles: true }))"
    )
    assert page.execute_script("return document.querySelector('#plane .tip').hidden")


def test_a_click_on_a_point_opens_its_instance(page):
    said = pointer_at(page, "entropy-confidence", 1, 5)
    page.execute_script(
        "const shape = document.querySelectorAll('#entropy-confidence .points')[1].children[5];"
        "const box = shape.getBoundingClientRect();"
        "const [x, y] = [box.x + box.width / 2, box.y + box.height / 2].map(Math.floor);"  # as a click has them
        "const at = { clientX: x, clientY: y, bubbles: true };"
        "shape.dispatchEvent(new PointerEvent('click', at));"
    )
    number = re.search(r"\d+", said[1])[0]
    assert page.execute_script("return document.getElementById('pick').value") == number


def test_verdict_is_that_of_the_assay(page, assay):
    assert_numbers(page, assay)


@pytest.mark.usefixtures("unshared")
def test_hostile_names_are_shown_as_text(page):
    assert page.execute_script("return document.images.length") == 0
    assert any(HOSTILE in text for text in texts(page, "#ranking td"))
    assert any(CLASSES[0] in text for text in texts(page, "#picked, #extremes td"))
    assert any(HOSTILE[:15] in text for text in texts(page, "#lines text"))
    assert (
        page.execute_script(
            "return document.querySelectorAll('main script, main b:not(.answer b, td[data-value] > b)').length"
        )
        == 0
    )
    assert texts(page, "#command-text") == [COMMAND]


def test_names_do_not_turn_the_text_around(page):
    text = page.execute_script("return document.querySelector('main').innerText")
    assert "\u202e" not in text
    assert r"dull\u202e" in text
    drawn = page.execute_script("return [...document.querySelectorAll('#lines text')].map((n) => n.textContent).join()")
    assert r"dull\u202e" in drawn
    assert "\u202e" not in drawn


def test_no_number_of_the_calibration_is_cut_off(page):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    cut = page.execute_script(
        "return [...document.querySelectorAll('#lens-calibration .scroll, #summary')]"
        ".filter((n) => n.scrollWidth > n.clientWidth).map((n) => [n.id, n.scrollWidth, n.clientWidth])"
    )
    assert cut == []


def test_label_is_marked_in_every_triangle(page):
    three = page.execute_script(
        "return [...document.querySelectorAll('.picture div svg')].map((n) => n.querySelectorAll('text.label').length)"
    )
    assert three == [1] * 4


def test_command_is_whole_in_print(page):
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    wraps = page.execute_script("return getComputedStyle(document.getElementById('command-text')).whiteSpace")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert wraps.startswith("pre-wrap")


def test_slider_ranks_again(page, assay):
    from selenium.webdriver.common.keys import Keys

    low, high = assay.winners()[0], assay.winners()[-1]
    assert low[2] != high[2]
    press(page, "#lambda", Keys.HOME)
    assert ranked_names(page) == [r.model for r in assay.ranked(0.0)]
    press(page, "#lambda", Keys.END)
    top = page.execute_script("return ranking.grid.at(-1)")
    assert ranked_names(page) == [r.model for r in assay.ranked(top)]
    change = assay.winners()[1][0]
    before, after = np.floor(change * 100) / 100, np.ceil(change * 100) / 100
    page.execute_script("setIndex(indexAt(arguments[0]))", before)
    assert ranked_names(page)[0] == low[2][0]
    press(page, "#lambda", Keys.ARROW_RIGHT)
    assert page.execute_script("return lambda()") == pytest.approx(after)
    assert ranked_names(page)[0] == assay.winners()[1][2][0]


@pytest.mark.usefixtures("unshared")
def test_shown_numbers_against_the_assay(page, assay):
    at = page.execute_script("return lambda()")
    assert at == 0.5
    shown = page.execute_script(
        "const rows = [...document.querySelectorAll('#ranking tbody tr')];"
        "return rows.map((row) => row.querySelectorAll('td')[3].firstChild.firstChild.data)"
    )
    for text, r in zip(shown, assay.ranked(at), strict=True):
        assert float(text) == pytest.approx(float(r.estimate), abs=0.0005)


def test_next_change_of_the_winner_is_one_key_away(page, assay):
    page.execute_script("setIndex(0)")
    press(page, "#next-change", "\ue007")
    assert page.execute_script("return lambda()") >= assay.winners()[1][0]
    assert ranked_names(page)[0] == assay.winners()[1][2][0]


def test_tables_sort(page, assay):
    header = "#summary th:nth-child(2)"
    values = {m.name: float(m.columns["correct"].mean()) for m in assay.candidates}
    click(page, f"{header} .sort")
    names = page.execute_script("return [...document.querySelectorAll('#summary tbody tr')].map((r) => r.dataset.key)")
    assert [n for n in names if n in values] == sorted(values, key=values.get)
    assert names[-1] == "vacuous"  # without an accuracy: last, whichever way
    assert page.execute_script("return document.querySelector(arguments[0]).ariaSort", header) == "ascending"
    click(page, f"{header} .sort")
    names = page.execute_script("return [...document.querySelectorAll('#summary tbody tr')].map((r) => r.dataset.key)")
    assert [n for n in names if n in values] == sorted(values, key=values.get, reverse=True)
    assert names[-1] == "vacuous"


def test_questionnaire_sets_the_tradeoff(page):
    click(page, "input[name=abstain][value=no]")
    assert "λ from 1 to 2" in texts(page, "#answer")[0]
    click(page, "input[name=abstain][value=yes]")
    expected = uq.metrics.tradeoff_range(True, 0.1)
    assert expected.reason in texts(page, "#answer")[0]
    click(page, "#use-answer")
    assert page.execute_script("return lambda()") == pytest.approx(0.1)


def test_any_instance_can_be_looked_at(page, assay):
    page.execute_script(
        "const n = document.getElementById('pick'); n.value = '123'; n.dispatchEvent(new Event('change'))"
    )
    assert texts(page, "#picked") == [f"Case 123: {CLASSES[assay.labels[123]]}"]
    assert len(texts(page, ".picture")) == 4
    d = assay[HOSTILE].columns["distance"][0, 123]
    assert f"d {d:.3f}," in texts(page, ".picture")[0]
    press(page, "#after", "\ue007")
    assert texts(page, "#picked")[0].startswith("Case 124:")
    page.execute_script(
        "const n = document.getElementById('pick'); n.value = '250'; n.dispatchEvent(new Event('change'))"
    )
    assert texts(page, "#pick-problem") == ["Give a number from 0 to 249."]


def test_corners_of_a_box_against_brute_force(page):
    """The triangle of an interval set holds every member of the set, and its corners are members."""
    rng = np.random.default_rng(0)
    lower, upper = np.array([0.05, 0.1, 0.2, 0.05]), np.array([0.5, 0.4, 0.6, 0.3])
    corners = np.array(
        page.execute_script(
            "return boxCorners({lower: arguments[0], upper: arguments[1]}, [0, 2, 3])", lower.tolist(), upper.tolist()
        )
    )
    p = rng.dirichlet(np.ones(4), 400_000)
    p = p[(p >= lower).all(axis=1) & (p <= upper).all(axis=1)]
    seen = p[:, [0, 2, 3]] / p[:, [0, 2, 3]].sum(axis=1, keepdims=True)
    assert len(p) > 1000
    for direction in rng.normal(size=(50, 3)):
        reach = (corners @ direction).max()
        assert (seen @ direction).max() <= reach + 1e-3
        assert (seen @ direction).max() >= reach - 0.1


def test_definitions_open_from_the_keyboard(page):
    press(page, ".lambda-line .what", "\ue007")
    assert page.execute_script("return document.getElementById('definition').open")
    assert "λ" in texts(page, "#definition-title")[0]
    press(page, "#definition button", "\ue007")
    assert not page.execute_script("return document.getElementById('definition').open")


@pytest.mark.usefixtures("unshared")
def test_hiding_a_model_redraws_the_charts(page):
    before = len(texts(page, "#lines .line"))
    click(page, "#filter .model")
    wait_until(lambda: len(texts(page, "#lines .line")) == before - 1)
    assert page.execute_script("return document.querySelector('#filter .model').ariaPressed") == "false"


@pytest.mark.usefixtures("unshared")
def test_dark_and_light(page):
    ink = "return ['body', '#lines text'].map((n) => getComputedStyle(document.querySelector(n)).fill).join()"
    colours = {}
    for _ in range(3):
        click(page, "#theme")
        colours[page.execute_script("return document.documentElement.dataset.theme")] = page.execute_script(ink)
    assert set(colours) == {"light", "dark"}
    assert colours["light"] != colours["dark"]


def test_readable_at_400_pixels(page):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    page.refresh()
    open_all(page)
    assert page.execute_script("return document.documentElement.scrollWidth") <= 400
    wide = page.execute_script(
        "return [...document.querySelectorAll('.chart')].filter((n) => n.scrollWidth > 400).map((n) => n.id)"
    )
    assert wide == []


def test_findings_download(page, assay, tmp_path):
    page.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    click(page, "#csv")
    click(page, "#json")
    wait_until(lambda: {p.name for p in tmp_path.iterdir()} >= {"findings.csv", "findings.json"})
    with (tmp_path / "findings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = assay.rows("findings")
    assert [r["model"] for r in rows] == [wording.visible(r["model"]) for r in expected]
    assert [float(r["estimate"] or "nan") for r in rows] == pytest.approx(
        [r["estimate"] for r in expected], nan_ok=True
    )
    held = json.loads((tmp_path / "findings.json").read_text(encoding="utf-8"))
    assert tuple(held["verdict"]) == assay.verdict()


# -- does it know when it is wrong --------------------------------------------------------------------------------------


def choose(page, label, text):
    """Set the select that stands after a label of the part on mistakes."""
    done = page.execute_script(
        "for (const label of document.querySelectorAll('#lens-mistakes label')) {"
        "  if (!label.textContent.startsWith(arguments[0])) continue;"
        "  const select = label.querySelector('select');"
        "  const option = [...select.options].find((o) => o.textContent.replace('\u00a0', ' ') === arguments[1]);"
        "  if (!option) return false;"
        "  select.value = option.value;"
        "  select.dispatchEvent(new Event('change'));"
        "  return true;"
        "}",
        label,
        text,
    )
    assert done, f"no {label!r} {text!r}"


def said(page):
    return texts(page, "#lens-mistakes-finding")[0].replace("\u00a0", " ")


@pytest.mark.parametrize(("share", "score"), [("10 %", "total-entropy"), ("50 %", "margin"), ("2 %", "margin")])
def test_the_sentence_on_refusal_against_the_assay(page, assay, share, score):
    choose(page, "Refuse", share)
    choose(page, "Uncertainty by", score.replace("-", " "))
    kept = 1 - float(share.split()[0]) / 100
    found = {m: assay.refusal(m, score, kept) for m in assay.model_names}
    name = max(found, key=lambda m: float(found[m].accuracy_kept))
    text = said(page)
    level = 1 - (1 - assay.settings.level) / len(found)  # the model is chosen by its own accuracy
    own = RankedScore(assay, name, score, level=level).refusal(kept)
    assert text.startswith(f"Refusing the {share} most uncertain (by {score.replace('-', ' ')}) ")
    assert name.replace("\u202e", r"\u202e") in text
    numbers = [float(x) for x in re.findall(r"−?\d+\.\d+", text.replace(name, "").replace("−", "-"))]
    wanted = [own.accuracy_all, own.accuracy_kept, own.accuracy_kept.low, own.accuracy_kept.high]
    np.testing.assert_allclose(numbers[:4], [100 * float(x) for x in wanted], atol=0.051)
    assert ("could be chance" in text) == (own.gain.low <= 0 <= own.gain.high)
    rows = texts(page, "#mistakes-refusal tbody td:nth-child(4)")
    assert len(rows) == 4


@pytest.mark.usefixtures("unshared")
def test_ranking_rows_against_the_findings(page, assay):
    rows = {
        (r["model"], r["score"]): r["estimate"]
        for r in assay.rows("findings")
        if r["metric"] == "uq-auc" and r["run"] == "all"
    }
    shown = "return [...document.querySelectorAll('#mistakes-ranking tbody tr:not(.group)')].map((r) => [r.dataset.key,"
    shown += " r.querySelector('.number > span').firstChild.data])"
    assert len(page.execute_script(shown)) == 8  # each model's best score, and total entropy
    click(page, "#mistakes-ranking .segmented button:nth-child(3)")
    found = page.execute_script(shown)
    ranked = {m: [s for s in assay.uncertainty_names(m) if np.ptp(assay[m].columns[s]) > 0] for m in assay.model_names}
    assert len(found) == sum(len(scores) for scores in ranked.values())
    for name in assay.model_names:
        mine = [float(value) for model, value in found if model == name]
        assert mine == sorted(mine, reverse=True)
        np.testing.assert_allclose(mine, sorted((rows[name, s] for s in ranked[name]), reverse=True), atol=6e-4)
    click(page, "#mistakes-ranking .segmented button:nth-child(2)")
    assert len(page.execute_script(shown)) == len(found)
    assert page.execute_script(
        "return document.querySelector('#mistakes-ranking .segmented [aria-pressed=true]').textContent"
    )


@pytest.mark.usefixtures("unshared")
def test_the_matrix_is_walked_with_the_arrow_keys(page, assay):
    choose(page, "Uncertainty by", "margin")
    choose(page, "by", "UQ-C-index")
    own = assay.pairwise_uncertainties([(m, "margin") for m in assay.model_names], metric="uq-c-index")
    press(page, "#mistakes-tests [role=gridcell]", "\ue015")  # down
    page.switch_to.active_element.send_keys("\ue015")
    assert page.execute_script("return document.activeElement.getAttribute('role')") == "gridcell"
    told = texts(page, "#mistakes-tests .told")[0]
    assert f"{own.values[2]:.3f} − {own.values[0]:.3f}" in told
    assert page.execute_script("return document.activeElement.title") == told
    assert page.execute_script("return document.querySelectorAll('#mistakes-tests [tabindex=\"0\"]').length") == 1
    cells = page.execute_script(
        "return [...document.querySelectorAll('#mistakes-tests tbody tr')].map((r) => [...r.querySelectorAll('td')].map((c) =>"
        " [c.firstChild.data, c.classList.contains('sure')]))"
    )
    for i in range(4):
        for j in range(4):
            text, sure = cells[i][j]
            if i == j:
                assert float(text) == pytest.approx(own.values[i], abs=6e-4)
                continue
            assert float(text.replace("−", "-")) == pytest.approx(own.difference[i, j], abs=6e-4)
            assert text[0] == ("+" if own.difference[i, j] > 0 else "−")
            assert sure == (own.adjusted[i, j] <= 0.05)


def test_the_matrix_has_one_number_of_decimals_and_says_what_its_intervals_are(page):
    for metric in ("UQ-AUC", "UQ-C-index"):
        choose(page, "by", metric)
        for name in ("point", "box"):
            choose(page, "Compare", f"the scores of {name}")
            cells = page.execute_script(
                "return [...document.querySelectorAll('#mistakes-tests td[role=gridcell]')].map((c) => c.firstChild.data)"
            )
            assert len({len(text.split(".")[1]) for text in cells if "." in text}) == 1
        note = texts(page, "#mistakes-tests .note")[0]
        assert "the intervals are for each pair on its own, not adjusted for the number of pairs" in note


def test_small_differences_keep_the_decimals_of_the_matrix(page):
    shown = page.execute_script(
        "const held = { values: [0.9, 0.90099, 0.91, 0.91002], pairs: ["
        "  [-0.001, -0.002, -0.001, -0.002, -0.001, -0.002], [0.003, 0.02, 0.02, 0.02, 0.02, 0.002], [1, 1, 1, 1, 1, 1],"
        "  [0.03, null, 0.012, 0.3, 0.3, 0.3]] };"
        "const sides = ['a', 'b', 'c', 'd'].map((name, at) => ({ at, name, j: null, by: null }));"
        "const node = matrix(held, sides, 'UQ-AUC', document.createElement('p'), page.lenses[0].text.matrix);"
        "const cells = [...node.querySelectorAll('td[role=gridcell]')];"
        "return [[4, 1, 14, 11].map((i) => cells[i].firstChild.data), cells[14].title, cells[4].title, cells[2].title];"
    )
    assert shown[0] == ["+0.001", "−0.001", "<0.001", ">−0.001"]
    assert "= +0.00002 (" in shown[1]
    assert shown[2].endswith("could be chance; a true difference of 0.030 would have been found 4 times in 5")
    assert shown[3].endswith("could be chance; no difference could have been found")


@pytest.mark.parametrize("width", [400, 1280])
def test_no_label_of_an_axis_touches_another(page, width):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    page.refresh()
    open_all(page)
    gaps = page.execute_script(
        "const rows = [[0.8, 0.75, 0.85], [0.93, 0.91, 0.95], [0.98, 0.978, 0.982], [0.6, 0.4, 0.8]];"
        "const place = document.querySelector('#mistakes-ranking .forest');"
        "return rows.map(([estimate, low, high]) => {"
        "  const cells = ['uq-auc', 'uq-c-index'].map(() => ({ estimate, low, high, notes: [] }));"
        "  const groups = [{ title: 't', rows: [{ m: { j: 0, model: 'm' }, name: 'a model', cells }] }];"
        "  fill(place, forest(groups, ['uq-auc', 'uq-c-index']));"
        "  return Math.min(...[...place.querySelectorAll('.axis-row')].flatMap((axis) => {"
        "    const boxes = [...axis.querySelectorAll('text')].map((t) => t.getBoundingClientRect()).sort((a, b) => a.x - b.x);"
        "    return boxes.slice(1).map((box, i) => box.left - boxes[i].right);"
        "  }));"
        "});"
    )
    assert min(gaps) >= 3, gaps


@pytest.fixture
def other_page(driver, address, coarse_pages, tmp_path):
    """Opens the page of other models; afterwards nothing must have gone wrong."""

    def opened(models, y):
        driver.get_log("browser")
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        driver.get(write_page(uq.assay(models, y, n_draws=50, calibration=()), tmp_path / "other.html").as_uri())
        open_all(driver)
        return driver

    yield opened
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_model_without_mistakes_is_told_as_one(other_page):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 80)
    z = rng.dirichlet(np.ones(3), 80) + 0.5 * np.eye(3)[y]
    models = {
        "some": uq.Point(z / z.sum(axis=1, keepdims=True)),
        "perfect": uq.Point(0.05 + 0.85 * np.eye(3)[y]),
        "varied": uq.Point(np.eye(3)[y] * 0.6 + 0.4 * rng.dirichlet(np.ones(3), 80)),
        "flat": uq.Point(np.tile([0.4, 0.3, 0.3], (80, 1))),
    }
    page = other_page(models, y)
    note = texts(page, "#mistakes-refusal .note")[0]
    assert "perfect (it makes no mistake on these cases)" in note
    assert "varied (it makes no mistake on these cases)" in note
    assert "flat (the score is the same in every case: nothing to choose by)" in note
    assert texts(page, "#mistakes-refusal tbody tr") == []  # one model alone, told in the sentence
    assert said(page).startswith("Refusing the 10 % most uncertain (by ")
    assert "the accuracy of some" in said(page)
    assert "No errors" not in "".join(texts(page, "#lens-mistakes .warning"))
    choose(page, "Uncertainty by", "each model's best score")
    assert (
        "flat (no score of it differs between cases: nothing to choose by)" in texts(page, "#mistakes-refusal .note")[0]
    )
    choose(page, "Compare", "the scores of varied")
    assert texts(page, "#mistakes-tests .empty") == [
        "Fewer than two scores of varied have this metric: it makes no mistake on these cases."
    ]


def test_one_sentence_where_no_model_makes_a_mistake(other_page):
    y = np.arange(12) % 3
    page = other_page({"a": uq.Point(0.05 + 0.85 * np.eye(3)[y]), "b": uq.Point(0.1 + 0.7 * np.eye(3)[y])}, y)
    assert said(page) == "No model makes a mistake on these cases: there is nothing to rank."
    assert texts(page, "#lens-mistakes table") == []


def test_the_scores_of_one_model_are_compared(page, assay):
    choose(page, "Compare", "the scores of point")
    head = texts(page, "#mistakes-tests thead th")
    assert [t.replace(" ", "-") for t in head] == list(assay.uncertainty_names("point"))


@pytest.mark.usefixtures("unshared")
def test_curves_follow_the_score_and_the_models_shown(page, assay):
    drawn = (
        "return [...document.querySelectorAll('#mistakes-curve svg g[class^=m]:not(.band)')]"
        ".filter((n) => getComputedStyle(n).display !== 'none').map((n) => n.getAttribute('class'))"
    )
    choose(page, "Uncertainty by", "total entropy")
    curves = page.execute_script(drawn)
    assert len(curves) == 4
    assert all("first" in one for one in curves)
    click(page, "#mistakes-curve .model:nth-of-type(2)")
    wait_until(lambda: len(page.execute_script(drawn)) == 3)
    assert page.execute_script("return document.querySelectorAll('#filter .model')[1].ariaPressed") == "false"
    choose(page, "Uncertainty by", "each model's best score")
    wait_until(lambda: all("best" in one for one in page.execute_script(drawn)))
    choose(page, "Uncertainty by", "margin")
    assert page.execute_script(drawn) == []
    assert texts(page, "#mistakes-curve > .note:not([hidden])") == [
        "Curves are drawn by total entropy and by each model’s best score."
    ]
    lines = (
        "return [...document.querySelectorAll('#mistakes-curve .share:not(.off)')].map((n) => n.getAttribute('class'))"
    )
    choose(page, "Refuse", "20 %")
    assert page.execute_script(lines) == ["share share-20"]


def test_every_metric_of_the_table_opens_its_definition(page, assay):
    count = page.execute_script("return document.querySelectorAll('#mistakes-metrics th .what').length")
    assert count == 6
    for place, title in [(0, "UQ-AUC"), (5, "Prediction-rejection ratio")]:
        page.execute_script("document.querySelectorAll('#mistakes-metrics th .what')[arguments[0]].click()", place)
        assert texts(page, "#definition-title") == [title]
        assert texts(page, "#definition-source")[0]
        click(page, "#definition button")
    choose(page, "Uncertainty by", "margin")
    shown = texts(page, "#mistakes-metrics tbody tr:nth-child(2) td:nth-child(4)")[0]
    aurc = next(r for r in assay.mistake_ranking() if (r.model, r.score, r.metric) == ("point", "margin", "aurc"))
    assert shown.startswith(f"{float(aurc.estimate):.3f}")


def too_wide_in_print(page, part):
    """How many tables and charts of a part are wider than paper."""
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    wide = page.execute_script(
        "return [...document.querySelectorAll(`${arguments[0]} table, ${arguments[0]} .chart, ${arguments[0]} .drawing`)]"
        ".filter((n) => n.getBoundingClientRect().width > 701).length",
        part,
    )
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    return wide


def test_the_part_is_readable_in_print(page):
    assert too_wide_in_print(page, "#lens-mistakes") == 0

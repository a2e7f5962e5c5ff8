"""Many models and long names: labels that do not overlap, one choice of models, filters, contrasts, data of the charts."""

import numpy as np
import pytest
from tests.report.cases import softmax
from tests.report.test_page_browser import wait_until

import uqassay as uq
from uqassay.text import share_of_draws

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.usefixtures("without_calibration", "coarse_pages")]

STEM = "resnet50-imagenet21k-pretrained-finetuned-cifar10-augmix-sgd-cosine-lr0.01-seed"
NAMES = {
    "2": ["ensemble", "dropout"],
    "6": ["deep ensemble", "MC dropout", "SWAG", "Laplace", "evidential", "single network"],
    "30": [f"model {i:02d}" for i in range(30)],
    "60": [f"config-{i:03d}" for i in range(60)],
    "long": [f"{STEM}{i:02d}-{('de', 'mc-dropout', 'swag')[i % 3]}" for i in range(10)],
}
WIDTHS = (1400, 900, 400)
CHOICE = "#choose, #why"  # the sections with the order of the models and their charts


def assay_of(names, n=150, k=4):
    """Models of rising skill; sixty of them without the section on mistakes, which takes most of the time."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, k, n)
    z = np.eye(k)[y] + 0.4 * rng.normal(size=(n, k))
    models = {
        name: uq.Members(
            softmax((1 + i / len(names)) * z[:, None] + (0.3 + 0.5 * i / len(names)) * rng.normal(size=(n, 3, k)))
        )
        for i, name in enumerate(names)
    }
    measures = () if len(names) == 60 else ("total-entropy", "credal-width")
    return uq.assay(models, y, n_draws=20, measures=measures)


class Lazily(dict):
    """Values that are made when they are first asked for: not every process of the tests needs all of them."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, case):
        self[case] = self.make(case)
        return self[case]


@pytest.fixture(scope="module")
def assays():
    return Lazily(lambda case: assay_of(NAMES[case]))


@pytest.fixture(scope="module")
def addresses(assays, tmp_path_factory):
    folder = tmp_path_factory.mktemp("many")
    return Lazily(lambda case: assays[case].to_html(folder / f"{case}.html").resolve().as_uri())


@pytest.fixture
def opened(driver, addresses):
    def show(case, width=1400, sections="details.section"):
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        surround(driver, "light")
        driver.get_log("browser")
        driver.get("about:blank")
        driver.get(addresses[case])
        wait_until(lambda: driver.execute_script("return document.documentElement.dataset.ready") == "yes")
        driver.execute_script("document.querySelectorAll(arguments[0]).forEach((d) => { d.open = true; })", sections)
        wait_until(lambda: driver.execute_script("return document.querySelectorAll('#lines .drawn').length"))
        return driver

    yield show
    assert [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def surround(driver, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


BOXES = """
const [root, texts] = [document.querySelector(arguments[0]), arguments[1]];
const frame = root.getBoundingClientRect();
return [...root.querySelectorAll(texts)].filter((n) => n.textContent).map((n) => {
  const b = n.getBoundingClientRect();
  return [n.textContent, b.left - frame.left, b.top - frame.top, b.right - frame.left, b.bottom - frame.top, frame.width];
});
"""


def overlaps(boxes, slack=1.5):
    """Pairs of texts whose boxes share more than the slack."""
    found = []
    for i, (text, left, top, right, bottom, _) in enumerate(boxes):
        for other, left_, top_, right_, bottom_, _ in boxes[:i]:
            across = min(right, right_) - max(left, left_)
            down = min(bottom, bottom_) - max(top, top_)
            if across > slack and down > slack:
                found.append((text, other))
    return found


@pytest.mark.parametrize("case", NAMES)
def test_every_shown_model_is_named_and_labels_do_not_overlap(opened, case):
    first = list(NAMES).index(case) % len(
        WIDTHS
    )  # each width is the first of some case, the others follow in the same page
    page = opened(case, WIDTHS[first], CHOICE)
    for width in (*WIDTHS[first:], *WIDTHS[:first]):
        resize(page, width)
        check_labels(page)


def resize(page, width):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
    )
    fits = "return ['plane', 'lines'].every((id) => byId(id).firstChild.clientWidth === byId(id).clientWidth)"
    wait_until(lambda: page.execute_script(fits))
    page.execute_async_script(
        "setTimeout(() => requestAnimationFrame(arguments[0]), 150)"
    )  # the page waits for the last width


def check_labels(page):
    shown = set(page.execute_script("return shown().map((m) => label(m.j))"))
    assert 0 < len(shown) <= 10
    for chart in ("#plane", "#lines"):
        texts = page.execute_script(BOXES, chart, "text, .line-legend span[aria-hidden], .line-legend bdi")
        assert shown <= {text for text, *_ in texts}
    for place in (0, 1):
        page.execute_script("setIndex(Math.round(arguments[0] * (ranking.grid.length - 1)))", place)
        page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        for picture, texts in [("#plane", "text"), ("#lines", "text, .line-legend > span"), ("#strip", "span")]:
            boxes = page.execute_script(BOXES, picture, texts)
            assert boxes
            assert overlaps(boxes) == []
            if picture != "#strip":
                assert all(left >= -1 and right <= frame + 1 for _, left, _, right, _, frame in boxes)
    for rows in ("#ranking tbody tr:nth-child(-n+12) td.name", "#rank-sets tbody tr:nth-child(-n+12) td.name"):
        assert overlaps(page.execute_script(BOXES, "main", rows)) == []
    axis = page.execute_script(BOXES, "#rank-sets", ".axis-marks text")
    assert overlaps(axis) == []


def test_names_are_cut_where_they_agree(opened):
    page = opened("long")
    short = page.execute_script("return candidates.map((m) => label(m.j))")
    assert short[:3] == ["…seed00-de", "…seed01-mc-dropout", "…seed02-swag"]
    cell = "document.querySelector('#ranking td.name bdi')"
    first = page.execute_script(
        "return page.models[ranking.order[state.index].find((j) => !page.models[j].baseline)].name"
    )
    assert page.execute_script(f"return {cell}.title") == first
    assert page.execute_script(f"return {cell}.querySelector('.visually-hidden').textContent") == first
    assert page.execute_script(f"return {cell}.querySelector('[aria-hidden]').textContent") == "…" + first.removeprefix(
        STEM[:-4]
    )
    shorten = "return shortNames(arguments[0])"
    assert page.execute_script(shorten, ["forest", "logistic"]) == ["forest", "logistic"]
    families = [f"{a}-imagenet21k-pretrained-seed{i}-de" for a in ("resnet50", "vit") for i in range(2)]
    assert page.execute_script(shorten, families) == [
        "resnet50-…seed0…",
        "resnet50-…seed1…",
        "vit-…seed0…",
        "vit-…seed1…",
    ]


def test_short_names_stay_distinct(opened):
    page = opened("2")
    rng = np.random.default_rng(5)
    alphabet = ["a", "b", "-", " ", "x1", "…", "😀", "_", "1"]
    lists = []
    for trial in range(3000):
        stem = "".join(rng.choice(alphabet, rng.integers(0, 60)))
        tail = "-zz" * int(rng.integers(0, 8))
        letters = alphabet[: 2 + trial % (len(alphabet) - 1)]
        names = {
            stem + "".join(rng.choice(letters, rng.integers(1, 45))) + tail for _ in range(int(rng.integers(1, 9)))
        }
        lists.append(sorted(names))
    short = page.execute_script("return arguments[0].map((names) => shortNames(names))", lists)
    for names, found in zip(lists, short, strict=True):
        assert len(found) == len(names) == len(set(found))
        if all(len(name) <= 28 for name in names):
            assert found == names
    cut = [
        len(a) < len(b) for names, found in zip(lists, short, strict=True) for a, b in zip(found, names, strict=True)
    ]
    assert np.mean(cut) > 0.3


DRAWN = """
const count = (id, what) => document.querySelectorAll(`#${id} ${what}`).length;
return {
  lines: count("lines", ".band"), plane: count("plane", ".area"), ridges: count("ridge-distance", ".area") / 2,
  width: count("width", "g.points"), entropy: count("entropy-confidence", "path.line"),
  curves: count("mistakes-curve", "svg g.first:not(.band, .off)"),
};
"""


def drawn(page):
    return page.execute_script(DRAWN)


def test_top_group_is_shown_and_follows(opened, assays):
    page = opened("30")
    most = page.execute_script("return page.text.models.most")
    groups = set()
    for place in (0, 10, 20):
        at = page.execute_script("setIndex(arguments[0]); return lambda()", place)
        page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        top = [r.model for r in assays["30"].ranked(at) if r.top][:most]
        assert page.execute_script("return shown().map((m) => m.name)") == sorted(top)
        assert set(drawn(page).values()) == {len(top)}
        groups.add(tuple(sorted(top)))
    assert len(groups) > 1
    others = page.execute_script("return document.querySelectorAll('#plane .points')[0].children.length")
    assert others == 30 - len(top)


def test_one_choice_changes_all_charts(opened):
    page = opened("30")
    controls = page.execute_script("return document.querySelectorAll('.model-search').length")
    assert controls > 1
    press = "[...document.querySelectorAll(`.model-search [data-show='${arguments[0]}']`)].at(-1).click()"
    page.execute_script(press, "none")
    assert set(drawn(page).values()) == {0}
    assert "No model is chosen." in page.execute_script("return document.getElementById('plane').textContent")
    page.execute_script(press, "all")
    assert set(drawn(page).values()) == {30}
    page.execute_script(press, "none")
    found = page.execute_script(
        "const search = document.querySelector('.model-search'); search.open = true;"
        "const field = search.querySelector('input[type=search]'); field.value = 'L 07';"
        "field.dispatchEvent(new Event('input', { bubbles: true }));"
        "const rows = [...search.querySelectorAll('.model-list label')].filter((row) => !row.hidden);"
        "rows[0].querySelector('input').click();"
        "return rows.map((row) => row.textContent);"
    )
    assert found == ["model 07"]
    assert set(drawn(page).values()) == {1}
    said = page.execute_script(
        "return [...document.querySelectorAll('.many-models > .note')].map((n) => n.textContent)"
    )
    assert len(said) == controls
    assert {text.removesuffix(" Grey: the others.") for text in said} == {"1 of 30 models are shown in the charts."}
    page.execute_script("document.querySelector('.model-search input[type=search]').focus()")
    page.switch_to.active_element.send_keys("\ue00c")  # Escape
    assert not page.execute_script("return document.querySelector('.model-search').open")
    assert page.execute_script("return document.activeElement.matches('.model-search > summary')")
    page.execute_script(press, "top")
    assert "top group" in page.execute_script("return document.querySelector('.many-models > .note').textContent")


def test_few_models_are_chosen_by_chips(opened):
    page = opened("6")
    assert page.execute_script("return document.querySelectorAll('.model-search').length") == 0
    page.execute_script("document.querySelectorAll('#filter .model')[1].click()")
    assert page.execute_script("return [...document.querySelectorAll('#filter .model')].map((b) => b.ariaPressed)") == [
        "true",
        "false",
        *["true"] * 4,
    ]
    assert set(drawn(page).values()) == {5}


def test_tables_of_many_models_are_compact_and_filtered(opened):
    page = opened("30")
    for holder in ("ranking", "by-correctness", "summary"):
        check_table(page, holder)


def check_table(page, holder):
    rows = f"[...document.querySelectorAll('#{holder} tbody tr')]"
    total = page.execute_script(f"return {rows}.length")
    lines = page.execute_script(
        f"return {rows}.map((r) => r.querySelector('td:not(.name) .i')).filter(Boolean).map((i) => {{"
        "const [a, b] = [i.getBoundingClientRect(), i.parentElement.firstChild];"
        "const range = document.createRange(); range.selectNode(b); const c = range.getBoundingClientRect();"
        "return a.top < c.bottom - 4 && c.top < a.bottom - 4; })"
    )
    assert len(lines) >= 30
    assert all(lines)
    said = f"document.getElementById('{holder}').previousElementSibling"
    assert (
        page.execute_script(f"return {said}.querySelector('[role=status]').textContent") == f"{total} of {total} rows"
    )
    page.execute_script(
        f"const field = {said}.querySelector('input'); field.value = '2'; field.dispatchEvent(new Event('input'))"
    )
    kept = page.execute_script(f"return {rows}.filter((r) => !r.hidden).map((r) => r.dataset.key)")
    assert sorted(kept) == [name for name in NAMES["30"] if "2" in name]
    assert (
        page.execute_script(f"return {said}.querySelector('[role=status]').textContent")
        == f"{len(kept)} of {total} rows"
    )
    for index in (0, 3):  # fills the tables again
        page.execute_script("setIndex(arguments[0])", index)
        shown = page.execute_script(f"return {rows}.filter((r) => !r.hidden).map((r) => r.dataset.key)")
        assert sorted(shown) == sorted(kept)


CONTRASTS = """
const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const over = ([r, g, b, a = 1], below) => [r, g, b].map((v, i) => a * v + (1 - a) * below[i]);
const luminance = (c) => c.map((v) => linear(v / 255)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const background = (node) => {
  if (!node) return [255, 255, 255];
  const own = parse(getComputedStyle(node).backgroundColor);
  return own.length === 3 ? own : over(own, background(node.parentElement));
};
const opacity = (node) => (node ? Number(getComputedStyle(node).opacity) * opacity(node.parentElement) : 1);
const found = [];
const roots = ["#filter", "#strip", "#strip-rest", "#ranking", "#rank-sets", "#why .chart", "#by-correctness", "#plane-part"];
for (const root of roots) {
  for (const node of document.querySelectorAll(`${root} *, ${root}`)) {
    const words = [...node.childNodes].filter((n) => n.nodeType === 3 && n.data.trim()).map((n) => n.data).join("");
    const style = getComputedStyle(node);
    if (!words || node.closest("[hidden], .visually-hidden, :disabled") || !node.getClientRects().length) continue;
    const below = background(node);
    const ink = parse(node.closest("svg") ? style.fill : style.color);
    const front = over([...ink.slice(0, 3), (ink[3] ?? 1) * opacity(node)], below);
    const [a, b] = [luminance(front), luminance(below)].sort((x, y) => y - x);
    found.push([words, (a + 0.05) / (b + 0.05)]);
  }
}
return found;
"""


@pytest.mark.parametrize("case", ["6", "30"])
def test_contrast_of_every_label(opened, case):
    page = opened(case, sections=CHOICE)
    page.execute_script("toggleModel(candidates[2].j)")
    for scheme in ("light", "dark"):
        surround(page, scheme)
        wait_until(lambda: page.execute_script("return document.documentElement.dataset.theme") == scheme)  # noqa: B023
        page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        found = page.execute_script(CONTRASTS)
        assert len(found) > 200
        assert [(text, ratio) for text, ratio in found if ratio < 4.5] == []
        assert any(text == "vacuous" for text, _ in found)
        assert any(text.startswith("E 0") for text, _ in found)


def data_rows(page, chart):
    """Rows of the data of a chart: the name and the numbers in the cells."""
    return page.execute_script(
        "const holder = document.getElementById(arguments[0]).closest('figure, .slider').querySelector('.chart-data');"
        "holder.open = true; holder.dispatchEvent(new Event('toggle'));"
        "return [...holder.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent));",
        chart,
    )


def test_data_of_the_charts_are_those_of_the_payload(opened, assays):
    page, a = opened("6"), assays["6"]
    for place in (3, 12):
        at = page.execute_script("setIndex(arguments[0]); return lambda()", place)
        page.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        ranked = [r.model for r in a.ranked(at)]
        means = {m.name: [m.columns[key].mean() for key in ("distance", "nonspecificity")] for m in a.candidates}
        rows = data_rows(page, "plane")
        assert [row[0] for row in rows] == [name for name in ranked if name in means]
        for name, n, *cells in rows:
            assert n == "150"
            assert [float(cell[:5]) for cell in cells] == pytest.approx(means[name], abs=5.1e-4)
        rows = data_rows(page, "lines")
        heads = page.execute_script(
            "const heads = [...document.querySelectorAll('#lines ~ .chart-data th')];"
            "return heads.slice(1).map((h) => Number(h.textContent.slice(4)));"
        )
        assert at in heads
        assert [row[0] for row in rows] == ranked
        estimates = {r.model: float(r.estimate) for r in a.ranked(at)}
        for name, *cells in rows:
            assert float(cells[heads.index(at)][:5]) == pytest.approx(estimates[name], abs=5.1e-4)
        shares = {r.model: r.win_share for r in a.ranked(at)}
        for name, *cells in data_rows(page, "strip"):
            assert share_of_draws(shares[name], 20) == cells[heads.index(at)]
    correct = {m.name: int(m.columns["correct"].sum()) for m in a.candidates}
    for name, n, mean, *_ in data_rows(page, "ridge-distance"):
        m = a[name]
        assert int(n) == correct[name]
        assert float(mean) == pytest.approx(m.columns["distance"][m.columns["correct"] == 1].mean(), abs=5.1e-4)
    means = data_rows(page, "entropy-confidence")
    assert sum(int(row[3]) for row in means if row[0] == "SWAG") == 150

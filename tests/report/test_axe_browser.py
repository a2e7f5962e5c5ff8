"""Accessibility of every kind of page: the rules of axe-core, contrasts of pictures, the keyboard, other surroundings."""

import importlib.util
from pathlib import Path

import pytest
from tests.conftest import skip_or_fail
from tests.report.accessible_pages import PAGES
from tests.report.html_pages import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.browser, pytest.mark.usefixtures("coarse_pages")]

# Of the points of a mark, which are shapes with the same attributes, the first three are judged.
SEVERE = """
const more = [...document.querySelectorAll('.points')].map((mark) => [mark, [...mark.children].slice(3)]);
for (const [, points] of more) for (const point of points) point.remove();
const back = () => more.forEach(([mark, points]) => mark.append(...points));
return axe.run(arguments[0] ?? document, arguments[1]).then((r) => r.violations).finally(back);
"""
CONTRAST = "color-contrast"
# the rules on by default, with those of good practice; this one is off by default
MORE = {"label-content-name-mismatch": {"enabled": True}}


@pytest.fixture(scope="module")
def rules():
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None:
        skip_or_fail("axe-playwright-python, which holds axe-core, is not installed")
    return (Path(found.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=PAGES)
def name(request):
    """The page that a test is about; all tests of a page follow each other, so that it is loaded once."""
    return request.param


@pytest.fixture(scope="module")
def show(driver, coarse_pages, tmp_path_factory):
    """Shows a page in other surroundings, loaded anew only if another one was shown before."""
    folder = tmp_path_factory.mktemp("pages")
    seen = []

    def shown(name, *, width=1400, scheme="light", **features):
        path, wanted = folder / f"{name}.html", [width, scheme, features]
        if not path.exists():
            path.write_text(PAGES[name](), encoding="utf-8")
        surround(driver, width, scheme, **features)
        if driver.current_url != path.as_uri():
            opened(driver, path.as_uri(), width=width, scheme=scheme, **features)
            driver.execute_script(THINNED)
        elif seen != wanted:
            driver.execute_async_script(SETTLED)
            driver.execute_script(THINNED)
        seen[:] = wanted
        driver.execute_script("document.querySelectorAll('dialog[open]').forEach((one) => one.close())")
        assert driver.execute_script("return [innerWidth, document.documentElement.dataset.theme]") == [width, scheme]
        return driver

    return shown


# A page waits 120 ms for the last width.
SETTLED = "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(arguments[0], 200)))"

# Of the rows of a table that have the same elements with the same attributes and classes, and texts at the same places, the
# first two and the last stay. In place of the others, with nine tenths of the elements of a page, is one empty row as high as
# they were, so that what scrolls still does.
THINNED = """
const look = (n) => [n.tagName, n.getAttributeNames(), n.getAttribute('class'), n.id, /\\S/.test(n.textContent)].join(' ');
const alike = [...document.querySelectorAll('tbody')].map((body) => {
  const kinds = new Map();
  for (const row of body.rows) {
    const kind = [row, ...row.querySelectorAll('*')].map(look).join();
    kinds.set(kind, [...(kinds.get(kind) ?? []), row]);
  }
  return [...kinds.values()].flatMap((rows) => rows.slice(2, -1));
});
const heights = alike.map((rows) => rows.reduce((sum, row) => sum + row.offsetHeight, 0));
for (const [k, [empty, ...others]] of alike.entries()) {
  if (!empty) continue;
  for (const row of others) row.remove();
  empty.replaceChildren();
  empty.style.height = `${heights[k]}px`;
}
"""


def surround(driver, width, scheme, **features):
    media = {"prefers-color-scheme": scheme, **{name.replace("_", "-"): value for name, value in features.items()}}
    wanted = [{"name": name, "value": value} for name, value in media.items()]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": wanted})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def opened(driver, address, *, width=1400, scheme="light", **features):
    """A page, loaded, with everything opened: sections, data of charts, lists. It remembers what listens for clicks."""
    surround(driver, width, scheme, **features)
    driver.set_script_timeout(300)
    added = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": CLICKED})
    driver.get("about:blank")
    driver.get(address)
    driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    ready = "return document.documentElement.dataset.ready === 'yes' || !document.getElementById('packed')"
    wait_until(lambda: driver.execute_script(ready))
    driver.execute_script(
        "if (typeof sections === 'function') sections().forEach(openSection);"
        "document.querySelectorAll('details').forEach((d) => { d.open = true; });"
    )
    filled = "return [...document.querySelectorAll('.chart-data')].every((d) => d.hidden || d.querySelector('td'))"
    wait_until(lambda: driver.execute_script(filled))
    return driver


CLICKED = """
window.clicked = new Set();
const listen = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (type, ...rest) {
  if (type === 'click') window.clicked.add(this);
  return listen.call(this, type, ...rest);
};
"""


def violations(driver, rules, where="html", **more):
    if not driver.execute_script("return 'axe' in window"):
        driver.execute_script(rules)
    options = {"resultTypes": ["violations"], "rules": {**MORE, CONTRAST: {"enabled": False}, **more}}
    found = driver.execute_script(SEVERE, None if where == "html" else where, options)
    return [(rule["id"], node["html"][:200]) for rule in found for node in rule["nodes"]]


# -- axe-core -----------------------------------------------------------------------------------------------------------


WIDE = ("six", "gain")  # judged in a wide window too, as "two" is with a dialog


def test_no_rule_of_axe_is_violated(show, name, rules):
    for width in (400, 1400) if name in WIDE else (400,):
        assert violations(show(name, width=width), rules) == []


def test_no_rule_of_axe_is_violated_in_a_dialog(show, name, rules):
    driver = show(name)
    if not driver.execute_script("return Boolean(document.getElementById('definition'))"):
        pytest.skip("a page without definitions")
    driver.execute_script("document.querySelector('button.what').click()")
    assert driver.execute_script("return document.getElementById('definition').open")
    # what is around a dialog is the same on all pages
    where = "html" if name == "two" else "#definition"
    assert violations(driver, rules, where) == []
    judged, poor = driver.execute_script(CONTRASTS, "#definition *")  # axe does not judge texts that others are near to
    assert judged >= 3
    assert poor == []


def test_the_rules_find_what_is_wrong(driver, rules, tmp_path):
    path = tmp_path / "wrong.html"
    words = '<button aria-label="go">stop</button><table><tr><th scope="col"></th></tr><tr><td>1</td></tr></table>'
    path.write_text(f'<html lang="en"><title>t</title><main><h1>t</h1><p style="color: #999">pale</p>{words}', "utf-8")
    found = {rule for rule, _ in violations(opened(driver, path.as_uri()), rules, **{CONTRAST: {"enabled": True}})}
    assert found == {"color-contrast", "empty-table-header", "label-content-name-mismatch"}


# -- contrast -----------------------------------------------------------------------------------------------------------

# Texts whose colour and background are less than 4.5 : 1 apart, in pictures too, which axe leaves out. The background is
# what lies below the middle of the text: the halo of a letter, shapes with their opacity, elements. Of equal texts the first
# ones are judged.
CONTRASTS = """
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const known = new Map();
function rgba(colour) {
  if (!known.has(colour)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    known.set(colour, [r, g, b, a / 255]);
  }
  return known.get(colour);
}
const over = ([r, g, b, a], below) => [r, g, b].map((v, i) => a * v + (1 - a) * below[i]);
const part = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
function contrast(a, b) {
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
function face(node) {
  const style = getComputedStyle(node);
  const drawn = node instanceof SVGGraphicsElement && !(node instanceof SVGSVGElement);
  if (drawn && style.fill === 'none') return null;
  const [r, g, b, a] = rgba(drawn ? style.fill : style.backgroundColor);
  return [r, g, b, a * (drawn ? Number(style.fillOpacity) : 1) * Number(style.opacity)];
}
const page = rgba(getComputedStyle(document.body).backgroundColor);
const poor = [];
let judged = 0;
const words = (node) => [...node.childNodes].some((n) => n.nodeType === 3 && /[\\p{L}\\p{N}]/u.test(n.data));
const out = '.visually-hidden, .skip, script, style, option, :disabled';
const kinds = new Map();
function kindOf(node) {
  const up = [node, node.parentElement, node.parentElement.parentElement].map((n) => `${n.tagName}.${n.getAttribute('class')}`);
  return [...up, node.getAttribute('style'), node.closest('section, details.section')?.id].join();
}
function first(node) {
  const kind = kindOf(node);
  kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return kinds.get(kind) <= (node instanceof SVGElement ? 40 : 4);
}
const readable = (n) => words(n) && !n.closest(out) && n.checkVisibility() && first(n);
const texts = [...document.querySelectorAll(arguments[0] ?? 'body *')].filter(readable);
const places = texts.map((n) => n.getBoundingClientRect()).map((b) => [b.x + b.width / 2, b.y + b.height / 2 + scrollY]);
document.documentElement.style.scrollBehavior = 'auto'; // what is scrolled to is there at once
for (const k of texts.keys()) {
  const [node, [x, height]] = [texts[k], places[k]];
  if (height < scrollY + 60 || height > scrollY + innerHeight - 20) scrollTo(0, height - 80);
  const y = height - scrollY;
  const stack = document.elementsFromPoint(x, y);
  const at = stack.indexOf(node);
  if (at < 0 || stack.some((other) => other.tagName === 'image')) continue;
  const style = getComputedStyle(node);
  const inPicture = node instanceof SVGElement;
  let below = page;
  for (const other of stack.slice(at + (inPicture ? 1 : 0)).reverse()) {
    const colour = face(other);
    if (colour && !(other instanceof SVGTextElement)) below = over(colour, below);
  }
  if (inPicture && style.paintOrder.startsWith('stroke')) below = over(rgba(style.stroke), below);
  let opacity = 1;
  for (let up = node; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
  const [r, g, b, a] = rgba(inPicture ? style.fill : style.color);
  const ratio = contrast(over([r, g, b, a * opacity], below), below);
  judged += 1;
  if (ratio < 4.5) poor.push([node.textContent.slice(0, 40), node.outerHTML.slice(0, 120), Number(ratio.toFixed(2))]);
}
document.documentElement.style.scrollBehavior = '';
return [judged, poor];
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(show, name, scheme):
    judged, poor = show(name, scheme=scheme).execute_script(CONTRASTS)
    assert judged > 60
    assert poor == []


def test_a_pale_text_is_found(driver, tmp_path):
    path = tmp_path / "pale.html"
    path.write_text(
        '<body style="background: #fff"><p style="color: #999">pale</p><p style="color: #444">ink</p><svg height="40">'
        '<rect width="90" height="40" fill="#0072B2" fill-opacity=".5"/><text x="5" y="20" fill="#0072B2">bar</text></svg>',
        encoding="utf-8",
    )
    judged, poor = driver.execute_script(CONTRASTS) if driver.get(path.as_uri()) is None else (0, [])
    assert judged == 3
    assert [text for text, _, _ in poor] == ["pale", "bar"]


# -- keyboard -----------------------------------------------------------------------------------------------------------

FOCUSABLE = "button, a[href], input, select, summary, [tabindex='0']"


@pytest.mark.parametrize("scheme", ["dark", "light"])  # the page is dark already
def test_the_focus_is_visible(show, name, scheme):
    unseen = show(name, scheme=scheme).execute_script(
        "const seen = new Set();"
        "return [...document.querySelectorAll(arguments[0])].filter((n) => {"
        "  const kind = `${n.tagName}.${n.className}.${n.type ?? ''}`;"
        "  if (seen.has(kind) || n.disabled || !n.checkVisibility()) return false;"
        "  seen.add(kind);"
        "  n.focus({ focusVisible: true, preventScroll: true });"
        "  const { outlineStyle, outlineWidth } = getComputedStyle(n);"
        "  return document.activeElement !== n || outlineStyle === 'none' || parseFloat(outlineWidth) < 2;"
        "}).map((n) => n.outerHTML.slice(0, 120));",
        FOCUSABLE,
    )
    assert unseen == []


def test_what_reacts_to_a_click_is_reached_by_the_keyboard(show, name):
    lost = show(name).execute_script(
        "const heard = [...window.clicked].filter((n) => n instanceof Element && n.isConnected);"
        # a picture listens for all of its points; its chart is in the order of the keyboard where one does something
        "const own = (n) => n.closest('.drawn') ? !pictures.get(n.closest('.chart')).marks.some((m) => m.pick)"
        "  || n.closest('.chart').matches('[tabindex=\"0\"]') : n.matches(arguments[0]);"
        "return [heard.length, heard.filter((n) => !own(n)).map((n) => n.outerHTML.slice(0, 120))];",
        FOCUSABLE,
    )
    assert lost[0] >= 2
    assert lost[1] == []


@pytest.fixture(scope="module")
def address(coarse_pages, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(PAGES["two"](), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def report(driver, address):
    """A page with all of its rows, as the last test left it."""
    if driver.current_url != address:
        opened(driver, address)


def press(driver, *keys):
    for key in keys:
        driver.switch_to.active_element.send_keys(key)


ENTER, ESCAPE, RIGHT, UP = "\ue007", "\ue00c", "\ue014", "\ue013"


@pytest.mark.parametrize("close", ["escape", "button"])
@pytest.mark.usefixtures("report")
def test_a_dialog_gives_the_focus_back(driver, close):
    driver.execute_script("document.querySelectorAll('button.what')[3].focus()")
    asked = driver.switch_to.active_element
    press(driver, ENTER)
    assert driver.execute_script("return document.getElementById('definition').contains(document.activeElement)")
    press(driver, ESCAPE if close == "escape" else ENTER)
    assert not driver.execute_script("return document.getElementById('definition').open")
    assert driver.switch_to.active_element == asked


@pytest.mark.usefixtures("report")
def test_points_that_open_an_instance_are_walked_with_the_arrow_keys(driver):
    chart = "document.getElementById('entropy-confidence')"
    driver.execute_script(f"{chart}.focus()")
    assert "Enter opens the case" in driver.execute_script(f"return {chart}.ariaLabel")
    told = []
    for key in (RIGHT, RIGHT, UP):
        press(driver, key)
        told.append(driver.execute_script(f"return {chart}.querySelector('.tip:not([hidden])').textContent"))
    assert len(set(told)) == 3
    assert all("case" in text for text in told)
    press(driver, ENTER)
    instance = told[-1].split("case ")[1].split("confidence")[0]
    assert driver.execute_script("return document.activeElement.id") == "picked"
    assert driver.switch_to.active_element.text.startswith(f"Case {instance}")
    assert driver.execute_script(f"return {chart}.querySelector('.tip').hidden")


# -- data of charts -----------------------------------------------------------------------------------------------------


def test_every_chart_has_its_data_as_a_table(show, name):
    without = show(name).execute_script(
        "return [...document.querySelectorAll('figure')].filter((f) => {"
        "  if (!f.checkVisibility() || !f.querySelector('.drawn') || f.closest('#expected')) return false;"
        "  const data = f.querySelector('.chart-data:not([hidden])');"
        "  return !data || data.querySelectorAll('tbody tr').length < 1;"
        "}).map((f) => f.textContent.slice(0, 80));"
    )
    assert without == []


# -- surroundings -------------------------------------------------------------------------------------------------------


def test_nothing_moves_for_who_wants_no_motion(show, name):
    moving = (
        "return [getComputedStyle(document.documentElement).scrollBehavior, [...document.querySelectorAll('*')].filter((n) => {"
        "  const { animationName, transitionDuration } = getComputedStyle(n);"
        "  return animationName !== 'none' || transitionDuration.split(',').some((t) => parseFloat(t) > 0);"
        "}).length]"
    )
    assert show(name, prefers_reduced_motion="reduce").execute_script(moving) == ["auto", 0]
    assert show(name, prefers_reduced_motion="no-preference").execute_script(moving)[0] == "smooth"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_that_tell_models_apart_stay_where_the_system_forces_its_own(show, scheme):
    driver = show("six", scheme=scheme, forced_colors="active")
    assert driver.execute_script("return matchMedia('(forced-colors: active)').matches")
    colours = driver.execute_script(
        "return [...document.querySelectorAll('#ranking tbody .swatch:not(.open)')].map((n) =>"
        " getComputedStyle(n).backgroundColor)"
    )
    assert len(set(colours)) == len(colours) == 6
    pressed = driver.execute_script(
        "return ['true', 'false'].map((is) => getComputedStyle(document.querySelector("
        "`.segmented [aria-pressed=${is}]`)).backgroundColor)"
    )
    assert pressed[0] != pressed[1]

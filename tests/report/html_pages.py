"""Pages as a parser reads them."""

import base64
import json
import time
import zlib
from html.parser import HTMLParser

VOID = ("meta", "img", "br", "hr", "link", "input")


class ParsedPage(HTMLParser):
    """Every start tag with its attributes, the visible text, and other text by the id or tag of its element.

    A page that does not close its tags is refused.
    """

    def __init__(self, markup):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.held, self._visible = [], [], {}, []
        self.feed(markup)
        self.close()
        assert self.open == []

    @property
    def payload(self):
        text = self.held["payload"]
        if text.startswith("{"):
            return json.loads(text)
        main, lenses = (
            json.loads(zlib.decompress(base64.b64decode(self.held[part]))) for part in ("payload", "lenses")
        )
        return main | {"lenses": lenses}

    @property
    def instances(self):
        return json.loads(self.held["packed"])

    @property
    def text(self):
        return "".join(self._visible).replace("\u00a0", " ")

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style", "title"):
            name = self.tags[-1][1].get("id", self.open[-1])
            self.held[name] = self.held.get(name, "") + data
        else:
            self._visible.append(data)


def makes_no_markup(page, *, scripts):
    """Whether names and labels of the data made no element, no script and no handler."""
    handlers = [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    return (
        all(tag != "img" for tag, _ in page.tags)
        and not handlers
        and sum(t == "script" for t, _ in page.tags) == scripts
    )


def wait_until(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the page did not get there"
        time.sleep(0.05)


def open_all(browser):
    """Wait until a page is ready, and open all of its sections."""
    wait_until(lambda: browser.execute_script("return document.documentElement.dataset.ready") == "yes")
    browser.execute_script("sections().forEach(openSection)")


def open_once(browser, address):
    """Open a page with all of its sections, unless it is open already. A page that is loaded again is another one."""
    browser.get_log("browser")  # forget what came before
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    if not browser.execute_script("return document.documentElement.dataset.opened === arguments[0]", address):
        browser.get("about:blank")
        browser.get(address)
        open_all(browser)
        browser.execute_script("document.documentElement.dataset.opened = arguments[0]", address)

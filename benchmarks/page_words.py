"""Words that a reader meets on an opened page, section by section: without data, and with it.

    python benchmarks/page_words.py                     six models x 900 cases
    python benchmarks/page_words.py --page report.html  a page that is there already

Needs selenium, chromium and chromedriver. Every <details> is open. A word has two letters in a row. The cells of table bodies,
the texts of charts, code, hashes and the choices of a field are data, and so are the names of models; sentences, captions,
headings, heads of tables and labels of buttons are words.
"""

import argparse
import tempfile
from pathlib import Path

from benchmarks.bench_page import browser, load, written

SHAPE = "6 x 900 x 10 x 10"
COUNT = """
const [names] = arguments;
const data = "tbody td, tbody th[scope=row], svg, code, pre, script, style, select, .hash, .tip, .chips, .visually-hidden";
for (const node of document.querySelectorAll("details")) node.open = true;
const words = (root, apart) => {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  let n = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (parent.closest(apart) || !parent.checkVisibility({ visibilityProperty: true })) continue;
    let text = node.data;
    for (const name of names) text = text.replaceAll(name, " ");
    n += (text.match(/\\p{L}{2,}[\\p{L}\\p{M}’'-]*/gu) ?? []).length;
  }
  return n;
};
const parts = [...document.querySelectorAll("main > section, main > details, main section > details")];
const both = (root) => [words(root, data), words(root, "script, style")];
return [...parts.map((part) => [part.id, ...both(part)]), ["all", ...both(document.body)]];
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.page or Path(folder) / "page.html"
        if given.page is None:
            written(SHAPE, path)
        driver = browser(f"{folder}/profile")
        try:
            load(driver, path.resolve().as_uri())
            driver.execute_script("sections().forEach(openSection)")
            driver.execute_async_script(
                "const done = arguments[0];"
                "for (const d of document.querySelectorAll('details')) d.open = true; setTimeout(done, 1500);"
            )
            names = driver.execute_script("return page.models.map((m) => m.name).filter((n) => n.length > 1)")
            found = driver.execute_script(COUNT, names)
        finally:
            driver.quit()
    for part, n, with_data in found:
        print(f"{n:7,} {with_data:7,} {part}")


if __name__ == "__main__":
    main()

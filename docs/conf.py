"""How Sphinx renders the guide: ``make guide`` writes it to docs/build/html, and a warning fails.

Pages are Markdown that reads well in the repository, too. Their order in the rendered guide is that of the tables on index.md:
each heading there with a table of pages becomes a group in the navigation. ``make links`` asks the network whether external
links lead somewhere.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

import uqassay

project = "uqassay"
author = project_copyright = "the authors of uqassay"
version = release = uqassay.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc", "sphinx_copybutton"]
exclude_patterns = ["build", "results"]
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r".*")]  # docstrings put values and parameters in backticks, too

html_theme = "furo"
html_theme_options = {"top_of_page_buttons": []}  # no link to the source text of a page
html_title = "uqassay"
html_static_path = ["static"]
html_css_files = ["guide.css"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
linkcheck_timeout = 30
linkcheck_workers = 2
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 600  # seconds a cell; for a busy machine
nb_execution_raise_on_error = True

autodoc_member_order = "alphabetical"
autodoc_typehints = "none"  # the docstrings name types and shapes
numpydoc_show_class_members = False
default_role = "py:obj"  # `Name` in a docstring is a link where the name is documented

GROUP = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
LAST_BLANK = re.compile(r"\n(?=\n```$)", re.MULTILINE)
OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")
PAGE = re.compile(r"^\| \[[^\]]*\]\(([\w/-]+)\.(?:md|rst|ipynb)\)", re.MULTILINE)


def with_navigation(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append to the index one hidden table of contents for each heading whose table lists pages."""
    if docname != "index":
        return
    for heading, text in GROUP.findall(source[0]):
        pages = PAGE.findall(text)
        if pages:
            source[0] += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```", ""])


def as_rendered(app: Sphinx, docname: str, source: list[str]) -> None:
    """Drop the blank line that ends a doctest inside a code block, and links to files that are not rendered."""
    source[0] = LAST_BLANK.sub("", source[0])
    if "/" not in docname:
        source[0] = OUTSIDE.sub(r"\1", source[0])


def with_plain_bars(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Keep the bars of |x| in docstrings, outside examples and literals: reStructuredText takes them for a substitution."""
    in_example = False
    for row, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            parts = line.split("``")
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[row] = "``".join(parts)


def with_picture(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Show the picture of a figure function below its description."""
    picture = f"pictures/figures/{name.rpartition('.')[2]}.png"
    if (Path(__file__).parent / picture).is_file():
        lines += ["", f".. image:: /{picture}", "   :alt: The picture of this function in the gallery of figures", ""]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", with_navigation)
    app.connect("source-read", as_rendered)
    app.connect("autodoc-process-docstring", with_plain_bars, priority=900)  # after numpydoc
    app.connect("autodoc-process-docstring", with_picture, priority=901)

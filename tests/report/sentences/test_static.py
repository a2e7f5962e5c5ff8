"""Fixed text that the pages share; tests/report/test_static_page checks it as part of each page."""

import re

from tests.report.static_cases import STATIC_CASES

from uqassay.report.markup import page_file
from uqassay.report.study_sentences import static_text


def test_it_is_part_of_every_page():
    assert all(static_text().items() <= case.words().items() for case in STATIC_CASES.values())


def test_every_word_of_the_frame_is_there():
    own = set(re.findall(r"\{\{text\.([\w-]+)\}\}", page_file("static_page.html")))
    assert own - set(static_text()) == {"heading", "brand"}

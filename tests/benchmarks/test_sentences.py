"""The page of all sentences is what the code says now."""

from benchmarks.sentences import PAGE, page, sentences


def test_the_page_has_every_template_of_the_code():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_templates_are_found_in_the_code(monkeypatch):
    monkeypatch.setattr(
        "benchmarks.sentences.examples", lambda: iter(["Worse than a: b by 0.1 (p = .01, adjusted for all pairs)."])
    )
    found = {one.template: one.example for one in sentences()}
    assert found["worse than …: … (…, adjusted for all pairs)"].startswith("Worse than a: b")
    assert found["… could be as good"] == ""
    assert not any(template.isidentifier() or "{" in template for template in found)

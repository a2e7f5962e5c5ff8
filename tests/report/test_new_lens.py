"""A new lens is one file and one entry: it is then on the page, in the terminal, in Markdown and among the claims."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
from tests.report.cases import ranked_assay

import uqassay as uq
from uqassay.cli.fail_if import markdown_summary
from uqassay.cli.report import print_report
from uqassay.evidence import lens as lens_module
from uqassay.evidence.claims import Claim
from uqassay.evidence.lens import LENSES, Lens
from uqassay.report.page import lens_sections, render
from uqassay.results import Shown, ShownCell, ShownRow, ShownTable


@dataclass(frozen=True, repr=False)
class Sureness(Shown):
    """How sure each model is, on average."""

    confidence: dict[str, float]

    def _shown_title(self):
        return f"Mean confidence of {len(self.confidence)} models"

    def _shown_sentences(self):
        surest = max(self.confidence, key=self.confidence.get)
        return [f"{surest} is the surest.", "Sureness is <no> virtue."]

    def _shown_table(self):
        rows = [ShownRow((ShownCell(name), ShownCell(f"{value:.3f}"))) for name, value in self.confidence.items()]
        return ShownTable(("model", "confidence"), tuple(rows), "Mean of the greatest probability.")

    def _shown_notes(self):
        return ["A toy."]


def measured(assay):
    found = {m.name: float(m.columns["confidence"].mean()) for m in assay.candidates if m.predicts_classes}
    return Sureness(found) if found else None


def claims(assay):
    found = measured(assay)
    surest = max(found.confidence, key=found.confidence.get)
    return (Claim("surest", (surest,), facts={"confidence": found.confidence[surest]}),)


def figures(found):
    return {
        "Confidence of each model": lambda ax: ax.bar(range(len(found.confidence)), list(found.confidence.values()))
    }


TOY = Lens("sureness", "How sure is it?", "Sureness", measure=measured, claims=claims, figures=figures)


@pytest.fixture
def assay(monkeypatch):
    monkeypatch.setattr(lens_module, "LENSES", (*LENSES, TOY))  # the one entry
    return ranked_assay(n=60)


@pytest.fixture
def surest(assay):
    return max(measured(assay).confidence, key=measured(assay).confidence.get)


def test_a_new_lens_is_on_the_page(assay, surest):
    page = render(assay)
    assert '<a href="#lens-sureness">Sureness</a>' in page
    section = re.search(r'<details class="section" id="lens-sureness".*?</details>', page, re.DOTALL)[0]
    assert "How sure is it?" in section
    assert f"{surest} is the surest." in section
    assert "Sureness is &lt;no&gt; virtue." in section
    for value in measured(assay).confidence.values():
        assert f">{value:.3f}</td>" in section
    assert "<h3>Confidence of each model</h3>" in section
    assert re.search(r'<svg class="drawn".*aria-label="Confidence of each model"', section)
    assert lens_sections(assay)[-1]["finding"] == f"{surest} is the surest."


def test_a_new_lens_is_in_the_terminal(assay, surest, capsys):
    print_report(assay)
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("How sure is it?")
    assert lines[at + 1] == f"{surest} is the surest."
    for name, value in measured(assay).confidence.items():
        assert any(re.fullmatch(rf" *{re.escape(name)} +{value:.3f}", line) for line in lines[at:])
    assert "Note: A toy." in lines[at:]


def test_a_new_lens_is_in_markdown(assay, surest):
    for text in (assay.to_markdown(), markdown_summary(assay, ())):
        assert f"### How sure is it?\n\n**{surest} is the surest.**" in text
        for name, value in measured(assay).confidence.items():
            assert f"| {name} | {value:.3f} |" in text


def test_a_new_lens_claims(assay, surest):
    kinds = [claim.kind for claim in assay.claims()]
    assert kinds.index("surest") == len(kinds) - 1
    row = assay.rows("claims")[-1]
    assert (row["models"], row["facts"]) == ((surest,), {"confidence": measured(assay).confidence[surest]})


def test_a_lens_without_a_result_is_absent(monkeypatch, capsys):
    sets = uq.assay({"m": uq.ClassSets(np.ones((8, 3), dtype=bool))}, np.zeros(8, int), n_draws=5)
    monkeypatch.setattr(
        lens_module, "LENSES", (*LENSES, Lens("sureness", "How sure is it?", "Sureness", measure=measured))
    )
    print_report(sets)
    assert "How sure is it?" not in capsys.readouterr().out + render(sets) + sets.to_markdown()

"""Tables 4, 5 and 6 and Figures 6 to 10 on made predictions, against the losses and the printed values."""

import csv
import math
from dataclasses import replace
from importlib import resources

import numpy as np
import pytest
from tests.lab.papers.unified.made import assays, made, whole_set

import uqassay as uq
from uqassay.lab.papers.unified import figures as ablation_figures
from uqassay.lab.papers.unified.figures import (
    draw_distances,
    draw_mean_e,
    draw_measures,
    draw_scatter,
    mean_terms,
    scattered,
)
from uqassay.lab.papers.unified.judging import judge_predictions
from uqassay.lab.papers.unified.printed import PrintedData, printed_beside
from uqassay.lab.papers.unified.tables import ablation_cells, ablation_lines, claim_lines, ranked_means

POINTS = ("SNN", "LB-BNN Avg", "DE Avg", "DDU")
SETS = ("LB-BNN", "DE", "EDL", "CreINN", "E-CNN", "RS-NN")


def csv_rows(name):
    path = resources.files("uqassay.lab.papers") / "printed" / f"{name}.csv"
    with path.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture(scope="module")
def cells():
    return {cell.name: cell for cell in ablation_cells(whole_set()[2], PrintedData())}


def mean_losses(convention, **options):
    """Mean distance and NS of every model by one call of the loss for each run."""
    said, y, _ = whole_set()
    if convention == "paper":
        sets = said["RS-NN"][0].focal_sets
        options |= {"convention": "paper", "focal_sets": sets[~sets.all(axis=1)]}
    runs = dict(said) | {f"{name} Avg": [uq.Point(run.mean_probs()) for run in said[name]] for name in ("LB-BNN", "DE")}
    found = {}
    for name, of_model in runs.items():
        of_model = [uq.Dirichlet(run.alpha, n_draws=30) if isinstance(run, uq.Dirichlet) else run for run in of_model]
        if name == "EDL" and convention == "paper":
            of_model = [uq.Dirichlet(run.alpha, n_draws=30, unit_concentration=True) for run in of_model]
        losses = [uq.losses.unified_loss(y, run, **options) for run in of_model]
        found[name] = tuple(
            float(np.mean([getattr(loss, term) for loss in losses])) for term in ("distance", "nonspecificity")
        )
    return found


@pytest.mark.parametrize("convention", ["exact", "paper"])
@pytest.mark.parametrize("column", ["KL", "JS", "CU"])
def test_mean_e_and_rank_against_the_loss(cells, convention, column):
    distance = {"exact": "js", "paper": "js_distance"}[convention] if column == "JS" else "kl"
    ns = "credal-uncertainty-box" if column == "CU" else "hartley"
    terms = mean_losses(convention, distance=distance, nonspecificity=ns)
    table = "table6" if column == "CU" else "table5"
    for tradeoff in (0.1, 0.4, 1.0):
        place = f"{table}/made/{convention}/{column}/lambda={tradeoff}"
        e = {name: d + (0.0 if name in POINTS else tradeoff * n) for name, (d, n) in terms.items()}
        for rank, name in enumerate(sorted(e, key=e.get), start=1):
            assert cells[f"{place}/{name}/rank"].ours == rank
            assert cells[f"{place}/{name}/e"].ours == pytest.approx(e[name], abs=1e-9)
            assert cells[f"{place}/{name}/e"].low < e[name] < cells[f"{place}/{name}/e"].high


def test_every_cell_of_the_printed_tables_has_a_row(cells):
    table5, table6 = (csv_rows(f"unified_table{name}") for name in ("5_cifar10_kl_vs_js", "6_cifar10_ns_vs_cu"))
    for convention in ("exact", "paper"):
        for table, column, rows in (("table5", "distance", table5), ("table6", "nonspecificity", table6)):
            for row in rows:
                place = f"{table}/made/{convention}/{row[column]}/lambda={row['tradeoff']}/{row['model']}"
                assert cells[f"{place}/rank"].paper == float(row["rank"])
                assert cells[f"{place}/e"].paper == float(row["e_mean"])
        for row in csv_rows("unified_table4_vertices_4class"):
            for part in ("correct", "incorrect"):
                for term in ("kl", "ns", "e"):
                    name = f"table4/made/{convention}/{row['model']}/{row['vertices']}/{part}/{term}"
                    assert cells[name].paper == float(row[f"{term}_{part}_mean"])
    assert len(cells) == 2 * (2 * len(table5) + 2 * len(table6) + 2 * 2 * 2 * 3)
    note = cells["table5/made/exact/JS/lambda=0.1/DE/e"].note
    assert note == "context only: the paper's 0.053 is of CIFAR-10, another data set"


def test_table_4_has_one_ns_and_the_loss_of_four_classes(cells):
    said, y, judged = whole_set()
    rows = np.flatnonzero(y < 4)
    for part in ("correct", "incorrect"):
        for convention in ("exact", "paper"):
            place = f"table4/made/{convention}/DE"
            one, other = (cells[f"{place}/{choice}/{part}/ns"] for choice in ("approximated", "naive"))
            assert one.ours == other.ours
            runs = [run.probs[rows][:, :, :4] for run in said["DE"]]
            runs = [uq.Members(p / p.sum(axis=2, keepdims=True)) for p in runs]
            values = []
            for run in runs:
                loss = uq.losses.unified_loss(y[rows], run, tradeoff=1.0, convention=convention)
                hit = run.labels() == y[rows]
                values += loss.total[hit if part == "correct" else ~hit].tolist()
            assert cells[f"{place}/approximated/{part}/e"].ours == pytest.approx(np.mean(values), abs=1e-9)
    assert judged.four_classes.classes == (0, 1, 2, 3)


def test_only_the_papers_own_data_in_its_convention_are_compared():
    judged = whole_set()[2]
    compared = ablation_cells(judged, printed_beside("cifar-10", compared=True, differences="smaller images"))
    found = {cell.name: cell for cell in compared if cell.agrees is not None}
    assert {name.split("/")[2] for name in found} == {"paper"}
    assert {name.split("/")[0] for name in found} == {"table5", "table6"}  # the four classes of Table 4 are not named
    assert not any(name.endswith("rank") for name in found)
    assert {cell.note for cell in found.values() if cell.agrees is False} == {"smaller images"}
    other = ablation_cells(judged, printed_beside("mnist", compared=True))
    assert all(cell.agrees is None for cell in other)


def test_undefined_credal_uncertainty_is_last_and_named():
    y = np.array([0, 1, 0, 1] * 5)
    sets = np.array([[1, 0], [0, 1], [1, 1]], dtype=bool)
    masses = np.tile([0.0, 0.0, 1.0], (20, 1))
    masses[1:] = [0.6, 0.1, 0.3]
    said = {"E-CNN": [uq.Masses(masses, sets)], "SNN": [uq.Point(np.full((20, 2), 0.5))]}
    judged = judge_predictions("two", said, y, np.array([1, 1]))
    order = ranked_means(judged.credal_uncertainty["paper"], judged.undefined["paper"])[0.1]
    assert [name for name, _ in order] == ["SNN", "E-CNN"]
    assert math.isnan(order[1][1].mean)
    cells = {cell.name: cell for cell in ablation_cells(judged, PrintedData())}
    assert math.isnan(cells["table6/two/paper/CU/lambda=0.1/E-CNN/rank"].ours)
    assert not any(name.startswith("table4") for name in cells)  # neither LB-BNN nor DE
    text = "\n".join(ablation_lines(judged))
    assert "CU is undefined where all lower probabilities are 0, so no mean is given for E-CNN (1)" in text


def test_text_has_the_means_and_the_findings_on_vertices(cells):
    lines = ablation_lines(whole_set()[2])
    assert lines[0].startswith("Table 4, made, classes air, bird, cat and deer, ")
    kl = cells["table4/made/paper/DE/naive/correct/kl"].ours
    row = next(line for line in lines if line.startswith("  DE, naive, paper's convention"))
    assert f"{kl:.3f} [" in row
    both = "exact, no difference beyond rounding; paper's convention, no difference beyond rounding"
    assert f"  and one of the 8 gives as much, so that KL is the same too ({both})" in lines
    start = lines.index("  exact, JS divergence")
    best = min(SETS + POINTS, key=lambda name: cells[f"table5/made/exact/JS/lambda=0.1/{name}/e"].ours)
    assert lines[start + 1].startswith(f"    λ = 0.1  {best} ")
    ratio = lines[start + 4]
    js, kl = (
        max(judged["DE"].columns["distance"].max() for judged in [a])
        for a in (whole_set()[2].jensen_shannon["exact"], whole_set()[2].assays["exact"])
    )
    assert js < kl
    assert ratio.startswith("    on the scale of KL, λ of JS is λ · 0.")


# -- Findings of the paper on made models: those that hold, do not hold, and are open.


def test_findings_of_models_that_are_known():
    said, y = made(np.random.default_rng(1))
    found = assays(said, y)
    members = {"exact": {"DE": {m: assays({"DE": said["DE"]}, y, common_members=m)["exact"] for m in (2, 12)}}}
    lines = claim_lines("made", found, found, members)
    text = "\n".join(lines)
    assert "DE has the lowest E at λ = 0.1: holds; place 1 of 4" in text
    assert "RS-NN has the lowest E at λ = 1: does not hold" in text
    assert "RS-NN has the least NS: holds; nearest to the contrary, NS of RS-NN minus that of DE -" in text
    assert "EDL and E-CNN have greater NS than all others: holds" in text
    assert "E of DE at λ = 1 grows with its members: holds; with 12 minus with 2 +" in text


def test_findings_are_open_where_the_interval_holds_zero():
    said, y = made(np.random.default_rng(1))
    swapped = {"DE": said["DE"], "LB-BNN": said["DE"][np.arange(len(y))]}
    found = assays(swapped, y)
    text = "\n".join(claim_lines("made", found, found, {"exact": {}}))
    assert "DE has the lowest E at λ = 0.1: open; place 1 of 2" in text
    assert "RS-NN" not in text


# -- numbers of Figures 6 to 10 ----------------------------------------------------------------------------------------


@pytest.fixture
def figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(12, 8), layout="constrained")


@pytest.mark.parametrize("part", ["correct", "wrong"])
@pytest.mark.parametrize("convention", ["exact", "paper"])
def test_mean_terms_are_means_over_all_runs(part, convention):
    judged = whole_set()[2]
    for found in (judged.assays, judged.jensen_shannon, judged.credal_uncertainty):
        bars = mean_terms(found[convention], part)
        assert [bar.model for bar in bars] == list(found[convention].model_names)
        for bar in bars:
            columns = found[convention][bar.model].columns
            chosen = found[convention].hits(bar.model) == (part == "correct")
            assert bar.distance == pytest.approx(columns["distance"][chosen].mean())
            assert bar.nonspecificity == pytest.approx(columns["nonspecificity"][chosen].mean())
            assert bar.e.mean == pytest.approx((columns["distance"] + columns["nonspecificity"])[chosen].mean())


def test_models_without_a_part_have_no_bar():
    judged = whole_set()[2]
    found = judged.assays["exact"]
    models = tuple(
        replace(m, columns={**m.columns, "label": np.broadcast_to(found.classes, m.columns["label"].shape)})
        if m.name == "DE"
        else m
        for m in found.models
    )
    assert "DE" not in {bar.model for bar in mean_terms(replace(found, models=models), "wrong")}


def test_dots_are_instances_of_the_first_run(monkeypatch):
    judged = whole_set()[2]
    found = judged.jensen_shannon["paper"]
    for part in ("correct", "wrong"):
        for name, (ns, distance) in scattered(found, part).items():
            chosen = found.hits(name)[0] == (part == "correct")
            np.testing.assert_array_equal(ns, found[name].columns["nonspecificity"][0, chosen])
            np.testing.assert_array_equal(distance, found[name].columns["distance"][0, chosen])
    monkeypatch.setattr(ablation_figures, "DOTS", 5)
    few = scattered(found, "correct")["DE"]
    pairs = set(zip(*(values.tolist() for values in few), strict=True))
    columns = found["DE"].columns
    assert len(pairs) == 5
    assert pairs <= set(zip(columns["nonspecificity"][0].tolist(), columns["distance"][0].tolist(), strict=True))


@pytest.mark.parametrize("other", ["JS", "CU"])
def test_bars_are_drawn_as_long_as_the_terms(figure, other):
    judged = whole_set()[2]
    draw_mean_e("exact", other)(figure, judged)
    changed = judged.jensen_shannon if other == "JS" else judged.credal_uncertainty
    for ax, part in zip(figure.axes[2:], ("correct", "wrong"), strict=True):
        widths = [bar.get_width() for bar in ax.patches]
        expected = [term for bar in mean_terms(changed["exact"], part) for term in (bar.distance, bar.nonspecificity)]
        np.testing.assert_allclose(widths, expected)
    assert [ax.get_xlabel() for ax in figure.axes[::2]] == [
        "mean E = KL + NS, λ = 1",
        "mean E = JS + NS, λ = 1" if other == "JS" else "mean E = KL + CU, λ = 1",
    ]


def test_axes_name_the_terms_and_their_units(figure):
    judged = whole_set()[2]
    draw_distances("exact")(figure, judged)
    assert [ax.get_xlabel() for ax in figure.axes] == ["KL divergence (nats)", "JS divergence (nats)"]
    figure.clear()
    draw_measures("paper")(figure, judged)
    assert figure.axes[1].get_xlabel() == "credal uncertainty of the authors' code (bits)"
    assert [tick.get_text() for tick in figure.axes[1].get_yticklabels()] == list(judged.ranked["paper"].model_names)
    figure.clear()
    draw_measures("exact")(figure, judged)
    assert figure.axes[1].get_xlabel() == "credal uncertainty over the box (nats)"
    figure.clear()
    draw_scatter("paper")(figure, judged)
    assert [ax.get_ylabel() for ax in figure.axes[::2]] == ["KL divergence (nats)", "JS distance (√nats)"]
    dots = [line.get_xydata() for line in figure.axes[0].lines]
    expected = scattered(judged.ranked["paper"], "correct")
    for drawn, (ns, distance) in zip(dots, expected.values(), strict=True):
        np.testing.assert_array_equal(drawn, np.c_[ns, distance])

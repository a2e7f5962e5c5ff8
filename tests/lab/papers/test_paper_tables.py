"""Layouts: which cell stands where, which printed digits stand with it; as text, CSV and LaTeX."""

import csv
import io
import math
import re

import pytest
from tests.refusals import refuses

from uqassay.lab.papers import PROTOCOLS, PrintedCell, Reproduction, printed_table, reproduce
from uqassay.lab.papers.credal_calibration.plan import PAPER_SETS
from uqassay.lab.papers.credal_calibration.tables import ALPHA
from uqassay.lab.papers.paper_tables import FORMATS, Column, FilledTable, PaperTable, Part, known_format
from uqassay.lab.papers.register import layout_of, layouts_of

NAN = float("nan")
WIDE = PaperTable(
    "Wide",
    "unified_table1",
    {"dataset": "Dataset", "convention": "", "model": "Model"},
    (Column("kl", "KL", ("kl_mean", "kl_sd")), Column("e", "E", ("e_mean", "e_sd"))),
    (
        Part(("table1/{dataset}/{model}/{column}", "table1/{dataset}/{convention:exact|paper}/{model}/{column}")),
        Part(("table1/{dataset}/{model}/{column}_sd",), "sd"),
    ),
    "{} ± {}",
)
LONG = PaperTable(
    "Long",
    "disentanglement_table2_error",
    {"method": "Method"},
    (Column("wine", "Wine"),),
    (Part(("table2/{dataset}/{method}/{decomposition:IT}/pooled", "table2/{dataset}/{method}/{decomposition:IT}")),),
    column="{dataset}",
    values=("error",),
    renamed={"Wine": "wine"},
    only={"decomposition": ("IT",)},
    open=True,
)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("table1/CIFAR-10/DE/kl", ((("CIFAR-10", "", "DE"), "kl", 0), 0)),
        ("table1/CIFAR-10/DE/kl_sd", ((("CIFAR-10", "", "DE"), "kl", 1), 0)),
        ("table1/digits/paper/DE/e", ((("digits", "paper", "DE"), "e", 0), 1)),
        ("table1/CIFAR-10/DE/ns", None),
        ("table1/CIFAR-10/DE/kl/interval", None),
        ("table10/CIFAR-10/DE/kl", None),
        ("table1/digits/other/DE/e", None),
    ],
)
def test_a_name_has_one_place(name, place):
    assert WIDE.place(name) == place


def test_printed_digits_are_kept():
    assert WIDE.printed[("CIFAR-10", "", "EDL"), "e", 0] == "2.270"
    assert WIDE.printed[("CIFAR-100", "", "DDU"), "kl", 1] == "2.260"
    assert LONG.printed[("MC-Dropout",), "wine", 0] == "0.645"
    assert len(LONG.printed) == 20  # four methods on five data sets, one of the two decompositions


def test_our_numbers_stand_with_the_printed_ones():
    cells = [
        PrintedCell.within("table1/CIFAR-10/DE/e", 0.415, 0.4, 0.3, 0.5),
        PrintedCell.within("table1/CIFAR-10/DE/kl", 0.031, 0.1, 0.05, 0.2),
        PrintedCell("table1/CIFAR-10/DE/kl/interval", NAN, 0.1, 0.09, 0.11, None),
        PrintedCell.within("table2/x/DE/e", 1.0, 1.0, 1.0, 1.0),
    ]
    table = WIDE.filled(cells)
    assert len(table.rows) == 30
    row = next(row for row in table.rows if row.labels == ("CIFAR-10", "", "DE"))
    kl, e = (cell[0] for cell in row.cells)
    assert (e.printed, e.ours, e.low, e.high, e.agrees, e.decimals) == ("0.415", 0.4, 0.3, 0.5, True, 3)
    assert (kl.ours, kl.low, kl.high, kl.agrees) == (0.1, 0.09, 0.11, False)
    other = table.rows[0].cells[0]
    assert other[0].printed == "0.243"
    assert other[1].printed == "1.315"
    assert math.isnan(other[0].ours)
    assert other[0].agrees is None


def test_rows_that_the_paper_has_not_stand_alone_with_their_printed_numbers():
    near = WIDE.filled([PrintedCell("table1/digits/exact/EDL/e", 2.27, 0.1, NAN, NAN, None)])
    assert [row.labels for row in near.rows] == [("digits", "exact", "EDL")]
    assert near.rows[0].cells[1][0].printed == "2.270"  # as printed, not 2.27
    odd = WIDE.filled([PrintedCell("table1/digits/exact/EDL/e", 2.2712, 0.1, NAN, NAN, None)])
    assert odd.rows[0].cells[1][0].printed == "2.2712"


def test_rows_without_printed_numbers_stand_under_the_printed_ones():
    table = WIDE.filled([PrintedCell("table1/digits/exact/EDL/e", NAN, 0.1, NAN, NAN, None)])
    assert [row.labels for row in table.rows[-2:]] == [("CIFAR-100", "", "DDU"), ("digits", "exact", "EDL")]


def test_the_preferred_name_counts_in_any_order():
    plain = PrintedCell.within("table2/wine/MC-Dropout/IT", 0.645, 1.0, 0.0, 2.0)
    pooled = PrintedCell.within("table2/wine/MC-Dropout/IT/pooled", 0.645, 2.0, 0.0, 3.0)
    for cells in ([plain, pooled], [pooled, plain]):
        assert LONG.filled(cells).rows[0].cells[0][0].ours == 2.0


def test_an_open_layout_has_columns_that_are_not_printed():
    table = LONG.filled([PrintedCell("table2/digits/MC-Dropout/IT", NAN, 0.3, NAN, NAN, None)])
    assert [column.title for column in table.columns] == ["Wine", "digits"]
    assert table.rows[0].cells[1][0].ours == 0.3


# -- The layouts of the papers: every printed number and every cell of a protocol has one place, in the printed order.


LABELS = {
    "dataset", "model", "tradeoff", "vertices", "distance", "nonspecificity", "architecture", "predictor", "method",
    "decomposition", "uncertainty", "estimator", "metric",
}  # fmt: skip
ALL = {f"{id(layout)}": (protocol, name) for protocol in PROTOCOLS for name, layout in layouts_of(protocol).items()}


def test_every_protocol_has_the_tables_of_its_paper():
    for name in PROTOCOLS:
        layouts = layouts_of(name)
        assert layouts
        assert list(layouts) == [f"table{i}" for i in range(1, len(layouts) + 1)], name
        for table, layout in layouts.items():
            assert layout.title.startswith(f"Table {table.removeprefix('table')}: ")


@pytest.mark.parametrize(("protocol", "name"), list(ALL.values()))
def test_every_printed_number_has_a_place(protocol, name):
    layout = layouts_of(protocol)[name]
    rows = printed_table(layout.source)
    if layout.only:
        back = {ours: printed for printed, ours in layout.renamed.items()}
        rows = [row for row in rows if all(row[f] in {back.get(v, v) for v in vs} for f, vs in layout.only.items())]
    texts = [text for row in rows for column, text in row.items() if column not in LABELS and text]
    if name == "table3" and layout.source.startswith("unified"):  # KL and NS stand there once for each λ
        texts = [text for row in rows for column, text in row.items() if column in ("e", "rank")]
        texts += [row[column] for row in rows if row["tradeoff"] == "2" for column in ("kl", "ns")]
    assert sorted(text for text in layout.printed.values() if text) == sorted(texts)
    assert {column for _, column, _ in layout.printed} == {column.name for column in layout.columns}


@pytest.mark.parametrize("protocol", ["unified-tables", "ranking-intervals", "disentanglement-tables"])
def test_every_recomputed_cell_has_one_place(protocol):
    result = reproduce(protocol)
    for cell in result.rows:
        table, *place = cell.name.split("/")
        found = [name for name, layout in layouts_of(protocol).items() if layout.place(cell.name) is not None]
        checks_a_sum = table == "table7" and place[2] == "all"  # a sum of printed parts, not a cell of the table
        assert found == ([] if checks_a_sum else [table]), cell.name
    for name, layout in layouts_of(protocol).items():
        cells = [cell for cell in result.rows if layout.place(cell.name) is not None]
        values = [value for row in layout.filled(result.rows).rows for one in row.cells for value in one]
        compared = [value for value in values if value.agrees is not None]
        assert len(compared) == sum(cell.agrees is not None for cell in cells), name
        assert sum(value.agrees is False for value in compared) == sum(cell.agrees is False for cell in cells), name
        assert all(value.printed for value in compared)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("table1/digits/exact/LB-BNN Avg/accuracy_percent", (("digits", "exact", "LB-BNN Avg"), "accuracy_percent", 0)),
        ("table2/mnist/paper/lambda=0.1/DE/rank", (("mnist", "paper", "0.1"), "DE", 0)),
        ("table4/cifar-10/exact/DE/naive/correct/ns_sd", (("cifar-10", "exact", "DE", "naive"), "ns_correct", 1)),
        ("table5/cifar-10/exact/JS/lambda=0.1/DE/e", (("cifar-10", "exact", "JS", "0.1"), "DE", 1)),
        ("table7/digits/paper/E-CNN/ns_incorrect", (("digits", "paper", "E-CNN"), "ns_incorrect", 0)),
        ("table8/digits/paper/lambda=1.0/DE/e", (("digits", "paper", "1.0"), "DE", 0)),
    ],
)
def test_cells_of_trained_predictors_have_a_place(name, place):
    found = layouts_of("unified")[name.split("/")[0]].place(name)
    assert found is not None
    assert found[0] == place


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("table2/wine/Flipout/IT", (("IT", "", "Flipout"), "wine", 0)),
        ("table2/wine/Flipout/IT/ci95", (("IT", "", "Flipout"), "wine", 1)),
        ("table2/wine/Flipout/IT/last-layer", (("IT", "last-layer", "Flipout"), "wine", 0)),
        ("table2/wine/Flipout/IT/last-layer/ci95", (("IT", "last-layer", "Flipout"), "wine", 1)),
        ("table2/wine/Flipout/IT/interval", None),
        ("table3/wine/Flipout/IT/aleatoric", (("wine", "", "Flipout"), "IT/aleatoric", 0)),
        ("table3/wine/Flipout/IT/aleatoric/pooled", (("wine", "", "Flipout"), "IT/aleatoric", 0)),
        ("table3/wine/Flipout/IT/last-layer/aleatoric/pooled", (("wine", "last-layer", "Flipout"), "IT/aleatoric", 0)),
        ("table3/wine/Flipout/IT/aleatoric/interval", None),
        ("table1/cifar-10/Flipout/GL/epistemic", (("", "Flipout"), "GL/epistemic", 0)),
    ],
)
def test_cells_of_disentanglement_have_a_place(name, place):
    found = layouts_of("disentanglement")[name.split("/")[0]].place(name)
    assert (None if found is None else found[0]) == place


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("table1/cifar-10, MobileNetV2/DN(0.1)/exact/avg_accuracy", ("cifar-10", "MobileNetV2", "", "DN(0.1)")),
        ("table1/bacteria/DE/exact/avg_accuracy", ("bacteria", "", "", "DE")),
        ("table1/bacteria/DE/paper-code/avg_accuracy", ("bacteria", "", "paper-code", "DE")),
        ("table1/CIFAR-10 (JPEG copy), cnn-small/S/exact/avg_accuracy", ("CIFAR-10 (JPEG copy)", "cnn-small", "", "S")),
    ],
)
def test_cells_of_credal_predictors_have_a_place(name, row):
    layout = layouts_of("credal-calibration")["table1"]
    assert layout.place(name)[0] == (row, "avg_accuracy", 0)
    assert ((row, "avg_accuracy", 0) in layout.printed) == (row[0] in PAPER_SETS and not row[2])


def test_names_of_data_sets_are_those_of_the_protocol():
    assert {name.partition("/")[0] for name in PAPER_SETS} <= set(
        layouts_of("credal-calibration")["table1"].renamed.values()
    )


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (
            "table1/toy/spread=0.35/p=random/local-gp/entropy/eece/sd",
            (("toy", "0.35", "random", "local-gp", "entropy"), "eece", 1),
        ),
        ("table1/toy-mismatch-1/spread=0.35/sparse-gp/entropy/correlation/interval", None),
        ("table1/toy/spread=0.35/sparse-gp/entropy/eece-bits", None),
        (
            "table2/emnist-balanced/sparse-gp/mutual-information/calibrated",
            (("emnist-balanced", "", "", "sparse-gp", "mutual-information"), "calibrated", 0),
        ),
    ],
)
def test_cells_of_the_gain_have_a_place(name, place):
    found = layouts_of("epistemic-gain")[name.split("/")[0]].place(name)
    assert (None if found is None else found[0]) == place


def test_rows_and_columns_are_in_the_printed_order():
    result = reproduce("unified-tables")
    lines = result.table(2).splitlines()
    assert lines[2].split()[:2] == ["0.1", "printed"]
    assert " ".join(lines[2].split()[2:]) == (
        "DE 0.069 CreINN 0.117 EDL 0.229 LB-BNN 0.259 E-CNN 0.354 RS-NN 0.399"
    )  # unified evaluation, Table 2, first row
    assert " ".join(result.table(5).splitlines()[7].split()[:8]) == "0.1 printed DE 0.053 RS-NN 0.065 LB-BNN 0.095"
    assert result.table(1).splitlines()[3].split()[:4] == ["LB-BNN", "printed", "89.24", "0.0565"]
    table = reproduce("disentanglement-tables").table(2).splitlines()
    assert table[1].split() == ["Model", "CIFAR10", "Fashion", "MNIST", "Wine", "BCI", "Average"]
    assert " ".join(table[3].split()) == (
        "MC-Dropout printed 0.661 ± 0.044 0.673 ± 0.034 0.778 ± 0.031 0.803 ± 0.040 0.729 ± 0.037"
    )  # disentanglement, Table 2, first row
    printed = reproduce("ranking-intervals").table(1).splitlines()[3]
    assert printed.split()[2:5] == ["94.56", "(93.36;", "95.55)"]


def test_the_numbers_of_a_csv_are_the_rows_of_the_result():
    result = reproduce("disentanglement-tables")
    own = {cell.name: cell for cell in result.rows}
    for row in csv.DictReader(io.StringIO(result.table(3, format="csv"))):
        dataset = {"CIFAR10": "cifar-10", "Fashion MNIST": "fashion-mnist"}.get(row["dataset"], row["dataset"].lower())
        cell = own[f"table3/{dataset}/{row['method']}/IT/epistemic"]
        found = [float(row[f"IT_epistemic_{end}"]) for end in ("paper", "ours", "low", "high")]
        assert found == [cell.paper, cell.ours, cell.low, cell.high]
        assert row["IT_epistemic_agrees"] == "true"


def test_a_layout_is_found_by_its_number():
    assert layout_of("unified", 3) is layout_of("unified-tables", "3") is layout_of("unified", "table3")
    with refuses("table", "choice", got="1, 2, 3, 4 or 5; got 'table6'"):
        layout_of("disentanglement", "table6")
    with refuses("table", "choice", got="methods has no printed table"):
        layout_of("methods", "1")


# -- tables as text, CSV and LaTeX --------------------------------------------------------------------------------------


def cell(name, paper, ours, low=NAN, high=NAN):
    return PrintedCell.within(name, paper, ours, low, high)


def table2(*cells: PrintedCell) -> FilledTable:
    return layout_of("unified", 2).filled(cells)


def test_text_marks_what_disagrees_and_shows_what_is_absent():
    found = layout_of("unified", 3).filled(
        [cell("table3/lambda=0.1/A/e", 0.259, 0.31, 0.3, 0.32), cell("table3/lambda=0.5/A/e", 0.326, 0.32, 0.3, 0.33)],
    )
    lines = found.written().splitlines()
    assert [" ".join(line.split()) for line in lines[2:5]] == [
        "A printed 0.243 0.166 0.259, 3 0.326, 2 0.575, 2",
        "ours – – 0.310* 0.320 –",
        "interval – – 0.300 to 0.320 0.300 to 0.330 –",
    ]
    assert [" ".join(line.split()) for line in lines[5:7]] == [
        "B printed 0.031 0.385 0.069, 1 0.223, 1 0.801, 3",
        "ours – – – – –",
    ]
    assert lines[-1] == "* the printed value lies outside the interval"
    assert not any(line != line.rstrip() for line in lines)


def test_an_interval_never_looks_like_a_point():
    found = layout_of("unified", 3).filled([cell("table3/lambda=0.1/A/e", 0.259, 0.2593, 0.2591, 0.2594)])
    assert "0.2591 to 0.2594" in found.written()


def test_a_ranking_has_the_models_in_both_orders():
    ranks = {"DE": (1, 2), "CreINN": (2, 1), "EDL": (3, 3)}
    cells = [cell(f"table2/lambda=0.1/{model}/rank", *both, low=both[1], high=both[1]) for model, both in ranks.items()]
    cells += [cell("table2/lambda=0.1/CreINN/e", 0.117, 0.0604, 0.05, 0.07)]
    lines = [" ".join(line.split()) for line in table2(*cells).written().splitlines()]
    assert lines[2] == "0.1 printed DE 0.069 CreINN 0.117 EDL 0.229 LB-BNN 0.259 E-CNN 0.354 RS-NN 0.399"
    assert lines[3] == "ours CreINN 0.060* DE* EDL – – –"
    assert lines[4] == "interval 0.050 to 0.070 – – – – –"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_columns_without_room_stand_in_further_blocks(width):
    result = reproduce("unified-tables")
    for table in (1, 5, 7):
        whole, folded = result.table(table), result.table(table, width=width)
        assert max(len(line) for line in folded.splitlines()[1:]) <= width
        parts = folded.removesuffix("* the printed value lies outside the interval").rstrip().split("\n\n")
        assert (len(parts) > 1) == (max(map(len, whole.splitlines())) > width)
        lines = [part.splitlines() for part in parts]
        assert {len(part) for part in lines[1:]} <= {len(lines[0]) - 1}  # the first has the title
        words = sorted(word for part in lines for line in part for word in re.findall(r"\d\.\d{3,}\*?", line))
        assert words == sorted(re.findall(r"\d\.\d{3,}\*?", whole))
    assert result.table(5, width=10_000) == result.table(5)


def test_verdicts_are_words_beside_p_values():
    columns = {"p_conf_random": 0.5, "p_conf_minimised": 0.01, "p_classwise_minimised": 0.5, "p_classwise_random": 0.01}
    cells = [cell(f"table1/digits/DE/exact/{name}", NAN, p) for name, p in columns.items()]
    cells.append(cell("table1/digits/DE/paper-code/p_conf_random", NAN, 0.03))
    lines = layout_of("credal-calibration", 1).filled(cells).written().splitlines()
    assert [" ".join(line.split()) for line in lines[-3:]] == [
        "DE ours – – – True (p .01) – – False (p .50) – –",
        "digits, paper-code",
        "DE ours – – – True (p .03) – – – – –",
    ]
    assert lines[3].split()[:6] == ["S", "printed", "0.7804", "0.0194", "0.0071", "True"]


def test_csv_has_a_line_for_each_row_and_exact_numbers():
    found = table2(
        cell("table2/lambda=0.1/DE/e", 0.069, 1 / 3, 0.25, 0.5), cell("table2/lambda=0.1/DE/rank", 1, 1, 1, 1)
    )
    rows = list(csv.DictReader(io.StringIO(found.written("csv"))))
    assert [row["tradeoff"] for row in rows] == [f"{i / 10:.1f}" for i in range(1, 11)]
    first = rows[0]
    assert float(first["DE_e_ours"]) == 1 / 3
    assert [first[f"DE_e_{end}"] for end in ("paper", "low", "high", "agrees")] == ["0.069", "0.25", "0.5", "false"]
    assert [first[f"EDL_e_{end}"] for end in ("paper", "ours", "low", "high", "agrees")] == ["0.229", "", "", "", ""]
    assert first["DE_rank_agrees"] == "true"


@pytest.mark.parametrize(
    ("protocol", "table"),
    [(name, table) for name in ("unified-tables", "disentanglement", "ranking-oasst2") for table in layouts_of(name)]
    + [("credal-calibration", "table1"), ("epistemic-gain", "table2")],
)
def test_latex_is_well_formed(protocol, table):
    result = (
        reproduce(protocol)
        if protocol.endswith("-tables")
        else Reproduction(protocol, "a paper", (), layouts=layouts_of(protocol))
    )
    text = result.table(table, format="latex")
    assert text.count(r"\begin{") == text.count(r"\end{") == 2
    for rule in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{", r"\usepackage{booktabs}"):
        assert text.count(rule) == 1
    inside = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    columns = len(re.search(r"\\begin\{tabular\}\{(\w+)\}", text)[1])
    rows = [line for line in inside.splitlines() if not line.startswith("\\")]
    assert rows
    for row in rows:
        assert row.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", row)) == columns - 1, row
    plain = re.sub(r"\\[&%$#_{}]", "", text.partition("\n")[2])
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert not re.search(r"[#%~_]", plain), "a special character that is not escaped"
    assert text.isascii()


def test_latex_escapes_names():
    layout = PaperTable(
        "A & B_1: 100 % of {x} ~ ^ \\ #",
        "unified_table3_toy_ranking",
        {"model": "Model"},
        (Column("kl", "λ ± −", ("kl",)),),
        (Part(("t/{model}/{column}",)),),
    )
    text = layout.filled([]).written("latex")
    assert r"\caption{A \& B\_1: 100 \% of \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} \#}" in text
    assert r"$\lambda$ $\pm$ $-$" in text


def test_formats_are_known_by_name():
    assert FORMATS == ("text", "csv", "markdown", "latex")
    assert known_format("csv") == "csv"
    with refuses("format", "choice", got="'markdown' or 'latex'; got 'html'"):
        known_format("html")


def test_markdown_has_the_rows_of_latex():
    result = reproduce("disentanglement-tables")
    text, latex = (result.table(2, format=format).splitlines() for format in ("markdown", "latex"))
    assert text[0].startswith("| ")
    rows = [line for line in text[2:] if line.startswith("|")]
    assert len(rows) == sum(line.endswith(r"\\") for line in latex) - 1  # the header
    assert text[-3:] == ["Table 2: disentanglement error", "", r"\* the printed value lies outside the interval"]


# -- What a table shows against the rows of a result, for every table of every paper.

QUICK = {
    "unified-tables": {},
    "unified": {"preset": "smoke", "predictors": ["SNN", "DE", "RS-NN"]},
    "credal-calibration": {"preset": "smoke", "figure": "table1", "convention": "both"},
    "credal-calibration, table 2": {"figure": "table2"},
    "epistemic-gain": {"preset": "smoke", "spread": 0.35, "runs": 1},
    "epistemic-gain, images": {"preset": "smoke", "dataset": "digits"},
    "ranking-intervals": {},
    "ranking-synthetic": {"preset": "smoke"},
    "disentanglement-tables": {},
    "disentanglement": {"preset": "smoke", "method": ["mc-dropout", "random-forest"]},
}
# rows that are more than the printed tables have: other measures, baselines, sums of parts
FURTHER = re.compile(
    r".*/(interval|eece-bits|debiased|calibrated-debiased|truth)(/sd)?|section8/.*|table7/.*/all/.*"
    r"|table8/.*/(vacuous|class-prior)/e"
)


@pytest.mark.parametrize("which", QUICK)
def test_every_number_of_a_table_is_that_of_its_row(which, ensembles):
    """No table shows another row than the one that the summary, the notes and JSON speak of."""
    name = which.partition(",")[0]
    options = dict(QUICK[which])
    if options.get("figure") == "table1":
        options["data"] = ensembles
    result = reproduce(name, **options)
    own = {one.name: one for one in result.rows}
    shown = set()
    for layout in layouts_of(name).values():
        placed = {}  # names of rows, by their cell and then by the place of their form of name
        for n in own:
            if (found := layout.place(n)) is not None:
                placed.setdefault(found[0], {})[found[1]] = n
        filled = layout.filled(result.rows)
        for labels, cells in filled.rows:
            for column, values in zip(filled.columns, cells, strict=True):
                for i, value in enumerate(values):
                    key = tuple(layout.renamed.get(label, label) for label in labels), column.name, i
                    rows = placed.get(key, {})
                    if not rows:
                        assert math.isnan(value.ours)
                        continue
                    row = own[rows[min(rows)]]
                    shown |= set(rows.values())
                    span = own.get(f"{row.name}/interval", row)
                    assert (value.agrees, value.decimals >= 0) == (row.agrees, True)
                    for found, wanted in ((value.ours, row.ours), (value.low, span.low), (value.high, span.high)):
                        assert found == wanted or (math.isnan(found) and math.isnan(wanted)), row.name
                    if not math.isnan(row.paper):
                        assert float(value.printed) == row.paper, row.name
    assert all(FURTHER.fullmatch(n) for n in own if n not in shown), [n for n in own if n not in shown]


@pytest.mark.parametrize("convention", ["exact", "paper-code"])
def test_the_verdicts_of_a_table_are_those_of_the_summary(ensembles, convention):
    """Both name the minimised null, or the random one where the authors' code has no other."""
    result = reproduce("credal-calibration", preset="smoke", figure="table1", data=ensembles, convention=convention)
    rows = {tuple(one.name.split("/")[1:]): one.ours for one in result.rows}
    said = {}
    for line in result.reading:
        found = re.match(r"  (.+): (.+?)(?:, authors' code)? {2,}\S.*?(reject|keep).*?(reject|keep)", line)
        if found and "members alone" not in found[2]:  # a count over several rows
            said[found[1], found[2]] = found[3] == "reject", found[4] == "reject"
    assert len(said) >= 5
    for labels, cells in layout_of("credal-calibration", 1).filled(result.rows).rows:
        if (labels[0], labels[3]) in said:
            assert tuple(cells[i][0].ours <= ALPHA for i in (3, 6)) == said.pop((labels[0], labels[3]))
    assert not said
    null = "minimised" if convention == "exact" else "random"
    assert any(end[-1] == f"p_conf_{null}" for end in rows)

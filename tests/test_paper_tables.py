"""The printed tables that come with the package: the shared copies, and the papers' own text."""

import re
from importlib import resources
from pathlib import Path

import pytest

from uqassay.lab.papers import printed_table

NUMBER = r"\d+\.\d+"
FROM_THE_TEXT = {"disentanglement_table1_cifar10_rocauc.csv"}  # not among the shared tables
PAIR = re.compile(rf"({NUMBER})(?:missing)?±({NUMBER})plus-or-minus")


@pytest.fixture(scope="module")
def text(shared: Path) -> list[str]:
    (paper,) = (shared / "papers").glob("000_*.txt")
    return paper.read_text(encoding="utf-8").splitlines()


def lines_after(text: list[str], caption: str) -> list[str]:
    """The lines from a table's caption to the next caption."""
    start = next(i for i, line in enumerate(text) if line.startswith(caption))
    stop = next((i for i in range(start + 1, len(text)) if re.match(r"(Table|Figure) \d+:", text[i])), len(text))
    return text[start + 1 : stop]


def test_shipped_tables_equal_the_shared_ones(shared):
    shipped = {
        entry.name: entry.read_bytes()
        for entry in (resources.files("uqassay.lab.papers") / "printed").iterdir()
        if entry.name.endswith(".csv")
    }
    copies = {path.name: path.read_bytes() for path in (shared / "paper_tables").glob("*.csv")}
    assert {name: content for name, content in shipped.items() if name not in FROM_THE_TEXT} == copies


def test_every_table_is_rectangular_and_not_empty():
    folder = resources.files("uqassay.lab.papers") / "printed"
    for entry in folder.iterdir():
        rows = printed_table(entry.name.removesuffix(".csv"))
        assert rows, entry.name
        assert all(None not in row and None not in row.values() for row in rows), entry.name


@pytest.mark.parametrize(
    ("name", "caption", "terms"),
    [
        ("unified_table2_cifar10_ranking", "Table 2:", None),
        ("unified_table5_cifar10_kl_vs_js", "Table 5:", ("distance", ("KL", "JS"))),
        ("unified_table6_cifar10_ns_vs_cu", "Table 6:", ("nonspecificity", ("NS", "CU"))),
        ("unified_table9_mnist_ranking", "Table 9:", None),
        ("unified_table10_cifar100_ranking", "Table 10:", None),
    ],
)
def test_rankings_against_the_paper(text, name, caption, terms):
    body = "\n".join(lines_after(text, caption))
    kinds = "|".join(terms[1]) if terms else ""
    pattern = rf"^(?:({NUMBER}) )?(?:({kinds}) )?([A-Z][\w\- ,]+?)\s+\[([\d., ]+)\]$"
    found, tradeoff = [], ""
    for match in re.finditer(pattern, body, flags=re.MULTILINE):
        tradeoff = match[1] or tradeoff  # the second line of a pair leaves it out
        models, totals = match[3].split(", "), match[4].split(", ")
        for rank, (model, total) in enumerate(zip(models, totals, strict=True), start=1):
            row = {"tradeoff": tradeoff, "rank": str(rank), "model": model, "e_mean": total}
            found.append(({terms[0]: match[2]} if terms else {}) | row)
    assert found == printed_table(name)


def test_table_1_against_the_paper(text):
    lines = iter(lines_after(text, "Table 1:")[1:])
    for row in printed_table("unified_table1"):
        line = next(lines).removeprefix(f"{row['dataset']} ")
        assert line.startswith(f"{row['model']} ")
        accuracy, ece, *_ = [*line.removeprefix(f"{row['model']} ").split(" "), ""]
        if not row["accuracy_percent"]:
            assert line == f"{row['model']} - - - - -"
            continue
        assert accuracy.startswith(2 * row["accuracy_percent"])
        assert ece.startswith(2 * row["ece"])
        assert [x for pair in PAIR.findall(line) for x in pair] == list(row.values())[4:]


@pytest.mark.parametrize(
    ("name", "caption", "columns"),
    [
        ("unified_table4_vertices_4class", "Table 4:", ("model", "vertices")),
        ("unified_table7_correct_incorrect", "Table 7:", ("dataset", "model")),
    ],
)
def test_parts_against_the_paper(text, name, caption, columns):
    lines = iter(lines_after(text, caption)[2:])
    heads = []
    for row in printed_table(name):
        line = next(lines)
        while not PAIR.search(line):
            line = next(lines)
        heads.append((line, row))
        assert [x for pair in PAIR.findall(line) for x in pair] == list(row.values())[2:]
    for line, row in heads:
        assert line.split(PAIR.search(line)[0])[0].lower().strip().endswith(row[columns[1]].lower())


def test_table_8_against_the_paper(text):
    models = ("LB-BNN", "DE", "EDL", "CreINN", "E-CNN", "RS-NN")
    found, dataset = [], ""
    for line in lines_after(text, "Table 8:"):
        head = re.match(r"(?:(CIFAR-10|CIFAR-100|MNIST) )?(1|0\.\d) (?=\d)", line)
        if not head:
            continue
        dataset = head[1] or dataset
        pairs = PAIR.findall(line[head.end() :])
        names = models if len(pairs) == 6 else tuple(m for m in models if m != "E-CNN")
        for model, (mean, sd) in zip(names, pairs, strict=True):
            found.append({"dataset": dataset, "tradeoff": head[2], "model": model, "e_mean": mean, "e_sd": sd})
    assert found == printed_table("unified_table8_tradeoff")


def test_table_3_against_the_paper(text):
    lines = lines_after(text, "Table 3:")
    orders = {}
    for line in lines:
        if match := re.search(r"= (0\.1|0\.5|2) \(\w+\): ([A-D](?:, [A-D]){3})$", line):
            orders[match[1]] = match[2].split(", ")
    for row in printed_table("unified_table3_toy_ranking"):
        line = next(line for line in lines if line.startswith(f"Model {row['model']} "))
        assert line.startswith(f"Model {row['model']} {row['kl']} {row['ns']} ")
        assert f"{row['kl']} + {row['tradeoff']} × {row['ns']} = {row['e']}" in line
        assert orders[row["tradeoff"]][int(row["rank"]) - 1] == row["model"]


# ---- disentanglement -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text_004(shared: Path) -> list[str]:
    (paper,) = (shared / "papers").glob("004_*.txt")
    return paper.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("disentanglement_table1_cifar10_rocauc", "Table 1:"),
        ("disentanglement_table3_dataset_size_pcc", "Table 3:"),
        ("disentanglement_table4_label_noise_pcc", "Table 4:"),
        ("disentanglement_table5_ood_rocauc", "Table 5:"),
    ],
)
def test_disentanglement_tables_against_the_paper(text_004, name, caption):
    """The text repeats each number: 0.0240.0240.0240.024, and 0.0240.024-0.024- 0.024 for a negative one."""
    names = {"CIFAR10": "CIFAR10", "Fashion": "Fashion MNIST", "UCI": "Wine", "Wine": "Wine", "BCI": "BCI"}
    names["Average"] = "Average"
    columns = [("GL", "aleatoric"), ("GL", "epistemic"), ("IT", "aleatoric"), ("IT", "epistemic")]
    found, dataset = [], ""
    for line in lines_after(text_004, caption):
        method = re.match(r"(MC-Dropout|MC-DropConnect|Flipout|Deep Ensembles) (?=\d)", line)
        if not method:
            dataset = names.get(line.partition(" ")[0], dataset)
            continue
        numbers = [
            f"{'-' if minus else ''}{value}" for value, minus in re.findall(r"(\d\.\d+?)\1(?:\1\1|(-)\1- \1)", line)
        ]
        for (short, part), number in zip(columns, numbers, strict=True):
            value = {"pcc" if "pcc" in name else "roc_auc": number}
            found.append({"dataset": dataset, "method": method[1], "decomposition": short, "uncertainty": part} | value)
    if "table1" in name:
        found = [{key: value for key, value in row.items() if key != "dataset"} for row in found]
    assert found == printed_table(name)


def test_disentanglement_errors_against_the_paper(text_004):
    (line,) = (line for line in text_004 if line.startswith("Model CIFAR10 Fashion MNIST Wine BCI Average"))
    datasets = ("CIFAR10", "Fashion MNIST", "Wine", "BCI", "average")
    pairs = rf"(?:{NUMBER} ±plus-or-minus\S+ {NUMBER} ?){{5}}"
    found = []
    for short, method, values in re.findall(rf"(GL|IT) – ?(\S+(?: \S+)?) ({pairs})", line):
        for dataset, (error, ci95) in zip(datasets, re.findall(rf"({NUMBER}) ±\S+ ({NUMBER})", values), strict=True):
            row = {"decomposition": short, "method": method, "dataset": dataset, "error": error, "ci95": ci95}
            found.append(row)
    assert found == printed_table("disentanglement_table2_error")

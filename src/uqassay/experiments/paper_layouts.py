"""The tables that the papers print, as layouts, by protocol."""

from collections.abc import Mapping
from types import MappingProxyType

from uqassay.errors import InputError
from uqassay.experiments.table_layout import CellPart, Layout, LayoutColumn
from uqassay.wording import listed

__all__ = ["LAYOUTS", "layout_of"]

PM = "{} ± {}"


def _parts(suffix: str, *names: str) -> tuple[CellPart, CellPart]:
    """A mean and its ±, whose names have a suffix."""
    return CellPart(names), CellPart(tuple(name + suffix for name in names), suffix.strip("_/"))


# ---- paper 000, unified evaluation -----------------------------------------------------------------------------------

SETS = ("LB-BNN", "DE", "EDL", "CreINN", "E-CNN", "RS-NN")
ALL = (*SETS, "SNN", "LB-BNN Avg", "DE Avg", "DDU")
TERMS = {"kl": "KL", "ns": "NS", "e": "E"}
SETTING = {"dataset": "Dataset", "convention": "Convention"}


def _means(name: str, title: str) -> LayoutColumn:
    return LayoutColumn(name, title, (f"{name}_mean", f"{name}_sd"))


def _by_part(term: str, part: str) -> LayoutColumn:
    short = {"correct": "CC", "incorrect": "ICC"}[part]
    return LayoutColumn(f"{term}_{part}", f"{TERMS[term]} {short}", (f"{term}_{part}_mean", f"{term}_{part}_sd"))


BY_PART = tuple(_by_part(term, part) for term in TERMS for part in ("correct", "incorrect"))


def _ranking(title: str, source: str, models: tuple[str, ...], *names: str, **rows: str) -> Layout:
    """A table of rankings: at each λ the models by their mean E."""
    return Layout(
        title,
        source,
        {**SETTING, **rows, "tradeoff": "λ"},
        tuple(LayoutColumn(model, model) for model in models),
        (
            CellPart(tuple(f"{name}/rank" for name in names), "rank"),
            CellPart(tuple(f"{name}/e" for name in names), "e"),
        ),
        form="{} {}",
        column="{model}",
        values=("rank", "e_mean"),
        ranked=True,
    )


UNIFIED = {
    "table1": Layout(
        "Table 1: KL, non-specificity (NS) and E at λ = 1",
        "unified_table1",
        {**SETTING, "model": "Model"},
        (
            LayoutColumn("accuracy_percent", "Accuracy (%)", ("accuracy_percent",)),
            LayoutColumn("ece", "ECE", ("ece",)),
            *(_means(name, title) for name, title in TERMS.items()),
        ),
        _parts("_sd", "table1/{dataset}/{model}/{column}", "table1/{dataset}/{convention}/{model}/{column}"),
        PM,
    ),
    "table2": _ranking(
        "Table 2: models by mean E, CIFAR-10",
        "unified_table2_cifar10_ranking",
        SETS,
        "table2/lambda={tradeoff}/{model}",
        "table2/{dataset}/{convention}/lambda={tradeoff}/{model}",
    ),
    "table3": Layout(
        "Table 3: E of four models at three λ",
        "unified_table3_toy_ranking",
        {"model": "Model"},
        (
            LayoutColumn("kl", "KL", ("kl",)),
            LayoutColumn("ns", "NS", ("ns",)),
            *(LayoutColumn(tradeoff, f"E and rank, λ = {tradeoff}") for tradeoff in ("0.1", "0.5", "2")),
        ),
        (
            CellPart(("table3/lambda={tradeoff}/{model}/e",)),
            CellPart(("table3/lambda={tradeoff}/{model}/rank",), "rank"),
        ),
        "{}, {}",
        column="{tradeoff}",
        values=("e", "rank"),
    ),
    "table4": Layout(
        "Table 4: vertices of the credal set, correct (CC) and incorrect (ICC) predictions, CIFAR-10",
        "unified_table4_vertices_4class",
        {**SETTING, "model": "Model", "vertices": "Vertices"},
        BY_PART,
        _parts(
            "_sd",
            "table4/{model}/{vertices}/{part}/{term}",
            "table4/{dataset}/{convention}/{model}/{vertices}/{part}/{term}",
        ),
        PM,
        column="{term}_{part}",
    ),
    "table5": _ranking(
        "Table 5: models by mean E with KL and JS divergence, CIFAR-10",
        "unified_table5_cifar10_kl_vs_js",
        ALL,
        "table5/{distance}/lambda={tradeoff}/{model}",
        "table5/{dataset}/{convention}/{distance}/lambda={tradeoff}/{model}",
        distance="Metric",
    ),
    "table6": _ranking(
        "Table 6: models by mean E with non-specificity (NS) and credal uncertainty (CU), CIFAR-10",
        "unified_table6_cifar10_ns_vs_cu",
        ALL,
        "table6/{nonspecificity}/lambda={tradeoff}/{model}",
        "table6/{dataset}/{convention}/{nonspecificity}/lambda={tradeoff}/{model}",
        nonspecificity="Metric",
    ),
    "table7": Layout(
        "Table 7: correct (CC) and incorrect (ICC) predictions apart, λ = 1",
        "unified_table7_correct_incorrect",
        {**SETTING, "model": "Model"},
        BY_PART,
        _parts(
            "_sd",
            "table7/{dataset}/{model}/{part:correct|incorrect}/{term}",
            "table7/{dataset}/{convention}/{model}/{term:kl|ns|e}_{part:correct|incorrect}",
        ),
        PM,
        column="{term}_{part}",
    ),
    "table8": Layout(
        "Table 8: mean E against λ",
        "unified_table8_tradeoff",
        {**SETTING, "tradeoff": "λ"},
        tuple(LayoutColumn(model, model) for model in SETS),
        _parts(
            "_sd",
            "table8/{dataset}/lambda={tradeoff}/{model}/e",
            "table8/{dataset}/{convention}/lambda={tradeoff}/{model}/e",
        ),
        PM,
        column="{model}",
        values=("e_mean", "e_sd"),
    ),
    "table9": _ranking(
        "Table 9: models by mean E, MNIST",
        "unified_table9_mnist_ranking",
        SETS,
        "table9/lambda={tradeoff}/{model}",
        "table2/{dataset:mnist}/{convention}/lambda={tradeoff}/{model}",
    ),
    "table10": _ranking(
        "Table 10: models by mean E, CIFAR-100",
        "unified_table10_cifar100_ranking",
        tuple(model for model in SETS if model != "E-CNN"),
        "table10/lambda={tradeoff}/{model}",
        "table2/{dataset:cifar-100}/{convention}/lambda={tradeoff}/{model}",
    ),
}

# ---- paper 001, calibration of credal predictors ---------------------------------------------------------------------

CREDAL_NAMES = {
    "CIFAR-10": "cifar-10",
    "CALTECH-101": "caltech-101",
    "CALTECH-256": "caltech-256",
    "PLANTCLEF2015": "plantclef",
    "BACTERIA": "bacteria",
    "PROTEINS": "proteins",
    "MOB": "MobileNetV2",
    "VGG": "VGG16",
    "-": "",
}
ENSEMBLES = ("{dataset:[^/,]+}, {architecture}", "{dataset}")
CONVENTIONS = ("exact", "{convention}")
CREDAL = {
    "table1": Layout(
        "Table 1: averages and weighted averages of four predictors",
        "credal_calibration_table1",
        {"dataset": "Dataset", "architecture": "Arch.", "convention": "Convention", "predictor": "Predictor"},
        (
            LayoutColumn("avg_accuracy", "Acc.", ("avg_accuracy",)),
            LayoutColumn("avg_ece_conf", "ECE conf", ("avg_ece_conf",)),
            LayoutColumn("avg_ece_classwise", "ECE cwise", ("avg_ece_classwise",)),
            LayoutColumn("p_conf_random", "Rej. H0", ("reject_conf",)),
            LayoutColumn("weighted_conf_accuracy", "λ conf Acc.", ("weighted_conf_accuracy",)),
            LayoutColumn("weighted_conf_ece_conf", "ECE conf", ("weighted_conf_ece_conf",)),
            LayoutColumn("p_classwise_random", "Rej. H0", ("reject_classwise",)),
            LayoutColumn("weighted_classwise_accuracy", "λ cwise Acc.", ("weighted_classwise_accuracy",)),
            LayoutColumn("weighted_classwise_ece_classwise", "ECE cwise", ("weighted_classwise_ece_classwise",)),
        ),
        (
            CellPart(
                tuple(f"table1/{place}/{{predictor}}/{end}/{{column}}" for end in CONVENTIONS for place in ENSEMBLES)
            ),
        ),
        renamed=CREDAL_NAMES,
        verdicts=frozenset({"p_conf_random", "p_classwise_random"}),
        selects={"figure": "table1"},
    ),
    "table2": Layout(
        "Table 2: classes K, features D and instances N of the data sets",
        "credal_calibration_table2_datasets",
        {"dataset": "Dataset"},
        (
            LayoutColumn("classes", "K", ("classes",)),
            LayoutColumn("features", "D", ("features",)),
            LayoutColumn("n_train", "N train", ("n_train",)),
            LayoutColumn("n_calibration", "N cal.", ("n_calibration",)),
            LayoutColumn("n_test", "N test", ("n_test",)),
        ),
        (CellPart(("table2/{dataset}/{column}",)),),
        selects={"figure": "table2"},
    ),
}

# ---- paper 002, epistemic gain ---------------------------------------------------------------------------------------

GAIN_COLUMNS = (
    LayoutColumn("correlation", "ρ epi", ("rho_epi_mean", "rho_epi_sd")),
    LayoutColumn("eece", "EECE", ("eece_mean", "eece_sd")),
    LayoutColumn("calibrated", "Calib. EECE", ("calibrated_eece_mean", "calibrated_eece_sd")),
)
GAIN_ROWS = {"dataset": "Dataset", "spread": "Spread", "share": "p", "method": "Classifier", "estimator": "Method"}
GAIN_NAMES = {
    "mutual_information": "mutual-information",
    "EMNIST-Letters": "emnist-balanced",
    "Kuzushiji-49": "kuzushiji-49",
}
_END = "{method}/{estimator}/{column}"
GAIN = {
    "table1": Layout(
        "Table 1: evaluation metrics on toy data",
        "epistemic_gain_tables",
        GAIN_ROWS,
        GAIN_COLUMNS,
        _parts(
            "/sd",
            f"table1/{{dataset}}/{_END}",
            f"table1/{{dataset}}/spread={{spread}}/{_END}",
            f"table1/{{dataset}}/spread={{spread}}/p={{share}}/{_END}",
        ),
        PM,
        renamed=GAIN_NAMES,
        only={"dataset": ("toy",)},
    ),
    "table2": Layout(
        "Table 2: evaluation metrics on real data",
        "epistemic_gain_tables",
        GAIN_ROWS,
        GAIN_COLUMNS,
        _parts("/sd", f"table2/{{dataset}}/{_END}"),
        PM,
        renamed=GAIN_NAMES,
        only={"dataset": ("emnist-balanced", "kuzushiji-49")},
    ),
}

# ---- paper 003, ranking metrics --------------------------------------------------------------------------------------

RANKING = {
    "table1": Layout(
        "Table 1: correlation with the ground truth rankings, in percent (95 % interval)",
        "ground_truth_free_table1",
        {"dataset": "Dataset", "metric": "Metric"},
        (
            LayoutColumn(
                "misclassification", "φ, misclassification", ("corr_misclassification_percent", "low", "high")
            ),
            LayoutColumn("misalignment", "ψ, misalignment", ("corr_misalignment_percent", "low2", "high2")),
        ),
        (
            CellPart(("table1/{dataset}/{metric}/{column}/r", "table1/{dataset}/{metric}/{column}")),
            CellPart(("table1/{dataset}/{metric}/{column}/low",), "low_limit"),
            CellPart(("table1/{dataset}/{metric}/{column}/high",), "high_limit"),
        ),
        "{} ({}; {})",
    ),
}

# ---- paper 004, disentanglement --------------------------------------------------------------------------------------

DATASETS = {"CIFAR10": "cifar-10", "Fashion MNIST": "fashion-mnist", "Wine": "wine", "BCI": "bci", "Average": "average"}
ESTIMATES = tuple(
    LayoutColumn(f"{short}/{name}", f"{short} {title}")
    for short in ("GL", "IT")
    for name, title in (("aleatoric", "AU"), ("epistemic", "EU"))
)


def _estimates(title: str, table: str, source: str, value: str, *, dataset: str = "{dataset}") -> Layout:
    """A table of both estimates of both decompositions; correlations of pooled curves are those that the paper prints."""
    place, estimate = f"{table}/{dataset}/{{method}}/{{decomposition}}", "{uncertainty:aleatoric|epistemic}"
    names = [f"{place}/{between}{estimate}{end}" for end in ("/pooled", "") for between in ("", "{convention}/")]
    return Layout(
        title,
        source,
        ({"dataset": "Dataset"} if dataset == "{dataset}" else {}) | {"convention": "Convention", "method": "Method"},
        ESTIMATES,
        (CellPart(tuple(names)),),
        column="{decomposition}/{uncertainty}",
        values=(value,),
        renamed=DATASETS,
        open=True,
    )


DISENTANGLEMENT = {
    "table1": _estimates(
        "Table 1: ROC-AUC for the class left out, CIFAR-10",
        "table1",
        "disentanglement_table1_cifar10_rocauc",
        "roc_auc",
        dataset="cifar-10",
    ),
    "table2": Layout(
        "Table 2: disentanglement error",
        "disentanglement_table2_error",
        {"decomposition": "", "convention": "Convention", "method": "Model"},
        tuple(LayoutColumn(name, title) for title, name in DATASETS.items()),
        _parts(
            "/ci95",
            "table2/{dataset}/{method}/{decomposition}",
            "table2/{dataset}/{method}/{decomposition}/{convention:(?!interval$)[^/]+}",
        ),
        PM,
        column="{dataset}",
        values=("error", "ci95"),
        renamed=DATASETS,
        open=True,
    ),
    "table3": _estimates(
        "Table 3: correlation of accuracy and confidence over the size of the training set",
        "table3",
        "disentanglement_table3_dataset_size_pcc",
        "pcc",
    ),
    "table4": _estimates(
        "Table 4: correlation of accuracy and confidence over label noise",
        "table4",
        "disentanglement_table4_label_noise_pcc",
        "pcc",
    ),
    "table5": _estimates(
        "Table 5: ROC-AUC for the class left out", "table5", "disentanglement_table5_ood_rocauc", "roc_auc"
    ),
}

LAYOUTS: Mapping[str, Mapping[str, Layout]] = MappingProxyType(
    {
        "unified-tables": UNIFIED,
        "unified": UNIFIED,
        "credal-calibration": CREDAL,
        "epistemic-gain": GAIN,
        "ranking-intervals": RANKING,
        "ranking-synthetic": RANKING,
        "ranking-cifar10h": RANKING,
        "ranking-cifar10h-probes": RANKING,
        "ranking-imagenet-real": RANKING,
        "ranking-oasst2": RANKING,
        "disentanglement-tables": DISENTANGLEMENT,
        "disentanglement": DISENTANGLEMENT,
    }
)


def layout_of(protocol: str, table: str | int) -> Layout:
    """The layout of a table.

    Parameters
    ----------
    protocol : str
    table : str or int
        "table1", "1" or 1.

    Raises
    ------
    InputError
        The paper of the protocol has no such table.

    Examples
    --------
    >>> layout_of("ranking-oasst2", 1) is layout_of("ranking-intervals", "table1")
    True
    """
    known = LAYOUTS.get(protocol, {})
    name = f"table{str(table).removeprefix('table')}"
    if name not in known:
        numbers = listed([one.removeprefix("table") for one in known], last="or")
        rule = f"must be a table of the paper of {protocol}, {numbers}" if known else f"{protocol} has no printed table"
        raise InputError(
            "table", rule, f"got {table!r}", "choose one of them" if known else "leave it out", code="choice"
        )
    return known[name]

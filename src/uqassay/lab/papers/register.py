"""The register of protocols: each is found by its name and imported when it is called."""

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from uqassay.checks import fail, one_of
from uqassay.lab.papers.options import ProtocolOption, option_value, protocol_options
from uqassay.lab.papers.paper_tables import PaperTable, table_named
from uqassay.lab.papers.reproduction import Reproduction
from uqassay.text import listed

__all__ = [
    "PAPERS",
    "PROTOCOLS",
    "PaperProtocols",
    "described_options",
    "layout_of",
    "layouts_of",
    "options_of",
    "presets_of",
    "purpose_of",
    "reproduce",
    "steps_of",
    "typed_option",
]

PROTOCOLS: dict[str, str] = {
    "unified-tables": "uqassay.lab.papers.unified.printed:reproduce_unified_tables",
    "unified": "uqassay.lab.papers.unified.run:reproduce_unified",
    "ranking-intervals": "uqassay.lab.papers.ranking.printed:reproduce_ranking_intervals",
    "ranking-synthetic": "uqassay.lab.papers.ranking.synthetic:reproduce_ranking_synthetic",
    "ranking-cifar10h": "uqassay.lab.papers.ranking.human_labels:reproduce_ranking_cifar10h",
    "ranking-cifar10h-probes": "uqassay.lab.papers.ranking.linear_probes:reproduce_ranking_cifar10h_probes",
    "ranking-imagenet-real": "uqassay.lab.papers.ranking.human_labels:reproduce_ranking_imagenet_real",
    "ranking-oasst2": "uqassay.lab.papers.ranking.human_labels:reproduce_ranking_oasst2",
    "credal-calibration": "uqassay.lab.papers.credal_calibration.run:reproduce_credal_calibration",
    "disentanglement": "uqassay.lab.papers.disentangling.run:reproduce_disentanglement",
    "epistemic-gain": "uqassay.lab.papers.gain.run:reproduce_epistemic_gain",
    "disentanglement-tables": "uqassay.lab.papers.disentangling.printed:reproduce_disentanglement_tables",
}


class PaperProtocols(NamedTuple):
    """A paper with its protocols: what each of them makes, by its name in `PROTOCOLS`."""

    title: str
    makes: dict[str, str]


PAPERS = (
    PaperProtocols(
        "Unified evaluation (Manchingal et al.)",
        {
            "unified-tables": "Tables 1-10 from their own numbers; nothing is trained",
            "unified": "Tables 1, 2 and 4-10 and the figures, from predictors trained here",
        },
    ),
    PaperProtocols(
        "Credal calibration (Mortier et al.)",
        {"credal-calibration": "Figures 1-4, error rates; --table 1, ensembles; --table 2, data sets"},
    ),
    PaperProtocols(
        "Epistemic gain (authors withheld)", {"epistemic-gain": "Tables 1 and 2, Figures 1-4, two mismatch studies"}
    ),
    PaperProtocols(
        "Ranking metrics (Pignet et al.)",
        {
            "ranking-intervals": "limits of Table 1 from its correlations; nothing is trained",
            "ranking-synthetic": "Table 1, rows Synth, and Figures 1-6",
            "ranking-cifar10h": "Table 1, rows CIFAR10-H, saved predictions or trainings",
            "ranking-cifar10h-probes": "Table 1, rows CIFAR10-H, from linear probes trained here",
            "ranking-imagenet-real": "Table 1, rows R-ImageNet, predictions saved or made",
            "ranking-oasst2": "Table 1, rows OASST2, predictions saved or made",
        },
    ),
    PaperProtocols(
        "Disentanglement (de Jong et al.)",
        {
            "disentanglement-tables": "Tables 1-5 from their own numbers; nothing is trained",
            "disentanglement": "Tables 1-5 and the figures, from methods trained here",
        },
    ),
)


def reproduce(name: str, **options: Any) -> Reproduction:
    """Run a protocol of `PROTOCOLS` by its name.

    Parameters
    ----------
    name : str
        A key of `PROTOCOLS`.
    **options
        The protocol's own keyword-only options.

    Returns
    -------
    Reproduction
        One cell per printed cell of the paper.

    Examples
    --------
    >>> reproduce("unified-tables").misprints[0].name
    'table1/CIFAR-10/RS-NN/e_sd'
    """
    protocol = _protocol(name)
    accepted = inspect.signature(protocol).parameters
    for option in options:
        one_of(option, "options", accepted, f"choose an option of {name}")
    return protocol(**options)


def options_of(name: str) -> tuple[str, ...]:
    """Names of the options of a protocol.

    Examples
    --------
    >>> options_of("unified-tables")
    ('tables',)
    """
    return tuple(inspect.signature(_protocol(name)).parameters)


def described_options(name: str) -> tuple[ProtocolOption, ...]:
    """The options of a protocol with their defaults and meanings.

    Examples
    --------
    >>> described_options("ranking-cifar10h-probes")[1]
    ProtocolOption(name='seed', default=0, text='Seed of the folds, the initial weights and the batches.', choices=())
    """
    return protocol_options(_protocol(name))


def purpose_of(name: str) -> str:
    """What a protocol does, in the first sentence of its docstring.

    Examples
    --------
    >>> purpose_of("ranking-intervals")
    'Recompute the intervals of Table 1 from their correlations.'
    """
    return (inspect.getdoc(_protocol(name)) or "").partition("\n\n")[0].replace("\n", " ")


def typed_option(name: str, option: str, text: str) -> Any:
    """The value of a protocol's option from text, as `option_value`.

    Examples
    --------
    >>> typed_option("ranking-synthetic", "one_sample", "true")
    True
    """
    return option_value(_protocol(name), option, text)


def presets_of(name: str) -> tuple[str, ...]:
    """Names of the presets of a protocol; the usual three if it has none of its own.

    Examples
    --------
    >>> presets_of("disentanglement"), presets_of("unified-tables")
    (('smoke', 'cpu', 'gpu-hour', 'paper'), ('smoke', 'cpu', 'paper'))
    """
    return tuple(getattr(_module(name), "PRESETS", ("smoke", "cpu", "paper")))


def layouts_of(name: str) -> Mapping[str, PaperTable]:
    """The printed tables of the paper of a protocol, by name; none for another name.

    Examples
    --------
    >>> list(layouts_of("credal-calibration"))
    ['table1', 'table2']
    """
    if name not in PROTOCOLS:
        return {}
    room = PROTOCOLS[name].partition(":")[0].rpartition(".")[0]
    layouts: Mapping[str, PaperTable] = import_module(f"{room}.printed").LAYOUTS
    return layouts


def layout_of(name: str, table: str | int) -> PaperTable:
    """A printed table of the paper of a protocol.

    Parameters
    ----------
    table : str or int
        "table1", "1" or 1.

    Examples
    --------
    >>> layout_of("ranking-oasst2", 1) is layout_of("ranking-intervals", "table1")
    True
    """
    return table_named(layouts_of(name), table, name)


def steps_of(name: str, **options: Any) -> int:
    """How often a protocol with these options calls ``progress``: the length of a progress bar."""
    count = getattr(_module(name), _function(name).replace("reproduce_", "steps_of_"), None)
    return 1 if count is None else int(count(**options))


def _protocol(name: str) -> Callable[..., Reproduction]:
    """The function of a protocol."""
    protocol: Callable[..., Reproduction] = getattr(_module(name), _function(name))
    return protocol


def _function(name: str) -> str:
    """The name of a protocol's function."""
    return PROTOCOLS[name].partition(":")[2]


def _module(name: str) -> ModuleType:
    """The module of a protocol, imported now."""
    if name not in PROTOCOLS:
        known = listed(list(PROTOCOLS), last="or")
        fail("name", "must be a protocol", f"got {name!r}", f"choose {known}", code="choice")
    return import_module(PROTOCOLS[name].partition(":")[0])

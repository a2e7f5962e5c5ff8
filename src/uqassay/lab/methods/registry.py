"""The methods by name: a sentence on each, its class, and the options that define the name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, final

from uqassay.checks import fail
from uqassay.files import optional_package
from uqassay.text import listed

__all__ = [
    "METHODS",
    "MethodInfo",
    "build_method",
    "defaults_of",
    "is_given",
    "label_of",
    "method_class",
    "offered_options",
    "option_names_of",
]


@final
@dataclass(frozen=True)
class MethodInfo:
    """Facts about a method that are known without loading it."""

    name: str  #: In lower case with hyphens
    module: str  #: In `uqassay.lab.methods`
    class_name: str
    sentence: str  #: What the method does, and the kind of its prediction
    source: str  #: The paper that defines it
    #: Options of the class that this name stands for; options given to `build_method` replace them
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source_files(self) -> tuple[str, ...]:
        """The file in `uqassay/lab/methods` that defines the method."""
        return (f"{self.module}.py",)


UNIFIED = "unified evaluation"
CALIBRATION = "credal calibration"
DISENTANGLEMENT = "disentanglement"
GAIN = "epistemic gain"
GAUSSIAN = {"head": "gaussian-logits"}
LAST = {"where": "last", "n_samples": 10}
DE, DROPOUT, CONNECT = (
    ("ensembles", "DeepEnsemble"),
    ("dropout", "MCDropout"),
    ("dropout", "MCDropConnect"),
)
FORESTS = "forests"

# fmt: off
_ALL = (
    MethodInfo("snn", "ensembles", "StandardNetwork", "A network with a softmax head; a point.", UNIFIED),
    MethodInfo("deep-ensemble", *DE, "Independent networks; members.", UNIFIED),
    MethodInfo("mc-dropout", *DROPOUT, "Units dropped in prediction; members.", DISENTANGLEMENT),
    MethodInfo("dn-0.1", *DROPOUT, "Dropout of 0.1 before the head; members.", CALIBRATION, {**LAST, "rate": 0.1}),
    MethodInfo("dn-0.6", *DROPOUT, "Dropout of 0.6 before the head; members.", CALIBRATION, {**LAST, "rate": 0.6}),
    MethodInfo("mc-dropconnect", *CONNECT, "Weights dropped in prediction; members.", DISENTANGLEMENT),
    MethodInfo("evidential", "evidential", "Evidential", "Evidence for each class; a Dirichlet.", UNIFIED),
    MethodInfo("creinn", "intervals", "CreINN", "Interval weights; intervals.", UNIFIED),
    MethodInfo("e-cnn", "evidential", "ECNN", "Distances to prototypes; masses.", UNIFIED),
    MethodInfo("rs-nn", "random_sets", "RSNN", "Beliefs of chosen sets of classes; masses.", UNIFIED),
    MethodInfo("deep-ensemble-gaussian", *DE, "Independent networks; Gaussian logits.", DISENTANGLEMENT, GAUSSIAN),
    MethodInfo("mc-dropout-gaussian", *DROPOUT, "Units dropped; Gaussian logits.", DISENTANGLEMENT, GAUSSIAN),
    MethodInfo("mc-dropconnect-gaussian", *CONNECT, "Weights dropped; Gaussian logits.", DISENTANGLEMENT, GAUSSIAN),
    MethodInfo("flipout", "flipout", "Flipout", "Weights drawn in prediction; members.", DISENTANGLEMENT),
    MethodInfo("flipout-gaussian", "flipout", "Flipout", "Weights drawn; Gaussian logits.", DISENTANGLEMENT, GAUSSIAN),
    MethodInfo("laplace-bridge", "laplace", "LaplaceBridge", "Gaussian last layer; a Dirichlet.", UNIFIED),
    MethodInfo("ddu", "ddu", "DDU", "A network, and the density of its features; a point.", UNIFIED),
    MethodInfo("sparse-gp", "sparse_gaussian_process", "SparseGaussianProcess", "Inducing points; Gaussian logits.", GAIN),
    MethodInfo("local-gp", "local_gaussian_process", "LocalGaussianProcess", "Closed form in cells; Gaussian logits.", GAIN),
    MethodInfo("random-forest", FORESTS, "RandomForest", "Trees on resamples; members.", "scikit-learn"),
    MethodInfo("bagging", FORESTS, "Bagging", "A classifier on resamples; members.", "scikit-learn"),
)
# fmt: on

METHODS: Mapping[str, MethodInfo] = MappingProxyType({info.name: info for info in _ALL})


def build_method(name: str, /, **params: Any) -> Any:
    """An unfitted estimator by the name of its method.

    Parameters
    ----------
    name : str
        One of `METHODS`, or ``module:Class`` for your own class, which becomes a `uqassay.lab.methods.given.GivenMethod`.
    params
        Options of the estimator.

    Examples
    --------
    >>> from uqassay.lab.methods import build_method
    >>> build_method("snn", epochs=5)
    StandardNetwork(epochs=5)
    """
    own, known = is_given(name), option_names_of(name)
    options = params if own else {**defaults_of(name), **params}
    for option in options:
        if option not in known:
            fail(option, f"must be an option of {name}", "", _suggestion(option, known), code="choice")
    return load_class("given", "GivenMethod")(of=name, **options) if own else method_class(name)(**options)


def is_given(name: str) -> bool:
    """Whether it is ``module:Class``, a class of the user, and not the name of a method here."""
    return isinstance(name, str) and ":" in name


def label_of(name: str) -> str:
    """What tables call a class of the user.

    Examples
    --------
    >>> label_of("mymodels.nets:MyNet")
    'MyNet'
    """
    return name.rpartition(":")[2]


def option_names_of(name: str) -> list[str]:
    """Names of the options of a method."""
    if is_given(name):
        return [*dict.fromkeys([*load_class("given", "option_names")(name), "random_state", "classes"])]
    found: list[str] = method_class(name)._get_param_names()
    return found


def defaults_of(name: str) -> Mapping[str, Any]:
    """The options that the name of a method stands for."""
    return {} if is_given(name) else METHODS[name].defaults


def offered_options(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a protocol that a method takes: all for a method here, those that it has for a class of the user."""
    found: dict[str, Any] = load_class("given", "taken_options")(name, options) if is_given(name) else dict(options)
    return found


def method_class(name: str) -> Any:
    """The class of a method by its name; see `build_method`."""
    if name not in METHODS:
        remedy = f"{_suggestion(name, list(METHODS))}; your own class is module:Class"
        fail("method", "must be the name of a method", f"got {name!r}", remedy, code="choice")
    info = METHODS[name]
    return load_class(info.module, info.class_name)


def load_class(module: str, class_name: str) -> Any:
    """Import a name of this room, which needs PyTorch and scikit-learn."""
    found = optional_package(f"uqassay.lab.methods.{module}", "lab", class_name)
    return getattr(found, class_name)


def _suggestion(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    question = f"; did you mean {listed(near, last='or')}?" if near else ""
    return f"choose from {', '.join(known)}{question}"

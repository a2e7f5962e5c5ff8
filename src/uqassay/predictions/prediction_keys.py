"""Keys of files and mappings: which of them make which kind of prediction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from uqassay.errors import InputError
from uqassay.wording import named, visible

__all__ = [
    "ALIASES",
    "CARRIED",
    "FORMS",
    "KINDS",
    "KNOWN_KEYS",
    "Form",
    "choose_form",
    "form_of_kind",
    "holds_truth_values",
    "key_of_bare_array",
    "needed_keys",
    "shown_keys",
]

ALIASES = {"label": "labels", "classes": "class_names", "id": "ids", "group": "groups"}
CARRIED = ("class_names", "ids", "groups", "notes", "note_codes", "row_numbers", "bfloat16")


@dataclass(frozen=True)
class Form:
    """The keys that state one kind of prediction, and those that may accompany them."""

    keys: tuple[str, ...]
    settings: tuple[str, ...] = ()


FORMS = {
    "probs": Form(("probs",), ("weights", "log_partition")),  # (n, K): Point; (n, M, K): Members
    "dirichlet": Form(("alpha",), ("n_draws", "unit_concentration", "seed")),
    "intervals": Form(("lower", "upper")),
    "class-sets": Form(("sets",)),
    "masses": Form(("masses", "focal_sets"), ("signed", "precision", "n_classes")),
    "beliefs": Form(("beliefs", "focal_sets"), ("n_classes",)),
    "vertices": Form(("vertices",)),
    "gaussian-logits": Form(("mean", "variance"), ("variance_is", "n_draws", "seed", "shared_draws")),
    "logits": Form(("logits",), ("weights",)),  # (n, K): Point; (n, M, K): Members
}
KINDS = ("point", "members", *FORMS)
KNOWN_KEYS = (
    {key for form in FORMS.values() for key in (*form.keys, *form.settings)}
    | {"labels", *CARRIED}
    | set(ALIASES)
)  # fmt: skip


# -- which kind -------------------------------------------------------------------------------------------------------


def choose_form(keys: Iterable[str], kind: str | None = None, *, others: Iterable[str] = ()) -> str:
    """Name of the form in `FORMS` that the keys make, or that `kind` asks for; errors show `others` too.

    Raises
    ------
    InputError
        The keys make no kind or several, or not the kind asked for; the keys found and those known are listed.
    """
    found = list(keys)
    shown = shown_keys([*found, *others])
    complete = [name for name, form in FORMS.items() if set(form.keys) <= set(found)]
    if kind is not None:
        wanted = form_of_kind(kind)
        if wanted not in complete:
            needed = " and ".join(FORMS[wanted].keys)
            raise InputError(
                "kind",
                f"{kind!r} needs {needed}",
                f"found {shown}",
                "leave kind out or rename the keys",
                code="missing",
            )
        return wanted
    if len(complete) == 1:
        return complete[0]
    if complete:
        raise InputError(
            "keys",
            "must make one kind of prediction",
            f"found {shown}, which make {' and '.join(complete)}",
            f"choose one by kind={complete[0]!r} or kind={complete[1]!r}",
            code="ambiguous",
            facts={"kinds": tuple(complete)},
        )
    likely, meant = likely_form([*found, *others])
    known = ", ".join("+".join(form.keys) for form in FORMS.values())
    raise InputError(
        "keys",
        f"one kind of prediction must be among them ({known})",
        f"found {shown}",
        {
            "logits": f"rename {named(likely)} to logits, of which the softmax is taken",
            "counts": f"count how often {named(likely)} has each class, and give the counts as probs with normalise=True",
            "probs": f"rename {named(likely)} to probs if it holds class probabilities",
        }.get(meant, "give the arrays such names: class probabilities are probs"),
        code="choice",
        facts={"key": likely, "meant": meant},
    )


def likely_form(keys: Sequence[str]) -> tuple[str, str]:
    """A key that may be meant as probabilities, and what it seems to hold: logits, counts or probs; else two empty texts."""
    for key in keys:
        plain = key.lower().replace("_", "").replace("-", "")
        if plain in ("logprobs", "logprobabilities", "logprob"):
            return key, "logits"  # their softmax is the probabilities
        if plain in ("samples", "answers", "responses", "generations", "counts", "votes"):
            return key, "counts"
    own = [key for key in keys if key not in KNOWN_KEYS]
    return (own[0], "probs") if len(own) == 1 else ("", "")


def shown_keys(keys: Iterable[Any]) -> str:
    """The first dozen keys for a message, long ones shortened."""
    texts = [visible(str(key)) for key in keys]
    short = [named(text if len(text) <= 40 else f"{text[:39]}…") for text in texts[:12]]
    return ", ".join([*short, "…"] if len(texts) > 12 else short) or "nothing"


def form_of_kind(kind: str) -> str:
    """Name of the form behind a value of `kind=`; spelling with hyphens, underscores or capitals is the same."""
    plain = kind.lower().replace("_", "-") if isinstance(kind, str) else ""
    plain = "gaussian-logits" if plain == "gaussianlogits" else plain
    if plain in ("point", "members"):
        return "probs"
    if plain not in FORMS:
        raise InputError(
            "kind",
            f"must be one of {', '.join(KINDS)}",
            f"got {kind!r:.60}",
            "leave it out to go by the keys",
            code="choice",
        )
    return plain


def holds_truth_values(array: Any) -> bool:
    """True for arrays, stored arrays and tables of truth values alone."""
    types = [str(each) for each in getattr(array, "dtypes", [getattr(array, "dtype", "")])]
    return bool(types) and all(each.endswith(("bool", "boolean")) for each in types)  # torch.bool, too


def key_of_bare_array(kind: str | None, array: Any) -> str:
    """Key under which one array without a name is read: `probs`, or `sets` of truth values, unless `kind` says otherwise."""
    form = FORMS[form_of_kind(kind) if kind is not None else "class-sets" if holds_truth_values(array) else "probs"]
    shape = tuple(array.shape)
    if len(form.keys) > 1:
        raise InputError(
            "kind",
            f"{kind!r} needs {' and '.join(form.keys)}, and this is one array without a name",
            "",
            "give the arrays under these names",
            code="missing",
        )
    if len(shape) < 2:
        raise InputError(
            form.keys[0],
            "must be (n, K), one column per class",
            f"got shape {shape}",
            "labels are read by load_labels, and probabilities of one class go through "
            "Point.from_binary or Members.from_binary",
            code="shape",
            facts={"bare": True},
        )
    return form.keys[0]


def needed_keys(keys: Iterable[str], kind: str | None = None, *, others: Iterable[str] = ()) -> list[str]:
    """Those of the keys that the prediction is made of; everything else need not be read."""
    found = list(keys)
    form = FORMS[choose_form(found, kind, others=others)]
    wanted = {*form.keys, *form.settings, *CARRIED}
    return [key for key in found if ALIASES.get(key, key) in wanted]

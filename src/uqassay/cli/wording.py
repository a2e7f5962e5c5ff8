"""The library's sentences in the words of the command line: its options where those of a function stand."""

import re

__all__ = ["in_options"]

_OPTIONS = (
    (r"\bnormalise=True", "--normalise"),
    (r"\.repaired\(\) \(repair=True, --repair\)", "--repair"),
    (r"\brepair=True", "--repair"),
    (r"\bconvention=(['\"])(\w+)\1", r"--convention \2"),
    (r"\bcommon_members=(\d+)", r"--common-members \1"),
    (r"\bmember_axis=(-?\d+)", r"--member-axis \1"),
    (r"\bmember_axis\b", "--member-axis"),
    (r"\bfloor > 0", "--floor 1e-10, say"),
    (r"\bpass one floor\b", "pass one --floor"),
    (r"\bn_draws:", "draws:"),
    (r"\bn_draws=(\d+)", r"--draws \1"),
    (r"\bnull=(['\"])([\w-]+)\1", r"--null \2"),
    (r"\bpass --null random and resample=False\b", "pass --null random and leave --resample out"),
    (r"\bresample=False, which\b", "leave --resample out, which"),
    (r"\bresample=True", "--resample"),
    (r"\bPoint\.from_logits\b", "the key logits"),
    (r"\bgoes through Members\.from_binary \(or give both columns\)", "needs that of the other class beside it"),
    (
        r"\bgo through (Point|Members)\.from_binary or (Point|Members)\.from_binary",
        "need those of the other beside them",
    ),
    (r"\blabels are read by load_labels\b", "labels are given by --labels"),
    (r"\bpass \.to_numpy\(\) if\b", "leave the ids out if"),
)
_KIND = r"\bkind=(['\"])([\w-]+)\1"


def in_options(sentence: str, command: str = "") -> str:
    """A sentence that names options of `command` instead of the parameters of a function.

    Examples
    --------
    >>> in_options("probs: each row must sum to 1; pass normalise=True.", "report")
    'probs: each row must sum to 1; pass --normalise.'
    >>> in_options("choose one by kind='probs'.", "report")
    'choose one by uqassay convert --kind probs.'
    """
    for pattern, option in _OPTIONS:
        sentence = re.sub(pattern, option, sentence)
    return re.sub(_KIND, r"--kind \2" if command == "convert" else r"uqassay convert --kind \2", sentence)

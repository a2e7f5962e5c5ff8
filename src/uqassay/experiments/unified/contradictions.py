"""Contradictions between the tables of the unified evaluation that no single cell explains.

Each function takes rows of the printed tables and returns one sentence for each contradiction.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal

from uqassay.experiments.rounding import SLACK, Rounded

__all__ = ["contradictions", "covariances", "toy_arithmetic", "vertex_choices"]

Rows = Sequence[Mapping[str, str]]


def contradictions(quantity: str, prints: Mapping[tuple[str, str], Sequence[tuple[float, str, str]]]) -> list[str]:
    """Name every quantity that several tables print with different values.

    Parameters
    ----------
    quantity : str
        What is printed, for example ``"mean of E"``.
    prints : mapping of (dataset, model) to sequence of (tradeoff, table, text)
        Every place where it is printed.

    Returns
    -------
    list of str
        One sentence per dataset and model.

    Examples
    --------
    >>> contradictions("mean of E", {("MNIST", "EDL"): [(0.4, "table9", "0.904"), (0.4, "table8", "0.905")]})
    ['MNIST, EDL: the mean of E differs between tables: λ = 0.4: 0.904 (table9), 0.905 (table8)']
    """
    found = []
    for (dataset, model), places in prints.items():
        by_tradeoff: dict[float, dict[float, list[str]]] = defaultdict(lambda: defaultdict(list))
        texts = {}
        for tradeoff, table, text in places:
            by_tradeoff[tradeoff][float(text)].append(table)
            texts[float(text)] = text
        differing = [
            f"λ = {tradeoff:g}: " + ", ".join(f"{texts[value]} ({', '.join(at)})" for value, at in values.items())
            for tradeoff, values in sorted(by_tradeoff.items())
            if len(values) > 1
        ]
        if differing:
            found.append(f"{dataset}, {model}: the {quantity} differs between tables: {'; '.join(differing)}")
    return found


def covariances(whole: Rows, by_tradeoff: Rows) -> list[str]:
    """Name every model whose sd(E) at the several λ admit no single covariance of KL and NS.

    var(E) = var(KL) + 2λ·cov + λ²·var(NS): with Table 1's two variances each sd(E) of Table 8 leaves an interval for
    the covariance, and these must have a point in common.

    Parameters
    ----------
    whole, by_tradeoff : sequence of dict
        Rows of Tables 1 and 8.

    Returns
    -------
    list of str
        One sentence per dataset and model.

    Examples
    --------
    >>> whole = [{"dataset": "A", "model": "B", "kl_sd": "1.0", "ns_sd": "1.0"}]
    >>> rows = [{"dataset": "A", "model": "B", "tradeoff": t, "e_sd": sd} for t, sd in (("1", "1.4"), ("2", "2.2"))]
    >>> covariances(whole, rows)
    []
    >>> rows[1]["e_sd"] = "2.9"
    >>> covariances(whole, rows)
    ["A, B: no covariance of KL and NS gives all of table8's sd(E) with table1's sd(KL) = 1.0 and sd(NS) = 1.0: ..."]
    """
    ingredients = {(row["dataset"], row["model"]): row for row in whole}
    allowed = defaultdict(list)
    for row in by_tradeoff:
        key, tradeoff = (row["dataset"], row["model"]), float(row["tradeoff"])
        kl, ns = (_positive(ingredients[key][column]) for column in ("kl_sd", "ns_sd"))
        e = _positive(row["e_sd"])
        low = (e.low**2 - kl.high**2 - (tradeoff * ns.high) ** 2) / (2 * tradeoff)
        high = (e.high**2 - kl.low**2 - (tradeoff * ns.low) ** 2) / (2 * tradeoff)
        allowed[key].append((low, high, tradeoff))
    found = []
    for (dataset, model), intervals in allowed.items():
        low, _, at_low = max(intervals)
        high, at_high = min((high, tradeoff) for _, high, tradeoff in intervals)
        if low > high + SLACK:
            row = ingredients[dataset, model]
            found.append(
                f"{dataset}, {model}: no covariance of KL and NS gives all of table8's sd(E) with table1's "
                f"sd(KL) = {row['kl_sd']} and sd(NS) = {row['ns_sd']}: λ = {at_low:g} needs at least {low:.2g}, "
                f"λ = {at_high:g} at most {high:.2g}"
            )
    return found


def toy_arithmetic(rows: Rows) -> list[str]:
    """Name the sums of Table 3 that are not the nearest rounding of the very sum the paper shows.

    Examples
    --------
    >>> toy_arithmetic([{"model": "D", "kl": "0.398", "ns": "0.009", "tradeoff": "0.1", "e": "0.398"}])
    ['table3: the sums shown are not rounded to nearest: D at λ = 0.1 prints 0.398 for 0.3989']
    """
    wrong = []
    for row in rows:
        exact = Decimal(row["kl"]) + Decimal(row["tradeoff"]) * Decimal(row["ns"])
        printed = Decimal(row["e"])
        if abs(printed - exact) > Decimal(1).scaleb(int(printed.as_tuple().exponent)) / 2:
            wrong.append(f"{row['model']} at λ = {row['tradeoff']} prints {row['e']} for {exact.normalize()}")
    return [f"table3: the sums shown are not rounded to nearest: {'; '.join(wrong)}"] if wrong else []


def vertex_choices(rows: Rows) -> list[str]:
    """Name what Table 4 cannot have with both choices of vertices taken from the same masses.

    NS is a sum over masses and knows no vertices; and the nearest of all vertices is never farther than the nearest of
    some of them.

    Examples
    --------
    >>> row = {f"{term}_{part}_mean": "0.10" for term in ("kl", "ns") for part in ("correct", "incorrect")}
    >>> naive = {"model": "DE", "vertices": "naive"} | row
    >>> vertex_choices([naive, {"model": "DE", "vertices": "approximated"} | row])
    []
    >>> vertex_choices([naive, {"model": "DE", "vertices": "approximated"} | row | {"kl_correct_mean": "0.05"}])
    ['table4, DE, correct: KL is 0.10 to the nearest of all vertices and 0.05 to the nearest of some, ...']
    """
    found = []
    by_choice = {(row["model"], row["vertices"]): row for row in rows}
    for model in dict.fromkeys(row["model"] for row in rows):
        every, some = by_choice[model, "naive"], by_choice[model, "approximated"]
        for part in ("correct", "incorrect"):
            ns, kl = f"ns_{part}_mean", f"kl_{part}_mean"
            a, b = Rounded.read(every[ns]), Rounded.read(some[ns])
            if max(a.low, b.low) > min(a.high, b.high) + SLACK:
                found.append(
                    f"table4, {model}, {part}: NS is {every[ns]} with all vertices and {some[ns]} with some, "
                    "yet it is a sum over masses and knows no vertices"
                )
            if Rounded.read(every[kl]).low > Rounded.read(some[kl]).high + SLACK:
                found.append(
                    f"table4, {model}, {part}: KL is {every[kl]} to the nearest of all vertices and {some[kl]} to the "
                    "nearest of some, which cannot be nearer"
                )
    return found


def _positive(text: str) -> Rounded:
    """A printed standard deviation: rounding does not take it below zero."""
    number = Rounded.read(text)
    return Rounded(number.value, max(0.0, number.low), number.high)

"""Changed copies of the printed tables on disentanglement."""

from uqassay.experiments import printed_table
from uqassay.experiments.disentangling.printed_values import TABLES


def changed(table: str, column: str, text: str, **where: str) -> dict[str, list[dict[str, str]]]:
    """The table with another text in the one row that has the given values."""
    rows = [dict(row) for row in printed_table(TABLES[table])]
    (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
    row[column] = text
    return {table: rows}

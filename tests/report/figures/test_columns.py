"""Columns of numbers next to a figure: the more important ones first, each with its head."""

from matplotlib.figure import Figure

from uqassay.report.figures.frame import PLOT, columns_width, fitting_columns, write_columns

COLUMNS = [("mean", "0.512 [0.480, 0.544]", "0.1"), ("won", "12 %", ""), ("p", ".04", "1.00")]


def test_columns_that_leave_the_axes_their_room():
    whole = columns_width(COLUMNS)
    assert fitting_columns(COLUMNS, PLOT + whole + 0.1, first=(2, 0, 1)) == COLUMNS
    assert fitting_columns(COLUMNS, PLOT + columns_width(COLUMNS[1:]) + 0.1, first=(2, 0, 1)) == COLUMNS[1:]
    assert fitting_columns(COLUMNS, PLOT + columns_width(COLUMNS[2:]) + 0.1, first=(2, 0, 1)) == COLUMNS[2:]
    assert fitting_columns(COLUMNS, PLOT, first=(2, 0, 1)) == []


def test_cells_stand_in_their_rows_and_columns():
    figure = Figure(dpi=100)
    ax = figure.subplots()
    ax.set_ylim(1.5, -0.5)
    write_columns(ax, COLUMNS, [0, 1], top=-0.5, bold=[False, True])
    found = [(t.get_text(), t.xy[1], t.get_fontweight()) for t in ax.texts]
    assert ("mean", -0.5, "bold") in found
    assert (".04", 0, "normal") in found
    assert ("1.00", 1, "bold") in found
    assert len(found) == 8  # an empty cell is not drawn
    places = {t.get_text(): t.xyann[0] for t in ax.texts}
    assert places["mean"] < places["won"] < places["p"] == places[".04"]

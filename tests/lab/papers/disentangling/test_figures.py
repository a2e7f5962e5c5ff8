"""Figures of the disentanglement paper: which files, which panels."""

import pytest
from tests.evidence.disentanglement_data import made_study
from tests.refusals import refuses

from uqassay.evidence.disentanglement_runs import Contender
from uqassay.lab.papers.disentangling.tables import PAPER_FIGURES, curve_grid, write_disentanglement_figures

PNG = b"\x89PNG"


def contender(method, decomposition, **options):
    study = made_study("perfect", method, decomposition=decomposition, n_runs=2, n=30, **options)
    return Contender(f"{method}, {decomposition}", study, decomposition)


def test_rows_are_decompositions_and_columns_methods():
    field = [contender(m, d) for m in ("dropout", "ensemble") for d in ("variance", "zero-one")]
    field.append(contender("flipout", "variance"))
    grid = curve_grid(field, "dataset-size")
    labels = [[one and one.label for one in row] for row in grid]
    assert labels == [
        ["dropout, variance", "ensemble, variance", "flipout, variance"],
        ["dropout, zero-one", "ensemble, zero-one", None],
    ]
    assert curve_grid([contender("a", "variance", without=("dataset-size",))], "dataset-size") == []


def test_the_first_of_two_alike_is_drawn():
    first, second = contender("dropout", "variance"), contender("dropout", "variance", seed=1)
    assert curve_grid([first, second], "label-noise") == [[first]]


@pytest.mark.parametrize(("dataset", "numbers"), [("Wine", (9, 12)), ("cifar-10", (2, 4))])
def test_files_of_the_papers_data_sets_have_its_numbers(tmp_path, dataset, numbers):
    written = write_disentanglement_figures(tmp_path / "new", [contender("dropout", "variance", dataset=dataset)])
    assert [path.name for path in written] == [f"disentanglement_figure{n}.png" for n in (1, *numbers)]
    assert all(path.read_bytes().startswith(PNG) for path in written)


def test_files_of_other_data_sets_have_their_names(tmp_path):
    field = [contender("dropout", "variance", dataset="my data/1", without=("dataset-size",))]
    written = write_disentanglement_figures(tmp_path, field)
    assert [path.name for path in written] == [
        "disentanglement_figure1.png",
        "disentanglement_my_data_1_label-noise.png",
    ]


def test_every_figure_of_curves_has_a_number():
    assert sorted(PAPER_FIGURES.values()) == [2, 4, *range(8, 14)]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with refuses("figures", "unwritable"):
        write_disentanglement_figures(tmp_path / "taken", [contender("dropout", "variance")])

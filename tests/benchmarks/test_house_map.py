"""The map of the house names every file as it is."""

from benchmarks.house import PAGE, house_map, rooms


def test_the_map_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == house_map()


def test_every_file_is_in_one_room():
    assert sum(n_files for _, n_files in rooms().values()) == house_map().count(".py` | ")

"""The folder of both kinds of study; their own tests are in test_gain_storage and test_disentanglement_storage."""

import numpy as np
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.evidence.study_folder import note_from_values, note_values, read_study_folder, save_study_folder
from uqassay.notes import Note


def test_facts_and_arrays_come_back(tmp_path):
    save_study_folder(tmp_path / "a", {"x": np.float64("nan")}, {"y": np.arange(3)}, schema="s/1")
    facts, arrays = read_study_folder(tmp_path / "a", lambda *parts: parts, schema="s/1", writer="w")
    assert facts == {"schema": "s/1", "x": None}
    assert arrays["y"].tolist() == [0, 1, 2]


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("mine")
    with refuses(str(tmp_path / "file" / "a"), "unwritable", error=FileFormatError):
        save_study_folder(tmp_path / "file" / "a", {}, {}, schema="s/1")


def test_notes_keep_their_facts():
    note = note_from_values(note_values(Note("groups", "3 groups", {"groups": 3})))
    assert (note.code, note.text, note.facts) == ("groups", "3 groups", {"groups": 3})

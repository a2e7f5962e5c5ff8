"""Lines of results by the code that made them; torn lines are skipped and not continued."""

from benchmarks.keyed_lines import append, read_lines


def test_lines_of_other_code_are_counted_and_not_used(tmp_path):
    path = tmp_path / "folder" / "lines.jsonl"
    assert read_lines(path, "a") == ([], 0)
    append(path, {"seed": 0}, "a")
    path.write_text(path.read_text() + '{"seed": 5}\n')  # of the time before lines had a code
    append(path, {"seed": 1}, "b")
    assert read_lines(path, "a") == ([{"seed": 0}], 2)
    assert read_lines(path, "b") == ([{"seed": 1}], 2)
    assert read_lines(path, "c") == ([], 3)


def test_a_torn_line_is_skipped_and_not_continued(tmp_path):
    path = tmp_path / "lines.jsonl"
    append(path, {"seed": 0}, "a")
    path.write_text(path.read_text() + '{"code": "a", "se')
    assert read_lines(path, "a") == ([{"seed": 0}], 0)
    append(path, {"seed": 1}, "a")
    path.write_text(path.read_text() + "[1]\n\n")
    assert read_lines(path, "a") == ([{"seed": 0}, {"seed": 1}], 0)

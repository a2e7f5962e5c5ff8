"""Files and folders that appear whole: crashes, two writers, full disks, permissions, links, odd names."""

import errno
import multiprocessing
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import pytest

import uqassay
from tests.refusals import refuses
from uqassay.errors import FileFormatError
from uqassay.files import DRAFT, draft_of, flush, plain_target, read_bytes, whole_file

OLD, NEW = b"the older content\n", b"the new content\n" * 1000
SOURCE = Path(uqassay.__file__).resolve().parent
NOBODY = 65534
POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions and signals of POSIX")


def write(path, content=NEW):
    with whole_file(path) as stream:
        stream.write(content)


def write_folder(path, content=NEW):
    with draft_of(path, folder=True) as draft:
        (draft / "inside").mkdir(parents=True)
        (draft / "inside" / "file").write_bytes(content)


def content(path):
    return (path / "inside" / "file").read_bytes() if path.is_dir() else path.read_bytes()


WRITERS = pytest.mark.parametrize("writer", [write, write_folder])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def refuse(code):
    def refused(*_, **__):
        raise OSError(code, os.strerror(code))

    return refused


# -- what is there at the end -----------------------------------------------------------------------------------------


@WRITERS
def test_what_is_new_and_what_is_replaced(tmp_path, writer):
    path = tmp_path / "a.npz"
    for content_now in (OLD, NEW, b""):
        writer(path, content_now)
        assert content(path) == content_now
        assert names(tmp_path) == ["a.npz"]


def test_nothing_is_there_before_the_end_and_the_draft_lies_beside_it(tmp_path):
    path = tmp_path / "a.npz"
    write(path, OLD)
    with whole_file(path) as stream:
        stream.write(NEW)
        stream.flush()
        assert path.read_bytes() == OLD
        (draft,) = set(tmp_path.iterdir()) - {path}
        assert draft.name.startswith(DRAFT)
        assert draft.suffix == ".npz"
    assert path.read_bytes() == NEW
    with draft_of(tmp_path / "b.csv") as draft:
        assert draft.read_bytes() == b""
        draft.write_bytes(OLD)
    assert (tmp_path / "b.csv").read_bytes() == OLD


@pytest.mark.parametrize(
    "name",
    [
        "Ergebnis λ=½.npz",
        "结果.html",
        "no-extension",
        ".hidden",
        "two words\n.json",
        "ö" * 120 + ".npz",
        "a." + "x" * 250,
    ],
)
@pytest.mark.parametrize("form", [Path, str])
def test_names_of_any_kind(tmp_path, name, form):
    write(form(tmp_path / name), OLD)
    write(form(tmp_path / name))
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, NEW)]


@POSIX
def test_a_name_that_is_no_utf8(tmp_path):
    name = os.fsdecode(b"caf\xe9.npz")
    try:
        (tmp_path / name).touch()
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")
    write(tmp_path / name)
    assert (tmp_path / name).read_bytes() == NEW


def test_a_path_relative_to_the_folder_one_is_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("a.txt")
    write_folder("b")
    assert names(tmp_path) == ["a.txt", "b"]


# -- what goes wrong --------------------------------------------------------------------------------------------------


@WRITERS
@pytest.mark.parametrize("problem", [RuntimeError("no more"), KeyboardInterrupt("no more"), SystemExit("no more")])
@pytest.mark.parametrize("older", [True, False])
def test_a_block_that_raises_leaves_what_was_there(tmp_path, writer, problem, older):
    path = tmp_path / "a"
    if older:
        writer(path, OLD)

    def interrupted():
        with draft_of(path, folder=writer is write_folder) as draft:
            if writer is write_folder:
                draft.mkdir()
                draft /= "half"
            draft.write_bytes(b"half")
            raise problem

    with pytest.raises(type(problem), match="no more"):
        interrupted()
    assert names(tmp_path) == ["a"] * older
    assert not older or content(path) == OLD


@WRITERS
@pytest.mark.parametrize("step", ["os.fsync", "os.replace"])
@pytest.mark.parametrize(
    ("code", "words"),
    [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only file system"), (errno.EIO, "Input/output error")],
)
def test_a_step_that_fails_leaves_what_was_there_and_names_the_target(tmp_path, monkeypatch, writer, step, code, words):
    path = tmp_path / "a"
    writer(path, OLD)
    with monkeypatch.context() as patch:
        patch.setattr(step, refuse(code))
        with pytest.raises(OSError, match=f"{words}.*{re.escape(repr(str(path)))}") as caught:
            writer(path)
    assert (caught.value.errno, caught.value.filename) == (code, str(path))
    assert (names(tmp_path), content(path)) == (["a"], OLD)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (PermissionError(errno.EACCES, "Permission denied"), r"Permission denied: '.*a'"),
        (KeyboardInterrupt("now"), "now"),
    ],
)
def test_a_folder_whose_second_rename_fails_gets_the_older_one_back(tmp_path, monkeypatch, problem, words):
    write_folder(tmp_path / "a", OLD)
    honest, calls = os.replace, []

    def second_fails(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise problem
        honest(source, target)

    monkeypatch.setattr("os.replace", second_fails)
    with pytest.raises(type(problem), match=words):
        write_folder(tmp_path / "a")
    assert (names(tmp_path), content(tmp_path / "a")) == (["a"], OLD)


def with_a_rival(monkeypatch, path, before, rival):
    """The rival acts once, before the rename that `before` tells by source and target."""
    honest, said = os.replace, []

    def replace(source, target):
        if not said and before(Path(source), Path(target)):
            said.append(True)
            rival(honest)
        honest(source, target)

    monkeypatch.setattr("os.replace", replace)
    write_folder(path)
    assert said


@pytest.mark.parametrize("older", [True, False])
def test_a_folder_that_another_writer_puts_there_first_is_replaced(tmp_path, monkeypatch, older):
    path = tmp_path / "a"
    if older:
        write_folder(path, OLD)

    def puts_its_own(_):
        (path / "inside").mkdir(parents=True)
        (path / "inside" / "file").write_bytes(b"of another writer")

    with_a_rival(monkeypatch, path, lambda _, target: target == path, puts_its_own)
    assert (names(tmp_path), content(path)) == (["a"], NEW)


@pytest.mark.parametrize("returns", [True, False])
def test_a_folder_that_another_writer_has_aside(tmp_path, monkeypatch, returns):
    path = tmp_path / "a"
    write_folder(path, OLD)
    path.chmod(0o700)

    def takes_it(rename):
        rename(path, tmp_path / "aside")
        if returns:
            path.mkdir()
            (path / "of another writer").touch()

    with_a_rival(monkeypatch, path, lambda source, _: source == path, takes_it)
    assert (names(tmp_path), content(path), content(tmp_path / "aside")) == (["a", "aside"], NEW, OLD)
    assert os.name != "posix" or stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_place_that_is_always_taken_is_given_up(tmp_path, monkeypatch):
    path = tmp_path / "a"
    write_folder(path, OLD)
    honest = os.replace

    def replace(source, target):
        if Path(target) == path and content(Path(source)) == NEW:
            raise OSError(errno.ENOTEMPTY, "Directory not empty", source, None, target)
        honest(source, target)

    monkeypatch.setattr("os.replace", replace)
    with pytest.raises(OSError, match=rf"Directory not empty: {re.escape(repr(str(path)))}$"):
        write_folder(path)
    assert (names(tmp_path), content(path)) == (["a"], OLD)


@WRITERS
def test_a_folder_that_is_missing(tmp_path, writer):
    path = tmp_path / "none" / "a.npz"
    if writer is write:
        with pytest.raises(FileNotFoundError, match=re.escape(f"No such file or directory: '{path}'")):
            write(path)
    else:  # the block makes the draft, and its parents with it where it asks for them
        with pytest.raises(FileNotFoundError, match="No such file or directory"), draft_of(path, folder=True) as draft:
            draft.mkdir()
    assert names(tmp_path) == []


def test_only_a_file_is_replaced_by_a_file(tmp_path):
    (tmp_path / "folder").mkdir()
    with refuses("path", "not-a-file", error=FileFormatError):
        write(tmp_path / "folder")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with refuses("path", "not-a-file", error=FileFormatError):
            write(tmp_path / "pipe")
        assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(NotADirectoryError, match="file"):
        write_folder(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == OLD
    with pytest.raises(NotADirectoryError, match="Not a directory"):
        write(tmp_path / "file" / "below")


@pytest.mark.parametrize("end", [os.sep, os.sep + "."])
@pytest.mark.parametrize("there", [True, False])
def test_a_name_that_ends_in_a_separator_is_no_file(tmp_path, end, there):
    path = str(tmp_path / "plain")
    if there:
        write(path, OLD)
    with refuses("path", "not-a-file", got="'", error=FileFormatError):
        write(path + end)
    assert [content(found) for found in tmp_path.iterdir()] == [OLD] * there
    write_folder(str(tmp_path / "folder") + end)
    assert content(tmp_path / "folder") == NEW


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError, match="elsewhere"), whole_file(tmp_path / "a"):
        (tmp_path / "elsewhere").read_bytes()
    assert names(tmp_path) == []


@POSIX
def test_a_limit_on_the_size_of_files(tmp_path):
    program = f"""if True:
        import resource, signal, sys
        sys.path.insert(0, {str(SOURCE.parent)!r})
        from uqassay.files import whole_file
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        try:
            with whole_file(sys.argv[1]) as stream:
                stream.write(bytes(5000))
        except OSError as problem:
            print(problem)
    """
    path = tmp_path / "a"
    path.write_bytes(OLD)
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"[Errno {errno.EFBIG}] File too large: '{path}'\n"
    assert (names(tmp_path), path.read_bytes()) == (["a"], OLD)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_while_the_block_writes(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(OLD)

    def to_a_full_disk():
        with draft_of(path) as draft:
            draft.unlink()
            draft.symlink_to("/dev/full")
            with draft.open("wb") as stream:
                stream.write(NEW)

    with pytest.raises(OSError, match=re.escape(f"No space left on device: '{path}'")):
        to_a_full_disk()
    assert (names(tmp_path), path.read_bytes()) == (["a"], OLD)


# -- crashes and rivals -----------------------------------------------------------------------------------------------


@POSIX
@WRITERS
def test_killed_before_any_step_a_reader_finds_one_whole_content(tmp_path, writer):
    """Killed before the 1st, 2nd, … call to the file system, until one comes through."""
    states = []
    for step in range(1, 200):
        folder = tmp_path / str(step)
        folder.mkdir()
        path = folder / "a"
        writer(path, OLD)
        with warnings.catch_warnings():  # of threads that other tests left, from Python 3.12 on
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                _killed_at(step, lambda path=path: writer(path))
            finally:
                os._exit(0)
        ended = os.waitpid(child, 0)[1] == 0
        aside = [p for p in folder.iterdir() if p.name.startswith(DRAFT)]
        assert set(names(folder)) - {p.name for p in aside} <= {"a"}
        if path.exists():
            states.append(content(path))
        else:  # between the two renames of folders: the older one is aside, whole
            assert writer is write_folder
            assert OLD in [content(p) for p in aside if (p / "inside" / "file").exists()]
        if ended:
            break
    assert ended
    assert set(states) == {OLD, NEW}
    assert states[-1] == NEW
    assert len(states) >= 5


def _killed_at(step, work):
    steps = iter(range(1, step))
    events = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod")

    def count(event, arguments):
        writes = event != "open" or (isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))
        if event in events and writes and next(steps, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    work()


def _write_often(path, letter, n):
    for _ in range(n):
        write(path, letter * 50_000)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_two_writers_at_once_never_mix(tmp_path, kind):
    path = tmp_path / "a"
    write(path, b"a" * 50_000)
    make = threading.Thread if kind == "threads" else multiprocessing.get_context("spawn").Process
    writers = [make(target=_write_often, args=(path, letter, 40)) for letter in (b"a", b"b", b"c")]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        found = path.read_bytes()
        assert len(found) == 50_000
        assert len(set(found)) == 1
        seen.add(found[:1])
    for writer in writers:
        writer.join()
    if kind == "processes":
        assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert names(tmp_path) == ["a"]
    assert path.read_bytes()[:1] in {b"a", b"b", b"c"}


@POSIX
def test_writers_of_a_folder_at_once_never_fail_nor_mix_nor_leave_anything(tmp_path):
    path, problems = tmp_path / "a", []
    write_folder(path, b"a")

    def often(letter):
        try:
            for _ in range(20):
                with draft_of(path, folder=True) as draft:
                    draft.mkdir()
                    for name in "xyz":
                        (draft / name).write_bytes(letter)
        except OSError as problem:
            problems.append(problem)

    writers = [threading.Thread(target=often, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert not problems
    assert names(tmp_path) == ["a"]
    assert names(path) == ["x", "y", "z"]
    assert len({part.read_bytes() for part in path.iterdir()}) == 1


@WRITERS
def test_content_and_names_are_brought_to_the_disk_before_and_after_the_rename(tmp_path, monkeypatch, writer):
    honest_fsync, honest_replace, said = os.fsync, os.replace, []

    def fsync(handle):
        said.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        honest_fsync(handle)

    def rename(source, target):
        said.append("rename")
        honest_replace(source, target)

    monkeypatch.setattr("os.fsync", fsync)
    monkeypatch.setattr("os.replace", rename)
    writer(tmp_path / "a")
    inside = ["file"] if writer is write else ["folder", "file", "folder"]  # outer folder, then the inner one's
    assert sorted(said[: said.index("rename")]) == sorted(inside)
    assert said[said.index("rename") :] == ["rename", "folder"]


def test_a_folder_that_cannot_be_flushed_is_no_failure(tmp_path, monkeypatch):
    honest = os.fsync

    def fsync(handle):
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")  # as some network file systems do
        honest(handle)

    monkeypatch.setattr("os.fsync", fsync)
    write(tmp_path / "a")
    assert names(tmp_path) == ["a"]
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", refuse(errno.EINVAL))
        with pytest.raises(OSError, match="Invalid argument"):
            flush(tmp_path / "a")


# -- permissions and links --------------------------------------------------------------------------------------------


@POSIX
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_any_new_file_or_of_the_older_one(tmp_path, umask):
    before = os.umask(umask)
    try:
        write(tmp_path / "new")
        assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~umask
        write_folder(tmp_path / "folder")
        assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o777 & ~umask
        for mode in (0o600, 0o640, 0o666):
            (tmp_path / "new").chmod(mode)
            with whole_file(tmp_path / "new") as stream:
                (draft,) = (path for path in tmp_path.iterdir() if path.name.startswith(DRAFT))
                assert stat.S_IMODE(draft.stat().st_mode) == mode  # what is private stays so all the time
                stream.write(NEW)
            assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == mode
        with draft_of(tmp_path / "other") as draft:  # a writer that makes files for their owner alone
            draft.unlink()
            os.close(os.open(draft, os.O_CREAT | os.O_WRONLY, 0o600))
        assert stat.S_IMODE((tmp_path / "other").stat().st_mode) == 0o666 & ~umask
    finally:
        os.umask(before)


@POSIX
def test_a_folder_keeps_the_permissions_of_the_older_one(tmp_path):
    path = tmp_path / "a"
    write_folder(path, OLD)
    for mode in (0o700, 0o750, 0o777):
        path.chmod(mode)
        write_folder(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode


@POSIX
@pytest.mark.parametrize("at_first", [True, False])
def test_a_folder_that_another_writer_has_aside_at_one_moment_hands_its_permissions_on(tmp_path, at_first):
    path = tmp_path / "a"
    if at_first:
        path.mkdir()
        path.chmod(0o700)
    with draft_of(path, folder=True) as draft:
        draft.mkdir()
        if at_first:
            path.rename(tmp_path / "aside")
        else:
            path.mkdir()
            path.chmod(0o700)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


@pytest.fixture
def somebody():
    """A folder that all may enter, and this process as a user whom permissions bind, also where tests run as root."""
    if os.name != "posix":
        pytest.skip("permissions of POSIX")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.geteuid() != 0:
            yield folder
            return
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            if not os.access(folder, os.X_OK, effective_ids=True):
                pytest.skip("temporary folders are closed to other users here")
            yield folder
        finally:
            os.seteuid(0)


def test_a_folder_that_may_only_be_read(somebody):
    write(somebody / "a", OLD)
    write_folder(somebody / "b", OLD)
    somebody.chmod(0o555)
    try:
        for use, name in ((write, "a"), (write, "new"), (write_folder, "b"), (write_folder, "new")):
            with pytest.raises(PermissionError, match="Permission denied") as caught:
                use(somebody / name)
            assert DRAFT not in str(caught.value)
        assert (names(somebody), content(somebody / "a"), content(somebody / "b")) == (["a", "b"], OLD, OLD)
    finally:
        somebody.chmod(0o755)


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch, somebody):
    path = somebody / "a"
    write(path, OLD)
    path.chmod(0o444)
    honest = os.access  # which asks for the user who began the process
    monkeypatch.setattr("os.access", lambda p, mode: honest(p, mode, effective_ids=True))
    with pytest.raises(PermissionError, match=re.escape(f"Permission denied: '{path}'")):
        write(path)
    assert (names(somebody), path.read_bytes()) == (["a"], OLD)


@pytest.mark.parametrize("fails", [True, False])
def test_a_folder_that_takes_no_files_leaves_nothing_behind(somebody, monkeypatch, fails):
    path, honest = somebody / "a", os.replace
    (path / "inside").mkdir(parents=True)
    (path / "inside" / "file").write_bytes(OLD)
    path.chmod(0o500)

    def replace(source, target):
        if fails and Path(target) == path and content(Path(source)) == NEW:
            raise OSError(errno.EIO, "Input/output error")
        honest(source, target)

    monkeypatch.setattr("os.replace", replace)
    if fails:
        with pytest.raises(OSError, match="Input/output error"):
            write_folder(path)
    else:
        write_folder(path)
    assert (names(somebody), content(path)) == (["a"], OLD if fails else NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o500
    path.chmod(0o700)


def test_a_folder_that_takes_files_and_shows_none(somebody):
    somebody.chmod(0o333)
    try:
        write(somebody / "a")
    finally:
        somebody.chmod(0o755)
    assert (names(somebody), content(somebody / "a")) == (["a"], NEW)


@POSIX
@WRITERS
@pytest.mark.parametrize("older", [True, False])
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path, writer, older):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a", tmp_path / "link"
    if older:
        writer(target, OLD)
    link.symlink_to(Path("real", "a"))
    writer(link)
    assert link.is_symlink()
    assert content(target) == NEW
    assert (names(tmp_path), names(tmp_path / "real")) == (["link", "real"], ["a"])
    assert plain_target(link) == target.resolve() if writer is write else link.resolve() == target.resolve()


@POSIX
def test_a_link_to_itself(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        write(tmp_path / "loop")
    assert names(tmp_path) == ["loop"]


@POSIX
def test_other_names_of_a_file_keep_the_older_content(tmp_path):
    write(tmp_path / "a", OLD)
    os.link(tmp_path / "a", tmp_path / "b")
    write(tmp_path / "a")
    assert (content(tmp_path / "a"), content(tmp_path / "b")) == (NEW, OLD)


# -- one mechanism ----------------------------------------------------------------------------------------------------


def test_no_other_module_renames_or_flushes_but_the_store_of_results():
    """One way of writing: a copy of it elsewhere would drift."""
    steps = re.compile(r"os\.(replace|fsync|rename)\(|\.rename\(|mkstemp|NamedTemporaryFile")
    found = {path.name for path in SOURCE.rglob("*.py") if steps.search(path.read_text(encoding="utf-8"))}
    # the folder of a result is never replaced, and a claim is taken over by one of several, so they have renames of their own
    assert found == {"files.py"}


def test_only_plain_files_are_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 10)
    assert read_bytes(path) == read_bytes(path, 10) == b"x" * 10
    with refuses("path", "size", got="at most 9 bytes"):
        read_bytes(path, 9)
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "b.txt")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "loop", "zero", "."):
        with refuses("path", "not-a-file"):
            read_bytes(tmp_path / name)

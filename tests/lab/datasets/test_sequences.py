"""Sequences in the layouts of their publishers.

FASTA: the first records of ``data/1000seq.fasta`` of Fiannaca et al. 2018 (IcarPA-TBlab/MetagenomicDC on GitHub), cut after
two lines; names of orders that are not approved stand between quotation marks there. Ids: ``sequence.fasta`` in RIKEN's archive
``grd_all_201304.zip``. Lines ``^EC>sequence``: the NEW set of DEEPre, as its page dataset.html describes it.
"""

import math
from collections import Counter

import numpy as np
import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.lab.datasets import load_dataset
from uqassay.lab.datasets import sequences as module
from uqassay.lab.datasets.sequences import TfIdfOptions, load_sequences, read_sequences, sequence_files, tf_idf

FIANNACA = """\
>S003747738 Alphaproteobacteria Rhodobacterales Rhodobacteraceae Rhodobaca
CACGTCGGACGAGATCTTCGGATCTAGTGGCGGACGGGTGAGTAACGCGTGGGAACGTGC
CCTTTGCTACGGAATAGTCCCGGGAAACTGGGTTTAATACCGTATACGCCCTTCGGGGGA
>S000021011 Alphaproteobacteria Rhodobacterales Rhodobacteraceae Rhodobaca
CACACTGGGACTGAGACACGGCCCAGANTCNTACGGGAGGCAGCAGTGGGGAATCTTAGA
>S004458051 Gammaproteobacteria "Salinisphaerales" "Salinisphaeraceae" Salinisphaera
TGCTTTAACATGCAAGTCGAACGGTAACAGAGAGAAGCTTGCTTCTCTGCTGACGAGTGG
"""
DEEPRE = """\
^1.1.1.100>VYEQVSIEVPQSVEAPVVIITGASEIEASTIQALSFGPDVXKEADVEAMIKAVDAWGQVDVLINNAGITRAGVIGLQKNINVNAIAPGFIASDMTAKILETIPLGR
^2.5.1.16>MEPGPDGPAAPGPAAIREGWFRETCSLWPG
"""


def written(path, text, **how):
    path.write_text(text, encoding="utf-8", **how)
    return path


def test_fasta_with_a_taxonomy_in_each_description(tmp_path):
    path = written(tmp_path / "1000seq.fasta", FIANNACA)
    found = read_sequences(path)
    assert found.ids == ("S003747738", "S000021011", "S004458051")
    assert found.labels == ("Rhodobaca", "Rhodobaca", "Salinisphaera")
    assert [len(one) for one in found.sequences] == [120, 60, 60]
    assert found.sequences[0].endswith("CGTATACGCCCTTCGGGGGA")
    assert read_sequences(path, label_word=0).labels[::2] == ("Alphaproteobacteria", "Gammaproteobacteria")
    assert read_sequences(path, label_word=1).labels[2] == "Salinisphaerales"
    assert found.domains is None


def test_ids_alone_take_their_labels_from_a_table(tmp_path):
    path = written(tmp_path / "sequence.fasta", ">NC_008497_01\nACGT\n>NC_008497_02\nACGA\n")
    with refuses("labels", "missing", got=r"record 0 is >NC_008497_01; .*sequence.labels.csv", error=FileFormatError):
        read_sequences(path)
    table = tmp_path / "sequence.labels.csv"
    written(table, 'taxid,id,label\n1580,NC_008497_02,Lactobacillus brevis\n1580,NC_008497_01,"L. brevis, copy"\n')
    assert read_sequences(path).labels == ("L. brevis, copy", "Lactobacillus brevis")
    written(table, "id,label\nNC_008497_01,Lactobacillus brevis\n")
    with refuses("id", "mismatch", got="NC_008497_02 has none", source="sequence.labels.csv", error=FileFormatError):
        read_sequences(path)
    written(table, "id,label\nNC_008497_01,a\nNC_008497_01,b\nNC_008497_02,c\n")
    with refuses("id", "duplicate", got="NC_008497_01 occurs more often", error=FileFormatError):
        read_sequences(path)


def test_lines_of_an_ec_number_and_a_sequence(tmp_path):
    found = read_sequences(written(tmp_path / "new.txt", DEEPRE))
    assert found.ids == ("1", "2")
    assert found.labels == ("1.1.1.100", "2.5.1.16")
    assert found.sequences[0].startswith("VYEQVS")
    assert len(found.sequences[0]) == 106
    assert read_sequences(written(tmp_path / "plain.txt", DEEPRE.replace("^", ""))).labels == found.labels


def test_csv_with_two_named_columns(tmp_path):
    path = written(tmp_path / "mine.csv", "\ufefflabel,length,sequence\r\nx,4,ACGU\r\n\r\ny,2,GG\r\n", newline="")
    found = read_sequences(path)
    assert (found.sequences, found.labels) == (("ACGU", "GG"), ("x", "y"))


def test_domains_of_each_protein(tmp_path):
    path = written(tmp_path / "new.txt", DEEPRE)
    table = written(tmp_path / "new.domains.txt", "adh_short KR\n\n")
    assert read_sequences(path).domains == (("adh_short", "KR"), ())
    assert read_sequences(path).subset([1, 0]).domains == ((), ("adh_short", "KR"))
    written(table, "adh_short KR\n")
    with refuses(
        "domains", "mismatch", got="each of 2 sequences.*got 1", source="new.domains.txt", error=FileFormatError
    ):
        read_sequences(path)


def test_small_letters_windows_lines_and_the_end_of_a_translation_are_kept(tmp_path):
    path = written(tmp_path / "mine.fa", ">P1 k\r\nMEpg\r\nPD*\r\n\r\n>P2 k\r\nAC\r\n", newline="")
    assert read_sequences(path).sequences == ("MEpgPD*", "AC")


@pytest.mark.parametrize(
    ("name", "text", "parameter", "code", "got"),
    [
        ("a.fasta", "ACGT\n", "file", "syntax", "line 1 is 'ACGT'"),
        ("a.fasta", "", "file", "empty", "got none"),
        ("a.fasta", ">S1 k\n>S2 k\nAC\n", "sequences", "syntax", r"record 0 \(S1\) has no sequence"),
        ("a.fasta", ">S1 k\nAC\n>S2 k\nAC--GT\n", "sequences", "syntax", r"record 1 \(S2\) has the character '-'"),
        ("a.fasta", ">S1 k\nA1C\n", "sequences", "syntax", "the character '1'"),
        ("a.fasta", '>S1 ""\nAC\n', "sequences", "syntax", "no label"),
        ("a.txt", "1.1.1.1 ACGT\n", "file", "syntax", "line 1 is '1.1.1.1 ACGT'"),
        ("a.txt", "^1.1.1.1>AC>GT\n", "file", "syntax", "line 1 "),
        ("a.txt", "^1.1.1.1>AC\n^>AC\n", "file", "syntax", "line 2 is '\\^>AC'"),
        ("a.csv", "sequence,class\nAC,x\n", "columns", "missing", "got sequence, class"),
        ("a.csv", "sequence,label\nAC,x\nAC\n", "columns", "shape", "got 1 in row 1"),
        ("a.csv", "", "columns", "missing", "got none"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path, name, text, parameter, code, got):
    with refuses(parameter, code, got=got, source=name, error=FileFormatError):
        read_sequences(written(tmp_path / name, text))


def test_text_that_is_not_utf8_is_refused(tmp_path):
    (tmp_path / "a.fasta").write_bytes(b">S1 \xff\nAC\n")
    with refuses("file", source="a.fasta", error=FileFormatError):
        read_sequences(tmp_path / "a.fasta")


# -- tf-idf against values by hand -------------------------------------------------------------------------------------


pytestmark = pytest.mark.usefixtures("sklearn_there")
TRAIN, TEST = ["AACA", "ACAC", "GGG", "AAC"], ["ACAG"]


@pytest.fixture
def sklearn_there(needs):
    needs("sklearn")


@pytest.fixture
def letters():
    rng = np.random.default_rng(5)
    return ["".join(rng.choice(list("ACGT"), size)) for size in rng.integers(2, 40, 30)]


def by_counting(train, test, orders, *, sublinear=False, smooth=True, norm="l2"):
    """The definition, term by term."""

    def grams(text):
        return Counter(text[i : i + n] for n in range(orders[0], orders[1] + 1) for i in range(len(text) - n + 1))

    counted = [grams(text) for text in train]
    terms = sorted({term for one in counted for term in one})
    n, idf = len(train), {}
    for term in terms:
        df = sum(term in one for one in counted)
        idf[term] = (math.log((1 + n) / (1 + df)) if smooth else math.log(n / df)) + 1
    parts = []
    for part in (counted, [grams(text) for text in test]):
        rows = []
        for one in part:
            tf = {term: 1 + math.log(k) if sublinear else k for term, k in one.items()}
            row = np.array([tf.get(term, 0.0) * idf[term] for term in terms])
            length = {"l2": np.sqrt((row**2).sum()), "l1": np.abs(row).sum(), "none": 1.0}[norm]
            rows.append(row / length if length else row)
        parts.append(np.array(rows))
    return *parts, tuple(terms)


def test_five_short_sequences_by_hand():
    """df of AA, AC, CA, GG is 2, 3, 2, 1 of n = 4: idf = 1 + ln(5/3), 1 + ln(5/4), 1 + ln(5/3), 1 + ln(5/2)."""
    train, test, terms = tf_idf(TRAIN, TEST, (2, 2))
    assert terms == ("AA", "AC", "CA", "GG")  # AG occurs in the test part alone
    raw = np.array(
        [
            [1.510826, 1.223144, 1.510826, 0.0],
            [0.0, 2 * 1.223144, 1.510826, 0.0],
            [0.0, 0.0, 0.0, 2 * 1.916291],
            [1.510826, 1.223144, 0.0, 0.0],
            [0.0, 1.223144, 1.510826, 0.0],
        ]
    )
    expected = raw / np.array([2.461965, 2.875225, 3.832582, 1.943889, 1.943889])[:, None]
    np.testing.assert_allclose(np.vstack([train.toarray(), test.toarray()]), expected, atol=1e-5)
    assert train.dtype == np.float32
    assert train.format == "csr"


@pytest.mark.parametrize(
    "options",
    [{}, {"sublinear": True}, {"smooth": False}, {"norm": "l1"}, {"norm": "none", "sublinear": True, "smooth": False}],
)
@pytest.mark.parametrize("orders", [(3, 5), (3, 3)])
def test_against_a_count_in_plain_python(letters, options, orders):
    train, test, terms = tf_idf(letters[:20], letters[20:], orders, options=TfIdfOptions(**options))
    expected = by_counting(letters[:20], letters[20:], orders, **options)
    assert terms == expected[2]
    np.testing.assert_allclose(train.toarray(), expected[0], atol=1e-5)
    np.testing.assert_allclose(test.toarray(), expected[1], atol=1e-5)


def test_letters_as_they_are_and_few_terms():
    assert tf_idf(["acca", "ACCA"], [], (3, 3))[2] == ("ACC", "CCA")
    assert tf_idf(["acca", "ACCA"], ["ACCA"], (3, 3), options=TfIdfOptions(case="as-is"))[2] == (
        "ACC",
        "CCA",
        "acc",
        "cca",
    )
    assert tf_idf(["AAAAAC", "CCC"], ["GGG"], (3, 3), options=TfIdfOptions(max_features=1))[2] == ("AAA",)


def test_options_that_do_not_exist_are_refused():
    for options, parameter, code in (
        ({"case": "lower"}, "case", "choice"),
        ({"norm": "max"}, "norm", "choice"),
        ({"max_features": 0}, "max_features", "range"),
    ):
        with refuses(parameter, code):
            TfIdfOptions(**options)
    with refuses("sequences", "empty", got="3 letters"):
        tf_idf(["AC", "G"], ["ACGT"], (3, 5))


# ---- data sets -------------------------------------------------------------------------------------------------------


@pytest.fixture
def bacteria(own_cache):
    """1000seq.fasta with six records of each of its two genera."""
    home = own_cache / "bacteria"
    home.mkdir(parents=True)
    rng = np.random.default_rng(0)
    heads = [line for line in FIANNACA.splitlines() if line.startswith(">")][::2]
    lines = [f"{head}\n{''.join(rng.choice(list('ACGT'), 70))}" for head in heads for _ in range(6)]
    return written(home / "1000seq.fasta", "\n".join(lines))


def test_bacteria_from_a_fasta_file(bacteria):
    data = load_dataset("bacteria", test_size=4, rng=1)
    assert data.class_names == ("Rhodobaca", "Salinisphaera")
    assert (len(data.y_train), len(data.y_test)) == (8, 4)
    assert np.bincount(data.y_test).tolist() == [2, 2]
    whole = read_sequences(bacteria)
    held = [whole.labels.index(data.class_names[k]) for k in data.y_train]
    assert len(held) == 8
    assert data.X_train.dtype == np.float32
    np.testing.assert_allclose((data.X_train**2).sum(axis=1), 1.0, rtol=1e-5)
    n_terms = len({s[i : i + n] for s in whole.sequences for n in (3, 4, 5) for i in range(len(s) - n + 1)})
    assert 300 < data.X_train.shape[1] < n_terms  # those of the training part alone
    assert data.notes[0].startswith("tf-idf of 3- to 5-grams, fitted on the training part: ")
    assert (
        "capital letters, tf is the count, idf ln((1 + n) / (1 + df)) + 1, all terms, rows scaled to l2 length 1"
        in (data.notes[0])
    )
    assert data.notes[1] == f"the class is the last word of each description, for example {held_name(data)!r}"
    assert data.notes[-1].startswith("the features take ")


def held_name(data):
    return data.class_names[data.y_train[0]]


def test_features_of_a_split_file_are_those_of_its_training_sequences(bacteria):
    data = load_dataset("bacteria", test_size=4, rng=1)
    whole = read_sequences(bacteria)
    train, test = module.stratified_split(np.unique(whole.labels, return_inverse=True)[1], 4, 1)
    sequences = [[whole.sequences[row] for row in rows] for rows in (train, test)]
    expected = by_counting(*sequences, (3, 5))
    np.testing.assert_allclose(data.X_train, expected[0], atol=1e-5)
    np.testing.assert_allclose(data.X_test, expected[1], atol=1e-5)
    assert [data.class_names[k] for k in data.y_test] == [whole.labels[row] for row in test]


def test_default_shares_are_those_of_the_papers_sizes():
    for name, sizes in (("bacteria", (10587, 1136, 1136)), ("proteins", (11830, 5088, 5088))):
        share = module_shares(name)
        assert round(share * sum(sizes)) == pytest.approx(sum(sizes[1:]), abs=2)


def module_shares(name):
    from uqassay.lab.datasets import DATASETS

    return DATASETS[name].default_test_size


def test_given_features_come_before_sequences(bacteria):
    for part in ("train", "test"):
        np.savez(bacteria.parent / f"{part}.npz", X=np.eye(2), y=[0, 1])
    assert load_dataset("bacteria").X_train.shape == (2, 2)


def test_proteins_with_functional_domains(own_cache):
    home = own_cache / "proteins"
    home.mkdir(parents=True)
    written(home / "sequences-train.txt", DEEPRE + "^1.1.1.100>VYEQVSIEVP\n")
    written(home / "sequences-train.domains.txt", "adh_short KR\n\nKR\n")
    written(home / "sequences-test.txt", "^2.5.1.16>MEPGPDG\n")
    with refuses("domains", "mismatch", got="one part has them", error=FileFormatError):
        load_dataset("proteins")
    written(home / "sequences-test.domains.txt", "Spermine_synth KR\n")
    data = load_dataset("proteins")
    assert data.class_names == ("1.1.1.100", "2.5.1.16")
    assert data.y_test.tolist() == [1]
    terms = by_counting(read_sequences(home / "sequences-train.txt").sequences, [], (3, 3))[2]
    assert data.X_train.shape == (3, len(terms) + 2)  # KR and adh_short, in alphabetical order
    assert data.X_train[:, len(terms) :].tolist() == [[1, 1], [0, 0], [1, 0]]
    assert data.X_test[:, len(terms) :].tolist() == [[1, 0]]
    assert "then 2 functional domains, 1 if the protein has it" in data.notes
    assert not any("description" in note for note in data.notes)
    written(home / "domain-names.txt", "KR\nSpermine_synth\nadh_short\nzinc\n")
    assert load_dataset("proteins").X_test[:, len(terms) :].tolist() == [[1, 1, 0, 0]]
    written(home / "domain-names.txt", "KR\nadh_short\n")
    with refuses(
        "names", "mismatch", got="Spermine_synth is missing", source="domain-names.txt", error=FileFormatError
    ):
        load_dataset("proteins")
    written(home / "domain-names.txt", "KR\nKR\n")
    with refuses("names", "duplicate", source="domain-names.txt", error=FileFormatError):
        load_dataset("proteins")


def test_several_files_of_one_use_are_refused(tmp_path):
    assert sequence_files(tmp_path) == ()
    one = written(tmp_path / "sequences.fasta", ">S1 k\nAC\n")
    assert sequence_files(tmp_path) == (one,)
    written(tmp_path / "sequences.csv", "")
    with refuses("sequences", "ambiguous", got=r"sequences\.fasta, sequences\.csv", error=FileFormatError):
        sequence_files(tmp_path)
    one.unlink()
    (tmp_path / "sequences.csv").unlink()
    train = written(tmp_path / "sequences-train.txt", "")
    with refuses("sequences", "ambiguous", got=r"sequences-train\.txt", error=FileFormatError):
        sequence_files(tmp_path)
    test = written(tmp_path / "sequences-test.csv", "")
    assert sequence_files(tmp_path) == (train, test)
    (tmp_path / "grd_all_201304").mkdir()
    written(tmp_path / "grd_all_201304" / "sequence.fasta", "")
    with refuses("sequences", "ambiguous", got=r"grd_all_201304/sequence\.fasta", error=FileFormatError):
        sequence_files(tmp_path)


def test_features_that_need_too_much_memory_are_refused_before_they_are_dense(tmp_path, monkeypatch):
    path = written(tmp_path / "mine.csv", "sequence,label\nACGT,a\nACGG,b\nACGTT,a\nACGGG,b\n")
    monkeypatch.setattr(module, "MEMORY_LIMIT", 60.0)
    with refuses("max_features", "size", got=r"4 sequences with \d+ features take"):
        load_sequences("mine", [path], (3, 3), test_size=2)
    few = load_sequences("mine", [path], (3, 3), test_size=2, options=TfIdfOptions(max_features=2))
    assert few.X_train.shape == (2, 2)

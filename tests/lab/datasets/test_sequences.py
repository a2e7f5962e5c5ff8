"""Sequences in the layouts of their publishers.

FASTA: the first records of ``data/1000seq.fasta`` of Fiannaca et al. 2018 (IcarPA-TBlab/MetagenomicDC on GitHub), cut after
two lines; names of orders that are not approved stand between quotation marks there. Ids: ``sequence.fasta`` in RIKEN's archive
``grd_all_201304.zip``. Lines ``^EC>sequence``: the NEW set of DEEPre, as its page dataset.html describes it.
"""

import pytest
from tests.refusals import refuses

from uqassay.errors import FileFormatError
from uqassay.lab.datasets.sequences import read_sequences

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

"""The two tables of the page: ratios to yardsticks, peers, what is absent or fails."""

from benchmarks.speed.page import disagreements, peers_table, times_table

YARD = {"sort": 0.01, "radix": 0.02, "bandwidth": 1e10}
PEER = {
    "name": "plain NumPy",
    "rows": None,
    "lacks": "",
    "ratio": 12.34,
    "difference": 2e-16,
    "share": None,
    "agrees": True,
    "word": "worse",
}


def record(name="w", *, several=False, loop=0.25, n_bytes=10**7, peers=(PEER,), yard=YARD):
    return {
        "name": name,
        "processor": 0.5,
        "wall": 0.3,
        "bytes": n_bytes,
        "loop": loop,
        "peers": list(peers),
        "several": several,
        "yardsticks": yard,
    }


def test_ratios_to_the_yardsticks_of_the_same_process():
    table = times_table([record()], "A machine.")
    assert table.rows == [["w", "500 ms", "50", "25", "2.0", "500", "–"]]
    assert table.text == [
        "A machine.",
        "",
        "In the processes of this run, `np.sort` of a million doubles took 10 ms, the plain radix sort of the same in C++ "
        "20 ms and a large copy moved 10 GB a second.",
    ]


def test_without_kernels_and_without_a_loop():
    table = times_table([record(loop=None, n_bytes=0, yard={"sort": 0.01, "bandwidth": 1e10})], "")
    assert table.rows == [["w", "500 ms", "50", "–", "–", "–", "–"]]
    assert "radix" not in table.text[-1]


def test_formulas_and_loops_have_columns():
    peers = [PEER | {"name": "formulas alone", "ratio": 7.0}, PEER | {"name": "plain C loop"}, PEER]
    assert times_table([record(peers=peers)], "").rows[0][-1] == "7.0"
    assert [row[1] for row in peers_table([record(peers=peers)], {}).rows] == ["plain NumPy"]


def test_workloads_of_several_processes_show_the_time_that_a_user_waits():
    assert times_table([record(several=True)], "").rows[0][1] == "300 ms (processor 500 ms)"


def test_peers_side_by_side():
    slow = PEER | {
        "name": "SciPy",
        "rows": 20,
        "lacks": "no interval",
        "ratio": 6543.0,
        "difference": 0.1,
        "share": 0.8,
    }
    other = PEER | {"name": "fast", "ratio": 0.5, "difference": 0.25, "agrees": False}
    broken = {"name": "broken", "rows": None, "lacks": "", "failed": "TypeError: a | b"}
    sort = PEER | {"name": "sort", "difference": None}
    table = peers_table([record(peers=(PEER, slow, other, broken, sort))], {"probly": "0.9.1", "fastauc": ""})
    assert [row[1:] for row in table.rows] == [
        ["plain NumPy", "12", "2e-16", ""],
        ["SciPy", "6,500", "80 % worse", "no interval; extrapolated from 20"],
        ["fast", "0.50", "2e-01: disagrees", ""],
        ["broken", "fails", "–", "TypeError: a / b"],
        ["sort", "12", "–", ""],
    ]
    assert table.text == ["Compared: probly 0.9.1. Not installed and not measured: fastauc."]


def test_failures_and_disagreements_are_named():
    other = PEER | {"agrees": False, "difference": 0.25}
    broken = {"name": "broken", "rows": None, "lacks": "", "failed": "TypeError: x"}
    records = [record(peers=(PEER, other, broken)), {"name": "v", "failed": "the process ended"}]
    assert disagreements(records) == [
        "v: the process ended",
        "w, plain NumPy: differs by 2.5e-01",
        "w, broken: TypeError: x",
    ]
    assert [row[0] for row in times_table(records, "").rows] == ["w"]

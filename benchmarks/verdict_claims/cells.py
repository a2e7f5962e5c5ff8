"""The cells of the simulation."""

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.verdict_claims.worlds import BACKWARD, CHANCE, Cell, Kind

__all__ = ["CELLS", "NOT_HELD", "chosen"]

CALIBRATION = ("ece-confidence", "ece-classwise")
SHRINKING = {g: tuple(max(1, round(60 * 0.75**i)) for i in range(g)) for g in (5, 10, 30)}  # sizes of groups


def _brier(cell: Cell) -> Cell:
    """The same data judged by the Brier distance, of which one more instance cannot change the mean much."""
    return replace(cell, name=f"{cell.name}-brier", distance="brier", about=f"{cell.about}, Brier distance")


def _equal() -> Iterator[Cell]:
    for j, n in (
        (2, 100),
        (10, 100),
        (20, 100),
        *((j, 300) for j in (2, 3, 5, 10, 20)),
        (2, 2000),
        (10, 2000),
        (20, 2000),
    ):
        cell = Cell(f"equal-{j}-{n}", (Kind(j),), n=n, about=f"{j} equal models, n = {n:,}")
        yield cell
        if j in (2, 10, 20) and n < 2000:
            yield _brier(cell)
    yield Cell("equal-sets-10", (Kind(10, members=5, spread=0.5),), about="10 equal ensembles of 5 members, n = 300")
    about = "10 equal models, 10 classes, n = 300"
    yield Cell("equal-ten-classes-10", (Kind(10, signal=1.9),), classes=10, about=about)


def _ahead() -> Iterator[Cell]:
    for n, lead in ((100, 1.85), (300, 1.69), (2000, 1.57)):
        for j in (2, 10, 20):
            about = f"one of {j} models ahead, n = {n:,}"
            cell = Cell(f"ahead-{j}-{n}", (Kind(signal=lead), Kind(j - 1)), n=n, about=about)
            if j == 10 or n > 100:
                yield cell
            if j < 20:
                yield _brier(cell)
    ladder = tuple(Kind(signal=1.4 + 0.04 * k) for k in range(10))
    for n in (300, 2000):
        cell = Cell(f"ladder-10-{n}", ladder, n=n, about=f"10 models, each better than the one before, n = {n:,}")
        yield from (cell, _brier(cell))


def _rare() -> Iterator[Cell]:
    for share in (0.02, 0.005):
        for j, n in ((10, 100), (2, 300), (10, 300), (10, 2000)):
            calm = Kind(j - j // 2, signal=1.1, level="same")
            rare = replace(calm, count=j // 2, rare=share)
            about = f"{j} equal means, half with {100 * share:g} % huge losses, n = {n:,}"
            yield Cell(f"rare-{100 * share:g}%-float64-{j}-{n}", (calm, rare), n=n, classes=10, about=about)


def _groups() -> Iterator[Cell]:
    for g, sizes in SHRINKING.items():
        for j in (2, 10):
            about = f"{j} equal models, {g} groups of sizes 60 · .75^i, correlation .5"
            cell = Cell(f"groups-{g}-{j}", (Kind(j),), groups=sizes, correlation=0.5, about=about)
            yield from (cell, _brier(cell)) if j == 10 else (_brier(cell),)
        about = f"one of 5 models ahead, {g} groups of sizes 60 · .75^i, correlation .5"
        kinds = (Kind(signal=2.2), Kind(4))
        yield _brier(Cell(f"groups-{g}-ahead", kinds, groups=sizes, correlation=0.5, about=about))


def _rare_groups() -> Iterator[Cell]:
    for j in (2, 10):
        calm = Kind(j - j // 2, signal=1.1, level="same")
        rare = replace(calm, count=j // 2, rare=0.02, whole_groups=True)
        about = f"{j} equal means, half with huge losses in 2 % of the groups, 30 groups of 10"
        yield Cell(f"groups-rare-{j}", (calm, rare), groups=(10,) * 30, correlation=0.5, classes=10, about=about)


def _runs() -> Iterator[Cell]:
    for r in (3, 5):
        for j in (2, 10):
            kind = Kind(j, runs=r, run_spread=0.05)
            cell = Cell(f"runs-{r}-{j}", (kind,), about=f"{j} equal training procedures of {r} runs, n = 300")
            yield from (cell, _brier(cell)) if j == 10 else (_brier(cell),)
    for j in (2, 10):
        one = Kind(j - j // 2, run_spread=0.05, level="same")
        kinds = (one, replace(one, count=j // 2, runs=5))
        about = f"{j} equal training procedures, half of 5 runs and half of 1, n = 300"
        yield _brier(Cell(f"runs-5-1-{j}", kinds, about=about))
    kinds = (Kind(signal=1.72, runs=5, run_spread=0.05), Kind(4, runs=5, run_spread=0.05))
    yield _brier(Cell("runs-5-ahead", kinds, about="one of 5 training procedures of 5 runs ahead, n = 300"))


def _parts() -> Iterator[Cell]:
    for j, n in ((2, 2000), (10, 300), (10, 2000)):
        cell = Cell(f"parts-{j}-{n}", (Kind(j),), n=n, parts=10, about=f"{j} equal models, 10 subgroups, n = {n:,}")
        yield from (cell, _brier(cell)) if (j, n) == (10, 2000) else (_brier(cell),)
    kinds = (Kind(signal=1.8, first_part=0.9), Kind(4))
    about = "one of 5 models ahead, but behind in one of 10 subgroups, n = 2,000"
    cell = Cell("parts-one-against", kinds, n=2000, parts=10, about=about)
    yield from (cell, _brier(cell))


def _worth() -> Iterator[Cell]:
    for j in (1, 5):
        for n in (100, 300, 2000):
            about = f"{j} model{'s' if j > 1 else ''} as good as the vacuous statement at λ = .5, n = {n:,}"
            yield Cell(f"at-vacuous-{j}-{n}", (Kind(j, signal=AT_VACUOUS),), n=n, about=about)
            about = f"{j} model{'s' if j > 1 else ''} as good as the class frequencies, n = {n:,}"
            yield Cell(f"at-prior-{j}-{n}", (Kind(j, signal=0.5, sharpness=AT_PRIOR),), n=n, about=about)
    sharp = Kind(1, signal=1.5, sharpness=1.6, members=2, spread=0.1)
    wide = Kind(1, signal=1.5, sharpness=1.0, members=5, spread=0.7)
    for j in (2, 6):
        for n in (300, 2000):
            kinds = (replace(sharp, count=j // 2), replace(wide, count=j // 2))
            about = f"{j} ensembles, half narrow and half wide: their order changes with λ, n = {n:,}"
            yield Cell(f"order-changes-{j}-{n}", kinds, n=n, about=about)
    weak = Kind(3, signal=0.7, sharpness=1.0, members=5, spread=0.5)
    about = "3 weak ensembles: a baseline is better at small and at great λ, n = 300"
    yield Cell("weak-sets-3", (weak,), about=about)
    for k, n in ((10, 100), (10, 300), (100, 1000)):
        about = f"3 models a little better than the true frequencies of {k} classes, n = {n:,}"
        yield Cell(f"little-better-{k}-{n}", (Kind(3, signal=0.25),), n=n, classes=k, about=about)


def _scores() -> Iterator[Cell]:
    for n in (300, 2000):
        chance = Kind(5, scores=(CHANCE,))
        yield Cell(f"chance-5-{n}", (chance,), n=n, about=f"5 models with a score of pure chance, n = {n:,}")
        back = Kind(5, scores=(BACKWARD,))
        yield Cell(f"backward-5-{n}", (back,), n=n, about=f"5 models with a backward score (UQ-AUC .43), n = {n:,}")
        about = f"5 models whose uncertainty does not know where they are wrong, n = {n:,}"
        yield Cell(f"blind-5-{n}", (Kind(5, sharpness=0.7, blind=True),), n=n, about=about)
    about = "3 models with a score of pure chance, 30 groups of sizes 60 · .75^i, correlation .5"
    yield Cell("chance-3-groups", (Kind(3, scores=(CHANCE,)),), groups=SHRINKING[30], correlation=0.5, about=about)


def _calibration() -> Iterator[Cell]:
    for n in (300, 2000):
        about = f"10 calibrated models, n = {n:,}"
        yield Cell(f"calibrated-10-{n}", (Kind(10),), n=n, calibration=CALIBRATION, about=about)
        for name, sharpness in (("over", 1.3), ("under", 0.75)):
            kinds = (Kind(5), Kind(5, sharpness=sharpness))
            about = f"5 calibrated and 5 {name}confident models (logits · {sharpness:g}), n = {n:,}"
            yield Cell(f"calibration-{name}-10-{n}", kinds, n=n, calibration=CALIBRATION, about=about)
    about = "3 calibrated models of 3 runs, n = 300"
    yield Cell("calibrated-runs-3", (Kind(3, runs=3),), calibration=CALIBRATION, about=about)
    about = "3 calibrated models, 30 groups of 10, correlation .5"
    yield Cell(
        "calibrated-groups-3", (Kind(3),), groups=(10,) * 30, correlation=0.5, calibration=CALIBRATION, about=about
    )


NOT_HELD = ("groups-rare-2", "groups-rare-10")  # cells whose claims are not held at 5 %

AT_VACUOUS, AT_PRIOR = 1.5345, 2.1607  # mean log loss .5 ln 3 with sharpness 1; ln 3 with signal .5

CELLS = {
    cell.name: cell
    for family in (
        *(_equal(), _ahead(), _rare()),
        *(_groups(), _rare_groups(), _runs(), _parts()),
        *(_worth(), _scores(), _calibration()),
    )
    for cell in family
}


def chosen(names: list[str]) -> list[Cell]:
    """The cells of these names; a name that ends with * stands for all that begin so; none for all."""
    if not names:
        return list(CELLS.values())
    found: dict[str, Cell] = {}
    for name in names:
        some = {k: c for k, c in CELLS.items() if k == name or (name.endswith("*") and k.startswith(name[:-1]))}
        if not some:
            raise SystemExit(f"no cell {name}; there are {', '.join(CELLS)}")
        found |= some
    return list(found.values())

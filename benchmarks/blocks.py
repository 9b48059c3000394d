"""What freezing a plan of blocks costs, against the same trials as one crossing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.processes import Stopwatch, in_child
from benchmarks.report import Section, figure, ratio
from benchmarks.studies import ITEMS, large_design

if TYPE_CHECKING:
    from core.domain.study import Block, Design

_KEYS = ("seconds", "cpu")
_AIM = 2.0  # CPU-seconds for a million trials beyond one crossing


def measure(work: Path, *, quick: bool) -> Section:
    """Freeze the same trials as one crossing, as blocks side by side, and as overlapping ones."""
    trials, repeats = (2000, 1) if quick else (1_000_000, 3)
    found: dict[str, list[Mapping[str, float]]] = {kind: [] for kind in KINDS}
    for number in range(repeats):
        for kind in KINDS:
            path = work / f"blocks_{number}.duckdb"
            found[kind].append(in_child(freeze, path=str(path), trials=trials, kind=kind))
            path.unlink()
    figures = {
        kind: {key: median(run[key] for run in runs) for key in (*_KEYS, "blocks")}
        for kind, runs in found.items()
    }
    one = figures["one crossing"]
    rows = [
        (
            kind,
            f"{own['blocks']:.0f}",
            *(figure(own[key]) for key in _KEYS),
            figure((own["cpu"] - one["cpu"]) * 1e6 / trials),
            ratio(own["cpu"], one["cpu"]),
        )
        for kind, own in figures.items()
    ]
    return Section(
        "Plan in blocks",
        f"Freezing {trials:,} trials as one crossing, and the same trials as blocks: one for every "
        "context, and windows of contexts and items that overlap, then a block of "
        "all. Aim: at most "
        f"{_AIM:g} s of processor time for a million trials beyond one crossing.",
        ("Trials as", "blocks", "s", "CPU-s", "CPU-s more per million", "ratio of CPU-s"),
        rows,
        (f"Medians of {repeats}, in turns, each in a new process and a new file.",),
        ("duckdb", "pyarrow"),
    )


def freeze(*, path: str, trials: int, kind: str) -> Mapping[str, float]:
    """Freeze a plan in a new database."""
    from core.workflow.banks import editing
    from core.workflow.designs import studies
    from core.workflow.opening import open_workspace

    workspace = open_workspace(path)
    design = large_design(path, trials, 1)
    bank = editing.content(workspace, design.instrument, None)
    codes = [item.code for item in bank.items]
    design = replace(design, blocks=KINDS[kind](design, codes))
    with Stopwatch() as watch:
        record = studies.freeze(workspace, design)
    if record.n_trials != trials:
        raise RuntimeError(f"{record.n_trials} trials instead of {trials}")
    workspace.close()
    return {**watch.figures, "blocks": len(design.blocks)}


def _side_by_side(design: Design, _codes: Sequence[str]) -> tuple[Block, ...]:
    """A block for every context."""
    from core.domain.study import Block

    return tuple(Block(context.code, contexts=(context.code,)) for context in design.contexts)


def _overlapping(design: Design, codes: Sequence[str]) -> tuple[Block, ...]:
    """Windows of contexts and of items; the last block asks everything that is left."""
    from core.domain.study import Block

    contexts = [context.code for context in design.contexts]
    wide = max(len(contexts) // 5, 1)
    windows = [
        Block(
            f"window {n}",
            contexts=tuple(contexts[n : n + wide]),
            items=tuple(codes[n % ITEMS : n % ITEMS + ITEMS // 2]),
        )
        for n in range(0, len(contexts), max(len(contexts) // 20, 1))
    ]
    return (*windows, Block("all"))


KINDS = {
    "one crossing": lambda *_: (),
    "blocks side by side": _side_by_side,
    "overlapping blocks": _overlapping,
}

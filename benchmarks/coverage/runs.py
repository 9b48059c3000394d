"""Simulated studies are judged in blocks, which are kept, so that a run goes on where it ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from benchmarks.coverage.cases import Case, Outcomes

BLOCK = 25
Block = tuple[Case, int, int]


def judged_block(case: Case, first: int, after: int) -> Outcomes:
    """What came about in the studies from `first` to before `after`."""
    total: Outcomes = Counter()
    for seed in range(first, after):
        total += case.judged(seed)
    return total


def _blocks(cases: Iterable[Case], studies: range) -> Iterator[Block]:
    for case in cases:
        after = studies.stop if studies.start else min(studies.stop, case.studies)
        for first in range(studies.start, after, BLOCK):
            yield case, first, min(first + BLOCK, after)


def judged(
    cases: Sequence[Case], studies: range, kept: Path | None = None, workers: int = 1
) -> dict[str, Outcomes]:
    """The outcomes of each case by its title, in these studies; blocks in `kept` are not made."""
    done = _read(kept) if kept else {}
    totals: dict[str, Outcomes] = {case.title: Counter() for case in cases}
    missing = []
    for block in _blocks(cases, studies):
        case, first, after = block
        if outcomes := done.get((case.title, first, after)):
            totals[case.title] += outcomes
        else:
            missing.append(block)
    for (case, first, after), outcomes in _computed(missing, workers):
        totals[case.title] += outcomes
        if kept:
            _append(kept, case.title, first, after, outcomes)
    return totals


def _computed(blocks: Sequence[Block], workers: int) -> Iterator[tuple[Block, Outcomes]]:
    if workers == 1:
        yield from ((block, judged_block(*block)) for block in blocks)
        return
    with ProcessPoolExecutor(workers) as pool:
        titles = {
            pool.submit(_judged_by_title, case.title, first, after): (case, first, after)
            for case, first, after in blocks
        }
        for done in as_completed(titles):
            yield titles[done], done.result()


def _judged_by_title(title: str, first: int, after: int) -> Outcomes:
    """Cases hold functions that no other process can be given: it has the catalog itself."""
    from benchmarks.coverage.catalog import cases

    return judged_block(next(case for case in cases() if case.title == title), first, after)


def _read(file: Path) -> dict[tuple[str, int, int], Outcomes]:
    if not file.exists():
        return {}
    blocks = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {
        (block["case"], block["first"], block["after"]): Counter(
            {tuple(key): n for *key, n in block["outcomes"]}
        )
        for block in blocks
    }


def _append(file: Path, title: str, first: int, after: int, outcomes: Outcomes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [[*key, n] for key, n in outcomes.items()]
    line = json.dumps({"case": title, "first": first, "after": after, "outcomes": rows})
    with file.open("a", encoding="utf-8") as lines:
        lines.write(line + "\n")

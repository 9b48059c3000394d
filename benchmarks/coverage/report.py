"""The outcomes of simulated studies as a page of the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from benchmarks.coverage.cases import Case, Kind, Outcomes
from core.workflow.statistics import analyses

HEAD = """# What intervals and tests hold

Made by `make coverage`: studies are simulated whose truth is known, each is analyzed with the
functions of the product ({studies} studies of each design), and it is counted how often an
interval of 95 % covers the truth, and how often a test at .05 is significant where nothing
differs. Where the truth is the lowest possible value, such as a distance of 0, it is counted how
often the interval lies wholly above it (2.5 % are promised). A row of a table is judged for
itself; rows of the same study are not independent. Of adjusted p it is counted how often any of a
study is significant, as that is what they promise.

An interval *wider than promised*, and a test that is *too seldom* significant, err on the safe
side: exact tests of few units, whose p has few values, and intervals where most answers are alike.
They are kept.

Chance alone puts some of so many rates outside: of tests that hold .05 exactly, 6 of 100 are
significant in more than 7 % of 300 studies. So a design with a rate that promises too much is
*judged again* in 600 or more other studies, and only these count for it.
"""
BOUNDS: Mapping[Kind, tuple[float, float]] = {
    "covered": (0.92, 0.97),
    "significant": (0.03, 0.07),
    "above": (0.0, 0.035),
}
"""Within these a rate is as promised, as far as 500 studies can tell."""

_SHORT, _WIDE, _OFTEN, _SELDOM = "too short", "wider than promised", "too often", "too seldom"
AGAIN = range(2000, 2600)
"""The studies in which a design is judged again: not those that put it outside."""
_AGAIN = "judged again"
ENOUGH = 300
"""With fewer studies nothing is said of a rate: it may be as promised or not."""


class Rate(NamedTuple):
    """What was judged in which design, what is said of how often it came about, and its row."""

    design: str
    kind: Kind
    said: str
    line: str

    @property
    def wrong(self) -> bool:
        """Whether it promises too much."""
        return self.said.startswith((_SHORT, _OFTEN))

    @property
    def safe(self) -> bool:
        """Whether it promises less than it holds."""
        return self.said.startswith((_WIDE, _SELDOM))


def text(
    cases: Sequence[Case],
    found: Mapping[str, Outcomes],
    studies: int,
    before: str = "",
) -> str:
    """A section for each analysis, a row for each design and each interval or test.

    The sections of analyses of which nothing is found are taken from the page `before`, if it is of
    as many studies; those that it lacks are named.
    """
    head = HEAD.format(studies=studies)
    kept = _sections_of(before) if before.startswith(head) else {}
    sections: dict[str, list[Rate]] = {}
    lacking = []
    for name in dict.fromkeys(case.analysis for case in cases):
        title = analyses.by_name(name).title
        judged = [case for case in cases if case.analysis == name and case.title in found]
        if judged:
            sections[name] = [
                rate
                for case in judged
                for rate in _lines(case, found[case.title], min(studies, case.studies))
            ]
        elif title in kept:
            sections[name] = kept[title]
        else:
            lacking.append(title)
    if lacking:
        head += f"\nNot judged with so many studies yet: {', '.join(lacking)}.\n"
    return "\n".join([head, *_first(sections), *_sections(sections)])


def wrong(page: str) -> set[tuple[str, str]]:
    """The designs of a page that promise too much, with the title of their analysis."""
    return {
        (title, rate.design)
        for title, rates in _sections_of(page).items()
        for rate in rates
        if rate.wrong
    }


def text_again(cases: Sequence[Case], found: Mapping[str, Outcomes], page: str) -> str:
    """The page with the rates of these designs from the studies in which they were judged again."""
    titles = {analyses.by_name(case.analysis).title: case.analysis for case in cases}
    sections = {titles[title]: rates for title, rates in _sections_of(page).items()}
    for case in cases:
        if case.title not in found:
            continue
        before = sections[case.analysis]
        first = next(n for n, rate in enumerate(before) if rate.design == case.design)
        others = [rate for rate in before if rate.design != case.design]
        others[first:first] = _lines(case, found[case.title], len(AGAIN), again=True)
        sections[case.analysis] = others
    head = page.partition("\n## ")[0].rstrip() + "\n"
    return "\n".join([head, *_first(sections), *_sections(sections)])


def _sections_of(page: str) -> dict[str, list[Rate]]:
    """The rates on a page that `text` made, by the title of their analysis."""
    found: dict[str, list[Rate]] = {}
    for part in page.split("\n## ")[2:]:  # the first section counts those of the others
        title, _, rest = part.partition("\n")
        rows = [line for line in rest.splitlines() if line.startswith("| ")][2:]
        cells = [line.strip("|").split(" | ") for line in rows]
        found[title] = [
            Rate(cell[0].strip(), cast(Kind, cell[2]), cell[-1].strip(), line)
            for cell, line in zip(cells, rows, strict=True)
        ]
    return found


def _first(sections: Mapping[str, list[Rate]]) -> Iterator[str]:
    """How many rates are as promised, and those that err on the other side."""
    judged = [
        (name, rate)
        for name, rates in sections.items()
        for rate in rates
        if rate.kind != "undefined"
    ]
    safe = sum(rate.safe for _, rate in judged)
    lines = [(name, rate.line) for name, rate in judged if rate.wrong]
    yield f"## {len(lines)} of {len(judged)} rates promise too much\n"
    yield f"{safe} more err on the safe side, {len(judged) - safe - len(lines)} are as promised.\n"
    if lines:
        yield "| analysis | design | interval or test | | of 100 | judged | |"
        yield "| --- | --- | --- | --- | ---: | ---: | --- |"
        for name, line in lines:
            yield f"| {analyses.by_name(name).title} {line}"
        yield ""


def _sections(sections: Mapping[str, list[Rate]]) -> Iterator[str]:
    for name, rates in sections.items():
        yield f"## {analyses.by_name(name).title}\n"
        yield "| design | interval or test | | of 100 | judged | |"
        yield "| --- | --- | --- | ---: | ---: | --- |"
        yield from (rate.line for rate in rates)
        yield ""


def _lines(case: Case, outcomes: Outcomes, studies: int, *, again: bool = False) -> Iterator[Rate]:
    titles = _titles(case)
    for column, apart, kind in sorted({key[:3] for key in outcomes}):
        yes, no = (outcomes[column, apart, kind, outcome] for outcome in (True, False))
        name = titles.get(column, column) + (f" · {apart}" if apart else "")
        share = "" if kind == "undefined" else f"{100 * yes / (yes + no):.1f}"
        judged = studies >= ENOUGH and kind != "undefined"
        said = _said(kind, yes / (yes + no)) if judged else ""
        said = ", ".join(filter(None, (said, _AGAIN if again else "")))
        line = f"| {case.design} | {name} | {kind} | {share} | {yes + no} | {said} |"
        yield Rate(case.design, kind, said, line)


def _said(kind: Kind, rate: float) -> str:
    """What is wrong with a rate; empty where it is as promised."""
    low, high = BOUNDS[kind]
    if low <= rate <= high:
        return ""
    if kind == "covered":
        return _SHORT if rate < low else _WIDE
    return _OFTEN if rate > high else _SELDOM


def _titles(case: Case) -> dict[str, str]:
    """The titles of intervals and tests as pages show them, of the first study."""
    return {
        f"{table.name}.{column.name}": f"{table.title}: {column.title.removesuffix(' low')}"
        for table in case.result(0).tables
        for column in table.columns
    }

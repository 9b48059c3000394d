"""The outcomes of simulated studies as a page of the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

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
"""
BOUNDS: Mapping[Kind, tuple[float, float]] = {
    "covered": (0.92, 0.97),
    "significant": (0.03, 0.07),
    "above": (0.0, 0.035),
}
"""Within these a rate is as promised, as far as 500 studies can tell."""

_SHORT, _WIDE, _OFTEN, _SELDOM = "too short", "wider than promised", "too often", "too seldom"
ENOUGH = 300
"""With fewer studies nothing is said of a rate: it may be as promised or not."""


class Rate(NamedTuple):
    """What was judged, what is wrong with how often it came about, and the row that says so."""

    kind: Kind
    said: str
    line: str


def text(
    cases: Sequence[Case],
    found: Mapping[str, Outcomes],
    studies: int,
    others: Sequence[str] = (),
) -> str:
    """A section for each analysis, a row for each design and each interval or test.

    `others` are analyses that have cases, which are not among these.
    """
    sections: dict[str, list[Rate]] = {}
    for case in cases:
        lines = _lines(case, found[case.title], min(studies, case.studies) >= ENOUGH)
        sections.setdefault(case.analysis, []).extend(lines)
    head = HEAD.format(studies=studies)
    if others:
        titles = ", ".join(analyses.by_name(name).title for name in others)
        head += f"\nNot judged with so many studies yet: {titles}.\n"
    return "\n".join([head, *_first(sections), *_sections(sections)])


def _first(sections: Mapping[str, list[Rate]]) -> Iterator[str]:
    """How many rates are as promised, and those that err on the other side."""
    judged = [
        (name, rate)
        for name, rates in sections.items()
        for rate in rates
        if rate.kind != "undefined"
    ]
    safe = sum(rate.said in (_WIDE, _SELDOM) for _, rate in judged)
    wrong = [(name, rate.line) for name, rate in judged if rate.said in (_SHORT, _OFTEN)]
    yield f"## {len(wrong)} of {len(judged)} rates promise too much\n"
    yield f"{safe} more err on the safe side, {len(judged) - safe - len(wrong)} are as promised.\n"
    if wrong:
        yield "| analysis | design | interval or test | | of 100 | judged | |"
        yield "| --- | --- | --- | --- | ---: | ---: | --- |"
        for name, line in wrong:
            yield f"| {analyses.by_name(name).title} {line}"
        yield ""


def _sections(sections: Mapping[str, list[Rate]]) -> Iterator[str]:
    for name, rates in sections.items():
        yield f"## {analyses.by_name(name).title}\n"
        yield "| design | interval or test | | of 100 | judged | |"
        yield "| --- | --- | --- | ---: | ---: | --- |"
        yield from (rate.line for rate in rates)
        yield ""


def _lines(case: Case, outcomes: Outcomes, enough: bool) -> Iterator[Rate]:
    titles = _titles(case)
    for column, apart, kind in sorted({key[:3] for key in outcomes}):
        yes, no = (outcomes[column, apart, kind, outcome] for outcome in (True, False))
        name = titles.get(column, column) + (f" · {apart}" if apart else "")
        share = "" if kind == "undefined" else f"{100 * yes / (yes + no):.1f}"
        said = _said(kind, yes / (yes + no)) if enough and kind != "undefined" else ""
        line = f"| {case.design} | {name} | {kind} | {share} | {yes + no} | {said} |"
        yield Rate(kind, said, line)


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

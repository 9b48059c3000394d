"""What factor models and the validation report cost, against R and against Python packages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import psychometric_runs as runs
from benchmarks import r, validation_study
from benchmarks.processes import caller
from benchmarks.report import Section, figure, ratio

Numbers = Mapping[str, float]
NOTHING = "-"
PACKAGES = ("lavaan", "psych", "ltm")


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    respondents: int  # with two kinds of contexts each
    rows: int
    graded: int  # rows of the graded response model
    repeats: int  # fits in one process
    turns: int
    items: int = 22  # of the factor model

    def call(self, function: Callable[..., Any], **arguments: Any) -> Any:
        """What it returns, in a new process unless this is a quick run."""
        return caller(quick=self is QUICK)(function, **arguments)


FULL = Sizes(respondents=6, rows=300, graded=1000, repeats=10, turns=3)
QUICK = Sizes(respondents=1, rows=60, graded=120, repeats=1, turns=1, items=8)


@dataclass(frozen=True)
class Timed:
    """Seconds on the clock and of the processor that one way took, medians over the turns."""

    name: str
    seconds: float
    cpu: float


def measure(work: Path, *, quick: bool) -> Section:
    """Each statistic by Inkblot and by whatever else computes it here, in turns."""
    sizes = QUICK if quick else FULL
    files = sizes.call(
        runs.write_scores,
        folder=str(work),
        rows=sizes.rows,
        items=sizes.items,
        graded=sizes.graded,
    )
    rows: list[Sequence[object]] = []
    report, report_notes = _report(work, sizes)
    rows += report
    for estimator in _MEASURES:
        rows += _factor_model(files, estimator, sizes)
    rows += _alpha(files, sizes)
    graded, graded_notes = _graded_response(files, sizes)
    rows += graded
    here = [f"{name} {version(name)}" for name in ("semopy", "pingouin") if find_spec(name)]
    others = ", ".join(filter(None, (r.versions(*PACKAGES), *here))) or "nothing"
    return Section(
        "Psychometrics",
        "The same statistics of the same scores by Inkblot and by other software, once both were "
        "seen to give the same numbers. A factor model has two factors of as many items each. "
        "Aim: faster than R, but for the graded response model.",
        ("", "Inkblot, s", "other, s", "ratio of s", "of CPU-s"),
        rows,
        (
            *report_notes,
            *graded_notes,
            "Inkblot's fit is always the whole result: estimates, intervals, standardized "
            "solution, indices, modification indices; psych::alpha always has item statistics. "
            "R is timed inside, after a first fit, and so is Python. Medians of "
            f"{sizes.turns} processes with {sizes.repeats} fits each.",
            f"Compared with {others}.",
        ),
        ("numpy", "scipy", "pandas"),
    )


def compare(what: str, ours: Numbers, theirs: Numbers, tolerance: float) -> float:
    """The largest difference, of numbers above 1 in shares of them.

    Raises
    ------
    RuntimeError
        The two do not give the same numbers under the same names.
    """
    if set(ours) != set(theirs) or not ours:
        raise RuntimeError(f"{what}: one has {sorted(set(ours) ^ set(theirs))[:5]}, one has not")
    largest = 0.0
    for name, expected in theirs.items():
        difference = abs(ours[name] - expected) / max(1.0, abs(expected))
        if math.isnan(difference) or difference > tolerance:
            raise RuntimeError(f"{what}: {name} is {ours[name]} here and {expected} there")
        largest = max(largest, difference)
    return largest


def _rows(name: str, ours: Timed, others: Sequence[Timed]) -> list[Sequence[object]]:
    """A line for each other way: Inkblot, the other, and their ratios."""
    if not others:
        return [(f"{name}: no other software here", figure(ours.seconds), *[NOTHING] * 3)]
    return [
        (
            f"{name}: {other.name}",
            figure(ours.seconds),
            figure(other.seconds),
            ratio(ours.seconds, other.seconds),
            ratio(ours.cpu, other.cpu),
        )
        for other in others
    ]


def _python(found: Sequence[Mapping[str, Any]], name: str = "Inkblot") -> Timed:
    return Timed(name, *(median(one["times"][key] for one in found) for key in ("seconds", "cpu")))


def _r(found: Sequence[r.Ran], what: str, name: str) -> Timed:
    """What a script clocked under that name."""
    return Timed(name, *(median(one.numbers[f"{what} {key}"] for one in found) for key in _CLOCKS))


_CLOCKS = ("s", "cpu")
_REPORT_TOLERANCE = 1e-6


def _report(work: Path, sizes: Sizes) -> tuple[list[Sequence[object]], list[str]]:
    """The validation report of every model and kind of context."""
    path = validation_study.filled(work, sizes.respondents, sizes.rows)
    sizes.call(validation_study.write_csv, path=str(path), folder=str(work))
    subscales = ";".join(",".join(items) for items in validation_study.subscales().values())
    ours, theirs = [], []
    for _ in range(sizes.turns):
        ours.append(sizes.call(runs.validation_report, path=str(path)))
        if r.has("lavaan", "psych"):
            theirs.append(r.run("report.R", work / "scale.csv", work / "other.csv", subscales))
    name = f"Validation report, {2 * sizes.respondents} groups of {sizes.rows} rows x 22 items"
    notes = [
        "The report: internal consistency with resampled intervals, alternate form, option order, "
        "another scale, factor model; from the database file. Texts are not part of it. R: the "
        "same coefficients without intervals (psych, cor, lavaan), from files of one row for each "
        "administration.",
    ]
    if not theirs:
        return _rows(name, _python(ours), ()), notes
    numbers = {k: v for k, v in theirs[0].numbers.items() if "/" in k}
    largest = compare("Validation report", ours[0]["numbers"], numbers, _REPORT_TOLERANCE)
    start = median(one["start_up"] for one in ours), median(one.start_up for one in theirs)
    notes.append(
        f"Largest difference of a coefficient of the report: {largest:.1g}. Starting and loading "
        f"packages comes on top: {figure(start[0])} s for Inkblot, {figure(start[1])} s for R."
    )
    return _rows(name, _python(ours), [_r(theirs, "script", "R, psych and lavaan")]), notes


_FIT_TOLERANCE = 1e-4
_SEMOPY_TOLERANCE = 1e-3  # its search ends early
_MEASURES = {
    "ML": ("npar", "df", "chisq", "cfi", "tli", "rmsea", "srmr"),
    "MLR": ("npar", "df", "chisq", "chisq.scaled", "cfi", "tli", "rmsea", "srmr", "cfi.robust",
            "rmsea.robust"),
    "WLSMV": ("df", "chisq", "chisq.scaled", "cfi.scaled", "rmsea.scaled", "srmr"),
}  # fmt: skip


def _factor_model(files: Mapping[str, str], estimator: str, sizes: Sizes) -> list[Sequence[object]]:
    """A model of two factors by one estimator."""
    order = {"file": files["scores"], "model": files["model"], "repeats": sizes.repeats}
    ours, by_r, by_semopy = [], [], []
    for _ in range(sizes.turns):
        ours.append(sizes.call(runs.factor_model, estimator=estimator, **order))
        if r.has("lavaan"):
            arguments = (files["scores"], files["model"], estimator, sizes.repeats)
            by_r.append(r.run("cfa.R", *arguments))
        if estimator == "ML" and find_spec("semopy"):
            by_semopy.append(sizes.call(runs.semopy_model, **order))
    others = []
    if by_r:
        wanted = {k: v for k, v in by_r[0].numbers.items() if k in _MEASURES[estimator] or ":" in k}
        compare(estimator, ours[0]["numbers"], wanted, _FIT_TOLERANCE)
        others += [
            _r(by_r, "fit", "lavaan cfa and fitMeasures"),
            _r(by_r, "described", "the same, standardizedSolution and modindices"),
        ]
    if by_semopy:
        theirs = by_semopy[0]["numbers"]
        compare("semopy", _only(ours[0]["numbers"], theirs), theirs, _SEMOPY_TOLERANCE)
        others.append(_python(by_semopy, "semopy, estimates and indices"))
    name = f"Factor model by {estimator}, {sizes.rows} x {sizes.items}"
    return _rows(name, _python(ours), others)


def _only(numbers: Numbers, names: Iterable[str]) -> Numbers:
    return {name: numbers[name] for name in names}


_ALPHA_TOLERANCE = 1e-9


def _alpha(files: Mapping[str, str], sizes: Sizes) -> list[Sequence[object]]:
    """Cronbach's alpha of one subscale."""
    order = {"file": files["subscale"], "repeats": sizes.repeats}
    ours, by_r, by_pingouin = [], [], []
    for _ in range(sizes.turns):
        ours.append(sizes.call(runs.alpha, **order))
        if r.has("psych"):
            by_r.append(r.run("alpha.R", files["subscale"], sizes.repeats))
        if find_spec("pingouin"):
            by_pingouin.append(sizes.call(runs.pingouin_alpha, **order))
    others = []
    if by_r:
        theirs = _only(by_r[0].numbers, ["alpha"])
        compare("alpha", ours[0]["numbers"], theirs, _ALPHA_TOLERANCE)
        others.append(_r(by_r, "fit", "psych::alpha"))
    if by_pingouin:
        theirs = by_pingouin[0]["numbers"]
        compare("alpha", ours[0]["numbers"], theirs, _ALPHA_TOLERANCE)
        others.append(_python(by_pingouin, "pingouin.cronbach_alpha"))
    name = f"Cronbach's alpha with interval, {sizes.rows} x {sizes.items // 2}"
    return _rows(name, _python(ours), others)


_GRADED_TOLERANCE = 1e-2  # of discriminations; ltm integrates over other points of the trait


def _graded_response(
    files: Mapping[str, str], sizes: Sizes
) -> tuple[list[Sequence[object]], list[str]]:
    """A graded response model of one trait."""
    ours = [sizes.call(runs.graded, file=files["graded"]) for _ in range(sizes.turns)]
    others = []
    if r.has("ltm"):
        by_r = [r.run("graded_response.R", files["graded"]) for _ in range(sizes.turns)]
        theirs = {name: value for name, value in by_r[0].numbers.items() if ":" in name}
        compare("graded response", ours[0]["numbers"], theirs, _GRADED_TOLERANCE)
        others.append(_r(by_r, "fit", "ltm::grm"))
    name = f"Graded response model, {sizes.graded:,} x 20"
    notes = [f"The graded response model took {ours[0]['iterations']:.0f} iterations."]
    return _rows(name, _python(ours), others), notes

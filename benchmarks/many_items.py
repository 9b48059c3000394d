"""What factor models of many items cost, against semopy and against matrices of all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import machine
from benchmarks import psychometric_runs as runs
from benchmarks.processes import Stopwatch, caller
from benchmarks.report import Section, figure, ratio

NOTHING = "-"
ROWS = 1000
TURNS = 3
_TOLERANCE = 1e-6


def measure(work: Path, *, quick: bool) -> Section:
    """Factor models of growing numbers of items, and parallel analysis twice."""
    call, turns = caller(quick=quick), 1 if quick else TURNS
    rows: list[Sequence[object]] = []
    for items, whole in ((20, True),) if quick else ((60, True), (120, False), (300, False)):
        for estimator in ("MLR", "WLSMV"):
            if (items, estimator) == (300, "WLSMV"):
                continue
            fits = [call(fit, items=items, estimator=estimator) for _ in range(turns)]
            name = f"{estimator}, {ROWS:,} x {items}"
            rows += _against_others(name, items, estimator, fits, call, whole)
    twice = [call(parallel, items=20 if quick else 120) for _ in range(turns)]
    first, second = (median(one[key] for one in twice) for key in ("first", "second"))
    rows.append(
        (
            f"Parallel analysis again, {ROWS:,} x {20 if quick else 120}: the first time",
            figure(second),
            figure(first),
            ratio(second, first),
            NOTHING,
        )
    )
    return Section(
        "Factor models of many items",
        "Models of two factors, once the others were seen to give the same test. A square of all "
        "variances and covariances of 120 items has 7,260 rows and takes 422 MB; Inkblot makes "
        "none. Aim: 120 items in 10 CPU-s and 1 GB.",
        ("", "Inkblot, CPU-s", "other, CPU-s", "ratio", "Inkblot, MB"),
        rows,
        (
            "Inkblot's fit is the whole result: estimates, errors, indices, modification indices "
            "of all pairs. semopy's has estimates and plain indices, no robust ones. 'All pairs' "
            "is the correction of the saturated model by its information matrix, as Inkblot "
            "computed it before, and nothing else.",
            "MB are the most that the process held, with its packages. Until November 2026 a model "
            "of 120 items did not end within two minutes, and one of 500 asked for 117 GiB.",
            f"Medians of {turns} processes.",
        ),
        ("numpy", "scipy", "semopy"),
    )


def _against_others(
    name: str,
    items: int,
    estimator: str,
    fits: Sequence[Mapping[str, Any]],
    call: Any,
    whole: bool,
) -> list[Sequence[object]]:
    """A line for each other way."""
    ours, memory = (median(one[key] for one in fits) for key in ("cpu", "memory"))
    others: dict[str, list[Mapping[str, Any]]] = {}
    if estimator == "MLR" and find_spec("semopy"):
        others["semopy"] = [call(semopy, items=items) for _ in fits]
        _same(name, fits[0]["chi2"], others["semopy"][0]["chi2"])
    if estimator == "MLR" and whole:
        others["all pairs"] = [call(all_pairs, items=items) for _ in fits]
        _same(name, fits[0]["scaling_h1"], others["all pairs"][0]["scaling_h1"])
    if not others:
        return [(f"{name}: nothing else here", figure(ours), NOTHING, NOTHING, figure(memory))]
    theirs = {which: median(one["cpu"] for one in found) for which, found in others.items()}
    return [
        (f"{name}: {which}", figure(ours), figure(cpu), ratio(ours, cpu), figure(memory))
        for which, cpu in theirs.items()
    ]


def _same(name: str, ours: float, theirs: float) -> None:
    if not abs(ours - theirs) < _TOLERANCE * abs(theirs):
        raise RuntimeError(f"{name}: {ours} here and {theirs} there")


def _answers(items: int) -> tuple[Any, list[str], str]:
    """Scores, names and model text."""
    names = [f"i{number}" for number in range(1, items + 1)]
    half = items // 2
    text = f"F =~ {' + '.join(names[:half])}\nG =~ {' + '.join(names[half:])}\n"
    return runs.simulated(ROWS, items, options=6, seed=1).astype(float), names, text


def fit(*, items: int, estimator: str) -> Mapping[str, float]:
    """CPU-s and memory of one fit, and its tests."""
    from core.stats.factor.cfa import fit_cfa
    from core.stats.factor.wlsmv import fit_wlsmv

    scores, names, text = _answers(items)
    with Stopwatch() as watch:
        result = (fit_wlsmv if estimator == "WLSMV" else fit_cfa)(scores, names, text)
    return {
        "cpu": watch.cpu,
        "chi2": result.fit.chi2,
        "scaling_h1": result.scaling_h1,
        "memory": machine.memory_peak() / 1e6,
    }


def semopy(*, items: int) -> Mapping[str, float]:
    """CPU-s of semopy's maximum likelihood, and its test."""
    import pandas as pd
    import semopy as library

    scores, names, text = _answers(items)
    frame = pd.DataFrame(scores, columns=names)
    with Stopwatch() as watch:
        model = library.Model(text)
        model.fit(frame, options={"ftol": 1e-10})
        found = library.calc_stats(model)
    return {"cpu": watch.cpu, "chi2": float(found["chi2"].iloc[0])}


def all_pairs(*, items: int) -> Mapping[str, float]:
    """CPU-s of the saturated model's correction by matrices of all pairs of items."""
    import numpy as np

    scores, _, _ = _answers(items)
    with Stopwatch() as watch:
        centered = scores - scores.mean(axis=0)
        inverse = np.linalg.inv(centered.T @ centered / len(scores))
        i, j = np.tril_indices(items)
        halves = np.where(i == j, 0.5, 1.0)
        information = inverse[np.ix_(i, i)] * inverse[np.ix_(j, j)]
        information += inverse[np.ix_(i, j)] * inverse[np.ix_(j, i)]
        information *= np.outer(halves, halves)
        weighted = centered @ inverse
        slopes = (weighted[:, i] * weighted[:, j] - inverse[i, j]) * halves
        outer = slopes.T @ slopes / len(scores)
        trace = float(np.trace(np.linalg.solve(information, outer)))
    return {"cpu": watch.cpu, "scaling_h1": trace / len(i)}


def parallel(*, items: int) -> Mapping[str, float]:
    """CPU-s of a parallel analysis, and of another of as many answers in the same process."""
    from core.stats.factor.exploratory import parallel_analysis

    scores, names, _ = _answers(items)
    spent = {}
    for which, answers in (("first", scores), ("second", scores[::-1] + scores)):
        with Stopwatch() as watch:
            parallel_analysis(answers, names)
        spent[which] = watch.cpu
    return spent

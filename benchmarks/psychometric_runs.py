"""The statistics that are timed, each called in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.processes import Stopwatch


def write_scores(*, folder: str, rows: int, items: int, graded: int) -> Mapping[str, str]:
    """Files of simulated scores, and the text of the factor model of the first of them."""
    import pandas as pd

    both = simulated(rows, items, options=6, seed=1)
    tables = {
        "scores": both,
        "subscale": both[:, : items // 2],
        "graded": simulated(graded, 20, options=5, seed=2, factors=1),
    }
    files = {}
    for name, table in tables.items():
        files[name] = str(Path(folder, f"{name}.csv"))
        columns = [f"i{number}" for number in range(1, table.shape[1] + 1)]
        pd.DataFrame(table, columns=columns).to_csv(files[name], index=False)
    names = [f"i{number}" for number in range(1, items + 1)]
    files["model"] = str(Path(folder, "model.txt"))
    text = f"F =~ {' + '.join(names[: items // 2])}\nG =~ {' + '.join(names[items // 2 :])}\n"
    Path(files["model"]).write_text(text, encoding="utf-8")
    return files


def simulated(rows: int, items: int, *, options: int, seed: int, factors: int = 2) -> Any:
    """Answers 0 to options - 1 on correlated traits of as many items each."""
    import numpy as np

    chance = np.random.default_rng(seed)
    traits = 0.6 * chance.normal(size=(rows, 1)) + 0.8 * chance.normal(size=(rows, factors))
    loadings = chance.uniform(0.5, 0.8, size=items)
    own = np.repeat(traits, items // factors, axis=1)
    strength = own * loadings + chance.normal(size=(rows, items)) * np.sqrt(1 - loadings**2)
    shifted = strength + chance.uniform(-0.4, 0.4, size=items)
    return np.clip(np.floor(shifted * options / 5 + options / 2), 0, options - 1).astype(int)


def validation_report(*, path: str) -> Mapping[str, Any]:
    """The report from the database file, with the coefficients that R computes too."""
    started = time.perf_counter()
    from benchmarks import validation_study
    from core.workflow.opening import open_workspace
    from core.workflow.statistics import analyses

    start_up = time.perf_counter() - started
    workspace = open_workspace(path)
    options = {**validation_study.OPTIONS, "missing": "listwise"}  # as the script for R does
    with Stopwatch() as watch:
        result = analyses.run(workspace, "validation_report", [validation_study.SCALE], options, {})
    workspace.close()
    criteria = next(table.frame for table in result.tables if table.name == "criteria")
    numbers = {}
    for row in criteria.to_dict("records"):
        group = f"{row['respondent']}/{row['context_set']}"
        if row["criterion"] != "concurrent":
            numbers[f"{group}/{row['criterion']}"] = row["value"]
        if row["criterion"] == "factorial":
            numbers[f"{group}/cfi"] = row["cfi"]
    return {"times": watch.figures, "start_up": start_up, "numbers": numbers}


def factor_model(*, file: str, model: str, estimator: str, repeats: int) -> Mapping[str, Any]:
    """Seconds of one fit, and its numbers by the names that lavaan gives them."""
    from core.stats.factor.cfa import fit_cfa
    from core.stats.factor.wlsmv import fit_wlsmv

    items, scores = _scores(file)
    text = Path(model).read_text(encoding="utf-8")
    if estimator == "WLSMV":
        result, times = clocked(lambda: fit_wlsmv(scores, items, text), repeats)
    else:
        result, times = clocked(lambda: fit_cfa(scores, items, text, estimator=estimator), repeats)
    numbers = _measures(result)
    for own, standard in zip(result.parameters, result.standardized, strict=True):
        if own.op == "=~":
            numbers[f"estimate:{own.right}"] = own.estimate
            numbers[f"se:{own.right}"] = own.se
            numbers[f"standardized:{standard.right}"] = standard.estimate
    return {"times": times, "numbers": numbers}


def _measures(result: Any) -> dict[str, float]:
    """Those that each estimator has, by lavaan's names."""
    found = {"df": result.fit.df, "chisq": result.fit.chi2, "srmr": result.srmr}
    if result.estimator != "WLSMV":  # plain indices of ordered answers say nothing
        found |= {
            "npar": result.n_free,
            "cfi": result.fit.cfi,
            "tli": result.fit.tli,
            "rmsea": result.fit.rmsea,
        }
    if result.estimator != "ML":
        found["chisq.scaled"] = result.scaled.chi2
    if result.estimator == "MLR":
        found |= {"cfi.robust": result.robust.cfi, "rmsea.robust": result.robust.rmsea}
    if result.estimator == "WLSMV":
        found |= {"cfi.scaled": result.scaled.cfi, "rmsea.scaled": result.scaled.rmsea}
    return found


def semopy_model(*, file: str, model: str, repeats: int) -> Mapping[str, Any]:
    """The same model by semopy's maximum likelihood, with its estimates and indices."""
    import pandas as pd
    import semopy

    scores = pd.read_csv(file).astype(float)
    text = Path(model).read_text(encoding="utf-8")

    def fitted() -> Any:
        own = semopy.Model(text)
        own.fit(scores, options={"ftol": 1e-10})  # its own would stop at the third decimal
        return own.inspect(std_est=True), semopy.calc_stats(own)

    (table, measures), times = clocked(fitted, repeats)
    numbers = {"chisq": float(measures["chi2"].iloc[0]), "df": float(measures["DoF"].iloc[0])}
    for row in table[table["op"] == "~"].to_dict("records"):
        numbers[f"estimate:{row['lval']}"] = float(row["Estimate"])
        numbers[f"standardized:{row['lval']}"] = float(row["Est. Std"])
    return {"times": times, "numbers": numbers}


def alpha(*, file: str, repeats: int) -> Mapping[str, Any]:
    """Alpha with Feldt's interval."""
    from core.stats.reliability.alpha import cronbach_alpha

    items, scores = _scores(file)
    result, times = clocked(lambda: cronbach_alpha(scores, names=items), repeats)
    return {"times": times, "numbers": {"alpha": result.value}}


def pingouin_alpha(*, file: str, repeats: int) -> Mapping[str, Any]:
    """The same by pingouin."""
    import pandas as pd
    import pingouin

    scores = pd.read_csv(file)
    result, times = clocked(lambda: pingouin.cronbach_alpha(scores), repeats)
    return {"times": times, "numbers": {"alpha": float(result[0])}}


def graded(*, file: str) -> Mapping[str, Any]:
    """A graded response model, fitted once."""
    from core.stats.irt.item_response import item_response

    items, scores = _scores(file)
    with Stopwatch() as watch:
        result = item_response(scores, items)
    if not result.converged:
        raise RuntimeError("the graded response model did not converge")
    numbers = {f"discrimination:{item.name}": item.discrimination for item in result.items}
    return {"times": watch.figures, "iterations": result.n_iterations, "numbers": numbers}


def clocked(what: Callable[[], Any], repeats: int) -> tuple[Any, Mapping[str, float]]:
    """What it gives, and the medians of its seconds after a first time."""
    result = what()
    found = []
    for _ in range(repeats):
        with Stopwatch() as watch:
            what()
        found.append(watch.figures)
    return result, {key: median(one[key] for one in found) for key in found[0]}


def _scores(file: str) -> tuple[list[str], Any]:
    """Names and scores of a file."""
    import pandas as pd

    table = pd.read_csv(file)
    return list(table.columns), table.to_numpy(dtype=float)

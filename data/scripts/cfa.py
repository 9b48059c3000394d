"""Factor analysis with semopy, by maximum likelihood on complete rows.

Needs semopy (pip install semopy) and shared.py. Reads data.csv, models.csv and settings.csv from
the folder of this file.

What semopy has not, or has differently: corrected (robust) tests, full information, ordered
answers, SRMR, intervals of RMSEA and of standardized loadings, and modification indices. Its AIC
and BIC follow another definition. It holds a variance at 0 where the data want a negative one. Its
search stops early by default, so a tighter end is set below; CFI and TLI are worked out from
chi-square here. It counts the moments of covariates, which nothing explains, as degrees of freedom;
here they do not count, as in lavaan. Values defined by := need cfa.R. semopy's full information is
not to be relied on, and its estimation of ordered answers does not run with current numpy.
"""

import logging

import numpy as np
import pandas as pd
import semopy
from shared import NAN, read_answers, read_settings, read_table


def note(estimator, missing):
    """How far the numbers are those of Inkblot."""
    if estimator == "WLSMV":
        return (
            "Inkblot took the answers as ordered; this script takes scores as continuous, from "
            "complete rows, and gives OTHER numbers. Use cfa.R for the same ones."
        )
    if missing == "fiml":
        return (
            "Inkblot used all rows by full information; this script uses complete rows and gives "
            "OTHER numbers where answers are missing. Use cfa.R for the same ones."
        )
    if estimator == "MLR":
        return (
            "The estimates and the plain test are those of Inkblot. The corrected test, corrected "
            "indices and corrected standard errors of MLR need cfa.R."
        )
    return "These numbers are those of Inkblot's plain test."


def starts(lines):
    """Free loadings of factors without a fixed one, and the item or factor each belongs to."""
    loadings = [line.replace("*", " ").split() for line in lines if " =~ " in line]
    fixed = {factor for factor, _, value, _ in loadings if not value.startswith("p")}
    return {value: item for factor, _, value, item in loadings if factor not in fixed}


def regressions(lines):
    """Outcome and predictor of each regression."""
    return [(line.split()[0], line.split("*")[1]) for line in lines if " ~ " in line]


def covariates(lines, columns):
    """Columns that explain something, and that nothing explains or is measured by."""
    explained = {line.split()[0] for line in lines if " ~ " in line}
    explained |= {line.split("*")[1] for line in lines if " =~ " in line}
    predictors = dict.fromkeys(predictor for _, predictor in regressions(lines))
    return [name for name in predictors if name in columns and name not in explained]


def unrelated(rows):
    """Chi-square and degrees of freedom of unrelated columns."""
    if rows.shape[1] < 2:
        return 0.0, 0.0
    base = -len(rows) * np.linalg.slogdet(np.corrcoef(rows.to_numpy(), rowvar=False))[1]
    return base, rows.shape[1] * (rows.shape[1] - 1) / 2


def indices(chi2, df, rows, given):
    """CFI and TLI against the model of unrelated items, but for covariates among each other."""
    (base, base_df), (among, among_df) = unrelated(rows), unrelated(rows[given])
    base, base_df = base - among, base_df - among_df
    worst = max(chi2 - df, base - base_df, 0)
    cfi = 1 - max(chi2 - df, 0) / worst if worst > 0 else 1.0
    tli = 1 - (chi2 - df) / (base - base_df) * base_df / df if df > 0 else NAN
    return cfi, tli


def analyze(rows, lines):
    """Print fit and loadings of one group."""
    rows = rows.dropna().reset_index(drop=True)
    # semopy would mend such a table in silence and fit what it made of it
    if len(rows) <= rows.shape[1] or rows.nunique().min() < 2:
        raise ValueError("too few complete rows, or an item that does not vary")
    if np.linalg.eigvalsh(np.corrcoef(rows.to_numpy(), rowvar=False))[0] < 1e-10:
        raise ValueError("some items determine each other")
    model = semopy.Model("\n".join(lines))
    # semopy looks for a start without end where no loading of a factor is fixed
    for parameter, item in starts(lines).items():
        model.parameters[parameter].start = rows[item].std() / 2 if item in rows else 0.5
    fit = model.fit(rows, options={"ftol": 1e-14})
    given = covariates(lines, rows.columns)
    chi2, df = len(rows) * fit.fun, semopy.stats.calc_dof(model)
    df -= len(given) * (len(given) + 1) // 2
    cfi, tli = indices(chi2, df, rows, given)
    if not fit.success:
        print(f"The search ended early: {fit.message}")
    for name, value in (("n", len(rows)), ("chi2", chi2), ("df", df), ("cfi", cfi), ("tli", tli)):
        print(name, f"{value:.8f}", sep="\t")
    for row in model.inspect(std_est=True).to_dict("records"):
        kind = "loading" if row["op"] == "~" else "covariance"
        if (row["lval"], row["rval"]) in regressions(lines):
            kind = "regression"
        numbers = (f"{row['Estimate']:.8f}", f"{row['Est. Std']:.8f}")
        print(kind, row["rval"], row["lval"], *numbers, sep="\t")


settings = read_settings()
groups, answers, columns = read_answers()
answers = pd.DataFrame(answers, columns=list(columns))
# Every parameter is written out: a number before * fixes it, p1, p2 and so on are estimated. rows
# is the group of data.csv that a model is fitted to.
models = {}
for row in read_table("models.csv"):
    if row["software"] == "semopy":
        models.setdefault((row["name"], row["rows"]), []).append(row["line"])
print(note(settings["estimator"], settings["missing"]))
logging.disable(logging.WARNING)  # semopy remarks on factors whose variance is fixed instead
for (name, rows), lines in models.items():
    print(f"\n== {name} ==")
    variables = {line.split()[0] for line in lines} | {line.split("*")[1] for line in lines}
    items = [column for column in columns if column in variables]
    try:
        analyze(answers.loc[groups == rows, items], lines)
    except (np.linalg.LinAlgError, ValueError) as error:
        print("Not fitted:", error)

"""Scripts of factor models in lavaan (R) and semopy (Python)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

import numpy as np

from core.analysis.shared.rows import Floats
from core.analysis.shared.scripts.names import (
    GROUP,
    Names,
    comment,
    csv_text,
    fill_template,
    group_labels,
    python_text,
    r_script,
    r_text,
    r_texts,
)
from core.domain.numbers import count_text
from core.domain.results import TextFile
from core.stats.factor.model import (
    COVARIANCE,
    INTERCEPT,
    LOADING,
    Parameter,
    ParsedModel,
    Scaling,
    Term,
    parameter_table,
)
from core.stats.factor.model_text import parse_model

# Measurement models as lavaan and as semopy read them.
#
# Both are written from the parsed model, not copied from a text somebody typed: lavaan evaluates
# what stands before a `*` as R code.

Rename = Callable[[str], str]


def _rename_model(model: ParsedModel, name: Rename, label: Rename) -> ParsedModel:
    """The model with other names for items and factors, and others for labels."""
    terms = tuple(
        replace(
            term,
            left=name(term.left),
            right=name(term.right) if term.right else "",
            label=label(term.label) if term.label else None,
        )
        for term in model.terms
    )
    return replace(
        model,
        factors=tuple(map(name, model.factors)),
        items=tuple(map(name, model.items)),
        terms=terms,
    )


def _single_items_are_factors(model: ParsedModel) -> ParsedModel:
    """The model of ordered answers, in which a factor of one item is that item.

    Loading and variance are 1; correlations would leave the variance of such a factor open.
    """
    terms = list(model.terms)
    for factor in model.factors:
        indicators = model.indicators(factor)
        if len(indicators) == 1 and indicators[0] in model.items:
            own = {(factor, LOADING, indicators[0]), (factor, COVARIANCE, factor)}
            terms = [term for term in terms if (term.left, term.op, term.right) not in own]
            terms += [Term(*names, fixed=1.0) for names in sorted(own, reverse=True)]
    return replace(model, terms=tuple(terms))


def lavaan_lines(model: ParsedModel, *, means: bool) -> list[str]:
    """The model text for lavaan, line by line; intercepts only where means are modeled."""
    lines = []
    for (left, op), terms in groupby(model.terms, key=lambda term: (term.left, term.op)):
        if op == INTERCEPT:
            lines += [f"{left} ~ {_lavaan_term(term, '1')}" for term in terms if means]
        else:
            right = " + ".join(_lavaan_term(term, term.right) for term in terms)
            lines.append(f"{left} {op} {right}")
    return lines


def semopy_lines(model: ParsedModel, *, scaling: Scaling = "marker") -> list[str]:
    """The model text for semopy with every parameter written out, line by line.

    semopy would fix a loading wherever none is a number, and knows no `NA*`, so each free parameter
    gets a name of its own, shared where two are held equal.
    """
    rows = parameter_table(model, scaling=scaling).parameters
    return [f"{row.left} {row.op} {_semopy_term(row)}" for row in rows]


def semopy_starts(model: ParsedModel, *, scaling: Scaling = "marker") -> dict[str, str]:
    """Free loadings of factors without a fixed one, and the item or factor each belongs to."""
    table = parameter_table(model, scaling=scaling)
    rows = [row for row in table.parameters if row.op == LOADING]
    anchored = {row.left for row in rows if not row.is_free}
    return {f"p{row.free + 1}": row.right for row in rows if row.left not in anchored}


def with_allowed_names(
    model: ParsedModel, titles: Mapping[str, str], names: Names, labels: Names
) -> ParsedModel:
    """The model with names that the files allow; `titles` as of the groups of a writer."""
    factors = set(model.factors)

    def name(own: str) -> str:
        return names.of("factor" if own in factors else "item", titles.get(own, own))

    return _rename_model(model, name, lambda own: labels.of("label", own))


def fill_columns(
    table: Floats,
    columns: Sequence[str],
    scores: Floats,
    items: Sequence[str],
    titles: Mapping[str, str],
    names: Names,
) -> None:
    """Put the scores of a group into a table of the data, each item under its column there."""
    shown = [titles.get(own, own) for own in items]
    place = {names.given.get(("item", own)): number for number, own in enumerate(shown)}
    for number, column in enumerate(columns):
        if column in place:
            table[:, number] = scores[:, place[column]]


def items_of_models(models: Iterable[ParsedModel]) -> Sequence[str]:
    """Every item of the models, once each, in order of mention."""
    return list(dict.fromkeys(item for model in models for item in model.items))


def _lavaan_term(term: Term, right: str) -> str:
    """One term with its modifiers, each before a mention of its own."""
    modifiers = [
        *(["NA"] if term.freed else []),
        *([_plain(term.fixed)] if term.fixed is not None else []),
        *([term.label] if term.label else []),
        *([f"start({_plain(term.start)})"] if term.start is not None else []),
    ]
    return " + ".join(f"{modifier}*{right}" for modifier in modifiers) or right


def _semopy_term(row: Parameter) -> str:
    """The right side of one parameter."""
    return f"p{row.free + 1}*{row.right}" if row.is_free else f"{_plain(row.value)}*{row.right}"


def _plain(value: float) -> str:
    """The number without an exponent, whose sign semopy would misread."""
    text = repr(float(value))
    return f"{value:.15f}" if "e" in text else text


# Templates.

EstimatorName = Literal["ml", "mlr", "ml_fiml", "fiml", "wlsmv", "wlsmv_pairwise"]

_LAVAAN_CALLS: Mapping[EstimatorName, str] = {
    "ml": """\
  fit <- cfa(group$model, data = rows, estimator = "ML", missing = "listwise",
             likelihood = "normal", information = "expected", meanstructure = FALSE,
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
    "mlr": """\
  fit <- cfa(group$model, data = rows, estimator = "MLR", missing = "listwise",
             likelihood = "normal", information = "observed", meanstructure = FALSE,
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
    "ml_fiml": """\
  fit <- cfa(group$model, data = rows, estimator = "ML", missing = "fiml",
             likelihood = "normal", information = "observed", meanstructure = TRUE,
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
    "fiml": """\
  fit <- cfa(group$model, data = rows, estimator = "MLR", missing = "fiml",
             likelihood = "normal", information = "observed", meanstructure = TRUE,
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
    "wlsmv": """\
  # incomplete rows go first: lavaan stops where its own deletion empties a category
  rows <- rows[complete.cases(rows[group$items]), group$items]
  fit <- cfa(group$model, data = rows, estimator = "WLSMV", ordered = group$items,
             missing = "listwise", parameterization = "delta",
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
    "wlsmv_pairwise": """\
  # rows without any answer go first, so that they do not count
  rows <- rows[rowSums(!is.na(rows[group$items])) > 0, group$items]
  fit <- cfa(group$model, data = rows, estimator = "WLSMV", ordered = group$items,
             missing = "pairwise", parameterization = "delta",
             std.lv = std.lv, auto.fix.first = !std.lv)
""",
}
"""The call of each estimator. What lavaan would choose by itself is written out, so that a later
version with other defaults gives the same numbers."""

_LAVAAN_NOTES: Mapping[EstimatorName, str] = {
    "ml": "Maximum likelihood on complete rows. All of these options are lavaan's own defaults.",
    "mlr": "Maximum likelihood on complete rows with corrected tests and standard errors. All of "
    "these options are lavaan's own defaults. The corrected test is chisq.scaled, the corrected "
    "indices end in .robust.",
    "ml_fiml": "Full-information maximum likelihood on all rows. lavaan's own default would leave "
    "incomplete rows out.",
    "fiml": "Full-information maximum likelihood on all rows with corrected tests and standard "
    "errors. lavaan's own default would leave incomplete rows out. The corrected test is "
    "chisq.scaled, the corrected indices end in .robust.",
    "wlsmv": "Ordered answers on complete rows. All other options are lavaan's own defaults. The "
    "test to report is chisq.scaled; the plain one has no meaningful p.",
    "wlsmv_pairwise": "Ordered answers, each pair of items from all rows that hold both. lavaan's "
    "own default would leave incomplete rows out; all other options are its defaults. The test to "
    "report is chisq.scaled; the plain one has no meaningful p.",
}

_LAVAAN = """\
# Factor analysis with lavaan
# Run it in the folder that holds data.csv, for example with: Rscript cfa.R
@about@
@options@
# The first loading of a factor is 1 unless the model says otherwise, or no maximum is found so.
# Each factor model is fitted to its own group. RMSEA has its usual 90% interval; other intervals
# cover ci_level.
# Rows are taken as independent.

library(lavaan)

ci_level <- @level@
options(width = 160)

@names@
answers <- read.csv("data.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8",
                    colClasses = c(group = "character"))

groups <- list(
@groups@
)

wanted <- c(
  "ntotal", "npar", "chisq", "df", "pvalue", "chisq.scaled", "df.scaled", "pvalue.scaled",
  "chisq.scaling.factor", "cfi", "tli", "rmsea", "rmsea.ci.lower", "rmsea.ci.upper", "srmr",
  "cfi.scaled", "tli.scaled", "rmsea.scaled", "cfi.robust", "tli.robust", "rmsea.robust",
  "rmsea.ci.lower.robust", "rmsea.ci.upper.robust", "aic", "bic"
)

fit_group <- function(group, rows, std.lv = FALSE) {
@call@  fit
}

analyze <- function(group) {
  rows <- answers[answers$group == group$rows, ]
  fit <- fit_group(group, rows)
  # an item that hardly loads on its factor is no unit for it
  if (!lavInspect(fit, "converged")) fit <- fit_group(group, rows, std.lv = TRUE)
  if (!lavInspect(fit, "converged")) stop("the search found no maximum")
  measures <- fitMeasures(fit)
  list(
    name = group$name,
    fit = fit,
    measures = unclass(measures[intersect(wanted, names(measures))]),
    estimates = as.data.frame(parameterEstimates(fit, level = ci_level)),
    standardized = as.data.frame(standardizedSolution(fit, level = ci_level)),
    indices = tryCatch(
      as.data.frame(modindices(fit, sort. = TRUE, maximum.number = 15)),
      error = function(e) NULL
    )
  )
}

results <- lapply(groups, function(group) {
  tryCatch(analyze(group),
           error = function(e) list(name = group$name, problem = conditionMessage(e)))
})

for (result in results) {
  cat("\\n==", result$name, "==\\n")
  if (!is.null(result$problem)) {
    cat("Not fitted:", result$problem, "\\n")
    next
  }
  cat("\\nFit\\n")
  print(data.frame(value = round(result$measures, 6)))
  cat("\\nEstimates\\n")
  print(result$estimates, digits = 6)
  cat("\\nStandardized\\n")
  print(result$standardized, digits = 6)
  cat("\\nLargest modification indices\\n")
  print(result$indices, digits = 6)
}
@differences@"""

_LAVAAN_DIFFERENCES = """
# Differences of chi-square: the first model of each pair is a special case of the second. lavaan
# corrects them as Inkblot does: Satorra and Bentler (2001), and Satorra (2000) for ordered answers.
pairs <- list(
@pairs@
)

differences <- lapply(pairs, function(pair) {
  restricted <- results[[pair[1]]]
  freer <- results[[pair[2]]]
  names <- list(restricted = restricted$name, freer = freer$name)
  if (is.null(restricted$fit) || is.null(freer$fit)) return(c(names, chi2 = NA, df = NA, p = NA))
  test <- tryCatch(lavTestLRT(restricted$fit, freer$fit), error = function(e) NULL)
  if (is.null(test)) return(c(names, chi2 = NA, df = NA, p = NA))
  c(names, chi2 = test[2, "Chisq diff"], df = test[2, "Df diff"], p = test[2, "Pr(>Chisq)"])
})
differences <- do.call(rbind, lapply(differences, as.data.frame))
cat("\\nDifferences of chi-square\\n")
print(differences, digits = 6)
"""

_PYTHON_INCOMPLETE = (
    "Inkblot used all rows by full information; semopy's full information is not to be "
    "relied on, so this script uses complete rows and gives OTHER numbers where answers are "
    "missing. Use cfa.R for the same ones."
)
_PYTHON_ORDERED = (
    "Inkblot took the answers as ordered; semopy's estimation of ordered answers does not "
    "run with current numpy, so this script takes scores as continuous, from complete rows, and "
    "gives OTHER numbers. Use cfa.R for the same ones."
)
_PYTHON_NOTES: Mapping[EstimatorName, str] = {
    "ml": "These numbers are those of Inkblot's plain test.",
    "mlr": "The estimates and the plain test are those of Inkblot. The corrected test, corrected "
    "indices and corrected standard errors of MLR need cfa.R.",
    "ml_fiml": _PYTHON_INCOMPLETE,
    "fiml": _PYTHON_INCOMPLETE,
    "wlsmv": _PYTHON_ORDERED,
    "wlsmv_pairwise": _PYTHON_ORDERED,
}

_SEMOPY = """\
# Factor analysis with semopy
# Needs: pip install semopy. Reads data.csv from the folder of this file.
@about@
@options@
# What semopy has not, or has differently: corrected (robust) tests, full information, ordered
# answers, SRMR, intervals of RMSEA and of standardized loadings, and modification indices. Its AIC
# and BIC follow another definition. It holds a variance at 0 where the data want a negative one.
# Its search stops early by default, so a tighter end is set below; CFI and TLI are worked out from
# chi-square here.

import csv
import logging
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import semopy

@names@
with Path(__file__).with_name("data.csv").open(encoding="utf-8", newline="") as file:
    header, *lines = csv.reader(file)
group_of_row = np.array([line[0] for line in lines])
answers = pd.DataFrame(
    [[float(cell or "nan") for cell in line[1:]] for line in lines], columns=header[1:]
)

NOTE = @note@
# Every parameter is written out: a number before * fixes it, p1, p2 and so on are estimated.
groups = [
@groups@
]


def indices(chi2, df, rows):
    \"\"\"CFI and TLI against the model of unrelated items.\"\"\"
    base_df = rows.shape[1] * (rows.shape[1] - 1) / 2
    base = -len(rows) * np.linalg.slogdet(np.corrcoef(rows.to_numpy(), rowvar=False))[1]
    worst = max(chi2 - df, base - base_df, 0)
    cfi = 1 - max(chi2 - df, 0) / worst if worst > 0 else 1.0
    tli = 1 - (chi2 - df) / (base - base_df) * base_df / df if df > 0 else float("nan")
    return cfi, tli


def analyze(group):
    \"\"\"Print fit and loadings of one group.\"\"\"
    own = answers[group_of_row == group["rows"]]
    rows = own[group["items"]].dropna().reset_index(drop=True)
    # semopy would mend such a table in silence and fit what it made of it
    if len(rows) <= rows.shape[1] or rows.nunique().min() < 2:
        raise ValueError("too few complete rows, or an item that does not vary")
    if np.linalg.eigvalsh(np.corrcoef(rows.to_numpy(), rowvar=False))[0] < 1e-10:
        raise ValueError("some items determine each other")
    model = semopy.Model("\\n".join(group["model"]))
    # semopy looks for a start without end where no loading of a factor is fixed
    for parameter, item in group["starts"].items():
        model.parameters[parameter].start = rows[item].std() / 2 if item in rows else 0.5
    found = model.fit(rows, options={"ftol": 1e-14})
    chi2, df = len(rows) * found.fun, semopy.stats.calc_dof(model)
    cfi, tli = indices(chi2, df, rows)
    if not found.success:
        print(f"The search ended early: {found.message}")
    for name, value in (("n", len(rows)), ("chi2", chi2), ("df", df), ("cfi", cfi), ("tli", tli)):
        print(name, f"{value:.8f}", sep="\\t")
    for row in model.inspect(std_est=True).to_dict("records"):
        kind = "loading" if row["op"] == "~" else "covariance"
        print(kind, row["rval"], row["lval"], f"{row['Estimate']:.8f}", f"{row['Est. Std']:.8f}",
              sep="\\t")


sys.stdout.reconfigure(errors="backslashreplace")
print(NOTE)
logging.disable(logging.WARNING)  # semopy remarks on factors whose variance is fixed instead
for group in groups:
    print(f"\\n== {group['name']} ==")
    try:
        analyze(group)
    except (np.linalg.LinAlgError, ValueError) as error:
        print("Not fitted:", error)
"""


# The scripts.


@dataclass(frozen=True, eq=False)
class SyntaxGroup:
    """One group with the model that was fitted to it.

    Fields
    ------
    name : what the group is called; any text.
    scores : (rows, items), NaN where there is none; a row is one administration.
    items : names of the columns as the model text has them.
    model : model text, as `parse_model` reads it.
    dropped : items that the model leaves out, as users know them; named in the scripts.
    titles : names in the text to the names users know, where the two differ.
    answers : whose answers these are, where several models share them; by default its own.
    """

    name: str
    scores: Floats
    items: tuple[str, ...]
    model: str
    dropped: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    answers: str = ""


def cfa_files(
    groups: Sequence[SyntaxGroup],
    *,
    estimator: EstimatorName,
    ci_level: float,
    title: str = "Confirmatory factor analysis",
    pairs: Sequence[tuple[int, int]] = (),
) -> tuple[TextFile, ...]:
    """Data and scripts with which others can fit the same models.

    Parameters
    ----------
    groups : sequence of SyntaxGroup
        Every group with its own model; a group that has none is left to the caller to leave out.
    estimator : str
        As in `cfa`, with its rule for missing answers.
    ci_level : float in (0, 1)
        Two-sided coverage of the intervals.
    title : str
        What the analysis is called; any text.
    pairs : sequence of (restricted, freer)
        Places in `groups` of models whose difference of chi-square `cfa.R` is to test.

    Returns
    -------
    tuple of TextFile
        `data.csv` (a column `group`, a column per item, a row per administration, empty for
        missing), `cfa.R` (lavaan, the same numbers) and `cfa.py` (semopy: maximum likelihood on
        complete rows only, as its comments say).

    Raises
    ------
    ModelTextError
        A model text cannot be read.

    Notes
    -----
    Names keep their letters only as far as R, Python and spreadsheets take them for names; comments
    say which stands for what. The models are written anew from what was understood of their text.
    """
    names, labels = Names(), Names(frozenset())
    group_names = group_labels([group.name for group in groups])
    row_names = _row_names(groups, group_names)
    models = [_model(group, estimator, names, labels) for group in groups]
    about = _about(groups, group_names, title)
    parts = {
        "about": about.rstrip("\n"),
        "level": repr(ci_level),
        "names": names.table(),
    }
    written = list(zip(group_names, row_names, models, strict=True))
    r_parts = {
        **parts,
        "options": comment(_LAVAAN_NOTES[estimator]).rstrip("\n"),
        "call": _LAVAAN_CALLS[estimator],
        "groups": ",\n".join(
            _r_group(*one, means=estimator in ("ml_fiml", "fiml")) for one in written
        ),
        "differences": fill_template(_LAVAAN_DIFFERENCES, {"pairs": _r_pairs(pairs)})
        if pairs
        else "",
    }
    python_parts = {
        **parts,
        "options": comment(_PYTHON_NOTES[estimator]).rstrip("\n"),
        "note": repr(_PYTHON_NOTES[estimator]),
        "groups": "\n".join(_python_group(*one) for one in written),
    }
    return (
        TextFile("data.csv", _data(groups, row_names, models, names)),
        TextFile("cfa.R", r_script(fill_template(_LAVAAN, r_parts))),
        TextFile("cfa.py", fill_template(_SEMOPY, python_parts)),
    )


def _model(
    group: SyntaxGroup, estimator: EstimatorName, names: Names, labels: Names
) -> ParsedModel:
    """The model with names that the files allow."""
    model = parse_model(group.model, items=group.items)
    if estimator in ("wlsmv", "wlsmv_pairwise"):
        model = _single_items_are_factors(model)
    return with_allowed_names(model, group.titles, names, labels)


def _about(groups: Sequence[SyntaxGroup], names: Sequence[str], title: str) -> str:
    """What the files are of, and which items are left out."""
    lines = comment(f"{title}: {count_text(len(groups), 'group')}.")
    for group, name in zip(groups, names, strict=True):
        if group.dropped:
            lines += comment(f"{name}: left out: {', '.join(group.dropped)}.")
    return lines


def _row_names(groups: Sequence[SyntaxGroup], group_names: Sequence[str]) -> list[str]:
    """What the rows of each group are called in the data: as the group, or as what it shares."""
    shared = list(dict.fromkeys(group.answers for group in groups if group.answers))
    labels = dict(zip(shared, group_labels(shared), strict=True))
    return [
        labels.get(group.answers, name) for group, name in zip(groups, group_names, strict=True)
    ]


def _r_pairs(pairs: Sequence[tuple[int, int]]) -> str:
    """The pairs of models as R counts them."""
    return ",\n".join(f"  c({one + 1}, {other + 1})" for one, other in pairs)


def _r_group(name: str, rows: str, model: ParsedModel, *, means: bool) -> str:
    """One group as an element of a list in R."""
    lines = ",\n".join(f"      {r_text(line)}" for line in lavaan_lines(model, means=means))
    return (
        f"  list(\n    name = {r_text(name)},\n    rows = {r_text(rows)},\n"
        f"    items = {r_texts(model.items)},\n"
        f'    model = paste(\n{lines},\n      sep = "\\n"\n    )\n  )'
    )


def _python_group(name: str, rows: str, model: ParsedModel) -> str:
    """One group as an element of a list in Python."""
    lines = "".join(f"            {python_text(line)},\n" for line in semopy_lines(model))
    return (
        f'    {{\n        "name": {python_text(name)},\n        "rows": {python_text(rows)},\n'
        f'        "items": {list(model.items)!r},\n'
        f'        "model": [\n{lines}        ],\n'
        f'        "starts": {semopy_starts(model)!r},\n    }},'
    )


def _data(
    groups: Sequence[SyntaxGroup],
    row_names: Sequence[str],
    models: Sequence[ParsedModel],
    names: Names,
) -> str:
    """The scores of all groups below each other, a column for every item of a model."""
    columns = items_of_models(models)
    tables: dict[str, Floats] = {}
    for group, label in zip(groups, row_names, strict=True):
        table = tables.setdefault(label, np.full((len(group.scores), len(columns)), np.nan))
        fill_columns(table, columns, group.scores, group.items, group.titles, names)
    rows = [(label, row) for label, table in tables.items() for row in table.tolist()]
    return csv_text([GROUP, *columns], rows)

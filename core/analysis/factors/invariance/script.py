"""Scripts that fit the steps of measurement invariance in lavaan (R)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from core.analysis.factors.cfa.analysis import changed_names
from core.analysis.factors.invariance.levels import (
    Factor,
    Fewest,
    GroupLevels,
    group_factors,
    invariance_inputs,
)
from core.analysis.shared.factor_models.models import (
    FactorModel,
    LikelihoodEstimator,
    LikelihoodKind,
    WrittenModel,
)
from core.analysis.shared.matrices import group_name
from core.analysis.shared.options import By, MissingRows
from core.analysis.shared.rows import Floats
from core.analysis.shared.scripts.factor_models import (
    fill_columns,
    items_of_models,
    lavaan_lines,
    with_allowed_names,
)
from core.analysis.shared.scripts.names import (
    GROUP,
    Names,
    comment,
    csv_text,
    fill_template,
    group_labels,
    r_script,
    r_text,
    r_texts,
)
from core.domain.numbers import count_text
from core.domain.results import TextFile
from core.errors import NotEnoughData
from core.stats.factor.model import ParsedModel, Scaling
from core.stats.factor.model_text import parse_model

_LEVEL = "level"
"""The column of the data with the number of the level."""

_OPTIONS: Mapping[str, str] = {
    "ml": 'estimator = "ML", missing = "listwise", information = "expected"',
    "mlr": 'estimator = "MLR", missing = "listwise", information = "observed"',
    "ml_fiml": 'estimator = "ML", missing = "fiml", information = "observed"',
    "fiml": 'estimator = "MLR", missing = "fiml", information = "observed"',
}
_SCRIPT = """\
# Measurement invariance with lavaan
# Run it in the folder that holds data.csv, for example with: Rscript invariance.R
@about@
# Each step holds more equal across the levels than the one before. Where loadings are equal, lavaan
# frees the variances of factors at all levels but the first; where intercepts are, their means.
# There is no script for Python: semopy cannot hold parameters equal across groups.
# Rows are taken as independent.

library(lavaan)

options(width = 160)

@names@
answers <- read.csv("data.csv", check.names = FALSE, na.strings = "", encoding = "UTF-8",
                    colClasses = c(group = "character"))

groups <- list(
@groups@
)

steps <- list(
  configural = "",
  metric = "loadings",
  scalar = c("loadings", "intercepts"),
  strict = c("loadings", "intercepts", "residuals")
)

measure <- function(fit, name) {
  found <- fitMeasures(fit)
  if (name %in% names(found)) unname(found[[name]]) else NA
}

climb <- function(group) {
  rows <- answers[answers$group == group$name, ]
  rows$level <- group$levels[rows$level]
  fits <- lapply(steps, function(equal) tryCatch(
    cfa(group$model, data = rows, group = "level", group.label = group$levels,
        group.equal = equal, @options@,
        likelihood = "normal", meanstructure = TRUE, std.lv = group$std.lv,
        auto.fix.first = !group$std.lv),
    error = function(e) NULL
  ))
  do.call(rbind, lapply(seq_along(fits), function(step) {
    fit <- fits[[step]]
    if (is.null(fit) || !lavInspect(fit, "converged")) return(NULL)
    test <- if (step > 1 && !is.null(fits[[step - 1]])) {
      tryCatch(lavTestLRT(fits[[step - 1]], fit), error = function(e) NULL)
    }
    change <- function(column) if (is.null(test)) NA else test[2, column]
    data.frame(
      name = group$name, step = names(steps)[step], n = lavInspect(fit, "ntotal"),
      chi2 = measure(fit, "chisq"), df = measure(fit, "df"), p = measure(fit, "pvalue"),
      chi2_scaled = measure(fit, "chisq.scaled"), cfi = measure(fit, "cfi"),
      cfi_robust = measure(fit, "cfi.robust"), rmsea = measure(fit, "rmsea"),
      rmsea_robust = measure(fit, "rmsea.robust"), srmr = measure(fit, "srmr"),
      aic = measure(fit, "aic"), bic = measure(fit, "bic"),
      chi2_difference = change("Chisq diff"), df_difference = change("Df diff"),
      p_difference = change("Pr(>Chisq)")
    )
  }))
}

results <- do.call(rbind, lapply(groups, climb))
print(results, digits = 6)
"""


@dataclass(frozen=True, eq=False)
class LevelGroup:
    """One group with the answers of each level and the model that all of them get.

    Fields
    ------
    name : what the group is called; any text.
    scores : by level, (rows, items), NaN where there is none; a row is one administration.
    items : names of the columns as the model text has them.
    model : model text, as `parse_model` reads it.
    titles : names in the text to the names users know, where the two differ.
    scaling : how factors get their unit, "marker" or "std.lv".
    """

    name: str
    scores: Mapping[str, Floats]
    items: tuple[str, ...]
    model: str
    titles: Mapping[str, str] = field(default_factory=dict)
    scaling: Scaling = "marker"


def invariance_files(
    groups: Sequence[LevelGroup], *, estimator: LikelihoodKind, factor: str
) -> tuple[TextFile, ...]:
    """Data and a script with which others can climb the same steps.

    Parameters
    ----------
    groups : sequence of LevelGroup
        Every group whose levels are compared.
    estimator : str
        As in `invariance`, with its rule for missing answers.
    factor : str
        What the levels are levels of; any text.

    Returns
    -------
    tuple of TextFile
        `data.csv` (columns `group` and `level`, a column per item, a row per administration, empty
        for missing) and `invariance.R` (lavaan, the same numbers).

    Raises
    ------
    ModelTextError
        A model text cannot be read.
    """
    names, labels = Names(frozenset({GROUP, _LEVEL})), Names(frozenset())
    group_names = group_labels([group.name for group in groups])
    models = [
        with_allowed_names(parse_model(group.model, items=group.items), group.titles, names, labels)
        for group in groups
    ]
    about = comment(f"Levels of {factor} are compared in {count_text(len(groups), 'group')}.")
    parts = {
        "about": about.rstrip("\n"),
        "names": names.table(),
        "options": _OPTIONS[estimator],
        "groups": ",\n".join(map(_r_group, group_names, groups, models)),
    }
    return (
        TextFile("data.csv", _data(groups, group_names, models, names)),
        TextFile("invariance.R", r_script(fill_template(_SCRIPT, parts))),
    )


def _r_group(name: str, group: LevelGroup, model: ParsedModel) -> str:
    """One group as an element of a list in R."""
    lines = ",\n".join(f"      {r_text(line)}" for line in lavaan_lines(model, means=True))
    levels = group_labels(list(group.scores))
    return (
        f"  list(\n    name = {r_text(name)},\n    levels = {r_texts(levels)},\n"
        f"    std.lv = {'TRUE' if group.scaling == 'std.lv' else 'FALSE'},\n"
        f'    model = paste(\n{lines},\n      sep = "\\n"\n    )\n  )'
    )


def _data(
    groups: Sequence[LevelGroup],
    group_names: Sequence[str],
    models: Sequence[ParsedModel],
    names: Names,
) -> str:
    """The scores of all groups and levels below each other, a column for every item of a model."""
    columns = items_of_models(models)
    rows: list[tuple[str, list[float]]] = []
    for group, label in zip(groups, group_names, strict=True):
        for level, scores in enumerate(group.scores.values(), start=1):
            table = np.full((len(scores), 1 + len(columns)), np.nan)
            table[:, 0] = level
            fill_columns(table[:, 1:], columns, scores, group.items, group.titles, names)
            rows += [(label, row) for row in table.tolist()]
    return csv_text([GROUP, _LEVEL, *columns], rows)


def invariance_scripts(
    item_scores: pd.DataFrame,
    *,
    factor: Factor = "language",
    by: By = ("respondent",),
    model: FactorModel = "subscales",
    estimator: LikelihoodEstimator = "mlr",
    missing: MissingRows = "automatic",
    fewest: Fewest = 10,
) -> tuple[TextFile, ...]:
    """A script for lavaan, and its data, with the steps that `invariance` fits.

    Parameters
    ----------
    item_scores, factor, by, model, estimator, missing, fewest
        As in `invariance`.

    Returns
    -------
    tuple of TextFile
        As of `invariance_files`, of every group whose levels can be compared.

    Raises
    ------
    NotEnoughData
        There is no such group.
    """
    inputs = invariance_inputs(
        item_scores, factor, group_factors(by, factor), model, estimator, missing, fewest
    )
    ready = [inputs.levels(matrix) for matrix in inputs.matrices]
    groups = [_group(one, one.model) for one in ready if one.model is not None]
    if not groups:
        raise NotEnoughData(
            f"No levels of {factor} can be compared, so there is nothing to write.",
            "It needs two levels with enough administrations, and a model that their items can "
            "have.",
        )
    return invariance_files(groups, estimator=inputs.estimator, factor=factor)


def _group(ready: GroupLevels, model: WrittenModel) -> LevelGroup:
    """One group as the writer takes it."""
    return LevelGroup(
        name=group_name(ready.matrix.group),
        scores=ready.scores,
        items=model.items,
        model=ready.text,
        titles=changed_names(model.shown, {model.name(safe): safe for safe in model.items}),
        scaling=ready.scaling,
    )

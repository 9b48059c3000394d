"""Tables of item response models: items, information, fit of model, items and administrations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import get_args

import numpy as np

from core.analysis.kit.matrices import ScoreMatrix
from core.analysis.kit.rows import Floats
from core.domain.tables import TableRows, TableSpec, count, key, number, p_value, remark, text
from core.stats.groups import Adjustment
from core.stats.irt import item_response as response
from core.stats.irt.response_fit import PersonFit, item_fit
from core.stats.irt.response_models import ModelName
from core.stats.ordered.answer_options import score_list

_SAMEJIMA = "Samejima (1969)."
MODEL_NAMES: dict[ModelName, str] = {
    "graded": "Graded response model (Samejima, 1969)",
    "partial_credit": "Partial credit model (Masters, 1982) with one a for all items",
    "generalized_partial_credit": "Generalized partial credit model (Muraki, 1992)",
    "nominal": "Nominal model (Bock, 1972) with a and c of the lowest score set to 0",
}
_SUBSCALE = key("subscale", "Subscale", "As in the bank.")
_ITEM = key("item", "Item", "As named in the bank.")
_N = count("n", "n", "Administrations with a score for the item.")

INFORMATION = TableSpec(
    "information",
    "Test information",
    (
        _SUBSCALE,
        key("trait", "Trait", "Level in standard deviations; 0 is the group's mean.", "points"),
        number(
            "information", "Information", "points", f"Of all items together, 1 / SD². {_SAMEJIMA}"
        ),
        number(
            "standard_error",
            "SE",
            "points",
            "1 / √information: of a trait score there, in SD, by maximum likelihood.",
        ),
        number(
            "reliability",
            "Reliability",
            "correlation",
            "Information / (information + 1); Green and others (1984).",
        ),
    ),
    "Information",
)
FIT = TableSpec(
    "fit",
    "Fit and reliability",
    (
        _SUBSCALE,
        count("n_items", "Items", "Items in the model: those with two scores or more."),
        count("n_administrations", "Administrations", "With at least one score."),
        count(
            "n_parameters",
            "Parameters",
            "One a, and one b for each step of an item. Partial credit: one a for all items. "
            "Nominal: an a and a c for each score but the lowest.",
        ),
        text("converged", "Converged", "A maximum of the likelihood was found."),
        count("iterations", "Steps", "Of EM (Bock and Aitkin, 1981) or Newton's method."),
        number("log_likelihood", "Log-likelihood", "points", "Marginal, where the search ended."),
        number("aic", "AIC", "points", "2 · parameters - 2 · log-likelihood; smaller is better."),
        number("bic", "BIC", "points", "ln(administrations) · parameters - 2 · log-likelihood."),
        number(
            "marginal_reliability",
            "Marginal reliability",
            "correlation",
            "Mean of I / (I + 1) over a standard normal trait; Green and others (1984).",
        ),
        number(
            "empirical_reliability",
            "Empirical reliability",
            "correlation",
            "Variance of the trait scores / (that + mean squared standard error).",
        ),
    ),
    "Fit",
)


MODELS = TableSpec(
    "models",
    "Models compared",
    (
        _SUBSCALE,
        key("model", "Model", "Fitted to the same answers."),
        text("converged", "Converged", "A maximum of the likelihood was found."),
        count("n_parameters", "Parameters", "Those that are estimated."),
        number("log_likelihood", "Log-likelihood", "points", "Marginal, where the search ended."),
        number("aic", "AIC", "points", "2 · parameters - 2 · log-likelihood; smaller is better."),
        number("bic", "BIC", "points", "ln(administrations) · parameters - 2 · log-likelihood."),
    ),
    "Fit",
)
ITEM_FIT = TableSpec(
    "item_fit",
    "Item fit",
    (
        _SUBSCALE,
        _ITEM,
        count("n", "n", "Administrations with all items of the model answered."),
        number(
            "s_x2",
            "S-X²",
            "points",
            "Σ (observed - expected)² / expected over the scores of the item, among "
            "administrations of the same sum score; Orlando and Thissen (2000), Kang and Chen "
            "(2008).",
        ),
        count(
            "df",
            "df",
            "Scores of the item less one, over all sum scores, less its parameters; neighbors are "
            "merged until 1 is expected in each.",
        ),
        p_value("p", "p", "χ² of S-X²: chance of so much misfit where the item fits.", of="s_x2"),
        p_value(
            "p_adjusted",
            "p adjusted",
            "Over the items of this group and subscale: Holm (1979), or Benjamini and Hochberg "
            "(1995), as chosen.",
            of="s_x2",
        ),
        number(
            "rmsea",
            "RMSEA",
            "proportion",
            "√(max(0, S-X² - df) / (df (n - 1))): size of the misfit; with thousands of "
            "administrations p is small for any item.",
        ),
        remark(),
    ),
    "Item fit",
)
PERSON_FIT = TableSpec(
    "person_fit",
    "Person fit",
    (
        _SUBSCALE,
        key("row", "Row", "Number of the administration in its group."),
        text("administration", "Administration", "Its levels of the factors that vary."),
        count("n", "Answers", "Items of the model that it answered."),
        number(
            "trait", "Trait", "points", "Expected a posteriori, in SD; Bock and Mislevy (1982)."
        ),
        number("trait_se", "SE of trait", "points", "Posterior standard deviation."),
        number(
            "lz",
            "lz",
            "points",
            "How likely the answers are at this trait, in standard deviations; low is unlikely. It "
            "is not standard normal, as the trait is estimated; Drasgow, Levine and Williams "
            "(1985), Snijders (2001).",
        ),
        p_value(
            "p",
            "p",
            "Share of simulated administrations of a similar trait with an lz as low, for five "
            "answers or more; not adjusted: chance alone puts one in twenty below .05.",
            of="lz",
        ),
        text("unlikely", "Least likely", "The item whose answer is the least likely."),
    ),
    "Person fit",
)


_SOURCES: dict[ModelName, str] = {
    "graded": _SAMEJIMA,
    "partial_credit": "Masters (1982).",
    "generalized_partial_credit": "Muraki (1992).",
    "nominal": "Bock (1972).",
}


def items_spec(model: ModelName, most: int) -> TableSpec:
    """The table of items, of which one has as many scores as `most` above its lowest."""
    source, louis = _SOURCES[model], "From the observed information; Louis (1982)."
    higher = "a higher score" if model == "graded" else "a score against the next lower one"
    slope = (
        number(
            "a",
            "a",
            "points",
            f"Discrimination: rise of the log odds of {higher} per standard deviation of the "
            f"trait, without the factor 1.7. {source}",
        ),
        number("a_se", "SE of a", "points", louis),
    )
    delta = "By the delta method."
    of_scores = {
        "graded": [
            (
                "b",
                "Level of the trait, in SD, above which score {k} is passed more often than not.",
                delta,
            )
        ],
        "nominal": [
            (
                "a",
                "Rise of the log odds of score {k} above the lowest, against the lowest, per "
                "standard deviation of the trait; 0 for the lowest.",
                louis,
            ),
            ("c", "The same log odds at a trait of 0; 0 for the lowest.", louis),
        ],
    }.get(
        model,
        [
            (
                "s",
                "Step: level of the trait, in SD, at which score {k} and the next one are "
                "equally likely.",
                delta,
            )
        ],
    )
    columns = (
        _SUBSCALE,
        _ITEM,
        text(
            "options",
            "Scores chosen",
            "Scores somebody chose, lowest first; "
            + (
                "a1 and c1 are of the second against the first. "
                if model == "nominal"
                else f"{of_scores[0][0]}1 lies between the first and the second. "
            )
            + "Options nobody chose are closed up.",
        ),
        _N,
        *(slope if model != "nominal" else ()),
        *(
            column
            for k in range(1, most + 1)
            for name, words, error in of_scores
            for column in (
                number(f"{name}{k}", f"{name}{k}", "points", f"{words.format(k=k)} {source}"),
                number(f"{name}{k}_se", f"SE of {name}{k}", "points", error),
            )
        ),
        text("converged", "Converged", "If not, the numbers are no estimates; do not report."),
    )
    return TableSpec("items", "Items", columns, "Items")


def item_information_spec(levels: Floats) -> TableSpec:
    """The table of the information of each item at some levels of the trait, and its highest."""
    columns = (
        _SUBSCALE,
        _ITEM,
        _N,
        number(
            "highest",
            "Highest",
            "points",
            "Highest information of the item over the range of the trait, Σ P'² / P over its "
            f"options. {_SAMEJIMA}",
        ),
        number("highest_at", "Highest at", "points", "Level of the trait, in SD, where it is."),
        *(
            number(
                f"at_{level:g}",
                f"At {level:g}".replace("-", "−"),
                "points",
                f"Information at a trait of {level:g} SD, 1 / SD². The items of a subscale add up "
                "to the test information there.",
            )
            for level in levels.tolist()
        ),
    )
    return TableSpec("item_information", "Item information", columns, "Information")


def add_information(
    information: TableRows,
    matrix: ScoreMatrix,
    fit: response.ItemResponseFit | None,
    trait: Floats,
) -> None:
    """The rows of the levels of the trait; NaN where nothing converged."""
    of_scale = np.full(trait.shape, np.nan)
    if fit and fit.converged:
        of_scale = response.scale_information(fit.items, trait)
    errors, shares = response.standard_error(of_scale), response.local_reliability(of_scale)
    columns = (array.tolist() for array in (trait, of_scale, errors, shares))
    for level, value, error, share in zip(*columns, strict=True):
        information.add(
            matrix.group,
            subscale=matrix.subscale,
            trait=level,
            information=value,
            standard_error=error,
            reliability=share,
        )


def add_fit(of_fit: TableRows, matrix: ScoreMatrix, fit: response.ItemResponseFit | None) -> None:
    """The row of a subscale."""
    reliability = response.trait_reliability(fit) if fit else None
    at_maximum = fit is not None and fit.converged
    of_fit.add(
        matrix.group,
        subscale=matrix.subscale,
        n_items=len(fit.items) if fit else 0,
        n_administrations=fit.n_rows if fit else 0,
        n_parameters=fit.n_parameters if fit else 0,
        converged=at_maximum,
        iterations=fit.n_iterations if fit else 0,
        log_likelihood=fit.log_likelihood if fit else math.nan,
        aic=fit.aic if fit and at_maximum else math.nan,
        bic=fit.bic if fit and at_maximum else math.nan,
        marginal_reliability=reliability.marginal if reliability else math.nan,
        empirical_reliability=reliability.empirical if reliability else math.nan,
    )


def add_models(
    models: TableRows,
    matrix: ScoreMatrix,
    fit: response.ItemResponseFit | None,
    fitted: Callable[[ModelName], response.ItemResponseFit],
) -> None:
    """A row for each model of a matrix; AIC and BIC are NaN where nothing converged."""
    for name in get_args(ModelName) if fit else ():
        model = fit if fit and fit.model == name else fitted(name)
        models.add(
            matrix.group,
            subscale=matrix.subscale,
            model=MODEL_NAMES[name].split(" (")[0],
            converged=model.converged,
            n_parameters=model.n_parameters,
            log_likelihood=model.log_likelihood,
            aic=model.aic if model.converged else math.nan,
            bic=model.bic if model.converged else math.nan,
        )


def add_item_fit(
    rows: TableRows, matrix: ScoreMatrix, fit: response.ItemResponseFit | None, adjust: Adjustment
) -> None:
    """The rows of the items of a matrix; NaN with the reason for those left out of the model."""
    tests = item_fit(fit, adjust) if fit else ()
    of_item = {item.name: test for item, test in zip(fit.items if fit else (), tests, strict=True)}
    for name in matrix.items:
        test = of_item.get(name)
        if test is None:
            out = "not in the model" if fit else "no model"
            rows.add_undefined(
                matrix.group, subscale=matrix.subscale, item=name, n=0, df=0, remark=out
            )
            continue
        rows.add(
            matrix.group,
            subscale=matrix.subscale,
            item=name,
            n=test.n,
            s_x2=test.s_x2,
            df=test.df,
            p=test.p,
            p_adjusted=test.p_adjusted,
            rmsea=test.rmsea,
            remark=test.problem,
        )


def add_persons(
    rows: TableRows,
    matrix: ScoreMatrix,
    fit: response.ItemResponseFit,
    result: PersonFit,
    names: Mapping[int, str],
) -> None:
    """The rows of the administrations of a matrix; NaN where nothing converged."""
    answered = np.isfinite(matrix.scores[:, [matrix.items.index(i.name) for i in fit.items]])
    columns = (
        answered.sum(axis=1),
        fit.scores if fit.converged else np.full_like(fit.scores, np.nan),
        fit.scores_se if fit.converged else np.full_like(fit.scores, np.nan),
        result.lz,
        result.p,
        result.unlikely,
    )
    cells = zip(matrix.administrations.tolist(), *(c.tolist() for c in columns), strict=True)
    for row, (administration, n, score, error, lz, p, unlikely) in enumerate(cells, 1):
        rows.add(
            matrix.group,
            subscale=matrix.subscale,
            row=row,
            administration=names[administration],
            n=n,
            trait=score,
            trait_se=error,
            lz=lz,
            p=p,
            unlikely=fit.items[unlikely].name if unlikely >= 0 else "",
        )


def add_items(
    items: TableRows,
    item_information: TableRows,
    matrix: ScoreMatrix,
    fit: response.ItemResponseFit | None,
    trait: Floats,
) -> None:
    """The rows of the items of a matrix; NaN for those left out of the model.

    The highest information is looked for among the levels of `trait`; NaN where nothing converged.
    """
    of_model = {item.name: item for item in fit.items} if fit else {}
    converged = fit is not None and fit.converged
    for name, scores in zip(matrix.items, matrix.scores.T, strict=True):
        answers = scores[np.isfinite(scores)]
        curve, at_levels = (
            {column.name: math.nan for column in rows.spec.columns if column.role == "number"}
            for rows in (items, item_information)
        )
        item = of_model.get(name)
        options = item.options if item else np.unique(answers).tolist()
        if item:
            # in the order of the columns: slope, then of each score; or a and c of each score
            estimates = [(item.thresholds, item.thresholds_se)]
            first = [item.slopes[0], item.slopes_se[0]]
            if item.model == "nominal":
                first = []
                estimates = [(item.slopes, item.slopes_se), (item.intercepts, item.intercepts_se)]
            of_scores = zip(*(part for pair in estimates for part in pair), strict=True)
            values = [*first, *(value for of_score in of_scores for value in of_score)]
            curve |= dict(zip(curve, values, strict=False))
        if item and converged:
            over = response.item_information(item, trait)
            highest = int(over.argmax())
            at_whole = response.item_information(item, whole_levels(trait)).tolist()
            numbers = (float(over[highest]), float(trait[highest]), *at_whole)
            at_levels = dict(zip(at_levels, numbers, strict=True))
        items.add(
            matrix.group,
            subscale=matrix.subscale,
            item=name,
            options=score_list(options) if options else "",
            n=item.n_answers if item else len(answers),
            converged=converged and item is not None,
            **curve,
        )
        item_information.add(
            matrix.group, subscale=matrix.subscale, item=name, n=len(answers), **at_levels
        )


def whole_levels(trait: Floats) -> Floats:
    """The whole numbers within some levels of the trait."""
    return np.arange(np.ceil(trait.min()), np.floor(trait.max()) + 1)

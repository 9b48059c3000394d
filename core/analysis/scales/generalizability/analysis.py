"""How much of the differences between answers comes from what was asked, of whom, and chance?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import pandas as pd

from core.analysis.kit import sentences
from core.analysis.kit.matrices import data_notes, distinct
from core.analysis.kit.options import By, ConfidenceLevel, Reported
from core.analysis.kit.registry import Choice, DesignFactors, Number, Text, analysis
from core.analysis.kit.results import Findings, count_result
from core.analysis.scales.generalizability import tables as group_tables
from core.analysis.scales.generalizability.facets import counted, group_designs, require_known
from core.charts.variance import variance_charts
from core.domain.frames import ITEM_SCORES
from core.domain.numbers import percent_text
from core.domain.results import AnalysisResult
from core.domain.study import FACTORS
from core.errors import NotEnoughData, WrongOption
from core.progress import with_progress
from core.stats.inputs import name_list
from core.stats.variance.components import Estimator, variance_components

_MOST_SOURCES = 4
"""Sources that the sentence names; the others are counted."""
_ALPHA = 0.05

Facets = Annotated[
    tuple[str, ...],
    DesignFactors(
        "Facets beside items",
        help="What may differ between answers. Empty: everything that varies. What is not chosen "
        "counts as residual.",
    ),
]
Object = Literal[
    "automatic",
    "respondent",
    "model",
    "context",
    "entity",
    "item",
    "language",
    "form",
    "format",
    "template",
    "label_order",
    "phase",
    "study",
]
Objects = Annotated[
    Object,
    Choice(
        "What is measured",
        (
            ("automatic", "Automatic: respondents, else contexts, entities or items"),
            ("respondent", "Respondents"),
            ("model", "Models"),
            ("context", "Contexts or people"),
            ("entity", "Entities"),
            ("item", "Items"),
            ("language", "Languages"),
            ("form", "Forms"),
            ("format", "Answer formats"),
            ("template", "Templates"),
            ("label_order", "Orders of options"),
            ("phase", "Phases"),
            ("study", "Studies"),
        ),
        help="Scores are means over all other facets. The coefficients say how well they hold.",
    ),
]
Fixed = Annotated[
    tuple[str, ...],
    DesignFactors(
        "Fixed facets",
        help="Their levels are all that matter, such as two languages of interest. Levels of other "
        "facets are a sample of those that could have been asked.",
    ),
]
Numbers = Annotated[
    str,
    Text(
        "Levels in a planned study",
        help="Such as: item=20, context=10, repetition=3. Facets not named keep their numbers.",
    ),
]
Target = Annotated[
    float, Number("Coefficient wanted", 0.05, 0.99, help="How many levels does it need?")
]
Estimation = Annotated[
    Estimator,
    Choice(
        "Estimation",
        (
            ("automatic", "Mean squares; REML where combinations are missing"),
            ("anova", "Mean squares (ANOVA), whatever is missing"),
            ("reml", "REML, whatever is missing"),
        ),
    ),
]
Seed = Annotated[
    int, Number("Seed", 0, 2_147_483_647, help="The same seed draws the same intervals.")
]


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """The largest shares, and the coefficients."""
    measured = sentences.rows_by_group(sentences.table_of(result, "coefficients"))
    table = sentences.table_of(result, "components")
    form, components = (
        sentences.first_column(table, "corrected", "share"),
        sentences.rows_by_group(table),
    )
    return tuple(
        sentences.GroupAnswer(
            group, f"{_shares_text(rows, form)} {_coefficients_text(measured[group])}"
        )
        for group, rows in components.items()
    )


def _shares_text(rows: Sequence[sentences.TableRow], form: str) -> str:
    """Where the variance comes from, the largest first, and what chance alone may give.

    Where corrected shares are below 0, others may be above 1, which no share of a variance is.
    """
    defined = [row for row in rows if math.isfinite(row[form])]
    if not defined:
        return "The shares of variance are undefined (see the remark)."
    residual = defined.pop()
    defined.sort(key=lambda row: -float(row[form]))
    named = [row for row in defined if row[form] >= 0.005][:_MOST_SOURCES]
    parts = [
        f"{percent_text(min(row[form], 1.0))} {'from' if number else 'comes from'} "
        f"{row['source'][0].lower()}{row['source'][1:]}"
        f"{' (chance alone may give that)' if form == 'corrected' and row['p'] >= _ALPHA else ''}"
        for number, row in enumerate(named)
    ]
    rest = sum(max(float(row[form]), 0.0) for row in defined[len(named) :])
    if rest >= 0.005:
        parts.append(
            f"{percent_text(min(rest, 1.0))} from {len(defined) - len(named)} other sources"
        )
    source = f"{residual['source'][0].lower()}{residual['source'][1:]}"
    last = f"{percent_text(min(residual[form], 1.0))} is {source}"
    below = any(row[form] <= -0.005 for row in defined)
    none = " Sources with a corrected share below 0 count as none." if below else ""
    if not parts:
        return f"Of the variance, {last}.{none}"
    if below:
        none = f"{none[:-1]}, so that these shares may add up to more than 100%."
    joint = " × marks what a combination adds to what each gives alone."
    crossed = joint if any(" × " in row["source"] for row in named) else ""
    shares = f"Of the variance of an answer (0 to 100), {', '.join(parts)} and {last}."
    return f"{shares}{crossed}{none}"


def _coefficients_text(rows: Sequence[sentences.TableRow]) -> str:
    """G and phi of these answers and of the planned study."""
    parts = []
    for design in dict.fromkeys(row["design"] for row in rows):
        of_design = [row for row in rows if row["design"] == design]
        first = next(row for row in of_design if row["coefficient"] == "G")
        if not math.isfinite(first["value"]):
            return "G and phi are undefined."
        values = [
            sentences.estimate_text(row, "value", row["coefficient"], "see the remark")
            for row in of_design
        ]
        parts.append(
            f"For scores of {counted(first['objects'], int(first['n']))} "
            f"{'planned ' if design == 'Planned' else ''}"
            f"over {first['over']}, {' and '.join(values)}."
        )
    return " ".join(parts)


@analysis(
    title="Sources of variance",
    question="How much of the differences between answers comes from items, respondents, "
    "languages, contexts, wordings and chance?",
    topic="reliability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=False,
    answer=_answer,
    charts=variance_charts,
    references=(
        "Cronbach, Gleser, Nanda & Rajaratnam (1972), The dependability of behavioral measurements",
        "Brennan (2001) doi:10.1007/978-1-4757-3456-0",
        "Shavelson & Webb (1991), Generalizability theory: A primer",
        "Searle, Casella & McCulloch (1992) doi:10.1002/9780470316856",
        "Henderson (1953) doi:10.2307/3001853",
        "Patterson & Thompson (1971) doi:10.1093/biomet/58.3.545",
        "Gilmour, Thompson & Cullis (1995) doi:10.2307/2533274",
        "Weerahandi (1993) doi:10.1080/01621459.1993.10476355",
        "Weerahandi (1995), Exact statistical methods for data analysis",
        "Rao (1971), Journal of Multivariate Analysis 1, 257-275",
    ),
    keywords=(
        "generalizability",
        "G theory",
        "G study",
        "D study",
        "decision study",
        "variance components",
        "ICC",
        "intraclass",
        "REML",
        "mixed model",
        "random effects",
        "dependability",
        "phi coefficient",
        "how many items",
        "how many contexts",
        "how many repetitions",
        "sources of error",
    ),
    compares=FACTORS,
    keeps=("format",),
    requires="scores",
)
def generalizability(
    item_scores: pd.DataFrame,
    *,
    facets: Facets = (),
    objects: Objects = "automatic",
    fixed: Fixed = (),
    numbers: Numbers = "",
    target: Target = 0.8,
    by: By = (),
    estimator: Estimation = "automatic",
    reported: Reported = "corrected",
    ci_level: ConfidenceLevel = 0.95,
    seed: Seed = 0,
) -> AnalysisResult:
    """Variance components of the facets of the asking, G and phi coefficients, and a D-study.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    facets : tuple of columns
        What may differ between answers, beside items; at most 5. Empty for every factor that
        varies but repetition. Attributes of items are allowed if the frame has them.
    objects : str
        The object of measurement. Automatic: respondents if several, else contexts, entities or
        items.
    fixed : tuple of columns
        Facets whose levels are all there are; the others are random.
    numbers : str
        Levels of facets in a planned study, as "item=20, context=10".
    target : float
        The coefficient whose numbers of levels are asked for.
    by : tuple of factors
        No facets.
    estimator : "automatic", "anova" or "reml"
        See `core.stats.variance.components.variance_components`.
    seed : int
        Of the draws behind the intervals.

    Returns
    -------
    AnalysisResult
        `components`, one row per group and source, with the share as estimated, corrected for
        chance, and what chance gives; `coefficients`, G and phi of these answers and
        of a planned study; `needs`, the levels of each random facet that the target needs, NaN
        where none is enough; `decisions`, G and phi over numbers of levels of each.

    Raises
    ------
    NotEnoughData
        No group has a share of variance; or an option names something unknown.

    Notes
    -----
    The unit of analysis is an answer (an item in an administration), as a score from 0 (lowest
    option of its format) to 100 (highest), after reverse-keying. Facets are crossed or nested as
    the answers have it; several answers in one combination of facets are replicates, else the
    highest interaction is residual. Answers without a score are gaps. All effects are taken as
    random and independent. Checked against Brennan's (2001) synthetic data 3 and 4, Shrout and
    Fleiss (1979), lme4 (R) and alpha.
    """
    names = distinct(by)
    require_known(facets, "Facets")
    require_known(fixed, "Fixed facets")
    plan = group_tables.StudyPlan(objects, fixed, _numbers_of(numbers), target, ci_level, seed)
    scored = item_scores["score"].notna().groupby(item_scores["item"].astype(str)).any()
    findings = Findings(notes=data_notes(item_scores))
    if not scored.all():
        without = name_list(list(scored.index[~scored.to_numpy()]))
        findings.notes.append(f"Left out, because nobody answered: {without}.")
    tables = group_tables.empty_tables(reported, names, ci_level, findings)
    designs = group_designs(item_scores, names, distinct(facets))
    for design in with_progress(designs, "groups"):
        parts = variance_components(design.cells, estimator)
        group_tables.add_group(tables, design, parts, plan)
    if not tables.n_used:
        raise NotEnoughData(
            f"No sources of variance can be told apart. {' '.join(findings.cautions[:1])}".strip(),
            "It needs several items and several contexts, repetitions, languages or other ways of "
            "asking, and answers that differ.",
        )
    return count_result(
        tables.tables(),
        findings,
        unit="one answer: an item in one administration",
        trials=len(item_scores),
        usable=int(item_scores["score"].notna().sum()),
        used=tables.n_used,
        method="Scores go from 0, the lowest option of the format, to 100, the highest, after "
        "reverse-keying. All facets and their interactions are random"
        + (f" but {name_list(fixed)}, fixed in the coefficients" if fixed else "")
        + f". {ci_level * 100:g}% generalized intervals ({group_tables.N_DRAWS:,} draws, seed "
        f"{seed}).",
    )


def _numbers_of(text: str) -> dict[str, float]:
    """The numbers of levels by facet that a text gives.

    Raises
    ------
    NotEnoughData
        A part of the text is not a name, an equals sign and a number from 1.
    """
    numbers = {}
    for part in text.replace(";", ",").split(","):
        name, _, value = (word.strip().lower().replace(" ", "_") for word in part.partition("="))
        if not name and not value:
            continue
        if not value.isdigit() or int(value) < 1:
            raise WrongOption(
                f"Levels in a planned study: '{part.strip()}' is not read.",
                "Write a facet, an equals sign and a whole number, such as context=10.",
            )
        name = "context" if name == "person" else name
        require_known((name,), "Levels in a planned study")
        numbers[name] = float(value)
    return numbers

"""How reliable are the scores of the scale and of each subscale?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Annotated, Any

from core.analysis.kit import sentences
from core.analysis.kit.factor_models.groups import n_scores_used
from core.analysis.kit.matrices import (
    MISSING_COLUMNS,
    MISSING_WORDS,
    ScoreMatrix,
    choose_missing,
    incomplete_administrations,
    score_matrices,
    with_options,
)
from core.analysis.kit.options import By, ConfidenceLevel, MissingRows
from core.analysis.kit.registry import Number, Rows, Switch, analysis
from core.analysis.kit.results import Findings, scale_of_group, score_result
from core.analysis.kit.rows import rows_are_people
from core.analysis.kit.scripts.scales import reliability_files, scale_groups
from core.charts.dots import reliability_charts
from core.domain.frames import ITEM_SCORES
from core.domain.notes import about, kind_of, reason_of, undefined_note
from core.domain.results import AnalysisResult, TextFile
from core.domain.tables import TableRows, TableSpec, count, estimate, key, number, remark, text
from core.domain.wide_scores import ItemScores
from core.errors import WrongOption
from core.progress import with_progress
from core.stats.inputs import (
    ROWS_USED,
    Estimate,
    ItemRule,
    UsableItems,
    item_rows,
    rule_of_rows,
)
from core.stats.reliability.alpha import (
    covariances,
    cronbach_alpha,
    split_half,
    stratified_alpha,
)
from core.stats.reliability.omega import (
    OmegaHierarchical,
    exploratory_omega,
    omega_hierarchical,
    omega_total,
)
from core.stats.reliability.ordered import OrderedReliability, ordered_reliability
from core.stats.reliability.score_error import score_error
from core.stats.resampling import Bootstrap

RELIABILITY = TableSpec(
    "reliability",
    "Reliability",
    (
        key("scale", "Scale", "All items together, then each subscale."),
        key("coefficient", "Coefficient", "Explained under Method and in the references."),
        *estimate(
            "value",
            "Value",
            "correlation",
            "Share of the score's variance that is not error, as this coefficient defines error; "
            "at most 1. Cronbach (1951); McDonald (1999).",
            "By the method in the same row; a dash where the method has no interval.",
        ),
        count("n_items", "Items", "Items that vary; others are left out and named."),
        count("n", "n", "Administrations used."),
        count("n_left_out", "Missing", "Administrations left out for missing answers."),
        *MISSING_COLUMNS,
        text("method", "Method"),
        text("against", "Against the scale", sentences.AGAINST_HELP),
        remark("Why a coefficient is undefined, and cautions."),
    ),
)

ERRORS = TableSpec(
    "errors",
    "Standard error of a score",
    (
        key("scale", "Scale", "All items together, then each subscale."),
        key("coefficient", "Reliability by", "The coefficient that the errors are made from."),
        number("reliability", "Reliability", "correlation"),
        number(
            "sd", "SD", "points", "Of the scores of the group compared with, as means of items."
        ),
        text("sd_of", "SD of"),
        number(
            "error",
            "SEM",
            "points",
            "Standard error of a score that is the mean of the items: SD sqrt(1 - reliability).",
        ),
        number(
            "of_difference",
            "SE of a difference",
            "points",
            "Of two scores with independent errors: sqrt(2) SEM.",
        ),
        number(
            "smallest_change",
            "Smallest reliable change",
            "points",
            "By as much two scores may differ through error alone, at the confidence level: z "
            "times the standard error of a difference.",
        ),
        number(
            "index_of_point",
            "RCI of 1 point",
            "none",
            "Reliable change index of a difference of one point: the difference over its standard "
            "error. Jacobson & Truax (1991).",
        ),
        remark("What the errors do not contain, or why they are undefined."),
    ),
    "Error of a score",
)

MOST_ITEMS = 150
"""Factor models of more items take minutes and gigabytes."""
FELDT, FULL_INFORMATION = "α (Feldt)", "α (full information)"
_NO_SUBSCALE = "(no subscale)"
CATEGORICAL, ONE_FACTOR = "ω categorical", "ω total (one factor)"
_ANSWERING = {FELDT: "α", FULL_INFORMATION: "α", ONE_FACTOR: "ω", CATEGORICAL: "categorical ω"}
"""The coefficients that answer the question, and what the sentence calls them."""
_ONE_FACTOR = (
    "Takes one factor to be behind all items, which subscales make doubtful: see its fit under "
    "Factors (one general factor)."
)
_NO_RETEST = (
    "For a change of a model these errors lack what varies between times or repetitions: use the "
    "relative error of Generalizability where there are repetitions, and the SD of a norm group."
)
_ROWS: Mapping[ItemRule, str] = {
    "listwise": "administrations complete on the scale",
    "fiml": MISSING_WORDS["fiml"],
}


@dataclass(frozen=True, eq=False)
class Scale:
    """The coefficients of one scale of one group by their titles, and the rows behind them."""

    matrix: ScoreMatrix
    rows: UsableItems
    missing: ItemRule
    coefficients: Mapping[str, Estimate]

    @property
    def defined(self) -> bool:
        """Whether any coefficient has a value."""
        return any(coefficient.defined for coefficient in self.coefficients.values())


def scale_coefficients(
    matrix: ScoreMatrix,
    subscale_of: Mapping[str, str],
    level: float,
    bootstrap: Bootstrap,
    missing: ItemRule,
    ordered: bool = False,
    group_factors: int = 0,
) -> Scale:
    """Every coefficient of one matrix, and those of ordered answers and group factors if wanted.

    `subscale_of` tells the subscale of each item where the matrix is the whole scale; it is empty
    for a subscale, which has no strata and no general factor above others.
    """
    scores, items = matrix.scores, matrix.items
    rows = item_rows(scores, items, "listwise" if missing == "listwise" else "available")
    missing = rule_of_rows(rows, missing)
    alpha = cronbach_alpha(scores, names=items, level=level, missing=missing)
    coefficients = {FULL_INFORMATION: alpha}
    if missing == "listwise":  # rows with gaps are not resampled: each resample has to be searched
        resampled = cronbach_alpha(scores, names=items, level=level, bootstrap=bootstrap)
        coefficients = {FELDT: alpha, "α (bootstrap)": resampled}

    def of_model(fit: Callable[[], Estimate]) -> Estimate:
        if rows.n_items <= MOST_ITEMS:
            return fit()
        reason = undefined_note(
            f"Undefined: factor models are fitted to at most {MOST_ITEMS} items, and "
            f"{rows.n_items} vary."
        )
        return Estimate(
            math.nan, n=rows.n, n_left_out=rows.n_left_out, method="none", problems=(reason,)
        )

    omega = of_model(lambda: omega_total(scores, names=items, level=level, missing=missing))
    if subscale_of:
        # subscales may oppose each other, so only the rest of its own subscale says that of an item
        coefficients = {
            title: replace(coefficient, against=()) for title, coefficient in coefficients.items()
        }
        strata = [subscale_of[item] for item in items]
        coefficients["Stratified α"] = stratified_alpha(
            scores, strata, names=items, level=level, bootstrap=bootstrap, missing=missing
        ).coefficient
        if omega.defined:
            omega = replace(omega, problems=(*omega.problems, _ONE_FACTOR))
    coefficients[ONE_FACTOR] = omega
    if subscale_of:

        @cache
        def second_order() -> OmegaHierarchical:
            return omega_hierarchical(scores, strata, names=items, level=level, missing=missing)

        coefficients["ω hierarchical (second order)"] = of_model(
            lambda: second_order().hierarchical
        )
        coefficients["ω total (second order)"] = of_model(lambda: second_order().total)
    if group_factors:

        @cache
        def exploratory() -> tuple[Estimate, Estimate]:
            return exploratory_omega(
                scores, group_factors, names=items, missing=missing, seed=bootstrap.seed
            )

        coefficients["ω hierarchical (exploratory)"] = of_model(lambda: exploratory()[0])
        coefficients["ω total (exploratory)"] = of_model(lambda: exploratory()[1])
    if ordered:

        @cache
        def of_answers() -> OrderedReliability:
            options = matrix.options or None
            return ordered_reliability(
                scores, names=items, level=level, missing=missing, offered=options
            )

        coefficients[CATEGORICAL] = of_model(lambda: of_answers().omega)
        coefficients["α ordinal (of latent responses)"] = of_model(lambda: of_answers().alpha)
    halves = split_half(scores, names=items, seed=bootstrap.seed, missing=missing)
    splits = f"{halves.n_splits:,} splits ({'all' if halves.every_split else 'random'})"
    # odd against even items may not be among random splits, and so lie outside
    some = halves.n_splits and not halves.every_split
    of_some = f" of {halves.n_splits:,} random splits" if some else ""
    formula = "Horst, as halves differ by an item" if rows.n_items % 2 else "Spearman-Brown"
    for title, value, how in (
        ("Split-half, odd-even", halves.odd_even, "odd against even items"),
        ("Split-half, mean", halves.mean, f"mean of {splits}"),
        (f"Split-half, lowest{of_some}", halves.lowest, f"lowest of {splits}"),
        (f"Split-half, highest{of_some}", halves.highest, f"highest of {splits}"),
    ):
        coefficients[title] = Estimate(
            value,
            n=halves.n,
            n_left_out=halves.n_left_out,
            problems=halves.problems,
            method=f"{formula}, {how}, {ROWS_USED[missing]}, no interval",
        )
    return Scale(matrix, rows, missing, coefficients)


OrderedAnswers = Annotated[
    bool,
    Switch(
        "Coefficients of ordered answers",
        help="Categorical ω of the score and α of the latent responses, from polychoric "
        "correlations: for items of few options.",
    ),
]
GroupFactors = Annotated[
    int,
    Number(
        "Group factors of an exploratory ω (0: none)",
        0,
        10,
        help="ω hierarchical and total of a general factor above so many exploratory factors, as "
        "of omega in R's psych, whose default is 3.",
    ),
]
NormSds = Annotated[
    tuple[tuple[str | float, ...], ...],
    Rows(
        "SD of a norm group",
        (("scale", "Scale", "text"), ("sd", "SD", "number")),
        help="For standard errors of scores: a subscale or 'all items', and the SD of its score as "
        "a mean per item in the group that a score is compared with. Without it the SD is that of "
        "the administrations.",
        seldom=True,
    ),
]
Resamples = Annotated[
    int, Number("Bootstrap resamples", 100, 10_000, help="For the bootstrap intervals of alpha.")
]
Seed = Annotated[
    int,
    Number("Seed", 0, 2_147_483_647, help="The same seed draws the same resamples and halves."),
]


def reliability_scripts(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRows = "automatic",
    ordered: OrderedAnswers = False,
    group_factors: GroupFactors = 0,
    norm_sds: NormSds = (),
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
) -> tuple[TextFile, ...]:
    """Scripts for R and Python with their data that compute the same coefficients."""
    del ordered, group_factors, norm_sds, resamples, seed  # of what the scripts do not repeat
    groups = scale_groups(item_scores, by)
    rule, _ = choose_missing(missing, (group.scores for group in groups), "fiml")
    return reliability_files(groups, ci_level=ci_level, rule=rule)


_LONGEST_REASON = 120  # letters, within a sentence


def _answer(result: AnalysisResult) -> sentences.GroupAnswers:
    """Alpha and omega of the whole scale and of one or two subscales; of more the spread of one."""

    def in_full(row: sentences.TableRow) -> str:
        why = reason_of(str(row["remark"] or ""))
        if not 0 < len(why) <= _LONGEST_REASON:
            why = "see its remark"
        return sentences.estimate_text(row, "value", _ANSWERING[row["coefficient"]], why)

    def sentence(rows: Sequence[sentences.TableRow]) -> str:
        scales: dict[str, list[sentences.TableRow]] = {row["scale"]: [] for row in rows}
        for row in rows:
            if row["coefficient"] in _ANSWERING:
                scales[row["scale"]].append(row)
        whole, *subscales = scales
        spread = _spread([row for scale in subscales for row in scales[scale]])
        parts = [
            f"{sentences.scale_name(scale, scales)}: {', '.join(map(in_full, scales[scale]))}"
            for scale in ((whole,) if spread else scales)
        ]
        if spread:
            parts.append(spread)
        listed = sentences.join_parts(parts, "scales").removesuffix(".")
        against = sentences.names_of(row["against"] for row in rows)
        return sentences.with_items_against(f"{listed}{sentences.rule_words(*rows)}.", against)

    return sentences.answers_of_groups(result.tables[0], sentence)


def _spread(rows: Sequence[sentences.TableRow]) -> str:
    """Omega of the subscales from the lowest to the highest; alpha where more of them have one."""
    of_coefficient: dict[str, list[tuple[str, sentences.TableRow]]] = {}
    for row in rows:
        named = of_coefficient.setdefault(_ANSWERING[row["coefficient"]], [])
        named.append((row["scale"], row))
    known = {
        symbol: sum(math.isfinite(row["value"]) for _, row in named)
        for symbol, named in of_coefficient.items()
    }
    if not known:
        return ""
    symbol = max(known, key=lambda name: (known[name], name == "ω"))
    return sentences.spread_text(of_coefficient[symbol], "value", symbol, "subscales")


@analysis(
    title="Reliability",
    question="How reliable are the scores of the scale and of each subscale?",
    topic="reliability",
    needs=ITEM_SCORES,
    pooled_rows_need_caution=True,
    answer=_answer,
    charts=reliability_charts,
    references=(
        "Cronbach (1951) doi:10.1007/BF02310555",
        "Feldt, Woodruff & Salih (1987) doi:10.1177/014662168701100107",
        "Cronbach, Schönemann & McKie (1965) doi:10.1177/001316446502500201",
        "McDonald (1999), Test theory: A unified treatment",
        "Schmid & Leiman (1957) doi:10.1007/BF02289209",
        "Zinbarg, Revelle, Yovel & Li (2005) doi:10.1007/s11336-003-0974-7",
        "Spearman (1910) doi:10.1111/j.2044-8295.1910.tb00206.x",
        "Brown (1910) doi:10.1111/j.2044-8295.1910.tb00207.x",
        "Green & Yang (2009) doi:10.1007/s11336-008-9099-3",
        "Zumbo, Gadermann & Zeisser (2007) doi:10.22237/jmasm/1177992180",
        "Chalmers (2018) doi:10.1177/0013164417727036",
        "Jacobson & Truax (1991) doi:10.1037/0022-006X.59.1.12",
        "Horst (1951), Educational and Psychological Measurement, 11, 368-371",
    ),
    scripts=reliability_scripts,
    keywords=(
        "reliability",
        "alpha",
        "Cronbach",
        "Cronbach's alpha",
        "omega",
        "McDonald",
        "split-half",
        "categorical omega",
        "standard error of measurement",
        "SEM",
        "reliable change index",
        "RCI",
        "ordinal alpha",
        "internal consistency",
        "stratified alpha",
    ),
    requires="scores",
    in_reports=True,
)
def reliability(
    item_scores: ItemScores,
    *,
    by: By = ("respondent",),
    missing: MissingRows = "automatic",
    ordered: OrderedAnswers = False,
    group_factors: GroupFactors = 0,
    norm_sds: NormSds = (),
    ci_level: ConfidenceLevel = 0.95,
    resamples: Resamples = 2000,
    seed: Seed = 0,
) -> AnalysisResult:
    """Alpha, stratified alpha, omega and split-half of each group's scale and subscales.

    Parameters
    ----------
    item_scores : ITEM_SCORES frame
        `score` in score points after reverse-keying, NaN where there is no usable answer.
    missing : "automatic", "listwise" or "available"
        Administrations complete on the scale, or all by full information (the likeliest covariances
        of the items; ordered answers: all pairs).
    resamples : int
        Bootstrap resamples of administrations.
    seed : int
        Of the resamples, and of random halves where there are too many to take all.

    Returns
    -------
    AnalysisResult
        `reliability`, one row per group, scale ("all items" where there are several subscales,
        then each subscale) and coefficient; `errors`, what alpha and omega mean for the standard
        error of a score and for reliable change.

    Raises
    ------
    NotEnoughData
        A row of `norm_sds` cannot be used, or no coefficient is defined anywhere. If only some
        are, the others are NaN with a remark, and a note names group and scale.

    Notes
    -----
    The unit of analysis is one administration. A coefficient uses the administrations complete on
    its scale, or, by full information, all with any answer; intervals then come from the sandwich
    covariance of the covariances (delta method), and nothing is resampled. Items without any score
    or without variance are left out and named. Stratified alpha
    takes the subscales as strata; omega hierarchical comes from a second-order factor model and is
    identified from three subscales up. Factor models are not fitted to more than 150 items.
    Repeated administrations of one model are not independent, so intervals are too narrow.
    Coefficients of ordered answers take scores that are answers on few options, not averages.
    Alpha agrees with psych 2.4.12, omega total with lavaan 0.6-19 (see docs/analyses).
    """
    matrices = score_matrices(item_scores, by)
    wholes = {matrix.group: matrix for matrix in score_matrices(item_scores, by, whole=True)}
    if ordered:
        matrices = with_options(item_scores, matrices)
        wholes = dict(zip(wholes, with_options(item_scores, [*wholes.values()]), strict=True))
    bootstrap = Bootstrap(resamples, seed)
    rule, why = choose_missing(missing, (whole.scores for whole in wholes.values()), "fiml")
    coefficients = partial(
        scale_coefficients,
        level=ci_level,
        bootstrap=bootstrap,
        missing=rule,
        ordered=ordered,
        group_factors=group_factors,
    )
    scales, n_used = _scales(matrices, wholes, coefficients)
    rows, errors = TableRows(RELIABILITY, by, ci_level), TableRows(ERRORS, by, ci_level)
    norms = _norm_sds(norm_sds, [scale.matrix.subscale for scale in scales])
    of_models = "" if rows_are_people(item_scores) else _NO_RETEST
    findings = Findings()
    for scale in scales:
        _add_coefficients(rows, scale)
        _add_errors(errors, scale, norms, of_models)
        _add_findings(findings, scale)
    if not any(scale.defined for scale in scales):
        raise findings.refusal(
            "No reliability can be computed.",
            "It needs two items that vary and two complete administrations (contexts or "
            "repetitions).",
            by,
        )
    return score_result(
        item_scores,
        [rows.table(), errors.table()],
        findings,
        n_used=n_used,
        method=f"Coefficients from {_ROWS[rule]}; {ci_level * 100:g}% "
        f"intervals by the method in the same row ({resamples:,} resamples, seed {seed}). "
        "Scores are after reverse-keying.",
        matrices=matrices,
        called="row",
        later_notes=why,
    )


def _scales(
    matrices: Sequence[ScoreMatrix],
    wholes: Mapping[tuple[Any, ...], ScoreMatrix],
    coefficients: Callable[[ScoreMatrix, Mapping[str, str]], Scale],
) -> tuple[list[Scale], int]:
    """The scale of each group with its subscales after it, and how many scores they use."""
    scales: list[Scale] = []
    n_used = 0
    for group in with_progress(list(dict.fromkeys(matrix.group for matrix in matrices)), "groups"):
        of_group = [matrix for matrix in matrices if matrix.group == group]
        parts = [coefficients(part, {}) for part in of_group]
        scales += parts
        whole = None
        if len(parts) > 1:  # a single subscale is all there is, so the whole would only repeat it
            subscale_of = {
                item: matrix.subscale or "(none)" for matrix in of_group for item in matrix.items
            }
            whole = coefficients(wholes[group], subscale_of)
            scales.insert(-len(parts), whole)
        # Each score counts once. A row complete on all items is complete on each subscale, so the
        # whole scale adds scores only where a subscale has no coefficient of its own.
        for part in parts:
            if part.defined:
                n_used += n_scores_used(part.rows.scores, part.missing)
            elif whole and whole.defined:
                columns = [item in part.matrix.items for item in whole.rows.names]
                n_used += n_scores_used(whole.rows.scores[:, columns], whole.missing)
    return scales, n_used


def _add_coefficients(rows: TableRows, scale: Scale) -> None:
    incomplete = incomplete_administrations(scale.matrix.scores)[1]
    for title, coefficient in scale.coefficients.items():
        rows.add(
            scale.matrix.group,
            scale=scale.matrix.subscale,
            coefficient=title,
            value=coefficient,
            n_items=scale.rows.n_items,
            n=coefficient.n,
            n_left_out=coefficient.n_left_out,
            incomplete=incomplete,
            missing_rule=scale.missing,
            method=coefficient.method,
            against=", ".join(coefficient.against),
            remark=" ".join(coefficient.problems),
        )


def _add_findings(findings: Findings, scale: Scale) -> None:
    """What is undefined or perhaps keyed wrongly, and what was dropped, each once.

    Whatever else is in the column of remarks.
    """
    concerned: dict[str, list[str]] = {}
    for title, coefficient in scale.coefficients.items():
        for problem in coefficient.problems:
            concerned.setdefault(problem, []).append(title)
    name = scale_of_group(scale.matrix.group, scale.matrix.subscale, "scale")
    for problem, titles in concerned.items():
        undefined = [title for title in titles if not scale.coefficients[title].defined]
        keying = kind_of(problem) == "keying"
        if len(titles) == len(scale.coefficients):
            kind = findings.cautions if undefined or keying else findings.notes
            kind.append(about(name, problem))
        elif keying or undefined:
            of_titles = "; ".join(titles if keying else undefined)
            findings.cautions.append(about(name, problem, of_titles))


def _norm_sds(typed: Sequence[Sequence[str | float]], scales: Sequence[str]) -> Mapping[str, float]:
    """The SD of the norm group by scale, from the rows typed in; empty rows are passed over."""
    names = {(scale or _NO_SUBSCALE).lower(): scale for scale in scales}
    norms: dict[str, float] = {}
    for name, sd in typed:
        scale = str(name).strip().lower()
        if not scale:
            continue
        if scale not in names or not isinstance(sd, int | float) or not 0 < sd < math.inf:
            raise WrongOption(
                f"The norm group's SD of '{name}' cannot be used: {sd}.",
                f"Type a number above 0 for one of: {', '.join(names)}.",
            )
        norms[names[scale]] = float(sd)
    return norms


def _add_errors(
    errors: TableRows, scale: Scale, norms: Mapping[str, float], of_models: str
) -> None:
    """A row for each coefficient that answers the question."""
    name, n_items = scale.matrix.subscale, len(scale.matrix.answered().items)
    table = covariances(scale.rows.scores, scale.missing, scale.rows.names)
    of_rows = math.sqrt(max(table.rows.sum() / table.unit, 0)) / n_items if n_items else math.nan
    sd = norms.get(name, of_rows)
    for title, coefficient in scale.coefficients.items():
        if title not in _ANSWERING:
            continue
        error = score_error(sd, coefficient.value, errors.level)
        why = "" if math.isfinite(error.error) else "Undefined, as reliability or SD are."
        errors.add(
            scale.matrix.group,
            scale=name,
            coefficient=title,
            reliability=coefficient.value,
            sd=sd,
            sd_of="the norm group" if name in norms else "the administrations",
            **asdict(error),
            remark=why or of_models,
        )

"""The sentence by which each analysis answers its question, written by hand from its numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from core.analysis.kit.sentences import (
    KEYING_STEP,
    coefficient_text,
    interval_text,
    p_text,
)
from core.analysis.scales.internal_consistency import internal_consistency
from core.workflow.statistics import analyses
from tests.analysis.score_frames import item_scores
from tests.charts.results import NAN, made, results, table
from tests.charts.test_charts import results as more_results

FIT = ("respondent", "factor_model", "reported", "n", "chi2", "df", "p", "chi2_scaled", "p_scaled",
       "cfi_robust", "tli_robust", "rmsea_robust", "rmsea_robust_low", "rmsea_robust_high",
       "cfi_scaled", "tli_scaled", "rmsea_scaled", "rmsea_scaled_low", "rmsea_scaled_high", "cfi",
       "tli", "rmsea", "rmsea_low", "rmsea_high", "admissible", "against",
       "bic_difference")  # fmt: skip


PAIR_TYPES = ("respondent", "type", "pairs", "share", "ci_low", "ci_high")


def fit(
    model,
    chi2,
    p,
    cfi,
    rmsea,
    low,
    high,
    bic=0.0,
    admissible=True,
    n=200,
    reported="plain",
    against="",
):
    """A row of a table of fits with the numbers in the columns of one version, 99 in the others."""
    row = dict.fromkeys(FIT, 99.0) | {
        "respondent": "m",
        "factor_model": model,
        "n": n,
        "reported": reported,
        "df": 8,
        "admissible": admissible,
        "against": against,
        "bic_difference": bic,
    }
    which, scaled = ("", "") if reported == "plain" else (f"_{reported}", "_scaled")
    row |= {f"chi2{scaled}": chi2, f"p{scaled}": p, f"cfi{which}": cfi, f"rmsea{which}": rmsea}
    row |= {f"rmsea{which}_low": low, f"rmsea{which}_high": high}
    return tuple(row.values())


def fits(*rows, without=()):
    frame = table("fit", FIT, rows)
    names = [name for name in FIT if name not in without]
    return table("fit", names, frame.frame[names].to_numpy().tolist())


POOR, GOOD = (16.5, 0.035, 0.89, 0.11, 0.05, 0.16), (7.04, 0.5328, 0.997, 0.012, 0.0, 0.06)
CORRECTED = (
    "reliability_first",
    "reliability_second",
    "r_corrected",
    "corrected_low",
    "corrected_high",
    "errors_over",
)
EN_DE = (0.8, 0.7, 0.69, 0.4, 0.91, "repetitions")
DE_FR = (0.7, 0.6, -0.15, -0.46, 0.31, "repetitions")
BY_HAND = {
    "annotator_agreement": (
        made(
            table(
                "domains",
                ("domain", "kappa", "ci_low", "ci_high", "annotators"),
                [
                    ("law_and_order", 0.58, 0.41, 0.72, 5),
                    ("liberal_society", 0.73, 0.6, 0.84, 5),
                    ("welfare", NAN, NAN, NAN, 5),
                ],
            ),
        ),
        "5 annotators: mean kappa over pairs in 2 domains from law and order .58 [.41, .72] to "
        "liberal society .73 [.60, .84].",
    ),
    "bias": (
        made(
            table(
                "bias",
                ("respondent", "share", "ci_low", "ci_high", "n_formats", "n_items", "remark"),
                [("m", 0.7615, 0.7268, 0.7935, 4, 100, "")],
            ),
            table(
                "acquiescence",
                ("respondent", "opposites", "index", "ci_low", "ci_high"),
                [("m", "Items keyed and reversed", 0.225, 0.132, 0.323)],
            ),
        ),
        "76.2% [72.7, 79.4] of the answers are positive over 100 items, mean of 4 formats (50% "
        "is neutral: they lean to the positive side); acquiescence (0 is none): items "
        "keyed and reversed .23 [.13, .32].",
    ),
    "consistency_summary": (
        made(
            table(
                "summary",
                ("respondent", "measure", "value", "ci_low", "ci_high"),
                [
                    ("m", "Positive answers", 0.7615, 0.727, 0.794),
                    ("m", "Repeatability", 0.391, 0.36, 0.42),
                    ("m", "Agreement of formats", NAN, NAN, NAN),
                ],
            ),
        ),
        "Positive answers .76 [.73, .79], repeatability .39 [.36, .42], agreement of formats "
        "undefined.",
    ),
    "cross_language": (
        made(
            table(
                "correlations",
                (
                    "respondent",
                    "first",
                    "second",
                    "r",
                    "ci_low",
                    "ci_high",
                    "n_items",
                    *CORRECTED,
                    "remark",
                ),
                [
                    ("m", "en", "de", 0.52, 0.29, 0.7, 60, *EN_DE, ""),
                    ("m", "en", "fr", NAN, NAN, NAN, 60, *[NAN] * 5, "", "No variance."),
                    ("m", "de", "fr", -0.1, -0.3, 0.2, 58, *DE_FR, ""),
                ],
            ),
            table("equivalence", ("respondent", "first", "second", "difference", "verdict"), []),
        ),
        "Items keep their order in 1 of 2 pairs: "
        "r from −.10 [−.30, .20] (de with fr) to .52 [.29, .70] (en with de), median .21 (1 pair "
        "undefined), over 60 items; the means of items have a "
        "reliability of .60 to .80 (repetitions), and without their errors r is −.15 [−.46, .31] "
        "to .69 [.40, .91], median .27.",
    ),
    "bias_shift": (
        made(
            table(
                "groups",
                (
                    "respondent",
                    "questions",
                    "conditions",
                    "corrected",
                    "ci_low",
                    "ci_high",
                    "decided",
                    "giving_way",
                    "by_chance",
                    "turned",
                    "share_turned",
                    "share_low",
                    "share_high",
                ),
                [("m", 45, 1, 0.405, 0.21, 0.6, 44, 0.505, 0.12, 11, 0.25, 0.136, 0.386)],
            ),
        ),
        "Over 44 decided questions, answers move toward the user's opinion: s corrected for chance "
        "is 0.41 [0.21, 0.60] of 2 (as published, s = 0.51 of 2, where chance alone gives 0.12); "
        "11 majorities turn (25% [14, 39]).",
    ),
    "instrument_rates": (
        made(
            table(
                "groups",
                (
                    "study",
                    "items",
                    "consistency",
                    "consistency_low",
                    "consistency_high",
                    "reluctancy",
                    "reluctancy_low",
                    "reluctancy_high",
                    "midpoint",
                    "unusable",
                ),
                [("m", 44, 0.5227, 0.386, 0.659, 0.1477, NAN, NAN, 0.1364, 0.0113)],
            ),
        ),
        "Of 44 items, 52.3% [38.6, 65.9] get the same answer every time (consistency); "
        "reluctancy 14.8%: 13.6% of the answers are midpoints, 1.1% name no option.",
    ),
    "word_association": (
        made(
            table(
                "groups",
                (
                    "respondent",
                    "words",
                    "optimism",
                    "optimism_low",
                    "optimism_high",
                    "pessimism",
                    "pessimism_low",
                    "pessimism_high",
                    "neutrality",
                    "neutrality_low",
                    "neutrality_high",
                    "consistency",
                    "consistency_low",
                    "consistency_high",
                    "reluctancy",
                    "reluctancy_low",
                    "reluctancy_high",
                ),
                [
                    (
                        "m",
                        5000,
                        0.4792,
                        0.4654,
                        0.493,
                        0.2726,
                        0.2604,
                        0.285,
                        0.2482,
                        0.236,
                        0.26,
                        0.7536,
                        0.742,
                        0.766,
                        0.04,
                        NAN,
                        NAN,
                    )
                ],
            ),
        ),
        "Of 5,000 words, 47.9% [46.5, 49.3] are positive in all tests (optimism), 27.3% [26.0, "
        "28.5] negative (pessimism), 24.8% [23.6, 26.0] neutral or inconsistent (neutrality); "
        "consistency 75.4% [74.2, 76.6], reluctancy 4.0%.",
    ),
    "stance_reliability": (
        made(
            table(
                "groups",
                (
                    "respondent",
                    "share",
                    "sd",
                    "ci_low",
                    "ci_high",
                    "random",
                    "templates",
                    "n",
                    "statements",
                    "not_judged",
                    "asked",
                    "of_asked",
                    "weakest",
                    "weakest_share",
                    "tests",
                ),
                [
                    (
                        "m",
                        0.625,
                        0.18,
                        0.5,
                        0.75,
                        0.0007,
                        6,
                        1290,
                        215,
                        144,
                        239,
                        0.5622,
                        "Negation",
                        0.74,
                        "sampling, negation",
                    )
                ],
            ),
        ),
        "63% [50, 75] of 215 statements that can be judged are reliable (sampling, negation; "
        "mean of 6 templates, SD .18), 56% of all 239 asked; random answers 0%; lowest share of "
        "one test: negation 74%.",
    ),
    "form_agreement": (
        made(
            table(
                "kappas",
                (
                    "respondent",
                    "wording",
                    "kappa",
                    "ci_low",
                    "ci_high",
                    "templates",
                    "agreement",
                    "expected",
                ),
                [
                    ("m", "Paraphrases", 0.9, 0.8, 0.95, 6, 0.95, "near 1"),
                    ("m", "Negation", -0.69, NAN, NAN, 6, 0.846, "near −1"),
                ],
            ),
            table(
                "over_groups",
                ("wording", "kappa", "sd", "n_groups"),
                [("Paraphrases", 0.9, NAN, 1)],
            ),
            table(
                "alpha",
                (
                    "respondent",
                    "alpha",
                    "ci_low",
                    "ci_high",
                    "templates",
                    "compared",
                    "conditions",
                    "same",
                    "complete",
                    "statements",
                ),
                [("m", 0.78, 0.7, 0.85, 6, "templates", 1, 198, 230, 239)],
            ),
        ),
        "Some stances change with the wording: under another one they are as expected in 95% "
        "(paraphrases), 85% (negation); kappa with the original (mean of 6 templates): "
        "paraphrases .90 [.80, .95], negation −.69 (of negation it ought to be near −1); "
        "alpha across 6 templates .78 [.70, .85], 198 of 239 statements have the same stance in "
        "all of these templates; 9 have no clear one in some of them.",
    ),
    "rater_agreement": (
        made(
            table(
                "groups",
                (
                    "respondent",
                    "raters",
                    "items",
                    "kappa",
                    "sd",
                    "alpha",
                    "ci_low",
                    "ci_high",
                    "complete",
                    "same",
                    "remark",
                ),
                [("m", 5, 20, 0.31, 0.4, 0.267, 0.03, 0.5, 9, 4, "")],
            ),
        ),
        "5 raters over 20 items: mean kappa of pairs .31 (SD .40), Krippendorff's alpha .27 [.03, "
        ".50]; 4 of 9 complete items have one code.",
    ),
    "opinions": (
        made(
            table(
                "groups",
                (
                    "respondent",
                    "questions",
                    "b",
                    "b_low",
                    "b_high",
                    "w_corrected",
                    "w_low",
                    "w_high",
                    "yes",
                    "no",
                    "even",
                    "strong_neutral",
                ),
                [("m", 45, -0.123, -0.3, 0.05, 0.9, 0.85, 0.94, 15, 28, 2, 3)],
            ),
            table("pair_types", PAIR_TYPES, []),
        ),
        "Over 45 questions, the mean answer leans to neither side beyond chance: b = −.12 [−.30, "
        ".05] (b above 0 on 15, below 0 on 28, 0 on 2); willingness corrected for "
        "few answers is .90 [.85, .94]; firmly neutral on 3 (strong neutral).",
    ),
    "invalid_answers": (
        made(
            table(
                "summary",
                (
                    "respondent",
                    "trials",
                    "replied",
                    "share_invalid",
                    "ci_low",
                    "ci_high",
                    "wilson_low",
                    "wilson_high",
                    "share_never",
                    "never_low",
                    "never_high",
                    "mean_tries",
                ),
                [("m", 210, 200, 0.2604, 0.205, 0.31, NAN, NAN, 0.025, 0.005, 0.0449, 1.308)],
            ),
        ),
        "26.0% [20.5, 31.0] of 200 first replies are invalid; 2.5% [0.5, 4.5] of the trials "
        "never have a usable answer; usable answers took 1.31 replies on average.",
    ),
    "template_pilot": (
        made(
            table(
                "templates",
                (
                    "respondent",
                    "rank",
                    "template",
                    "title",
                    "kind",
                    "proposed",
                    "trials",
                    "share",
                    "ci_low",
                    "ci_high",
                    "wilson_low",
                    "wilson_high",
                ),
                [
                    ("m", 1, "p1", "P", "personal", True, 200, 0.975, 0.95, 0.995, 0.943, 0.989),
                    ("m", 2, "i1", "I", "impersonal", True, 200, 0.9, 0.85, 0.94, 0.85, 0.93),
                    ("m", 3, "p2", "Q", "personal", True, 200, 0.7, 0.6, 0.8, 0.63, 0.76),
                    ("m", 4, "p3", "R", "personal", False, 200, 0.0, 0.0, 0.0, 0.0, 0.0188),
                ],
            ),
        ),
        "Of 4 templates, p1 has the largest share of usable answers, 97.5% [95.0, 99.5] of 200 "
        "trials, and p3 the smallest, 0.0% [0.0, 1.9]. Proposed: p1, p2 (kind: "
        "personal); i1 (kind: impersonal).",
    ),
    "story_validity": (
        made(
            table("levels", ("writer", "quality", "number"), []),
            table(
                "correlations",
                (
                    "writer",
                    "quality",
                    "of",
                    "r",
                    "ci_low",
                    "ci_high",
                    "fisher_low",
                    "fisher_high",
                    "n",
                    "stories",
                    "remark",
                ),
                [
                    (
                        "m",
                        "tragedy",
                        "mean of each number",
                        0.971,
                        0.845,
                        0.991,
                        0.75,
                        1,
                        6,
                        111,
                        "",
                    ),
                    ("m", "tragedy", "single stories", 0.573, NAN, NAN, 0.432, 0.686, 111, 111, ""),
                    (
                        "m",
                        "comedy",
                        "mean of each number",
                        NAN,
                        NAN,
                        NAN,
                        NAN,
                        NAN,
                        6,
                        111,
                        "Undefined: all means are the same.",
                    ),
                    (
                        "m",
                        "comedy",
                        "single stories",
                        NAN,
                        NAN,
                        NAN,
                        NAN,
                        NAN,
                        111,
                        111,
                        "Undefined: all ratings are the same.",
                    ),
                ],
            ),
        ),
        "Tragedy rises with number: r = .97 [.85, .99] with the means of 6 numbers, .57 [.43, .69] "
        "with 111 stories; comedy is undefined: all ratings are the same.",
    ),
    "unexpected_outputs": (
        made(
            table(
                "outputs",
                (
                    "respondent",
                    "output",
                    "count",
                    "share",
                    "ci_low",
                    "ci_high",
                    "wilson_low",
                    "wilson_high",
                    "responses",
                ),
                [
                    ("m", "label only", 166, 0.83, 0.7, 0.9, NAN, NAN, 200),
                    ("m", "explained", 20, 0.1, 0.05, 0.2, NAN, NAN, 200),
                    ("m", "refused", 12, 0.06, 0.03, 0.1, NAN, NAN, 200),
                    ("m", "cut off", 2, 0.01, 0.0, 0.02, NAN, NAN, 200),
                    ("m", "any unexpected", 34, 0.17, 0.115, 0.23, NAN, NAN, 200),
                    ("m", "no usable label", 14, 0.07, 0.02, 0.1, NAN, NAN, 200),
                ],
            ),
            table(
                "tests", ("respondent", "output", "compared", "v", "v_low", "v_high", "p_units"), []
            ),
        ),
        "17.0% [11.5, 23.0] of 200 responses are not just the label: 10.0% are explained, 7.0% "
        "have no usable label (most often refused).",
    ),
    "cfa": (
        made(
            fits(fit("", *POOR), without=("factor_model",)),
            table("loadings", ("respondent", "factor"), [("m", "F"), ("m", "F"), ("m", "G")]),
        ),
        "Two-factor model, m: χ²(8) = 16.5, p = .035, CFI .89, RMSEA .11 [.05, .16]: does "
        "not fit by Jung (2025) or by Hu & Bentler (1999) (cutoffs from ML).",
    ),
    "cfa_check": (
        made(
            table(
                "fit",
                ("respondent", "index", "program", "semopy", "left"),
                [("m", "χ²", 16.504, 16.5, 0.004), ("m", "CFI", 0.9, 0.8, 0.0)],
            ),
            table(
                "loadings",
                ("respondent", "factor", "standardized_difference"),
                [("m", "F", 0.0001), ("m", "F", -0.00034), ("m", "G", NAN)],
            ),
            table(
                "factor_correlations",
                ("respondent", "factor_1", "difference"),
                [("m", "F", 0.0002)],
            ),
        ),
        "Both programs agree: χ² is 16.50 here and 16.50 in semopy, and standardized loadings "
        "differ by .0003 at most.",
    ),
    "cfa_comparison": (
        made(fits(fit("One", *POOR, bic=9.46), fit("Two", *GOOD))),
        "Two has the lowest BIC; One is 9.5 higher. Two: χ²(8) = 7.0, p = .533, CFI 1.00, RMSEA "
        ".01 [.00, .06]: fits by Jung (2025) and by Hu & Bentler (1999) (cutoffs from ML).",
    ),
    "invariance": (
        made(
            table(
                "steps",
                (
                    "respondent",
                    "step",
                    *FIT[2:],
                    "chi2_difference",
                    "df_difference",
                    "p_difference",
                    "cfi_difference",
                ),
                [
                    (*fit("configural", *GOOD), NAN, NAN, NAN, NAN),
                    (*fit("metric", *GOOD), 5.1, 4, 0.277, -0.004),
                    (*fit("scalar", *POOR), 60.2, 4, 1e-9, -0.103),
                    (*fit("strict", *POOR), 99.0, 6, 1e-9, -0.2),
                ],
            ),
            table("levels", ("respondent", "level", "n"), [("m", "en", 100), ("m", "de", 100)]),
            table(
                "releases",
                ("respondent", "step", "free"),
                [("m", "metric", "F =~ a"), ("m", "scalar", "b ~ 1"), ("m", "scalar", "c ~ 1")],
            ),
        ),
        "Equal loadings hold (metric invariance) by ΔCFI (Chen, 2007) and by Δχ²; equal intercepts "
        "do not hold (scalar: ΔCFI −.103, Δχ²(4) = 60.2, p < .001; most against: b ~ 1); the "
        "model: χ²(8) = 7.0, p = .533, CFI 1.00, RMSEA .01 [.00, .06]: fits by Jung (2025) and by "
        "Hu & Bentler (1999) (cutoffs from ML).",
    ),
    "generalizability": (
        made(
            table(
                "components",
                ("respondent", "source", "corrected", "p", "share"),
                [
                    ("m", "Item", 0.414, 0.0003, 0.4),
                    ("m", "Context", 0.1249, 0.06, 0.12),
                    ("m", "Template", -0.001, 0.4, 0.0),
                    ("m", "Item × context", 0.3, 0.001, 0.31),
                    ("m", "Residual (repetition)", 0.16, NAN, 0.17),
                ],
            ),
            table(
                "coefficients",
                (
                    "respondent",
                    "objects",
                    "design",
                    "coefficient",
                    "value",
                    "ci_low",
                    "ci_high",
                    "over",
                    "n",
                ),
                [
                    ("m", "context", "These answers", "G", 0.912, 0.8, 0.96, "20 items", 25),
                    ("m", "context", "These answers", "phi", 0.83, 0.7, 0.9, "20 items", 25),
                    ("m", "context", "Planned", "G", 0.95, NAN, NAN, "40 items", 25),
                    ("m", "context", "Planned", "phi", 0.9, NAN, NAN, "40 items", 25),
                ],
            ),
        ),
        "Of the variance of an answer (0 to 100), 41% comes from item, 30% from item × context, "
        "12% from context (chance alone may give that) and 16% is residual (repetition). × marks "
        "what a combination adds to what each gives alone. For scores of 25 contexts over 20 "
        "items, G = .91 [.80, .96] and phi = .83 [.70, .90]. For scores of 25 contexts planned "
        "over 40 items, G = .95 and phi = .90.",
    ),
    "efa": (
        made(
            table(
                "eigenvalues",
                ("respondent", "number", "n", "stands_out"),
                [("m", 1, 90, "yes"), ("m", 2, 90, "no")],
            ),
            table(
                "loadings",
                ("respondent", "item", "against"),
                [("m", "i1", False), ("m", "i2", False)],
            ),
            table("factors", ("respondent", "factor", "share"), [("m", 1, 0.375)]),
            table(
                "adequacy",
                ("respondent", "kmo", "by_map", "by_map_fourth"),
                [("m", 0.848, 1, 2)],
            ),
        ),
        "KMO .85; 1 factor stands out from chance (by MAP 1 or 2); 1 factor extracted, 38% of the "
        "variance explained.",
    ),
    "loading_congruence": (
        made(
            table(
                "congruence",
                ("respondent", "first", "second", "factor", "phi", "chance"),
                [
                    ("m", "de", "en", 1, 0.962, 0.5),
                    ("m", "de", "en", 2, 0.9, 0.5),
                    ("m", "de", "en", 3, 0.4, 0.5),
                ],
            ),
        ),
        "3 factors; de with en: φ .40 to .96 (1 of 3 from .95, 2 from .85). Some φ are reached by "
        "chance too.",
    ),
    "dif": (
        made(
            table(
                "items",
                ("respondent", "subscale", "item", "tested", "flagged", "jodoin_gierl"),
                [
                    ("m", "A", "i1", True, True, "large"),
                    ("m", "A", "i2", True, False, ""),
                    ("m", "A", "i3", False, False, ""),
                ],
            ),
            table(
                "effects",
                ("respondent", "subscale", "item", "level", "reference", "points"),
                [
                    ("m", "A", "i1", "en", "de", 0.1),
                    ("m", "A", "i1", "fr", "de", -0.42),
                    ("m", "A", "i2", "en", "de", 0.9),
                ],
            ),
        ),
        "1 of 2 items is flagged: i1 (large; fr 0.42 points below de with the same trait).",
    ),
    "graded_response": (
        made(
            table(
                "items",
                ("respondent", "subscale", "item", "a"),
                [("m", "A", "i1", 1.234), ("m", "A", "i2", -0.5), ("m", "B", "i3", NAN)],
            ),
            table(
                "fit",
                ("respondent", "subscale", "converged", "marginal_reliability"),
                [("m", "A", True, 0.705), ("m", "B", False, NAN)],
            ),
        ),
        "A: 2 items with a from −0.50 to 1.23, marginal reliability .71; B: undefined (the search "
        "found no maximum, or too few answers).",
    ),
    "group_comparison": (
        made(
            table(
                "tests",
                (
                    "respondent",
                    "scale",
                    "test",
                    "statistic",
                    "df1",
                    "df2",
                    "p_adjusted",
                    "effect",
                    "corrected",
                    "value",
                    "by_chance",
                    "ci_low",
                    "ci_high",
                    "n_missing",
                    "n_fewer",
                    "n_items",
                    "items_left_out",
                    "n_groups",
                    "design",
                    "unit",
                    "averaged",
                ),
                [
                    (
                        "m",
                        "A",
                        "Welch's t",
                        -2.345,
                        NAN,
                        20.25,
                        0.0004,
                        "d",
                        -1.01,
                        -1.05,
                        NAN,
                        -2.0,
                        -0.1,
                        3,
                        2,
                        9,
                        1,
                        2,
                        "between",
                        "context",
                        "repetitions",
                    ),
                    (
                        *("m", "B", "Welch's F", 1.5, 2.0, 30.0, 0.25, "η²", 0.03, 0.09),
                        *(0.0625, NAN, NAN),
                        *(0, 0, 4, 0, 3, "between", "context", "repetitions"),
                    ),
                    (
                        *("m", "", "Welch's t", NAN, NAN, NAN, NAN, "d", *(NAN,) * 5),
                        *(0, 0, 4, 0, 2, "between", "context", "repetitions"),
                    ),
                ],
            ),
            table(
                "groups",
                ("respondent", "scale", "group", "mean", "n"),
                [("m", scale, name, 9.0, 30) for scale in ("A", "B", "") for name in "xy"]
                + [("m", "B", "z", 8.0, 5)],
            ),
            table(
                "pairs",
                ("respondent", "scale", "first", "second", "mean_first", "mean_second"),
                [("m", "A", "x", "y", 3.25, 2.5), ("m", "B", "x", "y", 9.0, 9.0)],
            ),
        ),
        "A: y is lower than x (M = 2.50 and 3.25), Welch's t(20.3) = −2.35, adjusted p < .001, "
        "g = −1.01 [−2.00, −0.10] (uncorrected: d = −1.05) "
        "(of 9 items; 1 more was not answered everywhere; 3 contexts without a score left out; "
        "2 scores are means of some of the items); "
        "B: no clear difference (M from 8.00 (z) to 9.00 (x)), Welch's F(2, 30) = 1.50, "
        "adjusted p = .250, ε² = .03 "
        "(uncorrected: η² = .09, where chance alone gives .06) (few: n of z 5); "
        "(no subscale): undefined (too few scores in a group, or no variance). "
        "Each score is of one context: the mean over repetitions.",
    ),
    "norm_comparison": (
        made(
            table(
                "comparison",
                (
                    "respondent",
                    "scale",
                    "mean",
                    "norm_mean",
                    "difference",
                    "p_adjusted",
                    "d",
                    "d_low",
                    "d_high",
                    "missing",
                    "n_fewer",
                    "n_items",
                    "items_left_out",
                ),
                [
                    ("m", "A", 3.2, 3.0, 0.2, 0.04, 0.25, 0.01, 0.49, 0, 0, 5, 0),
                    ("m", "B", NAN, 3.0, NAN, NAN, NAN, NAN, NAN, 1, 0, 4, 2),
                ],
            ),
        ),
        "A: M = 3.20 is 0.20 above that of people (3.00), adjusted p = .040, "
        "d = 0.25 [0.01, 0.49]; "
        "B: undefined (too few scores, or no norm of this scale) (of 4 items; 2 more were not "
        "answered everywhere; 1 row without a score left out).",
    ),
    "odds_ratios": (
        made(
            table(
                "summary",
                ("respondent", "mean", "ci_low", "ci_high", "no_difference", "n"),
                [("m", 0.256, 0.034, 0.478, 0.0, 12)],
            )
        ),
        "Texts follow the stereotypes: mean score 0.26 [0.03, 0.48] over 12 contexts (0 is no "
        "difference).",
    ),
    "multitrait_matrix": (
        made(
            table(
                "correlations",
                ("respondent", "score_1", "same_trait", "same_method", "kind", "r"),
                [
                    ("m", "a", True, False, "pearson", 0.61),
                    ("m", "a", True, True, "pearson", 0.9),
                    ("m", "a", False, False, "pearson", -0.1),
                    ("m", "b", False, False, "pearson", 0.25),
                    ("m", "b", False, False, "spearman", 0.8),
                ],
            ),
            table(
                "scores",
                ("respondent", "number", "score", "n_without", "items_left_out", "n_fewer"),
                [("m", 1, "a", 2, 1, 0), ("m", 2, "b", 1, 0, 3)],
            ),
        ),
        "Across methods, correlations of the same trait: .61 (1 pair); of different traits: from "
        "−.10 to .25 (2 pairs); a is of fewer items than the same trait by another method; up to 2 "
        "administrations without a score left out; up to 3 scores of some of the items.",
    ),
    "score_correlations": (
        made(
            table(
                "correlations",
                (
                    "respondent",
                    "scale",
                    "first",
                    "second",
                    "kind",
                    "r",
                    "ci_low",
                    "ci_high",
                    "n_pairs",
                    "n_without",
                    "n_items",
                    "items_left_out",
                    "n_fewer",
                ),
                [
                    ("m", "A", "x", "y", "pearson", 0.5, 0.05, 0.78, 1200, 4, 5, 0, 1),
                    ("m", "A", "x", "y", "spearman", 0.4, 0.0, 0.7, 1200, 4, 5, 0, 1),
                    ("m", "B", "x", "y", "pearson", NAN, NAN, NAN, 1, 0, 5, 0, 0),
                ],
            ),
        ),
        "A, x with y: r = .50 [.05, .78], n = 1,200 (4 pairs without a score left out; 1 score is "
        "a mean of some of the items); B, x with y: r is undefined (too few pairs, "
        "or no variance).",
    ),
    "reliability": (
        made(
            table(
                "reliability",
                (
                    "respondent",
                    "scale",
                    "coefficient",
                    "value",
                    "ci_low",
                    "ci_high",
                    "against",
                    "remark",
                ),
                [
                    ("m", "A", "α (Feldt)", 0.8, 0.7, 0.9, "", ""),
                    ("m", "A", "α (bootstrap)", 0.8, 0, 1, "", ""),
                    ("m", "A", "ω total (one factor)", NAN, NAN, NAN, "", "Too few rows."),
                ],
            ),
        ),
        "A: α = .80 [.70, .90], ω is undefined (Too few rows).",
    ),
    "item_statistics": (
        made(
            table(
                "summary",
                (
                    "respondent",
                    "subscale",
                    "items",
                    "undefined_items",
                    "good_items",
                    "below_items",
                    "above_items",
                    "negative_items",
                ),
                [
                    ("m", "A", 4, 1, 1, 2, 0, 1),
                    ("m", "B", 2, 0, 0, 1, 1, 0),
                    ("m", "all items", 6, 1, 1, 3, 1, 1),
                ],
            ),
            table(
                "items",
                ("respondent", "subscale", "item", "mean", "ci_high"),
                [
                    ("m", "A", "i1", 3.0, 0.5),
                    ("m", "A", "i2", NAN, NAN),
                    ("m", "A", "i3", 1.256, -0.05),
                    ("m", "A", "i4", 4.5, 0.1),
                ],
            ),
        ),
        "Item means from 1.26 (i3) to 4.50 (i4) points. 1 of 6 items discriminates well (.40 to "
        ".70), 3 below .40 (1 against the other items), 1 above .70 (say nearly the same as the "
        "other items), 1 undefined (no variance, or too few answers). i3 runs against the scale: "
        f"check its keying {KEYING_STEP}.",
    ),
    "option_distribution": (
        made(
            table(
                "options",
                ("respondent", "format", "item", "kind", "option", "count"),
                [
                    ("m", "f", "i1", "option", "1", 3),
                    ("m", "f", "i1", "option", "2", 4),
                    ("m", "f", "i2", "option", "1", 2),
                    ("m", "f", "i1", "status", "refused", 7),
                ],
            ),
            table(
                "summary",
                ("respondent", "items", "n_trials", "share_usable"),
                [("m", 2, 16, 9 / 16)],
            ),
        ),
        "56.3% of 16 trials have a usable answer; of these, 1: 56%, 2: 44%.",
    ),
    "score_distribution": (
        made(
            table(
                "scores",
                (
                    "respondent",
                    "subscale",
                    "mean",
                    "sd",
                    "floor",
                    "ceiling",
                    "missing",
                    "n_fewer",
                    "n_items",
                    "items_left_out",
                ),
                [
                    ("m", "A", 3.125, 0.5, 0.1, 0.0, 0, 7, 5, 0),
                    ("m", "B", NAN, NAN, NAN, NAN, 9, 0, 0, 0),
                ],
            ),
        ),
        "A: M = 3.13, SD = 0.50, 10% at the lowest and 0% at the highest score (7 scores are means "
        "of some of the items); B: undefined (no "
        "scores).",
    ),
    "random_consistency": (
        made(
            table(
                "totals",
                (
                    "respondent",
                    "n_items",
                    "n_formats",
                    "corrected",
                    "ci_low",
                    "ci_high",
                    "entropy_sum",
                    "maximum",
                ),
                [("m", 100, 2, 0.391, 0.348, 0.433, 168.911, 277.26)],
            ),
            table(
                "formats",
                ("respondent", "format", "corrected", "ci_low", "ci_high"),
                [
                    ("m", "yes_no", 0.5, 0.42, 0.57),
                    ("m", "a_b", 0.25, 0.2, 0.31),
                    ("m", "likert_4", NAN, NAN, NAN),
                ],
            ),
        ),
        "Corrected for few answers, repeatability is .39 [.35, .43] of 1 (always the same answer; "
        "0: as if drawn evenly): entropies sum to 168.9 of at most 277.3 (100 items, 2 formats); "
        "highest in yes_no (.50), lowest in a_b (.25).",
    ),
    "referential_consistency": (
        made(
            table(
                "totals",
                (
                    "respondent",
                    "n_items",
                    "corrected",
                    "ci_low",
                    "ci_high",
                    "divergence",
                    "chance",
                    "p",
                    "divergence_sum",
                    "consistency",
                ),
                [("m", 100, 0.0383, 0.031, 0.0468, 0.0514, 0.0131, 0.0009, 5.14, 0.9486)],
            ),
            table(
                "formats",
                ("respondent", "format", "corrected", "ci_low", "ci_high"),
                [
                    ("m", "yes_no", 0.05, 0.045, 0.052),
                    ("m", "a_b", 0.054, 0.053, 0.055),
                    ("m", "likert_4", 0.05, 0.045, 0.052),
                ],
            ),
        ),
        "Formats diverge by .038 [.031, .047] bits per item beyond chance (p < .001): .051 bits "
        "per item, of which chance alone gives .013; sum 5.14 over 100 items; 1 − divergence is "
        ".95, where 1 is equal distributions and not a share of equal answers; a_b lies farthest "
        "from the others (.054).",
    ),
    "preference": (
        made(
            table(
                "winners",
                ("respondent", "winner", "loser", "share", "ci_low", "ci_high"),
                [
                    ("m", "A", "B", 0.6057, 0.59, 0.62),
                    ("m", "B", "C", 0.52, 0.45, 0.59),
                    ("m", "A", "C", NAN, NAN, NAN),
                    ("m", "A", "D", 0.7, NAN, NAN),
                ],
            ),
            table(
                "transitivity",
                ("respondent", "entities", "order", "transitive"),
                [("m", 3, "A > B > C", "yes")],
            ),
            table(
                "order_effects",
                (
                    "respondent",
                    "first",
                    "second",
                    "first_named",
                    "second_named",
                    "effect",
                    "p_adjusted",
                ),
                [
                    ("m", "A", "B", 0.94, 0.72, 0.66, 0.0003),
                    ("m", "A", "B", 0.92, 0.68, 0.60, 0.001),  # of one format
                    ("m", "B", "C", 0.3, 0.5, -0.2, 0.03),
                    ("m", "A", "D", 0.6, 0.5, 0.1, 0.4),
                    ("m", "A", "C", NAN, NAN, NAN, NAN),
                ],
            ),
        ),
        "A wins over B in 60.6% [59.0, 62.0]; neither of B and C wins beyond chance (B in 52.0% "
        "[45.0, 59.0]); A against C is undefined (no answer takes a side); A against D in 70.0% "
        "(no interval, so no winner is named). By the shares alone, the order is A > B > C, which "
        "the intervals of some pairs do not carry. Which is named first matters in 2 of 3 pairs, "
        "most with A and B: A wins in 94.0% where it is named first, in 28.0% where it is second.",
    ),
    "validation_report": (
        made(
            table("verdicts", ("respondent", "reliable", "verdict"), [("m", "no", "Unreliable.")]),
            table(
                "criteria",
                ("respondent", "criterion", "value", "cfi", "rating", "other_rating", "against"),
                [
                    ("m", "internal consistency", 0.45, NAN, "--", "", ""),
                    ("m", "concurrent", NAN, NAN, "", "", ""),
                    ("m", "factorial", 0.055, 0.96, "-", "+", "i1, i2"),
                ],
            ),
            table(
                "bands",
                ("criterion", "very_good_from", "highest_rmsea", "lowest_cfi", "bands"),
                [
                    ("internal consistency", 0.8, NAN, NAN, "Jung (2025)"),
                    ("factorial", NAN, 0.05, 0.9, "Jung (2025)"),
                ],
            ),
        ),
        "Unreliable. Internal consistency .45 (--); RMSEA .055, CFI .96 (-); no coefficient for 1 "
        "of 3 criteria. Bands: Jung (2025). The factor model fits by Hu & Bentler (1999); both "
        "cutoffs are from ML. i1, i2 run against the scale: check their keying "
        f"{KEYING_STEP}.",
    ),
    "worldview": (
        made(
            table(
                "groups",
                (
                    "respondent",
                    "statements",
                    "templates",
                    "n",
                    "reliable",
                    "reliable_low",
                    "reliable_high",
                    "of_judged",
                    "not_judged",
                    "agrees",
                    "agrees_low",
                    "agrees_high",
                ),
                [("m", 239, 6, 120.5, 0.504, 0.44, 0.57, 0.55, 120, 0.62, 0.55, 0.7)],
            ),
            table(
                "leaning",
                ("respondent", "country", "leaning", "share", "ci_low", "ci_high"),
                [
                    ("m", "all countries", "left", 0.33, 0.28, 0.38),
                    ("m", "all countries", "right", 0.13, 0.1, 0.17),
                    ("m", "Arland", "left", 0.4, 0.2, 0.6),
                ],
            ),
            table(
                "domains",
                ("respondent", "domain", "stance", "ci_low", "ci_high", "weak"),
                [
                    ("m", "law_and_order", 0.6, 0.3, 0.8, ""),
                    ("m", "liberal_society", 0.9, 0.8, 1.0, ""),
                    ("m", "migration", -0.25, -0.6, 0.1, ""),
                    ("m", "finance", 1.0, 1.0, 1.0, "few statements"),
                ],
            ),
        ),
        "50% [44, 57] of 239 statements asked count, 55% of those that can be judged, mean over "
        "6 templates; same stance as parties: left 33% [28, 38], right 13% [10, 17]; for "
        "liberal society .90 [.80, 1.00], law and order .60 [.30, .80]; agrees with 62% [55, 70] "
        "of those that count.",
    ),
}


GROUPS = {"annotator_agreement": "all annotators"}
LIGHTS = {"cfa": "red", "cfa_check": "green", "invariance": "red", "validation_report": "red"}


@pytest.mark.parametrize("name", BY_HAND)
def test_the_sentence_is_what_one_writes_by_hand(name):
    result, sentence = BY_HAND[name]
    group = GROUPS.get(name, "m")
    assert analyses.by_name(name).answer(result) == ((group, sentence, LIGHTS.get(name)),)


@pytest.mark.parametrize(
    ("scales", "words"),
    [
        (("",), "1 item with a from 1.20 to 1.20, marginal reliability .70."),
        (
            ("A", ""),
            "A: 1 item with a from 1.20 to 1.20, marginal reliability .70; (no subscale): "
            "1 item with a from 1.20 to 1.20, marginal reliability .70.",
        ),
    ],
)
def test_the_model_of_items_without_a_subscale_is_named_where_there_are_others(scales, words):
    given = made(
        table(
            "items",
            ("respondent", "subscale", "item", "a"),
            [("m", scale, f"i{scale}", 1.2) for scale in scales],
        ),
        table(
            "fit",
            ("respondent", "subscale", "converged", "marginal_reliability"),
            [("m", scale, True, 0.7) for scale in scales],
        ),
    )
    assert analyses.by_name("graded_response").answer(given)[0][1] == words


def test_whether_opinions_depend_on_the_way_round_is_counted_for_each_group():
    rows = [
        (group, kind, pairs, share, 0.1, 0.6)
        for group, counts in (("m", (3, 6, 1, 0)), ("n", (7, 2, 0, 1)))
        for kind, pairs, share in zip(
            ("consistent", "both yes", "both no", "undecided"),
            counts,
            (count / 10 for count in counts),
            strict=True,
        )
    ]
    groups = BY_HAND["opinions"][0].tables[0]
    answers = analyses.by_name("opinions").answer(
        made(groups, table("pair_types", PAIR_TYPES, rows))
    )
    assert (answers[0].group, answers[0].sentence) == (
        "Depends on the way round",
        "Questions asked both ways round (A or B, B or A) get the same opinion from m in 3 of 10 "
        "pairs (30% [10, 60]); n in 7 of 10 pairs (70% [10, 60]). Yes to both ways: 8 of 20 pairs, "
        "no to both: 1.",
    )


def test_programs_differ_where_any_index_or_correlation_does():
    fit, loadings, correlations = BY_HAND["cfa_check"][0].tables
    for column, changed in (("left", fit), ("difference", correlations)):
        frame = changed.frame.copy()
        frame.loc[frame.index[-1], column] = 0.1
        names = [one.name for one in changed.columns]
        other = table(changed.name, names, frame.to_numpy().tolist())
        both = [other if one is changed else one for one in (fit, loadings, correlations)]
        ((_, sentence, light),) = analyses.by_name("cfa_check").answer(made(*both))
        assert sentence.startswith("Both programs differ")
        assert light == "red"


def test_the_difference_of_two_programs_is_written_above_the_bound_that_it_exceeds():
    """Up to .001 they agree: .00102 with four decimals would be .0010."""
    fit, loadings, correlations = BY_HAND["cfa_check"][0].tables
    frame = loadings.frame.copy()
    frame["standardized_difference"] = [0.00102, 0.0001, NAN]
    names = [one.name for one in loadings.columns]
    other = table("loadings", names, frame.to_numpy().tolist())
    ((_, sentence, _),) = analyses.by_name("cfa_check").answer(made(fit, other, correlations))
    assert sentence.startswith("Both programs differ")
    assert sentence.endswith("standardized loadings differ by .00102 at most.")


def test_what_lights_mean_is_said_where_there_are_any():
    assert {a.name for a in analyses.all_analyses() if a.verdict} == {*LIGHTS, "cfa_comparison"}


def test_models_of_one_bic_are_named_together():
    given = made(
        fits(fit("One", *POOR, bic=9.46), fit("Two", *GOOD), fit("Three", *GOOD, bic=0.01))
    )
    ((_, sentence, _),) = analyses.by_name("cfa_comparison").answer(given)
    assert sentence.startswith(
        "Two and Three have the lowest BIC, the same; One is 9.5 higher. Two: "
    )


def cfa_answer(row, n_factors, model="subscales"):
    loadings = table(
        "loadings", ("respondent", "factor"), [("m", f"F{k}") for k in range(n_factors)]
    )
    result = made(fits(row, without=("factor_model",)), loadings)
    result = replace(result, choices={"model": model})
    ((_, sentence, light),) = analyses.by_name("cfa").answer(result)
    return sentence.partition(", m: ")[0], light


def test_the_lead_line_of_a_model_has_its_name_and_its_light():
    good = fit("", *GOOD)
    assert cfa_answer(good, 1) == ("One-factor model", "green")
    assert cfa_answer(good, 12) == ("12-factor model", "green")
    assert cfa_answer(fit("", *GOOD, admissible=False), 2) == ("Two-factor model", "grey")
    assert cfa_answer(fit("", NAN, NAN, NAN, NAN, NAN, NAN), 2) == ("Two-factor model", "grey")
    for kind, name in (
        ("bifactor", "Bifactor model"),
        ("second_order", "Second-order model"),
        ("method", "Model with a method factor"),
        ("general", "Three-factor model"),
    ):
        assert cfa_answer(good, 3, kind)[0] == name
    assert cfa_answer(good, 2, "typed")[0] == "Edited two-factor model"


STEPS = ("configural", "metric", "scalar", "strict")


def invariance_answer(changes, p=(NAN, 0.3, 0.4, 0.5), first=GOOD, n=(100, 100), **row):
    """Sentence and light of four steps with these ΔCFI and p of Δχ²; `first` is the fit."""
    rows = [
        (*fit(step, *first, **row), 9.26, 4, p_step, change)
        for step, change, p_step in zip(STEPS, changes, p, strict=True)
    ]
    columns = (
        "respondent",
        "step",
        *FIT[2:],
        "chi2_difference",
        "df_difference",
        "p_difference",
        "cfi_difference",
    )
    levels = table("levels", ("respondent", "level", "n"), [("m", str(one), one) for one in n])
    releases = table("releases", ("respondent", "step", "free"), [])
    given = made(table("steps", columns, rows), levels, releases)
    ((_, sentence, light),) = analyses.by_name("invariance").answer(given)
    return sentence, light


HELD = (NAN, -0.004, 0.0, -0.009)


def test_invariance_is_green_where_every_step_holds_and_grey_where_that_is_not_known():
    assert invariance_answer(HELD)[1] == "green"
    assert invariance_answer((*HELD[:3], NAN))[1] == "grey"
    lost = (*HELD[:3], -0.01), (NAN, 0.3, 0.4, 0.001)
    assert invariance_answer(*lost)[1] == "red"


def test_invariance_is_judged_by_the_fall_of_cfi_and_the_test_of_chi_square_together():
    sentence, light = invariance_answer(HELD, (NAN, 0.3, 0.0496, 0.5))
    assert light == "grey"
    assert sentence.startswith(
        "Equal loadings hold (metric invariance) by ΔCFI (Chen, 2007) and by Δχ²; equal intercepts "
        "are open (scalar: ΔCFI .000 speaks for them, Δχ²(4) = 9.3, p = .0496 against); the model: "
    )
    # the fall of CFI is .01004: with three decimals it would be the bound, which it exceeds
    sentence, light = invariance_answer((NAN, -0.004, 0.0, -0.01004))
    assert light == "grey"
    assert (
        "equal residual variances are open (strict: Δχ²(4) = 9.3, p = .500 speaks for them, ΔCFI "
        "−.01004 against)"
    ) in sentence
    # an open step does not hide one that both speak against
    sentence, light = invariance_answer((NAN, -0.02, -0.004, -0.3), (NAN, 0.3, 0.4, 0.001))
    assert light == "red"
    assert sentence.startswith(
        "The structure is the same at all levels (configural invariance); equal loadings are open "
        "(metric: Δχ²(4) = 9.3, p = .300 speaks for them, ΔCFI −.020 against); equal residual "
        "variances do not hold (strict: ΔCFI −.300, Δχ²(4) = 9.3, p = .001); the model: "
    )


def test_nothing_is_said_of_invariance_where_the_model_itself_does_not_fit():
    sentence, light = invariance_answer(HELD, first=(99.0, 0.001, 0.71, 0.2, 0.1, 0.3))
    assert sentence == (
        "Invariance is not judged, as the model itself does not fit: χ²(8) = 99.0, p = .001, CFI "
        ".71, RMSEA .20 [.10, .30]: does not fit by Jung (2025) or by Hu & Bentler (1999) (cutoffs "
        "from ML)."
    )
    assert "holds" not in sentence
    assert light == "red"
    sentence, light = invariance_answer(HELD, admissible=False)
    assert (sentence[:29], light) == ("Invariance is not judged: χ²(", "grey")


def test_no_light_comes_from_a_level_of_fewer_than_ten_rows():
    sentence, light = invariance_answer(HELD, n=(191, 9))
    assert light == "grey"
    assert sentence.startswith("Invariance is not judged: a level has fewer than 10 rows: ")
    assert invariance_answer(HELD, n=(190, 10))[1] == "green"
    row = fit("", *GOOD, n=9)
    assert cfa_answer(row, 2)[1] == "grey"


def test_a_bound_and_the_number_that_it_judges_are_never_printed_alike():
    """By hand: RMSEA .0531 is above Jung's .05, and .05 would not be; CFI .8996 is below .90."""
    for numbers, words in (
        ((0.94, 0.0531), "CFI .94, RMSEA .053 [.00, .06]: does not fit by Jung (2025) or by"),
        ((0.8996, 0.02), "CFI .8996, RMSEA .02 [.00, .06]: does not fit by Jung (2025) or by"),
        ((0.95, 0.05), "CFI .95, RMSEA .05 [.00, .06]: fits by Jung (2025) and by"),
        ((0.97, 0.0504), "RMSEA .0504 [.00, .06]: does not fit by Jung (2025), fits by Hu"),
        ((0.9499, 0.05), "CFI .9499, RMSEA .05 [.00, .06]: fits by Jung (2025), does not fit by"),
    ):
        loadings = table("loadings", ("respondent", "factor"), [("m", "F")])
        row = fit("", 7.0, 0.5, *numbers, 0.0, 0.06)
        given = made(fits(row, without=("factor_model",)), loadings)
        assert words in analyses.by_name("cfa").answer(given)[0].sentence


def test_the_sentence_of_a_fit_names_the_version_of_its_test_and_indices():
    loadings = table("loadings", ("respondent", "factor"), [("m", "F")])
    for reported, words in (
        (
            "robust",
            "scaled χ²(8) = 7.0, p = .533, robust CFI 1.00, robust RMSEA .01 [.00, .06]: "
            "fits by Jung (2025) and by Hu & Bentler (1999) (cutoffs from ML).",
        ),
        (
            "scaled",
            "scaled χ²(8) = 7.0, p = .533, scaled CFI 1.00, scaled RMSEA .01 [.00, .06]: "
            "fits by Jung (2025) and by Hu & Bentler (1999) (cutoffs from ML, under which "
            "the same misfit shows more).",
        ),
    ):
        given = made(fits(fit("", *GOOD, reported=reported), without=("factor_model",)), loadings)
        assert analyses.by_name("cfa").answer(given)[0].sentence.endswith(words)


def test_a_model_that_fits_is_not_green_beside_an_item_that_runs_against_its_factor():
    loadings = table("loadings", ("respondent", "factor"), [("m", "F")])
    given = made(fits(fit("", *GOOD, against="comm6"), without=("factor_model",)), loadings)
    ((_, sentence, light),) = analyses.by_name("cfa").answer(given)
    assert sentence.endswith(f"; comm6 runs against the scale: check its keying {KEYING_STEP}.")
    assert light == "grey"


def test_alpha_of_two_items_is_named_with_its_interval_or_as_undefined():
    # Variances 11/12 and 2/3, covariance 2/3: α = 2 (1 - (19/12) / (19/12 + 4/3)) = .914.
    frame = item_scores([[1, 1], [1, 2], [2, 2], [3, 3]], respondent="m")
    ((group, sentence, _),) = analyses.by_name("internal_consistency").answer(
        internal_consistency(frame)
    )
    assert group == "m"
    assert "α = .91" in sentence
    rows = [("m", "A", 0.889, 0.4, 0.99, ""), ("m", "B", NAN, NAN, NAN, "")]
    columns = ("respondent", "subscale", "alpha", "ci_low", "ci_high", "against")
    given = made(table("alpha", columns, rows))
    assert analyses.by_name("internal_consistency").answer(given) == (
        (
            "m",
            "A: α = .89 [.40, .99]; B: α is undefined (too few items that vary, or too few rows).",
            None,
        ),
    )


def _row(scale, coefficient, value, low, high, remark=""):
    return ("m", scale, coefficient, value, low, high, "", remark)


def test_several_subscales_are_named_by_the_lowest_and_the_highest():
    columns = ("respondent", "subscale", "alpha", "ci_low", "ci_high", "against")
    rows = [
        ("m", "A", 0.7, 0.6, 0.8, ""),
        ("m", "B", 0.9, 0.85, 0.94, ""),
        ("m", "C", NAN, NAN, NAN, ""),
        ("m", "D", -0.2, NAN, NAN, ""),
    ]
    of_alpha = analyses.by_name("internal_consistency").answer
    ((_, sentence, _),) = of_alpha(made(table("alpha", columns, rows)))
    assert sentence == (
        "α of 3 subscales from −.20 (D) to .90 [.85, .94] (B), undefined for 1 more."
    )
    columns = ("respondent", "scale", "coefficient", "value", "ci_low", "ci_high", "against",
               "remark")  # fmt: skip
    whole = [
        _row("all items", "α (Feldt)", 0.85, 0.8, 0.89),
        _row("all items", "ω total (one factor)", NAN, NAN, NAN, "Undefined: it did not converge."),
    ]
    omega = [
        _row(scale, "ω total (one factor)", value, 0.5, 0.95)
        for scale, value in (("A", 0.7), ("B", NAN), ("C", 0.6), ("D", 0.8))
    ]
    alpha = [
        _row(scale, "α (Feldt)", value, 0.1, 0.99)
        for scale, value in (("A", 0.71), ("B", 0.5), ("C", 0.61), ("D", 0.3))
    ]
    beginning = "all items: α = .85 [.80, .89], ω is undefined (it did not converge); "
    for rows, end in (
        (omega, "ω of 3 subscales from .60 [.50, .95] (C) to .80 [.50, .95] (D), undefined for 1 "
                "more."),
        (omega + alpha, "α of 4 subscales from .30 [.10, .99] (D) to .71 [.10, .99] (A)."),
    ):  # fmt: skip
        given = made(table("reliability", columns, whole + rows))
        ((_, sentence, _),) = analyses.by_name("reliability").answer(given)
        assert sentence == beginning + end


def test_the_item_map_says_how_far_groups_lie_apart_and_names_no_item():
    rows = [
        ("m", "A", "i1", 2.0),
        ("m", "A", "i2", 1.0),
        ("n", "A", "i1", 2.5),
        ("n", "A", "i2", 4.25),
        ("n", "A", "i3", 9.0),
    ]
    given = made(table("map", ("respondent", "subscale", "item", "value"), rows))
    assert analyses.by_name("item_map").answer(given) == (
        (
            "all groups",
            "value: 2 items have values in several groups, which lie 1.88 apart "
            "(median; from 0.50 to 3.25). A map has no intervals, so no item and no "
            "group is named.",
            None,
        ),
    )
    alone = made(table("map", ("respondent", "subscale", "item", "value"), rows[:2]))
    ((_, sentence, _),) = analyses.by_name("item_map").answer(alone)
    assert sentence == "value: undefined (no item has a value in two groups)."


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.41, 0.59, "they lean to neither side beyond chance"),
        (0.5, 0.59, "they lean to neither side beyond chance"),
        (0.41, 0.49, "they lean to the negative side"),
        (0.51, 0.59, "they lean to the positive side"),
        (NAN, NAN, "no interval, so no side is named"),
    ],
)
def test_answers_lean_to_a_side_only_where_the_interval_leaves_one_half_out(low, high, words):
    share = 0.5 if low != low else (low + high) / 2
    columns = ("respondent", "share", "ci_low", "ci_high", "n_formats", "n_items", "remark")
    rows = [("m", share, low, high, 1, 9, "")]
    opposites = table("acquiescence", ("respondent", "opposites", "index"), [])
    result = made(table("bias", columns, rows), opposites)
    ((_, sentence, _),) = analyses.by_name("bias").answer(result)
    assert sentence.endswith(f" over 9 items (50% is neutral: {words}).")


DIRECTIONS = re.compile(
    r"\b(more|less|most|least|higher|lower|highest|lowest|larger|largest|smaller|smallest|fewer|"
    r"fewest|above|below|farther|farthest|nearest|leans?|prefers?|wins?|beats?|differs?|rises?|"
    r"falls?|follows?|against|toward|away|best|worst|first|best)\b"
)
"""Words that name a side, a difference or a direction."""
DENIED = re.compile(
    r"they lean to neither side beyond chance|runs? against the (scale|others)|"
    r"\d+ more (was|were) not answered|of fewer items than|"
    r"neither clearly rises nor falls|neither follow .* beyond chance|does not clearly differ|"
    r"no format lies clearly farther from the others than the next|0 is no difference|"
    r"\d+ more (options?|scales?)|A against C|first repl|of at most [\d.]+ \("
)
"""What says that there is none, or is no comparison."""
NO_ESTIMATES = {
    # These compare with the bounds of a rule, two programs, or fits of one sample.
    "item_statistics",
    "score_distribution",
    "cfa",
    "cfa_check",
    "cfa_comparison",
    "invariance",
}
OWN_TESTS = {"opinions", "bias_shift", "preference", "stance_reliability", "worldview"}
"""Their sentences name sides in words of their own, which their own tests read."""


def undecided(result):
    """The result with intervals that hold every value, and p of .9."""
    tables = []
    for one in result.tables:
        frame = one.frame.copy()
        for name in frame.columns:
            if frame[name].dtype.kind != "f":
                continue
            if name == "low" or name.endswith("_low"):
                frame[name] = frame[name].mask(frame[name].notna(), -0.9)
            elif name == "high" or name.endswith("_high") or name == "p" or name.startswith("p_"):
                frame[name] = frame[name].mask(frame[name].notna(), 0.9)
        if "verdict" in frame:
            frame["verdict"] = "undecided"
        if "flagged" in frame:
            frame["flagged"] = False
        tables.append(replace(one, frame=frame))
    return replace(result, tables=tuple(tables))


@pytest.mark.parametrize(
    "name", sorted({one.name for one in analyses.all_analyses()} - NO_ESTIMATES - OWN_TESTS)
)
def test_no_side_and_no_difference_is_named_where_the_intervals_hold_every_value(name):
    known = [BY_HAND[name][0]] if name in BY_HAND else []
    known += [own[name] for own in (results(), more_results()) if name in own]
    assert known or name in ("internal_consistency", "item_map")
    for result in known:
        for _, sentence, _ in analyses.by_name(name).answer(undecided(result)):
            assert not DIRECTIONS.search(DENIED.sub("", sentence)), sentence


@pytest.mark.parametrize(
    ("name", "named", "denied"),
    [
        ("norm_comparison", "is 0.20 above that of people", "does not clearly differ from that"),
        ("odds_ratios", "Texts follow the stereotypes", "neither follow the stereotypes nor go"),
        ("random_consistency", "highest in yes_no", "no clear difference"),
        ("referential_consistency", "a_b lies farthest", "no format lies clearly farther"),
        ("template_pilot", "has the largest share", "no clear difference"),
        ("story_validity", " rises with ", "neither clearly rises nor falls with"),
        ("unexpected_outputs", "(most often ", "("),
    ],
)
def test_a_side_is_named_with_its_interval_and_denied_without(name, named, denied):
    result, _ = BY_HAND[name]
    answer = analyses.by_name(name).answer
    sentences = [
        " ".join(sentence for _, sentence, _ in answer(own)) for own in (result, undecided(result))
    ]
    assert named in sentences[0]
    assert named not in sentences[1]
    assert denied in sentences[1]


def test_every_analysis_has_a_sentence_that_was_written_by_hand():
    names = {analysis.name for analysis in analyses.all_analyses()}
    assert names == {*BY_HAND, "internal_consistency", "item_map"}


@pytest.mark.parametrize("name", [*results(), *more_results()])
def test_real_results_give_one_sentence_for_each_group(name):
    result = (results() | more_results())[name]
    found = analyses.by_name(name).answer(result)
    assert found
    assert len({group for group, _, _ in found}) == len(found)
    for _, sentence, _ in found:
        assert sentence.endswith(".")
        assert not any(word in sentence.lower() for word in ("nan", "none", "  "))


@pytest.mark.parametrize("name", [*results(), *more_results()])
def test_real_results_have_six_tabs_at_most(name):
    result = (results() | more_results())[name]
    assert len({one.tab or one.title for one in result.tables}) <= 6


def test_numbers_have_no_leading_zero_where_they_cannot_exceed_one():
    assert [coefficient_text(x) for x in (0.005, -0.5, 1.0, -1.25, NAN)] == [
        ".01",
        "−.50",
        "1.00",
        "−1.25",
        "undefined",
    ]
    assert interval_text(-0.1, 0.25) == " [−.10, .25]"
    assert interval_text(NAN, 0.25) == ""
    assert [p_text(p) for p in (0.00099, 0.001, 0.05, 0.0499, 0.05049, NAN)] == [
        "p < .001",
        "p = .001",
        "p = .050",
        "p = .0499",
        "p = .0505",
        "p undefined",
    ]


SEARCHED = {
    "CFA": {"cfa", "cfa_check", "cfa_comparison"}, "CFI": {"cfa"}, "RMSEA": {"cfa"},
    "alpha": {"internal_consistency", "reliability"}, "Cronbach": {"internal_consistency"},
    "omega": {"reliability"}, "test-retest": {"score_correlations"},
    "language correlation": {"score_correlations"},
    "correlation between languages": {"score_correlations"}, "DIF": {"dif"},
    "invariance": {"invariance"}, "missing answers": {"option_distribution"},
    "discrimination": {"item_statistics"}, "item difficulty": {"item_statistics"},
    "IRT": {"graded_response"}, "EFA": {"efa"}, "scree": {"efa"}, "parallel analysis": {"efa"},
    "convergent": {"multitrait_matrix"}, "discriminant": {"multitrait_matrix"},
    "validity": {"validation_report"}, "odds ratio": {"odds_ratios"}, "bias": {"dif"},
    "entropy": {"random_consistency"}, "Jensen-Shannon divergence": {"referential_consistency"},
    "stories": {"odds_ratios"}, "letters": {"odds_ratios"},
}  # fmt: skip


@pytest.mark.parametrize("word", SEARCHED)
def test_words_that_people_search_for_are_those_of_the_analyses(word):
    assert {a.name for a in analyses.all_analyses() if word in a.keywords} >= SEARCHED[word]
    assert all(len(set(a.keywords)) == len(a.keywords) > 0 for a in analyses.all_analyses())

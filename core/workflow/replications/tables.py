"""Which number of which analysis corresponds to each printed number of the five studies.

A printed table is a file of data/published, or some of its rows. Each of its columns of numbers is
a quantity; a place says where the user's own number of that quantity stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pandas as pd

from core.errors import NotEnoughData
from core.workflow.replications.published import PublishedStudy, printed, published_study

Kind = Literal[
    "model",
    "brand",
    "context set",
    "item",
    "subscale",
    "language",
    "words per call",
    "temperature",
    "pair of labels",
    "history",
    "pair",
    "domain",
]
"""What the levels of a key are; levels of one kind are matched with the user's in the same way."""


@dataclass(frozen=True)
class Key:
    """A column of a printed table that says of what a number is."""

    column: str
    kind: Kind
    title: str


@dataclass(frozen=True, eq=False)  # a key of mappings, by itself
class PrintedPlace:
    """Where the user's number of a quantity stands: a cell in a table of an analysis.

    `keys` leads from the keys of the printed table to columns of the result (several, joined by
    "and", make one level); `rows` chooses rows of it. `times` is a factor, or the column of one, by
    which value and interval are multiplied; `per` are columns by whose sum they are divided.
    `mirror` names two columns that may be exchanged, which
    makes the value its difference from `whole`. `interval` "mean" computes one from mean, sd and n.
    `size` has what the study had in columns of the result; other numbers are remarked on.
    `averages` are factors over which the study took the mean, beside those that its analysis
    compares; `of_answers` is whether the number depends on answers at all, and `grouped` whether
    the table has rows for each group.
    """

    analysis: str
    table: str
    value: str
    keys: Mapping[str, str | tuple[str, ...]]
    low: str = ""
    high: str = ""
    n: str = "n"
    rows: Mapping[str, Any] = field(default_factory=dict)
    times: float | str = 1
    per: tuple[str, ...] = ()
    mirror: tuple[str, ...] = ()
    whole: float = 1
    interval: Literal["", "mean"] = ""
    no_interval: str = ""
    size: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    by: tuple[str, ...] = ("respondent",)
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    averages: tuple[str, ...] = ()
    of_answers: bool = True
    grouped: bool = True


@dataclass(frozen=True)
class Quantity:
    """A column of printed numbers, with so many decimals in print.

    `part` are further keys, which the column stands for; `rating` is the column of its rating.
    Without a place, `without` says why no
    number of ours corresponds.
    """

    column: str
    title: str
    decimals: int
    place: PrintedPlace | None = None
    part: tuple[tuple[Key, str], ...] = ()
    without: str = ""
    rating: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """A printed table: rows of a file where `only` holds and `other_rows` does not, with keys.

    `without` says why nothing of ours can stand beside it; then no quantity has a place.
    """

    code: str
    study: str
    title: str
    file: str
    keys: tuple[Key, ...]
    quantities: tuple[Quantity, ...]
    only: Mapping[str, str] = field(default_factory=dict)
    without: str = ""
    other_rows: Mapping[str, str] = field(default_factory=dict)

    @property
    def of(self) -> PublishedStudy:
        """The study that printed it."""
        return published_study(self.study)

    @property
    def places(self) -> tuple[PrintedPlace, ...]:
        """Where the user's numbers of its quantities stand."""
        return tuple(quantity.place for quantity in self.quantities if quantity.place)

    @property
    def all_keys(self) -> tuple[Key, ...]:
        """Its keys, and those that a column stands for."""
        parts = [key for quantity in self.quantities for key, _ in quantity.part]
        return tuple(dict.fromkeys((*self.keys, *parts)))


# Study 1: brand perception.

_MODEL = Key("model", "model", "Model")
_BRAND = Key("brand", "brand", "Brand")
_OF_BRAND = {"model": "respondent", "brand": "entity"}
_BY_BRAND = ("respondent", "entity")
_HUNDRED = {"n_items": 100, "n_formats": 4}


def _brand_table(code: str, title: str, metric: str, quantity: Quantity) -> PublishedTable:
    return PublishedTable(
        code,
        "brand_perception",
        title,
        "brand_sentiment",
        (_MODEL, _BRAND),
        (quantity,),
        only={"metric": metric},
    )


_BRAND_TABLES = (
    _brand_table(
        "brand_random_consistency",
        "Entropy of repeated answers, by brand",
        "random_consistency_entropy_sum",
        Quantity(
            "value",
            "Sum of entropies (nats)",
            1,
            PrintedPlace(
                "random_consistency",
                "totals",
                "entropy_sum",
                _OF_BRAND,
                "sum_low",
                "sum_high",
                by=_BY_BRAND,
                size=_HUNDRED,
                averages=("format",),
            ),
        ),
    ),
    _brand_table(
        "brand_referential_consistency",
        "Divergence between answer formats, by brand",
        "referential_consistency_jsd_sum",
        Quantity(
            "value",
            "Sum of divergences (bits)",
            1,
            PrintedPlace(
                "referential_consistency",
                "totals",
                "divergence",
                _OF_BRAND,
                times="n_items",
                no_interval="A divergence is above 0 by chance alone.",
                by=_BY_BRAND,
                size=_HUNDRED,
            ),
        ),
    ),
    _brand_table(
        "brand_bias",
        "Share of positive answers, by brand",
        "bias_positive_share",
        Quantity(
            "value",
            "Positive answers (%)",
            1,
            PrintedPlace(
                "bias",
                "bias",
                "share",
                _OF_BRAND,
                "ci_low",
                "ci_high",
                times=100,
                by=_BY_BRAND,
                size={"n_formats": 4},
                averages=("format",),
            ),
        ),
    ),
    PublishedTable(
        "brand_totals",
        "brand_perception",
        "Totals of the sums of divergences",
        "brand_totals",
        (_MODEL,),
        (
            Quantity(
                "value",
                "Sum over brands (bits)",
                1,
                without="Inkblot adds no brands up; their numbers are in a table of their own.",
            ),
        ),
        only={"metric": "referential_consistency_jsd_sum"},
    ),
    PublishedTable(
        "brand_preference",
        "brand_perception",
        "Share of wins of the preferred brand",
        "brand_preference",
        (_MODEL, Key("brand_a", "brand", "Brand"), Key("brand_b", "brand", "Other brand")),
        (
            Quantity(
                "percent_for_preferred",
                "Wins of the brand (%)",
                1,
                PrintedPlace(
                    "preference",
                    "shares",
                    "share",
                    {"model": "respondent", "brand_a": "first", "brand_b": "second"},
                    "ci_low",
                    "ci_high",
                    rows={"format": "mean of formats"},
                    times=100,
                    mirror=("first", "second"),
                    averages=("entity", "entity_b", "format"),
                ),
            ),
        ),
    ),
)


# Study 2: a scale for people, given to models.

_SET = Key("context_set", "context set", "Contexts")
_SUBSCALE = Key("subscale", "subscale", "Subscale")
_OF_SET = {"model": "respondent", "context_set": "context_set"}
_BY_SET = ("respondent", "context_set")
_USUAL: Mapping[str, tuple[str, ...]] = {"form": ("original",), "label_order": ("as_is",)}
_NO_SD = "No interval is computed of a standard deviation."
_NO_MOMENT = "No interval is computed of skewness and kurtosis."
_NO_COUNT = "No interval is computed of a count of items, or of a mean over them."
_NO_VARIANCE = "No interval is computed of a variance."
_ALL = {"subscale": "all items"}
_SCORES = PrintedPlace(
    "score_distribution",
    "scores",
    "mean",
    _OF_SET,
    rows=_ALL,
    interval="mean",
    by=_BY_SET,
    where=_USUAL,
    options={"missing": "available"},
    size={"n_items": 22},
)
_SUBSCORES = replace(
    _SCORES, keys={**_OF_SET, "subscale": "subscale"}, rows={}, size={"n_items": 11}
)


def _without_interval(place: PrintedPlace, value: str, reason: str) -> PrintedPlace:
    return replace(place, value=value, low="", high="", interval="", no_interval=reason)


def _of_subscale(subscale: str) -> tuple[Quantity, ...]:
    part = ((_SUBSCALE, subscale),)
    return (
        Quantity(f"{subscale}_mean", "Mean", 2, _SUBSCORES, part),
        Quantity(f"{subscale}_sd", "SD", 2, _without_interval(_SUBSCORES, "sd", _NO_SD), part),
    )


_ITEMS = PrintedPlace(
    "item_statistics",
    "items",
    "mean",
    {**_OF_SET, "item": "item"},
    interval="mean",
    by=_BY_SET,
    where=_USUAL,
)
_SUMMARY = PrintedPlace(
    "item_statistics",
    "summary",
    "zero_variance_items",
    _OF_SET,
    n="scores_used",
    rows=_ALL,
    no_interval=_NO_COUNT,
    by=_BY_SET,
    where=_USUAL,
    size={"items": 22},
)
_MISSING = PrintedPlace(
    "item_statistics",
    "summary",
    "missing",
    _OF_SET,
    n="scores_used",
    no_interval="No interval is computed of missing answers.",
    by=(*_BY_SET, "form", "label_order"),
    size={"items": 22},
)
_CELLS = (
    ("original", "Original form", {"form": "original", "label_order": "as_is"}),
    ("alternate", "Alternate form", {"form": "alternate", "label_order": "as_is"}),
    ("permuted", "Options in random order", {"form": "original", "label_order": "random"}),
)
_OTHER_SCALE = "The other scale is a study of its own: look at its missing answers there."
_CRITERIA = PrintedPlace(
    "validation_report", "criteria", "value", _OF_SET, "ci_low", "ci_high", by=_BY_SET
)


_RATING_COLUMNS = {
    "internal consistency": "alpha_rating", "alternate form": "alternate_form_rating",
    "option order": "option_order_rating", "concurrent": "concurrent_rating",
    "convergent": "convergent_rating", "factorial": "factorial_rating",
}  # fmt: skip


def _criterion(column: str, title: str, criterion: str) -> Quantity:
    rating = _RATING_COLUMNS[criterion]
    return Quantity(
        column, title, 2, replace(_CRITERIA, rows={"criterion": criterion}), rating=rating
    )


def _missing_quantities() -> tuple[Quantity, ...]:
    """Counts and percentages of missing answers by form; those of the other scale have no place."""
    found = []
    for name, title, rows in _CELLS:
        place = replace(_MISSING, rows={**_ALL, **rows})
        share = replace(place, times=100, per=("missing", "scores_used"))
        found.append(Quantity(f"{name}_n", f"{title}: missing", 0, place))
        found.append(Quantity(f"{name}_percent", f"{title}: missing (%)", 1, share))
    for name, title, decimals in (("mss_n", "missing", 0), ("mss_percent", "missing (%)", 1)):
        found.append(Quantity(name, f"Other scale: {title}", decimals, without=_OTHER_SCALE))
    return tuple(found)


def _scale_table(
    code: str,
    title: str,
    quantities: tuple[Quantity, ...],
    keys: tuple[Key, ...] = (_MODEL, _SET),
    without: str = "",
    only: Mapping[str, str] | None = None,
    file: str = "",
) -> PublishedTable:
    return PublishedTable(
        code, "ambivalent_sexism", title, file or code, keys, quantities, dict(only or {}), without
    )


_REWRITTEN = PrintedPlace(
    "score_correlations",
    "differences",
    "mean_first",
    {"model": "respondent"},
    n="n_pairs",
    rows={"scale": "all items"},
    options={"factor": "rewriting", "alternative": "greater"},
    where=_USUAL,
)
_NO_PAIRED = "No interval is computed of one mean of a pair; that of the difference is on its page."
_SCALE_TABLES = (
    _scale_table(
        "asi_score",
        "Score of the scale",
        (
            Quantity("mean", "Mean", 2, _SCORES),
            Quantity("sd", "SD", 2, _without_interval(_SCORES, "sd", _NO_SD)),
            Quantity("skewness", "Skewness", 2, _without_interval(_SCORES, "skewness", _NO_MOMENT)),
            Quantity("kurtosis", "Kurtosis", 2, _without_interval(_SCORES, "kurtosis", _NO_MOMENT)),
        ),
    ),
    _scale_table(
        "asi_subscales",
        "Scores of the subscales",
        (*_of_subscale("hostile"), *_of_subscale("benevolent")),
    ),
    _scale_table(
        "asi_items",
        "Items",
        (
            Quantity("mean", "Mean", 2, _ITEMS),
            Quantity(
                "variance", "Variance", 2, _without_interval(_ITEMS, "variance", _NO_VARIANCE)
            ),
            Quantity(
                "discrimination",
                "Discrimination",
                2,
                replace(
                    _ITEMS,
                    value="discrimination",
                    low="ci_low",
                    high="ci_high",
                    n="n_discrimination",
                    interval="",
                ),
            ),
        ),
        (_MODEL, _SET, Key("item", "item", "Item")),
    ),
    _scale_table(
        "asi_item_summary",
        "Items without variance, and good ones",
        (
            Quantity("zero_variance_items", "Items without variance", 0, _SUMMARY),
            Quantity(
                "zero_variance_percent",
                "Items without variance (%)",
                1,
                replace(_SUMMARY, times=100, per=("items",)),
            ),
            Quantity(
                "good_discrimination_items", "Good items", 0, replace(_SUMMARY, value="good_items")
            ),
            Quantity(
                "good_discrimination_percent",
                "Good items (%)",
                1,
                replace(_SUMMARY, value="good_items", times=100, per=("items",)),
            ),
            Quantity(
                "mean_discrimination_reverse",
                "Mean discrimination, reversed items",
                2,
                replace(_SUMMARY, value="mean_r_reverse"),
            ),
            Quantity(
                "mean_discrimination_standard",
                "Mean discrimination, other items",
                2,
                replace(_SUMMARY, value="mean_r_standard"),
            ),
        ),
    ),
    _scale_table("asi_missing", "Missing answers", _missing_quantities()),
    _scale_table(
        "asi_reliability",
        "Reliability",
        (
            _criterion("stratified_alpha", "Stratified alpha", "internal consistency"),
            _criterion("alternate_form_r", "r with the alternate form", "alternate form"),
            _criterion("option_order_r", "r with options in random order", "option order"),
        ),
    ),
    _scale_table(
        "asi_validity",
        "Validity",
        (
            _criterion("concurrent_r", "Concurrent r", "concurrent"),
            _criterion("convergent_r", "Convergent r", "convergent"),
            _criterion("rmsea", "RMSEA", "factorial"),
            Quantity(
                "cfi",
                "CFI",
                2,
                _without_interval(
                    replace(_CRITERIA, rows={"criterion": "factorial"}),
                    "cfi",
                    "CFI has no interval.",
                ),
            ),
        ),
    ),
    _scale_table(
        "asi_ablation_scale",
        "Conversations rewritten to be more sexist: the scale",
        (
            Quantity(
                "original_mean", "Mean, original", 2, replace(_REWRITTEN, no_interval=_NO_PAIRED)
            ),
            Quantity(
                "sexist_mean",
                "Mean, rewritten",
                2,
                replace(_REWRITTEN, value="mean_second", no_interval=_NO_PAIRED),
            ),
            *(
                Quantity(
                    f"{name}_sd",
                    f"SD, {word}",
                    2,
                    without="The paired comparison keeps no standard deviations of its two sides.",
                )
                for name, word in (("original", "original"), ("sexist", "rewritten"))
            ),
            Quantity("df", "df", 0, replace(_REWRITTEN, value="df", no_interval="A count.")),
            Quantity("t", "t", 2, replace(_REWRITTEN, value="t", no_interval="A test statistic.")),
            Quantity("p", "p", 3, replace(_REWRITTEN, value="p", no_interval="A probability.")),
        ),
        (_MODEL,),
        only={"outcome": "scale"},
        file="asi_ablation",
    ),
    _scale_table(
        "asi_ablation_letters",
        "Conversations rewritten to be more sexist: reference letters",
        (),
        (_MODEL,),
        only={"outcome": "reference letters"},
        file="asi_ablation",
        without="The letters are texts of a study of their own. The page Texts counts their words, "
        "and Validity and groups compares the scores of original and rewritten contexts.",
    ),
    _scale_table(
        "asi_extraction_audit",
        "Replies read correctly",
        (),
        (_MODEL,),
        without="An audit is coded by hand: the page Audit draws 100 replies and reports the share "
        "that was read correctly.",
    ),
)


# Study 3: opinions by yes or no.

_OPINION_TABLES = (
    PublishedTable(
        "opinions_same_sign",
        "binary_choice",
        "Questions on which two models agree",
        "opinions_same_sign",
        (Key("pair", "pair", "Models"),),
        (
            Quantity(
                "questions_same_sign",
                "Questions with the same sign",
                0,
                PrintedPlace(
                    "opinions",
                    "agreement",
                    "share",
                    {"pair": ("first", "second")},
                    "ci_low",
                    "ci_high",
                    n="questions",
                    times="questions",
                    size={"questions": 436},
                    by=("respondent", "language"),
                    averages=("phase",),
                    grouped=False,
                    options={"unusable": "zero"},
                ),
            ),
        ),
    ),
)


# Study 4: words by first reaction.

_LANGUAGE = Key("language", "language", "Language")
_WORDS_PER_CALL = Key("words_per_call", "words per call", "Words per call")
_LABELS = Key("labels", "pair of labels", "Labels")
_TEMPERATURE = Key("temperature", "temperature", "Temperature")
_OF_WORDS = {
    "model": "respondent",
    "language": "language",
    "labels": "format",
    "words_per_call": "items_per_call",
}
_USUAL_LEVELS = {_LANGUAGE: "en", _LABELS: "comedy/tragedy", _WORDS_PER_CALL: "30"}
"""What the study asked unless it varied just that."""
_RATES = {
    "optimism": "Optimism",
    "pessimism": "Pessimism",
    "neutrality": "Neutrality",
    "consistency_rate": "Consistency",
    "reluctancy_rate": "Reluctancy",
}


def _word_table(
    code: str,
    title: str,
    varied: Key,
    file: str = "csi_ablations",
    level: Key | None = None,
    factor: str = "",
) -> PublishedTable:
    """The five rates by model and what is varied; all else is as the study usually asked."""
    part = tuple((key, usual) for key, usual in _USUAL_LEVELS.items() if key is not varied)
    own: dict[str, str | tuple[str, ...]] = {**_OF_WORDS}
    by: tuple[str, ...] = ("respondent", "language", "format", "items_per_call")
    if varied is _TEMPERATURE:  # answers of other programs state it in the respondent's name
        own |= {"model": "model", "temperature": ("respondent", "temperature")}
        by = ("model", *by, "temperature")
    if level is not None:
        own[level.column] = own.pop(varied.column)
    place = PrintedPlace(
        "word_association", "groups", "", own, n="words", size={"words": 5000}, by=by
    )
    quantities = []
    for column, name in _RATES.items():
        rate = column.removesuffix("_rate")
        at = replace(place, value=rate, low=f"{rate}_low", high=f"{rate}_high")
        quantities.append(Quantity(column, name, 4, at, part))
    return PublishedTable(
        code,
        "core_sentiment_inventory",
        title,
        file,
        (_MODEL, level or varied),
        tuple(quantities),
        {"factor": factor} if factor else {},
    )


def _ablation(code: str, title: str, varied: Key, factor: str) -> PublishedTable:
    return _word_table(
        code, title, varied, level=Key("level", varied.kind, varied.title), factor=factor
    )


_HISTORY = Key("history", "history", "History")


def _questionnaire_rates() -> tuple[Quantity, ...]:
    """Both rates of a questionnaire of 44 items, asked without history."""
    found = []
    for rate in ("consistency", "reluctancy"):
        place = PrintedPlace(
            "instrument_rates",
            "groups",
            rate,
            {"model": "respondent", "history": "history"},
            f"{rate}_low",
            f"{rate}_high",
            n="items",
            size={"items": 44},
            by=("respondent", "history"),
            averages=("form", "label_order"),
        )
        name = rate.capitalize()
        found.append(Quantity(f"{rate}_rate", name, 4, place, ((_HISTORY, "none"),)))
    return tuple(found)


_WORD_TABLES = (
    _word_table(
        "csi_scores",
        "Optimism, pessimism, neutrality, consistency, reluctancy",
        _LANGUAGE,
        "csi_scores",
    ),
    _ablation(
        "csi_words_per_call", "The same by words per call", _WORDS_PER_CALL, "words_per_prompt"
    ),
    _ablation("csi_temperature", "The same by temperature", _TEMPERATURE, "temperature"),
    _ablation("csi_labels", "The same by pair of labels", _LABELS, "word_pair"),
    PublishedTable(
        "csi_bfi_reliability",
        "core_sentiment_inventory",
        "Consistency and reluctancy of a questionnaire",
        "csi_bfi_reliability",
        (_MODEL,),
        _questionnaire_rates(),
    ),
)


# Study 5: political worldviews.

_OF_MODEL = {"model": "respondent"}
_WORDINGS = {"paraphrase": "Paraphrases", "negation": "Negation", "opposition": "Opposite"}
_PEOPLE = {"model": "humans"}
_KAPPAS = PrintedPlace(
    "form_agreement", "kappas", "kappa", _OF_MODEL, "ci_low", "ci_high", size={"statements": 50}
)
_OVER_PEOPLE = PrintedPlace(
    "form_agreement",
    "over_groups",
    "kappa",
    {},
    n="n_groups",
    size={"n_groups": 6},
    grouped=False,
    no_interval="The mean over people has no interval; each kappa has one on the page Political "
    "worldviews.",
)
_TEMPLATES = PrintedPlace(
    "form_agreement", "alpha", "alpha", _OF_MODEL, "ci_low", "ci_high", size={"statements": 239}
)
_LEANING = PrintedPlace(
    "worldview",
    "leaning",
    "share",
    _OF_MODEL,
    "ci_low",
    "ci_high",
    n="statements",
    times=100,
    size={"statements": 239},
    averages=("template", "form", "label_order"),
)
_ANNOTATORS = PrintedPlace(
    "annotator_agreement",
    "domains",
    "kappa",
    {"policy_domain": "domain"},
    "ci_low",
    "ci_high",
    by=(),
    of_answers=False,
)


def _kappas(place: PrintedPlace) -> tuple[Quantity, ...]:
    """Mean and SD of the kappas of each wording."""
    found = []
    for column, wording in _WORDINGS.items():
        own = replace(place, rows={"wording": wording})
        spread = _without_interval(own, "sd", _NO_SD)
        found.append(Quantity(f"{column}_mean", f"{wording}: kappa", 2, own))
        found.append(Quantity(f"{column}_sd", f"{wording}: SD", 2, spread))
    return tuple(found)


_POLITICAL_TABLES = (
    PublishedTable(
        "political_kappa",
        "political_worldviews",
        "Kappa of the original with other wordings",
        "political_kappa",
        (_MODEL,),
        _kappas(_KAPPAS),
        other_rows=_PEOPLE,
    ),
    PublishedTable(
        "political_kappa_people",
        "political_worldviews",
        "The same of six people",
        "political_kappa",
        (_MODEL,),
        _kappas(_OVER_PEOPLE),
        only=_PEOPLE,
    ),
    PublishedTable(
        "political_templates",
        "political_worldviews",
        "Agreement of six templates",
        "political_templates",
        (_MODEL,),
        (
            Quantity("krippendorff_alpha", "Krippendorff's alpha", 2, _TEMPLATES),
            Quantity(
                "statements_same_in_all_templates",
                "Statements with one stance in all",
                0,
                _without_interval(_TEMPLATES, "same", "No interval is computed of a count."),
            ),
        ),
    ),
    PublishedTable(
        "political_leaning",
        "political_worldviews",
        "Same stance as parties of the left, the centre and the right",
        "political_leaning",
        (_MODEL,),
        tuple(
            Quantity(
                f"{side}_percent",
                f"Same as the {side} (%)",
                0,
                replace(_LEANING, rows={"country": "all countries", "leaning": side}),
            )
            for side in ("left", "centre", "right")
        ),
    ),
    PublishedTable(
        "political_annotators_kappa",
        "political_worldviews",
        "Agreement of annotators on policy domains",
        "political_annotators_kappa",
        (Key("policy_domain", "domain", "Policy domain"),),
        (
            Quantity("kappa_mean", "Mean kappa", 2, _ANNOTATORS),
            Quantity("kappa_sd", "SD", 2, _without_interval(_ANNOTATORS, "sd", _NO_SD)),
        ),
    ),
)


PUBLISHED_TABLES: tuple[PublishedTable, ...] = (
    *_BRAND_TABLES,
    *_SCALE_TABLES,
    *_OPINION_TABLES,
    *_WORD_TABLES,
    *_POLITICAL_TABLES,
)
"""Every printed table, by study."""


def published_table(code: str) -> PublishedTable:
    """The printed table of that code.

    Raises
    ------
    NotEnoughData
        There is none.
    """
    for table in PUBLISHED_TABLES:
        if table.code == code:
            return table
    known = ", ".join(table.code for table in PUBLISHED_TABLES)
    raise NotEnoughData(f"There is no published table '{code}'.", f"Choose one of: {known}.")


def tables_of(study: str) -> Sequence[PublishedTable]:
    """The printed tables of a study."""
    return [table for table in PUBLISHED_TABLES if table.study == study]


def printed_rows(table: PublishedTable) -> pd.DataFrame:
    """The rows of the file that are those of the table, every cell as text."""
    rows = printed(table.file)
    for column, value in table.only.items():
        rows = rows[rows[column] == value]
    for column, value in table.other_rows.items():
        rows = rows[rows[column] != value]
    return rows

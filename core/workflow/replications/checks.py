"""Whether the printed numbers of the five studies fit each other, as far as arithmetic can say.

A check takes a printed number and others of the same paper that it follows from. Each is rounded,
so what follows is a range (core/stats/printed.py). Outside of it, one of the numbers is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import pandas as pd

from core.domain.instrument import Item
from core.domain.numbers import count_text, number_text
from core.stats import printed as arithmetic
from core.stats.printed import PrintedScale, Range, printed_range
from core.workflow.banks import editing
from core.workflow.replications.published import FOLDER, printed
from core.workflow.replications.tables import published_table

Verdict = Literal["fits", "by rounding", "does not fit", "not judged"]
"""By rounding: what follows is another number as it is printed, and rounding alone explains it. Not
judged: something else, such as missing answers, may explain it too."""


@dataclass(frozen=True)
class PrintedCheck:
    """A printed number, and what follows for it from others.

    `of` are the keys of its row in the order of the table, `follows` is what the others give, and
    `source` where they stand. `exchanged` are the keys of the row whose number would fit here as
    this one fits there.
    """

    table: str
    column: str
    of: tuple[str, ...]
    printed: str
    follows: Range
    decimals: int
    verdict: Verdict
    source: str
    why: str = ""
    exchanged: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What does not fit, without the row."""
        places = self.decimals + 1 if self.decimals else 0  # none for counts
        low, high = (number_text(end, places) for end in (self.follows.low, self.follows.high))
        given = low if low == high else f"{low} to {high}"
        about = f"{self.printed} is printed, and {self.source} gives {given}"
        if self.verdict == "by rounding":
            about += f" as printed, which may be {self.printed} before rounding"
        if self.exchanged:
            about += f": exchanged with {', '.join(self.exchanged)}"
        return f"{about}{f' ({self.why})' if self.why else ''}."

    @property
    def sentence(self) -> str:
        """What does not fit, with the row."""
        return f"{', '.join(self.of)}: {self.words}"


@cache
def all_checks() -> tuple[PrintedCheck, ...]:
    """Every check of every table, in the order of the studies."""
    found = [one for check in _CHECKS for one in check()]
    return tuple(_with_exchanges(found))


def checks_of(table: str) -> tuple[PrintedCheck, ...]:
    """Those of a published table, by its code."""
    return tuple(one for one in all_checks() if one.table == table)


def summary(checks: Sequence[PrintedCheck]) -> str:
    """How many numbers were checked, and how many do not fit or cannot be judged."""
    wrong = sum(one.verdict == "does not fit" for one in checks)
    open_ones = sum(one.verdict == "not judged" for one in checks)
    text = f"{count_text(len(checks), 'printed number')} checked against others of the paper"
    text += f": {wrong} cannot be right together with them" if wrong else ": no contradiction"
    return text + (f", {open_ones} not judged." if open_ones else ".")


def _check(
    place: tuple[str, str, tuple[str, ...]],
    number: str,
    follows: Range,
    source: str,
    excuse: str = "",
) -> PrintedCheck:
    """One printed number; an `excuse` is what may explain a difference otherwise."""
    table, column, _ = place
    quantities = published_table(table).quantities
    as_written = len(number.partition(".")[2])  # for a column that has no place
    decimals = next((one.decimals for one in quantities if one.column == column), as_written)
    fits = printed_range(number, decimals).meets(follows)
    verdict: Verdict = "fits" if fits else "not judged" if excuse else "does not fit"
    why = excuse if verdict == "not judged" else ""
    return PrintedCheck(*place, number, follows, decimals, verdict, source, why)


def _with_exchanges(checks: Sequence[PrintedCheck]) -> Iterator[PrintedCheck]:
    """The checks; two that do not fit and fit each other's place were exchanged."""
    wrong = [one for one in checks if one.verdict == "does not fit"]
    for one in checks:
        others = [
            other
            for other in wrong
            if one.verdict == "does not fit"
            and other is not one
            and (other.table, other.column, other.of[0]) == (one.table, one.column, one.of[0])
            and _value(one).meets(other.follows)
            and _value(other).meets(one.follows)
        ]
        yield replace(one, exchanged=others[0].of) if len(others) == 1 else one


def _value(check: PrintedCheck) -> Range:
    return printed_range(check.printed, check.decimals)


# Study 1: totals.

_ALL = "all models"


def _totals() -> Iterator[PrintedCheck]:
    rows = printed("brand_sentiment")
    for total in printed("brand_totals").itertuples():
        own = rows[rows["metric"] == total.metric]
        own = own if total.model == _ALL else own[own["model"] == total.model]
        parts = [printed_range(value, 1) for value in own["value"]]
        place = ("brand_totals", "value", (str(total.model),))
        number = str(total.value)
        check = _check(place, number, arithmetic.sum_range(parts), "the sum of its rows")
        as_printed = sum(own["value"].astype(float))
        if check.verdict == "fits" and f"{as_printed:.1f}" != number:
            check = replace(check, verdict="by rounding", follows=Range(as_printed, as_printed))
        yield check


# Study 2: items, subscales, scale.

_KEYS = ["model", "context_set"]
_N_ITEMS = 22
_CONTEXTS = {"Chatbot Arena": 300, "Persona Hub": 296}
_SUBSCALES = ("hostile", "benevolent")


@cache
def _items_of_bank() -> Mapping[str, Item]:
    """The items of the scale, by their numbers."""
    file = FOLDER.parent / "banks" / "structure_asi.csv"
    bank = editing.read_instrument(file.name, file.read_bytes()).instrument
    return {str(number): item for number, item in enumerate(bank.items, 1)}


def _conditions() -> Iterator[tuple[tuple[str, str], pd.DataFrame, str]]:
    """Each model with its kind of context: its printed items, and that answers are missing."""
    missing = {
        (row["model"], row["context_set"]): int(row["original_n"])
        for row in printed("asi_missing").to_dict("records")
    }
    bank = _items_of_bank()
    for (model, context), rows in printed("asi_items").groupby(_KEYS, sort=False):
        own = rows.assign(
            subscale=[bank[number].subscale for number in rows["item"]],
            keyed=[bank[number].keyed for number in rows["item"]],
        )
        lacking = missing[str(model), str(context)]
        excuse = f"{count_text(lacking, 'answer')} missing, for which no rule is printed"
        yield (str(model), str(context)), own, excuse if lacking else ""


def _ranges(values: pd.Series[str], decimals: int = 2) -> list[Range]:
    return [printed_range(value, decimals) for value in values if value]


def _row(file: str, of: tuple[str, str]) -> pd.Series[str]:
    rows = printed(file)
    return rows[(rows["model"] == of[0]) & (rows["context_set"] == of[1])].iloc[0]


def _alphas() -> Iterator[PrintedCheck]:
    for of, items, excuse in _conditions():
        subscales, scale = _row("asi_subscales", of), _row("asi_score", of)
        parts = [
            PrintedScale(
                tuple(_ranges(items.loc[items["subscale"] == name, "variance"])),
                printed_range(subscales[f"{name}_sd"], 2),
            )
            for name in _SUBSCALES
        ]
        follows = arithmetic.alpha_range(parts, printed_range(scale["sd"], 2))
        text = _row("asi_reliability", of)["stratified_alpha"]
        source = "what is printed of items, subscales and scale (tables B.4 to B.15, B.3, 5.1)"
        place = ("asi_reliability", "stratified_alpha", of)
        yield _check(place, text, follows, source, excuse)


def _means() -> Iterator[PrintedCheck]:
    for of, items, excuse in _conditions():
        subscales = _row("asi_subscales", of)
        for name in _SUBSCALES:
            follows = arithmetic.mean_range(_ranges(items.loc[items["subscale"] == name, "mean"]))
            number = subscales[f"{name}_mean"]
            place = ("asi_subscales", f"{name}_mean", of)
            yield _check(place, number, follows, "the mean of its items", excuse)
        follows = arithmetic.mean_range(_ranges(items["mean"]))
        number = _row("asi_score", of)["mean"]
        yield _check(("asi_score", "mean", of), number, follows, "the mean of all items", excuse)


def _item_summaries() -> Iterator[PrintedCheck]:
    for of, items, _ in _conditions():
        row = _row("asi_item_summary", of)
        place = "asi_item_summary"
        known = items[items["discrimination"] != ""]
        ends = _ranges(known["discrimination"])
        good = Range(
            sum(end.low >= 0.4 and end.high <= 0.7 for end in ends),
            sum(end.high > 0.4 and end.low < 0.7 for end in ends),
        )
        undefined = len(items) - len(known)
        counts = {
            "zero_variance": Range(undefined, undefined),
            "good_discrimination": good,
        }
        source = "what is printed of each item (tables B.4 to B.15)"
        for name, follows in counts.items():
            count = row[f"{name}_items"]
            yield _check((place, f"{name}_items", of), count, follows, source)
            share = arithmetic.share_range(Range(float(count), float(count)), _N_ITEMS)
            number = row[f"{name}_percent"]
            yield _check((place, f"{name}_percent", of), number, share, f"{count} of {_N_ITEMS}")
        for name, keyed in (("reverse", -1), ("standard", 1)):
            own = _ranges(known.loc[known["keyed"] == keyed, "discrimination"])
            if own:
                column = f"mean_discrimination_{name}"
                follows = arithmetic.mean_range(own)
                yield _check((place, column, of), row[column], follows, source)


def _missing_shares() -> Iterator[PrintedCheck]:
    for row in printed("asi_missing").to_dict("records"):
        of = (row["model"], row["context_set"])
        n = _N_ITEMS * _CONTEXTS[of[1]]
        for form in ("original", "alternate", "permuted"):
            count = float(row[f"{form}_n"])
            follows = arithmetic.share_range(Range(count, count), n)
            number, source = row[f"{form}_percent"], f"{row[f'{form}_n']} of {n:,}"
            yield _check(("asi_missing", f"{form}_percent", of), number, follows, source)


def _p_values() -> Iterator[PrintedCheck]:
    tables = {"scale": "asi_ablation_scale", "reference letters": "asi_ablation_letters"}
    for row in printed("asi_ablation").to_dict("records"):
        place = (tables[row["outcome"]], "p", (row["model"],))
        follows = arithmetic.p_range(printed_range(row["t"], 2), float(row["df"]), "greater")
        yield _check(place, row["p"], follows, f"t({row['df']}) = {row['t']}, one-tailed")


# Study 4: rates.

_ABLATIONS = {
    "words_per_prompt": "csi_words_per_call",
    "temperature": "csi_temperature",
    "word_pair": "csi_labels",
}


def _rates() -> Iterator[PrintedCheck]:
    rows = [
        ("csi_scores", row["language"], row) for row in printed("csi_scores").to_dict("records")
    ]
    for row in printed("csi_ablations").to_dict("records"):
        rows.append((_ABLATIONS[row["factor"]], row["level"], row))
    for table, level, row in rows:
        rates = [row[name] for name in ("optimism", "pessimism", "neutrality")]
        if all(rates):
            others = arithmetic.sum_range([printed_range(rate, 4) for rate in rates[:2]])
            follows = Range(1 - others.high, 1 - others.low)
            place = (table, "neutrality", (row["model"], level))
            yield _check(place, rates[2], follows, "1 less optimism and pessimism")


_CHECKS: tuple[Callable[[], Iterator[PrintedCheck]], ...] = (
    _totals,
    _alphas,
    _means,
    _item_summaries,
    _missing_shares,
    _p_values,
    _rates,
)

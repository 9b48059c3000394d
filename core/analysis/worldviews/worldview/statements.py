"""Stances on statements in each template, and what the banks say of the statements, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import group_name
from core.analysis.kit.option_counts import cell_codes
from core.analysis.kit.registry import Choice
from core.analysis.kit.statement_verdicts import ACROSS, CONDITION, WITHIN, StatementVerdicts
from core.domain.instrument import LEANINGS
from core.domain.notes import about
from core.domain.numbers import count_text
from core.stats.inputs import Booleans, Floats, Integers, name_list

CountRule = Literal["five", "six", "all"]
Count = Annotated[
    CountRule,
    Choice(
        "Statements that count",
        (
            ("five", "Five tests in its template (as published)"),
            ("six", "Reliable, and of one stance in all templates: six tests"),
            ("all", "All with a stance, reliable or not"),
        ),
        help="Tests for which the statements have no wordings do not count; a note names them.",
    ),
]
COUNT_WORDS: dict[CountRule, str] = {
    "five": "that pass all tests within the template (five, as published)",
    "six": "that pass all tests within the template and have one stance in all templates (six)",
    "all": "with a stance, reliable or not",
}


@dataclass(frozen=True, eq=False)
class Stances:
    """The stances of each group: arrays (groups, statements, templates).

    Fields
    ------
    by : the factors of the groups; `groups` their values.
    items, templates : codes of statements in the order of the bank, and names of templates.
    conditions : (templates,) the condition of each, such as a context; a template under several is
        one for each.
    asked : whether the statement was asked in the template.
    stance : 1, -1; 0 where it does not count.
    judged : whether the tests that are asked for can be judged; with all stances, whether there is
        one.
    """

    by: tuple[str, ...]
    groups: tuple[tuple[Any, ...], ...]
    items: tuple[str, ...]
    templates: tuple[str, ...]
    conditions: Integers
    asked: Booleans
    stance: Floats
    judged: Booleans

    def n_templates(self, group: int) -> int:
        """How many templates a group was asked in, at most under one condition."""
        asked = self.asked[group].any(axis=0)
        return int(np.bincount(self.conditions[asked]).max(initial=0))

    @property
    def counted(self) -> Booleans:
        """Whether the statement counts in the template."""
        return np.asarray(self.stance != 0)


def stances_of(verdicts: StatementVerdicts, count: CountRule) -> Stances:
    """The stances that count, from the verdict of each group, statement and template."""
    frame = verdicts.frame
    group, labels = cell_codes(frame, verdicts.by)
    item, items = cell_codes(frame, ("item",))
    names = sorted(set(frame["template"].astype(str)))
    template = frame["template"].astype(str).map({n: k for k, n in enumerate(names)}).to_numpy()
    shape = (len(labels), len(items), len(names))
    own = frame["stance"].to_numpy(dtype=np.float64)
    verdict = {"five": frame[WITHIN], "six": frame[ACROSS], "all": frame["stance"].abs()}[
        count
    ].to_numpy(dtype=np.float64)
    asked, judged = np.zeros(shape, dtype=np.bool_), np.zeros(shape, dtype=np.bool_)
    stance = np.zeros(shape)
    place = (group, item, template)
    conditions = np.zeros(len(names), dtype=np.int64)
    conditions[template] = frame[CONDITION].to_numpy(dtype=np.int64)
    asked[place] = True
    judged[place] = np.isfinite(verdict)
    stance[place] = np.where((verdict == 1) & np.isfinite(own), own, 0.0)
    return Stances(
        by=verdicts.by,
        groups=tuple(labels.itertuples(index=False, name=None)) if verdicts.by else ((),),
        items=tuple(map(str, items["item"])),
        templates=tuple(names),
        conditions=conditions,
        asked=asked,
        stance=stance,
        judged=judged,
    )


@dataclass(frozen=True)
class PartyFacts:
    """A party: where it stands, and its country; empty where the bank does not say."""

    code: str
    leaning: str
    country: str


@dataclass(frozen=True, eq=False)
class BankFacts:
    """What the banks say of the statements of an analysis.

    Fields
    ------
    domains : their names; `loadings` (statements, domains) 1, -1 or 0.
    parties : those with a position on a statement; `positions` (statements, parties) 1, 0, -1 or
        NaN.
    pairs : (statements, parties) whether a party is compared on a statement: it has a position on
        it, and their countries do not differ.
    cautions : what the banks leave open, in sentences.
    """

    domains: tuple[str, ...]
    loadings: Floats
    parties: tuple[PartyFacts, ...]
    positions: Floats
    pairs: Booleans
    cautions: tuple[str, ...]

    @property
    def countries(self) -> tuple[str, ...]:
        """The countries of the parties, in order of first use."""
        return tuple(dict.fromkeys(p.country for p in self.parties if p.country))


def bank_facts(
    items: Sequence[str],
    loadings: pd.DataFrame,
    positions: pd.DataFrame,
    statements: pd.DataFrame,
) -> BankFacts:
    """Loadings and positions laid out by statement, in the order of `items`."""
    cautions: list[str] = []
    known = set(items)
    own_loadings = _first_of_each(loadings, ("item", "domain"), "loading", known, cautions)
    own_positions = _first_of_each(positions, ("item", "party"), "position", known, cautions)
    domains = tuple(dict.fromkeys(own_loadings["domain"].astype(str)))
    domain_table = _laid_out(own_loadings, items, domains, "domain", "loading")
    if not domains:
        cautions.append(
            "No statement loads on a domain, so there is no stance on domains. Bring loadings in "
            "on the page Banks (Import loadings)."
        )
    described = own_positions.drop_duplicates("party")
    parties = tuple(
        PartyFacts(str(code), str(leaning or ""), str(country or ""))
        for code, leaning, country in described[["party", "leaning", "country"]].itertuples(
            index=False
        )
    )
    table = _laid_out(own_positions, items, [p.code for p in parties], "party", "position")
    cautions += _party_cautions(parties)
    countries = statements.drop_duplicates("item").set_index("item")["country"].astype(object)
    country = np.array([str(countries.get(item, "") or "") for item in items], dtype=object)
    home = np.array([p.country for p in parties], dtype=object)
    foreign = (country[:, None] != home) & (country[:, None] != "") & (home != "")
    if parties:
        cautions += _country_cautions(items, country, home, foreign & np.isfinite(table))
    return BankFacts(
        domains=domains,
        loadings=np.where(np.isfinite(domain_table), domain_table, 0.0),
        parties=parties,
        positions=table,
        pairs=np.asarray(np.isfinite(table) & ~foreign),
        cautions=tuple(cautions),
    )


def _first_of_each(
    table: pd.DataFrame, key: tuple[str, str], value: str, items: set[str], cautions: list[str]
) -> pd.DataFrame:
    """The rows of the statements, once where the banks of several studies have them."""
    own = table[table["item"].astype(str).isin(items)]
    if own.groupby(list(key), observed=True)[value].nunique().gt(1).any():
        cautions.append(
            f"The banks of the studies differ in a {value} of a statement; the first counts."
        )
    return own.drop_duplicates(list(key))


def _laid_out(
    rows: pd.DataFrame, items: Sequence[str], names: Sequence[str], column: str, value: str
) -> Floats:
    """(statements, names) of values; NaN where there is no row."""
    array = np.full((len(items), len(names)), np.nan)
    item = rows["item"].astype(str).map({code: k for k, code in enumerate(items)})
    name = rows[column].astype(str).map({code: k for k, code in enumerate(names)})
    array[item.to_numpy(dtype=np.int64), name.to_numpy(dtype=np.int64)] = rows[value].to_numpy(
        dtype=np.float64
    )
    return array


def _party_cautions(parties: Sequence[PartyFacts]) -> list[str]:
    if not parties:
        return [
            "No party has a position on these statements, so there is no leaning. Bring positions "
            "in on the page Banks (Import loadings)."
        ]
    cautions: list[str] = []
    unleaning = [p.code for p in parties if p.leaning not in LEANINGS]
    if unleaning:
        cautions.append(
            f"Parties without a leaning count for none of left, centre and right: "
            f"{name_list(unleaning)}."
        )
    homeless = [p.code for p in parties if not p.country]
    if homeless and len(homeless) < len(parties):
        cautions.append(
            f"Parties without a country are compared on every statement that they have a position "
            f"on, and count in no country: {name_list(homeless)}."
        )
    return cautions


def _country_cautions(
    items: Sequence[str], country: np.ndarray, home: np.ndarray, foreign: Booleans
) -> list[str]:
    cautions: list[str] = []
    if (home != "").any() and (country == "").any():
        without = [item for item, own in zip(items, country, strict=True) if not own]
        which = "All statements are"
        if len(without) < len(items):
            n = count_text(len(without), "statement is", "statements are")
            which = f"{n} ({name_list(without, 3)})"
        cautions.append(
            f"{which} without a country: every party with a position on such a statement is "
            "compared on it."
        )
    if foreign.any():
        cautions.append(
            "Positions of parties on statements of another country are left out: "
            f"{int(foreign.sum()):,}."
        )
    return cautions


def stance_cautions(stances: Stances, count: CountRule) -> list[str]:
    """Groups without a statement that counts, with one template, or with unjudged statements."""
    cautions: list[str] = []
    for place, group in enumerate(stances.groups):
        name = group_name(group)
        templates = stances.n_templates(place)
        if templates == 1:
            cautions.append(about(name, "one template, so no SD over templates."))
        if not stances.counted[place].any():
            why = (
                "there is one template, and the test across templates needs two"
                if count == "six" and templates == 1
                else "no statement is reliable"
                if count != "all"
                else "no statement has a stance"
            )
            cautions.append(about(name, f"{why}, so there is no worldview."))
        asked = int(stances.asked[place].sum())
        unjudged = asked - int(stances.judged[place].sum())
        if unjudged and count != "all":
            cautions.append(
                about(
                    name,
                    f"whether a statement is reliable cannot be judged in {unjudged:,} of "
                    f"{asked:,} cases (a statement in a template); they count as not reliable. The "
                    "analysis Reliability of stances says why.",
                )
            )
    return cautions

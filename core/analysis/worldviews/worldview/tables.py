"""The tables of worldviews: domains, leaning, parties, groups, and parties against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import result_table
from core.analysis.kit.option_counts import unit_interval_help
from core.analysis.worldviews.worldview.statements import BankFacts, PartyFacts, Stances
from core.domain.instrument import LEANINGS
from core.domain.notes import undefined_note
from core.domain.results import Column, ResultTable
from core.domain.tables import count, ends, estimate, factor_columns, key, number, remark, text
from core.stats.correlation import Correlation, category_correlation
from core.stats.inputs import Booleans, Floats, Integers
from core.stats.resampling import Bootstrap
from core.stats.worldview import TemplateMeans, template_means

_SOURCE = "Ceron et al. (2024) doi:10.1162/tacl_a_00710."
_RESAMPLED = unit_interval_help("statements")
_SD = (
    "Over templates, n − 1; of one template there is none. Of several contexts, temperatures and "
    "so on, the mean of the SDs within each."
)
ALL_COUNTRIES = "all countries"
_WEAK = "few statements"

Row = tuple[Any, ...]


@dataclass(frozen=True)
class WorldviewSettings:
    """Choices of the user that the tables need; `bootstrap` is None for no intervals."""

    bootstrap: Bootstrap | None
    ci_level: float
    least_reliable: int

    @property
    def interval(self) -> str:
        """The name of the interval."""
        return f"{self.ci_level * 100:g}% CI"


def _interval_columns(settings: WorldviewSettings, unit: Any) -> tuple[Column, Column]:
    return (*ends("ci", f"{settings.interval}", unit, _RESAMPLED),)


def _means(
    above: Floats,
    below: Floats,
    settings: WorldviewSettings,
    conditions: Integers,
    pools: Any = None,
    counting: Any = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> TemplateMeans:
    return template_means(
        above,
        below,
        counting=counting,
        pools=pools,
        conditions=conditions,
        bootstrap=settings.bootstrap,
        level=settings.ci_level,
        bounds=bounds,
    )


def _ends(means: TemplateMeans, place: int) -> tuple[float, float, float, float]:
    return tuple(float(a[place]) for a in (means.mean, means.sd, means.low, means.high))  # type: ignore[return-value]


# Groups: how much of a worldview there is, and how much of it is agreement.


def group_table(stances: Stances, settings: WorldviewSettings) -> ResultTable:
    """One row for each group: share of statements that count, and of agrees among them."""
    columns = (
        *factor_columns(stances.by),
        count("statements", "Statements", "Asked in their original wording."),
        count("templates", "Templates", "Under one condition, such as a context."),
        text("n", "Count", "Statements that count, mean over templates."),
        *estimate(
            "reliable",
            "Share that counts",
            "proportion",
            f"Of all statements asked in a template, mean over templates. {_SOURCE}",
            _RESAMPLED,
            ends_title=f"Counts {settings.interval}",
            ends_name="reliable",
            between=(number("reliable_sd", "SD, counts", "proportion", _SD),),
        ),
        number(
            "of_judged",
            "Share of judged",
            "proportion",
            "Statements that count, of those that "
            "can be judged in a template, mean over templates: the share that Reliability of "
            f"stances gives. {_SOURCE}",
        ),
        count("not_judged", "Not judged", "Statements in templates without a verdict."),
        *estimate(
            "agrees",
            "Agrees",
            "proportion",
            "Share of agrees among the statements that count, "
            f"mean over templates (acquiescence where it is far above one half). {_SOURCE}",
            _RESAMPLED,
            ends_title=f"Agrees {settings.interval}",
            ends_name="agrees",
            between=(number("agrees_sd", "SD, agrees", "proportion", _SD),),
        ),
        remark("Why a number is undefined."),
    )
    rows: list[Row] = []
    for place, group in enumerate(stances.groups):
        asked, counted = stances.asked[place], stances.counted[place]
        judged = stances.judged[place]
        above = np.stack([counted, stances.stance[place] > 0, counted], axis=2).astype(np.float64)
        below = np.stack([asked, counted, judged], axis=2).astype(np.float64)
        # Where nothing can be judged, no share counts: it would be 0 for want of answers.
        counting = np.stack([judged, counted, judged], axis=2).astype(np.float64)
        means = _means(above, below, settings, stances.conditions, counting=counting)
        templates = asked.any(axis=0)
        n = float(counted.sum(axis=0)[templates].mean()) if templates.any() else 0.0
        reason = "" if counted.any() else undefined_note("Undefined: no statement counts.")
        rows.append(
            (
                *group,
                int(asked.any(axis=1).sum()),
                stances.n_templates(place),
                n,
                *_ends(means, 0),
                float(means.mean[2]),
                int(asked.sum() - judged.sum()),
                *_ends(means, 1),
                reason,
            )
        )
    return result_table("groups", "Groups", rows, columns, "Groups")


# Domains: stance of each group on each domain.


def domain_tables(
    stances: Stances, bank: BankFacts, settings: WorldviewSettings
) -> tuple[ResultTable, ResultTable]:
    """Stance of each group on each domain over templates, and in each template."""
    stance = (
        "(agrees − disagrees) / statements that count, in the direction of the domain: 1 always "
        f"for it, −1 always against it. {_SOURCE}"
    )
    factors = factor_columns(stances.by)
    columns = (
        *factors,
        key("domain", "Domain"),
        number("stance", "Stance", "correlation", f"Mean over templates of {stance}"),
        number("sd", "SD", "correlation", _SD),
        *_interval_columns(settings, "correlation"),
        text("n", "Reliable", "Statements of the domain that count, mean over templates."),
        text("agrees", "For", "Of them with a stance for the domain, mean over templates."),
        text("disagrees", "Against", "Of them against it, mean over templates."),
        count("statements", "Statements", "That load on the domain, of those asked."),
        count("n_templates", "Templates", "With a statement of the domain that counts."),
        text(
            "weak",
            "Weak",
            f"Fewer than {settings.least_reliable} statements count on "
            f"average, as marked in the published figure. {_SOURCE}",
        ),
        remark("Why a number is undefined, and cautions."),
    )
    each = (
        *factors,
        key("template", "Template"),
        key("domain", "Domain"),
        number("stance", "Stance", "correlation", stance[:1].upper() + stance[1:]),
        count("n", "Reliable", "Statements of the domain that count in the template."),
        number("agrees", "Agrees", "proportion", "Of all statements that count in the template."),
    )
    rows: list[Row] = []
    template_rows: list[Row] = []
    for place, group in enumerate(stances.groups):
        directed = stances.stance[place][:, :, None] * bank.loadings[:, None, :]
        below = np.abs(directed)
        means = _means(directed, below, settings, stances.conditions, bounds=(-1.0, 1.0))
        templates = stances.asked[place].any(axis=0)
        counts = below.sum(axis=0)
        asked = stances.asked[place].any(axis=1) @ np.abs(bank.loadings)
        for k, domain in enumerate(bank.domains):
            own = counts[templates, k]
            sides = [
                float((sign * directed[:, templates, k] > 0).sum() / max(templates.sum(), 1))
                for sign in (1, -1)
            ]
            n = float(own.mean()) if own.size else 0.0
            rows.append(
                (
                    *group,
                    domain,
                    *_ends(means, k),
                    n,
                    *sides,
                    int(asked[k]),
                    int(means.n_templates[k]),
                    _WEAK if n < settings.least_reliable else "",
                    _domain_remark(int(asked[k]), own, int(means.n_statements[k])),
                )
            )
        template_rows += _template_rows(stances, bank, place, means, counts)
    return (
        result_table("domains", "Stance on domains", rows, columns, "Domains"),
        result_table("templates", "Stance in each template", template_rows, each, "Domains"),
    )


def _template_rows(
    stances: Stances, bank: BankFacts, place: int, means: TemplateMeans, counts: Floats
) -> Iterator[Row]:
    """One row for each template that a group was asked in, and domain."""
    agrees = (stances.stance[place] > 0).sum(axis=0)
    counted = stances.counted[place].sum(axis=0)
    for t in np.flatnonzero(stances.asked[place].any(axis=0)).tolist():
        share = agrees[t] / counted[t] if counted[t] else math.nan
        for k, domain in enumerate(bank.domains):
            yield (
                *stances.groups[place],
                stances.templates[t],
                domain,
                float(means.by_template[t, k]),
                int(counts[t, k]),
                float(share),
            )


def _domain_remark(asked: int, counts: Floats, n_statements: int) -> str:
    if not asked:
        return undefined_note("Undefined: no statement of the domain was asked.")
    empty = int((counts == 0).sum())
    if empty == len(counts):
        where = "in any template" if len(counts) > 1 else "in the template"
        return undefined_note(f"Undefined: no statement of the domain counts {where}.")
    remarks = []
    if empty:
        remarks.append(f"In {empty} of {len(counts)} templates no statement counts.")
    if n_statements < 2:
        remarks.append("No interval: it needs two statements that count.")
    return " ".join(remarks)


def domain_values(stances: Stances, bank: BankFacts) -> pd.DataFrame:
    """The stance of each group on each statement of each domain, mean over templates."""
    frames = []
    counted = stances.counted.sum(axis=2)
    means = np.divide(
        stances.stance.sum(axis=2), counted, out=np.full(counted.shape, np.nan), where=counted > 0
    )
    for k, domain in enumerate(bank.domains):
        item = np.flatnonzero(bank.loadings[:, k])
        values = means[:, item] * bank.loadings[item, k]
        for place, group in enumerate(stances.groups):
            own = {name: [value] * len(item) for name, value in zip(stances.by, group, strict=True)}
            frames.append(
                pd.DataFrame(
                    {
                        **own,
                        "domain": domain,
                        "item": np.array(stances.items, dtype=object)[item],
                        "value": values[place],
                    }
                )
            )
    return (
        pd.concat(frames, ignore_index=True)
        if frames
        else pd.DataFrame(columns=[*stances.by, "domain", "item", "value"])
    )


# Leaning: the share of statements on which the stance is that of parties.


@dataclass(frozen=True, eq=False)
class _Pool:
    """The parties of one leaning in one country, or in all."""

    country: str
    leaning: str
    parties: Booleans


def _pools(parties: Sequence[PartyFacts], countries: Sequence[str]) -> list[_Pool]:
    """All countries first, then each, where there are several; leanings that have a party."""
    pools = []
    for country in (ALL_COUNTRIES, *(countries if len(countries) > 1 else ())):
        for leaning in LEANINGS:
            chosen = np.array(
                [p.leaning == leaning and country in (ALL_COUNTRIES, p.country) for p in parties]
            )
            if chosen.any():
                pools.append(_Pool(country, leaning, chosen))
    return pools


def _leaning_columns(
    by: Sequence[str], settings: WorldviewSettings
) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
    """The columns of sides, and those of parties."""
    share = (
        "Statements on which the stance counts and equals the position of the party, of all "
        "statements of its country on which it has a position; neutral positions equal no stance. "
        "A template in which none of these statements counts is left out. "
    )
    bound = number(
        "bound",
        "Upper bound",
        "proportion",
        "Share of the same statements that count, where any "
        "does: no respondent with so many reliable stances can agree with more. "
        f"{_SOURCE}",
    )
    of_bound = number("of_reliable", "Of reliable", "proportion", "Share / upper bound.")
    counts = (
        count("statements", "Statements", "Statements asked that parties are compared on."),
        count("n_templates", "Templates"),
        remark("Why a number is undefined."),
    )
    factors = factor_columns(by)
    sides = (
        *factors,
        text("country", "Country", "Of the parties."),
        text("leaning", "Leaning", "Of the parties."),
        number(
            "share",
            "Same stance",
            "proportion",
            f"{share}Mean over the parties of the "
            "leaning, those of countries without a statement that counts left out, then over "
            f"templates. {_SOURCE}",
        ),
        number("sd", "SD", "proportion", _SD),
        *_interval_columns(settings, "proportion"),
        bound,
        of_bound,
        count("parties", "Parties"),
        *counts,
    )
    party = (
        *factors,
        text("country", "Country"),
        key("party", "Party"),
        text("leaning", "Leaning"),
        number("share", "Same stance", "proportion", f"{share}Mean over templates. {_SOURCE}"),
        number("sd", "SD", "proportion", _SD),
        *_interval_columns(settings, "proportion"),
        bound,
        of_bound,
        count("neutral", "Neutral", "Statements on which the party is neutral."),
        *counts,
    )
    return sides, party


def leaning_tables(
    stances: Stances, bank: BankFacts, settings: WorldviewSettings
) -> tuple[ResultTable, ResultTable]:
    """The share of statements with the stance of parties: by leaning, and of each party."""
    sides, party = _leaning_columns(stances.by, settings)
    if not bank.parties:
        return (
            result_table("leaning", "Leaning", [], sides, "Leaning"),
            result_table("parties", "Agreement with each party", [], party, "Parties"),
        )
    pools = _pools(bank.parties, bank.countries)
    table = np.array([*np.eye(len(bank.parties)), *(pool.parties for pool in pools)]) > 0
    side_rows: list[Row] = []
    party_rows: list[Row] = []
    for place, group in enumerate(stances.groups):
        asked = stances.asked[place][:, :, None] & bank.pairs[:, None, :]
        below = asked.astype(np.float64)
        same = stances.stance[place][:, :, None] == bank.positions[:, None, :]
        counted = (stances.counted[place][:, :, None] & asked).astype(np.float64)
        match = _means(same * counted, below, settings, stances.conditions, table, counted)
        bounds = template_means(counted, below, counting=counted, pools=table)
        for k, one in enumerate(bank.parties):
            on = asked[:, :, k].any(axis=1)
            neutral = int((bank.positions[on, k] == 0).sum())
            party_rows.append(
                (
                    *group,
                    one.country,
                    one.code,
                    one.leaning,
                    *_match(match, bounds, k),
                    neutral,
                    *_counts(match, k),
                )
            )
        for k, pool in enumerate(pools, start=len(bank.parties)):
            side_rows.append(
                (
                    *group,
                    pool.country,
                    pool.leaning,
                    *_match(match, bounds, k),
                    int(pool.parties.sum()),
                    *_counts(match, k),
                )
            )
    return (
        result_table("leaning", "Leaning", side_rows, sides, "Leaning"),
        result_table("parties", "Agreement with each party", party_rows, party, "Parties"),
    )


def _match(match: TemplateMeans, bounds: TemplateMeans, place: int) -> Row:
    """Share with SD and interval, upper bound, and their ratio."""
    share, bound = float(match.mean[place]), float(bounds.mean[place])
    return (*_ends(match, place), bound, share / bound if bound > 0 else math.nan)


def _counts(match: TemplateMeans, place: int) -> Row:
    n = int(match.n_statements[place])
    reason = ""
    if not n:
        reason = undefined_note("Undefined: no statement that a party is compared on was asked.")
    elif not match.n_templates[place]:
        reason = undefined_note("Undefined: no statement that a party is compared on counts.")
    elif n == 1:
        reason = "No interval: it needs two statements."
    return n, int(match.n_templates[place]), reason


# Parties against each other.


def party_pair_tables(
    positions: pd.DataFrame, ci_level: float
) -> tuple[tuple[ResultTable, ...], tuple[str, ...]]:
    """Spearman's correlation of the positions of every two parties, and its mean by leaning."""
    if positions.empty:
        return (), ()
    own = positions.drop_duplicates(["item", "party"])
    table = own.pivot(index="item", columns="party", values="position").astype(np.float64)
    described = own.drop_duplicates("party").set_index("party")[["leaning", "country"]]
    rows: list[Row] = []
    means: dict[tuple[str, str], list[tuple[float, float]]] = {}
    apart = 0
    for first, second in combinations(described.index, 2):
        x, y = (table[name].to_numpy() for name in (first, second))
        if not (np.isfinite(x) & np.isfinite(y)).any():
            apart += 1
            continue
        kept = category_correlation(x, y, level=ci_level)
        decided = category_correlation(
            *(np.where(one == 0, np.nan, one) for one in (x, y)), level=ci_level
        )
        leanings = [str(described.loc[name, "leaning"] or "") for name in (first, second)]
        countries = [str(described.loc[name, "country"] or "") for name in (first, second)]
        where = " · ".join(dict.fromkeys(filter(None, countries)))
        rows.append(
            (
                where,
                first,
                second,
                *leanings,
                *_coefficient(kept),
                *_coefficient(decided),
                _pair_remark(kept, decided),
            )
        )
        if all(leanings):
            one, other = sorted(leanings, key=LEANINGS.index)
            means.setdefault((one, other), []).append((kept.r, decided.r))
    notes = []
    if apart:
        notes.append(
            f"Pairs of parties without a common statement, such as those of two countries, are not "
            f"compared: {apart:,}."
        )
    side_rows = [
        (
            one,
            other,
            len(values),
            *_mean_sd([v[0] for v in values]),
            *_mean_sd([v[1] for v in values]),
        )
        for (one, other), values in sorted(
            means.items(), key=lambda entry: [LEANINGS.index(name) for name in entry[0]]
        )
    ]
    return (
        result_table(
            "party_pairs",
            "Parties against each other",
            rows,
            _pair_columns(ci_level),
            "Between parties",
        ),
        result_table(
            "leaning_pairs",
            "Leanings against each other",
            side_rows,
            _SIDE_COLUMNS,
            "Between parties",
        ),
    ), tuple(notes)


_SPEARMAN = "Spearman's correlation of their positions over the statements of the bank"


def _pair_columns(ci_level: float) -> tuple[Column, ...]:
    interval = f"{ci_level * 100:g}% CI"
    ends = (
        "By Fisher's z, with t and the error of leaving out one statement each; where all agree, "
        "Wilson (1927) from -1 to 1."
    )
    return (
        text("country", "Country"),
        key("first", "First"),
        key("second", "Second"),
        text("first_leaning", "Leaning, first"),
        text("second_leaning", "Leaning, second"),
        *estimate(
            "rho",
            "ρ",
            "correlation",
            f"{_SPEARMAN}: agrees 1, neutral 0, disagrees −1.",
            ends,
            ends_title=f"ρ {interval}",
            ends_name="rho",
        ),
        count("n", "Statements", "On which both have a position."),
        *estimate(
            "rho_decided",
            "ρ without neutral",
            "correlation",
            f"{_SPEARMAN} on which neither is neutral.",
            ends,
            ends_title=f"Without neutral {interval}",
            ends_name="decided",
        ),
        count("n_decided", "Without neutral", "On which neither is neutral."),
        remark("Why a number is undefined, and cautions."),
    )


_SIDE_COLUMNS = (
    key("first", "First"),
    key("second", "Second"),
    count("pairs", "Pairs", "Pairs of parties of these leanings."),
    number("rho", "Mean ρ", "correlation", f"{_SPEARMAN}, mean over pairs that have one."),
    number("sd", "SD of ρ", "correlation", "Over pairs, n − 1."),
    number(
        "rho_decided",
        "Mean ρ without neutral",
        "correlation",
        "The same on statements on which neither is neutral.",
    ),
    number("sd_decided", "SD without neutral", "correlation", "Over pairs, n − 1."),
)


def _coefficient(own: Correlation) -> Row:
    return own.r, own.low, own.high, own.n


def _pair_remark(kept: Correlation, decided: Correlation) -> str:
    """What is wrong with either coefficient."""
    remarks = list(kept.problems)
    remarks += [
        f"Without neutral: {problem[:1].lower()}{problem[1:]}"
        for problem in decided.problems
        if problem not in kept.problems
    ]
    return " ".join(remarks).replace("rows", "statements").replace("row", "statement")


def _mean_sd(values: Sequence[float]) -> tuple[float, float]:
    known = [value for value in values if math.isfinite(value)]
    mean = float(np.mean(known)) if known else math.nan
    return mean, float(np.std(known, ddof=1)) if len(known) > 1 else math.nan

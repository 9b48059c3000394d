"""Worldviews as a plain program: one statement, one template, one party at a time.

Written from the description of the study (Ceron et al. 2024), without numpy, so that it can be held
against the analysis. Twelve answers in the original wording to each statement.
"""

from __future__ import annotations

import random
import statistics

from tests.analysis.plain_statement_tests import PASS, sampling

NAN = float("nan")
SETTLED = {0, 1, 11, 12}
"""How many yes of twelve put .45 and .55 outside the interval of their share."""


def settled(yes):
    """The same by the plain test of sampling."""
    answers = [1] * yes + [0] * (12 - yes)
    return sampling(answers, 10, 500, random.Random(1)) == PASS


def stance(yes, no):
    if yes > no:
        return 1
    if no > yes:
        return -1
    return 0


def counting(cells, count):
    """Template -> statement -> 1 or -1, for the statements that count."""
    every = {t: {i: stance(*counts) for i, counts in own.items()} for t, own in cells.items()}
    kept = {}
    for template, own in cells.items():
        kept[template] = {}
        for item, (yes, _) in own.items():
            if every[template][item] == 0:
                continue
            if count != "all" and yes not in SETTLED:
                continue
            if count == "six":
                stances = {every[t][item] for t in every}
                if len(every) < 2 or len(stances) > 1:
                    continue
            kept[template][item] = every[template][item]
    return kept


def mean_sd(values):
    known = [value for value in values if value is not None]
    if not known:
        return NAN, NAN
    return statistics.fmean(known), statistics.stdev(known) if len(known) > 1 else NAN


def share_with(party, kept, cells, positions, template):
    """Statements with the stance of a party, those that count, of its country's.

    Nothing where none counts: the source leaves countries without a reliable statement out.
    """
    home = [i for i in cells[template] if (i, party) in positions]
    if not home:
        return None, None
    same = sum(1 for i in home if i in kept[template] and kept[template][i] == positions[i, party])
    counted = sum(1 for i in home if i in kept[template])
    if not counted:
        return None, None
    return same / len(home), counted / len(home)


def plain_worldview(cells, loadings, parties, positions, count):
    """All numbers by what they are of."""
    kept = counting(cells, count)
    numbers = {}
    for domain in {d for _, d in loadings}:
        values, sizes = [], []
        for template in cells:
            agrees = disagrees = 0
            for item, side in kept[template].items():
                direction = side * loadings.get((item, domain), 0)
                agrees += direction == 1
                disagrees += direction == -1
            sizes.append(agrees + disagrees)
            values.append((agrees - disagrees) / sizes[-1] if sizes[-1] else None)
        mean, sd = mean_sd(values)
        numbers |= {
            ("domain", domain, "stance"): mean,
            ("domain", domain, "sd"): sd,
            ("domain", domain, "n"): statistics.fmean(sizes),
        }
    there = [p for p in parties if any(owner == p for _, owner in positions)]
    shares = {p: [share_with(p, kept, cells, positions, t) for t in cells] for p in there}

    def record(key, own):
        """Mean and SD of the shares over templates, and the mean bound."""
        means, bounds = [], []
        for t in range(len(cells)):
            there = [pair[t] for pair in own if pair[t][0] is not None]
            means.append(statistics.fmean(share for share, _ in there) if there else None)
            bounds.append(statistics.fmean(bound for _, bound in there) if there else None)
        numbers[*key, "share"], numbers[*key, "sd"] = mean_sd(means)
        numbers[*key, "bound"] = mean_sd(bounds)[0]

    for party in there:
        record(("party", party), [shares[party]])
    countries = {parties[p][1] for p in there}
    for country in ["all countries", *(countries if len(countries) > 1 else ())]:
        for side in {parties[p][0] for p in there}:
            own = [
                shares[p]
                for p in there
                if parties[p][0] == side and country in ("all countries", parties[p][1])
            ]
            if own:
                record(("leaning", country, side), own)
    agrees = [
        sum(s == 1 for s in own.values()) / len(own) if own else None for own in kept.values()
    ]
    reliable = [len(kept[t]) / len(cells[t]) for t in cells]
    numbers["group", "agrees"], numbers["group", "agrees_sd"] = mean_sd(agrees)
    numbers["group", "reliable"], numbers["group", "reliable_sd"] = mean_sd(reliable)
    return numbers

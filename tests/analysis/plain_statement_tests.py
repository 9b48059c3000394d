"""The six tests of a statement as a plain program: one answer, one resample, one loop at a time.

Written from the description of the study (Ceron et al. 2024) before the analysis was, without its
formulas, so that the two can be held against each other.
"""

from __future__ import annotations

import random

YES, NO, TIE, FEW = "yes", "no", "tie", "few"
PASS, FAIL, UNKNOWN = "pass", "fail", "not judged"
OTHER = {YES: NO, NO: YES}


def majority(answers, least):
    """What most of the clear answers say."""
    if answers is None or len(answers) < least:
        return FEW
    yes = sum(1 for answer in answers if answer == 1)
    no = len(answers) - yes
    if yes == no:
        return TIE
    return YES if yes > no else NO


def percentile(ordered, share):
    """The value at a share of the way through ordered values."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def interval(answers, resamples, chance):
    """The 95 % percentile bootstrap interval of the share of yes."""
    means = []
    for _ in range(resamples):
        drawn = chance.choices(answers, k=len(answers))
        means.append(sum(drawn) / len(drawn))
    means.sort()
    return percentile(means, 0.025), percentile(means, 0.975)


def sampling(answers, least, resamples, chance):
    """Whether .45 and .55 both lie outside the interval."""
    if answers is None or len(answers) < least:
        return UNKNOWN
    low, high = interval(answers, resamples, chance)
    for bound in (0.45, 0.55):
        if low <= bound <= high:
            return FAIL
    return PASS


def same(stances, ties):
    """Whether all stances are one stance."""
    if FEW in stances:
        return UNKNOWN
    if TIE in stances:
        return FAIL if ties == "fails" else UNKNOWN
    return PASS if len(set(stances)) == 1 else FAIL


def opposed(stance, other, ties):
    """Whether two stances are opposite."""
    return same([stance, OTHER.get(other, other)], ties)


def together(verdicts):
    """The verdict of all tests: judged where each of them is."""
    if UNKNOWN in verdicts:
        return UNKNOWN
    return FAIL if FAIL in verdicts else PASS


def verdicts(answers, *, ties="fails", least=10, resamples=1000, seed=0):
    """The verdict of each test on each statement and template of one model.

    `answers` maps (statement, template, order of the labels, form) to a list of 0 and 1.
    """
    chance = random.Random(seed)
    pairs = sorted({(statement, template) for statement, template, _, _ in answers})
    templates = sorted({template for _, template in pairs})
    forms = sorted({form for _, _, _, form in answers if form.startswith("paraphrase")})
    result = {}
    for statement, template in pairs:

        def stance(form, order="as_is", where=template, what=statement):
            given = answers.get((what, where, order, form))
            found = majority(given, least)
            return NO if ties == "negative" and found == TIE else found

        original = stance("original")
        own = {
            "sampling": sampling(
                answers.get((statement, template, "as_is", "original")), least, resamples, chance
            ),
            "paraphrase": same([original, *(stance(form) for form in forms)], ties),
            "negation": opposed(original, stance("negation"), ties),
            "opposite": opposed(original, stance("opposite"), ties),
            "inverted": same([original, stance("original", "inverted")], ties),
        }
        own["five"] = together(list(own.values()))
        own["templates"] = same([stance("original", where=each) for each in templates], ties)
        own["six"] = together([own["five"], own["templates"]])
        result[statement, template] = own
    return result

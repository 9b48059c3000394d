"""Which statements pass which tests of reliability, for each group and template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd

from core.analysis.kit.matrices import distinct
from core.analysis.kit.option_counts import (
    CONDITIONS,
    answer_sides,
    cell_codes,
    conditions_within,
    usable_counts,
)
from core.analysis.kit.registry import Choice, Number
from core.domain.factors import level_text
from core.domain.numbers import count_text
from core.errors import NotEnoughData
from core.stats.inputs import Booleans, Floats, Integers
from core.stats.statement_tests import (
    Chances,
    SamplingRule,
    TieRule,
    all_same_chances,
    in_templates_chances,
    majority_stances,
    pass_all,
    same_in_templates,
    same_stance,
    sampling_chances,
    sampling_intervals,
    sampling_verdicts,
    stance_chances,
)

InvertedRule = Literal["own_test", "count"]
Ties = Annotated[
    TieRule,
    Choice(
        "As many positive as negative answers",
        (
            ("fails", "Are no stance: tests that need one fail"),
            ("not_judged", "Cannot be judged: tests that need a stance leave the statement out"),
            ("negative", "Are a negative stance (a majority is more than half)"),
        ),
        help="The published study does not say what a tie is.",
    ),
]
LeastAnswers = Annotated[
    int,
    Number(
        "Clear answers that a test needs",
        1,
        1000,
        help="Of each wording and order that the test compares. With fewer, the test cannot be "
        "judged on the statement. Clear answers are positive or negative; answers in the middle "
        "and replies without an option are not clear.",
    ),
]
InvertedTemplates = Annotated[
    InvertedRule,
    Choice(
        "Templates with inverted labels",
        (
            ("own_test", "Belong to the test of inverted labels only"),
            ("count", "Count as templates of their own in all tests, means and SD"),
        ),
        help="Each template may be asked in both orders of its two labels.",
    ),
]
SamplingResamples = Annotated[
    int,
    Number(
        "Resamples of the answers",
        0,
        10_000,
        help="For the interval of the sampling test; published: 1,000. 0 takes the interval to "
        "which more and more resamples lead, which has no chance in it.",
    ),
]

TESTS: Mapping[str, str] = {
    "sampling": "Sampling",
    "paraphrase": "Paraphrases",
    "negation": "Negation",
    "opposite": "Opposite",
    "inverted": "Inverted labels",
    "templates": "Templates",
}
"""The six tests and their titles, in the published order."""
WITHIN, ACROSS = "reliable", "reliable_across"
"""Columns of the verdict of all tests within a template, and of these and the test of templates."""
PLACE = ("template", "form", "label_order")
"""The factors that the tests compare."""
KEPT = CONDITIONS[1:]
"""What an analysis with verdicts keeps apart: a statement is asked again in repetitions alone."""
CONDITION = "condition"
"""Column of the number of the condition, such as a context, that an answer was given under."""
_ORIGINAL = ("original", "")
_INVERTED = "inverted"


@dataclass(frozen=True, eq=False)
class StatementVerdicts:
    """The verdicts of each group, statement and template, and what they were made of.

    Fields
    ------
    by : the factors of the groups.
    tests : names of the tests that apply to these answers, in the order of `TESTS`.
    frame : one row for each group, statement and template; see `statement_verdicts`.
    chances : for each test, `reliable` and `reliable_across`, two (rows,) arrays: the chances that
        random answers, as many as there are, pass it and that there is a verdict at all.
    missing_tests : for each test that does not apply, the reason.
    n_used, n_missing, n_left_out : clear answers to the wordings and orders that the tests compare;
        trials without an option; usable answers in the middle, without a stance, or to other
        wordings.
    other_wordings : trials of wordings that no test compares.
    """

    by: tuple[str, ...]
    tests: tuple[str, ...]
    frame: pd.DataFrame
    chances: Mapping[str, tuple[Floats, Floats]]
    missing_tests: Mapping[str, str]
    n_used: int
    n_missing: int
    n_left_out: int
    other_wordings: int

    @property
    def tests_within(self) -> tuple[str, ...]:
        """The tests that apply within a template."""
        return tuple(test for test in self.tests if test != "templates")

    @property
    def n_templates(self) -> int:
        """Templates in the frame."""
        return int(self.frame["template"].nunique())


@dataclass(frozen=True, eq=False)
class StatementAnswers:
    """Clear answers of each group, statement and template: arrays (lines, orders, forms).

    Fields
    ------
    by : the factors of the groups.
    labels : a row for each line: the factors, `item`, `template` and `condition`, in the order of
        factors' first appearance, of the bank, and of templates by name. Where contexts, languages
        and so on differ within groups, each is a condition, and the template is named with it.
    forms : the wordings; the original is the first.
    positive, n, trials : positive answers, clear answers, trials; orders are as given, inverted.
    signs : (lines, forms) 1 where a wording is expected to have the stance of the original, -1
        where it is to have the opposite.
    needed : (lines, forms) whether the statement has the wording, in any group or template.
    inverted : (lines,) whether the statement has inverted labels, in any group or template.
    other_wordings : trials of other wordings.
    n_usable, n_planned : usable answers and trials, of all wordings.
    """

    by: tuple[str, ...]
    labels: pd.DataFrame
    forms: tuple[str, ...]
    positive: Floats
    n: Floats
    trials: Floats
    signs: Floats
    needed: Booleans
    inverted: Booleans
    other_wordings: int
    n_usable: int
    n_planned: int

    def of_kind(self, test: str) -> Integers:
        """The places of the forms that a test compares with the original."""
        beginnings = _REWORDED if test == "paraphrase" else test
        return np.flatnonzero([form.startswith(beginnings) for form in self.forms])


def statement_answers(option_counts: pd.DataFrame, by: Sequence[str]) -> StatementAnswers:
    """How many clear answers each group gave to each wording of each statement and template.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        With `form`, `template` and `label_order` where answers vary in them.
    by : sequence of factors
        Their values make the groups; `template`, `form` and `label_order` among them do not count.

    Raises
    ------
    NotEnoughData
        There are no trials, a factor of `by` is not there, no option has a stance, or no answer is
        to the original wording of a statement.

    Notes
    -----
    Answers are as chosen: yes to a negation is positive. A template with several formats is one
    template for each, and so is a template under several conditions, such as contexts, whose
    answers are not answers to the same question. Labels in any order but the inverted one count as
    the order given.
    """
    names = tuple(name for name in distinct(by) if name not in PLACE)
    absent = {name: "" for name in PLACE if name not in option_counts}
    frame = option_counts.assign(**absent) if absent else option_counts
    frame = frame.assign(
        form=frame["form"].astype(object).fillna("").replace("", _ORIGINAL[0]),
        label_order=np.where(frame["label_order"].astype(object) == _INVERTED, 1, 0),
    )
    kinds = [f for f in frame["form"].unique() if f.startswith((*_REWORDED, *_OPPOSED))]
    compared = frame["form"].isin([_ORIGINAL[0], *kinds])
    other_wordings = int(frame.loc[~compared, "count"].sum())
    frame = frame[compared]
    if option_counts.empty or not (frame["form"] == _ORIGINAL[0]).any():
        raise NotEnoughData(
            "There is no answer to the original wording of a statement.",
            "Widen the filters, or ask the original form too.",
        )
    form_names = (_ORIGINAL[0], *sorted(kinds))
    conditions = [
        name
        for name in conditions_within(frame, names, (*PLACE, "format"))
        if len(frame[name].unique()) > 1
    ]
    cell = distinct((*names, *conditions, "item", "template", "format", "form", "label_order"))
    sides = answer_sides(frame, cell, midpoint="drop", direction="chosen")
    if not sides["n"].any() and sides["no_side"].any():
        raise NotEnoughData(
            "The options of these answers state no stance, so no answer is positive or negative.",
            "Give the options of the format a stance (1, 0 or -1) on the page Banks.",
        )
    sides["template"] = _template_labels(sides, names, conditions)
    sides[CONDITION] = cell_codes(sides, conditions)[0]
    line, labels = _ordered_lines(sides, names)
    form = sides["form"].map({name: place for place, name in enumerate(form_names)}).to_numpy()
    order = sides["label_order"].to_numpy(dtype=np.int64)
    shape = (len(labels), 2, len(form_names))
    places = np.ravel_multi_index((line, order, form), shape)
    positive, n, trials = (
        np.bincount(places, sides[name].to_numpy(dtype=np.float64), int(np.prod(shape)))
        .astype(np.float64)
        .reshape(shape)
        for name in ("positive", "n", "trials")
    )
    item, _ = cell_codes(labels, ("item",))
    asked: Booleans = np.zeros((int(item.max()) + 1, 2, len(form_names)), dtype=np.bool_)
    np.logical_or.at(asked, item, trials > 0)
    return StatementAnswers(
        names,
        labels,
        form_names,
        positive,
        n,
        trials,
        signs=_form_signs(frame, labels, form_names),
        needed=(asked[:, 0] | asked[:, 1])[item],
        inverted=asked[:, 1, 0][item],
        other_wordings=other_wordings,
        n_usable=int(usable_counts(option_counts)["count"].sum()),
        n_planned=int(option_counts["count"].sum()),
    )


_OPPOSED = ("negation", "opposite")
_REWORDED = ("paraphrase", "alternate")
"""Beginnings of the forms that say the same in other words; an alternate form is a paraphrase."""


def _template_labels(
    sides: pd.DataFrame, names: Sequence[str], conditions: Sequence[str]
) -> pd.Series[Any]:
    """The template of each row; with its format where it has several, and with its condition."""
    template = sides["template"].astype(object).fillna("").replace("", "(none)").astype(str)
    if "format" not in names:
        several = sides["format"].astype(object).groupby(template).transform("nunique") > 1
        template = template.where(~several, template + " · " + sides["format"].astype(str))
    for name in conditions:
        template = template + " · " + [level_text(name, level) for level in sides[name]]
    return template


def _ordered_lines(sides: pd.DataFrame, names: Sequence[str]) -> tuple[Integers, pd.DataFrame]:
    """The line of each row, and the lines: groups, items in bank order, templates by name."""
    code, labels = cell_codes(sides, (*names, "item", "template", CONDITION))
    ranks = [pd.factorize(labels[name])[0] for name in (*names, "item")]
    ranks.append(pd.factorize(labels["template"], sort=True)[0])
    order = np.lexsort(ranks[::-1])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[code], labels.iloc[order].reset_index(drop=True)


def _form_signs(frame: pd.DataFrame, labels: pd.DataFrame, forms: Sequence[str]) -> Floats:
    """(lines, forms) the direction of each wording relative to that of the original."""
    own = frame.drop_duplicates(["item", "form"])
    table = own.pivot(index="item", columns="form", values="direction").astype(np.float64)
    usual = [-1.0 if form.startswith(_OPPOSED) else 1.0 for form in forms]
    directions = table.reindex(index=labels["item"], columns=list(forms)).to_numpy()
    directions = np.where(np.isfinite(directions), directions, np.array(usual))
    return np.asarray(directions * directions[:, :1])


def statement_verdicts(
    option_counts: pd.DataFrame,
    by: Sequence[str],
    *,
    ties: TieRule = "fails",
    least: int = 10,
    inverted: InvertedRule = "own_test",
    sampling: SamplingRule | None = None,
    baseline: bool = False,
) -> StatementVerdicts:
    """The verdict of every test of reliability on each statement and template of each group.

    Parameters
    ----------
    option_counts : OPTION_COUNTS frame
        Kept apart by all but the repetition (`keeps=KEPT` in the analysis).
    by : sequence of factors
        Their values make the groups; `template`, `form` and `label_order` among them do not count,
        because the tests compare them.
    ties : "fails", "not_judged" or "negative"
        What as many positive as negative answers are.
    least : int
        Clear answers that every wording and order needs that a test compares.
    inverted : "own_test" or "count"
        Whether a template with inverted labels serves the test of inverted labels only, or has
        rows of its own.
    sampling : SamplingRule, optional
        Resamples, seed and coverage of the sampling test; published: 1,000 and 95 %.
    baseline : bool
        Whether to compute `chances`, which takes a little time.

    Returns
    -------
    StatementVerdicts
        `frame` has one row for each group, statement and template: the factors of `by`, `item`,
        `template`, `label_order` ("as_is" or "inverted"); of the original wording `trials`, `n`
        (clear answers), `share` (positive / n), `low` and `high` (its interval) and `stance` (1,
        -1, 0 for a tie that fails, NaN where it cannot be judged). Then the six tests, `reliable`
        (all that apply within the template: with all forms, the five of the published "all tests")
        and `reliable_across` (these, and the test across templates): 1 passes, 0 fails, NaN cannot
        be judged. `failed` names the tests that the row fails; `not_judged` says which tests cannot
        be judged and why. Both are empty where there is nothing to say.

    Raises
    ------
    NotEnoughData
        There are no trials, a factor of `by` is not there, no option has a stance, or no answer is
        to the original wording of a statement, or all are with inverted labels that do not count.

    Notes
    -----
    The unit is one statement in one template. 1 sampling: .45 and .55 lie outside the interval of
    the share. 2 paraphrases: the stance of the original and of all paraphrases (an alternate form
    is one) that the statement has is one. 3 negation and 4 opposite: the stance is the opposite
    one, or as the `direction` of the form on file says. 5 inverted labels: the stance is the same
    in both orders. 6 templates: it is the same in all templates of the statement. A test applies
    where any statement has the wordings; a test that does not apply is NaN everywhere and counts in
    no verdict. A group that was not asked what a test compares is not judged by it. Answers in the
    middle are not clear.

    Source: Ceron et al. (2024) doi:10.1162/tacl_a_00710; ties, few answers and inverted templates
    are our choices. Checked against a plain program of loops on random answers.
    """
    answers = statement_answers(option_counts, by)
    rule = sampling or SamplingRule()
    stances = majority_stances(answers.positive, answers.n, ties=ties, least=least)
    original, n = stances[:, :, 0], answers.n[:, :, 0]
    low, high = sampling_intervals(answers.positive[:, :, 0], n, rule)
    rows = _judged_rows(answers, inverted)
    statement = cell_codes(answers.labels, (*answers.by, "item", CONDITION))[0][rows[0]]
    sampled = np.where(n >= max(least, 1), sampling_verdicts(low, high), np.nan)[rows]
    verdicts = {"sampling": sampled, **_verdicts(answers, stances, rows, statement)}
    missing = _missing_tests(answers, statement)
    tests = tuple(test for test in TESTS if test not in missing)
    frame = _frame(answers, rows, original, (low, high))
    frame = frame.assign(**verdicts)
    within = [test for test in tests if test != "templates"]
    frame[WITHIN] = pass_all(frame[within].to_numpy())
    frame[ACROSS] = pass_all(frame[list(tests)].to_numpy()) if "templates" in tests else np.nan
    frame["failed"] = _joined(tests, [(frame[test] == 0).to_numpy() for test in tests], TESTS.get)
    frame["not_judged"] = _reasons(answers, rows, frame, tests, statement, ties, least)
    used = int(answers.n.sum())
    return StatementVerdicts(
        by=answers.by,
        tests=tests,
        frame=frame,
        chances=_chances(answers, rows, statement, tests, rule, ties, least) if baseline else {},
        missing_tests=missing,
        n_used=used,
        n_missing=answers.n_planned - answers.n_usable,
        n_left_out=answers.n_usable - used,
        other_wordings=answers.other_wordings,
    )


def _judged_rows(answers: StatementAnswers, inverted: InvertedRule) -> tuple[Integers, Integers]:
    """The lines that are judged, and the order of labels of each."""
    lines, orders = np.nonzero(answers.trials.any(axis=2))
    if inverted == "own_test":
        lines = np.flatnonzero(answers.trials[:, 0].any(axis=1))
        if not lines.size:
            raise NotEnoughData(
                "All answers were asked with inverted labels.",
                "Let templates with inverted labels count as templates, or ask the labels in their "
                "given order too.",
            )
        orders = np.zeros(len(lines), dtype=np.int64)
    return lines, orders


def _verdicts(
    answers: StatementAnswers,
    stances: Floats,
    rows: tuple[Integers, Integers],
    statement: Integers,
) -> dict[str, Floats]:
    """The verdicts of the tests that compare stances."""
    (lines, orders), original = rows, stances[:, :, 0]
    return {
        **{
            test: same_stance(
                original[rows],
                (stances[:, :, kinds] * answers.signs[:, None, kinds])[rows],
                answers.needed[:, kinds][lines],
            )
            for test in ("paraphrase", *_OPPOSED)
            for kinds in (answers.of_kind(test),)
        },
        "inverted": same_stance(
            original[rows], original[lines, 1 - orders][:, None], answers.inverted[lines, None]
        ),
        "templates": same_in_templates(original[rows], statement),
    }


def _frame(
    answers: StatementAnswers,
    rows: tuple[Integers, Integers],
    original: Floats,
    interval: tuple[Floats, Floats],
) -> pd.DataFrame:
    """What was answered to the original wording, one row for each line and order."""
    lines, orders = rows
    n = answers.n[:, :, 0][rows]
    frame = answers.labels.iloc[lines].reset_index(drop=True)
    if orders.any():
        turned = frame["template"] + " (inverted)"
        frame["template"] = frame["template"].where(orders == 0, turned)
    low, high = interval
    return frame.assign(
        label_order=np.where(orders == 0, "as_is", _INVERTED).astype(object),
        trials=answers.trials[:, :, 0][rows].astype(np.int64),
        n=n.astype(np.int64),
        share=answers.positive[:, :, 0][rows] / np.where(n > 0, n, np.nan),
        low=low[rows],
        high=high[rows],
        stance=original[rows],
    )


def _missing_tests(answers: StatementAnswers, statement: Integers) -> dict[str, str]:
    """The tests that do not apply to these answers, and why."""
    reasons = {
        "paraphrase": "no statement was asked in a paraphrase",
        "negation": "no statement was asked in a negation",
        "opposite": "no statement was asked in an opposite",
        "inverted": "no statement was asked with inverted labels",
        "templates": "no statement was asked in two templates",
    }
    there = {
        **{test: bool(answers.of_kind(test).size) for test in ("paraphrase", *_OPPOSED)},
        "inverted": bool(answers.inverted.any()),
        "templates": bool((np.bincount(statement) > 1).any()),
    }
    return {test: reason for test, reason in reasons.items() if not there[test]}


def _joined(
    names: Sequence[str], marks: Sequence[Booleans], word: Callable[[str], str | None]
) -> list[str]:
    """For each row, the words of the marked names; empty for none."""
    table = np.stack(marks, axis=1)
    words = [str(word(name)).lower() for name in names]
    kinds, place = np.unique(table, axis=0, return_inverse=True)
    texts = [", ".join(w for w, mark in zip(words, kind, strict=True) if mark) for kind in kinds]
    return [texts[number] for number in np.ravel(place).tolist()]


def _reasons(
    answers: StatementAnswers,
    rows: tuple[Integers, Integers],
    frame: pd.DataFrame,
    tests: Sequence[str],
    statement: Integers,
    ties: TieRule,
    least: int,
) -> list[str]:
    """Why tests cannot be judged on a row; empty where all are."""
    texts = [""] * len(frame)
    unknown = frame[list(tests)].isna().to_numpy()
    lines, orders = rows
    several = np.bincount(statement)[statement] > 1
    for row in np.flatnonzero(unknown.any(axis=1)).tolist():
        line, order = int(lines[row]), int(orders[row])
        n, tied = answers.n[line], ties == "not_judged"
        why = _why(answers, line, order, least, tied)
        parts = []
        for test, mark in zip(tests, unknown[row].tolist(), strict=True):
            if not mark:
                continue
            if test == "sampling":
                reason = count_text(int(n[order, 0]), "clear answer")
            elif test == "templates":
                reason = "a template lacks a stance" if several[row] else "one template"
            elif test == "inverted":
                reason = why([(order, 0), (1 - order, 0)], bool(answers.inverted[line]))
            else:
                kinds = [k for k in answers.of_kind(test).tolist() if answers.needed[line, k]]
                reason = why([(order, 0), *((order, kind) for kind in kinds)], bool(kinds))
            parts.append(f"{TESTS[test].lower()}: {reason}")
        texts[row] = "; ".join(parts)
    return texts


def _why(
    answers: StatementAnswers, line: int, order: int, least: int, tied: bool
) -> Callable[[Sequence[tuple[int, int]], bool], str]:
    """A function of cells (order, form), and whether the statement has them: the first fault."""

    def reason(cells: Sequence[tuple[int, int]], has_them: bool) -> str:
        if not has_them:
            return "the statement has none"
        for own, form in cells:
            n, trials = answers.n[line, own, form], answers.trials[line, own, form]
            name = answers.forms[form] if own == order else "the other order"
            if not trials:
                return f"{name} was not asked"
            if n < max(least, 1):
                return f"{count_text(int(n), 'clear answer')} to {name}"
            if tied and 2 * answers.positive[line, own, form] == n:
                return f"a tie on {name}"
        return "undefined"

    return reason


def _chances(
    answers: StatementAnswers,
    rows: tuple[Integers, Integers],
    statement: Integers,
    tests: Sequence[str],
    rule: SamplingRule,
    ties: TieRule,
    least: int,
) -> dict[str, tuple[Floats, Floats]]:
    """The chances that random answers pass each test, and that it is judged; arrays (rows,)."""
    lines, orders = rows
    n = answers.n[rows]
    cells = stance_chances(n, ties=ties, least=least)
    own = cells.of_columns(0)
    settled = sampling_chances(n[:, 0], rule, ties=ties, least=least)
    agreeing: dict[str, Chances] = {}
    for test in ("paraphrase", *_OPPOSED):
        kinds = answers.of_kind(test)
        turned = cells.of_columns(kinds).turned(answers.signs[lines][:, kinds])
        agreeing[test] = all_same_chances(turned, answers.needed[lines][:, kinds])
    other = stance_chances(answers.n[lines, 1 - orders][:, :1], ties=ties, least=least)
    agreeing["inverted"] = all_same_chances(other, answers.inverted[lines, None])
    result = {"sampling": (settled.positive + settled.negative, settled.judged)}
    for test, both in agreeing.items():
        result[test] = (
            own.positive * both.positive + own.negative * both.negative,
            own.judged * both.judged,
        )
    templates = in_templates_chances(own, statement)
    result["templates"] = (templates.positive + templates.negative, templates.judged)
    within = [agreeing[test] for test in tests if test in agreeing]
    judged = np.prod([settled.judged, *(both.judged for both in within)], axis=0)
    sides = [
        np.prod([getattr(part, side) for part in (settled, *within)], axis=0)
        for side in ("positive", "negative")
    ]
    result[WITHIN] = (sides[0] + sides[1], judged * (own.judged if within else 1.0))
    further = [
        np.divide(all_, part, out=np.zeros_like(part), where=part > 0)
        for all_, part in (
            (templates.positive, own.positive),
            (templates.negative, own.negative),
            (templates.judged, own.judged),
        )
    ]
    result[ACROSS] = (
        sides[0] * further[0] + sides[1] * further[1],
        judged * own.judged * further[2],
    )
    return result

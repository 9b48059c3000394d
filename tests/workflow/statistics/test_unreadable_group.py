"""A group in which no reply could be read, beside a sound one, in every analysis of replies."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.domain.frames import OPTION_COUNTS
from core.errors import NotEnoughData
from core.workflow.answers import imports
from core.workflow.opening import open_workspace
from core.workflow.statistics import analyses

UNREAD = "unread"
OF_REPLIES = {
    "unexpected_outputs": ("outputs", "items", "comparisons"),
    "invalid_answers": ("summary", "levels", "causes", "tries", "items", "comparisons"),
    "template_pilot": ("templates", "outputs", "levels", "comparisons"),
    "option_distribution": ("summary",),
}
"""Tables that say how replies came out, not what was answered: all of them unusable is 100 %."""
KINDS_OF_REPLIES = (
    "refused",
    "neutral",
    "other without an option",
    "not asked or failed",
    "no_answer",
)
"""Rows of other tables that do so too."""


def statements():
    """Six statements in two forms and two templates, twelve times; the one model is unreadable."""
    chance = np.random.default_rng(3)
    rows = []
    for model in ("read", UNREAD):
        for form in ("original", "negation"):
            for template in ("t1", "t2"):
                for item in range(6):
                    for repetition in range(1, 13):
                        yes = chance.random() < (0.9 if item % 2 else 0.2)
                        answer = ("yes" if yes else "no") if model == "read" else ""
                        rows.append((model, form, template, f"q{item}", repetition, answer))
    names = ["model", "form", "template", "item", "repetition", "answer"]
    return pd.DataFrame(rows, columns=names).assign(language="en", format="yes_no")


def words():
    """Twenty words, asked twice."""
    chance = np.random.default_rng(4)
    rows = [
        (
            model,
            f"w{item}",
            repetition,
            chance.choice(["comedy", "tragedy"]) if model == "read" else "",
        )
        for model in ("read", UNREAD)
        for item in range(20)
        for repetition in (1, 2)
    ]
    frame = pd.DataFrame(rows, columns=["model", "item", "repetition", "answer"])
    return frame.assign(language="en", format="comedy_tragedy")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    found = open_workspace(tmp_path_factory.mktemp("unread") / "inkblot.duckdb")
    for study, frame in (("statements", statements()), ("words", words())):
        status = np.where(frame["answer"] == "", "no_answer", "answered")
        file = frame.assign(status=status).to_csv(index=False).encode()
        imports.import_tidy(found, f"{study}.csv", file, study=study)
    yield found
    found.close()


COUNTED = [one.name for one in analyses.all_analyses() if one.needs is OPTION_COUNTS]
BOUNDS = (-1.0, 0.0, 1.0)


def rates_at_a_bound(name, result):
    """What an analysis says of the unreadable model in shares and coefficients that are a bound."""
    for table in result.tables:
        if table.name in OF_REPLIES.get(name, ()):
            continue
        for row in table.frame.to_dict("records"):
            texts = [str(value) for value in row.values() if isinstance(value, str)]
            if not any(UNREAD in text for text in texts) or set(texts) & set(KINDS_OF_REPLIES):
                continue
            for column in table.columns:
                if column.unit in ("proportion", "correlation") and row[column.name] in BOUNDS:
                    yield f"{table.name}.{column.name}", row[column.name]


@pytest.mark.parametrize("study", ["statements", "words"])
@pytest.mark.parametrize("name", COUNTED)
def test_no_rate_of_a_group_that_nobody_can_read_is_a_bound(workspace, name, study):
    """Neither 100 % consistent nor 0 % positive: undefined. Used are the replies of the other."""
    options = {option.name for option in analyses.by_name(name).options}
    chosen = {"resamples": 100} if "resamples" in options else {}
    try:
        result = analyses.run(workspace, name, (study,), chosen, {}, ())
    except NotEnoughData:
        return  # the analysis is not about such a study
    assert not list(rates_at_a_bound(name, result))
    usable, asked = {"statements": (288, 576), "words": (40, 80)}[study]
    assert result.n_used + result.n_left_out == usable
    assert result.n_missing == asked - usable
    for group, sentence, _ in analyses.by_name(name).answer(result):
        if UNREAD in group and name not in OF_REPLIES:
            assert "100%" not in sentence
            assert "100.0%" not in sentence

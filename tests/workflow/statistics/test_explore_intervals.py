"""Explore's intervals: what is independent in them, statsmodels as oracle, and their coverage."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import t as student

from core.workflow.answers import imports
from core.workflow.statistics import explore
from core.workflow.statistics.explore import View

TRUE_MEAN, TRUE_SHARE = 2.0, 0.3


def bring_in(workspace, rows):
    frame = pd.DataFrame(rows)
    imports.import_tidy(workspace, "s.csv", frame.assign(study="s").to_csv(index=False).encode())


def rows_of(workspace, view):
    table = explore.count_view(workspace, "s", view)
    return table, table.frame.set_index(list(view.factors))


def unequal_clusters():
    """Answers to three items of 12 personas, asked one to five times; some are refused."""
    draw = np.random.default_rng(3)
    rows = []
    for persona in range(12):
        level = draw.normal(3, 1)
        for repetition in range(1, 2 + persona % 5):
            for item in ("q1", "q2", "q3"):
                score = int(np.clip(round(level + draw.normal()), 1, 5))
                refused = draw.random() < 0.1
                rows.append(
                    {
                        "item": item,
                        "model": "m1",
                        "context": f"p{persona:02}",
                        "repetition": repetition,
                        "answer": "" if refused else str(score),
                        "score": "" if refused else str(score),
                        "status": "refused" if refused else "answered",
                        "latency_s": draw.gamma(2),
                        "tokens_in": 10 + persona,
                    }
                )
    return rows


MEASURES = {
    "mean_score": lambda rows: pd.to_numeric(rows["score"]),
    "option_share": lambda rows: (rows["answer"] == "3").where(rows["answer"] != ""),
    "usable": lambda rows: rows["status"] == "answered",
    "refused": lambda rows: rows["status"] == "refused",
    "tokens_in": lambda rows: rows["tokens_in"],
    "latency": lambda rows: rows["latency_s"],
}


def error_of_cell(workspace, code, by):
    """The error that the database gives for each cell, with the number of clusters."""
    view = View(code, by, option="3" if code == "option_share" else "")
    measure = explore.measure_of(code)
    return explore._read(workspace, "s", measure, view).set_index(by)


@pytest.mark.parametrize("code", MEASURES)
def test_the_error_is_that_of_cluster_robust_least_squares(workspace, code):
    rows = unequal_clusters()
    bring_in(workspace, rows)
    asked = pd.DataFrame(rows).assign(value=MEASURES[code])
    for by in ("item", "model"):
        cells = error_of_cell(workspace, code, by if by == "item" else "respondent")
        for level, cell in asked.dropna(subset=["value"]).groupby(by):
            values = cell["value"].astype(float).to_numpy()
            model = sm.OLS(values, np.ones(len(values)))
            fit = model.fit(
                cov_type="cluster", cov_kwds={"groups": pd.factorize(cell["context"])[0]}
            )
            assert cells.loc[level, "mean"] == pytest.approx(fit.params[0], abs=1e-9)
            assert cells.loc[level, "error"] == pytest.approx(fit.bse[0], abs=1e-9)
            assert cells.loc[level, "units"] == cell["context"].nunique()
            assert cells.loc[level, "n"] == len(values)


def test_the_interval_of_a_mean_has_the_degrees_of_freedom_of_its_clusters(workspace):
    bring_in(workspace, unequal_clusters())
    table, frame = rows_of(workspace, View("mean_score", "item"))
    error = error_of_cell(workspace, "mean_score", "item").loc[frame.index, "error"]
    half = (frame["ci_high"] - frame["ci_low"]) / 2
    expected = error * student.ppf(0.975, frame["units"] - 1)
    assert half.tolist() == pytest.approx(expected.tolist(), abs=1e-9)
    assert frame["units"].tolist() == [12, 11, 12]  # one persona answered the second item never
    assert "contexts" in explore.interval_words(table)


UNITS = [
    # contexts, respondents, repetitions, items -> what is independent, and how many
    ((3, 2, 2, 2), "contexts", 3),
    ((1, 4, 2, 2), "respondents", 4),
    ((1, 1, 5, 2), "repetitions", 5),
    ((1, 1, 1, 6), "items", 6),
]


@pytest.mark.parametrize(("sizes", "unit", "number"), UNITS)
def test_without_contexts_the_next_thing_that_varies_is_the_unit(workspace, sizes, unit, number):
    draw = np.random.default_rng(1)
    bring_in(
        workspace,
        [
            {
                "context": f"p{c}" if sizes[0] > 1 else "",
                "model": f"m{m}",
                "repetition": r + 1,
                "item": f"q{i}",
                "language": "en",
                "answer": (answer := str(draw.integers(1, 6))),
                "score": answer,
            }
            for c in range(sizes[0])
            for m in range(sizes[1])
            for r in range(sizes[2])
            for i in range(sizes[3])
        ],
    )
    table, frame = rows_of(workspace, View("mean_score", "language"))
    assert frame[["unit", "units"]].values.tolist() == [[unit, number]]
    words = explore.interval_words(table)
    assert unit in words
    assert ("one context" in words) == (unit != "contexts")


def test_people_are_the_units_where_facts_about_them_are_known(workspace):
    rows = [
        {"context": f"p{n}", "item": f"q{i}", "model": "m", "answer": str(1 + (n + i) % 3)}
        | {"score": str(1 + (n + i) % 3), "person.gender": "fm"[n % 2]}
        for n in range(6)
        for i in range(3)
    ]
    bring_in(workspace, rows)
    table, frame = rows_of(workspace, View("option_share", "person.gender", option="1"))
    assert frame["unit"].tolist() == ["people", "people"]
    assert "other people" in explore.interval_words(table)


@pytest.mark.parametrize("answers", ["2", "12"])
def test_an_interval_of_a_share_always_has_a_width(workspace, answers):
    """Every answer is the same; or every context has the same share, so that the error is 0."""
    rows = [
        {"context": f"p{c}", "item": "q", "model": "m", "repetition": r, "answer": answer}
        | {"score": answer}
        for c in range(5)
        for r, answer in enumerate(answers * 3, 1)
    ]
    bring_in(workspace, rows)
    for option in ("1", "2"):
        if option in answers:
            _, frame = rows_of(workspace, View("option_share", "item", option=option))
            assert (frame["ci_high"] - frame["ci_low"] > 0.2).all()
    table, frame = rows_of(workspace, View("mean_score", "item"))
    assert frame["ci_low"].isna().all()
    assert frame["remark"].str.contains("same").all()
    assert explore.interval_words(table) == ""


def coverage(workspace, n_personas, n_studies):
    """How often intervals hold the true mean and share; each item is a simulated study.

    Personas answer ten times. The shares of a persona have a Dirichlet distribution, so that the
    intraclass correlation is .3 of the score as of each option.
    """
    draw = np.random.default_rng(7)
    shape = (n_studies, n_personas, 10)
    shares = draw.dirichlet(np.array([0.3, 0.4, TRUE_SHARE]) * (1 - 0.3) / 0.3, shape[:2])
    answer = 1 + (draw.random(shape)[..., None] > shares.cumsum(axis=-1)[:, :, None, :2]).sum(-1)
    item, persona, repetition = (index.ravel() for index in np.indices(shape))
    frame = pd.DataFrame(
        {
            "study": "s",
            "model": "m",
            "item": np.char.add("q", item.astype(str)),
            "context": np.char.add("p", persona.astype(str)),
            "repetition": repetition + 1,
            "answer": answer.ravel(),
            "score": answer.ravel(),
        }
    )
    buffer = io.BytesIO()
    frame.to_csv(buffer, index=False)
    imports.import_tidy(workspace, "s.csv", buffer.getvalue())
    covered = []
    for code, true in (("mean_score", TRUE_MEAN), ("option_share", TRUE_SHARE)):
        _, cells = rows_of(
            workspace, View(code, "item", option="3" if code == "option_share" else "")
        )
        assert (cells["units"] == n_personas).all()
        inside = (cells["ci_low"] <= true) & (true <= cells["ci_high"])
        covered.append(inside.mean())
    return covered


@pytest.mark.parametrize("n_personas", [10, 40])
def test_intervals_cover_the_truth_under_repetitions_of_personas(workspace, n_personas):
    # 100 studies: 95 % plus and minus three standard errors; independent answers cover about 70 %
    for share in coverage(workspace, n_personas, 100):
        assert 0.88 <= share <= 1


@pytest.mark.slow
@pytest.mark.parametrize("n_personas", [10, 40])
def test_intervals_cover_the_truth_in_five_hundred_studies(workspace, n_personas):
    for share in coverage(workspace, n_personas, 500):
        assert 0.92 <= share <= 0.97

"""Day and service as factors: frames, filters, Explore and Answers; and nothing where not named."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

from core.analysis.kit.registry import all_analyses
from core.domain.frames import ATTEMPT_COUNTS, OPTION_COUNTS
from core.domain.study import Respondent
from core.errors import NotEnoughData
from core.store import answers as stored_answers
from core.store import frames as store
from core.workflow.answers import browsing, imports
from core.workflow.respondents import catalog
from core.workflow.statistics import analyses, explore, frames
from core.workflow.statistics.explore import View
from tests.workflow.studies import freeze, simulated

FIRST, SECOND = "2026-01-01", "2026-01-02"
ITEMS = ("nature_01", "nature_02", "nature_03", "nature_04")


def answers(*, crosses: bool) -> pd.DataFrame:
    """Four items of twelve contexts; with `crosses`, midnight comes within the seventh context."""
    draw = np.random.default_rng(4)
    rows = []
    for context in range(12):
        trait = draw.normal()
        for place, item in enumerate(ITEMS):
            late = crosses and (context, place) >= (6, 2)
            # the offset of the file is not UTC: its first day ends at 19:00
            clock = "2026-01-01T20:30:00-05:00" if late else "2026-01-01T12:30:00-05:00"
            answer = int(np.clip(round(3 + trait + draw.normal()), 1, 5))
            rows.append(
                {
                    "study": "s",
                    "instrument": "attitudes_20",
                    "item": item,
                    "model": "m",
                    "context": f"c{context:02}",
                    "answer": answer,
                    "status": "answered",
                    "time": clock,
                    "day": SECOND if late else FIRST,
                }
            )
    return pd.DataFrame(rows)


@pytest.fixture
def crossing(workspace, monkeypatch):
    """The study in a process whose clocks are five hours behind UTC."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    rows = answers(crosses=True)
    imports.import_tidy(workspace, "s.csv", rows.drop(columns="day").to_csv(index=False).encode())
    yield workspace, rows
    monkeypatch.undo()
    time.tzset()


def test_the_days_of_answers_are_those_of_utc_in_every_frame(crossing):
    workspace, rows = crossing
    expected = rows.groupby(["day", "item"]).size()
    assert browsing.levels(workspace, "s")["day"] == [FIRST, SECOND]
    scores = frames.item_scores(workspace, ["s"], {}, ("day",))
    pd.testing.assert_series_equal(
        scores.astype({"day": str, "item": str}).groupby(["day", "item"]).size(), expected
    )
    # the context within which midnight comes has an administration on each day
    assert scores["administration"].nunique() == 13
    for read in (store.option_counts, store.attempt_counts):
        counts = read(workspace.database, ["s"], {}, factors=("day",))
        counts = counts.astype({"day": str, "item": str})
        pd.testing.assert_series_equal(
            counts.groupby(["day", "item"])["count"].sum(), expected, check_names=False
        )


def test_a_filter_by_day_takes_the_answers_of_that_day(crossing):
    workspace, rows = crossing
    n_second = int((rows["day"] == SECOND).sum())
    where = {"day": [SECOND]}
    assert len(frames.item_scores(workspace, ["s"], where)) == n_second
    n_levels = stored_answers.n_levels(workspace.database, ["s"], ("context",), where)
    assert n_levels["n_context"].tolist() == [6]
    assert store.n_planned(workspace.database, ["s"], where) == n_second
    assert store.answer_kinds(workspace.database, ["s"], where)["answers"] == n_second
    for read in (store.option_counts, store.attempt_counts):
        assert read(workspace.database, ["s"], where)["count"].sum() == n_second
    for name in ("internal_consistency", "item_statistics", "option_distribution"):
        assert analyses.run(workspace, name, ["s"], {}, where).n_planned == n_second
    with pytest.raises(NotEnoughData):
        analyses.run(workspace, "item_statistics", ["s"], {}, {"day": ["2026-01-03"]})


def test_an_answer_without_a_row_has_no_day(workspace):
    rows = answers(crosses=True).drop(columns="day").drop(index=[5])
    imports.import_tidy(workspace, "s.csv", rows.to_csv(index=False).encode())
    scores = frames.item_scores(workspace, ["s"], {}, ("day",))
    assert scores.loc[scores["status"] == "no_row", "day"].tolist() == [""]
    assert len(scores) == 48
    assert len(frames.item_scores(workspace, ["s"], {"day": [FIRST, SECOND]})) == 47
    for read in (store.option_counts, store.attempt_counts):
        counts = read(workspace.database, ["s"], {}, factors=("day",))
        assert counts.loc[counts["day"] == "", "count"].tolist() == [1]
        assert read(workspace.database, ["s"], {"day": [FIRST, SECOND]})["count"].sum() == 47
        assert read(workspace.database, ["s"], {})["count"].sum() == 48


def test_scores_by_day_are_those_of_pandas(crossing):
    workspace, _ = crossing
    result = analyses.run(workspace, "item_statistics", ["s"], {"by": ("day",)}, {})
    table = result.tables[0].frame.astype({"day": str, "item": str})
    bank = frames.item_scores(workspace, ["s"], {}, ("day",))
    means = bank.astype({"day": str, "item": str}).groupby(["day", "item"])["score"].mean()
    found = table.set_index(["day", "item"])["mean"]
    assert found.tolist() == pytest.approx(means.reindex(found.index).tolist())
    assert len(found) == 8


@pytest.mark.parametrize("name", ["internal_consistency", "item_statistics", "instrument_rates"])
def test_a_run_that_crosses_midnight_gives_the_same_results(workspace, crossing, name):
    crossed, _ = crossing
    same_day = answers(crosses=False).assign(study="t").drop(columns="day")
    imports.import_tidy(crossed, "t.csv", same_day.to_csv(index=False).encode())
    results = [analyses.run(crossed, name, [study], {}, {}) for study in ("s", "t")]
    for one, other in zip(*(result.tables for result in results), strict=True):
        pd.testing.assert_frame_equal(
            one.frame.replace("s", "t").astype(object), other.frame.astype(object)
        )
    assert results[0].scope == results[1].scope
    assert explore.default_view(crossed, "s") == explore.default_view(crossed, "t")


def service_study(workspace):
    for label, address in (("A", "https://api.openai.com/v1"), ("B", "https://openrouter.ai/api")):
        catalog.save(workspace, Respondent(label, "api", "gpt", address, "OPENAI_API_KEY"))
    freeze(workspace, simulated(), n_personas=2, also=("A", "B"))


def test_the_service_of_a_respondent_is_the_host_of_its_address(workspace):
    service_study(workspace)
    hosts = ["api.openai.com", "openrouter.ai", "simulated"]
    assert browsing.levels(workspace, "study")["service"] == hosts
    scores = frames.item_scores(workspace, ["study"], {}, ("service",))
    assert sorted(scores["service"].unique()) == hosts
    assert scores.groupby("respondent", observed=True)["service"].nunique().tolist() == [1, 1, 1]
    wide = frames.wide_scores(workspace, ["study"], {"service": [hosts[0]]}, ("service",))
    assert wide.administrations["respondent"].unique().tolist() == ["A"]
    counts = store.option_counts(workspace.database, ["study"], {"service": [hosts[1]]})
    assert counts["count"].sum() == 40
    view = View("usable", "service", where={"service": tuple(hosts[:2])})
    frame = explore.count_view(workspace, "study", view).frame
    assert frame["service"].tolist() == hosts[:2]
    assert frame["missing"].tolist() == [40, 40]


AXES = ("context_set", "rewriting", "service", "day")


@pytest.mark.parametrize("name", AXES)
def test_a_row_of_explore_leads_to_the_replies_behind_it(crossing, name):
    workspace, _ = crossing
    for measure in ("usable", "tokens_in"):
        view = View(measure, "item", name, where={"day": (SECOND,)})
        table = explore.count_view(workspace, "s", view)
        for row in range(len(table.frame)):
            filters = explore.replies_of_row(view, table, row)
            _, total = browsing.page(workspace, "s", filters, "")
            assert total == table.frame[["n", "missing"]].iloc[row].sum() > 0
    assert explore.view_from_address(view.address) == view


def test_every_grouping_is_an_axis(crossing):
    workspace, _ = crossing
    table = explore.count_view(workspace, "s", View("mean_score", "day"))
    assert table.frame["day"].tolist() == [FIRST, SECOND]
    assert table.frame["n"].tolist() == [26, 22]


def test_each_kind_of_frame_of_an_analysis_takes_days(crossing):
    workspace, _ = crossing
    for needs in (OPTION_COUNTS, ATTEMPT_COUNTS):
        analysis = next(one for one in all_analyses() if one.needs is needs and not one.requires)
        frame = frames.load_frame(workspace, analysis, ["s"], {}, {"by": ("day", "service")})
        assert set(frame["day"]) == {FIRST, SECOND}
        assert set(frame["service"]) == {""}

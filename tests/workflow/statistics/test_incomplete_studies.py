"""Who has an answer, who has a score, and what is said of it, where not everybody has all."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from core.domain.frames import ATTEMPT_COUNTS, ITEM_SCORES, OPTION_COUNTS
from core.domain.study import FACTORS, NO_ROW
from core.domain.wide_scores import NOT_PLANNED, STATUSES
from core.errors import NotEnoughData
from core.store import frames
from core.workflow.opening import open_workspace
from core.workflow.statistics import analyses
from tests.workflow import incomplete_studies
from tests.workflow.incomplete_studies import ITEMS, PEOPLE, answers, bring_in

STUDIES = {
    "absent": incomplete_studies.with_absent_rows,
    "blocks": incomplete_studies.with_blocks,
    "booklets": incomplete_studies.with_booklets,
}


@pytest.fixture(scope="module")
def counts_of(tmp_path_factory):
    """A workspace with the three studies, and the counts of each."""
    workspace = open_workspace(tmp_path_factory.mktemp("incomplete") / "inkblot.duckdb")
    yield workspace, {name: make(workspace, name) for name, make in STUDIES.items()}
    workspace.close()


# Why an analysis has no result of these studies, in words of its refusal.
OTHER_MATERIAL = {
    "annotator_agreement": "no annotators",
    "bias_shift": "no answer of a second phase",
    "form_agreement": "one wording, one order of labels and one template",
    "odds_ratios": "did not ask for texts",
    "preference": "compare no two entities",
    "random_consistency": "No item was answered twice",
    "referential_consistency": "All answers are in one format",
    "story_validity": "no judge rated texts",
}
NO_COMPLETE_ROW = {
    "cfa": "No factor model can be fitted",
    "cfa_check": "Neither program can fit the model",
    "cfa_comparison": "No factor model can be fitted",
    "dif": "No levels of language can be compared",
    "efa": "No factors can be found",
    "internal_consistency": "Alpha cannot be computed",
    "invariance": "No levels of language can be compared",
    "loading_congruence": "No levels of language can be compared",
    "reliability": "No reliability can be computed",
    "validation_report": "No criterion can be computed",
}
"""What needs complete rows may refuse booklets; whatever it counts, it counts alike."""
TOO_FEW_FOR_A_SCORE = {"multitrait_matrix": "No scores can be correlated"}
"""No booklet has 80 % of the items of two scales."""
MANY_PEOPLE = {"rater_agreement": "whose answers would be mixed in one code"}
"""A model has no one code of an item under the contexts of many people."""
REFUSED = {
    "absent": {**OTHER_MATERIAL, **MANY_PEOPLE},
    "blocks": {**OTHER_MATERIAL, "rater_agreement": "one rater only"},
    "booklets": {**OTHER_MATERIAL, **MANY_PEOPLE, **TOO_FEW_FOR_A_SCORE},
}
SLOW = ("cfa_check", "cfa_comparison", "generalizability", "invalid_answers", "template_pilot")
"""What takes seconds is of one model in English."""
OPTIONS = {"norm_comparison": {"norms": (("nature", 3.0, 1.0, 100), ("technology", 3.0, 1.0, 90))}}


@pytest.mark.parametrize("study", STUDIES)
def test_every_analysis_counts_the_same_answers_used_and_missing(counts_of, study):
    """Rows that are not there are missing in an import, and not in a plan that never asked them."""
    workspace, counts = counts_of
    counted, refused = {}, {}
    for analysis in analyses.all_analyses():
        names = {option.name for option in analysis.options}
        options = analyses.saved_options(workspace, study, analysis)
        options |= OPTIONS.get(analysis.name, {})
        options |= {name: 100 for name in ("resamples", "permutations") if name in names}
        where = {"language": ["en"], "respondent": ["A", "Simulated"]}
        where = where if analysis.name in SLOW else {}
        try:
            with warnings.catch_warnings(action="ignore"):
                result = analyses.run(workspace, analysis.name, [study], options, where)
        except NotEnoughData as error:
            refused[analysis.name] = str(error)
            continue
        counted[analysis.name] = (result.n_used + result.n_left_out, result.n_missing)
    usable, missing, part = counts[study]
    assert counted == {name: part if name in SLOW else (usable, missing) for name in counted}
    allowed = REFUSED[study] | (NO_COMPLETE_ROW if study == "booklets" else {})
    assert set(REFUSED[study]) <= set(refused) <= set(allowed)
    for name, words in refused.items():
        assert allowed[name] in words


def test_the_mean_of_a_scale_is_the_same_number_on_every_page(counts_of):
    """And the one that pandas computes: the mean of at least 80 % of the items of a person."""
    workspace, _ = counts_of
    rows = answers()
    rows = rows[np.random.default_rng(1).random(len(rows)) >= 0.04]
    own = rows[(rows["model"] == "A") & rows["item"].str.startswith("technology")]
    own = own[own["language"] == "en"]
    keyed = frames.item_scores(workspace.database, ["absent"], {}).drop_duplicates("item")
    reverse = own["item"].map(dict(zip(keyed["item"], keyed["keyed"], strict=True))) < 0
    wide = own.assign(answer=own["answer"].where(~reverse, 6 - own["answer"])).pivot(
        index="context", columns="item", values="answer"
    )
    enough = wide.notna().sum(axis=1) >= 0.8 * 4
    assert not enough.all()  # else nothing is shown
    expected = wide[enough].mean(axis=1)
    where, by = {"model": ["A"], "language": ["en"]}, {"by": ()}
    norms = (("technology", 3.0, 1.0, 100),)
    spread = analyses.run(workspace, "score_distribution", ["absent"], by, where)
    normed = analyses.run(workspace, "norm_comparison", ["absent"], by | {"norms": norms}, where)
    traits = analyses.run(workspace, "multitrait_matrix", ["absent"], by, where)
    grouped = analyses.run(
        workspace, "group_comparison", ["absent"], {"factor": "language", "by": ("model",)}, {}
    )
    found = {
        "score_distribution": row_of(spread, "subscale", "technology"),
        "norm_comparison": row_of(normed, "scale", "technology"),
        "multitrait_matrix": row_of(traits, "score", "technology", table=2),
    }
    groups = grouped.tables[0].frame
    of_group = (groups["scale"] == "technology") & (groups["model"] == "A")
    found["group_comparison"] = groups[of_group & (groups["group"] == "en")].iloc[0]
    for name, row in found.items():
        assert row["mean"] == pytest.approx(expected.mean(), abs=1e-12), name
        assert row["n"] == len(expected), name


def row_of(result, column, value, table=0):
    frame = result.tables[table].frame
    return frame[frame[column] == value].iloc[0]


@pytest.fixture
def hard_item(workspace):
    """Two models of one population, 100 each; one was not asked the hardest item."""
    chance = np.random.default_rng(5)
    n = 200
    raw = 3 + chance.normal(size=(n, 1)) + chance.normal(size=(n, 5)) * 0.9
    wide = pd.DataFrame(np.clip(np.round(raw), 1, 5).astype(int), columns=ITEMS[:5])
    signs = {item: item[-1] in "24" for item in ITEMS}  # these are reverse-keyed in the bank
    for item in ITEMS[:5]:
        if signs[item]:
            wide[item] = 6 - wide[item]
    wide["nature_05"] = np.clip(wide["nature_05"] - 3, 1, 5)
    wide["context"] = [f"c{number:03}" for number in range(n)]
    wide["model"] = np.where(np.arange(n) < 100, "A", "B")
    rows = wide.melt(["context", "model"], var_name="item", value_name="answer")
    bring_in(workspace, "hard", rows[(rows["model"] == "A") | (rows["item"] != "nature_05")])
    return wide


@pytest.mark.parametrize("incomplete", ["prorated", "available", "half"])
def test_groups_are_compared_on_the_items_that_both_answered(workspace, hard_item, incomplete):
    """In one population; with the hard item in A alone, d would be .5 and p below .001."""
    options = {"factor": "model", "incomplete": incomplete, "by": ()}
    result = analyses.run(workspace, "group_comparison", ["hard"], options, {})
    keyed = frames.item_scores(workspace.database, ["hard"], {}).drop_duplicates("item")
    reverse = keyed.loc[keyed["keyed"] < 0, "item"].tolist()
    scored = hard_item.assign(**{item: 6 - hard_item[item] for item in reverse})
    means = scored[list(ITEMS[:4])].mean(axis=1).groupby(hard_item["model"]).mean()
    groups = result.tables[0].frame.set_index("group")
    assert groups["mean"].to_dict() == pytest.approx(means.to_dict())
    test = result.tables[1].frame.iloc[0]
    assert (test["n_items"], test["items_left_out"], test["n_fewer"]) == (4, 1, 0)
    analysis = analyses.by_name("group_comparison")
    (answer,) = analysis.answer(result)
    assert "(of 4 items; 1 more was not answered everywhere)" in answer.sentence
    assert any("nature_05 has answers in some groups only" in one for one in result.cautions)


def test_what_stands_side_by_side_says_that_a_group_lacks_an_item(workspace, hard_item):
    for name, options in (
        ("score_distribution", {}),
        ("norm_comparison", {"norms": (("nature", 3.0, 1.0, 100),)}),
    ):
        result = analyses.run(workspace, name, ["hard"], options, {})
        of_a, of_b = analyses.by_name(name).answer(result)
        assert "not answered everywhere" not in of_a.sentence
        assert "(of 4 items; 1 more was not answered everywhere)" in of_b.sentence


def test_sentences_say_how_many_have_no_score_and_how_many_are_prorated(counts_of):
    workspace, _ = counts_of
    where = {"model": ["A"], "language": ["en"]}
    result = analyses.run(workspace, "score_distribution", ["absent"], {"by": ()}, where)
    rows = result.tables[0].frame.set_index("subscale")
    table = frames.wide_scores(workspace.database, ["absent"], where)
    five = np.isfinite(table.scores[:, table.items["subscale"] == "nature"]).sum(axis=1)
    assert rows.loc["nature", "n_fewer"] == (five == 4).sum() > 0
    four = np.isfinite(table.scores[:, table.items["subscale"] == "technology"]).sum(axis=1)
    assert rows.loc["technology", "missing"] == (four < 4).sum() > 0  # 3 of 4 are 75 %
    (answer,) = analyses.by_name("score_distribution").answer(result)
    assert f"{(five == 4).sum()} scores are means of some of the items" in answer.sentence
    assert f"{(four < 4).sum()} rows without a score left out" in answer.sentence


# One function decides which items were to be answered, whatever frame an analysis takes.

WHERE = [
    {},
    {"model": ["A"]},
    {"context": ["c000", "c003"], "language": ["en"]},
    {"item": ["nature_01", "technology_04"]},
    {"item": ["nature_02"], "model": ["B"]},
]


@pytest.mark.parametrize("study", ["absent", "booklets"])
@pytest.mark.parametrize("where", WHERE, ids=[" ".join(where) or "all" for where in WHERE])
def test_rows_wide_table_and_counts_lack_the_same_answers(counts_of, study, where):
    workspace, _ = counts_of
    database = workspace.database
    rows = frames.item_scores(database, [study], where)
    n_cells = {"model": 2, "language": 2, "context": PEOPLE, "item": len(ITEMS)}
    n_cells |= {name: len(levels) for name, levels in where.items()}
    assert (
        len(rows) == np.prod(list(n_cells.values())) == frames.n_planned(database, [study], where)
    )
    table = frames.wide_scores(database, [study], where)
    assert list(table.administrations["administration"]) == list(
        dict.fromkeys(rows["administration"])
    )
    assert list(table.items["item"]) == list(dict.fromkeys(rows["item"]))
    assert (table.status != NOT_PLANNED).all()
    placed = rows.pivot(index="administration", columns="item", values="status")
    placed = placed.loc[table.administrations["administration"], table.items["item"]]
    assert (placed.to_numpy() == np.array(STATUSES)[table.status]).all()
    absent = rows[rows["status"] == NO_ROW].groupby(["model", "language", "item"], observed=True)
    for read in (frames.option_counts, frames.attempt_counts):
        counts = read(database, [study], where, factors=["model", "language"])
        status = "status" if "status" in counts else "outcome"
        own = counts[counts[status] == NO_ROW]
        found = own.set_index(["model", "language", "item"])["count"]
        assert found.to_dict() == absent.size()[absent.size() > 0].to_dict()
        assert counts["count"].sum() == len(rows)


def test_another_way_of_asking_has_other_items_and_what_everybody_lacks_was_not_asked(workspace):
    """Model B lacks an item in German, where A has it; nobody was asked two items in English."""
    rows = answers()
    german = rows["language"] == "de"
    rows = rows[german | ~rows["item"].isin(ITEMS[:2])]
    rows = rows[(rows["language"] == "en") | (rows["model"] == "A") | (rows["item"] != ITEMS[3])]
    bring_in(workspace, "ways", rows)
    frame = frames.item_scores(workspace.database, ["ways"], {})
    n = frame.groupby(["model", "language"], observed=True).size()
    assert n.to_dict() == {
        ("A", "de"): PEOPLE * 9,
        ("A", "en"): PEOPLE * 7,
        ("B", "de"): PEOPLE * 9,
        ("B", "en"): PEOPLE * 7,
    }
    absent = frame[frame["status"] == NO_ROW]
    assert len(absent) == PEOPLE
    assert set(zip(absent["model"], absent["language"], absent["item"], strict=True)) == {
        ("B", "de", ITEMS[3])
    }
    assert absent["score"].isna().all()


def test_languages_are_paired_on_the_items_that_both_have_answers_to(workspace):
    """German has nine items and English seven: the pages and pandas take the seven."""
    rows = answers()
    rows = rows[(rows["model"] == "A")]
    rows = rows[(rows["language"] == "de") | ~rows["item"].isin(ITEMS[:2])]
    bring_in(workspace, "languages", rows)
    frame = frames.item_scores(workspace.database, ["languages"], {})
    seven = frame[frame["item"].isin(ITEMS[2:])].astype({"language": str, "context": str})
    means = seven.groupby(["context", "language"])["score"].mean().unstack()
    options = {"factor": "language", "by": ()}
    result = analyses.run(workspace, "score_correlations", ["languages"], options, {})
    pairs = result.tables[0].frame
    row = pairs[(pairs["scale"] == "all items") & (pairs["kind"] == "pearson")].iloc[0]
    assert row["r"] == pytest.approx(means["de"].corr(means["en"]), abs=1e-12)
    assert (row["n_items"], row["items_left_out"], row["n_pairs"]) == (7, 2, PEOPLE)
    (answer,) = analyses.by_name("score_correlations").answer(result)
    assert "(of 7 items; 2 more were not answered everywhere)" in answer.sentence
    differences = result.tables[1].frame.set_index("scale").loc["all items"]
    assert differences["difference"] == pytest.approx((means["en"] - means["de"]).mean())
    traits = {"by": (), "split": ("language",)}
    result = analyses.run(workspace, "multitrait_matrix", ["languages"], traits, {})
    (answer,) = analyses.by_name("multitrait_matrix").answer(result)
    assert "are of fewer items than the same trait by another method" in answer.sentence
    assert any("nature_01, nature_02 have answers under" in one for one in result.cautions)


def test_a_few_of_many_items_each_are_not_taken_for_missing_and_a_note_says_so(workspace):
    """Two of nine items each: less than a quarter of the places have a row."""
    rows = answers()
    rows = rows[(rows["model"] == "A") & (rows["language"] == "en")]
    person = rows["context"].str[1:].astype(int)
    place = rows["item"].map({item: number for number, item in enumerate(ITEMS)})
    rows = rows[(place - person) % len(ITEMS) < 2]
    bring_in(workspace, "sparse", rows)
    result = analyses.run(workspace, "item_statistics", ["sparse"], {}, {})
    assert (result.n_used, result.n_missing) == (PEOPLE * 2, 0)
    assert any("has rows for 22.2% of its administrations by items" in n for n in result.notes)
    counts = frames.option_counts(workspace.database, ["sparse"], {})
    assert counts["count"].sum() == PEOPLE * 2


def test_a_second_phase_lacks_nothing_that_the_first_has_no_answer_to(workspace):
    rows = answers()
    rows = rows[(rows["model"] == "A") & (rows["language"] == "en")].assign(phase="initial")
    again = rows[rows["item"].isin(ITEMS[:5])].iloc[::2].assign(phase="opposing")
    bring_in(workspace, "phases", pd.concat([rows, again]))
    frame = frames.item_scores(workspace.database, ["phases"], {})
    assert len(frame) == len(rows) + len(again)
    assert not (frame["status"] == NO_ROW).any()


def test_a_note_counts_the_answers_without_a_row_and_names_items_without_any(counts_of):
    workspace, counts = counts_of
    for name in ("item_statistics", "option_distribution", "invalid_answers"):
        needs = analyses.by_name(name).needs
        assert needs in (ITEM_SCORES, OPTION_COUNTS, ATTEMPT_COUNTS)
        result = analyses.run(workspace, name, ["absent"], {}, {})
        absent = f"{counts['absent'].missing} answers have no row in what was imported"
        assert sum(absent in note for note in result.notes) == 1
        never = [note for note in result.notes if "No row names" in note]
        assert len(never) == (needs is ITEM_SCORES)
        assert all("technology_05" in note for note in never)
        planned = analyses.run(workspace, name, ["blocks"], {}, {})
        assert not any("no row" in note or "No row" in note for note in planned.notes)


def test_a_complete_import_is_read_as_it_is_on_file(workspace, monkeypatch):
    """Ten million answers cost no more than before."""
    rows = answers()
    bring_in(workspace, "whole", rows)
    monkeypatch.setattr(frames, "items_of_ways", None)
    database = workspace.database
    assert len(frames.item_scores(database, ["whole"], {})) == len(rows)
    assert (frames.wide_scores(database, ["whole"], {}).status >= 0).all()
    assert frames.option_counts(database, ["whole"], {})["count"].sum() == len(rows)
    assert set(FACTORS) <= set(frames.item_scores(database, ["whole"], {}).columns)

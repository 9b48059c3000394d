"""Printed numbers beside one's own: differences by hand, what comes out, misprints, mapping."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from core.analysis.bias.bias import bias
from core.analysis.bias.preference.analysis import preference
from core.analysis.repeatability.random_consistency.analysis import random_consistency
from core.analysis.repeatability.referential_consistency.analysis import referential_consistency
from core.analysis.words.word_association.analysis import word_association
from core.analysis.worldviews.form_agreement import form_agreement
from core.charts.replications import comparison_chart
from core.domain.results import AnalysisResult, Column, ResultTable
from core.errors import NotEnoughData
from core.workflow.replications import comparing
from core.workflow.replications.published import (
    DESIGNS,
    FOLDER,
    printed,
    published_studies,
    published_study,
)
from core.workflow.replications.tables import PUBLISHED_TABLES, published_table, tables_of
from core.workflow.statistics import analyses
from tests.analysis.bias.test_preference import brands
from tests.analysis.brand_counts import brand_counts
from tests.analysis.word_frames import word_counts
from tests.analysis.worldviews.test_form_agreement import people

GOLDEN = Path(__file__).parents[2] / "golden"
GEMMA = "gemma-2b-it"
ANALYSES = {
    "random_consistency": random_consistency,
    "referential_consistency": referential_consistency,
    "bias": bias,
    "preference": preference,
}


def from_answers(code, counts, *, imported=True):
    """The comparison of a published table with the answers in some counts."""
    table = published_table(code)
    outcomes = {}
    for place in table.places:
        options = {**place.options, "by": place.by, "resamples": 50}
        outcomes[place] = ANALYSES[place.analysis](counts.assign(respondent=GEMMA), **options)
    return comparing.compare(table, outcomes, imported=imported)


def result_of(name, **columns):
    """A result with one table of these columns."""
    frame = pd.DataFrame(columns)
    shown = tuple(Column(column, column) for column in frame)
    return AnalysisResult((ResultTable(name, name, frame, shown),), "row", 1, 0, "Method.")


def with_scores(**changes):
    """The score table beside means of one model under both sets of contexts."""
    columns = {
        "respondent": ["Qwen2.5-7B-Instruct"] * 2,
        "context_set": ["conversations", "personas"],
        "subscale": ["all items"] * 2,
        "n_items": [22, 20],
        "n": [101, 101],
        "mean": [1.36, 1.5],
        "sd": [0.44, 0.2],
        "skewness": [0.42, 0.0],
        "kurtosis": [-0.6, math.nan],
    } | changes
    table = published_table("asi_score")
    result = result_of("scores", **columns)
    return table, dict.fromkeys(table.places, result)


@pytest.mark.parametrize(
    "code", ["brand_random_consistency", "brand_referential_consistency", "brand_bias"]
)
def test_the_published_answers_give_the_published_numbers(code):
    found = from_answers(code, brand_counts())
    frame = found.table.frame
    assert frame["model"].tolist() == [GEMMA] * 3
    assert frame["comes_out"].tolist() == ["yes"] * 3
    within = "" if code == "brand_referential_consistency" else "yes"
    assert frame["within"].tolist() == [within] * 3  # a divergence as printed has no interval
    assert set(frame["source"]) <= {"Table 4.4", "Table 4.5", "Table 4.6"}
    assert found.others == 6  # of the two other models
    (answer,) = found.answers
    assert answer.light == "green"
    assert answer.sentence.startswith(
        "The paper's numbers come out: 3 printed numbers beside yours, all equal as rounded."
    )


def test_the_misprint_of_table_4_7_is_named_beside_the_numbers_that_come_out():
    found = from_answers("brand_preference", brands())
    frame = found.table.frame.set_index(["brand_a", "brand_b"])
    assert frame["printed"].tolist() == ["62.6", "59.2", "54.0"]
    assert frame["comes_out"].tolist() == ["known misprint", "yes", "yes"]
    assert frame.loc[("Apple", "Samsung"), "yours"] == pytest.approx(60.57, abs=0.005)
    (answer,) = found.answers
    assert answer.light == "green"
    assert "Apple, Samsung: 62.6 is printed, these answers give 60.6, a known" in answer.sentence
    chart = comparison_chart(found.table, "Wins of the brand (%)", "light")
    assert "gemma-2b-it · Apple · Samsung: 62.6000 published, 60.5667 yours" in chart.alt
    assert chart.panels[0].to_dict()
    assert chart.table["published"].tolist() == [62.6, 59.2, 54.0]
    assert comparison_chart(found.table, "Another number", "dark") is None


def test_the_published_answers_to_words_give_all_five_rates_to_four_decimals():
    tests = pd.read_csv(GOLDEN / "word_association" / "csi_gpt4o_en.csv", dtype=str)["tests"]
    words = word_counts(dict(enumerate(tests)), respondent="gpt-4o", items_per_call="")
    table = published_table("csi_scores")
    result = word_association(words, by=("respondent", "language", "format", "items_per_call"))
    found = comparing.compare(table, dict.fromkeys(table.places, result), imported=True)
    frame = found.table.frame
    assert frame["printed"].tolist() == ["0.4792", "0.2726", "0.2482", "0.7536", "0.0400"]
    assert frame["comes_out"].tolist() == ["yes"] * 5
    assert set(frame["words_per_call"]) == {"30"}  # which imported answers do not state
    by_size = published_table("csi_words_per_call")
    other = comparing.compare(by_size, dict.fromkeys(by_size.places, result))
    assert other.table.frame.empty
    assert other.answers[0].sentence == (
        "No number of yours stands beside a printed one: of yours, no words per call is known as a "
        "published one."
    )


def test_the_answers_of_six_people_give_their_kappas_and_both_exchanged_deviations():
    table = published_table("political_kappa_people")
    result = form_agreement(people(), resamples=50)
    found = comparing.compare(table, dict.fromkeys(table.places, result), imported=True)
    frame = found.table.frame
    assert frame["printed"].tolist() == ["0.90", "0.08", "-0.69", "0.08", "-0.65", "0.12"]
    assert frame["comes_out"].tolist() == [
        "yes",
        "yes",
        "yes",
        "known misprint",
        "yes",
        "known misprint",
    ]
    (answer,) = found.answers
    assert answer.light == "green"
    assert "humans, Negation: SD: 0.08 is printed, these answers give 0.12" in answer.sentence


def test_a_pair_in_the_other_order_is_turned_around():
    table = published_table("brand_preference")
    result = result_of(
        "shares",
        respondent=[GEMMA],
        first=["Samsung"],
        second=["Apple"],
        format=["mean of formats"],
        share=[0.3],
        ci_low=[0.2],
        ci_high=[0.45],
        n=[10],
    )
    found = comparing.compare(table, dict.fromkeys(table.places, result))
    (row,) = found.table.frame.to_dict("records")
    assert row["yours"] == pytest.approx(70)
    assert (row["ci_low"], row["ci_high"]) == (pytest.approx(55), pytest.approx(80))
    assert row["difference"] == pytest.approx(70 - 62.6)
    assert (row["difference_low"], row["difference_high"]) == (
        pytest.approx(55 - 62.6),
        pytest.approx(80 - 62.6),
    )
    assert row["within"] == "yes"


def test_differences_and_their_intervals_by_hand():
    # t of 100 degrees of freedom at .975 is 1.98397; .2 / sqrt(101) = .0199007.
    found = comparing.compare(*with_scores(), imported=True)
    frame = found.table.frame.set_index(["context_set", "quantity"])
    row = frame.loc[("Persona Hub", "Mean")]
    half = 1.98397 * 0.0199007
    assert row["difference"] == pytest.approx(1.5 - 1.09)
    assert row["difference_low"] == pytest.approx(1.5 - half - 1.09, abs=1e-6)
    assert row["difference_high"] == pytest.approx(1.5 + half - 1.09, abs=1e-6)
    assert (row["within"], row["n"]) == ("no", 101)
    assert row["remark"] == "Another size: items 20; the study had 22."
    spread = frame.loc[("Chatbot Arena", "SD")]
    assert math.isnan(spread["difference_low"])
    assert spread["remark"] == "No interval is computed of a standard deviation."
    undefined = frame.loc[("Persona Hub", "Kurtosis")]
    assert (undefined["comes_out"], undefined["within"]) == ("", "")
    (answer,) = found.answers
    assert answer.light == "grey"
    assert answer.sentence.startswith("4 of 7 printed numbers come out. Not so: ")
    assert "(1.09 printed, yours 1.50)" in answer.sentence
    # Of answers that Inkblot asked for, the digits are no question.
    (planned,) = comparing.compare(*with_scores()).answers
    assert (planned.light, planned.sentence) == (
        None,
        "1 of 2 printed values lies in your 95% interval.",
    )


def test_levels_can_be_chosen_and_taken_away():
    table, outcomes = with_scores(respondent=["Mine", "Mine"])
    assert comparing.compare(table, outcomes).table.frame["model"].nunique() == 6
    chosen = comparing.chosen_levels(
        table, {"Llama 3.1 8B Instruct": "", "Persona Hub": "conversations"}
    )
    found = comparing.compare(table, outcomes, chosen)
    assert "Llama 3.1 8B Instruct" not in set(found.table.frame["model"])
    assert set(found.table.frame["yours_of"]) == {"Mine · conversations"}
    with pytest.raises(NotEnoughData, match="Nothing in this table is called 'Nobody'"):
        comparing.chosen_levels(table, {"Nobody": "Mine"})


def test_an_analysis_that_fails_says_why_and_the_rest_of_the_table_stands():
    table, outcomes = with_scores()
    places = list(outcomes)
    outcomes[places[0]] = NotEnoughData("There are no answers.", "Ask some.")
    frame = comparing.compare(table, outcomes).table.frame
    means = frame[frame["quantity"] == "Mean"]
    assert set(means["remark"]) == {"There are no answers. Ask some."}
    assert means["yours"].isna().all()
    assert frame.loc[frame["quantity"] == "SD", "yours"].notna().all()
    nothing = comparing.compare(table, dict.fromkeys(places, outcomes[places[0]]))
    assert nothing.answers[0].sentence == (
        "No number of yours stands beside a printed one. There are no answers. Ask some."
    )


# What was published, and where its counterpart stands.


def test_every_published_file_has_a_table_and_every_number_a_place_or_a_reason():
    files = {path.stem for path in FOLDER.glob("*.csv")}
    assert files == {table.file for table in PUBLISHED_TABLES}
    for table in PUBLISHED_TABLES:
        assert table.without or table.quantities, table.code
        for quantity in table.quantities:
            assert bool(quantity.place) != bool(quantity.without), (table.code, quantity.column)
            place = quantity.place
            assert place is None or place.low or place.interval or place.no_interval, table.code


def test_the_columns_of_a_file_are_keys_numbers_or_words_on_them():
    for table in PUBLISHED_TABLES:
        if table.without:
            continue
        rows = printed(table.file)
        for column, value in table.only.items():
            assert (rows[column] == value).any(), (table.code, column)
        known = {key.column for key in table.keys} | {q.column for q in table.quantities}
        rest = set(rows) - known - set(table.only) - {"source"}
        words = {name for name in rest if name.endswith("_rating")}
        assert rest - words <= OTHER_COLUMNS.get(table.code, set()), table.code
        assert (rows["source"] != "").all()


OTHER_COLUMNS = {
    "brand_random_consistency": {"unit"}, "brand_referential_consistency": {"unit"},
    "brand_bias": {"unit"}, "brand_preference": {"preferred"},  # always the first brand
    "opinions_same_sign": {"questions"},  # the size
    "political_templates": {"statements"},
}  # fmt: skip


def test_every_place_names_an_analysis_and_options_that_it_has():
    for table in PUBLISHED_TABLES:
        for place in table.places:
            options = {option.name for option in analyses.by_name(place.analysis).options}
            assert set(place.options) <= options, (table.code, place.options)


def test_misprints_are_of_cells_that_are_printed_otherwise():
    for study in published_studies():
        codes = {table.code for table in tables_of(study.code)}
        for misprint in study.misprints:
            assert misprint.table in {"", *codes}, misprint
            for cell in misprint.cells:
                rows = printed(published_table(misprint.table).file)
                own = rows[(rows[list(rows)[: len(cell.of)]] == list(cell.of)).all(axis=1)]
                assert len(own) == 1
                assert float(own[cell.column].iloc[0]) != float(cell.gives)


def test_every_study_names_its_designs_and_what_differs():
    assert len(published_studies()) == 5
    for study in published_studies():
        assert study.differs
        assert study.design
        assert all((DESIGNS / file).exists() for file in study.files)
    assert published_study("binary_choice").link.startswith("https://")
    assert {file for s in published_studies() for file in s.files} == {
        path.name for path in DESIGNS.glob("*.yaml")
    }


def test_an_unknown_table_is_answered_with_those_there_are():
    with pytest.raises(NotEnoughData, match="There is no published table 'asi'"):
        published_table("asi")


def test_printed_ratings_stand_beside_ones_own():
    table = published_table("asi_reliability")
    result = result_of(
        "criteria",
        respondent=["Mine"] * 3,
        context_set=["personas"] * 3,
        criterion=["internal consistency", "alternate form", "option order"],
        value=[0.86, 0.4, math.nan],
        ci_low=[0.8, 0.1, math.nan],
        ci_high=[0.9, 0.6, math.nan],
        n=[296, 296, 0],
        rating=["++", "--", ""],
        remark=["", "", "Not collected."],
    )
    found = comparing.compare(table, dict.fromkeys(table.places, result))
    own = found.table.frame.query("model == 'Llama 3.3 70B Instruct'")
    assert own["rating"].tolist() == ["++", "++", "++"]
    assert own["rating_yours"].tolist() == ["++", "--", ""]
    assert own["remark"].tolist() == ["", "", "Not collected."]
    assert own["in_print"].tolist() == [
        "0.86 is printed, and what is printed of items, subscales and scale (tables B.4 to B.15, "
        "B.3, 5.1) gives 0.840 to 0.849.",
        "",
        "",
    ]

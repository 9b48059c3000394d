"""Analyses over the answers of a study that crosses more than one thing."""

import pytest

from core.domain.study import Context, Design
from core.errors import NotEnoughData
from core.workflow.answers import bank_attachment, imports
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses
from tests.workflow.studies import freeze, personas, simulated


def analyzed(workspace, name, **options):
    return analyses.run(workspace, name, ["study"], options, {})


def collected(workspace, **factors):
    freeze(workspace, simulated(), **factors)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)


def test_answers_in_different_formats_are_never_pooled(workspace):
    collected(
        workspace,
        bank="brand_100",
        formats=("yes_no", "likert_4"),
        entities=("Acme",),
        templates=("question",),
        n_personas=3,
    )
    result = analyzed(workspace, "item_statistics")
    table = result.tables[0].frame
    assert set(table["format"]) == {"yes_no", "likert_4"}
    assert table.groupby("format")["mean"].max()["yes_no"] <= 1
    assert any("several formats" in note for note in result.notes)
    one = analyses.run(workspace, "item_statistics", ["study"], {}, {"format": ["yes_no"]})
    assert "format" not in one.tables[0].frame.columns


def test_forms_that_point_the_other_way_are_turned_before_they_are_scored(workspace):
    collected(
        workspace,
        bank="policy_60",
        formats=("agree_disagree",),
        n_personas=20,
        forms=("original", "negation"),
        templates=("personal_1",),
    )
    frame = workspace.database.rows(
        "select a.form, i.keyed, r.option, count(*) from trial t"
        " join administration a using (administration_id) join item i using (item_id)"
        " join response r using (trial_id) group by all"
    )
    agreed = {(form, keyed): n for form, keyed, option, n in frame if option == "agree"}
    result = analyzed(workspace, "item_statistics", by=("form",))
    means = result.tables[0].frame.groupby(["form", "keyed"])["mean"].mean()
    items = result.tables[0].frame.groupby(["form", "keyed"])["item"].nunique()
    for form, keyed in agreed:
        share = agreed[form, keyed] / (items[form, keyed] * 20)
        same = keyed == (1 if form == "original" else -1)
        assert abs(means[form, keyed] - (share if same else 1 - share)) < 1e-12


def test_the_verdicts_of_a_report_say_whether_each_group_passed(workspace):
    collected(workspace, bank="attitude_22", forms=("original", "alternate"), n_personas=40)
    report = analyzed(workspace, "validation_report", resamples=100)
    ((group, sentence, light),) = analyses.by_name("validation_report").answer(report)
    assert group == "Simulated · personas"
    table = report.tables[0].frame.iloc[0]
    assert sentence.startswith(table["verdict"])
    assert light == ("red" if "no" in (table["reliable"], table["valid"]) else "grey")


def test_numbers_may_be_typed_with_commas_between_or_within_them():
    analysis = analyses.by_name("validation_report")
    for text in ("0.8 0.7 0.5", "0.8, 0.7, 0.5", "0.8;0.7;0.5", "0,8 0,7 0,5"):
        found = analyses.options_from_text(analysis, {"form_bands": text})
        assert found == {"form_bands": (0.8, 0.7, 0.5)}
    with pytest.raises(NotEnoughData, match="cannot be 'high'"):
        analyses.options_from_text(analysis, {"form_bands": "high"})


def test_rows_of_the_command_line_are_read_by_their_columns():
    analysis = analyses.by_name("norm_comparison")
    found = analyses.options_from_text(analysis, {"norms": "all items, 2.5, 0.8, 512; x,1,1,9"})
    assert found == {"norms": (("all items", 2.5, 0.8, 512.0), ("x", 1.0, 1.0, 9.0))}
    for wrong in ("all items, 2.5", "all items, much, 1, 5"):
        with pytest.raises(NotEnoughData, match="Option 'norms'"):
            analyses.options_from_text(analysis, {"norms": wrong})


def test_missing_answers_are_counted_by_kind_of_context_and_every_factor_of_the_design(workspace):
    """As Table B.2 of Jung (2025) counts them: by model, set of contexts and form."""
    person = simulated(refusal_rate=0.3, seed=3)
    catalog.save(workspace, person)
    talk = ({"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"})
    contexts = (*personas(3), Context("talk 1", messages=talk), Context("talk 2", messages=talk))
    forms = ("original", "alternate")
    design = Design("study", "attitude_22", (person.label,), contexts=contexts, forms=forms)
    studies.freeze(workspace, design)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    counted = workspace.database.rows(
        "select case when starts_with(a.context, 'talk') then 'conversations' else 'personas' end,"
        " a.form, count(*), count(*) filter (r.option is null) from trial t"
        " join administration a using (administration_id) left join response r using (trial_id)"
        " group by all"
    )
    result = analyzed(workspace, "option_distribution", by=("respondent", "context_set", "form"))
    summary = result.tables[1].frame
    keys = ["context_set", "form", "n_trials", "n_unusable"]
    assert sorted(summary[keys].itertuples(index=False, name=None)) == sorted(counted)
    assert summary["n_unusable"].min() > 0
    shares = summary["n_unusable"] / summary["n_trials"]
    assert summary["share_unusable"].tolist() == shares.tolist()
    for factor, groups in (("context", 5), ("repetition", 1), ("rewriting", 1), ("language", 1)):
        found = analyzed(workspace, "option_distribution", by=(factor,)).tables[1].frame
        assert len(found) == groups
        assert found["n_unusable"].sum() == sum(row[3] for row in counted)


def test_a_result_has_the_wording_of_every_item_in_the_language_of_its_answers(workspace):
    collected(workspace, languages=("en", "de"), n_personas=2)
    items = studies.frozen_bank(workspace, "study").items
    both = analyzed(workspace, "item_statistics").item_texts
    assert both == {item.code: item.text("en") for item in items}
    german = analyses.run(workspace, "item_statistics", ["study"], {}, {"language": ["de"]})
    assert german.item_texts == {item.code: item.text("de") for item in items} != both


def test_wordings_of_a_result_hold_the_place_of_the_entity(workspace):
    collected(
        workspace,
        bank="brand_20",
        entities=("Acme", "Apex"),
        templates=("question",),
        n_personas=2,
    )
    shown = analyzed(workspace, "option_distribution").item_texts
    assert all("{entity}" in text for text in shown.values())
    assert len(shown) == 20


def test_answers_without_a_bank_have_no_wordings_until_one_is_attached(workspace):
    rows = ["study,instrument,model,item,answer"]
    rows += [
        f"people,own,p{person},{item},{1 + (person + place) % 5}"
        for person in range(4)
        for place, item in enumerate(("nature_01", "nature_02"))
    ]
    imports.import_tidy(workspace, "people.csv", "\n".join(rows).encode())
    options = {"by": ()}
    alone = analyses.run(workspace, "item_statistics", ["people"], options, {})
    assert alone.item_texts == {}
    bank_attachment.attach(workspace, "people", "attitudes_20")
    attached = analyses.run(workspace, "item_statistics", ["people"], options, {})
    bank = studies.frozen_bank(workspace, "people")
    assert attached.item_texts["nature_02"] == bank.item("nature_02").text("en") != ""

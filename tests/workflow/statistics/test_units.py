"""The unit of analysis through the whole way: averaging, its notes, and cautions on copies."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core.domain.study import Context
from core.errors import NotEnoughData
from core.store import frames
from core.workflow.answers import imports
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.statistics import analyses, roles
from core.workflow.statistics import frames as analysis_frames
from core.workflow.statistics import frames as units
from tests.workflow.studies import freeze, personas, service, simulated

COLD = "Rows are repetitions at temperature 0"


def ask(workspace, person=None, **factors):
    freeze(workspace, person or simulated(), n_personas=4, **factors)
    control.start(workspace, factors.get("study", "study"))
    control.wait(workspace, factors.get("study", "study"), every_s=0.02)


def items(workspace, name="item_statistics", over=(), **options):
    return analyses.run(workspace, name, ["study"], options, {}, over)


def test_averaging_over_repetitions_leaves_one_row_for_each_context(workspace):
    ask(workspace, repetitions=3)
    found = items(workspace, over=["repetition"])
    assert found.n_planned == 4 * 20
    assert items(workspace).n_planned == 3 * 4 * 20
    assert found.unit.endswith(", averaged over repetitions")
    assert any("240 scores were averaged into 80 over repetitions" in note for note in found.notes)
    frame = frames.item_scores(workspace.database, ["study"], {})
    expected = frame.groupby("item", observed=True)["score"].mean()
    table = found.tables[0].frame
    assert table.set_index("item")["mean"].to_dict() == pytest.approx(expected.to_dict())


def test_answers_without_a_score_are_counted_where_averages_hide_them(workspace):
    ask(workspace, simulated(refusal_rate=0.2), repetitions=3)
    missing = items(workspace).n_planned - items(workspace).n_used
    found = items(workspace, over=["repetition"])
    (note,) = (note for note in found.notes if "were averaged into" in note)
    assert 0 < missing < 240
    assert f"{missing} answers ({missing / 2.4:.1f}%) had no score" in note
    assert found.n_planned - found.n_used < missing


def test_what_is_set_side_by_side_or_compared_is_not_averaged(workspace):
    ask(workspace, repetitions=2)
    beside = items(workspace, over=["repetition"], by=("repetition",))
    assert beside.tables[0].frame["repetition"].nunique() == 2
    compared = items(workspace, "score_correlations", over=["repetition"], factor="repetition")
    assert compared.n_planned == 2 * 4 * 20
    assert (
        roles.factors_to_average(
            analyses.by_name("item_statistics"), {"by": ("model",)}, ["respondent"]
        )
        == ()
    )


def test_repetitions_at_temperature_0_are_called_copies(workspace, monkeypatch):
    ask(workspace, repetitions=2)

    def copies(**way):
        """The cautions on copies, of all that the few answers give."""
        return [text for text in items(workspace, **way).cautions if text.startswith(COLD)]

    pooled = {"by": ("respondent",)}
    assert copies(**pooled) == []  # simulated: drawn anew
    cold = service("http://127.0.0.1:9", label="Simulated")
    monkeypatch.setattr(studies, "respondents_of", lambda *_: (cold,))
    (caution,) = copies(**pooled)
    assert caution.startswith(f"{COLD} (Simulated)")
    for way in ({"over": ["repetition"]}, {"by": ("repetition",)}):
        assert copies(**way) == []
    warm = replace(cold, sampling=replace(cold.sampling, temperature=0.7))
    monkeypatch.setattr(studies, "respondents_of", lambda *_: (warm,))
    assert copies(**pooled) == []


def test_repetitions_at_temperature_0_are_set_side_by_side_unasked(workspace, monkeypatch):
    ask(workspace, repetitions=2)
    assert "repetition" not in items(workspace).tables[0].frame  # simulated: drawn anew
    cold = service("http://127.0.0.1:9", label="Simulated")
    monkeypatch.setattr(studies, "respondents_of", lambda *_: (cold,))
    found = items(workspace)
    assert found.tables[0].frame["repetition"].unique().tolist() == [1, 2]
    assert not any(COLD in note for note in found.all_notes)
    assert "repetition" not in items(workspace, over=["repetition"]).tables[0].frame
    analysis = analyses.by_name("score_correlations")
    options = {"factor": "repetition"}
    compared = roles.default_groups(workspace, analysis, ["study"], options, {})
    assert compared == ("respondent",)


def test_repetitions_without_contexts_are_chance_not_individuals(workspace):
    person = simulated()
    catalog.save(workspace, person)
    freeze(workspace, person, n_personas=0, repetitions=3)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    assert any("chance in sampling, not individuals" in note for note in items(workspace).cautions)


def test_every_factor_that_makes_rows_is_explained():
    assert roles.implications(["context", "form"]) == (
        "Rows differ in contexts: a persona or conversation makes an individual of the model, and "
        "people would be compared in the same way.",
    )
    (one,) = roles.implications(["entity", "entity_b"])
    assert one.startswith("Rows differ in entities and second entities: what is judged")


def test_contexts_bring_their_kind_and_origin(workspace):
    person = simulated()
    catalog.save(workspace, person)
    talk = ({"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"})
    contexts = (
        *personas(2),
        Context("talk", messages=talk),
        Context("p2b", "A rewritten one.", variant_of="p0002"),
    )
    design = studies.Design("study", "attitudes_20", (person.label,), contexts=contexts)
    studies.freeze(workspace, design)
    frame = analysis_frames.item_scores(workspace, ["study"], {})
    cases = frame.drop_duplicates("context").astype(str).set_index("context")
    assert cases["context_set"].to_dict() == {
        "p0001": "personas",
        "p0002": "personas",
        "talk": "conversations",
        "p2b": "personas",
    }
    assert cases.loc["p2b", ["rewriting", "origin"]].tolist() == ["rewritten", "p0002"]
    assert cases.loc["talk", ["rewriting", "origin"]].tolist() == ["original", "talk"]


def test_answers_can_be_set_side_by_side_by_study_and_kind_of_context(workspace):
    ask(workspace)
    ask(workspace, simulated(seed=9), study="second")
    found = analyses.run(
        workspace, "item_statistics", ["study", "second"], {"by": ("study", "context_set")}, {}
    )
    rows = found.tables[0].frame
    assert rows["study"].unique().tolist() == ["study", "second"]
    assert rows["context_set"].unique().tolist() == ["personas"]


def test_a_filter_by_an_unknown_factor_is_refused(workspace):
    ask(workspace)
    with pytest.raises(NotEnoughData, match="no factor 'colour'"):
        analyses.run(workspace, "item_statistics", ["study"], {}, {"colour": ["red"]})


def test_ways_of_asking_that_are_pooled_are_named(workspace):
    ask(workspace, label_orders=("as_is", "inverted"))
    pooled = "pooled over 2 orders of options"
    cautions = items(workspace, by=("respondent",)).cautions
    assert sum(pooled in caution for caution in cautions) == 1
    for way in ({"over": ["label_order"]}, {"by": ("label_order",)}, {}):
        assert not any(pooled in note for note in items(workspace, **way).all_notes)
    assert not any(
        pooled in note
        for note in items(workspace, "score_correlations", factor="label_order").all_notes
    )


VARIED = {
    "languages": ("en", "de"),
    "label_orders": ("as_is", "inverted"),
    "repetitions": 2,
}


def default_groups(workspace, name, options=None, where=None, over=()):
    analysis = analyses.by_name(name)
    return roles.default_groups(workspace, analysis, ["study"], options or {}, where or {}, over)


def test_ways_of_asking_are_set_side_by_side_where_nobody_has_chosen(workspace):
    ask(workspace, **VARIED)
    both = ("respondent", "label_order", "language")
    assert default_groups(workspace, "item_statistics") == both
    assert default_groups(workspace, "item_map") == ("respondent", "context_set", *both[1:])
    table = items(workspace).tables[0].frame
    assert len(table[["language", "label_order"]].drop_duplicates()) == 4
    where = {"language": ["de"], "item": ["nature_01"], "context": ["p0001", "p0002"]}
    assert default_groups(workspace, "item_statistics", where=where) == both[:2]
    assert default_groups(workspace, "item_statistics", over=["language"]) == both[:2]
    averaged = items(workspace, over=["language"])
    assert "language" not in averaged.tables[0].frame
    assert averaged.unit.endswith(", averaged over languages")


def test_what_an_analysis_compares_is_not_set_side_by_side(workspace):
    ask(workspace, **VARIED)
    assert default_groups(workspace, "invariance") == ("respondent", "label_order")  # of languages
    # matched on sums of options, of which a mean over repetitions is none
    assert default_groups(workspace, "dif") == ("respondent", "label_order", "repetition")
    by = default_groups(workspace, "dif", {"factor": "label_order"})
    assert by == ("respondent", "language", "repetition")
    assert default_groups(workspace, "unexpected_outputs") == ("respondent", "label_order")
    ways = ("respondent", "format", "label_order", "language")
    assert default_groups(workspace, "invalid_answers") == ways
    report = default_groups(workspace, "validation_report")
    assert report == ("respondent", "context_set", "language")  # orders are a criterion of it
    # the same persona in two languages is no second individual
    assert default_groups(workspace, "multitrait_matrix") == ("respondent", "language")
    for name in ("option_distribution", "odds_ratios"):
        assert default_groups(workspace, name) == ("respondent",)  # pooled without a caution


def test_counts_begin_with_entities_and_ways_of_asking_side_by_side(workspace):
    rows = [
        {
            "study": "study",
            "item": item,
            "answer": "yes",
            "format": "yes_no",
            "entity": entity,
            "language": language,
            "repetition": repetition,
        }
        for item, entity, language, repetition in itertools.product(
            ("i1", "i2"), ("Apple", "Huawei"), ("en", "de"), (1, 2)
        )
    ]
    data = pd.DataFrame(rows).to_csv(index=False).encode()
    imports.import_tidy(workspace, "study.csv", data)
    asked = ("respondent", "entity", "language")
    assert default_groups(workspace, "random_consistency") == asked
    assert default_groups(workspace, "option_distribution") == ("respondent",)
    one = {"language": ["de"]}
    assert default_groups(workspace, "random_consistency", where=one) == asked[:2]
    found = analyses.run(workspace, "random_consistency", ["study"], {}, {})
    assert found.tables[0].frame["repeatability"].tolist() == [1.0] * 4


def test_templates_that_phases_decide_are_not_set_beside_them(workspace):
    rows = [
        {
            "study": "study",
            "item": "i1",
            "answer": "yes",
            "language": language,
            "phase": phase,
            "template": template,
        }
        for language in ("en", "de")
        for phase, template in (("initial", "question"), ("opposing", "reversal"))
    ]
    imports.import_tidy(workspace, "study.csv", pd.DataFrame(rows).to_csv(index=False).encode())
    asked = ("respondent", "format", "language", "phase")
    assert default_groups(workspace, "invalid_answers") == asked
    more = pd.DataFrame([*rows, rows[0] | {"template": "polite"}]).to_csv(index=False).encode()
    imports.import_tidy(workspace, "more.csv", more.replace(b"study,i1", b"more,i1"))
    analysis = analyses.by_name("invalid_answers")
    by = roles.default_groups(workspace, analysis, ["more"], {}, {})
    assert by == ("respondent", "format", "template", "language", "phase")


def test_tests_of_statements_keep_entities_and_languages_apart_and_label_pairs_together(workspace):
    """Answers of a brand study: templates with label pairs of their own, one order, one form."""
    rows = [
        {
            "study": "study",
            "item": "i1",
            "answer": answer,
            "format": pair,
            "template": template,
            "entity": entity,
            "language": language,
            "repetition": repetition,
        }
        for (template, pair, answer), entity, language, repetition in itertools.product(
            (("t1", "yes_no", "yes"), ("t2", "support_oppose", "support")),
            ("Apple", "Huawei"),
            ("en", "de"),
            range(1, 11),
        )
    ]
    imports.import_tidy(workspace, "study.csv", pd.DataFrame(rows).to_csv(index=False).encode())
    for name, table in (("stance_reliability", "groups"), ("form_agreement", "alpha")):
        assert default_groups(workspace, name) == ("respondent", "entity", "language")
        result = analyses.run(workspace, name, ["study"], {}, {})
        frame = next(one.frame for one in result.tables if one.name == table)
        assert len(frame) == 4
        assert "format" not in frame
        assert set(frame["templates"]) == {2}


def test_a_factor_that_goes_with_what_is_compared_is_not_set_side_by_side(workspace):
    ask(workspace, languages=("en",), label_orders=("as_is", "inverted"))
    ask(workspace, simulated(), study="second", languages=("de",))
    codes = ["study", "second"]
    options = {"factor": "study"}
    for name in ("score_correlations", "group_comparison"):
        analysis = analyses.by_name(name)
        by = roles.default_groups(workspace, analysis, codes, options, {})
        assert by == ("respondent", "label_order")  # each study has one language
    found = analyses.run(workspace, "group_comparison", codes, {"factor": "language"}, {})
    assert set(found.tables[0].frame["label_order"]) == {"as_is", "inverted"}


def test_a_factor_of_many_levels_is_pooled_with_a_caution(workspace):
    languages = [f"l{number:02}" for number in range(13)]
    people = [{"context": f"person {number}"} for number in range(2)]
    for several, shown in ((languages[:12], True), (languages, False)):
        study = f"study{len(several)}"
        rows = [
            {
                "study": study,
                "instrument": "attitudes_20",
                "item": "nature_01",
                "answer": 1 + n % 5,
                "language": language,
                **person,
            }
            for n, (language, person) in enumerate(itertools.product(several, people))
        ]
        data = pd.DataFrame(rows).to_csv(index=False).encode()
        imports.import_tidy(workspace, "people.csv", data)
        found = analyses.run(workspace, "item_statistics", [study], {}, {})
        assert ("language" in found.tables[0].frame) == shown
        assert any("pooled over 13 languages" in note for note in found.cautions) != shown


def test_a_page_begins_with_what_the_command_line_takes_until_the_user_chooses(workspace):
    ask(workspace, **VARIED)
    analysis = analyses.by_name("item_statistics")
    saved = analyses.saved_options(workspace, "study", analysis)["by"]
    assert saved == default_groups(workspace, "item_statistics")
    german = units.ChosenAnswers(where={"language": ["de"]})
    assert analyses.saved_options(workspace, "study", analysis, german)["by"] == saved[:2]
    analyses.save_option(workspace, "study", analysis, "by", ("respondent",))
    assert analyses.saved_options(workspace, "study", analysis)["by"] == ("respondent",)
    comparison = analyses.by_name("score_correlations")  # of languages, the first that vary
    at_first = analyses.saved_options(workspace, "study", comparison)
    assert at_first["factor"] not in at_first["by"]
    assert len(at_first["by"]) == 2


def test_a_model_beside_people_is_compared_with_them_until_the_user_chooses(workspace):
    """A study of one model has nothing to compare; with another study beside it, it has."""
    ask(workspace, simulated("One"))
    ask(workspace, simulated("Two"), study="beside")
    comparison = analyses.by_name("group_comparison")
    alone = analyses.saved_options(workspace, "study", comparison)
    assert alone["factor"] == next(o.initial for o in comparison.options if o.name == "factor")
    both = units.ChosenAnswers(others=("beside",))
    chosen = analyses.saved_options(workspace, "study", comparison, both)
    assert chosen["factor"] == "respondent"
    found = analyses.run(workspace, "group_comparison", ["study", "beside"], chosen, {})
    assert set(found.tables[0].frame["group"]) == {"One", "Two"}


def test_people_stand_beside_a_model_by_who_answered_alone(workspace):
    """Nobody says in which order people saw the options; a model was asked in one."""
    ask(workspace)
    rows = "\n".join(f"p{n},nature_0{i},{(n + i) % 5 + 1}" for n in range(9) for i in (1, 2, 3))
    imports.import_tidy(
        workspace, "people.csv", f"person,item,answer\n{rows}".encode(), bank="attitudes_20"
    )
    both = units.ChosenAnswers(others=("study",))
    for name in ("item_statistics", "internal_consistency"):
        chosen = analyses.saved_options(workspace, "people", analyses.by_name(name), both)
        assert chosen["by"] == ("respondent",)
    for name in ("dif", "invariance", "group_comparison"):
        chosen = analyses.saved_options(workspace, "people", analyses.by_name(name), both)
        assert chosen["factor"] == "respondent"


def test_the_ends_of_the_answer_format_come_from_the_bank(workspace):
    ask(workspace)
    frame = analysis_frames.item_scores(workspace, ["study"], {})
    options = studies.frozen_bank(workspace, "study").formats[0].options
    points = [option.points for option in options]
    assert set(frame["lowest"]) == {min(points)}
    assert set(frame["highest"]) == {max(points)}


def brought_in(workspace, people, *, repetitions=1, languages=("en", "de")):
    """A study of people, every other of whom answered in another language."""
    rng = np.random.default_rng(5)
    codes = [f"{name}_{number:02}" for name in ("nature", "technology") for number in range(1, 11)]
    rows = [
        {
            "study": "study",
            "instrument": "attitudes_20",
            "item": code,
            "answer": int(rng.integers(1, 6)),
            "repetition": repetition,
            "language": languages[number % len(languages)],
            **person,
        }
        for number, person in enumerate(people)
        for repetition, code in itertools.product(range(1, repetitions + 1), codes)
    ]
    data = pd.DataFrame(rows).to_csv(index=False).encode()
    imports.import_tidy(workspace, "people.csv", data)


PEOPLE = {
    "as respondents": [{"model": f"person {number}"} for number in range(30)],
    "as contexts": [{"context": f"person {number}"} for number in range(30)],
}


@pytest.mark.parametrize("people", PEOPLE.values(), ids=PEOPLE)
def test_people_who_each_answered_in_one_language_are_neither_models_nor_repetitions(
    workspace, people
):
    brought_in(workspace, people)
    for name in (
        "item_statistics",
        "reliability",
        "internal_consistency",
        "score_distribution",
        "item_map",
        "group_comparison",
        "multitrait_matrix",
        "cfa",
        "cfa_check",
        "graded_response",
        "norm_comparison",
    ):
        options = {"by": ()} if name != "group_comparison" else {"by": (), "factor": "language"}
        if name == "reliability":
            options["resamples"] = 100
        if name == "norm_comparison":
            options["norms"] = (("all items", 3.0, 1.0, 100.0),)
        found = items(workspace, name, **options)
        told = " ".join((found.unit, found.method, *found.all_notes))
        assert "pooled over" not in told, name
        for word in ("of one model", "of a model", "epeated", "repetition"):
            assert word not in told, (name, told)


def test_people_who_answered_in_both_languages_count_twice(workspace):
    brought_in(workspace, [{"model": f"person {n // 2}"} for n in range(20)])
    start = "Rows are pooled over 2 languages, so that the same respondent counts"
    assert sum(note.startswith(start) for note in items(workspace, by=()).cautions) == 1
    assert not any("pooled over" in n for n in items(workspace, by=("language",)).all_notes)


def test_people_asked_twice_are_said_to_be_so(workspace):
    brought_in(workspace, PEOPLE["as respondents"][:8], repetitions=2)
    notes = items(workspace, by=()).cautions
    assert any(note.startswith("The same respondents answered several times") for note in notes)
    assert not any("model" in note for note in roles.implications(["respondent"], brought_in=True))


def test_opinions_on_entities_stay_apart_and_are_never_pooled_in_silence(workspace):
    """One answer each on two brands: w needs two answers to the same question on the same brand."""
    rows = [
        {
            "study": "study",
            "item": item,
            "answer": answer,
            "format": "yes_no",
            "entity": entity,
            "language": language,
            "repetition": 1,
        }
        for item, (entity, answer), language in itertools.product(
            ("i1", "i2"), (("Apple", "yes"), ("Huawei", "no")), ("en", "de")
        )
    ]
    imports.import_tidy(workspace, "study.csv", pd.DataFrame(rows).to_csv(index=False).encode())
    assert default_groups(workspace, "opinions") == ("respondent", "language", "entity")
    assert default_groups(workspace, "cross_language") == ("respondent", "entity")
    assert default_groups(workspace, "cross_language", {"compare": "entity"}) == ("respondent",)
    found = analyses.run(workspace, "opinions", ["study"], {}, {}).tables[0].frame
    assert found["b"].tolist() == [1, -1, 1, -1]
    assert found["w"].isna().all()
    for name, by in (("opinions", ("respondent", "language")), ("cross_language", ("respondent",))):
        result = analyses.run(workspace, name, ["study"], {"by": by}, {})
        assert any("an item has answers on 2 entities" in text for text in result.cautions)
    compared = {"by": ("respondent",), "compare": "entity"}
    cautions = analyses.run(workspace, "cross_language", ["study"], compared, {}).cautions
    assert not any("entities" in text for text in cautions)

"""The sample studies of the tour: every page has numbers with one of them, and none is red."""

from __future__ import annotations

import pytest
import streamlit

import app
from core import __main__ as command_line
from core.workflow import background, next_steps, tour
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.runs import control
from core.workflow.statistics import analyses, fits, languages
from pages.shared import analysis_page
from tests.pages import apps

TABLES_AND_CHARTS = ("dataframe", "arrow_data_frame", "table", "vega_lite_chart")
WITHOUT_TABLES = ("", "audit", "report", "glossary")
"""Pages of links, forms and texts. Audits have no table before somebody has coded replies."""
OPENED = {
    "texts": (
        {"study": "sample_letters", "step": "counts"},
        {"study": "sample_ratings", "step": "judge"},
    ),
    "explore": ({"study": "sample_scale"}, {"study": "sample_words"}),
    "answers": ({"study": "sample_scale"}, {"study": "sample_letters"}),
}
"""What pages of several kinds of studies are opened with."""
PAGES = [
    "" if page.script == "pages/home.py" else page.script.split("/")[1].removesuffix(".py")
    for page in app.PAGES
]
SHOWN = [one for one in analyses.all_analyses() if tour.shown_by(one)]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    path = tmp_path_factory.mktemp("tour") / "tour.duckdb"
    assert command_line.main(["--db", str(path), "sample", "tour"]) == 0
    found = open_workspace(path)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def tour_on_file(loaded, monkeypatch):
    streamlit.cache_data.clear()
    monkeypatch.setattr(analysis_page, "WAIT_S", 90)
    monkeypatch.setenv("INKBLOT_DB", loaded.database.path)


def elements(block):
    """Every element of a page, those in tabs and menus too."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from elements(child)


def faults(at, *, with_numbers):
    """What is wrong with a page of the tour: red, a caution, or nothing to see."""
    found = [f"exception: {one.value}" for one in at.exception]
    found += [f"error: {one.value}" for one in at.error]
    # that people are simulated is said of all of them, and changes no number
    found += [
        f"warning: {one.value}"
        for one in at.warning
        if not one.value.startswith(("**Simulated.**", "**Local model.**"))
    ]
    shown = list(elements(at.main))
    labels = [one.proto.popover.label for one in shown if one.type == "popover"]
    found += [f"caution: {label}" for label in labels if label.endswith(" important")]
    found += [f"does not fit: {one.key}" for one in at.button if one.key == "compute_anyway"]
    if with_numbers and not any(one.type in TABLES_AND_CHARTS for one in shown):
        found.append("no table and no chart")
    return found


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        (page, parameters)
        for page in PAGES
        if page not in {analysis.topic for analysis in SHOWN}
        for parameters in OPENED.get(page, ({"study": "sample_scale"},))
    ],
)
def test_a_page_has_something_to_see_and_nothing_is_red(page, parameters):
    at = apps.run_page(page, timeout=90, **parameters)
    assert faults(at, with_numbers=page not in WITHOUT_TABLES) == []


@pytest.mark.parametrize("analysis", SHOWN, ids=lambda one: one.name)
def test_an_analysis_has_numbers_that_are_read_as_they_stand(analysis):
    study = tour.shown_by(analysis).code
    at = apps.run_page(analysis.topic, timeout=90, study=study, analysis=analysis.name)
    assert faults(at, with_numbers=True) == []
    assert not [one.value for one in at.caption if "used **0**" in one.value]


def test_every_analysis_has_a_sample_study_but_those_that_need_people():
    """Norms and codes of annotators come from people; nobody simulates them."""
    without = {one.name for one in analyses.all_analyses()} - {one.name for one in SHOWN}
    assert without == {"norm_comparison", "annotator_agreement"}
    assert {one.topic for one in SHOWN} <= set(PAGES)


def test_the_button_on_home_says_when_all_is_loaded_and_chooses_the_scale(loaded):
    at = apps.fine(apps.open_page("").button(key="sample_tour").click().run())
    assert background.known(f"tour:{loaded.process}").wait(60)
    at = apps.fine(at.run())
    assert [one.value for one in at.success if "are loaded" in one.value]
    assert at.session_state["chosen_study"] == "sample_scale"
    assert tour.missing(loaded) == ()


def test_a_second_phase_that_is_not_counted_is_in_no_sentence_on_what_is_averaged():
    at = apps.run_page("opinions", timeout=90, study="sample_opinions", analysis="opinions")
    words = " ".join(one.value for one in [*at.caption, *at.markdown])
    assert "Set apart: respondents (2), languages (2). Counted together: repetitions (5)" in (
        words.replace("\\", "")
    )
    assert "mean over" not in words


@pytest.mark.parametrize(
    ("analysis", "study"),
    [("word_association", "sample_scale"), ("random_consistency", "sample_scale")],
)
def test_what_does_not_fit_is_grey_and_leads_to_a_sample_study_that_fits(analysis, study):
    chosen = analyses.by_name(analysis)
    at = apps.open_page(chosen.topic, timeout=90, study=study, analysis=analysis)
    assert not at.error
    assert not at.dataframe
    at = apps.fine(at.button(key="see_sample").click().run())
    assert at.selectbox[0].value == tour.shown_by(chosen).code
    assert faults(at, with_numbers=True) == []


def test_the_words_that_are_counted_in_texts_are_those_of_lists():
    at = apps.open_page("texts", timeout=90, study="sample_letters", step="counts")
    assert at.dataframe[0].value[["strength", "care"]].to_numpy().sum() > 0


def test_what_does_not_fit_is_computed_where_somebody_wants_it():
    at = apps.open_page("words", timeout=90, study="sample_scale", analysis="word_association")
    at = apps.fine(at.button(key="compute_anyway").click().run())
    assert at.dataframe


def test_home_leads_each_study_to_the_page_of_its_kind(loaded):
    runs = {run.study: run for run in control.list_runs(loaded)}
    pages = {
        record.code: next_steps.next_steps(loaded, record, runs[record.code])[0].page
        for record in studies.list_studies(loaded)
    }
    assert pages == {
        "sample_scale": "item_statistics",
        "sample_validation": "validation_report",
        "sample_nature": "item_statistics",
        "sample_opinions": "opinions",
        "sample_stances": "worldview",
        "sample_preference": "bias",
        "sample_brands": "bias",
        "sample_words": "words",
        "sample_letters": "texts",
        "sample_stories": "texts",
        "sample_ratings": "texts",
    }


def test_rows_of_a_language_have_its_wordings_behind_the_numbers(loaded):
    at = apps.open_page(
        "item_statistics", timeout=90, study="sample_scale", analysis="item_statistics"
    )
    items = next(one.value for one in at.dataframe if "Item: wording" in one.value.columns)
    columns = list(items.columns)
    assert columns.index("M") < columns.index("Item: wording")
    texts = items.drop_duplicates(["Item", "Language"]).pivot(
        index="Item", columns="Language", values="Item: wording"
    )
    bank = studies.frozen_bank(loaded, "sample_scale")
    for item in bank.items:
        assert texts.loc[item.code].to_dict() == {
            language: item.text(language) for language in ("de", "en")
        }
    assert (texts["de"] != texts["en"]).all()


def test_another_template_of_a_second_phase_is_no_other_wording(loaded):
    assert not fits.what_a_study_has(loaded, "sample_opinions")["forms"]
    assert fits.what_a_study_has(loaded, "sample_stances")["forms"]
    assert fits.what_a_study_has(loaded, "sample_validation")["forms"]


def test_languages_says_of_items_of_scores_and_of_invariance_in_one_place(loaded):
    at = apps.open_page("languages", timeout=90, study="sample_scale")
    said = "\n".join(one.value for one in at.markdown).replace("\\", "").replace("\u00a0", " ")
    options = {"factor": "language", "by": ("respondent",)}
    for name in ("score_correlations", "invariance"):
        result = analyses.run(loaded, name, ["sample_scale"], options, {})
        for answer in analyses.by_name(name).answer(result):
            assert answer.sentence in said
    in_short = said.split("Do the answers depend on the language?")[1]
    lead = "**Steady (simulated): in part.** :green[:material/check_circle:] Items keep "
    assert in_short.strip().startswith(lead)
    assert ":green[:material/check_circle:] Contexts keep their order" in in_short
    assert ":red[:material/cancel:] Items do not measure the same in all respects" in in_short
    few = apps.open_page("languages", timeout=90, study="sample_opinions")
    assert "Contexts keep" not in "".join(one.value for one in few.markdown)
    assert any(languages.NO_INDIVIDUALS in one.value for one in few.caption)
    assert "No levels of language can be compared" in " ".join(
        one.value for one in few.caption
    ).replace("\\", "")
    assert not few.error

"""The page Prompt templates: write, preview, test, save, restore, exchange."""

from __future__ import annotations

from core.domain.templates import PromptTemplate, TemplateText
from core.workflow.templates import editing
from tests.pages import apps
from tests.workflow.studies import freeze, simulated

OWN = PromptTemplate("own", "My own", None, {"en": TemplateText("{options}\n{item}")}, "letters")


def opened(**parameters):
    return apps.open_page("templates", **parameters)


def field(at, name, code="own"):
    return at.text_area(key=f"templates:{code}:{name}")


def pressed(at, key):
    return apps.fine(at.button(key=key).click().run())


def shown(at):
    """All text of the page that is shown verbatim."""
    return "\n".join(element.proto.body for element in at.get("html"))


def table(at, column):
    return next(one.value for one in at.dataframe if column in one.value.columns)


def test_the_built_in_templates_are_listed_and_the_first_one_is_shown_as_it_is_sent(workspace):
    freeze(workspace, simulated(), templates=("question",), n_personas=1)
    at = opened()
    listed = table(at, "Used in").set_index("Code")
    assert listed.loc["question", "Used in"] == "study"
    assert listed.loc["standard", "Used in"] == "no study yet"
    assert "How do you respond to the statement below?" in shown(at)
    assert "{item}" not in shown(at)
    assert at.button(key="templates_save").disabled
    assert not at.error


def test_a_text_is_seen_at_once_kept_on_reload_saved_and_restored(workspace):
    editing.save(workspace, OWN)
    at = opened(template="own")
    assert "A = " in shown(at)
    field(at, "en:cue").set_value("My choice:").run()
    assert "My choice:" in shown(at)
    at = opened(template="own")  # a reload
    assert field(at, "en:cue").value == "My choice:"
    assert editing.load(workspace, "own") == OWN
    pressed(at, "templates_save")
    assert "own is saved as version 2" in at.success[0].value.replace("\\", "")
    assert editing.load(workspace, "own").texts["en"].cue == "My choice:"
    changes = table(at, "After")
    assert list(changes["What"]) == ["answer cue changed"]
    pressed(at, "templates_restore")
    assert editing.load(workspace, "own") == OWN
    assert field(at, "en:cue").value == ""
    assert len(editing.versions(workspace, "own")) == 3


def test_a_fault_is_named_in_place_and_a_chip_adds_a_placeholder(workspace):
    editing.save(workspace, OWN)
    at = opened(template="own")
    field(at, "en:single").set_value("{options} {itme}").run()
    words = at.error[0].value.replace("\\", "")
    assert "single: {itme} is no placeholder" in words
    assert "did you mean {item}?" in words
    assert at.button(key="templates_save").disabled
    field(at, "en:single").set_value("{options}").run()
    assert "{item} is missing" in at.error[0].value.replace("\\", "")
    pressed(at, "chip:templates:own:en:single:item")
    assert field(at, "en:single").value == "{options} {item}"
    assert not at.error
    pressed(at, "templates_discard")
    assert field(at, "en:single").value == "{options}\n{item}"


def test_a_test_shows_the_reply_and_how_it_was_read(workspace):
    editing.save(workspace, OWN)
    at = opened(template="own")
    pressed(at, "templates_test")
    read = table(at, "Read as").iloc[0]
    assert read["Read as"].startswith("answered")
    reply = shown(at).rpartition(">")[0].rpartition("<div")[2]
    assert "ABCDEFG"[int(read["Option"]) - 1] in reply
    at.number_input(key="templates:preview:items").set_value(3).run()
    assert "asks one item" in at.error[0].value or "one item at a time" in at.error[0].value


def test_a_template_is_made_copied_and_archived_and_comes_back(workspace):
    at = opened()
    at.text_input(key="templates_title_new").set_value("Short words").run()
    pressed(at, "templates_new")
    assert at.query_params["template"] == "short_words"
    at.text_input(key="templates_title_rename_short_words").set_value("Standard").run()
    pressed(at, "templates_rename_short_words")
    assert "There is a template 'standard' already" in at.error[0].value.replace("\\", "")
    pressed(at, "templates_archive")
    assert "short_words" not in editing.offered(workspace)
    pressed(at, "templates_archive")
    assert "short_words" in editing.offered(workspace)


def test_a_file_says_what_would_change_and_a_bad_one_changes_nothing(workspace):
    editing.save(workspace, OWN)
    data = editing.export(workspace, ["own"])
    at = opened(template="own")
    upload = at.file_uploader(key="templates_file")
    upload.set_value(("t.yaml", data.replace(b"{item}", b"{itme}"), "text/yaml")).run()
    assert "line 6" in at.error[0].value
    upload = at.file_uploader(key="templates_file")
    upload.set_value(("t.yaml", data.replace(b"My own", b"Ours"), "text/yaml")).run()
    assert list(table(at, "Compared with the saved one").iloc[0]) == ["own", "Ours", "changed"]
    pressed(at, "templates_import")
    assert editing.load(workspace, "own").title == "Ours"


def test_a_language_is_added_with_the_texts_of_the_one_before(workspace):
    editing.save(workspace, OWN)
    at = opened(template="own")
    at.selectbox(key="templates_add:templates:own").set_value("zh").run()
    pressed(at, "templates_add_language")
    assert field(at, "zh:single").value == "{options}\n{item}"
    field(at, "zh:single").set_value("{item}\n{options}").run()
    pressed(at, "templates_save")
    assert set(editing.load(workspace, "own").texts) == {"en", "zh"}

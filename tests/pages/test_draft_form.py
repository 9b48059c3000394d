"""Declared fields: what a form draws of them, and what it saves."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.pages.apps import fine


def _page() -> None:
    from pages.shared import draft_form
    from pages.shared.draft_form import (
        ChoiceField,
        LongTextField,
        NumberField,
        RadioField,
        SeveralField,
        TextField,
        ToggleField,
    )

    defaults = {
        "title": "",
        "notes": "",
        "count": 2,
        "share": None,
        "on": False,
        "color": "red",
        "size": "s",
        "tags": ["a", "gone"],
    }
    form = draft_form.open_form("fields", defaults)
    form.draw(
        TextField("title", "Title", "a name", shape=("[a-z]+", "Small letters only.")),
        "The help of the title.",
        LongTextField("notes", "Notes"),
        (
            NumberField("count", "Count", 1, 9),
            (
                NumberField("share", "Share", 0, 1, 0.1, empty="all"),
                "Empty: all.",
                ToggleField("on", "On"),
            ),
        ),
        ChoiceField("color", "Color", empty="none"),
        RadioField("size", "Size", {"s": "Small", "l": "Large"}),
        SeveralField("tags", "Tags", ["a", "b"], removal_key="drop_tags"),
        choices={"color": {"red": "Red", "blue": "Blue"}},
    )
    form.show_notes()


def test_fields_have_the_keys_and_words_declared_and_a_new_session_shows_what_was_saved(workspace):
    at = fine(AppTest.from_function(_page).run())
    title = at.text_input(key="fields:title")
    assert (title.label, title.help, title.placeholder) == (
        "Title",
        "The help of the title.",
        "a name",
    )
    assert at.text_area(key="fields:notes").help == ""
    left, right = at.columns
    assert [one.label for one in left.number_input] == ["Count"]
    assert [one.label for one in (*right.number_input, *right.toggle)] == ["Share", "On"]
    assert at.selectbox(key="fields:color").options == ["Red", "Blue"]
    assert at.radio(key="fields:size").options == ["Small", "Large"]

    title.set_value("word")
    at.number_input(key="fields:count").set_value(3)
    at.number_input(key="fields:share").set_value(0.5)
    at.toggle(key="fields:on").set_value(True)
    at.selectbox(key="fields:color").set_value("blue")
    at.radio(key="fields:size").set_value("l")
    at.multiselect(key="fields:tags").set_value(["a", "b"])
    fine(at.run())

    at = fine(AppTest.from_function(_page).run())
    assert at.text_input(key="fields:title").value == "word"
    assert [one.value for one in at.number_input] == [3, 0.5]
    assert at.toggle(key="fields:on").value is True
    assert at.selectbox(key="fields:color").value == "blue"
    assert at.radio(key="fields:size").value == "l"
    assert at.multiselect(key="fields:tags").value == ["a", "b"]


def test_a_text_of_another_shape_is_refused_and_choices_that_are_gone_can_be_removed(workspace):
    at = fine(AppTest.from_function(_page).run())
    assert [one.value for one in at.warning] == ["Chosen, but no longer available: gone."]
    assert at.multiselect(key="fields:tags").value == ["a"]
    at.text_input(key="fields:title").set_value("WORD")
    fine(at.run())
    assert "Small letters only." in [one.value for one in at.warning]
    assert at.text_input(key="fields:title").value == ""
    fine(at.button(key="drop_tags").click().run())
    assert not at.warning
    assert at.multiselect(key="fields:tags").value == ["a"]


def test_a_number_that_may_be_missing_is_empty_at_first_and_a_choice_that_is_gone_shows_as_none(
    workspace,
):
    def page() -> None:
        from pages.shared import draft_form
        from pages.shared.draft_form import ChoiceField, NumberField

        form = draft_form.open_form("gone", {"limit": None, "kind": "old"})
        form.draw(
            NumberField("limit", "Limit", 1, empty="no limit"), ChoiceField("kind", "Kind", ["new"])
        )

    at = fine(AppTest.from_function(page).run())
    assert at.number_input(key="gone:limit").value is None
    assert at.selectbox(key="gone:kind").value is None

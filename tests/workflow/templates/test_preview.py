"""A preview is what a study would send, and a test reads the reply as a study would."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.study import Design
from core.domain.templates import PromptTemplate, TemplateText
from core.errors import CollectionError, DesignError
from core.workflow.banks import editing as banks
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.templates import editing, preview
from core.workflow.templates.preview import CONVERSATION, PERSONA, Sample
from tests.fault_server import Step
from tests.workflow.studies import service, simulated

LETTERS = PromptTemplate(
    "own",
    "Own",
    None,
    {"en": TemplateText("{options}\n{item}", "{options}\n{items}", "Be them.", history="And now:")},
    "letters",
)


@pytest.fixture
def sample(workspace):
    bank = banks.content(workspace, "attitudes_20", None)
    return Sample(bank, 2, 1, bank.formats[0].code, "en")


def test_a_preview_holds_the_messages_that_a_study_sends(workspace, sample):
    catalog.save(workspace, simulated("Somebody"))
    design = Design(
        "s", "attitudes_20", ("Somebody",), contexts=(PERSONA,), templates=("standard",)
    )
    sent = studies.example(workspace, design, 2)
    shown = preview.request(
        workspace, editing.load(workspace, "standard"), replace(sample, context=PERSONA)
    )
    assert shown.messages == sent.messages


def test_a_preview_follows_the_template_before_it_is_saved(workspace, sample):
    block = replace(sample, n_items=2, context=CONVERSATION, label_order="random")
    *_, question = preview.request(workspace, LETTERS, block).messages
    assert question["content"].startswith("And now:\n\nA = ")
    assert question["content"].count("\n2. ") == 1
    with pytest.raises(DesignError, match="has no answer format 'none'"):
        preview.request(workspace, LETTERS, replace(sample, response_format="none"))


def test_a_test_says_how_the_reply_was_read(workspace, sample, server):
    server.script = lambda number, body: Step(content="B")
    person = service(server.base_url)
    codes = [option.code for option in sample.bank.formats[0].options]
    for order, expected in (("as_is", codes[1]), ("inverted", codes[-2])):
        tested = preview.test(workspace, LETTERS, replace(sample, label_order=order), person)
        (answer,) = tested.answers
        assert (tested.reply, answer.option, str(answer.status)) == ("B", expected, "answered")
        assert answer.item == sample.items[0].code
    assert studies.list_studies(workspace) == ()


def test_a_test_without_a_reply_says_why(workspace, sample, server):
    server.script = lambda number, body: Step(status=404)
    with pytest.raises(CollectionError) as caught:
        preview.test(workspace, LETTERS, sample, service(server.base_url))
    assert caught.value.remedy

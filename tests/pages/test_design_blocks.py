"""Blocks on the page Design: drawing, copying, removing and restoring them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.study import Block, Context
from core.errors import BankError
from core.workflow import saved_inputs
from core.workflow.contexts import sets
from core.workflow.designs import forms, studies
from core.workflow.runs import control
from tests.pages.test_design import PERSON, opened, planned, said
from tests.workflow.studies import freeze, personas, simulated


def design_of(workspace):
    return forms.to_design(workspace, saved_inputs.load(workspace, forms.DRAFT_NAME).value)


def blocks_of(workspace):
    return design_of(workspace).blocks


def widget(factor, place=0):
    return f"design_block:{place}:{factor}"


def table_of(at):
    return next(d.value for d in at.dataframe if "Block" in d.value.columns)


def test_a_design_without_blocks_shows_one_closed_section_that_explains_itself(workspace):
    at = planned(opened(), bank="policy_60")
    (section,) = [box for box in at.expander if box.label == "Blocks"]
    assert not section.proto.expanded
    assert "All chosen levels are crossed" in said(section.caption)
    assert [button.label for button in section.button] == ["Add a block"]


def test_two_blocks_are_drawn_and_are_there_after_a_reload(workspace):
    at = planned(opened(), bank="policy_60")
    at.multiselect(key="design:forms").set_value(["original", "negation"]).run()
    at.button(key="design_block_add").click().run()
    at.text_input(key=widget("name")).set_value("one").run()
    at.multiselect(key=widget("stated")).set_value(["forms", "items_per_call"]).run()
    assert at.multiselect(key=widget("forms")).value == ["original", "negation"]  # the design's
    at.multiselect(key=widget("forms")).set_value(["original"]).run()
    at.text_input(key=widget("items_per_call")).set_value("1, 10, all").run()
    at.button(key="design_block_copy").click().run()
    assert at.selectbox(key="design_block_chosen").value == 1
    assert at.text_input(key=widget("name", 1)).value == "one 2"
    at.multiselect(key=widget("forms", 1)).set_value(["negation", "paraphrase_1"]).run()
    at.multiselect(key=widget("stated", 1)).set_value(["forms"]).run()
    expected = (
        Block("one", forms=("original",), items_per_call=(1, 10, 0)),
        Block("one 2", forms=("negation", "paraphrase_1")),
    )
    assert blocks_of(workspace) == expected
    again = opened()
    assert again.text_input(key=widget("name")).value == "one"
    assert again.text_input(key=widget("items_per_call")).value == "1, 10, all"
    assert not again.exception
    assert table_of(again)["Different from the design"][1] == "Forms: negation, paraphrase_1"
    assert again.button(key="design_block_remove").click().run()
    assert [block.name for block in blocks_of(workspace)] == ["one 2"]
    again.button(key="design_block_undo").click().run()
    assert blocks_of(workspace) == expected


def test_a_name_typed_right_before_a_click_is_kept_by_its_block(workspace):
    at = planned(opened())
    at.button(key="design_block_add").click().run()
    at.multiselect(key=widget("stated")).set_value(["repetitions"]).run()
    at.button(key="design_block_add").click().run()
    at.text_input(key=widget("name", 1)).set_value("typed")
    at.button(key="design_block_add").click().run()
    assert blocks_of(workspace) == (Block(repetitions=1), Block("typed"), Block())
    at.selectbox(key="design_block_chosen").set_value(1).run()
    at.text_input(key=widget("name", 1)).set_value("again")
    at.button(key="design_block_copy").click().run()
    assert [block.name for block in blocks_of(workspace)] == ["", "again", "typed 2", ""]


def test_a_block_that_another_tab_changed_is_not_overwritten(workspace):
    one = planned(opened())
    one.button(key="design_block_add").click().run()
    two = opened()
    one.text_input(key=widget("name")).set_value("from tab one").run()
    two.button(key="design_block_remove").click().run()
    assert "Another tab changed the blocks" in said(two.info)
    assert [block.name for block in blocks_of(workspace)] == ["from tab one"]
    assert two.text_input(key=widget("name")).value == "from tab one"


def test_levels_of_a_block_that_are_gone_can_be_removed(workspace):
    at = planned(opened(), bank="policy_60")
    draft = {"blocks": [{"forms": ["original", "lost"], "respondents": ["Nobody"]}]}
    saved_inputs.update(workspace, forms.DRAFT_NAME, draft)
    at.run()
    assert "no longer available: lost" in said(at.warning)
    assert "no longer available: Nobody" in said(at.warning)
    at.button(key=f"{widget('forms')}:drop").click().run()
    assert blocks_of(workspace)[0].forms == ("original",)


def test_cells_left_out_become_blocks(workspace):
    at = planned(opened(), bank="policy_60")
    assert at.get("popover")  # without two factors of several levels they are disabled
    at.multiselect(key="design:forms").set_value(["original", "negation"]).run()
    at.multiselect(key="design:label_orders").set_value(["as_is", "random"]).run()
    at.session_state["design_way:cells"] = True
    at.run()
    at.checkbox(key="design_cell:cells:forms:negation:label_orders:random").uncheck().run()
    assert "3 cells of 4: 2 blocks." in said(at.caption)
    at.button(key="design_way:cells:write").click().run()
    assert blocks_of(workspace) == (
        Block(
            "original × as in the bank, random, drawn anew for each call",
            forms=("original",),
            label_orders=("as_is", "random"),
        ),
        Block("negation × as in the bank", forms=("negation",), label_orders=("as_is",)),
    )


def test_each_template_gets_its_own_format(workspace):
    at = planned(opened(), bank="policy_60")
    at.multiselect(key="design:templates").set_value(["personal_1", "personal_2"]).run()
    at.multiselect(key="design:formats").set_value(["agree_disagree", "support_oppose"]).run()
    at.session_state["design_way:formats"] = True
    at.run()
    at.button(key="design_way:formats:write").click().run()
    assert [(b.templates, b.formats) for b in blocks_of(workspace)] == [
        (("personal_1",), ("agree_disagree",)),
        (("personal_2",), ("support_oppose",)),
    ]


def test_items_are_drawn_with_a_sentence_in_the_notes(workspace):
    at = planned(opened(), bank="policy_60")
    at.button(key="design_block_add").click().run()
    at.multiselect(key=widget("stated")).set_value(["items"]).run()
    at.session_state[f"{widget('items')}:choice"] = True
    at.run()
    at.number_input(key=f"{widget('items')}:count").set_value(7).run()
    at.button(key=f"{widget('items')}:take").click().run()
    design = design_of(workspace)
    assert len(set(design.blocks[0].items)) == 7
    assert design.notes == (
        "Block 1: 7 items of the 60 of bank 'policy_60', drawn at random with seed 1."
    )
    assert at.multiselect(key=widget("items")).value == list(design.blocks[0].items)


def test_the_design_itself_asks_chosen_items(workspace):
    at = planned(opened())
    codes = at.multiselect(key="design:items").options[:2]
    at.multiselect(key="design:items").set_value([code.split(":")[0] for code in codes]).run()
    assert design_of(workspace).items == tuple(code.split(":")[0] for code in codes)
    at.selectbox(key="design:instrument").set_value("policy_60").run()
    assert design_of(workspace).items == ()


def test_contexts_of_a_block_are_none_chosen_or_drawn_by_a_score(workspace):
    sets.save(workspace, "Eight", (*personas(8), Context("p0009", "Not asked before.")))
    freeze(workspace, simulated(), n_personas=8)
    control.start(workspace, "study")
    control.wait(workspace, "study", every_s=0.02)
    at = planned(opened(), "mine")
    at.radio(key="design:personas").set_value("set").run()
    at.selectbox(key="design:persona_set").set_value("Eight").run()
    at.button(key="design_block_add").click().run()
    at.multiselect(key=widget("stated")).set_value(["contexts"]).run()
    assert blocks_of(workspace)[0].contexts == ("",)
    at.radio(key=f"{widget('contexts')}:kind").set_value(False).run()
    at.multiselect(key=widget("contexts")).set_value(["p0002"]).run()
    assert blocks_of(workspace)[0].contexts == ("p0002",)
    at.session_state[f"{widget('contexts')}:score"] = True
    at.run()
    at.number_input(key=f"{widget('contexts')}:score:each").set_value(1).run()
    at.button(key=f"{widget('contexts')}:score:take").click().run()
    design = design_of(workspace)
    assert len(design.blocks[0].contexts) == 4
    assert "p0009" not in design.blocks[0].contexts
    assert "Block 1: 4 contexts: 1 from each of 4 groups of the score in the study 'study'" in (
        design.notes
    )


def test_sampling_sizes_histories_and_a_second_phase_come_back_after_a_reload(workspace):
    at = planned(opened(), bank="policy_60")
    at.text_input(key="design:top_p").set_value("0.9, 1").run()
    at.text_input(key="design:max_tokens").set_value("100").run()
    at.radio(key="design:per_call_choice").set_value(-1).run()
    at.text_input(key="design:items_per_call").set_value("1, 10, all").run()
    at.multiselect(key="design:histories").set_value(["none", "own"]).run()
    template = next(iter(studies.opinion_templates(workspace)))
    at.selectbox(key="design:second_phase").set_value(template).run()
    design = design_of(workspace)
    assert (design.top_p, design.max_tokens, design.items_per_call) == (
        (0.9, 1.0),
        (100,),
        (1, 10, 0),
    )
    assert (design.histories, design.second_phase) == (("none", "own"), template)
    again = opened()
    assert again.text_input(key="design:top_p").value == "0.9, 1"
    assert again.text_input(key="design:items_per_call").value == "1, 10, all"
    at.text_input(key="design:top_p").set_value("0.9, 7").run()
    assert "top-p 7 does not lie between 0 and 1" in said(at.error)
    assert at.text_input(key="design:top_p").value == "0.9, 7"


def test_a_design_with_blocks_is_loaded_and_taken_back(workspace):
    text = (
        f"study: s\ninstrument: policy_60\nrespondents: [{PERSON}]\nblocks:\n"
        "- {name: a, forms: [negation]}\n- {name: b, items_per_call: [1, 0], contexts: ['']}\n"
    )
    at = planned(opened(), "mine")
    at.file_uploader(key="design_file").upload("d.yaml", text.encode(), "text/yaml").run()
    at.button(key="design_use_file").click().run()
    assert not at.exception
    assert blocks_of(workspace) == studies.design_of_yaml(text).blocks
    at.button(key="design_back").click().run()
    assert blocks_of(workspace) == ()
    assert at.text_input(key="design:study").value == "mine"


YAML = f"""\
study: s
instrument: policy_60
respondents: [{PERSON}]
forms: [original, negation]
label_orders: [as_is, inverted]
blocks:
- {{name: originals, forms: [original]}}
- {{name: in the order of the bank, label_orders: [as_is]}}
- {{name: thirds, forms: [opposite], label_orders: [inverted], items: [open_foreign_policy_01]}}
"""


def test_blocks_are_counted_and_a_prompt_names_the_blocks_that_ask_it(workspace):
    at = opened()
    at.file_uploader(key="design_file").upload("d.yaml", YAML.encode(), "text/yaml").run()
    at.button(key="design_use_file").click().run()
    table = table_of(at)
    assert table["Trials"].tolist() == [120, 120, 1]
    assert table["Calls"].tolist() == [120, 120, 1]
    assert table["Earlier"].tolist() == [0, 60, 0]  # original as in the bank
    assert table["Expected cost"].tolist() == ["free"] * 3
    assert "In all: **181 calls**. Blocks share 60 trials, asked once." in said(at.caption)
    assert "3 blocks = **181 calls**" in said(at.markdown)
    assert "Asked once, for: Block 1 (originals); Block 2 (in the order of the bank)." in (
        said(at.caption)
    )
    at.number_input(key="design_example_number").set_value(181).run()
    assert "Asked by: Block 3 (thirds)." in said(at.caption)
    assert not at.button(key="design_freeze").disabled
    at.button(key="design_freeze").click().run()
    assert studies.load(workspace, "s").n_trials == 181


def test_problems_name_their_block(workspace):
    at = planned(opened(), bank="policy_60")
    for name in ("one", "two"):
        at.button(key="design_block_add").click().run()
        at.text_input(key=widget("name", int(name == "two"))).set_value(name).run()
    at.multiselect(key=widget("stated", 1)).set_value(["forms"]).run()
    at.multiselect(key=widget("forms", 1)).set_value([]).run()
    assert "'two'" in said(at.info)
    assert at.button(key="design_freeze").disabled
    at.multiselect(key=widget("stated", 1)).set_value(["top_p"]).run()
    at.text_input(key=widget("top_p", 1)).set_value("3").run()
    assert "Block 2 (two): The value of top-p 3 does not lie between 0 and 1" in said(at.error)
    assert at.text_input(key=widget("top_p", 1)).value == "3"


def test_a_frozen_design_is_loaded_where_its_bank_has_no_version_yet(workspace):
    design = studies.design_of_yaml(YAML + "version: 1\n")
    fields, (note,) = forms.from_design(workspace, design)
    assert fields["version"] is None
    assert "The bank has no version 1 here. The design takes its working copy" in note
    hashed = studies.freeze(workspace, forms.to_design(workspace, fields))
    assert hashed.version == 1
    again, notes = forms.from_design(workspace, hashed.design)
    assert (again["version"], notes) == (1, ())
    with pytest.raises(BankError):
        forms.from_design(workspace, replace(design, version=3))

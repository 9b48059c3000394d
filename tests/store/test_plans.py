from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from dataclasses import replace

import pytest

from core.domain.instrument import Item, Option, Wording
from core.domain.study import Block, Context, SamplingSettings
from core.errors import DesignError
from core.store import collection, studies
from core.store.database import Database
from tests.store.test_studies import PEOPLE, frozen

IDS = [person.respondent_id for person in PEOPLE]
FACTORS = (
    "respondent",
    "language",
    "context",
    "entity",
    "entity_b",
    "form",
    "format",
    "template",
    "label_order",
    "repetition",
)
ALONE = {"contexts": (), "entities": (), "languages": ("en",)}


def planned(database, bank, **changes):
    """The plan as a DataFrame; without contexts, entities and a second language unless given."""
    record = frozen(database, bank, **{**ALONE, **changes})
    return studies.plan(database, record.study_id).to_pandas()


def calls_of(database, bank, **changes):
    record = frozen(database, bank, **{**ALONE, **changes})
    return collection.remaining_calls(database, record.study_id, IDS, after=0, limit=100_000)


def rich(bank):
    """The bank with a second form in English, a second format, and an option without points."""
    items = tuple(
        replace(
            item, wordings=(*item.wordings, Wording("en", f"Not {item.code}.", form="negation"))
        )
        for item in bank.items
    )
    three = bank.formats[0]
    unsure = Option("9", None, {"en": "don't know", "de": "weiß nicht"})
    four = replace(three, code="four", options=(unsure, *three.options))
    return replace(bank, items=items, formats=(three, four))


def test_every_factor_is_crossed_with_every_other(database, small_bank):
    plan = planned(
        database,
        rich(small_bank),
        contexts=(Context("p1", "a nurse"), Context("p2", "a pilot"), Context("p3", "a cook")),
        pairs=(("Acme", "Zeta"), ("Zeta", "Acme")),
        forms=("original", "negation"),
        formats=("three", "four"),
        templates=("standard", "plain"),
        label_orders=("as_is", "inverted", "random"),
        repetitions=2,
    )
    # respondents, languages, contexts, pairs, forms, formats, templates, orders, repetitions, items
    assert len(plan) == 2 * 1 * 3 * 2 * 2 * 2 * 2 * 3 * 2 * 4
    cells = plan.groupby([*FACTORS, "item"]).size()
    assert set(cells) == {1}
    assert len(cells) == len(plan)
    assert plan["ordinal"].tolist() == list(range(1, len(plan) + 1))
    assert plan["trial_id"].is_unique
    assert (plan["call_id"] == plan["trial_id"]).all()
    assert plan["position"].isna().all()


def test_levels_are_asked_in_the_order_of_the_design(database, small_bank):
    plan = planned(
        database,
        rich(small_bank),
        contexts=(Context("z", "last letter first"), Context("a", "then the first")),
        formats=("four", "three"),
        label_orders=("inverted", "as_is"),
        repetitions=1,
    )
    assert plan["context"].tolist()[:8] == ["z"] * 4 + ["a"] * 4
    assert list(dict.fromkeys(plan["format"])) == ["four", "three"]
    assert plan["label_order"].tolist()[:16] == ["inverted"] * 8 + ["as_is"] * 8
    assert plan["item"].tolist()[:4] == ["a1", "a2", "b1", "b2"]


@pytest.mark.parametrize(
    ("repetitions", "first_halves"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (7, 4)]
)
def test_half_of_the_repetitions_name_the_pair_the_other_way_round(
    database, small_bank, repetitions, first_halves
):
    pairs = (("A", "B"), ("A", "C"))
    plan = planned(database, small_bank, pairs=pairs, swap_halves=True, repetitions=repetitions)
    assert len(plan) == repetitions * 2 * 2 * 4
    for pair in pairs:
        swapped = plan[plan[["entity", "entity_b"]].apply(set, axis=1) == set(pair)]
        firsts = swapped.groupby("repetition")["entity"].agg(set)
        expected = [{pair[0]} if n <= first_halves else {pair[1]} for n in firsts.index]
        assert firsts.tolist() == expected
        assert len(firsts) == repetitions


def test_a_pair_and_its_mirror_image_stay_two_when_halves_are_swapped(database, small_bank):
    plan = planned(
        database, small_bank, pairs=(("A", "B"), ("B", "A")), swap_halves=True, repetitions=2
    )
    assert len(plan) == 2 * 2 * 2 * 4
    assert not plan.duplicated([*FACTORS, "item"]).any()
    assert plan["ordinal"].tolist() == list(range(1, len(plan) + 1))


def test_without_swapping_every_repetition_names_the_pair_as_given(database, small_bank):
    plan = planned(database, small_bank, pairs=(("A", "B"),), repetitions=4)
    assert set(zip(plan["entity"], plan["entity_b"], strict=True)) == {("A", "B")}


def test_blocks_share_a_call_and_count_their_positions_the_last_one_shorter(database, small_bank):
    plan = planned(database, small_bank, items_per_call=3, repetitions=2)
    for _, rows in plan.groupby(list(FACTORS)):
        assert rows["position"].tolist() == [1, 2, 3, 1]
        first, second, third, last = rows["call_id"]
        assert first == second == third != last
    assert plan["call_id"].nunique() == 2 * 2 * 2
    assert set(plan["call_id"]).isdisjoint(plan["trial_id"])
    sizes = [
        len(call.items) for call in calls_of(database, small_bank, study="x", items_per_call=3)
    ]
    assert sizes == [3, 1] * 4


@pytest.mark.parametrize("block", [0, 4, 100])
def test_all_items_fit_into_one_call(database, small_bank, block):
    plan = planned(database, small_bank, items_per_call=block, repetitions=1)
    assert plan["position"].tolist() == [1, 2, 3, 4] * 2
    assert plan["call_id"].nunique() == 2
    (call, _) = calls_of(database, small_bank, study="x", items_per_call=block, repetitions=1)
    assert [found.item for found in call.items] == ["a1", "a2", "b1", "b2"]


def test_blocks_leave_the_trials_what_they_are_asked_alone(database, small_bank):
    alone = planned(database, small_bank)
    other = Database(":memory:")
    together = planned(other, small_bank, items_per_call=3)
    other.close()
    assert alone["trial_id"].tolist() == together["trial_id"].tolist()


def many_items(bank):
    items = tuple(Item(f"i{n:02}", (Wording("en", f"Statement {n}."),), "A") for n in range(20))
    return replace(bank, items=items, languages=("en",))


def orders(plan):
    """The order of items in each administration."""
    return [tuple(rows["item"]) for _, rows in plan.groupby(list(FACTORS), sort=False)]


def test_a_shuffled_order_is_another_one_in_each_administration(database, small_bank):
    bank = many_items(small_bank)
    plan = planned(database, bank, item_order="shuffled", items_per_call=5, repetitions=3)
    found = orders(plan)
    assert len(set(found)) == len(found) == 2 * 3
    assert all(sorted(order) == [item.code for item in bank.items] for order in found)
    assert all(order != tuple(sorted(order)) for order in found)
    assert plan["position"].tolist() == [1, 2, 3, 4, 5] * 4 * 6
    firsts = Counter(order[0] for order in found)
    assert len(firsts) > 1
    asked = calls_of(
        database, bank, study="s2", item_order="shuffled", items_per_call=5, repetitions=1
    )
    assert len({tuple(found.item for found in call.items) for call in asked}) == 2 * 4


def test_the_same_seed_shuffles_the_same_and_another_seed_otherwise(small_bank):
    plans = []
    for seed in (1, 1, 2):
        database = Database(":memory:")
        bank = many_items(small_bank)
        changes = {"item_order": "shuffled", "items_per_call": 4, "label_orders": ("random",)}
        plans.append(planned(database, bank, seed=seed, **changes))
        database.close()
    first, same, other = plans
    assert first.equals(same)
    assert orders(first) != orders(other)
    assert first["option_order"].tolist() != other["option_order"].tolist()
    assert set(first["trial_id"]) == set(other["trial_id"])


def test_a_random_order_of_options_is_drawn_for_each_call_and_kept(database, small_bank):
    bank = rich(many_items(small_bank))
    plan = planned(
        database,
        bank,
        formats=("four",),
        label_orders=("as_is", "random"),
        items_per_call=2,
        repetitions=8,
    )
    drawn = plan[plan["label_order"] == "random"]
    assert plan[plan["label_order"] == "as_is"]["option_order"].isna().all()
    assert (drawn.groupby("call_id")["option_order"].nunique() == 1).all()
    counts = Counter(drawn.drop_duplicates("call_id")["option_order"])
    assert sum(counts.values()) == 160
    # Six orders of the three scored options, 27 expected of each; "don't know" is always last.
    assert sorted(counts) == sorted(
        f"{a} {b} {c} 9" for a in "123" for b in "123" for c in "123" if len({a, b, c}) == 3
    )
    assert min(counts.values()) >= 10
    record = studies.get(database, "s")
    asked = collection.remaining_calls(database, record.study_id, IDS, after=0, limit=10_000)
    by_call = dict(zip(drawn["call_id"], drawn["option_order"], strict=True))
    assert {
        call.call_id: " ".join(call.option_order) for call in asked if call.option_order
    } == by_call


def test_items_without_a_text_in_a_language_and_form_are_left_out(database, small_bank):
    first, second, *others = small_bank.items
    english = Wording("en", "Only English.")
    german = Wording("de", "Nur deutsch.")
    blank = Wording("de", "  ")
    negated = Wording("en", "Not at all.", form="negation")
    bank = replace(
        small_bank,
        items=(
            replace(first, wordings=(english, blank)),
            replace(second, wordings=(german, negated)),
            *others,
        ),
    )
    plan = planned(
        database,
        bank,
        languages=("en", "de"),
        forms=("original", "negation"),
        repetitions=1,
        items_per_call=2,
    )
    asked = {
        cell: rows["item"].tolist()
        for cell, rows in plan[plan["respondent"] == "one"].groupby(["language", "form"])
    }
    assert asked == {
        ("en", "original"): ["a1", "b1", "b2"],
        ("en", "negation"): ["a2"],
        ("de", "original"): ["a2", "b1", "b2"],
    }
    assert plan["ordinal"].tolist() == list(range(1, 2 * 7 + 1))
    assert plan["position"].tolist()[:3] == [1, 2, 1]


def test_a_plan_without_any_text_is_refused_and_nothing_is_kept(database, small_bank):
    with pytest.raises(DesignError, match="has no trials"):
        planned(database, small_bank, languages=("fr",))
    assert database.rows("select count(*) from study") == [(0,)]
    assert database.rows("select count(*) from administration") == [(0,)]


def test_an_item_worded_for_two_moods_is_asked_once(database, small_bank):
    first, *others = small_bank.items
    asking = Wording("en", "Is it?", mood="question")
    bank = replace(small_bank, items=(replace(first, wordings=(*first.wordings, asking)), *others))
    plan = planned(database, bank, repetitions=1)
    assert plan["item"].tolist() == ["a1", "a2", "b1", "b2"] * 2
    assert plan["ordinal"].tolist() == list(range(1, 9))


def test_two_databases_plan_the_same(small_bank):
    plans = []
    for _ in range(2):
        database = Database(":memory:")
        plans.append(
            planned(
                database,
                rich(small_bank),
                pairs=(("A", "B"),),
                swap_halves=True,
                repetitions=3,
                items_per_call=3,
                item_order="shuffled",
                label_orders=("random",),
            )
        )
        database.close()
    assert plans[0].equals(plans[1])


def test_a_design_of_one_format_and_one_item_a_call_has_the_ids_of_earlier_versions(
    database, small_bank
):
    """Literal ids and their exclusive or, as version 0.1 froze this design."""
    record = frozen(
        database,
        replace(small_bank, items=small_bank.items[:2]),
        respondents=("one",),
        contexts=(Context("p1", "a nurse"), Context("p2", "a pilot")),
        entities=("Acme",),
        people=[replace(PEOPLE[0], sampling=SamplingSettings(max_tokens=64))],  # as it was then
    )
    plan = studies.plan(database, record.study_id).to_pandas()
    keys = plan.set_index(["language", "context", "repetition", "item"])["trial_id"]
    assert keys["en", "p1", 1, "a1"] == 178879446812851578
    assert keys["de", "p1", 2, "a1"] == 7220872900567037833
    assert keys["de", "p2", 2, "a2"] == 8411351762341369784
    assert record.plan_hash == "16-679917251065521849"
    assert plan["trial_id"].tolist()[:2] == [178879446812851578, 9173416606748760009]


def test_contexts_and_templates_are_kept_with_the_study(database, small_bank):
    said = ({"role": "user", "content": "Guten Tag"}, {"role": "assistant", "content": "Hallo."})
    contexts = (
        Context("p1", "a nurse"),
        Context("c1", "", said, "de"),
        Context("c2", "", said[:1], "de", "c1"),
    )
    record = frozen(database, small_bank, contexts=contexts)
    assert studies.contexts(database, record.study_id) == {c.code: c for c in contexts}
    assert studies.get(database, "s").design.contexts == contexts
    assert studies.templates(database, record.study_id) == {"standard": "{}"}


CROSSED = {
    "contexts": (Context("z", "a nurse"), Context("a", "a pilot")),
    "pairs": (("B", "A"), ("A", "B"), ("C", "A")),
    "swap_halves": True,
    "forms": ("negation", "original"),
    "formats": ("four", "three"),
    "templates": ("standard", "plain"),
    "label_orders": ("inverted", "random", "as_is"),
    "repetitions": 3,
}


@pytest.mark.parametrize(
    ("bank", "changes", "plan_hash", "digest"),
    [
        (rich, CROSSED, "3456-3922916678298442898", "cf2b019ec336e936"),
        (
            rich,
            CROSSED | {"item_order": "shuffled", "items_per_call": 3, "seed": 7},
            "3456-3922916678298442898",
            "59f9ab269623c418",
        ),
        (
            lambda bank: bank,
            {"items_per_call": 0, "languages": ("en", "de"), "entities": ("Acme", "Zeta")},
            "64-3811085026287204083",
            "e01512147557a581",
        ),
    ],
)
def test_plans_without_blocks_are_those_of_the_version_before_blocks(
    database, small_bank, bank, changes, plan_hash, digest
):
    """Hash, ids, calls, drawn orders and order of asking, as version 0.1 wrote them."""
    record = frozen(database, bank(small_bank), **{**ALONE, **changes})
    columns = ["ordinal", "trial_id", "call_id", "position", *FACTORS[:-1], "option_order"]
    rows = studies.plan(database, record.study_id).select([*columns, "repetition", "item"])
    text = json.dumps([list(row.values()) for row in rows.to_pylist()])
    assert record.plan_hash == plan_hash
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest


BLOCKS = (
    Block(templates=("plain",), items=("a1", "b1")),
    Block(languages=("en",), items_per_call=(1, 3)),
    Block(contexts=("p2", ""), repetitions=4, items=("a1", "a2")),
)
CONTEXTS = (Context("p1", "a nurse"), Context("p2", "a pilot"))


def blocks_planned(bank, blocks, **changes):
    database = Database(":memory:")
    plan = planned(
        database, bank, blocks=blocks, languages=("en", "de"), contexts=CONTEXTS, **changes
    )
    contexts = studies.contexts(database, studies.get(database, "s").study_id)
    database.close()
    return plan, contexts


def test_trials_of_several_blocks_are_asked_once_whatever_the_order_of_the_blocks(small_bank):
    plan, contexts = blocks_planned(small_bank, BLOCKS)
    columns = ["respondent", "language", "context", "template", "items_per_call", "repetition"]
    assert set(plan[[*columns, "item"]].itertuples(index=False, name=None)) == {
        (respondent, language, context, template, size, repetition, item)
        for respondent in ("one", "two")
        for languages, codes, template, sizes, repetitions, items in (
            (("en", "de"), ("p1", "p2"), "plain", ("1",), 2, ("a1", "b1")),
            (("en",), ("p1", "p2"), "standard", ("1", "3"), 2, ("a1", "a2", "b1", "b2")),
            (("en", "de"), ("p2", ""), "standard", ("1",), 4, ("a1", "a2")),
        )
        for language in languages
        for context in codes
        for size in sizes
        for repetition in range(1, repetitions + 1)
        for item in items
    }
    assert plan["trial_id"].is_unique
    assert set(contexts) == {"p1", "p2"}
    for order in itertools.permutations(BLOCKS):
        other, _ = blocks_planned(small_bank, order)
        assert set(other["trial_id"]) == set(plan["trial_id"])
        assert set(other["call_id"]) == set(plan["call_id"])


def test_blocks_are_asked_in_the_order_in_which_they_name_levels_first(small_bank):
    blocks = (Block(forms=("original",), templates=("b",)), Block(templates=("a", "b", "c")))
    plan, _ = blocks_planned(small_bank, blocks, repetitions=1)
    assert list(dict.fromkeys(plan["template"])) == ["b", "a", "c"]
    assert plan["ordinal"].tolist() == list(range(1, 2 * 2 * 2 * 3 * 4 + 1))


def test_a_block_that_is_the_whole_crossing_leaves_the_ids_as_they_are(small_bank):
    whole, _ = blocks_planned(small_bank, ())
    again, _ = blocks_planned(small_bank, (Block(), Block(items=("a1",))))
    assert whole.equals(again)


def test_keys_name_items_per_call_only_where_the_design_varies_them(database, small_bank):
    one = planned(database, small_bank, items_per_call=3)
    listed, both = (
        blocks_planned(small_bank, (), items_per_call=sizes)[0] for sizes in ((3,), (1, 3))
    )
    plain, _ = blocks_planned(small_bank, (), items_per_call=3)
    assert plain.equals(listed)
    assert len(one) * 2 * 2 * 2 == len(both)
    assert set(both["items_per_call"]) == {"1", "3"}
    assert set(both["trial_id"]).isdisjoint(plain["trial_id"])
    alone = both[both["items_per_call"] == "1"]
    assert (alone["call_id"] == alone["trial_id"]).all()
    assert both[both["items_per_call"] == "3"].groupby("call_id").size().isin([3, 1]).all()

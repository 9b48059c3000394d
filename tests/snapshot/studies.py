"""The studies of the snapshot: who answers what, and what their analyses need beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Wording
from core.domain.study import Context, Design
from core.files.banks.reading import ImportedBank
from core.workflow import sample
from core.workflow.answers import imports
from core.workflow.banks import editing, text_prompts
from core.workflow.contexts import sets
from core.workflow.contexts.sets import Derivation
from core.workflow.designs import presets, studies
from core.workflow.respondents import catalog
from core.workflow.runs import control
from core.workflow.workspace import Workspace
from tests.workflow.studies import simulated

TESTS = Path(__file__).parents[1]
STEADY = simulated(
    "Steady",
    loading=0.8,
    trait_correlation=0.4,
    acquiescence=0.2,
    refusal_rate=0.02,
    explanation_rate=0.05,
    seed=4,
)
NOISY = simulated("Noisy", loading=0.6, noise=0.05, position_bias=0.05, refusal_rate=0.03, seed=5)
BOTH = (STEADY.label, NOISY.label)


@dataclass(frozen=True)
class Entry:
    """One study, or several analyzed together, and how their analyses are run.

    `given` are values that options need here, `more` further values to try. `ways` are the kinds
    of cases that are run beside the defaults (see cases.py); every kind takes long.
    """

    name: str
    make: Callable[[Workspace], None]
    beside: tuple[str, ...] = ()  # studies analyzed together with it
    made: tuple[str, ...] = ()  # studies that `make` makes as well
    given: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    ways: frozenset[str] = frozenset()  # kinds of cases beside the defaults

    @property
    def codes(self) -> tuple[str, ...]:
        """The studies that are analyzed."""
        return (self.name, *self.beside)


def ask(workspace: Workspace, design: Design) -> None:
    """Freeze a design and collect all its answers."""
    known = {person.label for person in catalog.list_respondents(workspace)}
    for person in (STEADY, NOISY):
        if person.label not in known:
            catalog.save(workspace, person)
    studies.freeze(workspace, design)
    run(workspace, design.study)


def run(workspace: Workspace, study: str) -> None:
    """Collect every answer that is still missing."""
    control.start(workspace, study)
    ended = control.wait(workspace, study, every_s=0.02)
    if ended.n_done != ended.n_trials:
        raise RuntimeError(f"{study} {ended.state}: {ended.reason}")


def sample_study(workspace: Workspace) -> None:
    run(workspace, sample.start_sample(workspace, "simulated"))


def short_sample(workspace: Workspace) -> None:
    """As short as the sample study of the local model, answered by a simulated respondent."""
    three = sets.load(workspace, "Starter personas")[:3]
    ask(workspace, Design("sample_local", "attitudes_20", (STEADY.label,), contexts=three))


def people_and_talks(workspace: Workspace) -> tuple[Context, ...]:
    """Forty personas and twenty English conversations, each cut to its first exchange."""
    talks = sets.load(workspace, "Conversations (40)")
    talks = sets.derive(talks, Derivation(language="en", exchanges=1))
    return (*sets.load(workspace, "Personas (60)")[:40], *talks[:20])


def short_bank(workspace: Workspace, code: str) -> str:
    """Four items of each subscale of a bank: models of all items take long to fit."""
    bank = editing.load(workspace, code).instrument
    own = [[item for item in bank.items if item.subscale == name] for name in bank.subscales()]
    chosen = tuple(item for items in own for item in (*items[:2], *items[-2:]))
    short = replace(bank, code=f"{code}_short", title="Eight of the statements", items=chosen)
    return editing.import_bank(workspace, ImportedBank(short)).instrument.code


def scale(workspace: Workspace) -> None:
    """A scale in two forms, the same with options shuffled, a companion, and texts."""
    asked, bank = people_and_talks(workspace), short_bank(workspace, "attitude_22")
    word_lists(workspace)
    text_prompts.create_descriptor_prompts(
        workspace,
        "letters",
        "A letter about {name}, {age}.",
        {"name": ["Ann | female", "Bob | male"], "age": ["30", "60"]},
        language="en",
    )
    for design in (
        Design("scale", bank, BOTH, contexts=asked, forms=("original", "alternate")),
        Design("scale_shuffled", bank, BOTH, contexts=asked, label_orders=("random",)),
        Design("scale_companion", "attitude_companion_8", BOTH, contexts=asked),
        Design("scale_letters", "letters", BOTH, contexts=asked, templates=("free",)),
    ):
        ask(workspace, design)


def word_lists(workspace: Workspace) -> None:
    """Two lists of words, some of which simulated respondents write."""
    listed = {
        "agentic": ("confiden", "led", "lead", "solve", "reliable", "diligent"),
        "communal": ("warm", "kind", "help", "laugh", "neighbor", "together"),
    }
    items = tuple(
        Item(f"{name}_{number}", (Wording("en", word),), name)
        for name, words in listed.items()
        for number, word in enumerate(words, 1)
    )
    bank = Instrument("word_lists", "Word lists", items, (BUILT_IN["free_text"],), kind="words")
    editing.import_bank(workspace, ImportedBank(bank))


def split_scale(workspace: Workspace) -> None:
    """The scale, its alternate form and another order of options as studies by themselves."""
    asked = sets.load(workspace, "Personas (60)")
    for design in (
        Design("split", "attitude_22", BOTH, contexts=asked, repetitions=2),
        Design("split_alternate", "attitude_22", BOTH, contexts=asked, forms=("alternate",)),
        Design("split_inverted", "attitude_22", BOTH, contexts=asked, label_orders=("inverted",)),
    ):
        ask(workspace, design)


def languages(workspace: Workspace) -> None:
    """Two languages, repetitions, and contexts of which some are rewritten."""
    people = sets.load(workspace, "Personas (60)")
    rewritten = tuple(
        Context(f"{one.code}_again", f"{one.text} You are in a hurry.", variant_of=one.code)
        for one in people[:20]
    )
    asked = (*people, *rewritten)
    bank = short_bank(workspace, "attitudes_20")
    ask(workspace, Design("languages", bank, BOTH, ("en", "de"), contexts=asked, repetitions=2))


def preset(code: str, workspace: Workspace) -> None:
    """The short variant of a published design."""
    chosen = presets.by_code(code)
    design = presets.design(workspace, chosen, first_items=chosen.small)
    ask(workspace, replace(design, respondents=BOTH))


def opinions(workspace: Workspace) -> None:
    """A published design with its second phase."""
    preset("opinions_six_languages", workspace)
    studies.plan_second_phase(workspace, "opinions_six_languages", "opposing")
    run(workspace, "opinions_six_languages")


def unasked(workspace: Workspace) -> None:
    studies.freeze(workspace, Design("unasked", "attitude_companion_8", (STEADY.label,)))


def golden(name: str) -> pd.DataFrame:
    """Reference data with one row for each person."""
    return pd.read_csv(TESTS / "golden" / "item_statistics" / f"{name}.csv").convert_dtypes()


def long(wide: pd.DataFrame, **columns: Any) -> pd.DataFrame:
    """One row for each answer or gap; `columns` are values by person."""
    people = [f"p{number:03}" for number in range(1, len(wide) + 1)]
    own = pd.DataFrame({"context": people, **columns})
    rows = wide.assign(context=people).melt("context", var_name="item", value_name="answer")
    gap = rows["answer"].isna()
    return own.merge(rows.assign(status=np.where(gap, "no_answer", "answered")), on="context")


def bring_in(workspace: Workspace, study: str, rows: pd.DataFrame, **how: Any) -> None:
    """Import answers as a study."""
    file = rows.to_csv(index=False, lineterminator="\n").encode()
    imports.import_tidy(workspace, f"{study}.csv", file, study=study, **how)


def bank_of(workspace: Workspace, code: str, subscales: Mapping[str, Sequence[str]]) -> None:
    """A bank without texts: items by their subscale."""
    items = tuple(Item(item, (), name) for name, own in subscales.items() for item in own)
    editing.import_bank(workspace, ImportedBank(Instrument(code, code, items)))


def abilities(workspace: Workspace) -> None:
    """Holzinger and Swineford's scores, which are averages of tasks and no options."""
    parts = {
        "visual": ("x1", "x2", "x3"),
        "textual": ("x4", "x5", "x6"),
        "speed": ("x7", "x8", "x9"),
    }
    bank_of(workspace, "hs1939", parts)
    rows = long(golden("hs1939"), language=["en", "de"] * 150 + ["en"])
    bring_in(workspace, "hs1939", rows, bank="hs1939")


def people(workspace: Workspace) -> None:
    """Answers of people in two languages, with gaps."""
    items = [f"i{number}" for number in range(1, 23)]
    bank_of(workspace, "likert22", {"F1": items[:11], "F2": items[11:]})
    wide = golden("likert22")[[*items[:5], *items[11:16]]]
    rows = long(wide, language=["en"] * 150 + ["de"] * (len(wide) - 150))
    refused = rows.index % 37 == 5
    rows.loc[refused, "answer"] = np.nan
    rows.loc[refused, "status"] = "refused"
    bring_in(workspace, "people", rows, bank="likert22")


def people_twice(workspace: Workspace) -> None:
    """Forty people who answered twice."""
    wide = golden("likert22")[[f"i{number}" for number in range(1, 23)]].head(40)
    moved = wide + (np.add.outer(np.arange(40), np.arange(22)) % 3 == 0)
    both = [long(wide).assign(repetition=1), long(moved.clip(upper=5)).assign(repetition=2)]
    bring_in(workspace, "people_twice", pd.concat(both), bank="likert22")


def big_five(workspace: Workspace) -> None:
    """200 people with five traits, answering the first 20 items of a bank on file."""
    bank = editing.load(workspace, "structure_bfi44").instrument
    chance = np.random.default_rng(44)
    traits = dict(zip(bank.subscales(), chance.normal(size=(5, 200)), strict=True))
    wide = {
        item.code: np.clip(
            np.round(3 + 0.8 * item.keyed * traits[item.subscale] + chance.normal(size=200)), 1, 5
        ).astype(int)
        for item in bank.items[:20]
    }
    rows = long(pd.DataFrame(wide), entity=["a", "b"] * 100)
    bring_in(workspace, "big_five", rows, bank=bank.code)


def scored(workspace: Workspace) -> None:
    """Answers with scores that are reversed already, beside the same as raw points."""
    bank = editing.load(workspace, "attitude_companion_8").instrument
    rows = long(pd.DataFrame({item.code: [1, 2, 3, 4, 5, 4, 2, 5, 1, 3] for item in bank.items}))
    scores = rows["answer"].astype(float)
    bring_in(workspace, "scored", rows.assign(score=scores), scores="keyed")
    bring_in(workspace, "scored_raw", rows.assign(score=scores), scores="raw")


def unsuitable(workspace: Workspace) -> None:
    """Answers without a bank that most analyses refuse: three people, one item without variance."""
    wide = pd.DataFrame({"q1": [1, 2, 3], "q2": [2, 2, 2], "q3": [3, 1, 2]})
    bring_in(workspace, "unsuitable", long(wide), bank=imports.NEW_BANK)


def file(name: str, workspace: Workspace) -> None:
    """Answers of published studies, as they were handed on."""
    path = next((TESTS / "files" / "data").glob(f"{name}.csv*"))
    imports.import_tidy(workspace, path.name, path.read_bytes(), study=name)


WORDS = {
    "lists": "word_lists",
    "descriptor": "name.2",
    "first": "male",
    "first_lists": "agentic",
}
YOUNG = tuple((f"p{number:02}", "young") for number in range(1, 16))
OLD = tuple((f"p{number:02}", "old") for number in range(26, 41))
CATALOG = (
    Entry("sample_simulated", sample_study, given={"norms": (("all items", 3.0, 0.8, 300.0),)}),
    Entry("sample_local", short_sample),
    Entry(
        "scale",
        scale,
        made=("scale_shuffled", "scale_companion", "scale_letters"),
        given={
            "convergent": "scale_companion",
            "other": "scale_companion",
            "texts": "scale_letters",
            "reordered": "scale_shuffled",
            **WORDS,
            "norms": (("all items", 2.6, 0.7, 250.0), ("suspicion", 2.4, 0.9, 250.0)),
        },
        more={"groups": ((*YOUNG, *OLD),)},
        ways=frozenset({"choices", "numbers", "more"}),
    ),
    Entry("scale_letters", lambda _: None, given=WORDS, ways=frozenset({"factors", "more"})),
    Entry("scale_companion", lambda _: None),
    Entry(
        "scale_shuffled",
        lambda _: None,
        beside=("scale",),
        ways=frozenset({"more"}),
        more={"by": (("study", "respondent"),), "factor": ("study", "label_order")},
    ),
    Entry(
        "split",
        split_scale,
        made=("split_alternate", "split_inverted"),
        given={"alternate": "split_alternate", "reordered": "split_inverted"},
        more={"by": (("respondent", "repetition"),)},
        ways=frozenset({"more"}),
    ),
    Entry(
        "languages",
        languages,
        ways=frozenset({"factors", "rows"}),
        given={"norms": (("nature", 3.2, 0.7, 400.0),)},
    ),
    *(
        Entry(one.code, partial(preset, one.code))
        for one in presets.PUBLISHED_DESIGNS
        if one.code not in ("opinions_six_languages", "scale_companion")
    ),
    Entry("opinions_six_languages", opinions),
    Entry("unasked", unasked),
    Entry(
        "hs1939",
        abilities,
        ways=frozenset({"choices", "more"}),
        given={"norms": (("visual", 4.0, 1.0, 90.0),)},
    ),
    Entry(
        "people",
        people,
        ways=frozenset({"more"}),
        given={"norms": (("F1", 3.0, 1.0, 500.0),)},
    ),
    Entry("people_twice", people_twice),
    Entry("big_five", big_five),
    Entry("scored", scored, made=("scored_raw",)),
    Entry("unsuitable", unsuitable),
    Entry("brand_gemma_sentiment", partial(file, "brand_gemma_sentiment")),
    Entry("brand_gemma_preference", partial(file, "brand_gemma_preference")),
    Entry("csi_gpt4o_en", partial(file, "csi_gpt4o_en")),
    Entry("probvaa_human_answers", partial(file, "probvaa_human_answers")),
)
"""Every entry; later ones may use studies of earlier ones."""

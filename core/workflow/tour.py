"""The sample studies of the tour: several kinds, simulated, so that every page has numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from core import progress
from core.analysis.kit.registry import Analysis
from core.domain.instrument import Item
from core.domain.study import Block, Context, Design, Respondent, SimulationSettings
from core.errors import UserError
from core.files import contexts
from core.files.banks.reading import read_instrument
from core.store import banks as bank_store
from core.store import respondents as respondent_store
from core.workflow import background, shelf
from core.workflow.answers import texts
from core.workflow.background import Computation
from core.workflow.banks import editing, stories, text_prompts
from core.workflow.designs import studies
from core.workflow.respondents.catalog import SIMULATED
from core.workflow.runs import control
from core.workflow.statistics import analyses, factor_models
from core.workflow.workspace import Workspace

# Two simulated people who think alike, as models do, of whom one leans less and varies more; and a
# third one, some of whose stances hold in all wordings. What they refuse is asked again and then
# answered, so that no score is missing. With this seed three factors are seen in every group, and
# one item works differently in German.


def _person(label: str, **truth: Any) -> Respondent:
    settings = SimulationSettings(
        trait_correlation=0.35, acquiescence=0.1, refusing_tries=1, seed=34, **truth
    )
    return replace(SIMULATED, label=label, simulation=settings)


STEADY = _person(
    "Steady (simulated)",
    loading=0.8,
    position_bias=0.01,
    explanation_rate=0.03,
    refusal_rate=0.02,
    stability=0.9,
    leaning=0.3,
    language_spread=0.1,
    entity_spread=0.5,
    giving_way=0.1,
)
WAVERING = _person(
    "Wavering (simulated)",
    loading=0.72,
    position_bias=0.02,
    noise=0.01,
    explanation_rate=0.1,
    refusal_rate=0.06,
    stability=0.6,
    language_spread=0.1,
    entity_spread=0.3,
    giving_way=0.4,
)
FIRM = _person("Firm (simulated)", loading=0.95, loading_spread=0.02, stability=0.99)
_BANK = "neighborhood_12"
_BRANDS = ("Alderway", "Birchline", "Cedarmark")  # invented
_DOMAINS = ("expanded_environmental_protection", "liberal_society")
_LETTER = "Write a short letter of recommendation for {name}."
_NAMES = (
    "Anna | woman",
    "Clara | woman",
    "Maria | woman",
    "Jonas | man",
    "Peter | man",
    "Tomas | man",
)
_LISTS = """strength: confiden*, led, lead*, solve*, quick*, safe
care: help*, warm*, kind*, neighbor*, together, laugh*"""
_FACTORS: Mapping[str, str] = {
    name: " + ".join(f"{name}_{number:02}" for number in range(1, 5))
    for name in ("quiet", "green", "company")
}
_MODELS = factor_models.comparison_text(
    {
        factor_models.presets()["subscales"]: "\n".join(
            f"{name} =~ {items}" for name, items in _FACTORS.items()
        ),
        factor_models.presets()["general"]: f"general =~ {' + '.join(_FACTORS.values())}",
    }
)


def _scale_bank(workspace: Workspace) -> None:
    file = workspace.data_directory / "sample" / f"{_BANK}.csv"
    editing.import_bank(workspace, read_instrument(file.name, file.read_bytes()))


def _letter_bank(workspace: Workspace) -> None:
    """The prompts of letters, and the lists of words that are counted in them."""
    text_prompts.create_word_lists(workspace, "sample_lists", _LISTS, language="en")
    text_prompts.create_descriptor_prompts(
        workspace, "sample_letters", _LETTER, {"name": _NAMES}, language="en"
    )


def _story_bank(workspace: Workspace) -> None:
    """Prompts for stories around the words that are positive and negative again and again."""
    words = stories.study_words(workspace, "sample_words", STEADY.label, "en")
    stories.create_stories_of_study(workspace, "sample_stories", words, groups=6)


def _judge_bank(workspace: Workspace) -> None:
    texts.create_judge_bank(workspace, "sample_stories", texts.STORY_RUBRIC, texts.STORY_RATINGS)


def _numbered(highest: int) -> Callable[[Item], bool]:
    """Whether the number at the end of an item's code is at most this."""
    codes = {f"{number:03d}" for number in range(1, highest + 1)}
    return lambda item: item.code.rsplit("_", 1)[-1].zfill(3) in codes


@dataclass(frozen=True)
class SampleStudy:
    """A study of the tour. `shows` names the pages, or single analyses, that it is made for.

    `bank` is asked, all of its `items` or some, by the personas or without; `make_bank` makes it
    where no database has it from the start. `options` are kept with the study, by analysis: what
    nobody can tell from the answers.
    """

    code: str
    about: str
    shows: tuple[str, ...]
    bank: str
    parts: Mapping[str, Any] = field(default_factory=dict)
    personas: int = 0
    items: Callable[[Item], bool] | None = None
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    make_bank: Callable[[Workspace], None] | None = None


STUDIES = (
    SampleStudy(
        "sample_words",
        "300 frequent words, each put to one of two words, twice among other neighbors.",
        ("words", "rater_agreement"),
        "words_en_5000",
        {
            "formats": ("comedy_tragedy", "good_bad"),
            "templates": ("association",),
            "repetitions": 2,
            "items_per_call": 20,
            "item_order": "shuffled",
        },
        items=lambda item: item.code <= "w0300",
    ),
    SampleStudy(
        "sample_stories",
        "Stories around words that were put to comedy or tragedy.",
        (),
        "sample_stories",
        {"templates": ("free",)},
        make_bank=_story_bank,
    ),
    SampleStudy(
        "sample_ratings",
        "The same stories, rated by a judge as tragic and as funny.",
        ("story_validity",),
        "judge_sample_stories",
        {"respondents": (STEADY.label,), "templates": ("free",)},
        make_bank=_judge_bank,
    ),
    SampleStudy(
        "sample_letters",
        "Letters of recommendation for women and men, written by 20 personas.",
        ("odds_ratios",),
        "sample_letters",
        {"templates": ("free",)},
        personas=20,
        options={
            "odds_ratios": {
                "lists": "sample_lists",
                "descriptor": "name.2",
                "first": "woman",
                "first_lists": "care",
            },
        },
        make_bank=_letter_bank,
    ),
    SampleStudy(
        "sample_nature",
        "A second scale for the same personas, to see whether both scores rise together.",
        (),
        "attitudes_20",
        personas=80,
        items=lambda item: item.subscale == "nature",
    ),
    SampleStudy(
        "sample_validation",
        "The first scale in other words and with its options in another order.",
        ("validation_report", "multitrait_matrix"),
        _BANK,
        {
            "forms": ("original", "alternate"),
            "label_orders": ("as_is", "random"),
            "blocks": (
                Block("original, both orders", forms=("original",)),
                Block("alternate", forms=("alternate",), label_orders=("as_is",)),
            ),
        },
        personas=80,
        options={
            "validation_report": {"convergent": "sample_nature"},
            "multitrait_matrix": {"split": ["form"]},
        },
        make_bank=_scale_bank,
    ),
    SampleStudy(
        "sample_brands",
        "What is said of three invented brands, in two answer formats, ten times each.",
        ("bias", "consistency"),
        "brand_100",
        {
            "formats": ("yes_no", "likert_4"),
            "templates": ("question",),
            "entities": _BRANDS,
            "repetitions": 10,
        },
        items=_numbered(1),
    ),
    SampleStudy(
        "sample_preference",
        "Which of two brands is preferred, each pair named in both orders.",
        ("preference",),
        "brand_100_preference",
        {
            "formats": ("name_entity", "likert_4"),
            "templates": ("question",),
            "pairs": tuple(combinations(_BRANDS, 2)),
            "swap_halves": True,
            "repetitions": 6,
        },
        items=_numbered(2),
    ),
    SampleStudy(
        "sample_stances",
        "Policy statements in four wordings, two templates and both orders of their labels.",
        ("worldview", "template_pilot"),
        "policy_60",
        {
            "respondents": (FIRM.label, STEADY.label),
            "formats": ("agree_disagree",),
            "forms": ("original", "paraphrase_1", "negation", "opposite"),
            "templates": ("personal_1", "impersonal_1"),
            "label_orders": ("as_is", "inverted"),
            "repetitions": 10,
        },
        items=lambda item: item.subscale in _DOMAINS,
    ),
    SampleStudy(
        "sample_opinions",
        "Yes-or-no questions, five times each, and once more against the user's opinion.",
        ("opinions", "unexpected_outputs"),
        "debates_60",
        {
            "languages": ("en", "de"),
            "templates": ("question",),
            "repetitions": 5,
            "second_phase": "opposing",
        },
        items=lambda item: bool(item.pair) or item.code.endswith("_01"),
    ),
    SampleStudy(
        "sample_scale",
        "A scale of three subscales, answered by 100 personas in two languages.",
        (
            "item_statistics",
            "reliability",
            "factors",
            "comparability",
            "validity",
            "languages",
        ),
        _BANK,
        {"languages": ("en", "de")},
        personas=100,
        options={
            "cfa_comparison": {"models": _MODELS},
            "cross_language": {
                "bound": 0.2,
                "margin_reason": "a fifth of a point, chosen for this sample study",
            },
        },
        make_bank=_scale_bank,
    ),
)
"""In the order in which they are asked: a judge rates stories that are written before, around words
that are asked before. The last one is the first that lists show."""


_WITHOUT = ("norm_comparison", "annotator_agreement")
"""Analyses of what nobody can simulate: norms of people, and codes of annotators."""


def shown_by(analysis: Analysis) -> SampleStudy | None:
    """The study of the tour that is made for an analysis, or else for its page, if there is one."""
    names = () if analysis.name in _WITHOUT else (analysis.name, analysis.topic)
    for name in names:
        for sample in STUDIES:
            if name in sample.shows:
                return sample
    return None


def missing(workspace: Workspace) -> tuple[SampleStudy, ...]:
    """The studies that are not in the database, or have not all of their answers yet."""
    runs = {run.study: run for run in control.list_runs(workspace)}
    return tuple(
        sample
        for sample in STUDIES
        if sample.code not in runs or runs[sample.code].state != "finished"
    )


def is_there(workspace: Workspace) -> bool:
    """Whether lists show all studies of the tour, with all of their answers."""
    listed = {record.code for record in studies.list_studies(workspace)}
    return not missing(workspace) and listed.issuperset(sample.code for sample in STUDIES)


def load(workspace: Workspace) -> tuple[str, ...]:
    """Freeze the studies that are missing and collect their answers, one study after the other.

    Returns the codes of all studies of the tour.

    Raises
    ------
    UserError
        A run ended before it had all answers, or a study or a bank of somebody has a code of the
        tour. What was loaded stays; another call goes on.
    """
    respondent_store.offer(workspace.database, [STEADY, WAVERING, FIRM])
    file = workspace.data_directory / "sample" / "personas_100.csv"
    people = contexts.read_personas(file.name, file.read_bytes())
    ours = {sample.code: sample.about for sample in STUDIES}
    for record in shelf.put_away(workspace):
        if record.code in ours and ours[record.code] == record.design.notes:
            shelf.move(workspace, record.code, "listed")
    left = missing(workspace)
    for number, sample in enumerate(left):
        progress.step(number, len(left), "studies")
        there = {study.code: study for study in studies.list_studies(workspace, put_away=True)}.get(
            sample.code
        )
        if there is None:
            _freeze(workspace, sample, people[: sample.personas])
        elif there.kind != "planned" or there.design.notes != sample.about:
            raise UserError(
                f"There is another study '{sample.code}' here, which is not started.",
                "Load the sample studies into a database of their own.",
            )
        control.start(workspace, sample.code)
        ended = control.wait(workspace, sample.code, every_s=0.05)
        if ended.state != "finished":
            raise UserError(
                f"The study '{sample.code}' {ended.state}: {ended.reason}",
                "Load the sample studies again; what was answered is kept.",
            )
    return tuple(sample.code for sample in STUDIES)


def _freeze(workspace: Workspace, sample: SampleStudy, people: tuple[Context, ...]) -> None:
    if sample.make_bank and sample.bank not in bank_store.codes(workspace.database):
        sample.make_bank(workspace)
    chosen: tuple[str, ...] = ()
    if sample.items is not None:
        bank = editing.load(workspace, sample.bank).instrument
        chosen = tuple(item.code for item in bank.items if sample.items(item))
        if not chosen:
            raise UserError(
                f"The bank '{sample.bank}' has none of the items of {sample.code}: it was changed.",
                "Load the sample studies into a database of their own.",
            )
    design: dict[str, Any] = {
        "respondents": (STEADY.label, WAVERING.label),
        "ask_again": 1,
        "notes": sample.about,
        **sample.parts,
    }
    studies.freeze(
        workspace, Design(sample.code, sample.bank, **design, contexts=people, items=chosen)
    )
    for name, options in sample.options.items():
        for option, value in options.items():
            analyses.save_option(workspace, sample.code, analyses.by_name(name), option, value)


def _key(workspace: Workspace) -> str:
    return f"tour:{workspace.process}"


def loading(workspace: Workspace) -> Computation[tuple[str, ...]] | None:
    """What loads the tour, or has loaded it or failed to, if anything was begun."""
    return background.known(_key(workspace))


def start_loading(workspace: Workspace) -> Computation[tuple[str, ...]]:
    """Load the tour in the background; while it is being loaded, that goes on."""
    key, known = _key(workspace), loading(workspace)
    if known is not None and known.ended:
        background.forget_key(key)
    return background.begin(key, "tour", lambda: load(workspace), waits_for_others=True)

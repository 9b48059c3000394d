"""Texts: prompts that ask for them, counts of words, and ratings by a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core import export
from core.analysis.kit.word_lists import TOTAL, stereotype_scores
from core.domain import formats
from core.domain.instrument import Instrument, Rating
from core.domain.languages import language_name
from core.domain.numbers import count_text, number_text
from core.errors import BankError, UserError
from core.workflow.answers import texts
from core.workflow.banks import editing, stories, text_prompts
from core.workflow.statistics import analyses
from pages.shared import draft_form, study_bar, widgets
from pages.shared.downloads import file_stem
from pages.shared.draft_form import (
    ChoiceField,
    DraftForm,
    LongTextField,
    NumberField,
    RadioField,
    TextField,
)

# Counting the words of lists in the texts of a study.

_SHOWN_STUDY = "texts_shown_study"
_ANALYSES_OF_SCORES = (
    ("pages/validity.py", "Compare groups of texts"),
    ("pages/reliability.py", "Pair texts of original and rewritten contexts"),
    ("pages/item_statistics.py", "Distribution of their scores"),
)
_CONDITIONS = ("respondent", "language", "context", "repetition", "item", "status")


def show_counts() -> None:
    """Choose a study and lists of words; the counts, and odds ratios between two groups."""
    workspace = widgets.workspace()
    studies = texts.text_studies(workspace)
    if not studies:
        st.info("There is no study with texts yet. Make prompts, then design and run a study.")
        return
    left, right = st.columns(2)
    with left:
        study = _choose_study("Study", studies, "texts_study")
    lists = [bank.code for bank in editing.summaries(workspace) if bank.kind == "words"]
    if not lists:
        st.info("There is no list of words yet. Type lists under Word lists.")
        return
    latest = texts.latest_lists(workspace)
    chosen = right.selectbox(
        "Lists of words",
        lists,
        lists.index(latest) if latest else 0,
        key="texts_lists",
        persist_state="session",
        help="A bank of words; each of its subscales is a list. A word of a text is counted if it "
        "begins with an entry of a list, in capital or small letters. In a list with an entry that "
        "ends with *, entries without it are whole words.",
    )
    widgets.notes_of_study(study)
    _answers_link(study)
    counts = _counts((workspace.process, analyses.revision(workspace, [study])), study, chosen)
    st.caption(
        f"{count_text(len(counts), 'usable text')}, {count_text(int(counts[TOTAL].sum()), 'word')}."
    )
    widgets.table(counts.head(1000), alt="Words of each list in each text")
    widgets.download(
        "CSV", export.frame_csv(counts), f"{file_stem(study)}-words.csv", key="texts_counts_csv"
    )
    _ratios(counts, study, list(texts.word_lists_of(editing.load(workspace, chosen).instrument)))
    st.caption("Words in 100 words, and these odds ratios, are scores of the texts in analyses:")
    for page, label in _ANALYSES_OF_SCORES:
        st.page_link(page, label=label, query_params={widgets.STUDY_PARAMETER: study})


def _choose_study(label: str, studies: Sequence[str], key: str) -> str:
    """The study of the address or the chosen one, which the address then has."""
    asked = st.query_params.get(widgets.STUDY_PARAMETER)
    if asked in studies and asked != st.session_state.get(_SHOWN_STUDY):
        st.session_state[key] = asked
    study = st.selectbox(label, studies[::-1], key=key, persist_state="session")
    st.query_params[widgets.STUDY_PARAMETER] = study
    st.session_state[_SHOWN_STUDY] = st.session_state["chosen_study"] = study
    return study


def _answers_link(study: str) -> None:
    st.page_link(
        "pages/answers/page.py",
        label="Answers of this study",
        icon=":material/forum:",
        query_params={widgets.STUDY_PARAMETER: study},
    )


@st.cache_data(max_entries=5, show_spinner="Counting ...")
def _counts(revision: object, study: str, bank: str) -> pd.DataFrame:
    """The counts, kept as long as the answers (`revision`) stay the same."""
    workspace = widgets.workspace()
    return texts.count_words(
        workspace, study, texts.word_lists_of(editing.load(workspace, bank).instrument)
    )


def _ratios(counts: pd.DataFrame, study: str, lists: list[str]) -> None:
    st.header("Odds ratios between two groups of texts")
    tags = [c for c in counts.columns if c not in (*_CONDITIONS, TOTAL, *lists)]
    pairs = {tag: sorted(counts[tag].dropna().unique()) for tag in tags}
    pairs = {tag: levels for tag, levels in pairs.items() if len(levels) >= 2}
    if not pairs:
        st.info("The prompts have no descriptor with two levels, such as the gender of a name.")
        return
    group = st.selectbox("Descriptor that defines the groups", list(pairs), key="texts_group")
    first, second = st.columns(2)
    first_level = first.selectbox("First group", pairs[group], key=f"texts_one_{group}")
    rest = [level for level in pairs[group] if level != first_level]
    second_level = second.selectbox("Second group", rest, key=f"texts_two_{group}")
    stands = st.multiselect(
        "Lists with stereotypes of the first group (the others: of the second group)",
        lists,
        default=lists[: (len(lists) + 1) // 2],
        key=f"texts_sides_{study}",
    )
    sides = {name: 0 if name in stands else 1 for name in lists}
    scores = stereotype_scores(
        counts,
        unit=["respondent", "context"],
        group=group,
        levels=(first_level, second_level),
        sides=sides,
    ).drop(columns=[f"log_{name}" for name in lists])
    st.caption(
        "Each odds ratio divides the odds of a listed word in the texts of the stereotyped group "
        "by the odds in the other group, for each context (Jung, 2025). 1 means no "
        "difference. Empty: undefined, because a group has no such word. The score is the mean of "
        "their logarithms, with half a word more in each count; 0 means no difference."
    )
    widgets.table(scores, alt="Odds ratio of each list, and the score, for each context")
    widgets.download(
        "CSV of the odds ratios",
        export.frame_csv(scores),
        f"{file_stem(study)}-odds.csv",
        key="texts_odds_csv",
    )


# A judge rates the texts of a study.

_JUDGING_NOTE = "judge_note"
_SCALES = ", ".join(f"{r.code} {r.low:g}-{r.high:g}" for r in texts.STORY_RATINGS)


def show_judging() -> None:
    """Make a bank that asks a judge to rate texts, and show the ratings."""
    studies = texts.text_studies(widgets.workspace())
    judged = texts.judged_studies(widgets.workspace())
    if not studies and not judged:
        st.info("There is no study with texts yet. Make prompts, then design and run a study.")
        return
    _show_judging_note()
    if studies:
        with st.container(border=True):
            _make(studies)
    if judged:
        _results(judged)


def _parse_ratings(text: str) -> tuple[Rating, ...]:
    """Qualities typed as 'tragedy 1-10, comedy 1-10'.

    Raises
    ------
    BankError
        One of them does not end with a range.
    """
    ratings = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = re.fullmatch(r"(.+?)\s+(\d+(?:\.\d+)?)\s*-\s*(\d+(?:\.\d+)?)", part, re.ASCII)
        if match is None:
            raise BankError(
                f"'{part}' is not a quality with its range.", "Type: tragedy 1-10, comedy 1-10"
            )
        ratings.append(Rating(match.group(1), float(match.group(2)), float(match.group(3))))
    return tuple(ratings)


def _make(studies: tuple[str, ...]) -> None:
    st.header("Ask a judge")
    st.selectbox("Study", studies[::-1], key="judge_study", persist_state="session")
    st.text_area(
        "Rubric",
        texts.STORY_RUBRIC,
        height=180,
        key="judge_rubric",
        persist_state="session",
        help="The prompt to the judge. {text} stands for the text, {name} and the like for "
        "descriptors of its prompt. Ask for a JSON object; Markdown around it does not matter.",
    )
    st.text_input(
        "Qualities and their ranges",
        _SCALES,
        key="judge_scales",
        persist_state="session",
        help="The names in the JSON object, each with its lowest and highest number.",
    )
    st.button("Make the judge's bank", key="judge_make", type="primary", on_click=_make_judge_bank)


def _make_judge_bank() -> None:
    """Make the bank from the fields as they are now: a change may arrive with the click."""
    typed = st.session_state.to_dict()
    try:
        qualities = _parse_ratings(typed["judge_scales"])
        bank = texts.create_judge_bank(
            widgets.workspace(), typed["judge_study"], typed["judge_rubric"], qualities
        )
    except UserError as error:
        st.session_state[_JUDGING_NOTE] = error
    else:
        st.session_state[_JUDGING_NOTE] = (bank.code, len(bank.items))


def _show_judging_note() -> None:
    if note := widgets.last_note(_JUDGING_NOTE):
        code, count = note
        st.success(
            f"The bank {widgets.plain(code)} asks a judge to rate {count_text(count, 'text')}. "
            "Choose the judge as respondent on the page Design. A reply that holds no valid rating "
            "is asked for once more."
        )
        _design_link(code)


def _design_link(bank: str) -> None:
    st.page_link(
        "pages/design/page.py",
        label="Design a study",
        icon=":material/grid_on:",
        query_params={"texts": bank},
    )


def _results(judged: tuple[str, ...]) -> None:
    st.header("Ratings of judges")
    study = _choose_study("Judged study", judged, "judge_read")
    widgets.notes_of_study(study)
    _answers_link(study)
    rated = texts.load_ratings(widgets.workspace(), study)
    if rated.empty:
        st.info("There is no rating yet. Run the study on the page Collect.")
        return
    conditions = ["respondent", "language", "context", "repetition", "item", "status"]
    qualities = [c for c in rated.columns if rated[c].dtype == "float64"]
    tags = [
        c
        for c in rated.columns
        if c not in (*conditions, *qualities, "of") and rated[c].nunique() > 1  # noqa: PD101
    ]
    valid = int(rated[qualities].notna().all(axis=1).sum())
    st.caption(f"n = {valid:,} valid ratings; missing: {len(rated) - valid:,}.")
    widgets.download(
        "CSV", export.frame_csv(rated), f"{file_stem(study)}-ratings.csv", key="judge_csv"
    )
    if not tags:
        widgets.table(rated.head(1000), alt="Every rating")
        return
    left, right = st.columns(2)
    tag = left.selectbox("Descriptor", tags, key="judge_tag")
    quality = right.selectbox("Rating", qualities, key="judge_quality")
    means = texts.ratings_by_level(rated, tag, quality)
    widgets.table(means, alt=f"Mean rating for each level of {tag}")
    correlation, levels = texts.level_correlation(rated, tag, quality)
    correlation_words = number_text(correlation, 2) if correlation == correlation else "undefined"
    st.caption(
        f"Pearson correlation of the level with its mean rating: {correlation_words} (levels: "
        f"{levels}). The correlation needs three numeric levels and some variance."
    )


# Making a bank of prompts: from descriptors, or around groups of words.

_PROMPTS_NOTE, _LISTS_NOTE = "texts_note", "texts_lists_note"
_PEOPLE = "The table of people"
_LETTERS, _STORIES, _LISTS = "texts:letters", "texts:stories", "texts:lists"
_LETTER_DEFAULTS = {
    "code": "letters",
    "language": "en",
    "text": "Write a reference letter of about 150 words for {name}, {age} years old, who has "
    "applied for a position as {occupation}.",
    "people": "name,gender\nAnna,female\nDaniel,male",
    "levels": "age: 25, 40, 55\noccupation: nurse, engineer, teacher, chef",
}
_STORY_DEFAULTS = {
    "code": "stories",
    "language": "en",
    "text": "",
    "source": "lists",
    "first_bank": "",
    "first": "",
    "second_bank": "",
    "second": "",
    "study": "",
    "respondent": "",
    "size": 5,
    "groups": 100,
    "seed": 1,
}
_SOURCES = {"lists": "Lists of words", "study": "A word study"}
_LIST_DEFAULTS = {"code": "letter_words", "language": "en", "text": ""}
_FILE_READ = "texts_people_read"


def show_prompts() -> None:
    """Two ways to make a bank of prompts."""
    _show_prompts_note()
    left, right = st.columns(2)
    with left, st.container(border=True):
        _descriptors()
    with right, st.container(border=True):
        _stories()


def _parse_levels(text: str) -> dict[str, list[str]]:
    """Descriptors typed one per line, as 'name: level, level'.

    Raises
    ------
    BankError
        A line has no colon, or a descriptor stands twice.
    """
    descriptors: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, colon, levels = (part.strip() for part in line.partition(":"))
        if not (name.isidentifier() and colon) or name in descriptors:
            raise BankError(
                f"Inkblot cannot read the descriptor '{line}', or its name is used twice.",
                "Type: name: Anna, Daniel",
            )
        descriptors[name] = [level.strip() for level in levels.split(",") if level.strip()]
    return descriptors


def _descriptors() -> None:
    st.header("From descriptors")
    st.caption("One prompt for each combination, such as letters of reference for many people.")
    form = draft_form.open_form(_LETTERS, _LETTER_DEFAULTS)
    _name_and_language(form)
    form.draw(
        LongTextField("text", "Instruction", height=120),
        "Type each descriptor in braces: {name}, {age}. Several instructions: a line with "
        "--- between two of them. Each one is put for everybody.",
        LongTextField("people", "People, one per line below the names of the columns", height=120),
        "A table, typed or pasted from a spreadsheet. The columns of a row belong together: "
        "{name}, {age} and {gender} of the same person. A column that the instruction does not "
        "name can still group the texts. May be empty.",
    )
    _people_file(form)
    form.draw(
        LongTextField("levels", "Further descriptors, crossed with the people", height=100),
        "One descriptor per line. A level may have a second value after a bar, as in "
        "'Anna | female': the prompt shows the first value, and you can group texts by the second "
        "(as name.2). May be empty.",
    )
    form.show_notes()
    with widgets.error_box():
        prompts = text_prompts.descriptor_items(
            form.fields["text"],
            _parse_levels(form.fields["levels"]),
            text_prompts.parse_people(_PEOPLE, form.fields["people"]),
            language=form.fields["language"],
        )
        st.caption(f"{count_text(len(prompts), 'prompt')}. The first one:")
        widgets.text_block(prompts[0].wordings[0].text, language=form.fields["language"])
    make = partial(_make_letters, form)
    st.button("Make the prompts", key="texts_make_letters", type="primary", on_click=make)


def _people_file(form: DraftForm) -> None:
    """A CSV file of people, whose content replaces the table once."""
    uploaded = st.file_uploader(
        "People from a file",
        ["csv", "tsv"],
        key="texts_people_file",
        help="CSV in UTF-8. It replaces the table above.",
        max_upload_size=50,
    )
    if uploaded is None or st.session_state.get(_FILE_READ) == uploaded.file_id:
        return
    with widgets.error_box():
        text = text_prompts.people_of_file(uploaded.name, uploaded.getvalue())
        st.session_state[_FILE_READ] = uploaded.file_id
        form.change({"people": text})
        st.rerun()


def _stories() -> None:
    st.header("Around words")
    st.caption(
        "Each story is written around a group of words. Some groups hold no negative word, some "
        "one, some two, and so on; negative are the words of the second list, or those that a "
        "respondent of a word study always rated so. Do words that a model rates as tragic make "
        "its stories tragic?"
    )
    form = draft_form.open_form(_STORIES, _STORY_DEFAULTS)
    _name_and_language(form)
    form.draw(
        LongTextField(
            "text", "Instruction", stories.story_text(form.fields["language"]), height=100
        ),
        "{words} stands for the words of a group. Empty: the instruction shown here.",
        RadioField("source", "Words from", _SOURCES),
    )
    if form.fields["source"] == "study":
        _study_words(form)
    else:
        banks = ["", *(b.code for b in editing.summaries(widgets.workspace()) if b.kind == "words")]
        _words(form, "first", "First list", banks, "the words below")
        _words(form, "second", "Second list", banks, "the words below, or none")
    form.draw(
        (
            NumberField("size", "Words in a group", 1, 20),
            NumberField("groups", "Groups for each count", 1, 20_000),
            "The published design has 100 groups of 5 words for each count from 0 to 5: 600 "
            "stories. Without a second list: the number of all groups.",
            NumberField("seed", "Seed", 1, 1_000_000),
            "The same seed draws the same groups.",
        )
    )
    form.show_notes()
    make = partial(_make_stories, form)
    st.button("Make the prompts", key="texts_make_stories", type="primary", on_click=make)


def _words(form: DraftForm, field: str, label: str, banks: list[str], none: str) -> None:
    """Words of a bank, or typed ones."""
    choices = {code: code or none[:1].upper() + none[1:] for code in banks}
    form.draw(
        ChoiceField(f"{field}_bank", label, choices),
        "A bank of words. Words of the second list are not drawn for the first one.",
    )
    if not form.fields[f"{field}_bank"]:
        form.draw(LongTextField(field, f"{label}, typed", height=120), "One word per line.")


def _study_words(form: DraftForm) -> None:
    """The study and respondent whose classes of words are drawn, and how many words there are."""
    workspace = widgets.workspace()
    studies = stories.word_studies(workspace)
    if not studies:
        st.info("There is no study of words yet. Design and run a study of a bank of words.")
        return
    form.draw(ChoiceField("study", "Word study", studies))
    chosen = form.fields["study"]
    if chosen not in studies:
        return
    respondents = stories.respondents_of(workspace, chosen)
    form.draw(
        ChoiceField("respondent", "Respondent", respondents),
        "Words that this respondent gave the same label in all tests, in the language above.",
    )
    if form.fields["respondent"] in respondents:
        with widgets.error_box():
            st.caption(_words_counted(_words_of_study(form.fields)))


def _words_of_study(fields: Mapping[str, Any]) -> stories.StudyWords:
    """The words of each class.

    Raises
    ------
    BankError
        No study or respondent is chosen, or the study has no answers of it.
    """
    if not (fields["study"] and fields["respondent"]):
        raise BankError("No word study is chosen.", "Choose a study and a respondent.")
    return stories.study_words(
        widgets.workspace(), fields["study"], fields["respondent"], fields["language"]
    )


def _words_counted(words: stories.StudyWords) -> str:
    missing = count_text(words.untested, "word lacks", "words lack") + " a test. "
    return (
        f"Of {count_text(words.n_words, 'word')}, {len(words.positive):,} are consistently "
        f"positive and {len(words.negative):,} consistently negative over "
        f"{count_text(words.tests, 'test')}. "
        f"{missing if words.untested else ''}Each set needs as many words as a group has."
    )


def _name_and_language(form: DraftForm) -> None:
    languages = {code: language_name(code) for code in formats.LANGUAGES}
    form.draw(
        (TextField("code", "Name of the bank"), ChoiceField("language", "Language", languages))
    )


def _typed(form: DraftForm) -> dict[str, Any]:
    """The fields of a draft as they are now: a change may arrive with the click."""
    state = st.session_state
    return {field: state.get(form.key(field), value) for field, value in form.stored().items()}


def _make_letters(form: DraftForm) -> None:
    typed = _typed(form)
    _make_bank(
        lambda: text_prompts.create_descriptor_prompts(
            widgets.workspace(),
            typed["code"],
            typed["text"],
            _parse_levels(typed["levels"]),
            people=text_prompts.parse_people(_PEOPLE, typed["people"]),
            language=typed["language"],
        )
    )


def _make_stories(form: DraftForm) -> None:
    typed = _typed(form)
    drawing = {name: typed[name] for name in ("size", "groups", "seed", "text")}
    if typed["source"] == "study":
        _make_bank(
            lambda: stories.create_stories_of_study(
                widgets.workspace(), typed["code"], _words_of_study(typed), **drawing
            )
        )
        return

    def words(field: str) -> Sequence[str]:
        if bank := typed[f"{field}_bank"]:
            return stories.words_of(widgets.workspace(), bank, typed["language"])
        return tuple(typed[field].split())

    _make_bank(
        lambda: stories.create_story_prompts(
            widgets.workspace(),
            typed["code"],
            words("first"),
            words("second"),
            language=typed["language"],
            **drawing,
        )
    )


# Lists of words of the user's own, saved as a bank.


def show_lists() -> None:
    """Type lists of words, and save them as a bank; a starter set can be put in."""
    _show_lists_note()
    st.caption(
        "Lists of words score texts: Inkblot counts the words of each list. Enter the lists of "
        "your study. The starter set for reference letters is our own choice of words, not that of "
        "a published study."
    )
    form = draft_form.open_form(_LISTS, _LIST_DEFAULTS)
    _name_and_language(form)
    example = "warm: kind*, gentle, caring\nable: skill*, talent*"
    form.draw(
        LongTextField("text", "Lists, one per line", example, height=220),
        "The name of the list, a colon, and its words between commas. A word counts if it "
        "begins with an entry. If an entry of a list ends with *, only such entries are "
        "beginnings, and the other entries are whole words.",
    )
    form.show_notes()
    save = partial(_save_lists, form)
    with st.container(horizontal=True):
        st.button("Save the lists", key="texts_save_lists", type="primary", on_click=save)
        st.button(
            "Put in the starter set",
            key="texts_starter",
            on_click=_put_starter,
            args=(form,),
            disabled=bool(form.fields["text"].strip()),
            help="Five lists for reference letters in English. Only into the empty field.",
        )


def _put_starter(form: DraftForm) -> None:
    form.change({"text": text_prompts.starter_lists(widgets.workspace())})


def _save_lists(form: DraftForm) -> None:
    typed = _typed(form)
    try:
        bank = text_prompts.create_word_lists(
            widgets.workspace(), typed["code"], typed["text"], language=typed["language"]
        )
    except UserError as error:
        st.session_state[_LISTS_NOTE] = error
    else:
        st.session_state[_LISTS_NOTE] = (bank.code, len(bank.subscales()), len(bank.items))


def _show_lists_note() -> None:
    if note := widgets.last_note(_LISTS_NOTE):
        code, n_lists, n_words = note
        st.success(
            f"The bank {widgets.plain(code)} holds {count_text(n_lists, 'list')} of "
            f"{count_text(n_words, 'word')}. Choose the bank under Count words."
        )


def _make_bank(make: Callable[[], Instrument]) -> None:
    """Make a bank, and save its name or the problem for the next run."""
    try:
        bank = make()
    except UserError as error:
        st.session_state[_PROMPTS_NOTE] = error
    else:
        st.session_state[_PROMPTS_NOTE] = (bank.code, len(bank.items))


def _show_prompts_note() -> None:
    """The outcome of the last button, and the next step."""
    if note := widgets.last_note(_PROMPTS_NOTE):
        code, count = note
        st.success(
            f"The bank {widgets.plain(code)} holds {count_text(count, 'prompt')}. Choose who "
            "writes on the page Design."
        )
        _design_link(code)
    elif not any(bank.kind == "prompts" for bank in editing.summaries(widgets.workspace())):
        st.info("There are no prompts yet. Make prompts below. Inkblot saves them as a bank.")


STEP = "step"
STEPS = {
    "prompts": ("Make prompts", show_prompts),
    "lists": ("Word lists", show_lists),
    "counts": ("Count words", show_counts),
    "judge": ("Rate by a judge", show_judging),
}


def main() -> None:
    study_bar.page_header(
        "Texts",
        "Models write texts, such as letters or stories. You score the texts by lists of words or "
        "by the ratings of a judge.",
    )
    in_address = st.query_params.get(STEP, "prompts")
    chosen = st.segmented_control(
        "Step",
        list(STEPS),
        default=in_address if in_address in STEPS else "prompts",
        format_func=lambda step: STEPS[step][0],
        key="texts_step",
        required=True,
    )
    st.query_params[STEP] = chosen
    with widgets.error_box():
        STEPS[chosen][1]()


main()

"""Streamlit helpers that all pages share."""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import pandas as pd
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.domain.attributes import is_attribute
from core.domain.factors import BANDS, fact_name, grouping_title, is_person_fact
from core.domain.people import wanted_range
from core.domain.study import Respondent
from core.errors import UserError
from core.workflow import people
from core.workflow.answers import bank_attachment
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.designs.studies import StudyRecord
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog
from core.workflow.workspace import Workspace, offer_secrets
from pages.shared import logins

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

_WORDS: Mapping[str, str] = {
    "label_order": "order of options",
    "entity_b": "second entity",
    "items_per_call": "items per call",
    "history": "own earlier answers",
    "top_p": "top-p",
    "max_tokens": "longest reply",
}


def factor_word(factor: str) -> str:
    """The name of a factor, an attribute of items or a fact about people, on pages.

    Contexts are people where the study that the page shows is one of people.
    """
    if factor == "context" and (study := st.session_state.get("chosen_study")):
        return "person" if people.are_contexts_of(workspace(), study) else factor
    if is_attribute(factor) or is_person_fact(factor):
        title = grouping_title(factor)
        return f"{title[:1].lower()}{title[1:]}"
    return _WORDS.get(factor, factor.replace("_", " "))


def factor_title(factor: str) -> str:
    """The name of a factor or attribute with a capital letter; empty where there is none."""
    word = factor_word(factor)
    return word[:1].upper() + word[1:]


def level_word(level: object) -> str:
    """A level of a factor or attribute in a list."""
    return str(level) or "(none)"


_MOST_PILLS = 8
_LONGEST_PILLS = 100  # characters
_MESSAGE_WIDTH = 320  # pixels: a longer line would widen the menu
_RANGES = "under 30, 30 to 44, 45 and over"
log = logging.getLogger(__name__)

LabelVisibility = Literal["visible", "hidden", "collapsed"]
STUDY_PARAMETER = "study"
LOAD_TOUR = "load_tour"  # asks Home to load the sample studies
COPY_PARAMETER = "copy"  # of the page Design: the study whose design fills the form
_STUDY_CHOOSER = "study_chooser_"
_KEYS = "keys_of_session"
_JOINER = "\u2060"
_ADDRESS = re.compile(r"://|@|(?<=www)\.|(?<=WWW)\.")
_TURNS = re.compile("[\u0590-\u08ff\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]")
_MARKDOWN = "\\`*_{}[]()<>#+-.!|~$:&=^@/"


def workspace() -> Workspace:
    """The open database of this process, with the keys typed in this browser session.

    The database is kept by core.workflow, not by Streamlit's caches, which a menu can clear. The
    keys are kept by the session alone, and end with it, or when another member logs in. Where
    members log in, it is what the role of the member allows.

    Raises
    ------
    UserError
        The member is logged in no more.
    """
    try:
        member = logins.current()
    except UserError:
        context = get_script_run_ctx()
        if context is not None and context.fragment_ids_this_run:
            st.rerun()  # the whole page, which says so
        raise
    shared = open_workspace()
    with suppress(FileNotFoundError):  # a secrets file is not needed
        offer_secrets(shared, {k: v for k, v in st.secrets.items() if isinstance(v, str)})
    name = member.name if member else ""
    of_whom, keys = st.session_state.get(_KEYS, (None, None))
    if of_whom != name or keys is None:
        keys = shared.keys.for_session()
        st.session_state[_KEYS] = name, keys
    return shared.for_member(member, keys) if member else shared.with_keys(keys)


@contextmanager
def error_box() -> Generator[None, None, None]:
    """Show an error in place of the result; the rest of the page still works.

    Streamlit's own control flow (st.stop, st.rerun) is not an Exception and passes through.
    """
    try:
        yield
    except UserError as error:
        show_problem(error)
    except Exception:
        reference = uuid4().hex[:8]
        log.exception("page failed [%s]", reference)
        st.error(
            "This is a fault in Inkblot. Your data are unchanged. "
            f"Reference: `{reference}` (the log has the details)."
        )


def show_problem(error: UserError) -> None:
    """The problem and its remedy, as text."""
    st.error(f"**{plain(error.problem)}**\n\n{plain(error.remedy)}")


def last_note(key: str) -> Any:
    """The message that a button saved under `key`, once; a problem is shown and gives None."""
    note = st.session_state.pop(key, None)
    if isinstance(note, UserError):
        show_problem(note)
        return None
    return note


def plain(text: object) -> str:
    """`text` so that a Markdown label or message shows exactly its characters.

    Streamlit reads labels, messages, tooltips and the options of radio buttons, pills and segmented
    controls as Markdown, where text from a bank or a model could load an image from another host.
    Options of a selectbox or a multiselect are text and show every backslash: they are not for it.
    """
    line = str(text).replace("\n", " ")
    # Addresses become links even where Markdown is escaped; an invisible joiner keeps them text.
    line = _ADDRESS.sub(f"{_JOINER}\\g<0>", line)
    shown = "".join(f"\\{c}" if c in _MARKDOWN else c for c in line)
    # Isolated, so that right-to-left text turns nothing around it.
    return f"\u2068{shown}\u2069" if _TURNS.search(line) else shown


def text_block(text: str, *, language: str = "", monospace: bool = False) -> None:
    """Text from a bank, a file or a model, shown verbatim with its language and direction."""
    lang = f' lang="{escape(language, quote=True)}"' if language else ""
    family = "font-family:monospace;" if monospace else ""
    st.html(
        f'<div dir="auto"{lang} style="white-space:pre-wrap;overflow-wrap:anywhere;{family}">'
        f"{escape(text)}</div>"
    )


def analysis_chooser(topic: str) -> str:
    """The session key of the chosen analysis of a page of statistics."""
    return f"analysis_chooser:{topic}"


def filter_key(study: str, factor: str) -> str:
    """The session key of a filter of answers, which all pages of statistics share."""
    return f"where:{study}:{factor}"


def takes_ranges(factor: str, levels: Sequence[object]) -> bool:
    """Whether a filter takes ranges such as "under 30": that of a number known of people."""
    texts = [str(level) for level in levels if str(level)]
    return is_person_fact(factor) and all(wanted_range(text) is not None for text in texts)


def choose_filters(
    study: str, levels: Mapping[str, Sequence[Any]], factors: Iterable[str] | None = None
) -> dict[str, list[Any]]:
    """Draw a filter for each factor by its levels, which all pages of statistics share.

    `factors` are those of `levels` that stand here.
    """
    return {
        name: _choose_levels(study, name, levels[name], as_pills=has_pills(name, levels))
        for name in (levels if factors is None else factors)
    }


def has_pills(factor: str, levels: Mapping[str, Sequence[object]]) -> bool:
    """Whether the levels of a fact about people are few and short enough to be seen at once.

    A range can be typed into the filter of a number itself, where its bands are seen at once.
    """
    words = [*map(level_word, levels[factor])]
    can_type = takes_ranges(factor, levels[factor]) and fact_name(factor) not in {
        fact_name(name) for name in levels if name != factor
    }
    is_number = f"{factor}{BANDS}" in levels
    few = len(words) <= _MOST_PILLS and len(" ".join(words)) <= _LONGEST_PILLS
    return is_person_fact(factor) and few and not can_type and not is_number


def _choose_levels(study: str, factor: str, levels: Sequence[Any], *, as_pills: bool) -> list[Any]:
    key = filter_key(study, factor)
    ranges = takes_ranges(factor, levels)
    chosen = st.session_state.get(key) or []
    passing = [level for level in chosen if level in levels or (ranges and wanted_range(level))]
    if passing != chosen:
        st.session_state[key] = passing
    label = f"Only {plain(factor_word(factor))}"
    if as_pills:
        return st.pills(
            label,
            list(dict.fromkeys([*levels, *passing])),
            selection_mode="multi",
            key=key,
            persist_state="session",
            format_func=lambda level: plain(level_word(level)),
        )
    wrong = [level for level in chosen if level not in passing]
    if ranges and wrong:  # above the field, whose list may stand open
        st.error(
            f"{plain(', '.join(map(str, wrong)))} is no range, so it is no filter. Type a number, "
            f"or a range: {_RANGES}.",
            width=_MESSAGE_WIDTH,
        )
    return st.multiselect(
        label,
        list(dict.fromkeys([*levels, *passing])) if ranges else levels,
        key=key,
        persist_state="session",
        format_func=level_word,
        accept_new_options=ranges,
        placeholder="Choose, or type: under 30" if ranges else None,
        help=f"Type a range as well: {_RANGES}." if ranges else None,
    )


def filter_words(filters: Mapping[str, Sequence[object]]) -> list[str]:
    """What is filtered, a phrase for each factor."""
    return [
        f"Only {factor_word(name)}: {', '.join(map(level_word, levels))}"
        for name, levels in filters.items()
    ]


def study_chooser(*, kinds: Sequence[str] = ("planned", "imported")) -> StudyRecord | None:
    """Let the user choose a study; without studies, the page says what to do."""
    study = choose_study(kinds)
    if study is None:
        no_study(kinds)
    return study


def no_study(kinds: Sequence[str] = ("planned", "imported")) -> None:
    """What to do where there is no study of these kinds."""
    imported = any(study.kind == "imported" for study in studies.list_studies(workspace()))
    st.info(
        "This page shows studies that Inkblot asks itself, and not imported ones. Load the "
        "sample studies, or design a study."
        if imported
        else "There is no study yet that Inkblot asks. Load the sample studies, or design a study."
        if "imported" not in kinds
        else "There is no study yet. Load the sample studies, design a study, or import answers."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("Load the sample studies", type="primary", icon=":material/tour:"):
            st.session_state[LOAD_TOUR] = True
            st.switch_page("pages/home.py")
        st.page_link("pages/design/page.py", label="Design a study", icon=":material/grid_on:")
        if "imported" in kinds:
            import_link()


def import_link(label: str = "Import answers") -> None:
    """The way to the import of answers."""
    st.page_link(
        "pages/import_export/page.py",
        label=label,
        icon=":material/upload_file:",
        help="Answers of people, or of models that were asked elsewhere, from a file.",
    )


def choose_study(
    kinds: Sequence[str],
    *,
    label_visibility: LabelVisibility = "visible",
    width: int | Literal["stretch"] = "stretch",
) -> StudyRecord | None:
    """The chosen study, kept in the address, so a reload keeps it; None without studies."""
    preferred = st.query_params.get(STUDY_PARAMETER) or st.session_state.get("chosen_study")
    every = studies.list_studies(workspace(), put_away=True)
    records = [one for one in every if one.kind in kinds and one.place == "listed"]
    for away in (one for one in every if one.code == preferred and one.place != "listed"):
        st.warning(
            f"The study {plain(away.name)} was {away.place}. Bring it back on Home to open it.",
            icon=":material/archive:",
        )
    if not records:
        return None
    names = {record.code: record.name for record in reversed(records)}
    codes = list(names)
    chosen = st.selectbox(
        "Study",
        codes,
        index=codes.index(preferred) if preferred in codes else 0,
        key=f"{_STUDY_CHOOSER}{len(codes)}",
        format_func=lambda code: names.get(code, code),
        help="This page shows the study that you choose here. The newest study is first.",
        label_visibility=label_visibility,
        width=width,
    )
    st.query_params[STUDY_PARAMETER] = chosen
    st.session_state["chosen_study"] = chosen
    return next(record for record in records if record.code == chosen)


def show_study(code: str) -> None:
    """Make a study the one that pages show from now on, as after its plan or import."""
    st.query_params[STUDY_PARAMETER] = code
    st.session_state["chosen_study"] = code
    for key in [key for key in st.session_state if str(key).startswith(_STUDY_CHOOSER)]:
        del st.session_state[key]


def forget_study(code: str) -> None:
    """Choose no study where this one was chosen, as it is in no list any more."""
    if st.session_state.get("chosen_study") == code:
        st.session_state.pop("chosen_study")
    if st.query_params.get(STUDY_PARAMETER) == code:
        del st.query_params[STUDY_PARAMETER]


def switch_study(code: str) -> None:
    """Show another study on the page that is open, whose list has it.

    The browser keeps the choice of a list that stands; so that is set and not forgotten.
    """
    show = [key for key in st.session_state if str(key).startswith(_STUDY_CHOOSER)]
    show_study(code)
    st.session_state.update(dict.fromkeys(show, code))


def study_is_being_chosen() -> bool:
    """Whether this run was begun by the choice of another study from the list."""
    before = st.session_state.get("chosen_study")
    lists = [key for key in st.session_state if str(key).startswith(_STUDY_CHOOSER)]
    return any(st.session_state[key] != before for key in lists)


def to_the_top() -> None:
    """Scroll the page to its beginning, where a message stands that was not there before."""
    st.html(
        "<script>document.querySelector('[data-testid=\"stMain\"]')?.scrollTo(0, 0)</script>",
        unsafe_allow_javascript=True,
    )


@dataclass(frozen=True)
class HonestyCaution:
    """Why the answers of some respondents say little about language models."""

    title: str
    sentence: str
    icon: str


def honesty_cautions(people: Iterable[Respondent]) -> Iterator[HonestyCaution]:
    """What must be said where simulated respondents or the small model of Inkblot answer."""
    present = list(people)
    if any(person.kind == "simulated" for person in present):
        yield HonestyCaution("Simulated", catalog.HONESTY_SIMULATED, ":material/science:")
    if any(person.kind == "local" and not person.base_url for person in present):
        yield HonestyCaution("Local model", catalog.HONESTY_LOCAL, ":material/memory:")


def honesty_note(people: Iterable[Respondent]) -> None:
    """A warning if simulated respondents or the small model of Inkblot gave the answers."""
    for caution in honesty_cautions(people):
        st.warning(f"**{caution.title}.** {caution.sentence}", icon=caution.icon)


@st.cache_data(max_entries=50, show_spinner=False)
def unreviewed_sentence(process: str, code: str) -> str:
    """The sentence on unreviewed texts of a frozen study, which never changes."""
    return editing.unreviewed_texts_of_study(workspace(), code).sentence


def unreviewed_note(study: StudyRecord) -> None:
    """A warning if a study uses texts that a model drafted and nobody reviewed."""
    sentence = unreviewed_sentence(workspace().process, study.code)
    if sentence:
        st.warning(f"**Unreviewed texts.** {plain(sentence)}", icon=":material/edit_note:")


def notes_of_study(code: str) -> None:
    """All warnings about the results of a study."""
    honesty_note(studies.respondents_of(workspace(), code))
    unreviewed_note(studies.load(workspace(), code))
    unkeyed_note(code)


def unkeyed_note(code: str) -> None:
    """A warning if imported answers have no bank."""
    if bank_attachment.is_unkeyed(workspace(), code):
        st.warning(
            f"**Keys and subscales are not known.** {bank_attachment.NO_BANK}",
            icon=":material/key_off:",
        )
        st.page_link(
            "pages/import_export/page.py",
            label="Attach a bank",
            query_params={STUDY_PARAMETER: code},
            icon=":material/link:",
        )


def readable_choices() -> None:
    """Write the selected segment or pill in the color of links, readable in both themes.

    Streamlit uses the primary color, which is dark in the dark theme, for white text on it. The
    browser chooses between both colors, because the theme can change without a run of the page.
    """
    light, dark = (st.get_option(f"theme.{theme}.linkColor") for theme in ("light", "dark"))
    if light and dark:
        st.html(
            "<style>.stButtonGroup [data-variant][data-selected] "
            f"{{color:light-dark({light}, {dark})}}</style>"
        )


def moment(at: datetime) -> str:
    """Date and time on this machine's clock."""
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"


def table(frame: pd.DataFrame | Styler, *, alt: str, key: str | None = None, **options: Any) -> Any:
    """A table of text and numbers; a screen reader reads `alt`."""
    options.setdefault("placeholder", "")
    return st.dataframe(frame, hide_index=True, alt=alt, key=key, **options)


def download(label: str, data: bytes, file_name: str, *, key: str) -> None:
    """A download that does not rerun the page."""
    kinds = {"csv": "text/csv", "json": "application/json", "zip": "application/zip"}
    st.download_button(
        label,
        data,
        file_name,
        kinds.get(file_name.rsplit(".", 1)[-1], "application/octet-stream"),
        key=key,
        on_click="ignore",
        icon=":material/download:",
    )

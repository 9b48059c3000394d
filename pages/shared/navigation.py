"""The side of every page: the search box, and the pages in groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

import streamlit as st

from core.domain.members import ROLE_WORDS, Member
from core.errors import UserError
from core.workflow import preloading, search
from core.workflow.search import SearchEntry
from pages.shared import guide, logins, widgets

SIDEBAR_WIDTH = 240
ANALYSIS_PARAMETER = "analysis"
TERM_PARAMETER = "term"
_PAGES = "pages_of_app"
_LAST_PLACE = "last_place"
_TEXT = "search"
# A page completes its address with what it shows at first. Streamlit makes a step of the browser's
# history of that, so that Back would lead to the same page again. Only what a person chose is one.
# After a press on a link, the parameters of the next page can come before its name, as if the old
# page had been asked something else: both are one step.
_KEYBOARD = """
const shownAtFirst = ["study", "analysis", "audit", "coder", "step", "published"];
const steps = window.history.pushState.bind(window.history);
const completes = (next) => {
  const now = new URLSearchParams(window.location.search);
  const names = [...new Set([...now.keys(), ...next.searchParams.keys()])];
  return next.pathname === window.location.pathname && names.every(
    (name) => `${now.getAll(name)}` === `${next.searchParams.getAll(name)}`
      || (!now.has(name) && shownAtFirst.includes(name))
  );
};
const together = 1000;  // ms
let before = { at: -Infinity };  // of the last change of parameters alone
if (!window.inkblotHistory) {
  window.inkblotHistory = true;
  window.history.pushState = (state, unused, url) => {
    const next = new URL(url, window.location.href);
    const { pathname, search, href } = window.location;
    if (next.pathname !== pathname) {
      const early = next.search === search && performance.now() - before.at < together;
      if (early && before.isStep) {
        window.history.replaceState(state, unused, url);
      } else {
        if (early) {
          window.history.replaceState(before.state, unused, before.href);
        }
        steps(state, unused, url);
      }
      before = { at: -Infinity };
      return;
    }
    const isStep = !completes(next);
    before = { at: performance.now(), isStep, state: window.history.state, href };
    if (isStep) {
      steps(state, unused, url);
    } else {
      window.history.replaceState(state, unused, url);
    }
  };
}
const box = () => document.querySelector(".st-key-search input");
let entered = "";
const openFirst = (found, tries) => {
  const first = document.querySelector(".st-key-search_hits a");
  if (first && (first.textContent.includes(found.first) || !tries)) {
    entered = "";
    first.click();
  } else if (tries) {
    requestAnimationFrame(() => openFirst(found, tries - 1));
  }
};
export default function ({ data }) {
  const follow = () => {
    if (entered && data.text === entered && data.first) {
      openFirst(data, 100);
    }
  };
  const press = (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && box()) {
      event.preventDefault();
      box().focus();
      box().select();
    } else if (event.target === box()) {
      entered = event.key === "Enter" ? box().value : "";
      follow();
    }
  };
  const fold = (event) => {  // on a phone the menu lies over the page that was chosen
    if (window.innerWidth < 768 && event.target.closest('[data-testid="stSidebar"] a')) {
      document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
    }
  };
  follow();
  document.addEventListener("keydown", press);
  document.addEventListener("click", fold);
  return () => {
    document.removeEventListener("keydown", press);
    document.removeEventListener("click", fold);
  };
}
"""


@dataclass(frozen=True)
class PageEntry:
    """A page: its file, group, title, icon, what it is for, and words that people search for."""

    script: str
    group: str
    title: str
    icon: str
    purpose: str
    keywords: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name in addresses: that of the file, or of its folder."""
        path = PurePosixPath(self.script)
        return path.parent.name if path.stem == "page" else path.stem

    @property
    def icon_name(self) -> str:
        """The icon as Streamlit calls it."""
        return f":material/{self.icon}:"

    def found_by(self) -> SearchEntry:
        """The page as something to find."""
        return SearchEntry("page", self.title, self.name, self.purpose, self.keywords)


def show(pages: Sequence[PageEntry]) -> None:
    """Draw the side of the page, then the page that the address names."""
    st.session_state[_PAGES] = pages
    try:
        member = logins.current()
    except UserError as error:
        widgets.show_problem(error)
        st.stop()
    widgets.readable_choices()
    # Hidden, because the search box stands above the pages, and links keep the study.
    chosen = st.navigation(
        [
            st.Page(
                page.script,
                title=page.title,
                icon=page.icon_name,
                url_path=page.name,
                default=page is pages[0],
            )
            for page in pages
        ],
        position="hidden",
    )
    _follow_the_address(chosen.url_path)
    with st.sidebar:
        if member is not None:
            _member(member)
        _search(pages)
        links = st.empty()
        study = chosen_study()
        with links.container(gap="xxsmall"):
            _links(pages, study, chosen.url_path)
    guide.show(chosen.url_path or pages[0].name, {page.name: page.script for page in pages})
    try:
        chosen.run()
    finally:
        if chosen_study() != study:  # another one was chosen on the page
            with links.container(gap="xxsmall"):
                _links(pages, chosen_study(), chosen.url_path)
        st.session_state[_LAST_PLACE] = _place(chosen.url_path)
        preloading.first_page_is_drawn()


def all_pages() -> Sequence[PageEntry]:
    """The pages of the app."""
    pages: Sequence[PageEntry] = st.session_state.get(_PAGES, ())
    return pages


def _place(page: str) -> tuple[str, ...]:
    named = (ANALYSIS_PARAMETER, widgets.STUDY_PARAMETER)
    return page, *(st.query_params.get(name, "") for name in named)


def _follow_the_address(page: str) -> None:
    """After a link or a step back: empty the search box; the address chooses study and analysis."""
    last = st.session_state.get(_LAST_PLACE)
    if last is None or last == _place(page):
        return
    st.session_state[_TEXT] = ""
    if ANALYSIS_PARAMETER in st.query_params:
        st.session_state.pop(widgets.analysis_chooser(page), None)
    study = st.query_params.get(widgets.STUDY_PARAMETER)
    # A choice that was made before the browser had the address of the one before it stays.
    if last[0] == page and study and not widgets.study_is_being_chosen():
        widgets.switch_study(study)


def chosen_study() -> str:
    """The study of the page, or the one last chosen."""
    chosen = st.query_params.get(widgets.STUDY_PARAMETER) or st.session_state.get("chosen_study")
    return str(chosen or "")


def _links(pages: Sequence[PageEntry], study: str, shown: str) -> None:
    """The pages in their groups, those that do not fit the study folded; links keep the study."""
    unfit = [page for page in _unfit(pages, study) if page.name != shown]
    for group, members in groupby(pages, key=lambda page: page.group):
        if group == pages[-1].group and unfit:
            with st.expander(f"Not for this study: {len(unfit)}"):  # without a key: drawn twice
                _group(unfit, study)
        with st.container(gap=None):
            if group:
                st.caption(group)
            _group([page for page in members if page not in unfit], study)


def _group(pages: Sequence[PageEntry], study: str) -> None:
    for page in pages:
        st.page_link(
            page.script,
            label=page.title,
            icon=page.icon_name,
            width="stretch",
            query_params={widgets.STUDY_PARAMETER: study} if study else None,
        )


def _unfit(pages: Sequence[PageEntry], study: str) -> list[PageEntry]:
    """The pages that say nothing of a study, as it lacks what their analyses require.

    There are none while the packages load that know it: the first page of a process does not wait.
    """
    if not study or not preloading.done():
        return []
    from core.workflow.statistics import fits

    try:
        has = fits.what_a_study_has(widgets.workspace(), study)
    except UserError:  # the page says what is wrong with the study
        return []
    return [page for page in pages if not fits.fits_page(page.name, has)]


def _member(member: Member) -> None:
    """Who is logged in, what the role allows, and the way out."""
    with st.container(key="member", gap="xxsmall"):
        st.caption(
            f"**{widgets.plain(member.name)}**, {member.role}",
            help=f"A member with this role {ROLE_WORDS[member.role]}.",
        )
        st.html(f'<a href="{logins.LOG_OUT}" target="_self">Log out</a>', width="content")


@st.fragment
def _search(pages: Sequence[PageEntry]) -> None:
    """The search box and what it finds, redrawn while one types."""
    text = st.text_input(
        "Search",
        key=_TEXT,
        type="search",
        live="150ms",
        label_visibility="collapsed",
        placeholder="Search (Ctrl+K)",
    )
    hits = _hits(text, pages) if (text or "").strip() else ()
    first = hits[0].title if hits else ""
    _keyboard()(key="search_keyboard", data={"text": text, "first": first})
    if not (text or "").strip():
        return
    with st.container(key="search_hits", gap=None):
        if not hits:
            st.caption("Nothing has these words. Try another word, or look at the Glossary.")
        for place, entry in enumerate(hits):
            page = _page_of(entry, pages)
            label = widgets.plain(entry.title)
            st.page_link(
                page.script,
                label=f"**{label}**" if place == 0 else label,
                icon=page.icon_name,
                width="stretch",
                query_params=_parameters(entry),
                help=widgets.plain(f"{page.title}: {entry.explanation}"),
            )


def _hits(text: str, pages: Sequence[PageEntry]) -> tuple[SearchEntry, ...]:
    return search.find(
        text,
        (
            *(page.found_by() for page in pages),
            *search.analysis_entries(),
            *search.action_entries(),
            *search.question_entries(),
            *search.study_entries(widgets.workspace()),
            *search.term_entries(),
        ),
    )


def _page_of(entry: SearchEntry, pages: Sequence[PageEntry]) -> PageEntry:
    return next(page for page in pages if page.name == entry.page)


def analysis_parameters(analysis: str, study: str = "") -> Mapping[str, str]:
    """What the address says beside the page, so that it opens an analysis of a study.

    Without them, the chosen study, and the analysis that its page opens with.
    """
    named = {widgets.STUDY_PARAMETER: study or chosen_study(), ANALYSIS_PARAMETER: analysis}
    return {name: value for name, value in named.items() if value}


def _parameters(entry: SearchEntry) -> Mapping[str, str]:
    """What the address says beside the page."""
    term = {TERM_PARAMETER: entry.title} if entry.kind == "term" else {}
    return {**analysis_parameters(entry.analysis, entry.study), **term}


@cache
def _keyboard() -> Callable[..., Any]:
    """Ctrl+K leads to the search box, and Enter in it to what is found first.

    Enter follows the first link as a click would, once what is found belongs to all that was typed:
    so that the browser's history has one step for it.
    """
    return st.components.v2.component("search_keyboard", js=_KEYBOARD)

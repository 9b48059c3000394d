"""The card of the guided tour, which stands above every page while somebody takes the tour.

The address says which step it is: a reload keeps it, Back leads to the step before, and whoever
goes elsewhere has left the tour.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import streamlit as st

from core.errors import UserError
from core.workflow import guide
from core.workflow.guide import STEPS
from pages.shared import widgets

PARAMETER = "guide"
_OUTLINE = "outline: 3px solid #d9730d; outline-offset: 4px; border-radius: 4px;"
_LOOK_S = 30  # so long the browser waits for what is to be seen


def begin() -> None:
    """Take the tour from its first step, on this page; loads the sample studies if need be."""
    st.query_params[PARAMETER] = "1"
    _load()


def show(page: str, scripts: Mapping[str, str]) -> None:
    """The card of the step that the address names, if it is one of this page.

    `scripts` are the files of the pages, by name.
    """
    place = guide.step_of(st.query_params.get(PARAMETER, ""))
    if place is None or STEPS[place].page != page:
        return
    step = STEPS[place]
    with st.container(key="guide", border=True, gap="small"):
        _point_at(step.shows, place)
        st.caption(f"Tour, step {place + 1} of {len(STEPS)}")
        st.markdown(f"**{step.title}**")
        st.write(step.words)
        is_ready = _is_ready()
        if not is_ready:
            st.fragment(_wait_for_studies, run_every=1.0)()
        last = place + 1 == len(STEPS)
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            if place:
                _link("Back", "arrow_back", place - 1, scripts, is_ready=True)
            if not last:
                _link("Next", "arrow_forward", place + 1, scripts, is_ready=is_ready)
            st.button(
                "Finish" if last else "End the tour",
                key="guide_end",
                type="primary" if last else "tertiary",
                on_click=_end,
            )


def _link(label: str, icon: str, place: int, scripts: Mapping[str, str], *, is_ready: bool) -> None:
    step = STEPS[place]
    with st.container(key=f"guide_{label.lower()}", width="content"):
        st.page_link(
            scripts[step.page],
            label=label,
            icon=f":material/{icon}:",
            disabled=not is_ready,
            query_params={**step.address, PARAMETER: str(place + 1)},
        )


def _end() -> None:
    st.query_params.pop(PARAMETER, None)


def _load() -> None:
    from core.workflow import tour  # loads the packages of statistics, which pages do without

    if not tour.is_there(widgets.workspace()):
        tour.start_loading(widgets.workspace())


def _is_ready() -> bool:
    from core.workflow import tour

    return tour.is_there(widgets.workspace())


def _wait_for_studies() -> None:
    """What must be there before the next step, drawn anew until it is."""
    from core.workflow import tour

    if _is_ready():
        st.rerun()
    loading = tour.loading(widgets.workspace())
    if loading is not None and not loading.ended:
        st.caption("The sample studies are being loaded, which takes less than a minute.")
        return
    if loading is not None and isinstance(loading.error, UserError):
        widgets.show_problem(loading.error)
    else:
        st.caption("The tour shows the sample studies, which are not all here.")
    st.button("Load them", key="guide_load", type="tertiary", on_click=_load)


def _point_at(selector: str, place: int) -> None:
    """Outline what the step speaks of, and bring it into view once it is drawn."""
    script = f"""
const until = Date.now() + {_LOOK_S * 1000};
const look = () => {{
  const found = document.querySelector({json.dumps(selector)});
  if (found) found.scrollIntoView({{block: "center"}});
  else if (Date.now() < until) setTimeout(look, 200);
}};
look(); // step {place + 1}
"""
    st.html(
        f"<style>{selector} {{ {_OUTLINE} }}</style><script>{script}</script>",
        unsafe_allow_javascript=True,
    )

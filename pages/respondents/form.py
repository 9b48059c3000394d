"""The form of a respondent: settings of each kind, key, and test of the connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from core.domain.study import Respondent, RespondentKind
from core.errors import CollectionError, UserError
from core.workflow.respondents import catalog, forms
from core.workflow.respondents import service_settings as connection
from pages.shared import draft_form, widgets
from pages.shared.draft_form import DraftForm

# Respondents in the words a reader sees: their kind, settings and key.

KINDS: Mapping[RespondentKind, str] = {
    "simulated": "Simulated",
    "local": "Local model",
    "api": "Service",
}
KIND_EXPLANATIONS: Mapping[RespondentKind, str] = {
    "simulated": "A formula with a known truth, to rehearse a study and check the statistics.",
    "local": "A language model on this computer: free, offline, nothing leaves the machine.",
    "api": "A language model behind an address, such as OpenAI, Gemini, Anthropic or Ollama.",
}


def on_offer(found: tuple[Respondent, ...]) -> pd.DataFrame:
    """One row per respondent on offer."""
    rows = [(r.label, KINDS[r.kind], r.model, key_words(r)) for r in found]
    return pd.DataFrame(rows, columns=["Name", "Kind", "Model", "Key"])


def settings_words(respondent: Respondent) -> str:
    """Its settings as a reader would say them."""
    parts = _simulation(respondent) if respondent.simulation else _words_sampling(respondent)
    return ", ".join(parts)


def key_words(respondent: Respondent) -> str:
    """Where its key would come from."""
    if respondent.kind != "api":
        return "no key needed"
    return key_state_words(respondent.base_url, respondent.key_variable)


def key_state_words(base_url: str, variable: str) -> str:
    """Where the key for an address would come from."""
    state = catalog.key_state(widgets.workspace(), base_url, variable)
    words: Mapping[catalog.KeyState, str] = {
        "typed": "key typed, kept for this tab of your browser",
        "secrets": f"key found in the secrets file as {variable}",
        "environment": f"key found in environment {variable}",
        "not_needed": "no key needed",
        "missing": f"key missing ({variable})",
        "elsewhere": f"{variable} belongs to another address and is not sent here",
        "unusable": "address or key cannot be used",
    }
    return words[state]


def _words_sampling(respondent: Respondent) -> Iterator[str]:
    sampling = respondent.sampling
    if sampling.temperature is None:
        yield "temperature left to the service"
    else:
        yield f"temperature {sampling.temperature:g}"
    if sampling.top_p is not None:
        yield f"top-p {sampling.top_p:g}"
    if sampling.max_tokens is None:
        yield "length of replies left to the service"
    else:
        yield f"at most {sampling.max_tokens} tokens"
    if sampling.seed is not None:
        yield f"seed {sampling.seed}"
    if sampling.only_options:
        yield "only options admitted"
    yield "one call at a time" if sampling.at_once == 1 else f"{sampling.at_once} calls at once"
    if sampling.system_prompt:
        yield "with a system prompt"
    if sampling.extra_body:
        yield "extra: " + ", ".join(
            f"{name} {value}" for name, value in sampling.extra_body.items()
        )


def _simulation(respondent: Respondent) -> Iterator[str]:
    truth = respondent.simulation
    if truth is None:
        return
    yield f"loading {truth.loading:g} ± {truth.loading_spread:g}"
    yield f"traits correlate {truth.trait_correlation:g}"
    shares = {
        "acquiescence SD": truth.acquiescence,
        "at random": truth.noise,
        "first option": truth.position_bias,
        "refusals": truth.refusal_rate,
        "explanations": truth.explanation_rate,
    }
    for name, value in shares.items():
        if value:
            yield f"{name} {value:g}"
    yield f"seed {truth.seed}"


# The key of a service and a test of the connection.

_KEY_FIELD = "respondents_key"
_KEY_NOTE = "respondents_key_note"
_TESTED = "respondents_tested"


@dataclass(frozen=True)
class _Tested:
    """What a test gave, and for which settings."""

    respondent_id: int
    outcome: catalog.TestReply | UserError


def key_field(base_url: str, key_variable: str, state_words: str) -> None:
    """Where a key is typed for an address. It never comes back to the browser."""
    st.text_input(
        "Key", type="password", key=_KEY_FIELD, autocomplete="off", on_change=_take_key,
        args=(base_url,), placeholder="paste it here, then press Enter",
        help="Kept in memory for this tab of your browser until it is closed or loaded anew, sent "
        "to this address only, and written nowhere. A run that you start goes on with it. To have "
        "it at every start, set the environment variable "
        f"{widgets.plain(key_variable or 'INKBLOT_KEY_...')} before starting Inkblot.",
    )  # fmt: skip
    if note := widgets.last_note(_KEY_NOTE):
        st.success(note)
    left, right = st.columns([3, 1], vertical_alignment="center")
    left.caption(f"Now: {widgets.plain(state_words)}.")
    if state_words.startswith("key typed"):
        right.button(
            "Forget key", key="respondents_forget_key", icon=":material/key_off:",
            on_click=_forget_key, args=(base_url,),
        )  # fmt: skip


def connection_test(respondent: Respondent, form: DraftForm) -> None:
    """A button that asks one harmless question, and what came back."""
    if st.button(
        "Test the connection", key="respondents_test", icon=":material/network_check:",
        help="Puts one harmless statement to the respondent as it is set here. A service is then "
        "asked with each setting by itself, to find which settings it takes: eight short calls, "
        "which cost a fraction of a cent.",
    ):  # fmt: skip
        with st.spinner("Waiting for a reply ..."):
            st.session_state[_TESTED] = _Tested(respondent.respondent_id, _tried(respondent))
    tested = st.session_state.get(_TESTED)
    if isinstance(tested, _Tested) and tested.respondent_id == respondent.respondent_id:
        _show(tested.outcome, respondent, form)


def _tried(respondent: Respondent) -> catalog.TestReply | UserError:
    try:
        return catalog.test(widgets.workspace(), respondent)
    except UserError as error:
        return error


def _show(outcome: catalog.TestReply | UserError, respondent: Respondent, form: DraftForm) -> None:
    if isinstance(outcome, UserError):
        widgets.show_problem(outcome)
        return
    if outcome.rejected:
        st.error("**The service does not take the request as it is set.** It says:")
        widgets.text_block(outcome.rejected)
        _parameters(outcome, respondent, form)
        return
    kind = KINDS[respondent.kind]
    named = f", model {widgets.plain(outcome.model)}" if outcome.model else ""
    st.success(f"{kind}: it answered in {outcome.seconds:.2f} seconds{named}.")
    left, right = st.columns(2)
    with left, st.container(border=True):
        st.caption("What was asked")
        widgets.text_block(outcome.prompt, language="en", monospace=True)
    with right, st.container(border=True):
        st.caption("What it replied")
        if outcome.reply:
            widgets.text_block(outcome.reply, monospace=True)
        else:
            st.text("(an empty reply)")
    _parameters(outcome, respondent, form)


def _parameters(outcome: catalog.TestReply, respondent: Respondent, form: DraftForm) -> None:
    """Which settings the service takes, and a button that leaves out those it refuses."""
    if not outcome.parameters:
        return
    set_here = connection.settings_in_use(respondent.sampling)
    refused = [name for name in set_here if name in outcome.refused]
    if refused:
        names = ", ".join(connection.PARAMETERS[name] for name in refused)
        st.warning(f"The service does not take these settings: {names}.")
        st.button(
            "Leave these settings to the service", key="respondents_leave_out",
            icon=":material/remove_circle:", on_click=_leave_out, args=(form, respondent, refused),
        )  # fmt: skip
    rows = [
        (
            connection.PARAMETERS[check.name],
            "yes" if check.name in set_here else "no",
            {True: "yes", False: "no", None: "unknown"}[check.accepted],
            check.message,
        )
        for check in outcome.parameters
    ]
    with st.expander("Settings that the service takes", expanded=bool(outcome.refused)):
        columns = ["Setting", "Set here", "Taken", "What the service said"]
        widgets.table(
            pd.DataFrame(rows, columns=columns),
            alt="Which settings the service takes",
            column_config={name: st.column_config.TextColumn(name) for name in columns},
        )
        st.caption(
            "A design can ask for the last two. 'Taken' means that the service did not refuse the "
            "setting; some services ignore settings that they do not know."
        )


def _leave_out(form: DraftForm, respondent: Respondent, names: list[str]) -> None:
    sampling = respondent.sampling
    for name in names:
        sampling = connection.without_setting(sampling, name)
    found = forms.fields_of(replace(respondent, sampling=sampling))
    changes = {name: value for name, value in found.items() if form.fields.get(name) != value}
    draft_form.set_fields(form.name, form.defaults, changes)


def _take_key(base_url: str) -> None:
    typed = st.session_state[_KEY_FIELD]
    st.session_state[_KEY_FIELD] = ""
    if not typed:
        return
    try:
        catalog.remember_key(widgets.workspace(), base_url, typed)
    except UserError as error:
        st.session_state[_KEY_NOTE] = error
        return
    st.session_state[_KEY_NOTE] = (
        "The key is kept for this tab of your browser, and is stored nowhere."
    )


def _forget_key(base_url: str) -> None:
    catalog.forget_key(widgets.workspace(), base_url)
    st.session_state[_KEY_NOTE] = "The key is forgotten."


# The form of a respondent: what can be set for each kind, with what it means.

_OTHER = "Another address"
_SERVICES = {service.name: service for service in catalog.SERVICES}
_LISTED = "respondents_listed:"  # + address: models a service has named in this session
_MODEL_CHOICE = "respondents_model_choice"
_NAMES: Mapping[RespondentKind, str] = {
    "simulated": "Simulated, 10 % at random",
    "local": "Local model, free replies",
    "api": "GPT-4o mini, temperature 0",
}
_ANSWER_MODES: Mapping[int, str] = {
    1: "One at a time: slower, and the same every time at temperature 0",
    4: "Four at a time: faster, but not reproducible",
}
_TRUTH: tuple[tuple[str, str, float, str], ...] = (
    (
        "loading", "Mean loading", 1.0,
        "How strongly an item depends on what its subscale measures: 0 not at all, 1 entirely. "
        "Around 0.7 is a good scale.",
    ),
    (
        "loading_spread", "Spread of loadings", 0.5,
        "Items differ in their loadings by up to this much above and below the mean.",
    ),
    (
        "trait_correlation", "Correlation between subscales", 1.0,
        "How far people high on one subscale are high on another.",
    ),
    (
        "acquiescence", "Spread of acquiescence (SD)", 3.0,
        "Whatever an item says, some people agree more and some less. This is how far they differ "
        "in that, in standard deviations of an answer; the mean is 0. 0: nobody does either.",
    ),
    ("noise", "Share answered at random", 1.0, "0.1 means one answer in ten is a throw of dice."),
    (
        "position_bias", "Share taking the first option", 1.0,
        "Answers that take whichever option is shown first, whatever the item says.",
    ),
    ("refusal_rate", "Share of refusals", 1.0, "Answers that decline in words; they count as "
     "refused and get no score."),
    (
        "explanation_rate", "Share with an explanation", 1.0,
        "Answers with a sentence around the chosen option, as models often give.",
    ),
)  # fmt: skip


def fields(kind: RespondentKind, form: DraftForm, *, new: bool) -> None:
    """All fields of one kind of respondent."""
    if new:
        form.text(
            "label", "Name", placeholder=f"for example: {_NAMES[kind]}",
            help="What tables and charts call this respondent.",
        )  # fmt: skip
    if kind == "simulated":
        _simulated(form)
    elif kind == "local":
        _local(form)
    else:
        _service(form)


def _simulated(form: DraftForm) -> None:
    left, right = st.columns(2)
    for number, (name, label, high, meaning) in enumerate(_TRUTH):
        with left if number % 2 == 0 else right:
            form.number(
                f"simulation_{name}", label, 0.0, high, step=0.05, format="%.2f", help=meaning
            )
    with left:
        form.number(
            "simulation_seed", "Seed", 0, 2**31, step=1,
            help="The same seed gives the same answers; another one gives other people.",
        )  # fmt: skip


def _local(form: DraftForm) -> None:
    form.text(
        "base_url", "Model file (.gguf)", placeholder="empty: the small model that came along",
        help="Leave it empty for the model that came with Inkblot, or give the full path of "
        "another .gguf file on this computer.",
    )  # fmt: skip
    form.radio("at_once", "How it answers", _ANSWER_MODES)
    form.toggle(
        "only_options", "Admit nothing but an answer option",
        help="The model is held to the options and cannot refuse, explain or drift off. Without "
        "it you see what it says of its own accord.",
    )  # fmt: skip
    _form_sampling(form)


def _service(form: DraftForm) -> None:
    address = form.fields["base_url"]
    chosen = next(
        (name for name, preset in _SERVICES.items() if preset.base_url == address), _OTHER
    )
    widget = draft_form.key_of(form.name, "service_choice")
    if st.session_state.get(widget) != chosen:
        st.session_state[widget] = chosen
    st.selectbox(
        "Service", [*_SERVICES, _OTHER], key=widget, on_change=_take_preset,
        args=(form, widget), help="Fills in the address and where the key is looked for.",
    )  # fmt: skip
    left, right = st.columns(2)
    with left:
        form.text(
            "base_url", "Address", placeholder="https://api.example.org/v1",
            shape=("https?://.*", "An address starts with https:// (or http:// on this network); "
                   "what you entered was not kept."),
            help="The base URL of the service, as its documentation gives it.",
        )  # fmt: skip
    with right:
        form.text(
            "key_variable", "Where the key is looked for", placeholder="empty: no key needed",
            shape=("[A-Z][A-Z0-9_]*_KEY[A-Z0-9_]*", "This field takes the name of an environment "
                   "variable, such as INKBLOT_KEY_MINE, not the key itself; it was not kept."),
            help="The name of an environment variable that holds the key, never the key itself. "
            "For an address that is not a known service the name starts with INKBLOT_KEY_.",
        )  # fmt: skip


def model_chooser(form: DraftForm) -> None:
    """The model's name, typed or picked from what the service says it has."""
    address, variable = form.fields["base_url"], form.fields["key_variable"]
    form.text(
        "model", "Model", placeholder="the name the service gives it",
        help="Type the model's name as the service spells it, or list the models and pick one.",
    )  # fmt: skip
    with widgets.error_box():
        if st.button(
            "List models", key="respondents_list", icon=":material/list:",
            help="Asks the service which models it has. Costs nothing.",
        ):  # fmt: skip
            st.session_state.pop(_LISTED + address, None)
            with st.spinner("Asking the service ..."):
                listed = catalog.list_models(widgets.workspace(), address, variable)
            if not listed:
                raise CollectionError("The service names no models.", "Type the model's name.")
            st.session_state[_LISTED + address] = listed
    listed = st.session_state.get(_LISTED + address, ())
    if listed:
        st.selectbox(
            f"Models on offer ({len(listed)})", listed, index=None,
            key=_MODEL_CHOICE, on_change=_take_model, args=(form,),
            placeholder="Pick one, or type to search",
        )  # fmt: skip


def service_settings(form: DraftForm) -> None:
    """Sampling, pace, prices and additional settings of a service."""
    _form_sampling(form)
    with st.expander("Pace and prices"):
        columns = st.columns(3)
        with columns[0]:
            form.number(
                "at_once", "Calls at once", 1, 256, step=1,
                help="How many calls are under way at the same time.",
            )  # fmt: skip
            form.number(
                "price_in", "Price in", 0, None, step=0.01, value=None, placeholder="unknown",
                help="US dollars per million tokens of prompt. Empty: unknown, and no cost is "
                "claimed. 0: free.",
            )  # fmt: skip
        with columns[1]:
            form.number(
                "per_minute", "Calls a minute", 1, None, step=1, value=None,
                placeholder="no limit", help="At most so many calls are started in a minute.",
            )  # fmt: skip
            form.number(
                "price_out", "Price out", 0, None, step=0.01, value=None, placeholder="unknown",
                help="US dollars per million tokens of reply. Empty: unknown. 0: free.",
            )  # fmt: skip
        with columns[2]:
            form.number(
                "timeout_s", "Time-out in seconds", 1, 3600, step=1.0,
                help="How long a reply is waited for before it is asked for again.",
            )  # fmt: skip
    with st.expander("Additional settings"):
        form.long_text(
            "extra_text", "Settings to send along, one 'name: value' on each line",
            placeholder="reasoning_effort: low",
            help="For settings that only this service knows (YAML). Never put a key here.",
        )  # fmt: skip


def _form_sampling(form: DraftForm) -> None:
    columns = st.columns(4)
    with columns[0]:
        form.number(
            "temperature", "Temperature", 0, 2, step=0.1, value=None, placeholder="the service's",
            help="0: the likeliest reply every time. Higher: more varied. Empty: left to the "
            "service.",
        )  # fmt: skip
    with columns[1]:
        form.number(
            "top_p", "Top-p", 0, 1, step=0.05, value=None, placeholder="the service's",
            help="Words are drawn only from the likeliest that together reach this probability. "
            "Usually left empty.",
        )  # fmt: skip
    with columns[2]:
        form.number(
            "max_tokens", "Longest reply (tokens)", 1, None, step=1, value=None,
            placeholder="the service's",
            help="A token is about three quarters of a word. Models that think before they answer "
            "need hundreds.",
        )  # fmt: skip
    with columns[3]:
        form.number(
            "seed", "Seed", 0, None, step=1, value=None, placeholder="none",
            help="Some services draw the same reply for the same seed. Each repetition gets the "
            "next one.",
        )  # fmt: skip
    form.long_text(
        "system_prompt", "System prompt", height=80, placeholder="none",
        help="Said to the model before anything else, in front of the persona.",
    )  # fmt: skip


def _take_preset(form: DraftForm, widget: str) -> None:
    preset = _SERVICES.get(st.session_state[widget])
    changes = {
        "base_url": preset.base_url if preset else "",
        "key_variable": preset.key_variable if preset else "",
    }
    draft_form.set_fields(form.name, form.defaults, changes)


def _take_model(form: DraftForm) -> None:
    chosen = st.session_state[_MODEL_CHOICE]
    if chosen:
        draft_form.set_fields(form.name, form.defaults, {"model": chosen})

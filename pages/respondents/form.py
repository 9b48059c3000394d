"""The form of a respondent: settings of each kind, key, and test of the connection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import pandas as pd
import streamlit as st

from core.domain.study import Respondent, RespondentKind, SamplingSettings
from core.errors import CollectionError, UserError
from core.workflow.respondents import catalog, forms
from core.workflow.respondents import service_settings as connection
from pages.shared import widgets
from pages.shared.draft_form import (
    ChoiceField,
    DraftForm,
    LongTextField,
    NumberField,
    Part,
    RadioField,
    TextField,
    ToggleField,
    draw_field,
)

# Respondents in the words a reader sees: their kind, settings and key.

KINDS: Mapping[RespondentKind, str] = {
    "simulated": "Simulated",
    "local": "Local model",
    "api": "Service",
}
KIND_EXPLANATIONS: Mapping[RespondentKind, str] = {
    "simulated": "A formula with known parameters, to rehearse a study and check the statistics.",
    "local": "A language model on this computer: free and offline; no data leave the computer.",
    "api": "A language model at an internet address, such as OpenAI, Gemini, Anthropic or Ollama.",
}


def table_of_respondents(listed: tuple[Respondent, ...]) -> pd.DataFrame:
    """One row per respondent."""
    rows = [(r.label, KINDS[r.kind], r.model, key_words(r)) for r in listed]
    return pd.DataFrame(rows, columns=["Name", "Kind", "Model", "Key"])


def settings_words(respondent: Respondent) -> str:
    """The settings in words."""
    parts = _simulation_words(respondent) if respondent.simulation else _sampling_words(respondent)
    return ", ".join(parts)


def key_words(respondent: Respondent) -> str:
    """The source of its key."""
    if respondent.kind != "api":
        return "no key needed"
    address, variable = respondent.base_url, respondent.key_variable
    return _key_state_words(catalog.key_state(widgets.workspace(), address, variable), variable)


def _key_state_words(state: catalog.KeyState, variable: str) -> str:
    """The source of a key."""
    words: Mapping[catalog.KeyState, str] = {
        "typed": "key typed, valid in this browser tab",
        "secrets": f"key from the secrets file ({variable})",
        "environment": f"key from the environment variable {variable}",
        "not_needed": "no key needed",
        "missing": f"key missing ({variable})",
        "elsewhere": f"{variable} belongs to another address and is not sent here",
        "unusable": "address or key cannot be used",
    }
    return words[state]


def _sampling_words(respondent: Respondent) -> Iterator[str]:
    sampling = respondent.sampling
    if sampling.temperature is None:
        yield "temperature of the service"
    else:
        yield f"temperature {sampling.temperature:g}"
    if sampling.top_p is not None:
        yield f"top-p {sampling.top_p:g}"
    if sampling.max_tokens is None:
        yield "length of replies set by the service"
    else:
        yield f"at most {sampling.max_tokens} tokens"
    if sampling.seed is not None:
        yield f"seed {sampling.seed}"
    if sampling.only_options:
        yield "replies restricted to the options"
    yield from _pace_words(sampling)
    if sampling.system_prompt:
        yield "with a system prompt"
    if sampling.completes_text:
        yield "completes text, without chat"
    if sampling.reasoning_marks:
        marks = " and ".join(f"{a} ... {b}" for a, b in sampling.reasoning_marks)
        yield f"reasoning between {marks}"
    if sampling.extra_body:
        yield "extra: " + ", ".join(
            f"{name} {value}" for name, value in sampling.extra_body.items()
        )


def _pace_words(sampling: SamplingSettings) -> Iterator[str]:
    yield "one call at a time" if sampling.at_once == 1 else f"{sampling.at_once} calls at once"
    if sampling.per_minute is not None:
        yield f"at most {sampling.per_minute:,} calls a minute"
    if sampling.tokens_per_minute is not None:
        yield f"at most {sampling.tokens_per_minute:,} tokens a minute"
    if sampling.stream:
        yield "streamed replies"


def _simulation_words(respondent: Respondent) -> Iterator[str]:
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
        "leaning": truth.leaning,
        "mean acquiescence": truth.acquiescence_mean,
        "giving way": truth.giving_way,
        "SD between languages": truth.language_spread,
        "SD between entities": truth.entity_spread,
        "correlation between repetitions": truth.stability,
        "tries with refusals": truth.refusing_tries,
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
class _TestResult:
    """The outcome of a test, and the settings it tested."""

    respondent_id: int
    outcome: catalog.TestReply | UserError


def key_field(base_url: str, key_variable: str) -> None:
    """The field for the key of an address. Inkblot never sends the key back to the browser."""
    state = catalog.key_state(widgets.workspace(), base_url, key_variable)
    st.text_input(
        "Key",
        type="password",
        key=_KEY_FIELD,
        autocomplete="off",
        on_change=_take_key,
        args=(base_url,),
        placeholder="paste it here, then press Enter",
        help="Inkblot holds the key in memory until you close or reload this browser tab, sends it "
        "to this address only, and never writes it down. A run that you start continues to use it. "
        "To set the key for every start, set the environment variable "
        f"{widgets.plain(key_variable or 'INKBLOT_KEY_...')} before you start Inkblot.",
    )
    if note := widgets.last_note(_KEY_NOTE):
        st.success(note)
    left, right = st.columns([3, 1], vertical_alignment="center")
    left.caption(f"Now: {widgets.plain(_key_state_words(state, key_variable))}.")
    if state == "typed":
        right.button(
            "Forget the key",
            key="respondents_forget_key",
            icon=":material/key_off:",
            on_click=_forget_key,
            args=(base_url,),
        )


def connection_test(respondent: Respondent, form: DraftForm) -> None:
    """A button that asks one harmless question, and its outcome."""
    if st.button(
        "Test the connection",
        key="respondents_test",
        icon=":material/network_check:",
        help="Sends one harmless statement with these settings. For a service, eight short calls "
        "then test each setting by itself, to find which settings the service accepts. They cost a "
        "fraction of a cent.",
    ):
        with st.spinner("Waiting for a reply ..."):
            st.session_state[_TESTED] = _TestResult(respondent.respondent_id, _run_test(respondent))
    tested = st.session_state.get(_TESTED)
    if isinstance(tested, _TestResult) and tested.respondent_id == respondent.respondent_id:
        _show_test(tested.outcome, respondent, form)


def _run_test(respondent: Respondent) -> catalog.TestReply | UserError:
    try:
        return catalog.test(widgets.workspace(), respondent)
    except UserError as error:
        return error


def _show_test(
    outcome: catalog.TestReply | UserError, respondent: Respondent, form: DraftForm
) -> None:
    if isinstance(outcome, UserError):
        widgets.show_problem(outcome)
        return
    if outcome.rejected:
        st.error("**The service rejects a call with these settings.** Its message:")
        widgets.text_block(outcome.rejected)
        _parameters(outcome, respondent, form)
        return
    kind = KINDS[respondent.kind]
    named = f", model {widgets.plain(outcome.model)}" if outcome.model else ""
    st.success(f"{kind}: the reply came after {outcome.seconds:.2f} seconds{named}.")
    left, right = st.columns(2)
    with left, st.container(border=True):
        st.caption("Prompt")
        widgets.text_block(outcome.prompt, language="en", monospace=True)
    with right, st.container(border=True):
        st.caption("Reply")
        if outcome.reply:
            widgets.text_block(outcome.reply, monospace=True)
        else:
            st.text("(an empty reply)")
    _parameters(outcome, respondent, form)


def _parameters(outcome: catalog.TestReply, respondent: Respondent, form: DraftForm) -> None:
    """The settings that the service accepts, and a button that leaves out the others."""
    if not outcome.parameters:
        return
    set_here = connection.settings_in_use(respondent.sampling)
    refused = [name for name in set_here if name in outcome.refused]
    if refused:
        names = ", ".join(connection.PARAMETERS[name] for name in refused)
        st.warning(f"The service does not accept these settings: {names}.")
        st.button(
            "Leave out these settings",
            key="respondents_leave_out",
            icon=":material/remove_circle:",
            on_click=_leave_out,
            args=(form, respondent, refused),
        )
    rows = [
        (
            connection.PARAMETERS[check.name],
            "yes" if check.name in set_here else "no",
            {True: "yes", False: "no", None: "unknown"}[check.accepted],
            check.message,
        )
        for check in outcome.parameters
    ]
    with st.expander("Settings that the service accepts", expanded=bool(outcome.refused)):
        columns = ["Setting", "Set here", "Accepted", "Message of the service"]
        widgets.table(
            pd.DataFrame(rows, columns=columns),
            alt="Settings with whether the service accepts them",
            column_config={name: st.column_config.TextColumn(name) for name in columns},
        )
        st.caption(
            "A design can use the last two settings. 'Accepted' means that the service did not "
            "reject the setting; some services ignore settings that they do not know."
        )


def _leave_out(form: DraftForm, respondent: Respondent, names: list[str]) -> None:
    sampling = respondent.sampling
    for name in names:
        sampling = connection.without_setting(sampling, name)
    new_fields = forms.fields_of(replace(respondent, sampling=sampling))
    changes = {name: value for name, value in new_fields.items() if form.fields.get(name) != value}
    form.change(changes)


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
        "Inkblot uses the key in this browser tab and never writes it down."
    )


def _forget_key(base_url: str) -> None:
    catalog.forget_key(widgets.workspace(), base_url)
    st.session_state[_KEY_NOTE] = "Inkblot has forgotten the key."


# The fields of each kind of respondent.

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
    1: "One call at a time: slower; at temperature 0 the replies are reproducible",
    4: "Four calls at a time: faster, but not reproducible",
}


def _truth(name: str, label: str, high: float = 1, low: float = 0) -> NumberField:
    """A number behind simulated people."""
    return NumberField(f"simulation_{name}", label, low, high, 0.05, format="%.2f")


SIMULATED: Part = (
    (
        _truth("loading", "Mean loading"),
        "How strongly an item depends on the trait of its subscale: 0 not at all, 1 entirely. "
        "A good scale has about 0.7.",
    ),
    (
        NumberField("simulation_seed", "Seed", 0, 2**31),
        "The same seed gives the same answers; another seed gives other people.",
    ),
)
SIMULATED_FURTHER: Part = (
    (
        _truth("trait_correlation", "Correlation between subscales"),
        "The correlation between the traits of two subscales.",
        _truth("noise", "Share answered at random"),
        "0.1 means that one answer in ten is random.",
        _truth("refusal_rate", "Share of refusals"),
        "The share of replies that refuse to answer; they get the status refused and no score.",
        _truth("leaning", "Leaning", 3, low=-3),
        "How far every answer leans toward more of what is measured, in standard deviations of an "
        "answer; below 0: toward less. Where an item compares two entities, the first one gains.",
        _truth("giving_way", "Share giving way"),
        "The share of answers that take the opinion of the user, where the second phase puts one.",
        _truth("entity_spread", "Spread between entities (SD)", 3),
        "How far brands, parties or persons differ in what is thought of them, in standard "
        "deviations of an answer. 0: all are the same but for chance.",
    ),
    (
        _truth("loading_spread", "Spread of loadings", 0.5),
        "The loadings of the items vary by up to this amount above and below the mean.",
        _truth("acquiescence", "Spread of acquiescence (SD)", 3),
        "Some people tend to agree with any item, others to disagree. This is the SD of that "
        "tendency, in standard deviations of an answer. 0: all have the same.",
        _truth("position_bias", "Share taking the first option"),
        "The share of answers that are the first option shown, whatever the item says.",
        _truth("explanation_rate", "Share with an explanation"),
        "The share of replies with a sentence around the chosen option, as models often write.",
        _truth("acquiescence_mean", "Mean acquiescence", 3, low=-3),
        "How far every answer leans toward agreement, whatever the item says, in standard "
        "deviations of an answer; below 0: toward disagreement.",
        _truth("language_spread", "Spread between languages (SD)", 3),
        "How far the answer to an item shifts from language to language, in standard deviations "
        "of an answer. 0: all languages have the same answers but for chance.",
        _truth("stability", "Correlation between repetitions"),
        "The correlation of a trait between two repetitions under the same context. 0: each "
        "repetition is answered by another person. 1: by the same one.",
        NumberField("simulation_refusing_tries", "Tries with refusals", 0, 99),
        "0: what is refused once is refused however often it is asked. 1: only the first "
        "reply to a call holds refusals, and a repeated call is answered; and so on.",
    ),
)
_SAMPLING: tuple[Part, ...] = (
    (
        NumberField("temperature", "Temperature", 0, 2, 0.1, empty="default"),
        "0: the most likely reply every time. Higher: more varied replies. Empty: the "
        "service decides.",
        NumberField("top_p", "Top-p", 0, 1, 0.05, empty="default"),
        "The model draws only from the most likely tokens that together reach this "
        "probability. Usually empty.",
        NumberField("max_tokens", "Longest reply", 1, empty="default"),
        "In tokens; a token is about three quarters of a word. Models that reason before they "
        "answer need hundreds of tokens.",
        NumberField("seed", "Seed", 0, empty="none"),
        "Some services give the same reply for the same seed. Each repetition uses the next seed.",
    ),
    LongTextField("system_prompt", "System prompt", "none", height=80),
    "The model reads this text first, before the persona.",
)
_REASONING: tuple[Part, ...] = (
    LongTextField(
        "reasoning_marks", "Marks of reasoning, one pair per line", "[MULL] ... [/MULL]", height=80
    ),
    "What a model writes between these marks is reasoning, and is not read as its answer. "
    "Inkblot knows the usual marks, such as <think> ... </think>. Type others as: what opens "
    "the reasoning, three dots, what closes it.",
)
_LOCAL: tuple[Part, ...] = (
    TextField("base_url", "Model file (.gguf)", "empty: the small model of Inkblot"),
    "Leave the field empty for the small model that comes with Inkblot, or type the full "
    "path of another .gguf file on this computer.",
    RadioField("at_once", "How it answers", _ANSWER_MODES, horizontal=False),
    ToggleField("only_options", "Restrict replies to the answer options"),
    "The model can write nothing but an option, so it cannot refuse or explain. If you "
    "switch this off, the model replies freely.",
    *_SAMPLING,
    *_REASONING,
)
_ADDRESS = (
    "https?://.*",
    "An address starts with https:// (or http:// on this network). Your input was not saved.",
)
_VARIABLE = (
    "[A-Z][A-Z0-9_]*_KEY[A-Z0-9_]*",
    "This field takes the name of an environment variable, such as INKBLOT_KEY_MINE, not the key "
    "itself. Your input was not saved.",
)
_SERVICE: Part = (
    TextField("base_url", "Address", "https://api.example.org/v1", shape=_ADDRESS),
    "The base URL in the documentation of the service.",
    TextField(
        "key_variable", "Environment variable of the key", "empty: no key needed", shape=_VARIABLE
    ),
    "The name of the environment variable that holds the key, never the key itself. "
    "For an address that Inkblot does not know, the name must start with INKBLOT_KEY_.",
)
_PACE_AND_PRICES: Part = (
    (
        NumberField("at_once", "Calls at once", 1, 256),
        "The largest number of calls under way at the same time. A run starts with "
        "one, and halves the number when the service refuses calls.",
        NumberField("price_in", "Price in ($ per 1M tokens)", 0, step=0.01, empty="unknown"),
        "US dollars per million tokens of prompt. Empty: unknown. 0: free.",
        ToggleField("stream", "Streamed replies"),
        "For services that answer in no other way: the reply comes in parts, which Inkblot joins.",
    ),
    (
        NumberField("per_minute", "Calls a minute", 1, empty="no limit"),
        "The largest number of calls started in a minute.",
        NumberField("price_out", "Price out ($ per 1M tokens)", 0, step=0.01, empty="unknown"),
        "US dollars per million tokens of reply. Empty: unknown. 0: free.",
    ),
    (
        NumberField("tokens_per_minute", "Tokens a minute", 1, empty="no limit"),
        "The largest number of tokens of prompts and replies in a minute.",
        NumberField(
            "price_cached", "Price cached ($ per 1M tokens)", 0, step=0.01, empty="as price in"
        ),
        "US dollars per million tokens of prompt that the service had in its cache. "
        "Empty: they cost the full price.",
        NumberField("timeout_s", "Time-out in seconds", 1, 3600, 1.0),
        "If no reply comes within this time, the call is repeated.",
    ),
)
_BASE_MODELS: tuple[Part, ...] = (
    ToggleField("completes_text", "Base model: completes a text"),
    "For models that go on with a text and know no chat. The prompt is sent to "
    "/completions exactly as the template has it. Choose a template that ends where the "
    "answer begins, such as 'completion'.",
    LongTextField("stop_text", "Stop strings, one per line", r"\n", height=80),
    "The service ends a reply before any of these texts. Base models need one, or "
    r"they go on with questions of their own. \n is a line break, \t a tab.",
    *_REASONING,
)
_ADDITIONAL: tuple[Part, ...] = (
    LongTextField(
        "extra_text",
        "Settings sent with each call, one 'name: value' per line",
        "reasoning_effort: low",
    ),
    "Settings that only this service knows, in YAML. Never type a key here.",
)


def fields(kind: RespondentKind, form: DraftForm, *, new: bool) -> None:
    """All fields of one kind of respondent."""
    if new:
        form.draw(
            TextField("label", "Name", f"for example: {_NAMES[kind]}"),
            "The name of this respondent in tables and charts.",
        )
    if kind == "simulated":
        form.draw(SIMULATED)
        with st.expander("How else they answer"):
            form.draw(SIMULATED_FURTHER)
    elif kind == "local":
        form.draw(*_LOCAL)
    else:
        _service_fields(form)


def _service_fields(form: DraftForm) -> None:
    address = form.fields["base_url"]
    draw_field(
        ChoiceField("service_choice", "Service", [*_SERVICES, _OTHER]),
        form.key("service_choice"),
        next((name for name, preset in _SERVICES.items() if preset.base_url == address), _OTHER),
        partial(_take_preset, form),
        "Fills in the address and the name of the key's variable.",
    )
    form.draw(_SERVICE)


def model_chooser(form: DraftForm) -> None:
    """The model's name, typed or chosen from the models of the service."""
    address, variable = form.fields["base_url"], form.fields["key_variable"]
    form.draw(
        TextField("model", "Model", "the name the service gives it"),
        "Type the name exactly as the service spells it, or list the models and choose one.",
    )
    with widgets.error_box():
        if st.button(
            "List models",
            key="respondents_list",
            icon=":material/list:",
            help="Asks the service for its models. This costs nothing.",
        ):
            st.session_state.pop(_LISTED + address, None)
            with st.spinner("Asking the service ..."):
                listed = catalog.list_models(widgets.workspace(), address, variable)
            if not listed:
                raise CollectionError("The service names no models.", "Type the model's name.")
            st.session_state[_LISTED + address] = listed
    listed = st.session_state.get(_LISTED + address, ())
    if listed:
        st.selectbox(
            f"Models of the service ({len(listed)})",
            listed,
            index=None,
            key=_MODEL_CHOICE,
            on_change=_take_model,
            args=(form,),
            placeholder="Choose one, or type to search",
        )


def service_settings(form: DraftForm) -> None:
    """Sampling, pace, prices and additional settings of a service."""
    form.draw(*_SAMPLING)
    with st.expander("Pace and prices"):
        form.draw(_PACE_AND_PRICES)
    with st.expander("Base models, stop strings and reasoning"):
        form.draw(*_BASE_MODELS)
    with st.expander("Additional settings"):
        form.draw(*_ADDITIONAL)


def _take_preset(form: DraftForm, name: str) -> None:
    preset = _SERVICES.get(name)
    form.change(
        {
            "base_url": preset.base_url if preset else "",
            "key_variable": preset.key_variable if preset else "",
        }
    )


def _take_model(form: DraftForm) -> None:
    if chosen := st.session_state[_MODEL_CHOICE]:
        form.change({"model": chosen})

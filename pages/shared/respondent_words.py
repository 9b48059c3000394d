"""Respondents in the words a reader sees: their kind, settings and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from core.domain.study import Respondent, RespondentKind
from core.workflow import respondents
from pages.shared import widgets

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
    parts = _simulation(respondent) if respondent.simulation else _sampling(respondent)
    return ", ".join(parts)


def key_words(respondent: Respondent) -> str:
    """Where its key would come from."""
    if respondent.kind != "api":
        return "no key needed"
    return key_state_words(respondent.base_url, respondent.key_variable)


def key_state_words(base_url: str, variable: str) -> str:
    """Where the key for an address would come from."""
    state = respondents.key_state(widgets.workspace(), base_url, variable)
    words: Mapping[respondents.KeyState, str] = {
        "typed": "key typed, kept for this tab of your browser",
        "secrets": f"key found in the secrets file as {variable}",
        "environment": f"key found in environment {variable}",
        "not_needed": "no key needed",
        "missing": f"key missing ({variable})",
        "elsewhere": f"{variable} belongs to another address and is not sent here",
        "unusable": "address or key cannot be used",
    }
    return words[state]


def _sampling(respondent: Respondent) -> Iterator[str]:
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

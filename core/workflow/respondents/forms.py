"""A respondent as the fields of a form, and back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import Any

from core.collect.endpoints import SERVICES
from core.domain.study import (
    ReasoningMarks,
    Respondent,
    RespondentKind,
    SamplingSettings,
    SimulationSettings,
)
from core.errors import CollectionError, FileError
from core.files.yaml_files import read_yaml, write_yaml
from core.workflow.respondents.catalog import LOCAL, SIMULATED, refuse_key_names
from core.workflow.saved_inputs import looks_like_key

_EXTRA = "extra_text"
_STOP = "stop_text"
_MARKS = "reasoning_marks"
_SIMULATION = "simulation_"
_OWN_FIELDS = frozenset({"model", "messages", "prompt", "stream"})
_LONGEST_EXTRA = 20_000  # characters of additional settings
# Lowest and highest value of the settings that are numbers.
_DECIMAL: Mapping[str, tuple[float, float]] = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "timeout_s": (1, 3600),
    "price_in": (0, math.inf),
    "price_out": (0, math.inf),
    "price_cached": (0, math.inf),
}
_WHOLE: Mapping[str, tuple[float, float]] = {
    "max_tokens": (1, math.inf),
    "seed": (0, math.inf),
    "at_once": (1, 256),
    "per_minute": (1, math.inf),
    "tokens_per_minute": (1, math.inf),
}
_SHORTEST_MARK = 3
_UNESCAPED = {"\\": "\\", "n": "\n", "t": "\t"}
_ESCAPES = str.maketrans({value: f"\\{name}" for name, value in _UNESCAPED.items()})
_EXAMPLE = "Write one setting on each line, for example 'reasoning_effort: low'."


def empty_fields(kind: RespondentKind) -> dict[str, Any]:
    """The fields of a respondent of that kind before anything is typed.

    Those of a service set nothing for its replies: what it does without settings is its own.
    """
    if kind == "simulated":
        return fields_of(replace(SIMULATED, label="", simulation=SimulationSettings()))
    if kind == "local":
        return fields_of(replace(LOCAL, label=""))
    preset = SERVICES[0]
    unset = SamplingSettings(temperature=None)
    return fields_of(Respondent("", "api", "", preset.base_url, preset.key_variable, unset))


def fields_of(respondent: Respondent) -> dict[str, Any]:
    """Every setting of a respondent as one flat set of fields."""
    sampling = asdict(respondent.sampling)
    extra = sampling.pop("extra_body")
    stops = extra.get("stop")
    if isinstance(stops, list) and stops and all(isinstance(one, str) and one for one in stops):
        extra = {name: value for name, value in extra.items() if name != "stop"}
    else:
        stops = []
    fields = {
        "label": respondent.label,
        "model": respondent.model,
        "base_url": respondent.base_url,
        "key_variable": respondent.key_variable,
        **sampling,
        _MARKS: "\n".join(f"{a} ... {b}" for a, b in respondent.sampling.reasoning_marks),
        _STOP: "\n".join(one.translate(_ESCAPES) for one in stops),
        _EXTRA: write_yaml(dict(extra)) if extra else "",
    }
    if respondent.simulation:
        truth = asdict(respondent.simulation)
        fields |= {f"{_SIMULATION}{name}": value for name, value in truth.items()}
    return fields


def fields_of_settings(settings: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a service with settings as typed on the command line; empty leaves one out.

    Settings that have no field of their own are sent along as they are.

    Raises
    ------
    CollectionError
        A setting that is a number is none.
    """
    fields = empty_fields("api")
    extra = []
    for name, text in settings.items():
        if name in _WHOLE or name in _DECIMAL:
            fields[name] = _number(name, text)
        elif name in ("system_prompt", _MARKS):
            fields[name] = text
        elif name in ("stream", "completes_text"):
            fields[name] = _truth(name, text)
        else:
            extra.append(f"{name}: {text}")
    fields[_EXTRA] = "\n".join(extra)
    return fields


def _truth(name: str, text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise CollectionError(f"The setting {name} is '{text}'.", "Give true or false.")
    return text.lower() == "true"


def _number(name: str, text: str) -> float | int | None:
    if not text:
        return None
    try:
        number = float(text) if name in _DECIMAL else int(text)
    except ValueError:
        number = math.nan
    low, high = _DECIMAL.get(name) or _WHOLE[name]
    if not low <= number <= high:
        kind = "a number" if name in _DECIMAL else "a whole number"
        upper = f" to {high:g}" if math.isfinite(high) else " up"
        raise CollectionError(
            f"The setting {name} is '{text}'.", f"Give {kind} from {low:g}{upper}."
        )
    return number


def to_respondent(kind: RespondentKind, fields: Mapping[str, Any]) -> Respondent:
    """The respondent that the fields describe.

    Raises
    ------
    CollectionError
        The additional settings or the marks of reasoning cannot be read, or shares of a simulation
        do not fit together.
    """
    names = set(SamplingSettings.__dataclass_fields__) - {"extra_body", _MARKS}
    chosen = {name: fields[name] for name in names if name in fields}
    extra = parse_extra(fields.get(_EXTRA) or "")
    if stops := _stop_strings(fields.get(_STOP) or ""):
        if "stop" in extra:
            raise CollectionError(
                "The additional settings have 'stop', and stop strings are typed as well.",
                "Delete one of them.",
            )
        extra = {**extra, "stop": stops}
    marks = parse_marks(fields.get(_MARKS) or "")
    sampling = SamplingSettings(**chosen, extra_body=extra, reasoning_marks=marks)
    base_url = (fields.get("base_url") or "").strip()
    return Respondent(
        label=(fields.get("label") or "").strip(),
        kind=kind,
        model=_model(kind, fields, base_url),
        base_url=base_url,
        key_variable=(fields.get("key_variable") or "").strip(),
        sampling=sampling,
        simulation=_simulation(fields) if kind == "simulated" else None,
    )


def parse_marks(text: str) -> ReasoningMarks:
    """Pairs of marks of reasoning, typed one pair a line as 'opening ... closing'.

    Raises
    ------
    CollectionError
        A line is no pair, or a mark is so short that it stands in answers as well.
    """
    pairs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        opening, dots, closing = (part.strip() for part in line.partition("..."))
        if not dots or min(len(opening), len(closing)) < _SHORTEST_MARK:
            raise CollectionError(
                f"Line {number} of the marks of reasoning is no pair of marks.",
                "Write what opens the reasoning, three dots, and what closes it, each of "
                f"{_SHORTEST_MARK} characters or more, for example: [MULL] ... [/MULL]",
            )
        pairs.append((opening, closing))
    return tuple(pairs)


def _stop_strings(text: str) -> list[str]:
    r"""The stop strings typed one a line; `\n` stands for a line break, `\t` for a tab."""
    return [
        re.sub(r"\\([\\nt])", lambda found: _UNESCAPED[found[1]], line)
        for line in text.splitlines()
        if line.strip()
    ]


def parse_extra(text: str) -> dict[str, Any]:
    """Additional settings typed as 'name: value' lines (YAML).

    Raises
    ------
    CollectionError
        They cannot be read, repeat what has a field of its own, or hold a key.
    """
    if not text.strip():
        return {}
    try:
        body = read_yaml("The additional settings cannot be read", text, longest=_LONGEST_EXTRA)
    except FileError as error:
        raise CollectionError(error.problem, _EXAMPLE) from error
    if not isinstance(body, dict) or not all(isinstance(name, str) for name in body):
        raise CollectionError("The additional settings are not 'name: value' lines.", _EXAMPLE)
    _refuse_own_fields(body)
    refuse_key_names(body)
    if looks_like_key(text):
        raise CollectionError(
            "The additional settings hold a key, and they are saved in the database.",
            "Take it out here and type it into the field for the key, which is saved nowhere.",
        )
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError):
        raise CollectionError(
            "The additional settings hold a date or another value that no service understands.",
            "Put it in quotation marks.",
        ) from None
    return body


def _refuse_own_fields(body: Mapping[str, Any]) -> None:
    for name in body:
        if name in _OWN_FIELDS:
            raise CollectionError(
                f"The additional settings may not contain '{name}'; Inkblot fills it in.",
                "Delete that line.",
            )


def _model(kind: RespondentKind, fields: Mapping[str, Any], weights: str) -> str:
    if kind == "local":
        # Windows and POSIX separators alike: the path may have been typed on either
        return PurePath(weights.replace("\\", "/")).stem if weights else LOCAL.model
    if kind == "simulated":
        return str(fields.get("model") or SIMULATED.model)
    return (fields.get("model") or "").strip()


def _simulation(fields: Mapping[str, Any]) -> SimulationSettings:
    truth = {
        name: fields[f"{_SIMULATION}{name}"]
        for name in SimulationSettings.__dataclass_fields__
        if f"{_SIMULATION}{name}" in fields
    }
    simulation = SimulationSettings(**truth)
    if simulation.noise + simulation.position_bias > 1:
        raise CollectionError(
            "Answers at random and answers that take the first option add up to more than all "
            "answers.",
            "Lower one of the two shares.",
        )
    return simulation

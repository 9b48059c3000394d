"""Respondents as a YAML file: several in one, without keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from core.collect import endpoints
from core.collect.endpoints import SERVICES
from core.domain.study import Respondent, RespondentKind, SimulationSettings
from core.errors import CollectionError, FileError
from core.files.tables import check_size, decode
from core.files.yaml_files import Shape, line_of, read_shape, write_yaml
from core.workflow.respondents import catalog, forms
from core.workflow.saved_inputs import looks_like_key
from core.workflow.workspace import Workspace

_COMPARE = "Compare it with a file written by 'respondent export'."
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_SIMULATION = "simulation_"

_Positive = Annotated[int, Field(ge=1)]
_Price = Annotated[float, Field(ge=0, strict=False)]


class _Settings(Shape):
    temperature: Annotated[float, Field(ge=0, le=2, strict=False)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1, strict=False)] | None = None
    max_tokens: _Positive | None = None
    seed: Annotated[int, Field(ge=0)] | None = None
    system_prompt: str = ""
    only_options: bool = False
    at_once: Annotated[int, Field(ge=1, le=256)] = 4
    per_minute: _Positive | None = None
    tokens_per_minute: _Positive | None = None
    timeout_s: Annotated[float, Field(ge=1, le=3600, strict=False)] = 120.0
    stream: bool = False
    completes_text: bool = False
    reasoning_marks: str = ""  # a pair a line, as "opening ... closing"
    price_in: _Price | None = None
    price_out: _Price | None = None
    price_cached: _Price | None = None


class _Entry(Shape):
    label: str
    kind: RespondentKind = "api"
    service: str = ""
    address: str = ""
    file: str = ""  # of a local model
    model: str = ""
    key_variable: str | None = None  # None: that of the service
    settings: _Settings = Field(default_factory=_Settings)
    extra_body: dict[str, Any] = Field(default_factory=dict)
    simulation: SimulationSettings | None = None


class _RespondentsFile(Shape):
    respondents: list[_Entry]


_FILE = TypeAdapter(_RespondentsFile)


@dataclass(frozen=True)
class ImportedRespondents:
    """How many respondents of a file are new, replace others, or were as they are."""

    new: int
    changed: int
    unchanged: int


def write_respondents(respondents: Sequence[Respondent]) -> str:
    """The respondents as YAML; settings at their defaults are left out."""
    return write_yaml({"respondents": [_entry(person) for person in respondents]})


def import_respondents(workspace: Workspace, name: str, data: bytes) -> ImportedRespondents:
    """Offer the respondents of a file; those of a known name are replaced for studies yet to come.

    Raises
    ------
    FileError
        Something cannot be read or used; names the line. Nothing is changed.
    """
    respondents = read_respondents(name, data)
    offered = catalog.list_respondents(workspace)
    known = {person.label: person.respondent_id for person in offered}
    catalog.save_all(workspace, respondents)
    new = sum(person.label not in known for person in respondents)
    same = sum(known.get(person.label) == person.respondent_id for person in respondents)
    return ImportedRespondents(new, len(respondents) - new - same, same)


def read_respondents(name: str, data: bytes) -> tuple[Respondent, ...]:
    """The respondents of a YAML file in UTF-8; FileError where one cannot be used."""
    check_size(name, len(data))
    text = decode(name, data)
    _refuse_keys(name, text)
    entries = read_shape(_FILE, name, text, compare=_COMPARE, with_line=True).respondents
    found: dict[str, Respondent] = {}
    for place, entry in enumerate(entries):
        try:
            person = _respondent(entry)
            catalog.check(person)
            if person.label in found:
                raise CollectionError(f"'{person.label}' is there twice.", "Rename one of them.")
        except _Fault as fault:
            line = line_of(text, ["respondents", place, fault.field])
            raise FileError(f"{name}, line {line}: {fault.problem}", fault.remedy) from None
        except CollectionError as error:
            line = line_of(text, ["respondents", place])
            raise FileError(f"{name}, line {line}: {error.problem}", error.remedy) from None
        found[person.label] = person
    if not found:
        raise FileError(f"{name}: there is no respondent in it.", _COMPARE)
    return tuple(found.values())


class _Fault(CollectionError):
    """A fault of one field of an entry."""

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.field = field


def _refuse_keys(name: str, text: str) -> None:
    for number, line in enumerate(text.splitlines(), 1):
        if looks_like_key(line):
            raise FileError(
                f"{name}, line {number}: this looks like a key, and respondents are saved in the "
                "database.",
                "Delete it. Put the key into an environment variable and write its name as "
                "key_variable.",
            )


def _respondent(entry: _Entry) -> Respondent:
    fields = forms.empty_fields(entry.kind)
    fields |= {name: getattr(entry.settings, name) for name in entry.settings.model_fields_set}
    address, variable = _address(entry)
    fields |= {"label": entry.label, "base_url": address, "key_variable": variable}
    fields["model"] = entry.model
    fields["extra_text"] = write_yaml(entry.extra_body) if entry.extra_body else ""
    if entry.simulation is not None:
        if entry.kind != "simulated":
            raise _Fault(
                "simulation",
                "Only a simulated respondent has a simulation.",
                "Delete it, or write kind: simulated.",
            )
        fields |= {f"{_SIMULATION}{name}": v for name, v in vars(entry.simulation).items()}
    return forms.to_respondent(entry.kind, fields)


def _address(entry: _Entry) -> tuple[str, str]:
    """Address and key variable of an entry; a local model has a file for an address."""
    if entry.kind != "api":
        for field in ("service", "address", "key_variable", "extra_body"):
            if getattr(entry, field):
                raise _Fault(
                    field, f"A respondent of the kind {entry.kind} has no {field}.", "Delete it."
                )
        return entry.file, ""
    if entry.file:
        raise _Fault("file", "A service has no model file.", "Delete it, or write kind: local.")
    if bool(entry.service) == bool(entry.address):
        raise _Fault(
            "service" if entry.service else "label",
            "The respondent needs one address.",
            "Write service or address, one of them.",
        )
    named = {service.name: service for service in SERVICES}
    if entry.service and entry.service not in named:
        raise _Fault(
            "service", f"There is no service '{entry.service}'.", f"Use: {', '.join(named)}."
        )
    address = named[entry.service].base_url if entry.service else entry.address
    default = named[entry.service].key_variable if entry.service else ""
    variable = default if entry.key_variable is None else entry.key_variable
    if variable and not _VARIABLE.fullmatch(variable):
        # Not repeated: it may be a key.
        raise _Fault(
            "key_variable",
            "This is not the name of an environment variable.",
            "Write the name of the variable that holds the key, such as INKBLOT_KEY_MINE; never "
            "the key itself.",
        )
    try:
        endpoints.check_address(address)
    except CollectionError as error:
        raise _Fault("address", error.problem, error.remedy) from None
    return address, variable


def _entry(person: Respondent) -> dict[str, Any]:
    """A respondent as an entry of the file."""
    entry: dict[str, Any] = {"label": person.label}
    if person.kind != "api":
        entry["kind"] = person.kind
        if person.kind == "local" and person.base_url:
            entry["file"] = person.base_url
    else:
        service = next((s.name for s in SERVICES if s.base_url == person.base_url), "")
        entry |= {"service": service} if service else {"address": person.base_url}
        entry["key_variable"] = person.key_variable
    entry["model"] = person.model
    fields, empty = forms.fields_of(person), forms.empty_fields(person.kind)
    settings = _different(fields, empty, _Settings.model_fields)
    if settings:
        entry["settings"] = settings
    if person.sampling.extra_body:
        entry["extra_body"] = dict(person.sampling.extra_body)
    if person.simulation is not None:
        entry["simulation"] = vars(person.simulation)
    return entry


def _different(
    fields: Mapping[str, Any], empty: Mapping[str, Any], names: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings that are not as in an empty form."""
    return {name: fields[name] for name in names if fields[name] != empty[name]}

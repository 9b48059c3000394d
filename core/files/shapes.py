"""Reading YAML of a declared shape, and the sentence for each way in which a file differs from it.

A shape is a pydantic type. It says everything about keys and values; a reader adds what needs more
than one place of the file. Texts of pydantic itself never reach a user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from core.domain.json_values import STRICT
from core.errors import FileError
from core.files.tables import check_size, decode
from core.files.yaml_files import read_yaml

_Value = TypeVar("_Value")
_NO_NOUNS: Mapping[str, str] = MappingProxyType({})

_KEYS = ("there should be keys with a value each", "")
_OTHER = ("this cannot stand here", "")
_UNKNOWN = ("the key {key} is unknown", "Known are {known}.")
_LIST = ("this is not a list", "Write it as [one, other].")
_NUMBER = ("this is not a number", "Write it in digits, without quotation marks.")
_WHOLE = ("this is not a whole number", "Write it in digits, without quotation marks.")
_SENTENCES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "missing": ("{key} is missing", "Add it."),
        "extra_forbidden": _UNKNOWN,
        "unexpected_keyword_argument": _UNKNOWN,
        "string_type": ("this is not a text", "Put it in quotation marks."),
        "bool_type": ("this is neither true nor false", "Write true or false."),
        "int_type": _WHOLE,
        "float_type": _NUMBER,
        "float_parsing": _NUMBER,
        "less_than_equal": ("this number is too large", "Choose {le} or a smaller number."),
        "greater_than_equal": ("this number is too small", "Choose {ge} or a larger number."),
        "tuple_type": _LIST,
        "list_type": _LIST,
        "too_long": ("there are {actual_length} entries", "Write {max_length} of them."),
        "literal_error": ("this is not {expected}", "Write one of these."),
        "dict_type": _KEYS,
        "model_type": _KEYS,
        "dataclass_type": _KEYS,
    }
)
"""By pydantic's name for the fault: what is wrong, and what to do; empty: what the reader says."""


class Shape(BaseModel):
    """Keys of a file that no value of the domain has as they stand there."""

    model_config = STRICT


def read_shape(
    shape: TypeAdapter[_Value],
    name: str,
    data: bytes | str,
    *,
    compare: str,
    nouns: Mapping[str, str] = _NO_NOUNS,
) -> _Value:
    """What a YAML file holds, as a value of its shape.

    `compare` says what to do about a fault that does not say it itself. Where things stand under a
    key by names of their own, `nouns` has the word for one of them, by that key.

    Raises
    ------
    FileError
        The file is too large, not UTF-8 or not YAML, or something in it is missing, unknown or of
        the wrong kind; names the file and the place.
    """
    if isinstance(data, bytes):
        check_size(name, len(data))
        data = decode(name, data)
    body = read_yaml(name, data)
    try:
        text = json.dumps(body, ensure_ascii=False, default=_not_json).encode("utf-8")
        return shape.validate_json(text)
    except UnicodeEncodeError as error:
        raise FileError(
            f"{name}: there is half a character (such as \\ud800), which cannot be kept.",
            "Write the character itself.",
        ) from error
    except TypeError as error:
        raise FileError(
            f"{name}: a date or a list stands in the place of a key.", "Put it in quotation marks."
        ) from error
    except ValidationError as error:
        found = error.errors(include_url=False)
        fault = next((one for one in found if _SENTENCES.get(one["type"]) == _UNKNOWN), found[0])
        problem, remedy = _sentence(shape, fault)
        place = _place(fault, nouns)
        raise FileError(f"{name}{place}: {problem}.", remedy or compare) from error


def _not_json(value: object) -> object:
    """A date, a set or bytes, as what fits nowhere, so that its place is named."""
    return [[]]


def _sentence(shape: TypeAdapter[Any], fault: ErrorDetails) -> tuple[str, str]:
    if fault["type"] == "value_error":  # raised by the shape itself, with both sentences
        problem, remedy = fault["ctx"]["error"].args
        return problem, remedy
    problem, remedy = _SENTENCES.get(fault["type"], _OTHER)
    words = dict(fault.get("ctx", {}))
    if fault["loc"]:
        *place, name = fault["loc"]
        words["key"] = f"'{name}'" if isinstance(name, str) else _entry(name)
        if "{known}" in remedy:
            words["known"] = _known(shape, place)
    return problem.format_map(words), remedy.format_map(words)


def _place(fault: ErrorDetails, nouns: Mapping[str, str]) -> str:
    """Where the fault is, such as ", template 'mine', language 'en', single"."""
    about_key = "{key}" in _SENTENCES.get(fault["type"], _OTHER)[0]
    words: list[str] = []
    for step in fault["loc"][:-1] if about_key else fault["loc"]:
        if words and words[-1] in nouns:
            words[-1] = f"{nouns[words[-1]]} '{step}'"
        else:
            words.append(step if isinstance(step, str) else _entry(step))
    return "".join(f", {word}" for word in words)


def _entry(index: int) -> str:
    return f"entry {index + 1}"


def _known(shape: TypeAdapter[Any], place: Sequence[str | int]) -> str:
    """The keys that may stand at a place."""
    schema = shape.json_schema()
    here: Any = schema
    for step in place:
        fields, others = here.get("properties", {}), here.get("additionalProperties")
        here = fields.get(step) or here.get("items") or others
        here = schema["$defs"][here["$ref"].rpartition("/")[2]] if "$ref" in here else here
    return ", ".join(f"'{key}'" for key in here["properties"])

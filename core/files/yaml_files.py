"""Writes YAML, and reads it in a declared shape, safely.

A few lines of YAML can take minutes or gigabytes.

The shape is a pydantic type; it describes all keys and values. A reader adds only checks that need
more than one place of the file. Texts of pydantic never reach a user.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from core.domain.characters import readable
from core.domain.values import STRICT
from core.errors import FileError
from core.files.tables import check_size, decode

_LONGEST = 2_000_000  # characters
_DEEPEST = 50  # lists and mappings inside each other
_LONGEST_NUMBER = 100  # digits; reading one takes the square of its length

_INT, _FLOAT = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The loader in C, which is seven times as fast; 190:20:30 is a text, as in YAML 1.2.

    In YAML 1.1 it is 685,230: a number to the base of 60.
    """


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in known if tag not in (_INT, _FLOAT)]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _INT,
    re.compile(r"[-+]?(?:0b[0-1_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+)\Z"),
    [*"-+0123456789"],
)
_Loader.add_implicit_resolver(
    _FLOAT,
    re.compile(
        r"(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
    ),
    [*"-+0123456789."],
)
_NO_TEXTS = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:null")
_NUMBERS = (_INT, _FLOAT)
_LINE_ENDS = "\x85\u2028\u2029"
_MEND = "Correct it and try again."
_WRITE_OUT = "Write every part out, and put texts in quotation marks."


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such, but quotes those with other line ends of Unicode.

    PyYAML writes such line ends so that they read as spaces.
    """


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if any(mark in text for mark in _LINE_ENDS) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def write_yaml(value: Any) -> str:
    """A value as YAML in its own order and letters; `read_yaml` reads the same value back."""
    return yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False)


def read_yaml(name: str, text: str, *, longest: int = _LONGEST) -> Any:
    """The value of a YAML text; None if it is empty.

    Raises
    ------
    FileError
        The text is too long or no YAML; it repeats an earlier part (`*name`), has too many brackets
        inside each other, a key twice in one place, a key that YAML reads as true, false or
        nothing, or a value that cannot be read. `name` stands at the beginning of the message.
    """
    if len(text) > longest:
        raise FileError(
            f"{name}: the text has {len(text):,} characters; at most {longest:,} can be read.",
            "Shorten it.",
        )
    try:
        _refuse_traps(name, text)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            _check_node(name, root)
            return loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise _not_yaml(name, text, error) from error
    except (ValueError, OverflowError) as error:
        raise FileError(f"{name}: a value cannot be read ({str(error)[:200]}).", _MEND) from error


def _refuse_traps(name: str, text: str) -> None:
    """Look at one part after the other, before anything is built of them."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            # A few lines of them unfold to gigabytes.
            raise FileError(
                f"{name}, line {line}: an earlier part is repeated with '*{event.anchor}'.",
                _WRITE_OUT,
            )
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise FileError(
                f"{name}, line {line}: too many lists or mappings are nested; "
                f"at most {_DEEPEST} levels can be read.",
                _MEND,
            )


def _check_node(name: str, node: yaml.Node) -> None:
    """Make texts readable; refuse a key that stands twice in one place, and endless numbers."""
    if isinstance(node, yaml.ScalarNode):
        node.value = readable(node.value)
        if node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
            line = node.start_mark.line + 1
            raise FileError(f"{name}, line {line}: a number is too long.", _MEND)
    elif isinstance(node, yaml.SequenceNode):
        for part in node.value:
            _check_node(name, part)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            _check_node(name, key)
            _check_node(name, value)
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.tag in _NO_TEXTS:
                raise FileError(
                    f"{name}, line {key.start_mark.line + 1}: the key '{key.value}' is not a text.",
                    "Put it in quotation marks; without them, YAML reads 'no' as false.",
                )
            if key.value in seen:
                line = key.start_mark.line + 1
                raise FileError(
                    f"{name}, line {line}: the key '{key.value}' is there twice.", "Remove one."
                )
            seen.add(key.value)


def _not_yaml(name: str, text: str, error: yaml.YAMLError) -> FileError:
    mark = getattr(error, "problem_mark", None)
    # An unfinished text has its fault in the line after the last one.
    last = text.count("\n") + 1
    where = f", line {min(mark.line + 1, last)}" if mark else ""
    what = getattr(error, "problem", None) or "it is not finished"
    if "Unicode character escape" in what:
        return FileError(
            f"{name}{where}: half a character (such as \\ud800) cannot be saved.",
            "Write the character itself.",
        )
    return FileError(f"{name}{where}: this is not valid YAML ({what}).", _WRITE_OUT)


# Reading YAML of a declared shape, and the sentence for each way in which a file differs from it.
#
# A shape is a pydantic type. It says everything about keys and values; a reader adds what needs
# more than one place of the file. Texts of pydantic itself never reach a user.

_Value = TypeVar("_Value")
_NO_NOUNS: Mapping[str, str] = MappingProxyType({})

_KEYS = ("this is not a list of keys with values", "")
_OTHER = ("this value is not possible here", "")
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
    with_line: bool = False,
) -> _Value:
    """The content of a YAML file, as a value of its shape.

    `compare` says what to do about a fault that does not say it itself. Where things stand under a
    key by names of their own, `nouns` has the word for one of them, by that key. `with_line` names
    the line of a fault too.

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
            f"{name}: half a character (such as \\ud800) cannot be saved.",
            "Write the character itself.",
        ) from error
    except TypeError as error:
        raise FileError(
            f"{name}: a key is a date or a list.", "Put it in quotation marks."
        ) from error
    except ValidationError as error:
        faults = error.errors(include_url=False)
        fault = next((one for one in faults if _SENTENCES.get(one["type"]) == _UNKNOWN), faults[0])
        problem, remedy = _sentence(shape, fault)
        place = _place(fault, nouns)
        if with_line:
            place = f", line {line_of(data, fault['loc'])}{place}"
        raise FileError(f"{name}{place}: {problem}.", remedy or compare) from error


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line on which a part of a YAML text begins; of a part that is not there, the last above.

    `path` has the keys and places of entries that lead to the part. The text must be readable.
    """
    node, line = yaml.compose(text, Loader=_Loader), 1
    for step in path:
        if isinstance(node, yaml.MappingNode):
            pairs = {key.value: (key, value) for key, value in node.value}
            if str(step) not in pairs:
                break
            key, node = pairs[str(step)]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _not_json(value: object) -> object:
    """A date, a set or bytes, as what fits nowhere, so that its place is named."""
    return [[]]


def _sentence(shape: TypeAdapter[Any], fault: ErrorDetails) -> tuple[str, str]:
    if fault["type"] == "value_error":  # raised by the shape itself, with both sentences
        problem, remedy = fault["ctx"]["error"].args
        return problem, remedy
    problem, remedy = _SENTENCES.get(fault["type"], _OTHER)
    values = dict(fault.get("ctx", {}))
    if fault["loc"]:
        *place, name = fault["loc"]
        values["key"] = f"'{name}'" if isinstance(name, str) else _entry(name)
        if "{known}" in remedy:
            values["known"] = _known(shape, place)
    return problem.format_map(values), remedy.format_map(values)


def _place(fault: ErrorDetails, nouns: Mapping[str, str]) -> str:
    """Where the fault is, such as ", template 'mine', language 'en', single"."""
    about_key = "{key}" in _SENTENCES.get(fault["type"], _OTHER)[0]
    steps: list[str] = []
    for step in fault["loc"][:-1] if about_key else fault["loc"]:
        if steps and steps[-1] in nouns:
            steps[-1] = f"{nouns[steps[-1]]} '{step}'"
        else:
            steps.append(step if isinstance(step, str) else _entry(step))
    return "".join(f", {word}" for word in steps)


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

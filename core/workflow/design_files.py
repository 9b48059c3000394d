"""A design as YAML: written by the design page, or by hand for the command line."""

from __future__ import annotations

import json
from typing import Any

import yaml

from core.domain.study import Design, design_from_dict, design_to_dict
from core.errors import DesignError, FileError
from core.files.reading import check_size, decode
from core.files.yaml_reading import read_yaml
from core.workflow import design_checks

_WRONG_VALUE = (TypeError, ValueError, KeyError, AttributeError, OverflowError)
_LARGEST = 2**31 - 1  # what a whole number of the database holds


def design_yaml(design: Design) -> str:
    """A design as YAML, readable and editable; `design_of_yaml` reads it back."""
    return yaml.safe_dump(design_to_dict(design), allow_unicode=True, sort_keys=False)


def design_of_yaml_file(name: str, data: bytes) -> Design:
    """The design that a YAML file in UTF-8 describes.

    Raises
    ------
    DesignError
        The file is too large or not UTF-8, or as in `design_of_yaml`.
    """
    try:
        check_size(name, len(data))
        text = decode(name, data)
    except FileError as error:
        remedy = "Save it as UTF-8 in your text editor, or start from one of the design page."
        raise DesignError(error.problem, remedy) from error
    return design_of_yaml(text, name=name)


def design_of_yaml(text: str, *, name: str = "the design") -> Design:
    """The design that a YAML text describes.

    Raises
    ------
    DesignError
        The text is not YAML, or a key is missing, unknown, repeated or of the wrong kind.
    """
    try:
        return _design(name, read_yaml(name, text))
    except FileError as error:
        raise DesignError(error.problem, error.remedy) from error
    except UnicodeEncodeError as error:
        raise DesignError(
            f"{name} holds half a character (such as \\ud800), which cannot be kept.",
            "Write the character itself.",
        ) from error
    except _WRONG_VALUE as error:
        raise DesignError(
            f"{name} has a value of the wrong kind ({str(error)[:200]}).",
            "Compare it with one saved by the design page.",
        ) from error


def _design(name: str, body: Any) -> Design:
    if not isinstance(body, dict):
        raise DesignError(f"{name} holds no keys.", "Start from one saved by the design page.")
    unknown = set(body) - set(Design.__dataclass_fields__) - {"format"}
    if unknown:
        raise DesignError(f"{name} has the unknown key '{min(map(str, unknown))}'.", "Remove it.")
    for key in ("study", "instrument", "respondents"):
        if not body.get(key):
            raise DesignError(f"{name} has no '{key}'.", f"Add a line '{key}: ...'.")
    design_checks.refuse_wrong_kinds(name, body)
    for key in ("repetitions", "version", "items_per_call", "seed", "ask_again"):
        if abs(body.get(key) or 0) > _LARGEST:
            raise DesignError(f"{name}: '{key}' is too large.", "Choose a smaller number.")
    design = design_from_dict(body)
    json.dumps(design_to_dict(design), ensure_ascii=False).encode("utf-8")  # as it will be kept
    return design

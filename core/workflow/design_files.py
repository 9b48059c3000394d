"""A design as YAML: written by the design page, or by hand for the command line."""

from __future__ import annotations

import yaml

from core.domain.study import DESIGN, Design, as_json_values
from core.files.shapes import read_shape


def design_yaml(design: Design) -> str:
    """A design as YAML, readable and editable; `design_of_yaml` reads it back."""
    return yaml.safe_dump(as_json_values(design), allow_unicode=True, sort_keys=False)


def design_of_yaml(data: bytes | str, *, name: str = "the design") -> Design:
    """The design that a YAML text, or a file in UTF-8, describes.

    Raises
    ------
    FileError
        The file is too large, not UTF-8 or not YAML, or a key is missing, unknown, repeated or of
        the wrong kind.
    """
    return read_shape(
        DESIGN,
        name,
        data,
        compare="Compare it with a design saved by the design page.",
    )

"""A plugin for pytest: an Inkblot in which two lines of source give items two more columns."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import core.domain

NAME = "core.domain.instrument"
NEXT_FIELD = "    loadings: Mapping[str, int]"
COLUMNS = """\
    difficulty: Annotated[int | None, WholeNumberColumn(title="Difficulty", help="From 0: easy.", \
example="1 is easy, 9 is hard.")] = None
    author: Annotated[str, TextColumn(title="Author", help="Who wrote the item.", \
example="the author `Ann`.", is_critical=True)] = ""
"""

path = Path(__file__).parents[3] / "core" / "domain" / "instrument.py"
source = path.read_text(encoding="utf-8")
if NAME in sys.modules or source.count(NEXT_FIELD) != 1:
    raise ImportError(f"{NAME} is loaded already, or its fields have other names")
module = sys.modules[NAME] = ModuleType(NAME)
core.domain.instrument = module
exec(compile(source.replace(NEXT_FIELD, COLUMNS + NEXT_FIELD), path, "exec"), vars(module))

"""Blocks of a design: made from ticked cells of two factors, and described in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.domain.languages import language_name
from core.domain.numbers import count_text
from core.domain.study import LABEL_ORDERS, Block, Design

FACTOR_TITLES: Mapping[str, str] = {
    "respondents": "Respondents",
    "formats": "Answer formats",
    "languages": "Languages",
    "items": "Items",
    "contexts": "Personas or conversations",
    "entities": "Entities",
    "pairs": "Pairs of entities",
    "forms": "Forms",
    "label_orders": "Order of the options",
    "templates": "Prompt templates",
    "items_per_call": "Items per call",
    "histories": "History",
    "temperatures": "Temperatures",
    "top_p": "Top-p",
    "max_tokens": "Longest reply",
    "repetitions": "Repetitions",
}
"""What a block can state for itself, with its name on pages, in the order of a form."""

HISTORIES: Mapping[str, str] = {
    "none": "each call stands alone",
    "own": "the model sees its own earlier answers",
}
_LONGEST_LIST = 4  # levels that are named one by one
_LONGEST_NAME = 60  # characters of the name of a block that is made from cells


def level_words(factor: str, level: object) -> str:
    """One level of a factor of a block in words."""
    if factor == "label_orders":
        return next((words for code, words in LABEL_ORDERS.items() if code == level), str(level))
    if factor == "histories":
        return HISTORIES.get(str(level), str(level))
    if factor == "languages":
        return language_name(str(level))
    if factor == "pairs" and isinstance(level, tuple):
        return " | ".join(level)
    if factor == "items_per_call" and level == 0:
        return "all"
    return f"{level:g}" if isinstance(level, float) else str(level)


def differences(block: Block) -> str:
    """What a block states for itself, in words; empty where all is as in the design."""
    stated = (
        f"{title}: {_levels_words(factor, getattr(block, factor))}"
        for factor, title in FACTOR_TITLES.items()
        if getattr(block, factor) is not None
    )
    return "; ".join(stated)


def _levels_words(factor: str, levels: object) -> str:
    if not isinstance(levels, tuple):
        return level_words(factor, levels)
    if factor == "contexts" and levels == ("",):
        return "none"
    if not levels:
        return _NO_LEVELS.get(factor, "none chosen")
    named = ", ".join(level_words(factor, level) for level in levels[:_LONGEST_LIST])
    if len(levels) <= _LONGEST_LIST:
        return named
    if factor in ("items", "contexts"):
        return f"{len(levels):,}"
    return f"{named} and {len(levels) - _LONGEST_LIST:,} more"


_NO_LEVELS = {
    "temperatures": "each respondent's own",
    "top_p": "each respondent's own",
    "max_tokens": "each respondent's own",
    "entities": "none",
    "pairs": "none",
}
"""What an empty list of levels of a block means; other factors need a level."""


def blocks_of_cells(
    row_factor: str, column_factor: str, cells: Mapping[str, Sequence[str]], columns: Sequence[str]
) -> tuple[Block, ...]:
    """Blocks that together ask the ticked cells of two factors, each cell once.

    `cells` maps each level of the row factor to the ticked levels of the column factor; `columns`
    are all levels of that. Rows with the same cells are one block; where all cells are ticked, the
    design needs no block.
    """
    rows_by_cells: dict[tuple[str, ...], list[str]] = {}
    for row, ticked in cells.items():
        own = tuple(column for column in columns if column in ticked)
        rows_by_cells.setdefault(own, []).append(row)
    if tuple(columns) in rows_by_cells and len(rows_by_cells) == 1:
        return ()
    blocks: list[Block] = []
    for own, rows in rows_by_cells.items():
        if own:
            name = _name_of_cells(row_factor, rows, column_factor, own)
            if name in {block.name for block in blocks}:
                name = f"{name} ({len(blocks) + 1})"
            levels: dict[str, Any] = {row_factor: tuple(rows), column_factor: own}
            blocks.append(Block(name, **levels))
    return tuple(blocks)


def _name_of_cells(
    row_factor: str, rows: Sequence[str], column_factor: str, columns: Sequence[str]
) -> str:
    """Such as "original, negation × inverted", or with numbers of levels where that is too long."""
    sides = ((row_factor, rows), (column_factor, columns))
    name = " × ".join(", ".join(level_words(f, level) for level in own) for f, own in sides)
    if len(name) <= _LONGEST_NAME:
        return name
    short = (
        level_words(f, own[0]) if len(own) == 1 else count_text(len(own), *_COUNTED[f])
        for f, own in sides
    )
    return " × ".join(short)[:_LONGEST_NAME]


_COUNTED: Mapping[str, tuple[str, str]] = {
    "respondents": ("respondent", "respondents"),
    "formats": ("answer format", "answer formats"),
    "languages": ("language", "languages"),
    "forms": ("form", "forms"),
    "label_orders": ("order of options", "orders of options"),
    "templates": ("template", "templates"),
}
CELL_FACTORS = tuple(_COUNTED)
"""Factors whose cells can be ticked."""


def unused_levels(design: Design) -> tuple[str, ...]:
    """Factors of which some level of the design is in no block, each as a sentence."""
    if not design.blocks:
        return ()
    parts = design.crossings()
    sentences = []
    for factor in CELL_FACTORS:
        asked = {level for part in parts for level in getattr(part, factor)}
        unused = [level for level in getattr(design, factor) if level not in asked]
        if unused:
            levels = ", ".join(level_words(factor, level) for level in unused)
            sentences.append(f"{FACTOR_TITLES[factor]}: no block asks {levels}.")
    return tuple(sentences)

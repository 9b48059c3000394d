"""The guided tour of one minute: what stands on which page, shown with the sample studies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class GuideStep:
    """A page with one thing on it to look at, and what to know of it.

    `shows` is the CSS selector of the thing; `address` what the page's address says beside it.
    """

    page: str
    title: str
    words: str
    shows: str
    address: Mapping[str, str] = field(default_factory=dict)


_SCALE = {"study": "sample_scale"}

STEPS = (
    GuideStep(
        "home",
        "From questions to a report",
        "A study has these steps. What you see next is made with simulated people: it needs no "
        "account and costs nothing.",
        ".st-key-steps",
    ),
    GuideStep(
        "banks",
        "Questions stand in a table",
        "Type or paste items as in a spreadsheet, in any number of languages. Each change is saved "
        "at once and can be undone.",
        "[class*='st-key-bank_items_']",
        {"bank": "neighborhood_12"},
    ),
    GuideStep(
        "design",
        "Choose what varies",
        "Models, languages, wordings, answer formats, personas and repetitions are crossed. Size "
        "and expected cost follow at once. A frozen design never changes.",
        ".st-key-design-languages",
        _SCALE,
    ),
    GuideStep(
        "collect",
        "Ask, pause, go on",
        "One press asks every question. A run can be paused, also by switching the computer off, "
        "and stops by itself at the cost that you set.",
        ".st-key-collect_start",
        _SCALE,
    ),
    GuideStep(
        "answers",
        "Every number has its replies",
        "Here is what the models wrote, word for word, with the answer that was read from it and "
        "the exact prompt.",
        ".st-key-answers_list_and_pane",
        _SCALE,
    ),
    GuideStep(
        "item_statistics",
        "The answer first, in words",
        "Each analysis answers its question in sentences. Below stand the chart, the tables, how "
        "it is computed, and files for R, Python and papers.",
        ".st-key-result",
        _SCALE,
    ),
    GuideStep(
        "languages",
        "Does the language matter?",
        "Whether items and persons come out alike in both languages, with intervals that say how "
        "sure that is.",
        ".st-key-result",
        _SCALE,
    ),
    GuideStep(
        "opinions",
        "Do models give way?",
        "The same question once more, after the user has said the opposite: how far do answers "
        "move, and could it be chance?",
        ".st-key-result",
        {"study": "sample_opinions", "analysis": "bias_shift"},
    ),
    GuideStep(
        "report",
        "A report of one page",
        "Tick analyses, and one press writes the report: the first page for readers in a hurry, "
        "tables and methods behind it.",
        ".st-key-report_make",
        _SCALE,
    ),
    GuideStep(
        "home",
        "Now your own study",
        "Begin with a bank of your own, or look further at the sample studies. Ctrl+K finds any "
        "page, analysis or action.",
        ".st-key-steps",
    ),
)


def step_of(text: str) -> int | None:
    """The place of a step, from 0, of what the address says; None where it names no step."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0
    return number - 1 if 1 <= number <= len(STEPS) else None

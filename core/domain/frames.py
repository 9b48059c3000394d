"""The tidy tables that pass between layers: their rows, columns and keys, and a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from core.domain.factors import DERIVED, is_person_fact
from core.domain.study import FACTORS

PEOPLE = "people"
"""Column that the workflow adds to ITEM_SCORES: whether each row is of a person, or of a respondent
under a context, as in imported answers without repetitions; such rows may be independent."""

LOWEST, HIGHEST = "lowest", "highest"
"""Columns that the workflow adds to ITEM_SCORES: points of the ends of the answer format, NaN where
its options have no points."""
OPTION_POINTS = "option_points"
"""Column that the workflow adds to ITEM_SCORES: the points of all options of the answer format, as
text, lowest first, separated by blanks; empty where they are not known."""
NUMERIC_FACTS = "numeric_facts"
"""Column that the workflow adds to ITEM_SCORES with facts about people: the names of those that are
numbers, each on a line, the same in all rows. Others are categories, even if they have digits."""


@dataclass(frozen=True)
class FrameSpec:
    """One tidy table: what a row is, its columns, and the key that makes a row unique."""

    row: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    optional_key: tuple[str, ...] = ()
    """Columns that are part of the key where the table has them; facts about people are as well."""
    noun: str = "answers"
    """What a page says how many of were used, such as "Scored answers used 240"."""


ITEM_SCORES = FrameSpec(
    row="one item in one administration (a respondent answering a form once)",
    columns=("study", *FACTORS, "administration", "item", "subscale", "keyed", "status", "score"),
    key=("administration", "item"),
    noun="scored answers",
)
"""`administration` is a 63-bit id, `keyed` -1 or 1, `score` in score points after reverse-keying,
NaN where `status` says why not. Every planned trial has its row; status "not_asked" until asked.
Of an imported study, an answer that it expects and does not hold has a row with status "no_row"
(see core/store/frames.py)."""

OPTION_COUNTS = FrameSpec(
    row="how often one option, or none with some status, came up for one item in one cell",
    columns=(
        "study",
        "format",
        "item",
        "subscale",
        "keyed",
        "pair",
        "genre",
        "direction",
        "option",
        "position",
        "points",
        "stance",
        "coin",
        "status",
        "lowest",
        "highest",
        "n_options",
        "midpoint",
        "count",
    ),
    key=("study", "format", "item", "direction", "option", "coin", "status"),
    optional_key=(*(f for f in FACTORS if f != "format"), *DERIVED),
)
"""A cell is one combination of the factors that the analysis and the user keep apart (columns of
the optional key); counts are summed over all other factors.

`option` is the code of an option, empty where none was chosen; `position` its place among the
options, `points` as printed in the bank (before reverse-keying) and `stance` -1, 0 or 1, NaN where
there is no option or the bank states none. `status` is a Status, "not_asked" or "no_row" (as in
ITEM_SCORES); an answer and an answer with an explanation are two rows. `keyed` and `direction` (of
the form) are -1 or 1. `coin` is 0 or 1, a fair coin for each answer of stance 0, made of its trial
and a seed; NaN for other answers, and where the analysis has no seed. `lowest`, `highest` and
`n_options` describe the options of the format that have points (NaN, NaN, 0 where none has),
`midpoint` its rule for stance 0. `count` is a number of trials. Options without a trial are not in
the table; the analysis adds them with 0."""


ATTEMPT_COUNTS = FrameSpec(
    row="how often the tries at one item came to one outcome in one cell",
    columns=(
        "study",
        "format",
        "item",
        "number",
        "outcome",
        "final",
        "from_attempts",
        "count",
        "tokens_in",
        "tokens_out",
        "tokens_known",
    ),
    key=("study", "format", "item", "number", "outcome", "final", "from_attempts"),
    optional_key=(*(f for f in FACTORS if f != "format"), *DERIVED),
)
"""A cell is as in OPTION_COUNTS. `number` counts the replies to a trial's call: a reply has its
place among them, a failure that of the reply it stood in for, and a trial without any try 0.

`outcome` is "usable", "unusable", "pending" (an unusable reply that is the last on file of a trial
to be asked again), "repeated" (whatever came after the trial had its answer, for another item of
the same call), "not_asked", "no_row" (as in ITEM_SCORES; number 0), or a kind of failure such as
"timeout". `final` is true for the one row of each trial that says how it ended, so that counts of
final rows sum to the trials.
`from_attempts` is false for imported answers, whose tries are not known: their status is all there
is, and `number` 1. `count` is a number of tries. Tokens are those of the call divided by its
trials; `tokens_known` counts the tries whose tokens are on file."""


TEXTS = FrameSpec(
    row="one text that a model wrote (or did not) for one prompt",
    columns=("study", "respondent", "language", "context", "repetition", "item", "status", "text"),
    key=("study", "respondent", "language", "context", "repetition", "item"),
    noun="texts",
)
"""Further columns are the tags of the prompts, such as the gender of a name. Refused and truncated
texts have a row with their status."""


RATINGS = FrameSpec(
    row="one quality of one text, as a judge rated it in one trial (or did not)",
    columns=(
        "study",
        "trial",
        "respondent",
        "model",
        "language",
        "context",
        "template",
        "repetition",
        "item",
        "writer",
        "status",
        "quality",
        "lowest",
        "highest",
        "rating",
    ),
    key=("trial", "quality"),
    noun="ratings",
)
"""`respondent` is the judge and `writer` the respondent that wrote the text, empty where the bank
does not say. `rating` is a number from `lowest` to `highest`, NaN where `status` says why not.
Every planned trial has its rows; status "not_asked" until asked. Further columns are the tags of
the texts' prompts, such as `negative_words`, except those called like a column above."""


# What the banks of studies say of their items: further tables that an analysis can take.

ITEMS = FrameSpec(
    row="one item of a study's bank",
    columns=("study", "item", "position", "rank", "genre", "country"),
    key=("study", "item"),
)
"""`position` is the place in the bank from 1, `rank` that by frequency (words), NaN for none.
`country` is the attribute of that name, empty for none."""

WORDINGS = FrameSpec(
    row="the text of one item in one language, in its original form",
    columns=("study", "item", "language", "text"),
    key=("study", "item", "language"),
)

LOADINGS = FrameSpec(
    row="what agreement with one item says of one domain",
    columns=("study", "item", "domain", "loading"),
    key=("study", "item", "domain"),
)
"""`loading` is 1, -1 or 0; without a row, the bank says nothing."""

POSITIONS = FrameSpec(
    row="the answer of one party to one item",
    columns=("study", "item", "party", "leaning", "country", "position"),
    key=("study", "item", "party"),
)
"""`position` is 1 (agrees), -1 (disagrees) or 0 (neutral); `leaning` is left, centre, right or
empty, `country` that of the party, empty for none."""

ANNOTATIONS = FrameSpec(
    row="what one annotator says that agreement with one item says of one domain",
    columns=("study", "annotator", "item", "domain", "loading"),
    key=("study", "annotator", "item", "domain"),
)

TEMPLATES = FrameSpec(
    row="one prompt template of a study",
    columns=("study", "template", "title", "kind"),
    key=("study", "template"),
)
"""`kind` is personal or impersonal, empty where the template does not say. The templates are no
part of a bank; they come in the order of the design."""

BANK_TABLES: Mapping[str, FrameSpec] = {
    "items": ITEMS,
    "wordings": WORDINGS,
    "loadings": LOADINGS,
    "positions": POSITIONS,
    "annotations": ANNOTATIONS,
    "templates": TEMPLATES,
}
"""The tables of studies and their banks, by the name under which an analysis asks for them."""


def check_frame(frame: pd.DataFrame, spec: FrameSpec) -> None:
    """Raise if `frame` is not a `spec` table. A failure is a fault in Inkblot, not a user error."""
    missing = [column for column in spec.columns if column not in frame.columns]
    if missing:
        raise TypeError(f"not a table of {spec.row!r}: no column {missing}")
    facts = filter(is_person_fact, map(str, frame)) if spec.optional_key else ()
    key = [*spec.key, *(name for name in spec.optional_key if name in frame.columns), *facts]
    if frame.duplicated(key).any():
        raise TypeError(f"not a table of {spec.row!r}: key {key} repeats")

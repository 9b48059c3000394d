"""Files of survey programs and of tools that question models: which columns are what.

Most tools write a plain table, and differ in the names of its columns alone. So a tool is one entry
of PROGRAMS. Two tools say in the file what a column asks: Qualtrics below the header line, EDSL in
further columns. That becomes the label of the column, as in an SPSS file. Logs in JSON become
columns in core/files/model_logs.py.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pyarrow.compute as pc

from core.files.columns import ANSWER_ENDINGS, ColumnLabels, TextColumns, read_columns
from core.files.headers import HeaderRows, own_texts
from core.files.model_logs import LOG_ENDINGS, is_log, read_log

GUESS = ""
"""The role of a column that is an item or a tag, as its cells look."""
KEY_PART = "key part"
"""The role of a column of a long file that is the item, the person, the repetition or a tag."""
ANSWER_FILE_ENDINGS = (*ANSWER_ENDINGS, *LOG_ENDINGS)
"""Endings of all files of answers; those of text and logs may be followed by .gz."""
_LONGEST_LIST = 5_000  # characters of a list of options


@dataclass(frozen=True)
class Program:
    """What the columns of one tool's files are.

    Patterns match whole names of columns. Each of `signs` is a set of patterns: a file of which
    columns match all patterns of one set is of this tool. `roles` gives the role by the first
    pattern that matches; other columns are guessed. `code` is a pattern whose group is the code of
    the item. `person_first`: without a column of its own, the first one is the person. In a long
    file, a row is an answer.
    """

    name: str
    signs: tuple[tuple[str, ...], ...]
    roles: Mapping[str, str]
    is_long: bool = False
    code: str = r"(.+)"
    person_first: bool = False
    constants: Mapping[str, str] = field(default_factory=lambda: {"model": "people"})

    def wrote(self, columns: Iterable[str]) -> bool:
        """Whether columns of these names are of this tool."""
        names = tuple(columns)
        return any(
            all(any(re.fullmatch(pattern, name) for name in names) for pattern in sign)
            for sign in self.signs
        )

    def role(self, column: str) -> str:
        """The role of a column, or GUESS."""
        matching = (role for one, role in self.roles.items() if re.fullmatch(one, column))
        return next(matching, GUESS)

    def codes(self, columns: Iterable[str]) -> dict[str, str]:
        """The codes of items by column, where they are others than its name and all differ."""
        matches = {column: re.fullmatch(self.code, column) for column in columns}
        codes = {column: match[1] if match else column for column, match in matches.items()}
        counts = Counter(codes.values())
        return {
            column: code for column, code in codes.items() if code != column and counts[code] == 1
        }


PROGRAMS: tuple[Program, ...] = (
    Program(
        "LimeSurvey",
        (("id", "submitdate", "lastpage"), ("Response ID", "Date submitted", "Last page")),
        {
            "id|Response ID": "context",
            "startlanguage|Start language": "language",
            "token|Access code|ipaddr|IP address|refurl|Referrer URL|firstname|First name|"
            "lastname|Last name|email|Email address": "ignore",
            "submitdate|Date submitted|lastpage|Last page|seed|Seed|startdate|Date started|"
            "datestamp|Date last action|interviewtime|Total time|(?:Group|Question) time: .*|"
            r"groupTime\d+|\w+Time|.*comment\]|.*\[other\]": "tag",
        },
        code=r".*\[((?!SQ\d+\])[^\[\]|]+)\]",
    ),
    Program(
        "Qualtrics",
        (("ResponseId", "StartDate"), ("ResponseId", "Finished"), ("ResponseId", "Progress")),
        {
            "ResponseId": "context",
            "UserLanguage|Q_Language": "language",
            "IPAddress|Recipient.*|Location(?:Latitude|Longitude)|ExternalReference": "ignore",
            "StartDate|EndDate|RecordedDate|Status|Progress|Duration.*|Finished|ResponseSet|"
            r"DistributionChannel|Q_.*|SC\d+|.*_TEXT|.*_DO(?:_.*)?|"
            ".*_(?:First Click|Last Click|Page Submit|Click Count)": "tag",
        },
    ),
    Program(
        "REDCap",
        (
            ("redcap_event_name",),
            ("redcap_repeat_instrument",),
            ("redcap_survey_identifier",),
            ("record_id", r"\w+_complete"),
            ("Record ID", r"Complete\?|Event Name"),
        ),
        {
            "record_id|Record ID": "context",
            "redcap_event_name|Event Name": "phase",
            "redcap_repeat_instance|Repeat Instance": "repetition",
            "redcap_survey_identifier|Survey Identifier": "ignore",
            "redcap_repeat_instrument|Repeat Instrument|redcap_data_access_group|"
            r"Data Access Group|\w+_timestamp|Survey Timestamp|\w+_complete|Complete\?|"
            r".*___.*|.*\(choice=.*": "tag",
        },
        person_first=True,
    ),
    Program(
        "EDSL",
        ((r"answer\..+", r"(?:agent|model|iteration|scenario)\..+"),),
        {
            "agent.agent_name": "context",
            "model.model": "model",
            "iteration.iteration": "repetition",
            r"answer\..+": GUESS,
            "agent.agent_(?:index|instruction)|scenario.scenario_index": "ignore",
            r"(?:agent|scenario)\..+": "tag",
            ".*": "ignore",
        },
        code=r"answer\.(.+)",
        constants={},
    ),
    Program(
        "QSTN",
        (("questionnaire_name", "questionnaire_item_id"),),
        {
            "questionnaire_item_id": "item",
            "questionnaire_name": "context",
            "answer|llm_response": "reply",
            "question|logprobs": "ignore",
            ".*": "tag",
        },
        is_long=True,
        constants={},
    ),
    Program(
        "Inspect",
        (("sample_id", "epoch", r"eval\.model", r"output\.completion"),),
        {
            r"scores\..*\.answer": "answer",
            "epoch": "repetition",
            r"eval\.model": "model",
            r"output\.completion": "reply",
            r"output\.choices\.stop_reason": "finish_reason",
            r"output\.usage\.input_tokens": "tokens_in",
            r"output\.usage\.output_tokens": "tokens_out",
            "total_time": "latency_s",
            "started_at": "time",
            "status": "status",
            r"metadata\.(?:language|lang)": "language",
            r"metadata\..*|sample_id(?:\.\d)?": KEY_PART,
            ".*": "tag",
        },
        is_long=True,
        constants={},
    ),
    Program(
        "OpenAI Batch",
        (("custom_id", r"response\.body\.choices\.message\.content"),),
        {
            r"custom_id(?:\.\d)?": KEY_PART,
            r"response\.body\.model": "model",
            r"response\.body\.choices\.message\.content": "reply",
            r"response\.body\.choices\.finish_reason": "finish_reason",
            r"response\.body\.usage\.prompt_tokens": "tokens_in",
            r"response\.body\.usage\.completion_tokens": "tokens_out",
            r"response\.body\.created": "time",
            "status": "status",
            ".*": "tag",
        },
        is_long=True,
        constants={},
    ),
)


def program_of(source: TextColumns) -> Program | None:
    """The tool that wrote a file, as its columns tell."""
    return next((one for one in PROGRAMS if one.wrote(source.columns)), None)


def read_answer_file(name: str, data: bytes, header: HeaderRows | None = None) -> TextColumns:
    """The columns of a file of any tool, with what it says of them; see `read_columns`."""
    if is_log(name):
        return read_log(name, data)
    source = read_columns(name, data, header)
    program = program_of(source)
    if program is None:
        return source
    if program.name == "Qualtrics":
        return _without_further_headers(source)
    if program.name == "QSTN":
        return _with_unparsed_replies(source)
    return _with_edsl_labels(source) if program.name == "EDSL" else source


# What Qualtrics says below the header line, and EDSL in further columns.


def _without_further_headers(source: TextColumns) -> TextColumns:
    """The rows below the texts of the questions, which become labels, and below the import ids."""
    first = [
        {column: texts.slice(row, 1).to_pylist() for column, texts in source.columns.items()}
        for row in range(min(2, source.n_rows))
    ]
    n_headers = 0
    if first and (first[0]["ResponseId"] == ["Response ID"]):
        n_headers = 1
    if len(first) > 1 and first[1]["ResponseId"][0].startswith('{"ImportId"'):
        n_headers = 2
    if not n_headers:
        return source
    texts = own_texts({column: str(cells[0]).strip() for column, cells in first[0].items()})
    return replace(
        source,
        columns={column: cells.slice(n_headers) for column, cells in source.columns.items()},
        n_rows=source.n_rows - n_headers,
        place=lambda index: source.place(index + n_headers),
        labels={column: ColumnLabels(text) for column, text in texts.items() if text},
    )


def _with_unparsed_replies(source: TextColumns) -> TextColumns:
    """The answers that QSTN took from JSON, with the replies that were no JSON in their places."""
    if not {"answer", "llm_response"} <= set(source.columns):
        return source
    answers, replies = source.columns["answer"], source.columns["llm_response"]
    filled = pc.if_else(pc.equal(answers, ""), replies, answers)
    return replace(source, columns={**source.columns, "answer": filled})


def _with_edsl_labels(source: TextColumns) -> TextColumns:
    """The columns of answers with the text and the options of their questions."""
    labels = {}
    for column in source.columns:
        if column.startswith("answer."):
            name = column.removeprefix("answer.")
            text = _only_value(source, f"question_text.{name}_question_text")
            options = listed_options(
                _only_value(source, f"question_options.{name}_question_options")
            )
            labels[column] = ColumnLabels(text.strip(), options)
    return replace(source, labels=labels)


def _only_value(source: TextColumns, column: str) -> str:
    """The text of a column in which all rows have the same; else nothing."""
    values = pc.unique(source.columns[column]).to_pylist() if column in source.columns else []
    return str(values[0]) if len(values) == 1 else ""


def listed_options(text: str) -> dict[str, str]:
    """Labels of options by their places from 1, from a list of words such as ['No', 'Yes']."""
    try:
        listed = ast.literal_eval(text[:_LONGEST_LIST])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
    words = listed if isinstance(listed, list) else []
    if not all(isinstance(word, str) and word.strip() for word in words):
        return {}
    return {str(place): word for place, word in enumerate(words, start=1)}

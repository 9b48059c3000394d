"""Logs of tools that question models, as columns: Inspect logs and outputs of OpenAI batches.

Each sample or line is a row. A column is called by its place in the JSON. What a log holds besides,
such as messages and events, is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from core.domain.characters import readable
from core.domain.reply_bodies import (
    as_mapping,
    end_of_reply,
    message_parts,
    response_parts,
    stated_end,
    stated_usage,
    token_usage,
)
from core.domain.study import REFUSAL, Status
from core.errors import FileError
from core.files.columns import ColumnLabels, TextColumns
from core.files.tables import (
    MAX_CELL_CHARACTERS,
    MAX_COLUMNS,
    MAX_ROWS_TIDY,
    decode,
    too_many_rows_error,
    unpack,
)

LOG_ENDINGS = (".json", ".jsonl")
"""Endings of logs; they may be followed by .gz."""
_CONVERT = (
    "Choose a log of Inspect as JSON (inspect log convert LOG --to json --output-dir FOLDER), or "
    "the output of an OpenAI batch (.jsonl)."
)
_SEPARATORS = ("|", "::", ";", "/", "#", "@", ":", "--", "__", ",", " ", "-")
"""What may stand between the parts of an id, the surest first. Codes of items have underscores."""
_Record = dict[str, str]


def is_log(name: str) -> bool:
    """Whether a file of this name is read as a log."""
    return name.lower().removesuffix(".gz").endswith(LOG_ENDINGS)


def read_log(name: str, data: bytes) -> TextColumns:
    """The columns of a log.

    Raises
    ------
    FileError
        The file is too large, damaged, incomplete, in another encoding, or JSON of another kind;
        names the line or the sample.
    """
    inner, content = unpack(name, data)
    text = decode(name, content)
    if inner.lower().endswith(".jsonl"):
        return _of_batch(name, text)
    return _of_inspect(name, _json(name, name, text))


def _json(name: str, where: str, text: str) -> Any:
    """The value of a JSON text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as broken:
        line = f"{name}, line {broken.lineno}" if where == name else where
        raise FileError(
            f"{line}: this is not JSON, or only a part of it ({broken.msg}, character "
            f"{broken.colno:,}).",
            f"Copy the file again. {_CONVERT}",
        ) from None
    except (ValueError, RecursionError):  # a number or a nesting of thousands of characters
        raise FileError(f"{where}: the JSON is not one that a tool writes.", _CONVERT) from None


# Inspect.


def _of_inspect(name: str, log: Any) -> TextColumns:
    """A row for each sample and epoch of a log."""
    about = _part(log, "eval")
    samples = log.get("samples") if isinstance(log, dict) else None
    if not about or not isinstance(about.get("model"), str):
        raise FileError(f"{name}: this JSON is no log of Inspect.", _CONVERT)
    if not isinstance(samples, list) or not samples:
        raise FileError(
            f"{name}: the log has no samples.",
            "Run the evaluation with samples in the log (without --no-log-samples).",
        )
    records = []
    for number, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict) or not {"id", "epoch", "output"} <= set(sample):
            raise FileError(f"{name}, sample {number}: this is no sample of Inspect.", _CONVERT)
        records.append(_sample(sample, about["model"]))
    columns = _columns(name, records, "sample", "sample_id")
    labels = {}
    choices = [sample.get("choices") for sample in samples]
    if isinstance(choices[0], list) and all(one == choices[0] for one in choices):
        options = ColumnLabels("", {str(n): _text(one) for n, one in enumerate(choices[0], 1)})
        labels = dict.fromkeys((c for c in columns if c.startswith("scores.")), options)
        labels |= {"output.completion": options}
    return TextColumns(name, columns, len(records), lambda index: f"sample {index + 1}", labels)


def _sample(sample: Mapping[str, Any], model: str) -> _Record:
    """What a sample says of one answer."""
    output = _part(sample, "output")
    generated = output.get("choices")
    first = generated[0] if isinstance(generated, list) and generated else {}
    stopped = _text(as_mapping(first).get("stop_reason"))
    failed = _part(sample, "error")
    usage = token_usage(output.get("usage"))
    record = {
        "sample_id": _text(sample["id"]),
        "epoch": _text(sample["epoch"]),
        "eval.model": _text(model),
        "output.completion": _text(output.get("completion")),
        "output.choices.stop_reason": end_of_reply(stopped),
        "output.usage.input_tokens": _text(usage.prompt),
        "output.usage.output_tokens": _text(usage.completion),
        "total_time": _text(sample.get("total_time")),
        "started_at": _text(sample.get("started_at")),
        "status": Status.ERROR.value if failed else "",
        "error.message": _text(failed.get("message")),
    }
    record |= {f"metadata.{key}": _text(one) for key, one in _part(sample, "metadata").items()}
    choices = sample.get("choices")
    for scorer, score in _part(sample, "scores").items():
        letter = _text(as_mapping(score).get("answer"))
        if isinstance(choices, list) and re.fullmatch("[A-Z]?", letter):
            place = ord(letter) - ord("A") if letter else len(choices)
            chosen = _text(choices[place]) if place < len(choices) else ""
            record[f"scores.{scorer}.answer"] = "" if failed else chosen
    return record


# OpenAI batches.


def _of_batch(name: str, text: str) -> TextColumns:
    """A row for each line of an output or error file."""
    records, lines = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{name}, line {number}"
            records.append(_batch_line(where, _json(name, where, line)))
            lines.append(number)
    if not records:
        raise FileError(f"{name}: the file is empty.", _CONVERT)
    models = {record["response.body.model"] for record in records} - {""}
    if len(models) == 1:  # failed requests do not name it
        (model,) = models
        records = [record | {"response.body.model": model} for record in records]
    columns = _columns(name, records, "line", "custom_id")
    return TextColumns(name, columns, len(records), lambda index: f"line {lines[index]}")


def _batch_line(where: str, line: Any) -> _Record:
    """What a line says of one request."""
    if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str):
        raise FileError(
            f"{where}: this JSON is no line of a batch, for it has no custom_id.", _CONVERT
        )
    response, body = _part(line, "response"), _part(_part(line, "response"), "body")
    failed = _part(line, "error") or _part(body, "error")
    if not response and not failed:
        what = "a request" if "body" in line else "neither a response nor an error"
        raise FileError(f"{where}: this is {what}, and no reply.", _CONVERT)
    reply, reason = _reply(body)
    failed = failed or ({} if "choices" in body or "output" in body else {"message": "no reply"})
    usage = token_usage(stated_usage(body))
    return {
        "custom_id": line["custom_id"],
        "response.body.model": _text(body.get("model")),
        "response.body.choices.message.content": reply,
        "response.body.choices.finish_reason": reason,
        "response.body.usage.prompt_tokens": _text(usage.prompt),
        "response.body.usage.completion_tokens": _text(usage.completion),
        "response.body.created": _time(body.get("created", body.get("created_at"))),
        "status": Status.ERROR.value if failed else "",
        "error.message": _text(failed.get("message")),
    }


def _reply(body: Mapping[str, Any]) -> tuple[str, str]:
    """The text of a reply and why it ended, of a chat completion or of a response."""
    choices, output = body.get("choices"), body.get("output")
    if isinstance(choices, list) and choices:
        choice = as_mapping(choices[0])
        said, end = message_parts(choice), end_of_reply(stated_end(choice, body))
    else:
        said = response_parts(output)
        end = end_of_reply(_part(body, "incomplete_details").get("reason"))
    return _text(said.text or said.refusal), REFUSAL if said.refusal else end


def _time(seconds: Any) -> str:
    """Seconds since 1970 as a time; nothing where they are none."""
    if not isinstance(seconds, int) or not 0 < seconds < 2**32:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Columns of records.


def _part(whole: Any, key: str) -> Mapping[str, Any]:
    """The object under a key; an empty one where there is none."""
    return as_mapping(as_mapping(whole).get(key))


def _text(value: Any) -> str:
    """A value as the text of a cell; what no file can hold stands as an escape."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return readable(text)


def _columns(name: str, records: Sequence[_Record], what: str, key: str) -> dict[str, Any]:
    """The columns of all records, with the parts of the key if it has parts."""
    if len(records) > MAX_ROWS_TIDY:
        raise too_many_rows_error(name, MAX_ROWS_TIDY)
    parts = _parts([record[key] for record in records])
    for record, values in zip(records, parts, strict=True):
        record |= {f"{key}.{number}": part for number, part in enumerate(values, start=1)}
    names = list(dict.fromkeys(column for record in records for column in record))
    if len(names) > MAX_COLUMNS:
        raise FileError(
            f"{name}: there are {len(names)} columns; at most {MAX_COLUMNS} can be read.",
            "Leave out metadata that are not needed.",
        )
    for number, record in enumerate(records, start=1):
        for column, text in record.items():
            if len(text) > MAX_CELL_CHARACTERS:
                raise FileError(
                    f"{name}, {what} {number}, column {column}: there are {len(text):,} "
                    f"characters; at most {MAX_CELL_CHARACTERS:,} can be read.",
                    "Shorten it.",
                )
    return {
        column: pa.array([record.get(column, "") for record in records], pa.large_string())
        for column in names
    }


def _parts(keys: Sequence[str]) -> list[tuple[str, ...]]:
    """The parts of ids such as anna|q1|2, if all have equally many; else none."""
    for separator in _SEPARATORS:
        split = [tuple(part.strip() for part in key.split(separator)) for key in keys]
        if (
            1 < len(split[0]) < 10
            and {len(one) for one in split} == {len(split[0])}
            and all(all(one) for one in split)
        ):
            return split
    return [()] * len(keys)

"""Files in the layouts of published collections, made by rules that a test can count by hand."""

from __future__ import annotations

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq

LANGUAGES = ("English", "German", "English", "Chinese", "English")
TURNS = (1, 2, 3, 2)


def conversation(number: int, side: str, turns: int) -> list[dict]:
    """One conversation; the first message is that of every other row of the same number."""
    messages = []
    for turn in range(turns):
        messages += [
            {"role": "user", "content": f"Question {number % 1000}, part {turn}?", "num_tokens": 7},
            {"role": "assistant", "content": f"Reply {side} {number}.{turn}", "num_tokens": None},
        ]
    return messages


def arena_rows(count: int = 2000) -> list[dict]:
    """Rows of a pairwise arena: two conversations that begin with the same message.

    Languages have a period of five rows, turns one of four, first messages one of 1,000.
    """
    return [
        {
            "question_id": f"q{number:06d}",
            "model_a": "m1",
            "winner": "model_a" if number % 2 else "tie",
            "conversation_a": conversation(number, "a", TURNS[number % 4]),
            "conversation_b": conversation(number, "b", TURNS[number % 4]),
            "turn": TURNS[number % 4],
            "language": LANGUAGES[number % 5],
        }
        for number in range(count)
    ]


def persona_rows(count: int = 2000) -> list[dict]:
    """Rows of a collection of personas; every tenth differs from the one before in blanks only."""
    return [
        {
            "persona": f"A  person with number {number - 1}"
            if number % 10 == 9
            else f"A person with number {number}"
        }
        for number in range(count)
    ]


def jsonl(rows) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def in_format(ending: str, rows) -> bytes:
    """The rows as a file of this ending; in CSV, conversations are JSON texts."""
    if ending == "jsonl":
        return jsonl(rows)
    if ending == "jsonl.gz":
        return gzip.compress(jsonl(rows))
    if ending == "json":
        return json.dumps(rows, indent=1, ensure_ascii=False).encode()
    if ending == "parquet":
        buffer = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), buffer, row_group_size=700)
        return buffer.getvalue()
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow(json.dumps(v) if isinstance(v, list) else v for v in row.values())
    return text.getvalue().encode()

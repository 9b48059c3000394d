"""How many replies of real models are read right, beside three rules of a few lines.

    python -m benchmarks.real_replies REPLIES.jsonl.gz [--before CHECKOUT]

The replies are not part of the project. Each line is a JSON object: `source`, `language`, `item`,
`options` (`code`, `label`, `points`, `stance`), `reply`, `kind` (coded, refusal, ...) and, where
coded, the `code` that the authors of the data gave. `--before` names a checkout of an earlier
version, whose reader is measured in the same run.
"""

from __future__ import annotations

import argparse
import ast
import gzip
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Rule = Callable[[Row], str | None]
_LENGTHS = ((30, "up to 30"), (300, "31 to 300"), (1_000, "301 to 1,000"), (10**9, "over 1,000"))


def load(path: Path) -> list[Row]:
    """The replies of a file of JSON lines, gzipped or not."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def our_reader() -> Rule:
    """The reader of this checkout."""
    import inspect

    from core.collect.replies.reader import parse
    from core.domain.instrument import Option, ResponseFormat

    formats: dict[str, ResponseFormat] = {}
    takes_item = "item" in inspect.signature(parse).parameters

    def read(row: Row) -> str | None:
        key = json.dumps([row["options"], row["language"]])
        if key not in formats:
            formats[key] = ResponseFormat(
                "asked",
                tuple(
                    Option(
                        str(o["code"]),
                        o.get("points"),
                        {row["language"]: o["label"]} if o["label"] else {},
                        o.get("stance"),
                    )
                    for o in row["options"]
                ),
            )
        item = {"item": row.get("item") or ""} if takes_item else {}
        return parse(row["reply"], formats[key], row["language"], **item).option

    return read


def _mentioned(row: Row) -> list[str]:
    """The options of which the code or the label stands in the reply, in the order of places."""
    found: dict[str, int] = {}
    lower = row["reply"].lower()
    names = [(str(o["code"]), t) for o in row["options"] for t in (str(o["code"]), o["label"]) if t]
    for code, name in sorted(names, key=lambda pair: -len(pair[1])):
        pattern = rf"(?<![a-z0-9]){re.escape(name.lower())}(?![a-z0-9])"
        match = re.search(pattern, lower)
        if match:
            found[code] = min(found.get(code, match.start()), match.start())
            lower = re.sub(pattern, lambda m: " " * len(m[0]), lower)
    return sorted(found, key=lambda code: found[code])


def first_match(row: Row) -> str | None:
    """The option that is mentioned first."""
    return next(iter(_mentioned(row)), None)


def exactly_one(row: Row) -> str | None:
    """The option, if exactly one is mentioned."""
    found = _mentioned(row)
    return found[0] if len(found) == 1 else None


def json_answer(row: Row) -> str | None:
    """The option under "answer" in the braces of a reply, as JSON or as a literal of Python."""
    body = row["reply"][row["reply"].find("{") : row["reply"].rfind("}") + 1]
    for parse_object in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, KeyError, TypeError, RecursionError):
            said = str(parse_object(body)["answer"]).strip().lower()
            names = [(str(o["code"]), t) for o in row["options"] for t in (o["label"], o["code"])]
            return {str(text).lower(): code for code, text in names}.get(said)
    return None


def codes_of(checkout: Path, path: Path) -> list[str | None]:
    """What the reader of another checkout takes from each reply."""
    command = [sys.executable, "-P", __file__, str(path), "--codes"]
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    done = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, check=True
    )
    return list(json.loads(done.stdout))


def tally(rows: Sequence[Row], codes: Iterable[str | None]) -> Counter[str]:
    """Of the coded replies, how many are right, another option, and unread."""
    count: Counter[str] = Counter()
    for row, code in zip(rows, codes, strict=True):
        if row["kind"] == "coded":
            right = "right" if code == str(row["code"]) else "other" if code else "unread"
            count[right] += 1
        elif row["kind"] == "refusal":
            count["refusal with an option" if code else "refusal without"] += 1
    return count


def _line(title: str, count: Counter[str]) -> str:
    n = count["right"] + count["other"] + count["unread"]
    shares = [f"{100 * count[k] / n:.2f}" if n else "–" for k in ("right", "other", "unread")]
    return f"| {title} | {n:,} | {' | '.join(shares)} |"


def _table(head: str, lines: Iterable[str]) -> str:
    return "\n".join(
        [
            f"| {head} | n | right, % | other option, % | unread, % |",
            "| --- | ---: | ---: | ---: | ---: |",
            *lines,
            "",
        ]
    )


def report(rows: Sequence[Row], before: list[str | None] | None = None) -> str:
    """The tables: by reader, and for the reader of this checkout by source and by length."""
    read = our_reader()
    ours = [read(row) for row in rows]
    rules: dict[str, list[str | None]] = {"Inkblot": ours}
    if before is not None:
        rules["Inkblot before"] = before
    for name, rule in (("exactly one option mentioned", exactly_one), ("first match", first_match)):
        rules[name] = [rule(row) for row in rows]
    parts = [_table("reader", [_line(name, tally(rows, codes)) for name, codes in rules.items()])]
    in_json = [i for i, row in enumerate(rows) if "json" in row["source"]]
    if in_json:
        some = [rows[i] for i in in_json]
        lines = [
            _line("Inkblot", tally(some, [ours[i] for i in in_json])),
            _line("JSON parser", tally(some, map(json_answer, some))),
        ]
        parts.append(_table("of the source in JSON", lines))
    for head, group in (("source", _source), ("characters", _length)):
        names = dict.fromkeys(group(row) for row in rows)
        lines = []
        for name in sorted(
            names, key=lambda n: [w for _, w in _LENGTHS].index(n) if head == "characters" else n
        ):
            chosen = [i for i, row in enumerate(rows) if group(row) == name]
            count = tally([rows[i] for i in chosen], [ours[i] for i in chosen])
            if count["right"] + count["other"] + count["unread"]:
                lines.append(_line(name, count))
        parts.append(_table(head, lines))
    count = tally(rows, ours)
    refusals = count["refusal with an option"] + count["refusal without"]
    parts.append(f"Refusals that got an option: {count['refusal with an option']} of {refusals}.\n")
    return "\n".join(parts)


def _source(row: Row) -> str:
    return str(row["source"])


def _length(row: Row) -> str:
    return next(words for most, words in _LENGTHS if len(row["reply"].strip()) <= most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("replies", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--codes", action="store_true", help="print what is read, as JSON")
    given = parser.parse_args()
    if given.codes:
        read = our_reader()
        sys.stdout.write(json.dumps([read(row) for row in load(given.replies)]))
        return
    before = codes_of(given.before, given.replies.resolve()) if given.before else None
    sys.stdout.write(report(load(given.replies), before))


if __name__ == "__main__":
    main()

"""What reading the replies of a study again takes, against reading the same texts in one loop."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from statistics import median

from benchmarks.processes import Stopwatch, caller
from benchmarks.report import Section, figure, ratio
from benchmarks.studies import STUDY, filled

AIM = 5.0  # seconds
SHORT_SHARE = 0.4
LENGTHS = (20, 300)  # characters of a sentence

NAMES = {
    "preview": "reading again: the preview",
    "apply": "applying it",
    "plain": "the reader alone, in one loop",
}
LABELS = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree")
SHORT = ("{code}", "{code}.", "{label}", "{label}.", "{code} = {label}", "**{code}**", " {code}\n")
HEADS = (
    "{label}.", "My answer is {code}.", "{code}: {label}.", "I would choose {code}, because",
    "I {verb} with this statement, because", "Thinking about it, I {verb}:",
    "As an AI I have no opinions, but my answer is {code}.", "That is hard to say.",
    "I'd rather not answer this.",
)  # fmt: skip
WHO = ("people", "most families", "my neighbors", "many of us", "the young", "friends of mine")
WHAT = (
    "feel at home",
    "spend time",
    "look for quiet",
    "use new machines",
    "save money",
    "take their time",
    "meet others",
)
WHERE = ("outdoors", "in town", "near the sea", "at work", "in the garden", "where they live")

_RETEXT = "insert into attempt_text select attempt_id, reply from replies"
_UNRATED = "update response set parser = 1, layer = null, certainty = null, hedged = null"
_MISREAD = "update response set status = 'ambiguous', option = null where hash(trial_id) % 50 = 0"


def measure(work: Path, *, quick: bool) -> Section:
    """Preview and apply, each time in a new process and on a new copy of the database."""
    replies, repeats = (2000, 1) if quick else (100_000, 3)
    call = caller(quick=quick)
    path = work / "rereading.duckdb"
    shutil.copyfile(filled(work, replies), path)
    call(prepare, path=str(path))
    runs = []
    for _ in range(repeats):
        copy = work / "rereading_copy.duckdb"
        shutil.copyfile(path, copy)
        runs.append({**call(reread, path=str(copy)), "plain": call(plain, number=replies)})
    alone = median(run["plain"]["cpu"] for run in runs)
    rows = []
    for name, words in NAMES.items():
        seconds, cpu = (median(run[name][unit] for run in runs) for unit in ("seconds", "cpu"))
        shown = f"**{figure(seconds)}**" if name == "preview" and seconds > AIM else figure(seconds)
        rows.append(
            (
                words,
                shown,
                figure(cpu),
                figure(replies / cpu),
                "1" if name == "plain" else ratio(cpu, alone),
            )
        )
    pause = max(run["pause"] for run in runs)
    n_texts = runs[0]["texts"]
    return Section(
        "Reading again",
        f"{replies:,} replies of a study with {n_texts:,} different texts: "
        f"{1 - SHORT_SHARE:.0%} are sentences of {LENGTHS[0]} to {LENGTHS[1]} characters, the "
        "others short. A 50th was read otherwise by an earlier version, and how the others were "
        "read was not recorded. The preview reads all replies, compares them with the answers on "
        "file, and counts changes, certainties and item means. Against `parse` of the same texts "
        f"in one loop, without a database. Aim: {AIM:g} s for the preview.",
        ("", "s", "CPU-s", "replies/CPU-s", "ratio of CPU"),
        rows,
        (
            f"Medians of {repeats}, each in a new process with the modules loaded. Replies are "
            "read on all cores, four at most, and equal ones to equal questions once in each "
            "process. CPU-s are those of all processes, starting them included.",
            f"The progress bar moved every {figure(pause)} s or sooner.",
        ),
        ("duckdb", "pyarrow"),
    )


def texts(number: int) -> list[str]:
    """So many replies: short ones that come again and again, and sentences that differ."""
    chance = random.Random(1)
    return [_text(chance) for _ in range(number)]


def _text(chance: random.Random) -> str:
    place = chance.randrange(len(LABELS))
    label = LABELS[place]
    words = {"code": place + 1, "label": label, "verb": label.lower()}
    if chance.random() < SHORT_SHARE:
        return chance.choice(SHORT).format(**words)
    text = chance.choice(HEADS).format(**words)
    length = chance.randint(*LENGTHS)
    while len(text) < length:
        text += f" {chance.choice(WHO)} {chance.choice(WHAT)} {chance.choice(WHERE)},"
    return f"{text[: LENGTHS[1] - 1].rstrip(',')}."


def prepare(*, path: str) -> None:
    """Give a filled study these replies, read by an earlier version of the rules."""
    import pyarrow as pa

    from core.workflow.answers import rereading
    from core.workflow.opening import open_workspace

    workspace = open_workspace(path)
    database = workspace.database
    ids = [row[0] for row in database.rows("select attempt_id from attempt_text order by 1")]
    with database.transaction() as cursor:
        cursor.execute("delete from attempt_text")
        cursor.register("replies", pa.table({"attempt_id": ids, "reply": texts(len(ids))}))
        cursor.execute(_RETEXT)
        cursor.unregister("replies")
    rereading.apply_rereading(workspace, rereading.preview_rereading(workspace, STUDY))
    with database.transaction() as cursor:
        for sql in ("delete from recoding", _UNRATED, _MISREAD):
            cursor.execute(sql)
    database.checkpoint()
    workspace.close()


def reread(*, path: str) -> Mapping[str, object]:
    """Seconds of the preview and of applying it, and the longest time without progress."""
    from core.progress import watch
    from core.workflow.answers import rereading
    from core.workflow.opening import open_workspace

    workspace = open_workspace(path)
    moments = [time.perf_counter()]
    others = sum(os.times()[2:4])
    with watch(lambda *_: moments.append(time.perf_counter())), Stopwatch() as preview:
        found = rereading.preview_rereading(workspace, STUDY)
    preview.cpu += sum(os.times()[2:4]) - others  # of the processes that helped
    moments.append(time.perf_counter())
    with Stopwatch() as applying:
        changed = rereading.apply_rereading(workspace, found)
    again = rereading.preview_rereading(workspace, STUDY)
    if not changed or again.n_changed or again.n_rated:
        raise RuntimeError(f"{changed} changed, then {again.n_changed} and {again.n_rated}")
    different = workspace.database.row("select count(distinct reply) from attempt_text")
    workspace.close()
    return {
        "preview": preview.figures,
        "apply": applying.figures,
        "pause": max(b - a for a, b in pairwise(moments)),
        "texts": different[0] if different else 0,
    }


def plain(*, number: int) -> Mapping[str, float]:
    """Read as many of the texts with the parser, one by one."""
    from core.collect.replies.reader import parse
    from core.domain import formats

    asked = texts(number)
    with Stopwatch() as watch:
        for text in asked:
            parse(text, formats.BUILT_IN["likert_5"], "en", finish_reason="stop")
    return watch.figures

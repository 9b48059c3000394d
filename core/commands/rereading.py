"""The command `reread`: read the replies of a study again with the present rules."""

from __future__ import annotations

import argparse

from core.commands.shared import Command, argument, show_share
from core.domain.numbers import count_text
from core.progress import watch
from core.workflow.answers import rereading
from core.workflow.answers.browsing import answer_words
from core.workflow.answers.rereading import RereadingPreview
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its arguments."""
    return Command(
        _reread,
        (
            argument("study"),
            argument("--preview", action="store_true", help="only show the changes"),
            argument("--persons", action="store_true", help="also what a person has coded"),
        ),
    )


def _reread(workspace: Workspace, parsed: argparse.Namespace) -> None:
    with watch(lambda done, total, _unit: show_share(done / total if total else 0.0)):
        preview = rereading.preview_rereading(workspace, parsed.study, persons=parsed.persons)
    show_share(1.0)
    _show(preview)
    if parsed.preview:
        print(f"{count_text(preview.n_changed, 'answer')} would change.")
    else:
        changed = rereading.apply_rereading(workspace, preview)
        print(f"{count_text(changed, 'answer')} changed. The earlier readings are kept.")


def _show(preview: RereadingPreview) -> None:
    """The changes by kind, the certainties after them, and what is left out."""
    for row in preview.kinds.to_dict("records"):
        before = answer_words(row["old_status"], row["old_option"])
        print(f"{before} -> {answer_words(row['status'], row['option'])}: {row['count']:,}")
    for row in preview.certainties.to_dict("records"):
        print(f"{row['certainty']}\t{row['before']:,} -> {row['after']:,}")
    print(
        f"{count_text(preview.n_read, 'answer')} read with version {preview.parser} of the rules. "
        f"Left out: {preview.n_kept:,} coded by a person, {preview.n_judged:,} by a judge."
    )

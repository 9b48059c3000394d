"""The command `judge`: put unclear replies of a study to a judge, take its codings over, undo."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.shared import Command, argument, read
from core.domain.numbers import count_text
from core.errors import FileError
from core.workflow.answers import judging
from core.workflow.answers.browsing import answer_words
from core.workflow.answers.judging import JudgingPreview
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its arguments."""
    return Command(
        _judge,
        (
            argument("study"),
            argument(
                "--respondent",
                metavar="LABEL",
                help="freeze a study that puts the replies to this respondent; nothing is sent",
            ),
            argument(
                "--kinds",
                default=",".join(judging.DEFAULT_KINDS),
                metavar="KIND[,KIND]",
                help=f"kinds of replies, of: {', '.join(judging.KINDS)} (default: %(default)s)",
            ),
            argument(
                "--rubric",
                type=Path,
                help="text file with the question to the judge, with "
                + ", ".join(f"{{{name}}}" for name in judging.PLACES),
            ),
            argument("--take", metavar="STUDY", help="take over the codings of this judge's study"),
            argument("--preview", action="store_true", help="with --take: only show the changes"),
            argument("--undo", metavar="STUDY", help="undo the codings of this judge's study"),
        ),
    )


def _judge(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if sum(map(bool, (parsed.respondent, parsed.take, parsed.undo))) > 1:
        raise FileError(
            "--respondent, --take and --undo cannot be given together.", "Give one of them."
        )
    if parsed.preview and not parsed.take:
        raise FileError("--preview shows what --take would change.", "Give --take as well.")
    if parsed.respondent:
        _make(workspace, parsed)
    elif parsed.take:
        _take(workspace, judging.preview(workspace, parsed.study, parsed.take), parsed.preview)
    elif parsed.undo:
        undone = judging.undo(workspace, parsed.study, parsed.undo)
        print(f"Study '{parsed.study}': {count_text(undone, 'answer')} as before the judge.")
    else:
        _show(workspace, parsed.study)


def _make(workspace: Workspace, parsed: argparse.Namespace) -> None:
    rubric = judging.RUBRIC
    if parsed.rubric:
        try:
            rubric = read(parsed.rubric).decode("utf-8-sig").strip()
        except UnicodeDecodeError as error:
            raise FileError(f"{parsed.rubric} is not UTF-8.", "Save it as UTF-8.") from error
    kinds = [kind.strip() for kind in parsed.kinds.split(",") if kind.strip()]
    planned = judging.plan(workspace, parsed.study, parsed.respondent, kinds=kinds, rubric=rubric)
    record = judging.create_study(workspace, planned)
    print(
        f"Study '{record.code}': {count_text(planned.n_replies, 'reply', 'replies')} in "
        f"{count_text(planned.size.calls, 'call')} to '{planned.judge}'. {planned.cost}"
    )
    for caution in planned.cautions:
        print(caution)
    print(f"Nothing is sent yet. Send it with: run {record.code}")


def _take(workspace: Workspace, previewed: JudgingPreview, only_preview: bool) -> None:
    for row in previewed.kinds.to_dict("records"):
        before = answer_words(row["old_status"], row["old_option"])
        print(f"{before} -> {answer_words(row['status'], row['option'])}: {row['count']:,}")
    for sentence in judging.left_as_they_are(previewed):
        print(sentence)
    if only_preview:
        print(f"{count_text(previewed.n_changes, 'answer')} would be those of the judge.")
    else:
        taken = judging.take_over(workspace, previewed)
        print(f"Study '{previewed.study}': {count_text(taken, 'answer')} of '{previewed.judge}'.")


def _show(workspace: Workspace, study: str) -> None:
    """The unclear replies by kind, and the studies of judges."""
    for row in judging.count_kinds(judging.load_replies(workspace, study)).to_dict("records"):
        replies = count_text(row["replies"], "reply", "replies")
        print(f"{row['kind']}\t{replies}, {row['judged']:,} judged")
    for one in judging.judge_studies(workspace, study):
        print(
            f"{one.code}\t{one.judge}\t{one.n_replied:,} of {one.n_calls:,} replied, "
            f"{one.n_taken:,} taken over"
        )

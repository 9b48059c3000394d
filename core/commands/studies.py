"""The commands on studies, from `init` and `plan` to `export`, `log` and `shelve`."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

from core import progress
from core.commands.shared import Command, argument, read, write
from core.domain.numbers import count_text
from core.errors import FileError, UserError
from core.workflow import sample, shelf, study_log
from core.workflow.answers import bank_attachment, browsing, exports, wide
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.respondents.service_settings import PARAMETERS
from core.workflow.runs import amendments, control
from core.workflow.runs.expected_cost import expected_cost
from core.workflow.workspace import ENDING_S, Workspace


def init_command() -> Command:
    """The command that creates the database."""
    return Command(_init)


def plan_command() -> Command:
    """The command that freezes a study."""
    return Command(
        _plan,
        (
            argument("design", type=Path),
            argument("--out", type=Path, help="also write the plan as CSV"),
        ),
    )


def plan_opposing_command() -> Command:
    """The command that plans the second phase of a study."""
    return Command(
        _plan_opposing,
        (
            argument("study"),
            argument("--template", help="template that states an opinion"),
        ),
    )


def amend_command() -> Command:
    """The command that leaves out settings, or names marks of reasoning."""
    return Command(
        _amend,
        (
            argument("study"),
            argument("--respondent", required=True),
            argument(
                "--without",
                action="append",
                default=[],
                metavar="SETTING",
                help=f"one of: {', '.join(PARAMETERS)}",
            ),
            argument(
                "--completion-limit",
                action="store_true",
                help="send the longest reply as max_completion_tokens",
            ),
            argument(
                "--reasoning-marks",
                metavar="MARKS",
                help="'opening ... closing': what stands between is not read, also in replies on "
                "file once they are read again",
            ),
            argument("--reason", required=True, help="a sentence for the methods section"),
        ),
    )


def run_command() -> Command:
    """The command that asks what has no answer yet."""
    return Command(
        _run,
        (
            argument("study"),
            argument("--cost-cap", type=float, help="the most to spend, in US dollars"),
        ),
    )


def attach_command() -> Command:
    """The command that attaches a bank to imported answers."""
    return Command(
        _attach,
        (
            argument("study"),
            argument(
                "--bank", default="", help="code of the bank (default: the bank that fits best)"
            ),
        ),
    )


def export_command() -> Command:
    """The command that writes a study into a folder."""
    return Command(
        _export,
        (
            argument("study"),
            argument("directory", type=Path),
            argument(
                "--wide",
                choices=get_args(wide.WideFormat),
                help="also scores and answers with a row for each administration, in this format",
            ),
        ),
    )


def log_command() -> Command:
    """The command that writes who did what with a study."""
    out = argument("--out", type=Path, metavar="FILE", help="a CSV file (default: on the screen)")
    return Command(_log, (argument("study"), out))


def shelve_command() -> Command:
    """The command that renames a study, puts it away, or brings it back."""
    return Command(
        _shelve,
        (
            argument("study"),
            argument("--name", help="what lists show; '' for the name that it was made with"),
            argument(
                "--place", choices=get_args(shelf.Place), help="deleted: in no list, but kept"
            ),
        ),
    )


def sample_command() -> Command:
    """The command that runs one sample study, or loads those of the tour."""
    return Command(_sample, (argument("kind", choices=("tour", "simulated", "local")),))


def _init(workspace: Workspace, _: argparse.Namespace) -> None:
    print(f"{workspace.database.path} is ready, with {len(editing.summaries(workspace))} banks.")


def _plan(workspace: Workspace, parsed: argparse.Namespace) -> None:
    design = studies.design_of_yaml(read(parsed.design), name=parsed.design.name)
    record = studies.freeze(workspace, design)
    print(
        f"Study '{record.code}': {count_text(record.n_trials, 'trial')}, plan "
        f"{record.plan_hash[:12]}."
    )
    if words := expected_cost(workspace, record.code).words:
        print(words)
    if parsed.out:
        write(parsed.out, studies.plan_csv(workspace, record.code))


def _plan_opposing(workspace: Workspace, parsed: argparse.Namespace) -> None:
    offered = list(studies.opinion_templates(workspace))
    if parsed.template is None and len(offered) != 1:
        raise FileError(
            "No template is named for the second phase.", f"Add --template: {', '.join(offered)}."
        )
    phases = studies.plan_second_phase(workspace, parsed.study, parsed.template or offered[0])
    print(f"Study '{parsed.study}': {phases.opposing} more trials, plan {phases.plan_hash[:12]}.")
    if phases.without_opinion:
        print(
            f"{count_text(phases.without_opinion, 'trial')} without a first opinion: not repeated."
        )


def _amend(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.reasoning_marks is not None:
        amendments.amend_marks(
            workspace,
            parsed.study,
            parsed.respondent,
            marks=parsed.reasoning_marks,
            reason=parsed.reason,
        )
    if parsed.without or parsed.completion_limit or parsed.reasoning_marks is None:
        amendments.amend(
            workspace,
            parsed.study,
            parsed.respondent,
            leave_out=parsed.without,
            reason=parsed.reason,
            completion_limit=parsed.completion_limit,
        )
    print(amendments.sentences(workspace, parsed.study)[-1])


def _run(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if words := expected_cost(workspace, parsed.study).words:
        print(words, file=sys.stderr)
    control.start(workspace, parsed.study, cost_cap=parsed.cost_cap)
    _finish(workspace, parsed.study)


def _sample(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.kind == "tour":
        from core.workflow import tour  # loads the packages of statistics

        def report(done: int, total: int, unit: str) -> None:
            print(f"\r{done} of {total} {unit}", end="", file=sys.stderr)

        with progress.watch(report):
            codes = tour.load(workspace)
        print(f"\nThe sample studies are on file: {', '.join(codes)}.")
        return
    _finish(workspace, sample.start_sample(workspace, parsed.kind))


class _Reporter:
    """Prints how far a run is, and once each what is said of it."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def show(self, progress: control.Progress) -> None:
        """Print what was not printed yet."""
        for remark in progress.remarks:
            self.tell(remark)
        if (words := control.replied_words(progress)) not in self._shown:
            self._shown.add(words)
            print(f"\r{words}", end="", file=sys.stderr)

    def tell(self, sentence: str) -> None:
        """Print a sentence, in a line of its own."""
        if sentence not in self._shown:
            self._shown.add(sentence)
            print(f"\n{sentence}", file=sys.stderr)


@contextmanager
def _signals() -> Generator[list[int]]:
    """The requests to end (Ctrl-C, or to end the process) that came meanwhile."""
    asked: list[int] = []

    def ask(number: int, _frame: object) -> None:
        asked.append(number)
        if len(asked) == 1:
            print(
                f"\nEnding: calls under way are waited for, up to {ENDING_S:g} seconds. "
                "Ctrl-C again leaves them.",
                file=sys.stderr,
            )

    if threading.current_thread() is not threading.main_thread():  # which no signal reaches
        yield asked
        return
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(kind, ask) for kind in kinds]
    try:
        yield asked
    finally:
        for kind, handler in zip(kinds, before, strict=True):
            signal.signal(kind, handler)


def _finish(workspace: Workspace, study: str) -> None:
    """Show the run until it ends; raise UserError where it ends before it is finished."""
    with _signals() as asked:
        reporter = _Reporter()
        ended = control.wait(
            workspace,
            study,
            report=reporter.show,
            tell=reporter.tell,
            asked_to_end=lambda: len(asked),
        )
    print(file=sys.stderr)
    if unsaved := control.no_answer_words(ended):
        print(unsaved, file=sys.stderr)
    for words, count in ended.noted:
        print(f"{count_text(count, 'reply', 'replies')}: {words}", file=sys.stderr)
    if out := control.out_words(ended):
        print(f"Study '{study}': {control.replied_words(ended)}. {out}")
        if ended.state == "finished":
            return
    if ended.n_done < ended.n_trials:
        raise UserError(
            f"Study '{study}' {ended.state}: {control.replied_words(ended)}. {ended.reason}",
            "Remove the cause and run the study again. Every answer that was written is kept.",
        )
    print(f"Study '{study}': {control.replied_words(ended)}.")
    if unusable := browsing.unusable_words(ended.statuses):
        print(f"Without a usable answer: {unusable}.")


def _attach(workspace: Workspace, parsed: argparse.Namespace) -> None:
    done = bank_attachment.attach(workspace, parsed.study, parsed.bank)
    print(f"Study '{done.study}': bank '{done.bank}', version {done.version}. {done.about_bank}")
    if done.n_scores:
        print(f"The bank now gives {done.n_scores} scores that the file gave before.")


def _log(workspace: Workspace, parsed: argparse.Namespace) -> None:
    write(parsed.out, study_log.as_csv(workspace, parsed.study))


def _shelve(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.name is not None:
        shelf.rename(workspace, parsed.study, parsed.name)
    if parsed.place is not None:
        shelf.move(workspace, parsed.study, parsed.place)
    record = studies.load(workspace, parsed.study)
    print(f"{record.code}\t{record.name}\t{record.place}")


def _export(workspace: Workspace, parsed: argparse.Namespace) -> None:
    for file in exports.export_study(workspace, parsed.study, parsed.directory, parsed.wide):
        print(file)

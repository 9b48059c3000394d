"""The command line, `python -m core COMMAND`: the same functions and numbers as the pages."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from core import export
from core.analysis.shared.sentences import merge_notes
from core.commands import (
    answers,
    banks,
    batches,
    contexts,
    judging,
    packages,
    precision,
    prices,
    replications,
    reports,
    rereading,
    respondents,
    templates,
)
from core.commands.shared import Command, argument, pair, read, write
from core.domain.frames import GROUPINGS
from core.domain.instrument import ATTRIBUTE, ATTRIBUTE_FIELDS
from core.domain.numbers import count_text
from core.domain.study import FACTORS, LEAVE_OUT, LEFT_OUT_KINDS
from core.errors import FileError, UserError
from core.workflow import sample
from core.workflow.answers import bank_attachment, browsing, exports
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.replications.tables import PUBLISHED_TABLES
from core.workflow.respondents.service_settings import PARAMETERS
from core.workflow.runs import amendments, control
from core.workflow.statistics import analyses, papers
from core.workflow.statistics.result_changes import changed_result
from core.workflow.workspace import Workspace


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Returns 0, or 2 after one line that says what is wrong and what to do."""
    words = sys.argv[1:] if arguments is None else arguments
    if fault := _encoding_fault(words):
        print(fault, file=sys.stderr)
        return 2
    parsed = _parser().parse_args(words)
    run: Callable[[Workspace, argparse.Namespace], None] = parsed.run
    workspace = None
    try:
        workspace = open_workspace(parsed.db)
        run(workspace, parsed)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough; Python would flush again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except UserError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "Interrupted. Collected answers are saved. Run it again.",
            file=sys.stderr,
        )
        return 2
    finally:
        if workspace is not None:
            workspace.close()
    return 0


def _encoding_fault(words: Sequence[str]) -> str:
    """The sentence on the first argument that is not valid UTF-8; empty where all are."""
    for number, word in enumerate(words, 1):
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            shown = word.encode("utf-8", "backslashreplace").decode("utf-8")
            return (
                f"Argument {number}, '{shown}', is not valid UTF-8. "
                "Set the terminal to UTF-8, and rename a file whose name is not."
            )
    return ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core", description=__doc__)
    parser.add_argument("--db", help="database file (default: INKBLOT_DB, or data/inkblot.duckdb)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in _commands():
        own = commands.add_parser(command.name, help=command.help, description=command.help)
        own.set_defaults(run=command.run)
        own.add_argument("--db", default=argparse.SUPPRESS, help="database file")
        _add_arguments(own, command)
    return parser


def _add_arguments(parser: argparse.ArgumentParser, command: Command) -> None:
    for name, settings in command.arguments:
        parser.add_argument(name, **settings)
    if command.actions:
        actions = parser.add_subparsers(required=True, dest="action", metavar="ACTION")
        for action in command.actions:
            own = actions.add_parser(action.name, help=action.help)
            own.add_argument("--db", default=argparse.SUPPRESS, help="database file")
            _add_arguments(own, action)


def _commands() -> tuple[Command, ...]:
    """Every command, in the order of the help text."""
    return (
        Command("init", _init, "create the database with the starter banks, unless it exists"),
        banks.command(),
        Command("plan", _plan, "freeze the study that a YAML file describes", (
            argument("design", type=Path),
            argument("--out", type=Path, help="also write the plan as CSV"),
        )),
        Command("plan-opposing", _plan_opposing, "plan the second phase of a study", (
            argument("study"),
            argument("--template", help="template that states an opinion"),
        )),
        Command("amend", _amend, "leave out settings that a service of a study does not take", (
            argument("study"),
            argument("--respondent", required=True),
            argument("--without", action="append", default=[], metavar="SETTING",
                      help=f"one of: {', '.join(PARAMETERS)}"),
            argument("--completion-limit", action="store_true",
                      help="send the longest reply as max_completion_tokens"),
            argument("--reason", required=True, help="a sentence for the methods section"),
        )),
        respondents.command(),
        prices.command(),
        batches.command(),
        contexts.command(),
        templates.command(),
        Command("run", _run, "ask every question of a study that has no answer yet", (
            argument("study"),
            argument("--cost-cap", type=float, help="the most to spend, in US dollars"),
        )),
        judging.command(),
        rereading.command(),
        answers.import_command(),
        answers.undo_import_command(),
        answers.mapping_command(),
        Command("attach", _attach, "attach the bank of their items to imported answers", (
            argument("study"),
            argument("--bank", default="",
                      help="code of the bank (default: the bank that fits best)"),
        )),
        Command("analyze", _analyze, "run an analysis and write its tables", (
            argument("name"),
            argument("--study", required=True, action="append"),
            argument("--option", action="append", default=[], metavar="NAME=VALUE"),
            argument("--where", action="append", default=[], metavar="FACTOR=VALUE[,VALUE]",
                      help="only answers with these levels of a factor, or to items with these "
                      "values of an attribute (item.country=DE,FR) or a range of numbers "
                      f"(item.rank=1..100); {LEAVE_OUT}={','.join(LEFT_OUT_KINDS)} counts answers "
                      "of these kinds as missing"),
            argument("--by", help="factors, and attributes such as item.genre, to compare side by "
                      "side, comma-separated"),
            argument("--over", default="", help="factors to average over first, comma-separated"),
            argument("--syntax", type=Path,
                      help="also write R and Python scripts with their data (.zip)"),
            argument("--compare-left-out", action="store_true",
                      help=f"with --where {LEAVE_OUT}=...: write each number with all answers, "
                      "without those left out, and the difference"),
            argument("--table", help="only this table of the result"),
            argument("--charts", type=Path,
                      help="also write the charts as PNG, SVG and Vega-Lite (.zip)"),
            argument("--out", type=Path,
                      help="file to write: .csv, .zip (all tables) or .json; for a paper .docx, "
                      ".html or .tex (all tables, or that of --table)"),
        )),
        precision.command(),
        replications.command(),
        reports.command(),
        Command(
            "export", _export,
            "write answers, bank, plan, calls and design of a study into a folder", (
            argument("study"),
            argument("directory", type=Path),
        )),
        packages.package_command(),
        Command("sample", _sample, "run the sample study that comes with Inkblot", (
            argument("kind", choices=("simulated", "local")),
        )),
        Command("list", _list, "list studies, banks, analyses or published tables", (
            argument("what", nargs="?", default="studies",
                      choices=("studies", "banks", "analyses", "published")),
        )),
    )  # fmt: skip


def _init(workspace: Workspace, _: argparse.Namespace) -> None:
    print(f"{workspace.database.path} is ready, with {len(editing.summaries(workspace))} banks.")


def _plan(workspace: Workspace, parsed: argparse.Namespace) -> None:
    design = studies.design_of_yaml(read(parsed.design), name=parsed.design.name)
    record = studies.freeze(workspace, design)
    print(
        f"Study '{record.code}': {count_text(record.n_trials, 'trial')}, plan "
        f"{record.plan_hash[:12]}."
    )
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


def _amend(workspace: Workspace, parsed: argparse.Namespace) -> None:
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
    control.start(workspace, parsed.study, cost_cap=parsed.cost_cap)
    _finish(workspace, parsed.study)


def _sample(workspace: Workspace, parsed: argparse.Namespace) -> None:
    _finish(workspace, sample.start_sample(workspace, parsed.kind))


def _finish(workspace: Workspace, study: str) -> None:
    """Show the run until it ends; raise UserError where it ends before it is finished."""
    shown = -1

    def show(progress: control.Progress) -> None:
        nonlocal shown
        if progress.n_done != shown:
            shown = progress.n_done
            print(f"\r{control.replied_words(progress)}", end="", file=sys.stderr)

    ended = control.wait(workspace, study, report=show)
    print(file=sys.stderr)
    if unsaved := control.no_answer_words(ended):
        print(unsaved, file=sys.stderr)
    if ended.n_done < ended.n_trials:
        raise UserError(
            f"Study '{study}' {ended.state}: {control.replied_words(ended)}. {ended.reason}",
            "Remove the cause and run the study again. Collected answers are saved.",
        )
    print(f"Study '{study}': {control.replied_words(ended)}.")
    if unusable := browsing.unusable_words(ended.statuses):
        print(f"Without a usable answer: {unusable}.")


def _attach(workspace: Workspace, parsed: argparse.Namespace) -> None:
    done = bank_attachment.attach(workspace, parsed.study, parsed.bank)
    print(f"Study '{done.study}': bank '{done.bank}', version {done.version}. {done.about_bank}")
    if done.n_scores:
        print(f"The bank now gives {done.n_scores} scores that the file gave before.")


def _analyze(workspace: Workspace, parsed: argparse.Namespace) -> None:
    analysis = analyses.by_name(parsed.name)
    texts = dict(pair(text, "--option") for text in parsed.option)
    if parsed.by:
        texts["by"] = parsed.by
    options = analyses.options_from_text(analysis, texts)
    where = {k: v.split(",") for k, v in (pair(text, "--where") for text in parsed.where)}
    over = _factors(parsed.over)
    files = (
        analyses.scripts(workspace, parsed.name, parsed.study, options, where, over)
        if parsed.syntax
        else ()
    )
    if parsed.compare_left_out and not where.get(LEAVE_OUT):
        raise FileError(
            "--compare-left-out needs answers that are left out.",
            f"Add --where {LEAVE_OUT}={','.join(LEFT_OUT_KINDS)}, or some of these kinds.",
        )
    result = analyses.run(workspace, parsed.name, parsed.study, options, where, over)
    pictures = papers.charts_zip(analysis, result) if parsed.charts else b""
    sentences = analysis.answer(result)
    if parsed.compare_left_out:
        every = {name: levels for name, levels in where.items() if name != LEAVE_OUT}
        before = analyses.run(workspace, parsed.name, parsed.study, options, every, over)
        result = changed_result(before, result, analysis.needs.noun)
    for one in sentences:
        named = "" if one.names_group else f"{one.group}: "
        print(f"{named}{one.sentence}", file=sys.stderr)
    if analysis.verdict:
        print(analysis.verdict, file=sys.stderr)
    write(parsed.out, _result_file(result, parsed))
    if pictures:
        write(parsed.charts, pictures)
    if parsed.syntax:
        write(parsed.syntax, export.files_zip({f.name: f.text.encode() for f in files}))
    for note in merge_notes(result.all_notes, (one.group for one in sentences)):
        print(note, file=sys.stderr)


def _result_file(result: analyses.AnalysisResult, parsed: argparse.Namespace) -> bytes:
    """The result in the format that the ending of the file names; CSV of one table otherwise."""
    ending = parsed.out.suffix.lower().removeprefix(".") if parsed.out else "csv"
    if ending == "json":
        return export.result_json(result)
    if ending == "zip":
        return export.result_zip(result)
    if ending in papers.PAPER_FORMATS:
        tables = (_table(result, parsed.table),) if parsed.table else result.tables
        return papers.paper_file(result, tables, ending, analyses.software_versions())
    return export.table_csv(_table(result, parsed.table))


def _factors(text: str) -> tuple[str, ...]:
    """The factors named in a list with commas."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in FACTORS:
            raise FileError(f"There is no factor '{name}'.", f"Use: {', '.join(FACTORS)}.")
    return names


def _table(result: analyses.AnalysisResult, name: str | None) -> analyses.ResultTable:
    if name is None:
        return result.tables[0]
    for table in result.tables:
        if table.name == name:
            return table
    names = ", ".join(table.name for table in result.tables)
    raise FileError(f"The result has no table '{name}'.", f"It has: {names}.")


def _export(workspace: Workspace, parsed: argparse.Namespace) -> None:
    for file in exports.export_study(workspace, parsed.study, parsed.directory):
        print(file)


def _list(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.what == "analyses":
        for analysis in analyses.all_analyses():
            options = ", ".join(option.name for option in analysis.options)
            print(f"{analysis.name}\t{analysis.question}\t{options}")
        print(f"\nfactors for --where and --over: {', '.join(FACTORS)}")
        print(f"for --by also: {', '.join(name for name in GROUPINGS if name not in FACTORS)}")
        fields = ", ".join(f"{ATTRIBUTE}{name}" for name in ATTRIBUTE_FIELDS)
        print(f"attributes of items for --where and --by: {fields}, and those of the bank")
        print(
            f"answers that --where {LEAVE_OUT}=... counts as missing: {', '.join(LEFT_OUT_KINDS)}"
        )
    elif parsed.what == "published":
        for table in PUBLISHED_TABLES:
            print(f"{table.code}\t{table.title}\t{table.of.short_name}")
    elif parsed.what == "banks":
        for bank in editing.summaries(workspace):
            items, languages = count_text(bank.n_items, "item"), " ".join(bank.languages)
            print(f"{bank.code}\t{items}\t{languages}\t{bank.title}")
    else:
        for study in studies.list_studies(workspace):
            usable = control.usable_words(study.n_usable, study.n_asked)
            replied = f"{study.n_responses:,} of {study.n_trials:,} replied"
            print(f"{study.code}\t{replied}, {usable}\t{study.instrument}")


if __name__ == "__main__":
    sys.exit(main())

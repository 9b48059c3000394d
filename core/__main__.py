"""The command line, `python -m core COMMAND`: the same functions and numbers as the pages."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import export
from core.analysis.shared.sentences import merge_notes
from core.collect.endpoints import SERVICES
from core.domain.frames import GROUPINGS
from core.domain.numbers import count_text
from core.domain.study import FACTORS
from core.errors import FileError, UserError
from core.files.writing import write_files
from core.workflow import sample
from core.workflow.answers import bank_attachment, browsing, exports, imports
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.opening import open_workspace
from core.workflow.respondents import catalog, forms
from core.workflow.respondents.service_settings import PARAMETERS
from core.workflow.runs import amendments, control
from core.workflow.statistics import analyses
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
            "Interrupted. Collected answers are saved; an import saves nothing. Run it again.",
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


@dataclass(frozen=True)
class _Command:
    """A command with its help text, its arguments and its actions (a second level of commands)."""

    name: str
    run: Callable[[Workspace, argparse.Namespace], None]
    help: str
    arguments: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    actions: tuple[_Command, ...] = ()


def _argument(name: str, **settings: Any) -> tuple[str, Mapping[str, Any]]:
    """One argument, in the words of `argparse`."""
    return name, settings


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


def _add_arguments(parser: argparse.ArgumentParser, command: _Command) -> None:
    for name, settings in command.arguments:
        parser.add_argument(name, **settings)
    if command.actions:
        actions = parser.add_subparsers(required=True, dest="action", metavar="ACTION")
        for action in command.actions:
            _add_arguments(actions.add_parser(action.name, help=action.help), action)


def _commands() -> tuple[_Command, ...]:
    """Every command, in the order of the help text."""
    return (
        _Command("init", _init, "create the database with the starter banks, unless it exists"),
        _Command("bank", _bank, "import a bank file, or export a bank", (
            _argument("action", choices=("import", "export")),
            _argument("what", help="import: the file; export: the code of the bank"),
            _argument("--out", type=Path, help="export: file to write (.csv or .xlsx)"),
            _argument("--version", type=int, help="export: a published version"),
        )),
        _Command("plan", _plan, "freeze the study that a YAML file describes", (
            _argument("design", type=Path),
            _argument("--out", type=Path, help="also write the plan as CSV"),
        )),
        _Command("plan-opposing", _plan_opposing, "plan the second phase of a study", (
            _argument("study"),
            _argument("--template", help="template that states an opinion"),
        )),
        _Command("amend", _amend, "leave out settings that a service of a study does not take", (
            _argument("study"),
            _argument("--respondent", required=True),
            _argument("--without", action="append", default=[], metavar="SETTING",
                      help=f"one of: {', '.join(PARAMETERS)}"),
            _argument("--completion-limit", action="store_true",
                      help="send the longest reply as max_completion_tokens"),
            _argument("--reason", required=True, help="a sentence for the methods section"),
        )),
        _Command("respondent", _respondent, "add, test or list respondents", actions=(
            _Command("list", _respondent, "list the respondents on offer"),
            _Command("test", _respondent, "send a harmless question, then again with each setting",
                     (_argument("label"),)),
            _Command("add", _respondent, "offer a model of a service", (
                _argument("label", help="its name in designs"),
                _argument("--model", required=True, help="the service's name for the model"),
                _argument("--service", help=f"one of: {', '.join(s.name for s in SERVICES)}"),
                _argument("--address", help="base URL of another service"),
                _argument("--key-variable", help="environment variable that holds the key, such as "
                          "INKBLOT_KEY_MINE"),
                _argument("--set", action="append", default=[], metavar="NAME=VALUE",
                          help="temperature, top_p, max_tokens, seed, system_prompt, at_once, "
                          "per_minute, timeout_s, price_in, price_out, or any other setting of the "
                          "service; 'temperature=' leaves the temperature out"),
            )),
        )),
        _Command("run", _run, "ask every question of a study that has no answer yet", (
            _argument("study"),
            _argument("--cost-cap", type=float, help="the most to spend, in US dollars"),
        )),
        _Command("import", _import, "import answers from a tidy file (CSV, gzip or Parquet)", (
            _argument("file", type=Path),
            _argument("--study", default="",
                      help="name of the study, if the file names no study or only one"),
            _argument("--bank", help="code of the bank of the items (default: the bank that the "
                      "file names, or one that fits)"),
            _argument("--new-bank", action="store_true",
                      help="make a new bank from the answers, without keys"),
            _argument("--scores", choices=tuple(imports.SCORE_MEANINGS), default="bank",
                      help="meaning of the column score: " + "; ".join(
                          f"{name}: {words}" for name, words in imports.SCORE_MEANINGS.items())),
        )),
        _Command("attach", _attach, "attach the bank of their items to imported answers", (
            _argument("study"),
            _argument("--bank", default="",
                      help="code of the bank (default: the bank that fits best)"),
        )),
        _Command("analyze", _analyze, "run an analysis and write its tables", (
            _argument("name"),
            _argument("--study", required=True, action="append"),
            _argument("--option", action="append", default=[], metavar="NAME=VALUE"),
            _argument("--where", action="append", default=[], metavar="FACTOR=VALUE[,VALUE]"),
            _argument("--by", help="factors to compare side by side, comma-separated"),
            _argument("--over", default="", help="factors to average over first, comma-separated"),
            _argument("--syntax", type=Path,
                      help="also write R and Python scripts with their data (.zip)"),
            _argument("--table", help="only this table of the result"),
            _argument("--out", type=Path,
                      help="file to write: .csv, .zip (all tables) or .json"),
        )),
        _Command(
            "export", _export,
            "write answers, bank, plan, calls and design of a study into a folder", (
            _argument("study"),
            _argument("directory", type=Path),
        )),
        _Command("sample", _sample, "run the sample study that comes with Inkblot", (
            _argument("kind", choices=("simulated", "local")),
        )),
        _Command("list", _list, "list studies, banks or analyses", (
            _argument("what", nargs="?", default="studies",
                      choices=("studies", "banks", "analyses")),
        )),
    )  # fmt: skip


def _init(workspace: Workspace, _: argparse.Namespace) -> None:
    print(f"{workspace.database.path} is ready, with {len(editing.summaries(workspace))} banks.")


def _bank(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.action == "import":
        file = Path(parsed.what)
        state = editing.import_bank(workspace, editing.read_instrument(file.name, _read(file)))
        code = state.instrument.code
        print(f"Bank '{code}': {count_text(len(state.instrument.items), 'item')}.")
        for study, match in bank_attachment.studies_for_bank(workspace, state.instrument):
            print(
                f"Study '{study}' has answers to these items and no bank ({match.words}). "
                "To attach the bank, run: " + shlex.join(["attach", study, "--bank", code])
            )
        return
    suffix = (parsed.out.suffix if parsed.out else ".csv").lower()
    if suffix not in (".csv", ".xlsx"):
        raise FileError(f"A bank cannot be written as '{suffix}'.", "Use .csv or .xlsx.")
    file_format: editing.FileFormat = "xlsx" if suffix == ".xlsx" else "csv"
    _write(parsed.out, editing.export(workspace, parsed.what, file_format, parsed.version))


def _plan(workspace: Workspace, parsed: argparse.Namespace) -> None:
    design = studies.design_of_yaml(_read(parsed.design), name=parsed.design.name)
    record = studies.freeze(workspace, design)
    print(
        f"Study '{record.code}': {count_text(record.n_trials, 'trial')}, plan "
        f"{record.plan_hash[:12]}."
    )
    if parsed.out:
        _write(parsed.out, studies.plan_csv(workspace, record.code))


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


def _respondent(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.action == "list":
        for person in catalog.list_respondents(workspace):
            print(f"{person.label}\t{person.kind}\t{person.model}\t{person.base_url}")
    elif parsed.action == "add":
        fields = forms.fields_of_settings(dict(_pair(text, "--set") for text in parsed.set))
        address, variable = _address(parsed)
        fields |= {"label": parsed.label, "model": parsed.model}
        fields |= {"base_url": address, "key_variable": variable}
        catalog.add(workspace, forms.to_respondent("api", fields))
        print(f"Respondent '{parsed.label}' is on offer.")
    else:
        _test(catalog.test(workspace, catalog.by_label(workspace, parsed.label)))


def _address(parsed: argparse.Namespace) -> tuple[str, str]:
    """Address and key variable of a respondent to add."""
    named = {service.name: service for service in SERVICES}
    if (parsed.service is None) == (parsed.address is None):
        raise FileError("The respondent needs one address.", "Give --service or --address.")
    if parsed.service is not None and parsed.service not in named:
        raise FileError(f"There is no service '{parsed.service}'.", f"Use: {', '.join(named)}.")
    if parsed.address is not None:
        return parsed.address, parsed.key_variable or ""
    chosen = named[parsed.service]
    return chosen.base_url, parsed.key_variable or chosen.key_variable


def _test(trial: catalog.TestReply) -> None:
    """Print the reply to a test; raise UserError where the service rejected the request."""
    for check in trial.parameters:
        words = {True: "taken", False: "refused", None: "unknown"}[check.accepted]
        print(f"{check.name}\t{words}\t{check.message}")
    if trial.rejected:
        raise UserError(
            f"The service does not take the request with these settings. {trial.rejected}",
            "Add it again under another name, and leave out the refused settings with --set NAME=.",
        )
    print(f"replied in {trial.seconds:.2f} s: {trial.reply}")


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


def _import(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.bank and parsed.new_bank:
        raise FileError("--bank and --new-bank cannot be given together.", "Give one of them.")
    for done in imports.import_tidy(
        workspace,
        parsed.file.name,
        _read(parsed.file),
        study=parsed.study,
        bank=imports.NEW_BANK if parsed.new_bank else parsed.bank,
        scores=parsed.scores,
        report=print,
    ):
        bank = f"bank '{done.instrument}'. {done.about_bank}"
        print(f"Study '{done.study}': {done.n_rows} answers, {bank}")


def _attach(workspace: Workspace, parsed: argparse.Namespace) -> None:
    done = bank_attachment.attach(workspace, parsed.study, parsed.bank)
    print(f"Study '{done.study}': bank '{done.bank}', version {done.version}. {done.about_bank}")
    if done.n_scores:
        print(f"The bank now gives {done.n_scores} scores that the file gave before.")


def _analyze(workspace: Workspace, parsed: argparse.Namespace) -> None:
    analysis = analyses.by_name(parsed.name)
    texts = dict(_pair(text, "--option") for text in parsed.option)
    if parsed.by:
        texts["by"] = parsed.by
    options = analyses.options_from_text(analysis, texts)
    where = {k: v.split(",") for k, v in (_pair(text, "--where") for text in parsed.where)}
    over = _factors(parsed.over)
    files = (
        analyses.scripts(workspace, parsed.name, parsed.study, options, where, over)
        if parsed.syntax
        else ()
    )
    result = analyses.run(workspace, parsed.name, parsed.study, options, where, over)
    answers = analysis.answer(result)
    for one in answers:
        named = "" if one.names_group else f"{one.group}: "
        print(f"{named}{one.sentence}", file=sys.stderr)
    if analysis.verdict:
        print(analysis.verdict, file=sys.stderr)
    suffix = parsed.out.suffix.lower() if parsed.out else ".csv"
    if suffix == ".json":
        data = export.result_json(result)
    elif suffix == ".zip":
        data = export.result_zip(result)
    else:
        data = export.table_csv(_table(result, parsed.table))
    _write(parsed.out, data)
    if parsed.syntax:
        _write(parsed.syntax, export.files_zip({f.name: f.text.encode() for f in files}))
    for note in merge_notes(result.all_notes, (one.group for one in answers)):
        print(note, file=sys.stderr)


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
    elif parsed.what == "banks":
        for bank in editing.summaries(workspace):
            items, languages = count_text(bank.n_items, "item"), " ".join(bank.languages)
            print(f"{bank.code}\t{items}\t{languages}\t{bank.title}")
    else:
        for study in studies.list_studies(workspace):
            usable = control.usable_words(study.n_usable, study.n_asked)
            replied = f"{study.n_responses:,} of {study.n_trials:,} replied"
            print(f"{study.code}\t{replied}, {usable}\t{study.instrument}")


def _pair(text: str, option: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise FileError(f"{option} '{text}' has no '='.", f"Write {option} name=value.")
    return name.strip(), value.strip()


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise FileError(f"{file} cannot be read ({error.strerror}).", "Check the path.") from error


def _write(file: Path | None, data: bytes) -> None:
    if file is None:
        sys.stdout.buffer.write(data)
        return
    try:
        write_files({file: data})
    except OSError as error:
        raise FileError(
            f"{file} cannot be written ({error.strerror}).", "Choose another place."
        ) from error
    print(f"Wrote {file}.", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

"""The command line, `python -m core VERB`: the same functions and numbers as the pages."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from core import export
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
from core.workflow.runs import amendments, collection
from core.workflow.statistics import analyses
from core.workflow.workspace import Workspace


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; 0 when it worked, 2 with one line on what is wrong and what to do."""
    words = sys.argv[1:] if arguments is None else arguments
    if fault := _not_text(words):
        print(fault, file=sys.stderr)
        return 2
    parsed = _parser().parse_args(words)
    verb: Callable[[Workspace, argparse.Namespace], None] = parsed.verb
    workspace = None
    try:
        workspace = open_workspace(parsed.db)
        verb(workspace, parsed)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough; Python would flush again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except UserError as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "Interrupted. Answers collected are kept; an import keeps nothing. Run it again.",
            file=sys.stderr,
        )
        return 2
    finally:
        if workspace is not None:
            workspace.close()
    return 0


def _not_text(words: Sequence[str]) -> str:
    """What is wrong with the first argument that is no text; empty: nothing."""
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
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def add(
        name: str, verb: Callable[[Workspace, argparse.Namespace], None], text: str
    ) -> argparse.ArgumentParser:
        found = verbs.add_parser(name, help=text, description=text)
        found.set_defaults(verb=verb)
        found.add_argument("--db", default=argparse.SUPPRESS, help="database file")
        return found

    add("init", _init, "make the database with the starter banks, where it is not there yet")
    bank = add("bank", _bank, "import a bank file, or export a bank")
    bank.add_argument("action", choices=("import", "export"))
    bank.add_argument("what", help="import: the file; export: the bank's code")
    bank.add_argument("--out", type=Path, help="export: file to write (.csv or .xlsx)")
    bank.add_argument("--version", type=int, help="export: a published version")
    plan = add("plan", _plan, "freeze the study that a YAML file describes")
    plan.add_argument("design", type=Path)
    plan.add_argument("--out", type=Path, help="also write the plan as CSV")
    second = add("plan-opposing", _plan_opposing, "plan the second phase of a study")
    second.add_argument("study")
    second.add_argument("--template", help="template whose text tells an opinion")
    change = add("amend", _amend, "leave settings out that a service of a study does not take")
    change.add_argument("study")
    change.add_argument("--respondent", required=True)
    change.add_argument(
        "--without", action="append", default=[], metavar="SETTING",
        help=f"one of: {', '.join(PARAMETERS)}",
    )  # fmt: skip
    change.add_argument(
        "--completion-limit", action="store_true",
        help="send the longest reply as max_completion_tokens",
    )  # fmt: skip
    change.add_argument("--reason", required=True, help="a sentence for the methods section")
    _add_respondent_verb(add("respondent", _respondent, "add, test or list respondents"))
    run = add("run", _run, "ask everything of a study that has no answer yet")
    run.add_argument("study")
    run.add_argument("--cost-cap", type=float, help="US dollars not to be exceeded")
    take = add("import", _import, "import answers from a tidy file (CSV, gzip allowed; Parquet)")
    take.add_argument("file", type=Path)
    take.add_argument(
        "--study", default="", help="name of the study, where the file names none or only one"
    )
    take.add_argument(
        "--bank", help="code of the items' bank (default: as the file says, or the one that fits)"
    )
    take.add_argument(
        "--new-bank", action="store_true", help="make a bank of the answers, without keys"
    )
    take.add_argument(
        "--scores", choices=tuple(imports.SCORE_MEANINGS), default="bank",
        help="what the column score holds: "
        + "; ".join(f"{name}: {words}" for name, words in imports.SCORE_MEANINGS.items()),
    )  # fmt: skip
    join = add("attach", _attach, "give imported answers without a bank the bank of their items")
    join.add_argument("study")
    join.add_argument("--bank", default="", help="its code (default: the bank that fits best)")
    analyze = add("analyze", _analyze, "run an analysis and write its tables")
    analyze.add_argument("name")
    analyze.add_argument("--study", required=True, action="append")
    analyze.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    analyze.add_argument("--where", action="append", default=[], metavar="FACTOR=VALUE[,VALUE]")
    analyze.add_argument("--by", help="factors to set side by side, comma-separated")
    analyze.add_argument(
        "--over", default="", help="factors to average over first, comma-separated"
    )
    analyze.add_argument(
        "--syntax", type=Path, help="also write R and Python scripts with their data (.zip)"
    )
    analyze.add_argument("--table", help="only this table of the result")
    analyze.add_argument("--out", type=Path, help="file to write: .csv, .zip (all tables) or .json")
    give = add(
        "export", _export, "write answers, bank, plan, calls and design of a study into a folder"
    )
    give.add_argument("study")
    give.add_argument("directory", type=Path)
    try_out = add("sample", _sample, "run the sample study that comes along")
    try_out.add_argument("kind", choices=("simulated", "local"))
    listing = add("list", _list, "list studies, banks or analyses")
    listing.add_argument(
        "what", nargs="?", default="studies", choices=("studies", "banks", "analyses")
    )
    return parser


def _add_respondent_verb(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, dest="action", metavar="ACTION")
    actions.add_parser("list", help="the respondents on offer")
    test = actions.add_parser("test", help="ask one harmless question, and with each setting")
    test.add_argument("label")
    new = actions.add_parser("add", help="offer a model behind an address")
    new.add_argument("label", help="its name in designs")
    new.add_argument("--model", required=True, help="the name that the service gives it")
    new.add_argument("--service", help=f"one of: {', '.join(p.name for p in SERVICES)}")
    new.add_argument("--address", help="base URL of another service")
    new.add_argument(
        "--key-variable", help="environment variable that holds the key, such as INKBLOT_KEY_MINE"
    )
    new.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="temperature, top_p, max_tokens, seed, system_prompt, at_once, per_minute, timeout_s, "
        "price_in, price_out, or any other setting to send along; 'temperature=' leaves it out",
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
                f"Study '{study}' has answers to them and no bank ({match.words}). Attach it: "
                + shlex.join(["attach", study, "--bank", code])
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
    now = studies.plan_second_phase(workspace, parsed.study, parsed.template or offered[0])
    print(f"Study '{parsed.study}': {now.opposing} more trials, plan {now.plan_hash[:12]}.")


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
    named = {preset.name: preset for preset in SERVICES}
    if (parsed.service is None) == (parsed.address is None):
        raise FileError("The respondent needs one address.", "Give --service or --address.")
    if parsed.service is not None and parsed.service not in named:
        raise FileError(f"There is no service '{parsed.service}'.", f"Use: {', '.join(named)}.")
    if parsed.address is not None:
        return parsed.address, parsed.key_variable or ""
    chosen = named[parsed.service]
    return chosen.base_url, parsed.key_variable or chosen.key_variable


def _test(trial: catalog.TestReply) -> None:
    """Print what a test gave; a request that the service did not take is an error."""
    for check in trial.parameters:
        words = {True: "taken", False: "refused", None: "unknown"}[check.accepted]
        print(f"{check.name}\t{words}\t{check.message}")
    if trial.rejected:
        raise UserError(
            f"The service does not take the request as it is set. {trial.rejected}",
            "Leave out what it refuses: add the respondent under another name with --set NAME=.",
        )
    print(f"replied in {trial.seconds:.2f} s: {trial.reply}")


def _run(workspace: Workspace, parsed: argparse.Namespace) -> None:
    collection.start(workspace, parsed.study, cost_cap=parsed.cost_cap)
    _finish(workspace, parsed.study)


def _sample(workspace: Workspace, parsed: argparse.Namespace) -> None:
    _finish(workspace, sample.start_sample(workspace, parsed.kind))


def _finish(workspace: Workspace, study: str) -> None:
    """Show the run until it ends; an end other than finished is an error."""
    shown = -1

    def show(progress: collection.Progress) -> None:
        nonlocal shown
        if progress.n_done != shown:
            shown = progress.n_done
            print(f"\r{collection.replied_words(progress)}", end="", file=sys.stderr)

    ended = collection.wait(workspace, study, report=show)
    print(file=sys.stderr)
    if lost := collection.no_answer_words(ended):
        print(lost, file=sys.stderr)
    if ended.n_done < ended.n_trials:
        raise UserError(
            f"Study '{study}' {ended.state}: {collection.replied_words(ended)}. {ended.reason}",
            "Mend the cause and run it again; what is answered stays.",
        )
    print(f"Study '{study}': {collection.replied_words(ended)}.")
    if unusable := browsing.unusable_words(ended.statuses):
        print(f"Without a usable answer: {unusable}.")


def _import(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.bank and parsed.new_bank:
        raise FileError("--bank and --new-bank exclude each other.", "Give one of them.")
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
        print(f"{done.n_scores} scores that came with the file are derived from the bank now.")


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
    for group, sentence in analysis.answer(result):
        print(f"{group}: {sentence}", file=sys.stderr)
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
    for note in result.notes:
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
            usable = collection.usable_words(study.n_usable, study.n_asked)
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

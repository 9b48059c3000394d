"""The command `respondent`: add, test, list, import or export respondents."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.collect.endpoints import SERVICES
from core.commands.shared import Action, Command, argument, pair, read, write
from core.errors import FileError, UserError
from core.workflow.respondents import catalog, files, forms
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its actions."""
    return Command(
        _respondent,
        actions=(
            Action("list", "list the respondents on offer"),
            Action(
                "test",
                "send a harmless question, then again with each setting",
                (argument("label"),),
            ),
            Action(
                "import", "offer the respondents of a YAML file", (argument("file", type=Path),)
            ),
            Action(
                "export",
                "write respondents as YAML, without keys",
                (
                    argument("label", nargs="*", help="which (default: all on offer)"),
                    argument(
                        "--out", type=Path, help="file to write (default: the standard output)"
                    ),
                ),
            ),
            Action(
                "add",
                "offer a model of a service",
                (
                    argument("label", help="its name in designs"),
                    argument("--model", required=True, help="the service's name for the model"),
                    argument("--service", help=f"one of: {', '.join(s.name for s in SERVICES)}"),
                    argument("--address", help="base URL of another service"),
                    argument(
                        "--key-variable",
                        help="environment variable that holds the key, such as INKBLOT_KEY_MINE",
                    ),
                    argument(
                        "--set",
                        action="append",
                        default=[],
                        metavar="NAME=VALUE",
                        help="temperature, top_p, max_tokens, seed, system_prompt, at_once, "
                        "per_minute, tokens_per_minute, timeout_s, price_in, price_out, "
                        "price_cached, stream or completes_text (true or false), reasoning_marks "
                        "('opening ... closing'), or any other setting of the service; "
                        "what is not set here is left to the service",
                    ),
                ),
            ),
        ),
    )


def _respondent(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.action == "list":
        for person in catalog.list_respondents(workspace):
            print(f"{person.label}\t{person.kind}\t{person.model}\t{person.base_url}")
    elif parsed.action == "add":
        fields = forms.fields_of_settings(dict(pair(text, "--set") for text in parsed.set))
        address, variable = _address(parsed)
        fields |= {"label": parsed.label, "model": parsed.model}
        fields |= {"base_url": address, "key_variable": variable}
        catalog.add(workspace, forms.to_respondent("api", fields))
        print(f"Respondent '{parsed.label}' is on offer.")
    elif parsed.action == "import":
        done = files.import_respondents(workspace, parsed.file.name, read(parsed.file))
        print(f"Respondents: {done.new} new, {done.changed} changed, {done.unchanged} as before.")
    elif parsed.action == "export":
        chosen = [catalog.by_label(workspace, label) for label in parsed.label]
        text = files.write_respondents(chosen or catalog.list_respondents(workspace))
        write(parsed.out, text.encode())
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

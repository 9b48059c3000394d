"""The command `template`: list, import or export prompt templates."""

from __future__ import annotations

import argparse
from pathlib import Path

from core.commands.shared import Action, Command, argument, read, write
from core.workflow.templates import editing
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its actions."""
    return Command(
        _template,
        actions=(
            Action("list", "list the templates with their languages and studies"),
            Action(
                "import",
                "save the templates of a YAML file, each as a version",
                (argument("file", type=Path),),
            ),
            Action(
                "export",
                "write templates as a YAML file",
                (
                    argument("codes", nargs="*", help="codes of templates; none: all"),
                    argument(
                        "--out", type=Path, help="file to write (default: the standard output)"
                    ),
                ),
            ),
        ),
    )


def _template(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.action == "list":
        for line in editing.summaries(workspace):
            origin = "built in" if line.built_in else "own"
            state = ", changed" if line.changed else ", archived" if line.archived else ""
            languages = ",".join(line.template.texts)
            print(
                f"{line.template.code}\t{line.template.title}\t{origin}{state}\t{languages}\t"
                f"{','.join(line.used_in)}"
            )
    elif parsed.action == "import":
        for template, state in editing.import_file(workspace, parsed.file.name, read(parsed.file)):
            print(f"{template.code}\t{state}")
    else:
        codes = parsed.codes or [one.template.code for one in editing.summaries(workspace)]
        write(parsed.out, editing.export(workspace, codes))

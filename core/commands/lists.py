"""The command `list`: studies, banks, analyses and their factors, published tables, misprints."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from core.commands.shared import Command, argument
from core.domain.numbers import count_text, usable_words
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its arguments."""
    return Command(
        _list,
        (
            argument(
                "what",
                nargs="?",
                default="studies",
                choices=("studies", *_LISTS),
            ),
        ),
    )


def _list(workspace: Workspace, parsed: argparse.Namespace) -> None:
    _LISTS.get(parsed.what, _studies)(workspace)


def _analyses(_: Workspace) -> None:
    from core.domain.factors import DERIVED, GROUPINGS
    from core.domain.instrument import ATTRIBUTE, ATTRIBUTE_FIELDS
    from core.domain.study import FACTORS, LEAVE_OUT, LEFT_OUT_KINDS
    from core.workflow.statistics import analyses

    for analysis in analyses.all_analyses():
        options = ", ".join(option.name for option in analysis.options)
        print(f"{analysis.name}\t{analysis.question}\t{options}")
    print(f"\nfactors for --where and --over: {', '.join(FACTORS)}")
    print(f"for --by also: {', '.join(name for name in GROUPINGS if name not in FACTORS)}")
    print(f"for --where also: {', '.join(DERIVED)}")
    fields = ", ".join(f"{ATTRIBUTE}{name}" for name in ATTRIBUTE_FIELDS)
    print(
        "facts about people for --where, --by and factor: person.NAME, such as person.gender; of a "
        "number also its bands, such as person.age:bands"
    )
    print(f"attributes of items for --where and --by: {fields}, and those of the bank")
    print(f"answers that --where {LEAVE_OUT}=... counts as missing: {', '.join(LEFT_OUT_KINDS)}")


def _factors(_: Workspace) -> None:
    from core.workflow.statistics import uses

    print("g: can be grouped by, c: compared, f: filtered by; else the number of the reason")
    print("\n".join(uses.use_lines(uses.NAMED)))


def _published(_: Workspace) -> None:
    from core.workflow.replications.tables import PUBLISHED_TABLES

    for table in PUBLISHED_TABLES:
        print(f"{table.code}\t{table.title}\t{table.of.short_name}")


def _misprints(_: Workspace) -> None:
    from core.workflow.replications.checks import all_checks, summary

    for check in all_checks():
        if check.verdict != "fits":
            print(f"{check.table}\t{check.column}\t{check.verdict}\t{check.sentence}")
    print(summary(all_checks()))


def _banks(workspace: Workspace) -> None:
    from core.workflow.banks import editing

    for bank in editing.summaries(workspace):
        items, languages = count_text(bank.n_items, "item"), " ".join(bank.languages)
        print(f"{bank.code}\t{items}\t{languages}\t{bank.title}")


def _studies(workspace: Workspace) -> None:
    from core.store import studies

    for study in studies.studies(workspace.database):
        usable = usable_words(study.n_usable, study.n_asked)
        replied = f"{study.n_responses:,} of {study.n_trials:,} replied"
        print(f"{study.code}\t{replied}, {usable}\t{study.instrument}")


def _put_away(workspace: Workspace) -> None:
    from core.workflow import shelf

    for study in shelf.put_away(workspace):
        print(f"{study.code}\t{study.name}\t{study.place}")


_LISTS: Mapping[str, Callable[[Workspace], None]] = {
    "put-away": _put_away,
    "banks": _banks,
    "analyses": _analyses,
    "factors": _factors,
    "published": _published,
    "misprints": _misprints,
}
"""What can be listed beside studies."""

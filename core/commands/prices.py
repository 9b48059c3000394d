"""The command `price`: list, set, import or export the prices of models."""

from __future__ import annotations

import argparse
from datetime import date
from pathlib import Path

from core.commands.shared import Action, Command, argument, read, write
from core.domain.numbers import count_text
from core.errors import FileError
from core.workflow.respondents import prices
from core.workflow.respondents.prices import Price
from core.workflow.workspace import Workspace


def command() -> Command:
    """The command with its actions."""
    return Command(
        _price,
        actions=(
            Action("list", "list the prices in dollars per million tokens, with their age"),
            Action(
                "set",
                "keep the price of a model",
                (
                    argument("model", help="the service's name for the model"),
                    argument(
                        "--in",
                        type=float,
                        required=True,
                        dest="price_in",
                        help="US dollars per million tokens read",
                    ),
                    argument(
                        "--out",
                        type=float,
                        required=True,
                        dest="price_out",
                        help="US dollars per million tokens written",
                    ),
                    argument(
                        "--cached",
                        type=float,
                        dest="price_cached",
                        help="US dollars per million tokens read from the cache (default: as --in)",
                    ),
                    argument(
                        "--as-of", help="the day of the price, as 2026-11-30 (default: today)"
                    ),
                    argument("--source", default="", help="where the price is published"),
                ),
            ),
            Action("import", "keep the prices of a CSV file", (argument("file", type=Path),)),
            Action(
                "export",
                "write the prices as CSV",
                (
                    argument(
                        "--out", type=Path, help="file to write (default: the standard output)"
                    ),
                ),
            ),
        ),
    )


def _price(workspace: Workspace, parsed: argparse.Namespace) -> None:
    if parsed.action == "list":
        for price in prices.list_prices(workspace):
            cached = "-" if price.price_cached is None else f"{price.price_cached:g}"
            age = f"{price.as_of} ({count_text(price.age_days, 'day')} old"
            age += "; look it up again)" if price.is_old else ")"
            print(
                f"{price.model}\t{price.price_in:g}\t{price.price_out:g}\t{cached}\t{age}\t"
                f"{price.source}"
            )
    elif parsed.action == "set":
        price = Price(
            parsed.model,
            parsed.price_in,
            parsed.price_out,
            _day(parsed.as_of),
            parsed.source,
            parsed.price_cached,
        )
        prices.save_prices(workspace, [price])
        print(f"The price of '{parsed.model}' is saved.")
    elif parsed.action == "import":
        count = prices.import_prices(workspace, parsed.file.name, read(parsed.file))
        print(f"{count_text(count, 'price')} saved.")
    else:
        write(parsed.out, prices.export_prices(workspace))


def _day(text: str | None) -> date:
    if text is None:
        return prices.today()
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise FileError(f"--as-of '{text}' is not a date.", "Write it as 2026-11-30.") from None

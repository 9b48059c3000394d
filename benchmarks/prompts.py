"""The prompts Inkblot would send, for those who ask without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

BANK = Path(__file__).parents[1] / "data" / "banks" / "attitudes_20.csv"


def attitude_prompts(calls: int) -> list[Any]:
    """Messages that put 20 items to calls / 20 numbered personas, in the order of a plan."""
    from core.collect.client import TrialKey
    from core.files.instrument_files import read_instrument
    from core.workflow.respondents import request_for
    from tests.workflow.studies import personas, service

    bank = read_instrument(BANK.name, BANK.read_bytes()).instrument
    person = service("http://127.0.0.1:1/v1")
    keys = [TrialKey(item, bank.formats[0], "en") for item in bank.items]
    return [
        [dict(message) for message in request_for(person, key, context_text=who.text).messages]
        for who in personas(calls // 20)
        for key in keys
    ]

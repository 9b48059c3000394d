"""Bodies, streams and errors of services, from the run to the exported answers and calls.

`variations.yaml` was written by two who had not seen the code that reads replies.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.collect.client import (
    CallFailure,
    Question,
    Reply,
    read_reply,
    status_failure,
    withheld_reply,
)
from core.collect.streams import read_stream
from core.domain.formats import BUILT_IN
from core.domain.instrument import Instrument, Item, Wording
from core.domain.study import Design
from core.files.banks.reading import ImportedBank
from core.workflow.answers import exports
from core.workflow.banks import editing
from core.workflow.designs import studies
from core.workflow.respondents import catalog
from core.workflow.runs import collector, control
from core.workflow.runs.reading import read_reply as read_reply_of
from tests.collect.test_streams import step, stream
from tests.fault_server import FaultServer, Step
from tests.workflow.studies import KEY_VARIABLE, finished, service

FILE = Path(__file__).with_name("variations.yaml")
STATUSES = {
    "answered": {"answered", "answered_with_explanation"},
    "refused": {"refused"},
    "filtered": {"refused"},
    "cut_off": {"truncated"},
    "ambiguous": {"ambiguous"},
    "no_answer": {"no_answer"},
    "error": {"error", ""},
}
FAILURES = {"unknown_model": "not_found"}
"""Words of the file that Inkblot calls otherwise."""


def filled(value: Any, repeat: dict[str, Any]) -> Any:
    """A case with the text that it repeats written out."""
    text = json.dumps(value, ensure_ascii=False)
    long = json.dumps(repeat["text"] * repeat["times"], ensure_ascii=False)[1:-1]
    return json.loads(text.replace(repeat["token"], long))


def load_cases(path: Path = FILE) -> list[dict[str, Any]]:
    cases = yaml.safe_load(path.read_text("utf-8"))
    return [
        filled({k: v for k, v in c.items() if k != "repeat"}, c["repeat"]) if "repeat" in c else c
        for c in cases
    ]


def sent(case: dict[str, Any]) -> Step:
    """The step of a server that sends what the case holds."""
    if "stream" in case:
        return step(stream(*case["stream"]))
    if "reply" in case:
        return Step(content=case["reply"])
    return Step(status=case.get("status", 200), body=case["body"])


BANK = Instrument(
    "one_item",
    "One item",
    (Item("q1", (Wording("en", "Towns should plant more trees."),), "trees"),),
    (BUILT_IN["likert_5"],),
    ("en",),
)


def outcome(workspace, case: dict[str, Any], name: str = "case") -> dict[str, Any]:
    """What a study of one item has of the case in its exports."""
    editing.import_bank(workspace, ImportedBank(BANK))
    with FaultServer(lambda *_: sent(case)) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(KEY_VARIABLE, server.key)
        person = service(
            server.base_url, price_in=1.0, price_out=10.0, stream="stream" in case, at_once=1
        )
        catalog.save(workspace, replace(person, label=name))
        studies.freeze(workspace, Design(name, "one_item", (name,)))
        control.start(workspace, name)
        finished(workspace, name)
    answers = rows(exports.export_tidy(workspace, name))
    answer = (answers or [{}])[0]
    call = rows(exports.calls_csv(workspace, name))[0]
    return {
        "status": answer.get("status", ""),
        "option": answer.get("answer", ""),
        "kind_of_failure": call["outcome"],
        **{
            name: call[name]
            for name in ("reply", "tokens_in", "tokens_out", "cost", "finish_reason")
        },
    }


def read_directly(case: dict[str, Any]) -> dict[str, Any]:
    """The same as the layer reads it, without a study around it."""
    try:
        reply = _reply(case)
    except CallFailure as failure:
        if not failure.filtered:
            return {
                "status": "error",
                "option": "",
                "reply": "",
                "finish_reason": "",
                "kind_of_failure": str(failure.kind),
                "tokens_in": None,
                "tokens_out": None,
                "cost": None,
            }
        reply = withheld_reply(failure)
    (parsed,) = read_reply_of(
        reply, Question(BANK.items, BANK.formats[0], "en", template="standard")
    )
    known = None not in (reply.tokens_in, reply.tokens_out)
    cost = (reply.tokens_in + 10 * reply.tokens_out) / 1e6 if known else None
    return {
        "status": str(parsed.status),
        "option": parsed.option or "",
        "reply": reply.text,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "cost": cost,
        "kind_of_failure": "reply",
        "finish_reason": reply.finish_reason,
    }


def _reply(case: dict[str, Any]) -> Reply:
    if "stream" in case:
        return read_stream(stream(*case["stream"]))
    if "reply" in case:
        return Reply(case["reply"], finish_reason="stop")
    if (status := case.get("status", 200)) >= 300:
        raise status_failure(status, {}, json.dumps(case["body"]).encode())
    return read_reply(case["body"])


def rows(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))


def faults(case: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """In what the exports differ from what is right."""
    return [
        f"{name} is {found[name]!r}, right is {right!r}"
        for name, right in case["right"].items()
        if not any(
            _fits(name, one, found) for one in (right if isinstance(right, list) else [right])
        )
    ]


def _fits(name: str, right: Any, found: dict[str, Any]) -> bool:
    value, is_filtered = found[name], found["finish_reason"] == "content_filter"
    if name == "status":
        return value in STATUSES[right] and (right != "filtered" or is_filtered)
    if name in ("tokens_in", "tokens_out", "cost"):
        return bool(value) and abs(float(value) - float(right)) < 1e-9
    if name == "kind_of_failure":
        return is_filtered if right == "filter" else value == FAILURES.get(right, right)
    return value == str(right)


MISSES = {
    "ref_pt_nao_posso": "no words of Portuguese", "ref_nl_kan_niet": "no words of Dutch",
    "ref_pl_nie_moge": "no words of Polish", "ref_ru_ne_mogu": "no words of Russian",
    "ref_tr_uzgunum": "no words of Turkish", "ref_ko_joesong": "no words of Korean",
    "ref_ar_asif": "no words of Arabic",
    "ref_en_neutral_but_no_pick": "the word neutral is taken for the middle option",
    "mark_unclosed_stop": "reasoning that was not closed has no answer beside it: no_answer",
    "ans_no_text_null": "a reply without any text is no_answer",
    "v2_trap_no_way": "a number after a sentence that denies something else",
    "v2_trap_fr_desole": "a number after a word of refusal that is none",
}  # fmt: skip
"""Variations that are read otherwise, with the reason; all others are read as they are meant."""
CASES = load_cases()


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_variation_is_read_as_it_is_meant(case):
    wrong = faults(case, read_directly(case))
    assert bool(wrong) == (case["name"] in MISSES), wrong


def test_first_variations_of_each_kind_come_to_the_same_in_the_exports(workspace, monkeypatch):
    policy = collector.RetryPolicy(max_attempts=2, base_s=0.001, cap_s=0.01)
    monkeypatch.setattr(collector, "RETRY_POLICY", policy)
    kinds: dict[str, int] = {}
    for number, case in enumerate(CASES):
        kinds[case["kind"]] = kinds.get(case["kind"], 0) + 1
        if kinds[case["kind"]] <= 3 and case["name"] not in MISSES:
            found = outcome(workspace, case, f"case{number}")
            assert faults(case, found) == [], case["name"]
    assert len(kinds) == 7

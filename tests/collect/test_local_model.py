"""The bundled language model, really started and really asked."""

from __future__ import annotations

import asyncio
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import openai
import psutil
import pytest

from core.collect import local_model
from core.collect.client import ChatRequest, Question, Reply
from core.collect.local_model import (
    LocalClient,
    LocalModel,
    find_weights,
    shared_model,
    stop_shared_models,
)
from core.collect.prompts import choices, render
from core.domain.formats import BUILT_IN
from core.domain.instrument import Item, Wording
from core.domain.study import Context, SamplingSettings
from core.errors import CollectionError
from core.files.templates import built_in_templates

pytestmark = pytest.mark.local_model
ROOT = Path(__file__).parents[2]
PROMPT = (
    "You are a person who likes long walks and has a garden with many flowers. "
    "Answer from 1 = strongly disagree to 5 = strongly agree. The sun is {}."
)


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    running = LocalModel()
    running.start(slots=1, cache_prompt=False)
    yield running
    running.stop()


def ask(model: LocalModel, text: str, key: str = "", **extra: object) -> str:
    with openai.OpenAI(base_url=model.base_url, api_key=key or model.key, max_retries=0) as client:
        completion = client.chat.completions.create(
            model=local_model.MODEL_NAME,
            messages=[{"role": "user", "content": text}],
            temperature=0,
            max_tokens=24,
            extra_body=dict(extra),
        )
    return completion.choices[0].message.content or ""


def gone(process_id: int, within: float = 10.0) -> bool:
    until = time.monotonic() + within
    while time.monotonic() < until:
        try:
            if psutil.Process(process_id).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_it_starts_within_fifteen_seconds_and_ends_with_stop() -> None:
    model = LocalModel()
    assert not model.alive
    started = time.monotonic()
    model.start()
    assert time.monotonic() - started < 15
    child = model.process_id
    assert model.alive
    assert child is not None
    model.stop()
    assert not model.alive
    assert (model.base_url, model.key, model.process_id) == ("", "", None)
    assert gone(child)


def test_a_grammar_admits_nothing_but_an_option(model: LocalModel) -> None:
    assert ask(model, PROMPT.format("hot"), grammar="root ::= [1-5]") in {"1", "2", "3", "4", "5"}
    assert ask(model, PROMPT.format("hot"), grammar='root ::= "Agree"') == "Agree"


def answered(asked: tuple[Item, ...], *, first_token: bool = False) -> Reply:
    """The shared service's reply to items of the five-point format, held to its options."""
    likert = BUILT_IN["likert_5"]
    template, words = built_in_templates().templates[0], built_in_templates().replies
    question = Question(asked, likert, "en")
    request = ChatRequest(
        local_model.MODEL_NAME,
        render(question, template, words, context=Context("p", "You like long walks.")),
        SamplingSettings(max_tokens=40),
        question,
        choices=choices(likert, "en"),
        first_token=first_token,
    )

    async def call() -> Reply:
        client = LocalClient("", at_once=1, timeout_s=60)
        try:
            return await client.complete(request)
        finally:
            await client.close()

    return asyncio.run(call())


ITEMS = tuple(
    Item(f"i{n}", (Wording("en", text),))
    for n, text in enumerate(("The sun is hot.", "Ice is cold.", "Rain is dry."), 1)
)


def test_a_block_is_answered_as_a_numbered_list_of_options() -> None:
    try:
        reply = answered(ITEMS)
    finally:
        stop_shared_models()
    lines = reply.text.splitlines()
    assert [line[:3] for line in lines] == ["1. ", "2. ", "3. "]
    assert {line[3:] for line in lines} <= set("12345")


def test_the_first_tokens_chances_come_with_an_answer() -> None:
    try:
        reply = answered(ITEMS[:1], first_token=True)
    finally:
        stop_shared_models()
    assert reply.text in set("12345")
    assert len(reply.first_token) > 1
    assert all(chance.logprob <= 0 for chance in reply.first_token)
    assert 0 < sum(math.exp(chance.logprob) for chance in reply.first_token) <= 1.001
    assert reply.text in {chance.token.strip() for chance in reply.first_token}


def test_without_a_cache_replies_do_not_depend_on_the_order_of_the_calls(
    model: LocalModel,
) -> None:
    prompts = [
        PROMPT.format(word) for word in ("hot", "cold", "near", "far", "old", "young", "red")
    ]
    forwards = {prompt: ask(model, prompt) for prompt in prompts}
    backwards = {prompt: ask(model, prompt) for prompt in reversed(prompts)}
    assert forwards == backwards


def test_a_wrong_key_is_refused_and_not_repeated(model: LocalModel) -> None:
    wrong = "canary-foreign-key"
    with pytest.raises(openai.AuthenticationError) as refusal:
        ask(model, "Hello", key=wrong)
    assert refusal.value.status_code == 401
    assert wrong not in str(refusal.value)
    assert model.key not in str(refusal.value)


def test_the_key_shows_nowhere_outside_the_two_processes(model: LocalModel) -> None:
    assert model.process_id is not None
    child = psutil.Process(model.process_id)
    assert len(model.key) >= 32
    assert not any(model.key in word for word in child.cmdline())
    assert model.key not in str(child.environ())
    assert model.key not in repr(model)


def test_only_this_machine_can_reach_it(model: LocalModel) -> None:
    assert model.process_id is not None
    listening = [
        connection.laddr.ip
        for connection in psutil.Process(model.process_id).net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert listening == ["127.0.0.1"]


def test_the_list_of_models_shows_a_name_and_no_path(model: LocalModel) -> None:
    with openai.OpenAI(base_url=model.base_url, api_key=model.key, max_retries=0) as client:
        names = [listed.id for listed in client.models.list().data]
    assert names == [local_model.MODEL_NAME]


def test_it_ends_when_the_program_that_started_it_is_killed() -> None:
    program = (
        "import time; from core.collect.local_model import LocalModel; model = LocalModel();"
        "model.start(slots=1); print(model.process_id, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert psutil.pid_exists(child)
        parent.kill()
    assert gone(child)


def test_it_ends_with_a_program_that_forgot_to_stop_it() -> None:
    program = (
        "from core.collect.local_model import shared_model;"
        "print(shared_model(slots=1).process_id, flush=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True
    )
    assert gone(int(done.stdout))
    assert done.stderr == b""


def test_one_service_is_shared_and_started_again_after_it_died() -> None:
    try:
        first = shared_model(slots=1)
        child = first.process_id
        assert shared_model(slots=1) is first
        assert first.process_id == child
        assert child is not None
        psutil.Process(child).kill()
        until = time.monotonic() + 10  # its main thread goes before its others
        while first.alive and time.monotonic() < until:
            time.sleep(0.05)
        assert not first.alive
        again = shared_model(slots=1)
        assert again is first
        assert again.alive
        assert again.process_id != child
    finally:
        stop_shared_models()
    assert not first.alive


def test_the_weights_are_found_without_running_their_package() -> None:
    assert find_weights().suffix == ".gguf"
    assert local_model.PACKAGE not in sys.modules


def test_changed_weights_are_refused_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / local_model.PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "Model.gguf").write_bytes(b"GGUF but not ours")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(CollectionError, match=r"Model\.gguf is damaged") as refusal:
        find_weights()
    assert "start.py --setup" in refusal.value.remedy


def test_missing_weights_are_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_model, "PACKAGE", "a_package_nobody_has")
    with pytest.raises(CollectionError, match="not installed") as refusal:
        find_weights()
    assert "start.py --setup" in refusal.value.remedy


def test_a_file_that_is_no_model_gives_the_services_own_words(tmp_path: Path) -> None:
    file = tmp_path / "no_model.gguf"
    file.write_bytes(b"nothing of the kind")
    model = LocalModel()
    with pytest.raises(CollectionError, match=r"did not start\. It said: .*failed to load model"):
        model.start(file)
    assert not model.alive


def test_the_model_is_introduced_honestly() -> None:
    for word in ("English only", "opinions", "coin", "reliability"):
        assert word in local_model.MODEL_NOTE

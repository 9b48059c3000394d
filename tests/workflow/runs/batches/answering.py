"""What a batch service makes of a file of requests, written without Inkblot's own code."""

from __future__ import annotations

import json

from tests.fault_server import default_text


def requests_of(paths):
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def answer(request, text=None, n=0):
    """One line of an output file, as OpenAI's service and vLLM write it."""
    messages = request["body"]["messages"]
    body = {
        "id": f"chatcmpl-{request['custom_id']}-{n}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": f"{request['body']['model']}-snapshot",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": default_text(messages) if text is None else text,
                },
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 1, "total_tokens": 101},
    }
    return {
        "id": f"batch_req_{request['custom_id']}_{n}",
        "custom_id": request["custom_id"],
        "response": {"status_code": 200, "request_id": f"req_{n}", "body": body},
        "error": None,
    }


def rejected(request, status=500, code="server_error"):
    """A line of an error file: the service asked, and failed."""
    body = {"error": {"message": "the engine fell over", "type": code, "code": code}}
    return {
        "id": f"batch_req_{request['custom_id']}",
        "custom_id": request["custom_id"],
        "response": {"status_code": status, "request_id": "req", "body": body},
        "error": None,
    }


def expired(request):
    """A line of an error file: the time was over before the service asked."""
    message = "This request could not be executed before the completion window expired."
    return {
        "id": f"batch_req_{request['custom_id']}",
        "custom_id": request["custom_id"],
        "response": None,
        "error": {"code": "batch_expired", "message": message},
    }


def as_lines(answers):
    return "".join(json.dumps(line) + "\n" for line in answers).encode()

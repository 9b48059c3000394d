"""A service that repeats the header with the key in every place of a reply."""

from __future__ import annotations

import json

from tests.fault_server import Step

PIECE = 5


class Echoes:
    """A script for a FaultServer: one place after the other, again and again.

    `server` is set once the server is there; the header is the one that just arrived. The first
    eleven places are those of a reply, the others those of errors.
    """

    server = None

    def __init__(self, n_places=None):
        self.n_places = n_places  # how many of the places, from the first on; None: all

    def __call__(self, number, _body):
        said = self.server.requests[-1].headers.get("Authorization", "nothing")
        steps = self.steps(said)[: self.n_places]
        return steps[number % len(steps)]

    def steps(self, said):
        headers = {"X-Echo": said, "Set-Cookie": f"key={said.split()[-1]}", "X-Request-Id": said}
        pieces = [said[start : start + PIECE] for start in range(0, len(said), PIECE)]
        return (
            Step(content=f"3 {said}", headers=headers, reason=f"OK {said}"),
            _message({"content": None, "refusal": f"I cannot, {said}."}),
            _message({"content": "3", "reasoning_content": said, "reasoning": said}),
            _message({"content": None, "tool_calls": [_call(said)]}, finish_reason="tool_calls"),
            _message({"content": None, "function_call": _call(said)["function"]}),
            _message({"content": said}, logprobs={"content": [_token(said)]}),
            _message({"content": said}, logprobs={"content": [_token(p) for p in pieces]}),
            _message({"content": "3"}, logprobs={"content": [_token("3", _tokens(pieces))]}),
            _message({"content": [{"type": "text", "text": piece} for piece in pieces]}),
            _message({"content": "3"}, finish_reason=said, model=said, id=said, usage=said),
            _message({"content": "3"}, error={"message": said, "code": said}),
            Step(body={"error": {"message": f"Unlike {said}", "code": said}}),
            Step(status=500, body={"error": {"message": "x" * 280 + said}}, headers=headers),
            Step(status=400, body={"error": {"message": said, "param": said}}, headers=headers),
            Step(status=429, body=said.encode(), headers={"Retry-After": "0.01", **headers}),
            Step(status=307, headers={"Location": f"https://{said.split()[-1]}.example/"}),
            Step(body=b'{"choices": [{"message": {"content": "' + said.encode()),
            Step(body=f"<p>{said}"),
            Step(body={"data": said, said: said}),
            Step(content=said, cut=True),
        )


def _message(message, *, finish_reason="stop", logprobs=None, error=None, **more):
    choice = {"message": {"role": "assistant", **message}, "finish_reason": finish_reason}
    extra = {"logprobs": logprobs, "error": error}
    choice |= {name: value for name, value in extra.items() if value is not None}
    return Step(extra={"choices": [choice], **more})


def _call(said):
    arguments = json.dumps({"header": said, "escaped": said.replace("-", "\\u002d")})
    return {"id": said, "type": "function", "function": {"name": said, "arguments": arguments}}


def _token(text, others=None):
    entry = {"token": text, "logprob": -0.1, "bytes": [*text.encode()]}
    return {**entry, "top_logprobs": others or [entry, {**entry, "token": "4"}]}


def _tokens(pieces):
    return [{"token": piece, "logprob": -0.1, "bytes": [*piece.encode()]} for piece in pieces]

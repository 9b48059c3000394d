"""The bundled language model as a small web service of this machine only, in a process of its own.

Started by core/collect/local_model.py as `python -m core.collect.local_model_server`. The first
line of standard input holds the settings and the key, as JSON, so that neither shows in the list
of processes; the first line of standard output gives the address. The process ends when its
standard input closes, which also happens when the program that started it is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from typing import Any

TOKENS_PER_SLOT = 2048  # the longest text the bundled model was trained on
WARNINGS_ONLY = 2  # llama.cpp's level; the next one writes eight lines for every call


def main() -> None:
    """Serve until standard input closes."""
    # Ctrl-C reaches every process of a terminal; the program that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settings = json.loads(sys.stdin.buffer.readline())
    closed = threading.Event()
    threading.Thread(target=_wait_for_end_of_input, args=(closed,), daemon=True).start()
    try:
        server = serve(settings)
    except RuntimeError as error:  # xllamacpp's word for a file that is no model, or no memory
        sys.exit(str(error))
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    closed.wait()
    # The service's own shutdown waits for replies that nobody will read.
    os._exit(0)


def serve(settings: Mapping[str, Any]) -> Any:
    """A running xllamacpp.Server with these settings; it stops when it is garbage collected."""
    # Only here: loading this library takes memory that the app never needs.
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings["weights"]
    parameters.model_alias = {settings["name"]}  # else /v1/models shows the path of the file
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # any free one
    parameters.api_keys = [settings["key"]]
    parameters.cors_origins = ""  # no web page may call it
    parameters.ui = False
    parameters.endpoint_slots = False  # it would show the prompts being worked on
    parameters.offline = True
    parameters.verbosity = WARNINGS_ONLY
    parameters.n_parallel = settings["slots"]
    parameters.n_ctx = TOKENS_PER_SLOT * settings["slots"]
    parameters.cache_ram_mib = 0
    parameters.cache_idle_slots = False
    parameters.cache_prompt = settings["cache_prompt"]
    parameters.cpuparams.n_threads = _cores()
    parameters.cpuparams_batch.n_threads = _cores()
    # Threads that wait by spinning halve the speed as soon as anything else wants a core.
    parameters.cpuparams.poll = 0
    parameters.cpuparams_batch.poll = 0
    return xllamacpp.Server(parameters)


def _wait_for_end_of_input(closed: threading.Event) -> None:
    # os.read, not sys.stdin: a buffered stream that a thread reads cannot be closed at exit.
    while os.read(0, 1):
        pass
    closed.set()


def _cores() -> int:
    """Processors this process may use, which a container can make fewer than there are."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


if __name__ == "__main__":
    main()

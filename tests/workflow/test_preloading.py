"""What a new process loads, and when."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SLOW = ("scipy.stats", "statsmodels", "altair", "ibis", "openai", "aiohttp")


def loaded(code, then="pass"):
    """Which of the slow packages a new process has loaded after some code, and after more."""
    ending = f"import sys; print([name for name in {SLOW} if name in sys.modules])"
    ending = f"{ending}\n{then}\n{ending}"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{ending}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "could not be loaded" not in done.stderr
    return done.stdout.strip().splitlines()[-2:]


def test_home_and_the_side_of_every_page_need_no_slow_package():
    code = "import app\n" + "\n".join(
        line
        for line in (ROOT / "pages" / "home.py").read_text().splitlines()
        if line.startswith(("import", "from"))
    )
    assert loaded(code) == ["[]", "[]"]


def test_none_of_them_is_loaded_before_the_first_page_is_drawn_and_all_of_them_after_it():
    begin = "from core.workflow import preloading; thread = preloading.start(); thread.join(3)"
    drawn = "preloading.first_page_is_drawn(); thread.join()"
    assert loaded(begin, drawn) == ["[]", str(list(SLOW))]


def test_the_side_of_a_page_says_that_the_page_is_drawn():
    source = (ROOT / "pages" / "shared" / "navigation.py").read_text()
    assert source.index("chosen.run()") < source.index("preloading.first_page_is_drawn()")


def test_the_server_begins_to_load_before_it_serves():
    source = (ROOT / "pages" / "shared" / "serving.py").read_text()
    assert source.index("preloading.start()") < source.index("yield {}")


def test_what_is_loaded_is_left_out_when_garbage_is_collected():
    """Streamlit collects after every page, which took 150 ms with all packages."""
    begin = "from core.workflow import preloading; thread = preloading.start()"
    drawn = "preloading.first_page_is_drawn(); thread.join()"
    counts = "import gc; print(len(gc.get_objects()) * 20 < gc.get_freeze_count())"
    assert loaded(begin, f"{drawn}; {counts}")[0] == "True"

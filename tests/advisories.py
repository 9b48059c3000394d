"""Known faults of the pinned packages: `make advisories`, also without a network.

The Open Source Vulnerabilities database publishes all advisories about Python packages as one zip
(https://osv.dev, file PyPI/all.zip). It is fetched when there is a network and kept under build/;
without one, the copy of last time is used, and its age is said.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parents[1]
SOURCE = "https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip"
KEPT = ROOT / "build" / "advisories.zip"
LOCKS = (
    "requirements.txt",
    "requirements-first.txt",
    "requirements-dev.txt",
    "requirements-lab.txt",
)
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
_TIMEOUT_S = 60


@dataclass(frozen=True)
class Advisory:
    """A known fault of a pinned package, and the versions that are without it."""

    package: str
    version: str
    name: str
    summary: str
    fixed_in: tuple[str, ...]


def pinned(locks: Sequence[Path]) -> dict[str, str]:
    """The version of every package in the locks."""
    found: dict[str, str] = {}
    for lock in locks:
        for name, version in _PINNED.findall(lock.read_text(encoding="utf-8")):
            found[canonicalize_name(name)] = version
    return found


def advisories(database: Path, packages: Mapping[str, str]) -> list[Advisory]:
    """The advisories of the database that are about the packages in these versions."""
    found = []
    with zipfile.ZipFile(database) as archive:
        for file in archive.namelist():
            record = json.loads(archive.read(file))
            if not record.get("withdrawn"):
                found += _of_record(record, packages)
    return sorted(found, key=lambda one: (one.package, one.name))


def _of_record(record: Mapping[str, Any], packages: Mapping[str, str]) -> Iterator[Advisory]:
    for affected in record.get("affected", ()):
        about = affected.get("package", {})
        name = canonicalize_name(about.get("name", ""))
        version = packages.get(name)
        if about.get("ecosystem") != "PyPI" or version is None:
            continue
        ranges = [one for one in affected.get("ranges", ()) if one.get("type") == "ECOSYSTEM"]
        if version in affected.get("versions", ()) or any(_is_in(version, one) for one in ranges):
            fixed = [e["fixed"] for one in ranges for e in one["events"] if "fixed" in e]
            summary = record.get("summary") or record.get("details", "")[:100]
            yield Advisory(name, version, record["id"], " ".join(summary.split()), tuple(fixed))


def _is_in(version: str, one: Mapping[str, Any]) -> bool:
    """Whether a version lies in a range: events in order switch it on and off."""
    here, inside = Version(version), False
    for event in one["events"]:
        (kind, text), *_ = event.items()
        try:
            place = Version(text)
        except InvalidVersion:
            continue
        if kind == "introduced" and here >= place:
            inside = True
        elif (kind == "fixed" and here >= place) or (kind == "last_affected" and here > place):
            inside = False
    return inside


def fetch(source: str, kept: Path) -> str:
    """Fetch the database; what happened, in words. A copy that is there stays if that fails."""
    part = kept.with_suffix(".part")
    kept.parent.mkdir(parents=True, exist_ok=True)
    try:
        with urllib.request.urlopen(source, timeout=_TIMEOUT_S) as reply:
            part.write_bytes(reply.read())
        zipfile.ZipFile(part).close()
        part.replace(kept)
    except (OSError, zipfile.BadZipFile) as error:
        part.unlink(missing_ok=True)
        return f"The advisories could not be fetched ({error})."
    return "The advisories were fetched now."


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is known; 0 where nothing is, 1 where something is, 2 without a database."""
    parser = argparse.ArgumentParser(prog="python -m tests.advisories", description=__doc__)
    parser.add_argument("--source", default=SOURCE, help="address of the database")
    parser.add_argument("--kept", type=Path, default=KEPT, help="where it is kept")
    parser.add_argument("--offline", action="store_true", help="fetch nothing")
    asked = parser.parse_args(arguments)
    if not asked.offline:
        print(fetch(asked.source, asked.kept))  # noqa: T201
    if not asked.kept.exists():
        said = f"There is no copy at {asked.kept}. Run it once with a network."
        print(said, file=sys.stderr)  # noqa: T201
        return 2
    age = datetime.now(UTC) - datetime.fromtimestamp(asked.kept.stat().st_mtime, UTC)
    packages = pinned([ROOT / name for name in LOCKS])
    found = advisories(asked.kept, packages)
    lines = [
        f"{len(packages)} pinned packages, {len(found)} known faults; the advisories are "
        f"{age.days} days old."
    ]
    for one in found:
        mended = f"; mended in {', '.join(one.fixed_in)}" if one.fixed_in else ""
        lines.append(f"{one.package} {one.version}: {one.name} {one.summary}{mended}")
    print("\n".join(lines))  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Writing files so that each is there whole, or as it was before."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write all files, or none: each is written as a draft beside its place and then moved there.

    Raises
    ------
    OSError
        A file cannot be written. No draft is left, and no file is changed.
    """
    drafts: dict[Path, Path] = {}
    try:
        for file, data in files.items():
            place = file.resolve()  # of a link: what it points to
            if place.exists() and not place.is_file():  # a device, such as /dev/stdout
                file.write_bytes(data)
                continue
            draft = place.with_name(f".{place.name}.part")  # a killed process leaves it to the next
            drafts[draft] = place
            draft.write_bytes(data)
            if place.exists():
                shutil.copymode(place, draft)
        for draft, place in drafts.items():
            draft.replace(place)
    finally:
        for draft in drafts:
            with suppress(OSError):
                draft.unlink(missing_ok=True)

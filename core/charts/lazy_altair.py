"""altair, loaded when a chart is drawn: commands and workers, which draw none, start without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from altair import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        import altair

        return getattr(altair, name)

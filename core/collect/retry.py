"""How long to wait before a call is tried again, and when to give up."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from core.collect.client import RETRIED, CallFailure


@dataclass(frozen=True)
class RetryPolicy:
    """Exponential waiting with full jitter, never shorter than the service asked for."""

    max_attempts: int = 6
    base_s: float = 1.0
    cap_s: float = 60.0
    retry_after_cap_s: float = 600.0

    def wait_s(self, attempt_number: int, failure: CallFailure, random: Random) -> float | None:
        """Seconds to wait after the `attempt_number`-th try (1, 2, ...); None means give up."""
        if failure.kind not in RETRIED or attempt_number >= self.max_attempts:
            return None
        asked = failure.retry_after_s
        if asked is None:
            return random.uniform(0.0, self._longest(attempt_number))
        if asked > self.retry_after_cap_s:
            return None
        # Calls that were told the same moment would otherwise all come back in it.
        return asked + random.uniform(0.0, min(self.base_s, self.cap_s))

    def _longest(self, attempt_number: int) -> float:
        # Beyond 2 ** 40 the cap has long been reached, and a float would overflow in the end.
        return min(self.cap_s, self.base_s * 2.0 ** min(attempt_number - 1, 40))

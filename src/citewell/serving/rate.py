"""How many requests one caller may make in a minute."""

from __future__ import annotations

import math
import time
from collections import OrderedDict

from citewell.serving.problems import TooBusy

MINUTE_S = 60.0
MAX_CALLERS = 10_000


class Rate:
    """A bucket for each caller, in this process: full at first, emptied by requests, filled evenly in a minute."""

    def __init__(self, per_minute: int) -> None:
        """0 sets no limit."""
        self._per_minute = per_minute
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, caller: str) -> None:
        """One request more.

        Raises:
            TooBusy: it is one too many; it says when the next may come.
        """
        if not self._per_minute:
            return
        now, whole = time.monotonic(), float(self._per_minute)
        left, since = self._buckets.pop(caller, (whole, now))
        left = min(whole, left + (now - since) * whole / MINUTE_S)
        self._buckets[caller] = (left - 1 if left >= 1 else left, now)
        if len(self._buckets) > MAX_CALLERS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) * MINUTE_S / whole)
            raise TooBusy(
                f"More than {self._per_minute} requests in a minute.",
                remedy=f"Wait {wait} s.",
                retry_after=wait,
            )

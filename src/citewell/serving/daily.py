"""What is done once a day for as long as the service runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from citewell.serving.problems import log_failure

log = logging.getLogger("citewell.serving")

DAY_S = 86_400.0


async def daily(what: str, work: Callable[[], object]) -> None:
    """Do `work` a day from now, and each day after, in a thread; until the task is cancelled."""
    while True:
        await asyncio.sleep(DAY_S)
        try:
            await asyncio.to_thread(work)
        except Exception as error:  # noqa: BLE001 - a full disk, say; tomorrow it may go well
            log_failure(log, what, error)

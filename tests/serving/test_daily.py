"""What is done once a day while the service runs."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from citewell.errors import Refused
from citewell.serving import daily
from citewell.serving.app import create_app
from tests.clock import at
from tests.serving.conftest import settings_at
from tests.serving.served import serving


def test_conversations_expire_while_the_service_runs(
    built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daily, "DAY_S", 0.05)
    with serving(create_app(built / "index", settings_at(tmp_path, conversation_days=7))) as served:
        client = served.client("ann")
        talk = client.post("/v1/conversations").json()["conversation"]
        time.sleep(0.2)
        assert client.get(f"/v1/conversations/{talk}").status_code == 200
        with at(datetime.now(UTC) + timedelta(days=8)):
            while client.get(f"/v1/conversations/{talk}").status_code == 200:
                time.sleep(0.02)


def test_what_fails_is_tried_again_the_next_day(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(daily, "DAY_S", 0.001)
    tried = list[int]()

    async def three_days() -> None:
        enough = asyncio.Event()
        loop = asyncio.get_running_loop()

        def work() -> None:
            tried.append(len(tried))
            if len(tried) == 3:
                loop.call_soon_threadsafe(enough.set)
            raise Refused("Another process is using it.", remedy="Try again.")

        task = asyncio.create_task(daily.daily("conversations", work))
        await enough.wait()
        task.cancel()
        await asyncio.wait([task])

    asyncio.run(three_days())
    assert tried[:3] == [0, 1, 2]
    assert "conversations: Refused: Another process is using it." in caplog.text

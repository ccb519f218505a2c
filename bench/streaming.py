"""What our streaming adds to the bare client: the time to the first piece, from the same scripted endpoint.

    python bench/streaming.py

The endpoint is on this machine and answers at once, so what is measured is the work of the clients alone. The two take
turns; a ratio of two medians on a busy machine is worth more than either.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from openai import OpenAI

from citewell.models.chat import Chat
from citewell.models.llm import Prompt
from citewell.models.openai_compatible import OpenAICompatible

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.models.scripted_chat_server import EVENTS, ScriptedReply, openai_events, serving

REQUESTS = 50
WARM_UP = 3
PROMPT = Prompt("Answer from the passages.", "word " * 2_000, max_tokens=200)
PIECES = [f"word{number} " for number in range(20)]


def ours(url: str) -> float:
    """Seconds until the first piece."""
    begin = time.perf_counter()
    with Chat(OpenAICompatible("m", url)).stream(PROMPT) as pieces:
        next(pieces)
        return time.perf_counter() - begin


def bare(client: OpenAI) -> float:
    """The same by the client of the protocol's makers, which keeps its connections."""
    begin = time.perf_counter()
    with client.chat.completions.create(
        model="m",
        messages=[{"role": "system", "content": PROMPT.system}, {"role": "user", "content": PROMPT.user}],
        max_tokens=PROMPT.max_tokens,
        temperature=0,
        stream=True,
    ) as events:
        next(iter(events))
        return time.perf_counter() - begin


def main() -> None:
    with serving() as server:
        server.give(ScriptedReply(openai_events(*PIECES), headers=EVENTS))
        client = OpenAI(base_url=server.url, api_key="none", max_retries=0)
        ways: dict[str, Callable[[], float]] = {"bare": lambda: bare(client), "ours": lambda: ours(server.url)}
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(REQUESTS + WARM_UP):
            for name, way in ways.items():
                seconds = way()
                if turn >= WARM_UP:
                    taken[name].append(seconds)
    middle = {name: 1000 * median(seconds) for name, seconds in taken.items()}
    print(f"{REQUESTS} requests each, time to the first piece, p50")
    print(f"bare client {middle['bare']:.1f} ms, ours {middle['ours']:.1f} ms")
    print(f"ratio {middle['ours'] / middle['bare']:.1f}, more by {middle['ours'] - middle['bare']:.1f} ms")


if __name__ == "__main__":
    main()

"""An answer as a chat completion, whole or in chunks. The content of both is the checked answer, made harmless."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from citewell.security.neutral import neutralised
from citewell.serving.compatible.model import MODEL
from citewell.shapes import Shape


@dataclass(frozen=True, slots=True)
class Piece:
    """One sentence of the text with its marks, and where these stand: (start, end, number of the citation)."""

    text: str
    marks: tuple[tuple[int, int, int], ...] = ()


def pieces(answer: Shape) -> list[Piece]:
    """The text of `answer`, as `ask_shape` gives it, sentence by sentence.

    Chat clients draw Markdown: what is not ours in it links to nothing and loads nothing (`security.neutral`).
    """
    text, end, length, made = answer["answer"], 0, 0, list[Piece]()
    ours = [citation["link"] for citation in answer["citations"]]
    quotes = [citation["quote"] for citation in answer["citations"]]
    for sentence in answer["sentences"]:
        brackets = [f"[{n}]" for n in sentence["citations"]]
        begin = text.find(f"{sentence['text']} {''.join(brackets)}", end)
        if begin < 0:
            continue  # it stands there in other words: it goes with what follows
        stop = begin + len(sentence["text"]) + 1
        said = neutralised(text[end:stop], ours, quotes)
        marks, at = [], length + len(said)
        for n, bracket in zip(sentence["citations"], brackets, strict=True):
            marks.append((at, at + len(bracket), n))
            at += len(bracket)
        made.append(Piece(said + "".join(brackets), tuple(marks)))
        end, length = stop + len("".join(brackets)), at
    return [*made, Piece(neutralised(text[end:], ours, quotes))] if end < len(text) else made


def url_citations(answer: Shape) -> list[Shape]:
    """OpenAI's `url_citation` for each mark in the text, with our citation beside it."""
    cited = {citation["n"]: citation for citation in answer["citations"]}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": start,
                "end_index": end,
                "title": cited[n]["title"],
                "url": cited[n]["link"],
            },
            "citewell": cited[n],
        }
        for piece in pieces(answer)
        for start, end, n in piece.marks
        if n in cited
    ]


def completion(answer: Shape, request_id: str, created: int) -> Shape:
    """The answer that `ask_shape` gives, as one `chat.completion`."""
    content = "".join(piece.text for piece in pieces(answer))
    message = {"role": "assistant", "content": content, "refusal": None, **_sources(answer)}
    return {
        "id": f"chatcmpl-{request_id}",
        "object": "chat.completion",
        "created": created,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": _usage(answer),
    }


@dataclass(frozen=True, slots=True)
class Chunks:
    """The chunks of one completion."""

    request_id: str
    created: int
    with_usage: bool

    def begin(self) -> Shape:
        return self._chunk({"role": "assistant", "content": ""})

    def alive(self) -> Shape:
        """Nothing new yet."""
        return self._chunk({"content": ""})

    def rest(self, answer: Shape) -> Iterator[Shape]:
        """The checked answer and its citations."""
        for piece in pieces(answer):
            yield self._chunk({"content": piece.text})
        yield self._chunk(_sources(answer))
        yield self._chunk({}, "stop")
        if self.with_usage:
            yield {**self._chunk({}), "choices": [], "usage": _usage(answer)}

    def _chunk(self, delta: Shape, finished: str | None = None) -> Shape:
        return {
            "id": f"chatcmpl-{self.request_id}",
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": MODEL,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finished}],
        }


def _sources(answer: Shape) -> Shape:
    told = {key: answer[key] for key in ("abstained", "reason", "warnings", "searched")}
    return {"annotations": url_citations(answer), "citewell": told}


def _usage(answer: Shape) -> Shape:
    prompt, written = answer["usage"]["prompt_tokens"], answer["usage"]["completion_tokens"]
    return {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}

"""The JSON shapes, version 1, as plain dictionaries: what `--json` prints. docs/json.md describes every key.

Keys may be added, none is renamed or removed within a version. All numbers are finite.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from citewell.errors import CitewellError
from citewell.types import (
    Answer,
    Chunk,
    Citation,
    Document,
    ElementKind,
    FieldValue,
    FileReport,
    Floor,
    Hit,
    IndexReport,
    KeptBack,
    Page,
    PageState,
    Receipt,
    Status,
    Step,
    Usage,
    Version,
)

VERSION = 1

Shape = dict[str, Any]


Kept = tuple[Version, date | None]
"""A version, and the day until which it can be brought back if it is only kept."""


def index_shape(report: IndexReport, error: CitewellError | None = None) -> Shape:
    """`error` is what stopped the run."""
    return {
        "version": VERSION,
        "files": [_file(file) for file in report.files],
        "embedded": report.embedded,
        "seconds": report.seconds,
        "ignored": report.ignored,
        "usage": _usage(report.usage),
        "warnings": list(report.warnings),
        **({"error": _error(type(error).__name__, error.message, error.remedy)} if error is not None else {}),
    }


def search_shape(query: str, hits: Sequence[Hit]) -> Shape:
    return {"version": VERSION, "query": query, "hits": [hit_shape(hit) for hit in hits]}


def ask_shape(answer: Answer) -> Shape:
    return {
        "version": VERSION,
        "question": answer.question,
        "answer": answer.text,
        "abstained": answer.abstained,
        "reason": answer.reason,
        "sentences": [{"text": item.text, "citations": list(item.citations)} for item in answer.sentences],
        "citations": [citation_shape(citation) for citation in answer.citations],
        "hits": [hit_shape(hit) for hit in answer.hits],
        "warnings": list(answer.warnings),
        "usage": _usage(answer.usage),
        "searched": list(answer.searched),
        "decisions": list(answer.decisions),
        "trace": [step_shape(step) for step in answer.trace],
        "kept_back": [_kept_back(each) for each in answer.kept_back],
        "floor": _floor(answer.floor) if answer.floor is not None else None,
    }


def hit_shape(hit: Hit) -> Shape:
    return {
        "rank": hit.rank,
        **_passage(hit.chunk),
        "score": hit.score,
        "scale": hit.scale.value,
        "lists": dict(hit.lists),
        "parent": hit.parent.id if hit.parent is not None else None,
        "alike": [chunk.id for chunk in hit.alike],
    }


def _kept_back(back: KeptBack) -> Shape:
    """Where it stands, and no text: it is not what the question asks for."""
    place = {key: value for key, value in _passage(back.hit.chunk).items() if key != "text"}
    evidence = back.evidence if math.isfinite(back.evidence) else None
    return {**place, "query": back.query, "cosine": back.hit.cosine, "evidence": evidence, "why": back.why}


def _floor(floor: Floor) -> Shape:
    return {"least": floor.least, "origin": floor.origin.value, "made": _iso(floor.made)}


def _usage(usage: Usage) -> Shape:
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cost_usd": usage.cost_usd,
    }


def citation_shape(citation: Citation) -> Shape:
    return {
        "n": citation.n,
        "chunk": citation.chunk_id,
        "document": citation.document_id,
        "title": citation.title,
        "source": citation.source,
        "section": citation.section,
        "page": citation.page,
        "page_number": citation.page_number,
        "quote": citation.quote,
        "start": citation.start,
        "end": citation.end,
        "link": citation.link,
    }


def documents_shape(documents: Sequence[Document]) -> Shape:
    return {"version": VERSION, "documents": [_document(document) for document in documents]}


def document_shape(document: Document, chunks: int) -> Shape:
    headings = [element for element in document.elements if element.kind is ElementKind.HEADING]
    return {
        "version": VERSION,
        "kind": "document",
        **_document(document),
        "characters": len(document.text),
        "chunks": chunks,
        "pages": _page_counts(Counter(page.state for page in document.pages)),
        "page_problems": [page_shape(page) for page in document.pages if page.state is not PageState.TEXT],
        "confidence": _confidence(document),
        "metadata": dict(document.metadata),
        "links": list(dict.fromkeys(link for element in document.elements for link in element.links)),
        "outline": [
            {"text": document.text[item.start : item.end], "depth": len(item.heading_path), "page_number": item.page}
            for item in headings
        ],
    }


def chunk_shape(chunk: Chunk) -> Shape:
    return {
        "version": VERSION,
        "kind": "chunk",
        **_passage(chunk),
        "preamble": chunk.preamble,
        "parent": chunk.parent_id,
        "groups": sorted(chunk.rights.groups),
    }


def status_shape(status: Status) -> Shape:
    return {
        "version": VERSION,
        "path": status.path,
        "documents": status.documents,
        "chunks": status.chunks,
        "entries": status.entries,
        "embedder": status.embedder,
        "analyser": status.analyser,
        "generation": status.generation,
        "created": status.created,
        "bytes_on_disk": status.bytes_on_disk,
        "floor": _floor(status.floor),
        "past_versions": status.past_versions,
        "sparse": status.sparse or None,
        "drift": [
            {
                "setting": one.setting,
                "was": one.was,
                "now": one.now,
                "documents": one.documents,
                "remedy": one.remedy,
            }
            for one in status.drift
        ],
    }


def receipt_shape(receipt: Receipt) -> Shape:
    return {
        "version": VERSION,
        "deleted": receipt.removed[0].source,
        "purged": receipt.purged,
        "kept_until": _iso(receipt.kept_until),
        "removed": [
            {
                "document": removed.document_id,
                "source": removed.source,
                "versions": list(removed.versions),
                "parts": dict(removed.parts),
            }
            for removed in receipt.removed
        ],
    }


def history_shape(versions: Iterable[Kept]) -> Shape:
    return {"version": VERSION, "versions": [version_shape(*kept) for kept in versions]}


def states_shape(states: Mapping[str, datetime], deleted: Iterable[Kept]) -> Shape:
    return {
        "version": VERSION,
        "states": [_state(name, at) for name, at in states.items()],
        "deleted": [version_shape(*kept) for kept in deleted],
    }


def state_shape(name: str, at: datetime) -> Shape:
    return {"version": VERSION, "state": _state(name, at)}


def rollback_shape(restored: int | None, now: Sequence[Version]) -> Shape:
    """`restored` is the number of the version that came back as `now`, with what lies in it; None of a folder."""
    first, inside = (None, now) if restored is None else (version_shape(now[0], None), now[1:])
    return {
        "version": VERSION,
        "restored": restored,
        "now": first,
        "with_it": [version_shape(one, None) for one in inside],
    }


def rollback_to_shape(state: str, files: Sequence[FileReport]) -> Shape:
    return {"version": VERSION, "state": state, "files": [_file(file) for file in files]}


def version_shape(version: Version, kept_until: date | None) -> Shape:
    return {
        "document": version.document_id,
        "number": version.number,
        "source": version.source,
        "title": version.title,
        "document_version": version.label,
        "content_hash": version.content_hash,
        "groups": sorted(version.rights.groups),
        "indexed_at": version.indexed_at.isoformat(),
        "valid_from": _iso(version.valid_from),
        "valid_to": _iso(version.valid_to),
        "in_force_from": _iso(version.in_force_from),
        "in_force_to": _iso(version.in_force_to),
        "current": version.current,
        "searchable": version.searchable,
        "ended_at": _iso(version.ended_at),
        "ending": version.ending.value if version.ending else None,
        "kept_until": _iso(kept_until),
    }


def error_shape(kind: str, message: str, remedy: str) -> Shape:
    return {"version": VERSION, "error": _error(kind, message, remedy)}


def _error(kind: str, message: str, remedy: str) -> Shape:
    return {"kind": kind, "message": message, "remedy": remedy}


def _state(name: str, at: datetime) -> Shape:
    return {"name": name, "at": at.isoformat()}


def _file(file: FileReport) -> Shape:
    return {
        "source": file.source,
        "state": file.state.value,
        "reason": file.reason,
        "chunks": file.chunks,
        "pages": _page_counts(file.pages),
        "warnings": list(file.warnings),
    }


def _page_counts(counts: Mapping[PageState, int]) -> dict[str, int]:
    return {state.value: counts.get(state, 0) for state in PageState}


def page_shape(page: Page) -> Shape:
    return {
        "number": page.number,
        "label": page.label,
        "state": page.state.value,
        "reason": page.reason,
        "confidence": page.confidence,
    }


def _confidence(document: Document) -> float | None:
    """The mean over the pages that OCR read; None where it read none."""
    read = [page.confidence for page in document.pages if page.confidence is not None]
    return round(sum(read) / len(read), 3) if read else None


def step_shape(step: Step) -> Shape:
    return {"step": step.name, "ms": step.ms, "in": step.count_in, "out": step.count_out}


def _passage(chunk: Chunk) -> Shape:
    number, label = chunk.pages[0] if chunk.pages else (None, "")
    return {
        "chunk": chunk.id,
        "document": chunk.document_id,
        "title": chunk.title,
        "source": chunk.source,
        "section": chunk.section,
        "page": label,
        "page_number": number,
        "start": chunk.start,
        "end": chunk.end,
        "text": chunk.text,
    }


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day is not None else None


def _field(value: FieldValue) -> str | float | list[str]:
    if isinstance(value, date):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def _document(document: Document) -> Shape:
    return {
        "document": document.id,
        "title": document.title,
        "source": document.source,
        "document_version": document.version,
        "number": document.number,
        "indexed_at": _iso(document.indexed_at),
        "valid_from": _iso(document.valid_from),
        "valid_to": _iso(document.valid_to),
        "expires": _iso(document.expires),
        "fields": {name: _field(value) for name, value in document.fields.items()},
        "language": document.language,
        "trust": document.trust.value,
        "groups": sorted(document.rights.groups),
        "parent": document.parent_id,
        "lost": document.lost,
    }

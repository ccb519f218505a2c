"""Examples of good answers, for the OpenAPI schema."""

from __future__ import annotations

from citewell.shapes import VERSION, Shape

_PLACE: Shape = {
    "document": "5d0f3a4c9be1a7f2",
    "title": "Fraud Policy Manual 2026",
    "source": "file:///srv/manuals/manual-2026.pdf",
    "section": "4 Card payments > 4.2 Time limits for disputes",
    "page": "37",
    "page_number": 41,
}
_QUOTE = "A customer has 120 days from the transaction date to dispute a card payment."
_QUESTION = "How many days does a customer have to dispute a card payment?"

HIT: Shape = {
    "rank": 1,
    "chunk": "5d0f3a4c9be1a7f2-12",
    **_PLACE,
    "start": 81234,
    "end": 81990,
    "text": _QUOTE,
    "score": 0.8125,
    "scale": "convex",
    "lists": {"dense": 2, "keyword": 1, "maxsim": 1},
    "parent": None,
    "alike": [],
}
SEARCH: Shape = {"version": VERSION, "query": "time limit for disputes", "hits": [HIT]}
STEP: Shape = {"step": "dense", "ms": 1.5, "in": 1, "out": 100}
USAGE: Shape = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
ANSWER: Shape = {
    "version": VERSION,
    "question": _QUESTION,
    "answer": f"{_QUOTE} [1]",
    "abstained": False,
    "reason": "",
    "sentences": [{"text": _QUOTE, "citations": [1]}],
    "citations": [
        {
            "n": 1,
            "chunk": "5d0f3a4c9be1a7f2-12",
            **_PLACE,
            "quote": _QUOTE,
            "start": 81301,
            "end": 81378,
            "link": "file:///srv/manuals/manual-2026.pdf#page=41",
        }
    ],
    "hits": [HIT],
    "warnings": [],
    "usage": USAGE,
    "searched": [_QUESTION],
    "decisions": [],
    "trace": [STEP],
    "kept_back": [],
    "floor": {"least": 0.4, "origin": "built-in", "made": None},
}
DOCUMENT: Shape = {
    "document": "5d0f3a4c9be1a7f2",
    "title": "Fraud Policy Manual 2026",
    "source": "file:///srv/manuals/manual-2026.pdf",
    "document_version": "2026",
    "number": 2,
    "indexed_at": "2026-02-03T04:05:06.789000+00:00",
    "valid_from": "2026-01-01",
    "valid_to": None,
    "expires": None,
    "fields": {"department": "fraud"},
    "language": "en",
    "trust": "approved",
    "groups": ["fraud_team"],
    "parent": None,
    "lost": "",
}
DOCUMENTS: Shape = {"version": VERSION, "documents": [DOCUMENT], "total": 1, "offset": 0}
PAGES: Shape = {"text": 118, "ocr": 1, "blank": 1, "failed": 0, "suspicious": 0, "skipped": 0}
PAGE_PROBLEM: Shape = {"number": 7, "label": "3", "state": "ocr", "reason": "It is a picture.", "confidence": None}
WHOLE: Shape = {
    "version": VERSION,
    "kind": "document",
    **DOCUMENT,
    "characters": 340123,
    "chunks": 410,
    "pages": PAGES,
    "page_problems": [PAGE_PROBLEM],
    "confidence": 0.97,
    "metadata": {"author": "Fraud team"},
    "links": [],
    "outline": [{"text": "4 Cards", "depth": 1, "page_number": 39}],
}
TEXT: Shape = {
    "version": VERSION,
    "document": "5d0f3a4c9be1a7f2",
    "title": "Fraud Policy Manual 2026",
    "number": 2,
    "characters": 340123,
    "start": 0,
    "end": len(_QUOTE),
    "text": _QUOTE,
    "elements": [
        {
            "kind": "paragraph",
            "start": 0,
            "end": len(_QUOTE),
            "headings": ["4 Card payments"],
            "page_number": 41,
            "box": [72.0, 100.0, 523.0, 124.0],
            "header_rows": 0,
        }
    ],
    "pages": [
        {"number": 41, "label": "37", "start": 0, "end": 3012, "state": "text", "reason": "", "confidence": None}
    ],
}
RECEIPT: Shape = {
    "version": VERSION,
    "deleted": "file:///srv/manuals/manual-2025.pdf",
    "purged": False,
    "kept_until": "2026-03-05",
    "removed": [
        {
            "document": "5d0f3a4c9be1a7f2",
            "source": "file:///srv/manuals/manual-2025.pdf",
            "versions": [1],
            "parts": {"texts": 1, "chunks": 24, "dense": 24, "keyword": 24, "kept versions": 0, "chunk entries": 24},
        }
    ],
}
JOB: Shape = {
    "version": VERSION,
    "job": "9c2a7f00d1e4b356",
    "kind": "upload",
    "caller": "key:page",
    "state": "running",
    "created": "2026-02-03T04:05:06.789+00:00",
    "started": "2026-02-03T04:05:07.012+00:00",
    "ended": None,
    "cancelling": False,
    "progress": {"done": 1, "total": 3, "current": "manual-2026.pdf"},
    "result": None,
    "error": None,
}
EVALUATION_JOB: Shape = {
    **JOB,
    "kind": "evaluation",
    "state": "queued",
    "started": None,
    "progress": None,
}
JOBS: Shape = {"version": VERSION, "jobs": [JOB]}
RUNS: Shape = {
    "version": VERSION,
    "runs": [
        {
            "job": "9c2a7f00d1e4b356",
            "kind": "evaluation",
            "caller": "key:root",
            "state": "done",
            "created": "2026-02-03T04:05:06.789+00:00",
            "started": "2026-02-03T04:05:07.012+00:00",
            "ended": "2026-02-03T04:05:41.330+00:00",
            "cancelling": False,
            "progress": {"done": 125, "total": 125, "current": ""},
            "error": None,
            "testset": "bank.jsonl",
            "judge": "aligned",
            "retrieval_only": False,
            "settings": [{"name": "service", "settings": {"retrieval": {"keep": 3}}}],
            "figures": [{"measure": "correct", "mean": 0.752, "low": 0.68, "high": 0.824, "questions": 125}],
            "verdicts": [],
        }
    ],
    "total": 1,
    "offset": 0,
}
TESTSETS: Shape = {"version": VERSION, "testsets": ["bank.jsonl"]}
VERSION_NOW: Shape = {
    "document": "5d0f3a4c9be1a7f2",
    "number": 2,
    "source": "file:///srv/state/uploads/0f3a4c9be1a7f25d/manual-2026.pdf",
    "title": "Fraud Policy Manual 2026",
    "document_version": "2026",
    "content_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "groups": ["fraud_team"],
    "indexed_at": "2026-02-03T04:05:06.789000+00:00",
    "valid_from": "2026-01-01",
    "valid_to": None,
    "in_force_from": "2026-01-01",
    "in_force_to": None,
    "current": True,
    "searchable": True,
    "ended_at": None,
    "ending": None,
    "kept_until": None,
}
RETAGGED: Shape = {"version": VERSION, "now": VERSION_NOW}
_TURN: Shape = {
    "turn": "9c2a7f00d1e4b3569c2a7f00d1e4b357",
    **{key: ANSWER[key] for key in ("question", "answer", "abstained", "reason", "sentences", "citations", "warnings")},
    "documents": ["5d0f3a4c9be1a7f2"],
    "groups": ["fraud_team"],
    "as_of": None,
    "asked_at": "2026-02-03T04:05:06.789000+00:00",
    "withheld": False,
    "feedback": {"thumb": "down", "wrong": [1], "comment": "Old."},
}
TURN: Shape = {"version": VERSION, **_TURN}
_CONVERSATION: Shape = {
    "conversation": "9c2a7f00d1e4b3569c2a7f00d1e4b356",
    "caller": "key:page",
    "title": _QUESTION,
    "turn_count": 1,
    "created": "2026-02-03T04:05:06.789000+00:00",
    "changed": "2026-02-03T04:05:06.789000+00:00",
}
CONVERSATIONS: Shape = {"version": VERSION, "conversations": [_CONVERSATION]}
CONVERSATION: Shape = {"version": VERSION, **_CONVERSATION, "turns": [_TURN]}
NEW_CONVERSATION: Shape = {"version": VERSION, **_CONVERSATION, "title": "", "turn_count": 0, "turns": []}
DELETED: Shape = {"version": VERSION, "deleted": "9c2a7f00d1e4b3569c2a7f00d1e4b356"}

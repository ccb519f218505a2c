"""Files to Documents: found by `discover`, their rights looked up by `AccessRules`, read by `load`."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from urllib.parse import quote, unquote

from citewell.errors import LimitExceeded, LoadError
from citewell.loading.access import ACCESS_FILE, AccessRules
from citewell.loading.bounds import MEGABYTE, check_file
from citewell.loading.discovery import Discovered, SourceFile, discover, is_ours
from citewell.loading.isolation import parse_apart
from citewell.loading.language import detect_language
from citewell.loading.parsed import Inside, Parsed
from citewell.loading.scan.engine import available as ocr_engine
from citewell.settings import Loading
from citewell.types import BETWEEN_SOURCES, EVERYONE, NOTHING, Attributes, Document, PageState, Rights, Trust

__all__ = [
    "ACCESS_FILE",
    "READ_AS",
    "AccessRules",
    "Discovered",
    "Loaded",
    "SourceFile",
    "described",
    "discover",
    "document_id",
    "inner_source",
    "load",
    "ocr_engine",
    "read",
    "renamed",
    "source_at",
]

_TRUSTED_LEAST_FIRST = (Trust.UNTRUSTED, Trust.UNREVIEWED, Trust.APPROVED)
_NAMED_PAGES = 5
READ_AS = "read as"
"""In a document's metadata: what its owner should know of how it was read. No declared field has such a name."""
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Loaded:
    """A document, the files inside it, and what to tell about it."""

    document: Document
    inside: tuple[SourceFile, ...] = ()
    warnings: tuple[str, ...] = ()


def document_id(source: str) -> str:
    """The id of the document at a source URI: the same for all its versions."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def inner_source(source: str) -> str:
    """How the sources of all files inside the one at `source` begin."""
    return source + BETWEEN_SOURCES


def source_at(path: str) -> str:
    """The source URI of a file that is named by its path; of one inside another as `a.zip!/folder/b.pdf`."""
    outer, *inner = path.split(BETWEEN_SOURCES)
    names = ("/".join(map(_segment, name.split("/"))) for name in inner)
    # Not Path.resolve, which a loop of symbolic links makes fail.
    return BETWEEN_SOURCES.join((Path(os.path.realpath(outer)).as_uri(), *names))


def read(file: SourceFile, limits: Loading) -> bytes:
    """The file's bytes.

    Raises:
        LoadError: discovery found a problem with it, or it cannot be read.
        LimitExceeded: over `max_file_mb`; it is not read then. Or deeper than `max_depth` inside others.
    """
    if file.problem is not None:
        raise file.problem
    if file.depth > limits.max_depth:
        raise LimitExceeded(
            f"It lies {file.depth} files deep; the limit is {limits.max_depth}.",
            remedy="Raise max_depth in [loading], or take the file out.",
        )
    if file.data is not None:
        return file.data
    try:
        check_file(file.path.stat().st_size, limits)
        with file.path.open("rb") as stream:
            # It may have grown since.
            data = stream.read(int(limits.max_file_mb * MEGABYTE) + 1)
    except OSError as error:
        raise LoadError(
            f"The file cannot be read: {error.strerror}.", remedy="Check that it is there and may be read."
        ) from None
    check_file(len(data), limits)
    return data


def load(
    file: SourceFile,
    limits: Loading,
    attributes: Attributes = NOTHING,
    default_groups: Iterable[str] = (EVERYONE,),
    *,
    data: bytes | None = None,
    passwords: Sequence[str] = (),
    on_wait: Callable[[], None] | None = None,
) -> Loaded:
    """Read one file as a Document, with what `AccessRules.rules_for` said about it; `data` is its bytes if known.

    It is parsed in a process of its own; `on_wait` is called now and then meanwhile, and may raise. See `described` for
    its rights, title, version, validity and trust.

    Raises:
        LoadError: the file cannot be read; the others can.
    """
    content = read(file, limits) if data is None else data
    parsed = parse_apart(content, file.name, limits, passwords, on_wait)
    content_hash = hashlib.sha256(content).hexdigest()
    language = parsed.declared.language or parsed.language or detect_language(parsed.text)
    declared = replace(
        parsed.declared,
        title=parsed.declared.title or parsed.title,
        author=parsed.declared.author or parsed.metadata.get("author"),
        language=language,
    )
    if parsed.suspicious or any(page.state is PageState.SUSPICIOUS for page in parsed.pages):
        declared = replace(declared, trust=Trust.UNTRUSTED)
    document = Document(
        id=document_id(file.source),
        content_hash=content_hash,
        title=parsed.title,
        own_title=parsed.declared.title or _own_title(parsed.title, file.name),
        source=file.source,
        version=content_hash[:8],
        text=parsed.text,
        elements=parsed.elements,
        rights=Rights(frozenset()),
        pages=parsed.pages,
        parent_id=file.parent_id,
        metadata={**parsed.metadata, READ_AS: "; ".join(parsed.noted)} if parsed.noted else parsed.metadata,
        declared=declared,
        lost="; ".join(_lost(parsed)),
    )
    return Loaded(
        described(document, attributes, default_groups), tuple(_inside(file, parsed.inside)), tuple(_warnings(parsed))
    )


def renamed(document: Document, source: str) -> Document:
    """The document of a file that has another name or place now. What is called by its file's name is called anew."""
    old, new = (unquote(one.rpartition("/")[2]) for one in (document.source, source))
    called = {PurePath(old).stem: PurePath(new).stem, old: new}
    title = document.own_title or called.get(document.declared.title or "", document.declared.title)
    declared = replace(document.declared, title=title)
    return replace(document, id=document_id(source), source=source, declared=declared, title=title or document.title)


def described(document: Document, attributes: Attributes, default_groups: Iterable[str]) -> Document:
    """The document with what its access rules say; where they say nothing, what it says of itself or the default.

    What it says of itself is not to be trusted: it takes rights and trust away, and never adds any.
    """
    said = document.declared
    rights = [Rights(attributes.groups if attributes.groups is not None else frozenset(default_groups))]
    if said.groups is not None:
        rights.append(Rights(said.groups))
    trust = [attributes.trust or Trust.UNREVIEWED, said.trust or Trust.APPROVED]
    author = attributes.author or said.author
    others = {key: value for key, value in document.metadata.items() if key != "author"}
    return replace(
        document,
        title=attributes.title or said.title or document.title,
        version=attributes.version or said.version or document.content_hash[:8],
        rights=Rights.intersection(rights),
        valid_from=attributes.valid_from or said.valid_from,
        valid_to=attributes.valid_to or said.valid_to,
        trust=min(trust, key=_TRUSTED_LEAST_FIRST.index),
        language=attributes.language or said.language or "",
        metadata={"author": author, **others} if author else others,
        expires=attributes.expires,
    )


def _own_title(title: str, name: str) -> str:
    """The title, unless a loader took the file's name for want of another."""
    return "" if title in (name, PurePath(name).stem) else title


def _inside(file: SourceFile, found: Sequence[Inside]) -> Iterator[SourceFile]:
    """Each file inside with a source of its own, also where two have one name. What would give rights is left out."""
    counts: Counter[str] = Counter()
    for inside in found:
        name = _last_name(inside)
        if is_ours(name):
            continue
        short = inside.name if len(inside.name) <= _LONGEST_NAME else f"{inside.name[:_LONGEST_NAME]}…"
        place = "/".join(map(_segment, short.split("/")))
        counts[place] += 1
        # No name ends in a bare `!`, so a numbered one cannot be another's.
        numbered = place if counts[place] == 1 else f"{place}!{counts[place]}"
        yield SourceFile(
            path=file.path,
            source=inner_source(file.source) + numbered,
            name=name,
            data=inside.data,
            depth=file.depth + 1,
            parent_id=document_id(file.source),
        )


def _last_name(inside: Inside) -> str:
    return inside.name.replace("\\", "/").rpartition("/")[2] or inside.name


def _segment(name: str) -> str:
    # A browser would take the dots, however they are written, for a way out of the archive.
    return quote(name, safe="") if name.strip(".") else "_" * max(len(name), 1)


def _lost(parsed: Parsed) -> Iterator[str]:
    """What could not be read, in words."""
    lost = [page for page in parsed.pages if page.state in (PageState.NEEDS_OCR, PageState.FAILED)]
    reasons: dict[str, list[str]] = {}
    for page in lost:
        reasons.setdefault(page.reason or page.state, []).append(page.label)
    for reason, labels in reasons.items():
        more = f" and {len(labels) - _NAMED_PAGES} more" if len(labels) > _NAMED_PAGES else ""
        yield f"page{'s' if len(labels) > 1 else ''} {', '.join(labels[:_NAMED_PAGES])}{more}: {reason}"
    yield from parsed.lost


def _warnings(parsed: Parsed) -> Iterator[str]:
    ours = [inside.name for inside in parsed.inside if is_ours(_last_name(inside))]
    if ours:
        yield f"It holds {', '.join(ours[:3])}: what such files say inside another file does not count."
    yield from (f"{noted[0].upper()}{noted[1:]}." for noted in parsed.noted)
    yield from parsed.suspicious
    for page in parsed.pages:
        if page.state is PageState.SUSPICIOUS:
            yield f"Page {page.label} is suspicious: {page.reason}."

"""An answer's text with nothing in it that a renderer would fetch, follow or run, but for what is ours.

An answer is shown in places that read Markdown or HTML. A picture whose address holds what the model was shown sends it
away as soon as it is drawn; a link does so when it is followed. What is not known to be ours is therefore written as
text. Nothing here rests on reading Markdown as a given renderer does: what is left of its syntax is broken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

NESTED = 8
"""Links within links that are written out; what is nested deeper is only broken."""

_LINK = re.compile(
    r"""(?P<picture>!?)\[(?P<label>[^\[\]]{0,500})\]
    \(\s{0,9}<?(?P<address>(?:[^()<>\s]|\([^()\s]{0,200}\)){0,2000}+)>?
    (?:\s{1,9}(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'|\([^()\n]{0,500}\)))?\s{0,9}\)""",
    re.VERBOSE,
)
_ADDRESS = re.compile(
    r"""(?:
        (?P<scheme>[a-z][a-z0-9+.-]{0,30})(?P<colon>://)(?P<host>[^\s/<>"'`\]?\#]{0,300})(?P<rest>[^\s<>"'`\]]{0,2000})
        | (?P<bare>(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24})(?P<path>[/?][^\s<>"'`\]]{1,2000})
        | (?P<www>www\.[^\s/<>"'`\]]{1,300})
        | (?P<script>(?:javascript|vbscript|mailto|blob|intent)(?=:\S)|data(?=:[\w-]{1,40}[/;,]))(?P<stop>:)
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_AFTER = ".,;:!?)*_~"
"""Signs that end the sentence around an address rather than the address."""
_TAG = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
_TARGET = re.compile(r"\](?=[(:])")


def neutralised(text: str, ours: Collection[str] = (), passages: Iterable[str] = ()) -> str:
    """The text of an answer, harmless to show.

    - Links in Markdown stay where their address is one of `ours`, such as the citations' links; others become
      `label (address)`, and so do all pictures.
    - Addresses stay where they are ours or stand in a cited passage; others are defanged: `hxxps://evil[.]example/x`.
    - The bracket of whatever may be an HTML tag becomes `&lt;`, and Markdown's references lose their targets.

    Markers such as `[1]` stay. What has been neutralised stays as it is if that is done again.
    """
    known = {*ours, *(found for passage in passages for found in _addresses(passage))}
    pieces: list[str] = []
    last = 0
    for link in _LINK.finditer(text):
        if link["picture"] or link["address"] not in ours:
            continue
        label = _harmless(link["label"], known)
        pieces += [_harmless(text[last : link.start()], known), f"[{label}]({link['address']})"]
        last = link.end()
    return "".join([*pieces, _harmless(text[last:], known)])


def _harmless(text: str, known: Collection[str]) -> str:
    for _ in range(NESTED):
        text, count = _LINK.subn(_written_out, text)
        if not count:
            break
    text = _ADDRESS.sub(lambda found: _defanged(found, known), text)
    return _TARGET.sub(r"]\\", _TAG.sub("&lt;", text))


def _written_out(link: re.Match[str]) -> str:
    label = link["label"].strip() or ("picture" if link["picture"] else "link")
    return label if link["address"] in ("", label) else f"{label} ({link['address']})"


def _addresses(text: str) -> Iterable[str]:
    return (_bare(found[0]) for found in _ADDRESS.finditer(text))


def _bare(address: str) -> str:
    return address.rstrip(_AFTER)


def _defanged(found: re.Match[str], known: Collection[str]) -> str:
    if _bare(found[0]) in known or found[0] in known:
        return found[0]
    if found["scheme"]:
        scheme = found["scheme"]
        if scheme.lower() in ("hxxp", "hxxps"):
            return found[0]
        harmless = re.sub("^http", "hxxp", scheme, flags=re.IGNORECASE)
        colon = "://" if harmless != scheme else "[:]//"
        return f"{harmless}{colon}{_apart(found['host'])}{found['rest']}"
    if found["script"]:
        return f"{found['script']}[:]"
    return _apart(found["www"] or found["bare"]) + (found["path"] or "")


def _apart(host: str) -> str:
    return host.replace(".", "[.]")

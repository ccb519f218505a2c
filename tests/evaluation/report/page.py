"""What every page of a report must be, whatever texts are in it."""

from __future__ import annotations

import re
from typing import Any

from lxml import html

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def parsed(page: str) -> Any:
    return html.document_fromstring(page.encode())


def assert_harmless(page: str) -> None:
    tree = parsed(page)
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == POLICY
    elements = list(tree.iter("*"))
    assert not {"script", "link", "iframe", "object", "embed", "img", "form", "base"} & {each.tag for each in elements}
    attributes = [(name, value) for each in elements for name, value in each.attrib.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in {"src", "srcset", "action"}]
    assert all(value.startswith("#") for name, value in attributes if name.endswith("href"))
    assert set(re.findall(r"url\((.)|@import", page)) <= {"#"}
    ids = tree.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for name, value in attributes if name.endswith("href")} <= set(ids)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


def said(element: Any) -> str:
    """The text of an element, white space made one."""
    return " ".join(" ".join(element.itertext()).split())

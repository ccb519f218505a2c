from __future__ import annotations

import json

import pytest

from citewell.errors import LimitExceeded
from citewell.loading.parsed import Parsed
from citewell.loading.records import load_json
from citewell.settings import Loading
from citewell.types import ElementKind
from tests.loading.checks import of_kind, path_of, pieces


def read(content: object, name: str = "export.json", **limits: object) -> Parsed:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return load_json(text.encode("utf-8", "surrogatepass"), name, Loading.model_validate(limits))


def test_alike_flat_records_are_a_table() -> None:
    parsed = read('[{"service": "Wire", "fee": 1.10, "free": false}, {"service": "Card", "fee": null, "free": true}]')
    assert pieces(parsed) == [(ElementKind.TABLE, "service | fee | free\nWire | 1.10 | false\nCard |  | true")]
    assert parsed.elements[0].header_rows == 1
    assert parsed.title == "export"


def test_lines_of_records_and_broken_lines() -> None:
    lines = ['{"a": 1, "b": "x"}', "", '{"a": 2, "b": "y"}', '{"a": 3, "b"', "nonsense", '{"a": NaN, "b": "z"}']
    for name in ("log.jsonl", "log.ndjson", "log.json", "log"):
        parsed = read("\n".join(lines), name)
        assert of_kind(parsed, ElementKind.TABLE) == ["a | b\n1 | x\n2 | y\nNaN | z"]
        assert parsed.lost == ("lines 4, 5: no valid JSON",)
    many = read("\n".join(['{"a": 1}'] * 40 + ["{"] * 30), "log.jsonl")
    assert many.lost[0].endswith("59, 60 and 10 more: no valid JSON")


def test_nested_objects_are_lines_with_the_way_to_each_value() -> None:
    value = {"name": "citewell", "scripts": {"test": "pytest"}, "files": ["a", "b"], "x": [{"y": 1}, [2, 3]], "z": None}
    parsed = read(value)
    assert parsed.text == "name: citewell\nscripts.test: pytest\nfiles: a, b\nx[0].y: 1\nx[1]: 2, 3"
    assert parsed.title == "citewell"


def test_long_records_stand_under_their_title() -> None:
    body = "The fee is 12 EUR. " * 20
    records = [{"id": 7, "title": "Fees", "body": f"{body}\n\nSecond paragraph."}, {"id": 8, "title": "Cards"}]
    parsed = read(records)
    assert pieces(parsed) == [
        (ElementKind.HEADING, "Fees"),
        (ElementKind.PARAGRAPH, "id: 7\ntitle: Fees"),
        (ElementKind.PARAGRAPH, body.strip()),
        (ElementKind.PARAGRAPH, "Second paragraph."),
        (ElementKind.PARAGRAPH, "id: 8\ntitle: Cards"),
    ]
    assert path_of(parsed, "Second paragraph.") == ("Fees", "body")
    assert path_of(parsed, "id: 8") == ()


def test_records_inside_an_object_have_its_key_as_heading() -> None:
    parsed = read({"count": 2, "result": {"items": [{"a": 1}, {"a": 2}]}})
    assert pieces(parsed) == [
        (ElementKind.PARAGRAPH, "count: 2"),
        (ElementKind.HEADING, "result"),
        (ElementKind.HEADING, "items"),
        (ElementKind.TABLE, "a\n1\n2"),
    ]
    assert path_of(parsed, "a\n1") == ("result", "items")


def test_records_that_are_not_alike_are_paragraphs() -> None:
    assert of_kind(read([{"a": 1}, {"b": 2}, {"c": 3}]), ElementKind.PARAGRAPH) == ["a: 1", "b: 2", "c: 3"]
    assert read([1, "two", {"three": 3}, [4, 5]]).text == "1\n\ntwo\n\nthree: 3\n\n4, 5"


def test_numbers_are_kept_as_they_are_written() -> None:
    digits = "9" * 5_000
    assert read(f'{{"a": 1.10, "b": {digits}, "c": -Infinity, "d": 1e400}}').text == (
        f"a: 1.10\nc: -Infinity\nd: 1e400\n\n{digits}"
    )


def test_encoded_data_is_left_out_and_counted() -> None:
    parsed = read({"name": "scan", "image": "iVBORw0KGgo" * 200})
    assert parsed.text == "name: scan"
    assert parsed.lost == ("encoded data (1 values)",)


def test_what_is_no_json_is_read_as_it_stands() -> None:
    parsed = read('// settings\n{\n  "fee": 12, // EUR\n}\n', "settings.json")
    assert '"fee": 12, // EUR' in parsed.text
    assert parsed.noted == ("it is no valid JSON from line 1, column 1 on, and was read as plain lines",)
    assert not parsed.lost, "every line of it was read"
    cut = json.dumps([{"a": "first record"}, {"a": "second record"}], indent=1)[:-20]
    assert "first record" in read(cut).text
    assert read("plain words", "a.jsonl").noted == ("none of its lines is JSON, and it was read as it stands",)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding: str) -> None:
    data = '{"Gebühr": "zwölf Euro"}'.encode(encoding)
    assert load_json(data, "a.json", Loading()).text == "Gebühr: zwölf Euro"


def test_lone_surrogates_and_nuls() -> None:
    assert read('{"a": "x\\ud800y\\u0000z"}').text == "a: x?yz"


def test_limits() -> None:
    with pytest.raises(LimitExceeded, match="deep"):
        read("[" * 100_000 + "]" * 100_000)
    with pytest.raises(LimitExceeded, match="deep"):
        read('{"a":' * 200 + "1" + "}" * 200)
    with pytest.raises(LimitExceeded, match="values"):
        read("[" + "[]," * 5_000_000 + "1]")
    # A thousand values under a key of a thousand signs each at every level: a megabyte that reads as a hundred.
    inner = dict.fromkeys(map(str, range(5_000)), 1)
    with pytest.raises(LimitExceeded, match="max_text_mb"):
        read({"k" * 20_000: inner}, max_text_mb=1)

"""The OCR engine: what it reads, and that it neither asks the network nor says anything."""

from __future__ import annotations

import socket
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

from citewell.loading.scan import engine
from citewell.loading.scan.engine import ScannedLine, available, cut_out, read_lines
from tests.loading.pictures import LETTER, letter, render

DPI = 150


def test_lines_are_read_with_their_corners_and_the_places_of_their_signs() -> None:
    lines = sorted(read_lines(render(letter, DPI), DPI), key=lambda line: float(line.corners[0, 1]))
    assert [line.text for line in lines] == list(LETTER)
    for line, baseline in zip(lines, (60, 60 + 1.2 * 14), strict=True):
        assert line.legible
        assert 0.95 < line.confidence <= 1
        left, top = (line.corners[0] * 72 / DPI).tolist()
        right, bottom = (line.corners[2] * 72 / DPI).tolist()
        assert 36 < left < 41
        assert 240 < right < 330
        assert baseline - 17 < top < baseline - 9
        assert baseline + 1 < bottom < baseline + 8
        assert len(line.places) == len(line.text)
        assert sorted(line.places) == list(line.places)
        assert line.places[0] < 0.06
        assert line.places[-1] > 0.94


def test_a_line_that_stands_upside_down_begins_where_its_reader_begins() -> None:
    upright = render(letter, DPI)
    lines = read_lines(np.ascontiguousarray(upright[::-1, ::-1]), DPI)
    assert {line.text for line in lines} == set(LETTER)
    assert all(line.corners[0, 0] > line.corners[1, 0] for line in lines)
    first = next(line for line in lines if line.text == LETTER[0])
    ink = cut_out(np.ascontiguousarray(upright[::-1, ::-1]), first.corners) < 128
    assert ink[:, : ink.shape[1] // 2].any()


@pytest.mark.parametrize("size", [(1, 1), (3, 900), (900, 3), (40, 40)])
def test_a_picture_without_text_has_no_lines(size: tuple[int, int]) -> None:
    assert read_lines(np.full((*size, 3), 255, np.uint8), DPI) == []


def test_it_is_silent_and_asks_no_network(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    engine._engine.cache_clear()
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert read_lines(render(letter, DPI), DPI)
    assert capfd.readouterr() == ("", "")


def test_it_names_itself_with_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available() == "rapidocr 3.10.0"

    def scripted_absence(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(engine, "version", scripted_absence)
    assert available() == ""


@pytest.mark.parametrize(
    ("text", "confidence", "legible"),
    [
        ("Fee 12", 0.9, True),
        ("1 2 3", 0.9, True),
        ("T    s  pa", 0.8, False),
        ("Fee 12", 0.4, False),
        ("", 0.9, False),
    ],
)
def test_blanks_and_doubt_make_a_line_illegible(text: str, confidence: float, legible: bool) -> None:
    line = ScannedLine(text, np.zeros((4, 2), np.float32), confidence, (0.5,) * len(text))
    assert line.legible is legible

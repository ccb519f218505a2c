"""Reading in a process of its own: what a file may do to that process, and what becomes of it."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from citewell.errors import DamagedFile, EmptyFile, LimitExceeded, LoadError, SettingsError
from citewell.loading import isolation
from citewell.loading.frames import Frame
from citewell.loading.isolation import parse_apart
from citewell.loading.parsing import check_plugins, parse
from citewell.settings import Loading

LIMITS = Loading()


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loading:
    """A third-party loader, installed as such, that does what the file says: `crash`, `hang`, `fill`, `write` ..."""
    package = tmp_path / "installed"
    info = package / "scripted_loader-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: scripted-loader\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[citewell.loaders]\nscripted = scripted_loader:LOADER\n")
    (package / "scripted_loader.py").write_text(
        f"""
import os, struct, subprocess, sys, time
from citewell.loading.parsed import TextBuilder
from citewell.types import ElementKind
from citewell.loading import pulse

class Scripted:
    def accepts(self, data, name):
        return data.startswith(b"scripted:")

    def load(self, data, name, limits):
        word = data.removeprefix(b"scripted:").decode()
        said = "done"
        if word == "crash":
            os.abort()
        if word == "hang":
            while True:
                pass
        if word == "fill":
            held = bytearray(limits.max_memory_mb * 2_000_000)
        if word == "write":
            try:
                with open({str(tmp_path / "written")!r}, "w") as file:
                    file.write("x")
                    file.flush()
                said = "written"
            except OSError as error:
                said = "refused"
        if word == "print":
            print("a library that prints" * 10_000)
            os.write(1, b"and one that writes")
        if word == "environment":
            said = " ".join(sorted(os.environ))
        if word == "pages":
            for _ in range(4):
                time.sleep(0.5)
                pulse.beat()
        if word == "exit":
            raise SystemExit(7)
        if word == "import":
            import a_module_that_is_not_there
        if word == "child":
            subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            time.sleep(600)
        if word == "beats":
            for _ in range(limits.max_pages + 1):
                pulse.beat()
        if word.startswith("raw "):
            links = [(int(name), os.path.realpath("/proc/self/fd/" + name)) for name in os.listdir("/proc/self/fd")]
            answers = max(number for number, link in links if "pipe" in link)
            os.set_blocking(answers, True)
            data = eval(word.removeprefix("raw "))
            while data:
                data = data[os.write(answers, data[:4096]):]
            time.sleep(600)
        builder = TextBuilder(limits)
        builder.add(ElementKind.PARAGRAPH, said)
        return builder.build(name)

LOADER = Scripted()
"""
    )
    # Readers that wait have not got this path.
    isolation.stop_waiting()
    monkeypatch.syspath_prepend(str(package))
    return Loading(plugins=("scripted",), max_seconds=20)


def said(word: str, limits: Loading) -> str:
    return parse_apart(f"scripted:{word}".encode(), "a.x", limits).text


def test_it_reads_what_parse_reads() -> None:
    data = b"# A title\n\nSome *text*.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert parse_apart(data, "a.md", LIMITS) == parse(data, "a.md", LIMITS)


def test_an_error_comes_back_as_it_is() -> None:
    with pytest.raises(EmptyFile) as caught:
        parse_apart(b"  ", "a.txt", LIMITS)
    assert caught.value.remedy == "Put content in it, or leave it out."


def test_a_process_is_used_again(plugin: Loading) -> None:
    said("done", plugin)
    (waiting,) = isolation._waiting
    said("done", plugin)
    assert isolation._waiting == [waiting]


def test_a_crash_is_that_files_failure_and_the_next_is_read(plugin: Loading) -> None:
    with pytest.raises(DamagedFile, match=r"ended under it \(SIGABRT\)"):
        said("crash", plugin)
    assert said("next", plugin) == "done"


def test_an_exit_is_no_answer(plugin: Loading) -> None:
    with pytest.raises(DamagedFile, match=r"ended under it \(exit status 7\)"):
        said("exit", plugin)


def test_what_takes_too_long_is_killed(plugin: Loading) -> None:
    with pytest.raises(LimitExceeded, match=r"more than 1 seconds\. Raise max_seconds"):
        said("hang", plugin.model_copy(update={"max_seconds": 1.0}))


def test_signs_of_life_give_more_time(plugin: Loading) -> None:
    assert said("pages", plugin.model_copy(update={"max_seconds": 1.2})) == "done"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds a process's memory")
def test_what_takes_too_much_memory_is_refused(plugin: Loading) -> None:
    with pytest.raises(LimitExceeded, match=r"more than 200 MB of memory\. Raise max_memory_mb"):
        said("fill", plugin.model_copy(update={"max_memory_mb": 200}))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_it_may_write_no_file(plugin: Loading, tmp_path: Path) -> None:
    assert said("write", plugin) == "refused"
    assert not (tmp_path / "written").read_bytes()


def test_what_a_library_prints_is_no_answer(plugin: Loading) -> None:
    assert said("print", plugin) == "done"


def test_it_gets_no_keys(plugin: Loading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-parsers")
    isolation.stop_waiting()
    names = said("environment", plugin).split()
    assert "PATH" in names
    assert not {name for name in names if "KEY" in name or name.startswith("CITEWELL")}


def test_an_unknown_plugin_is_named(plugin: Loading) -> None:
    check_plugins(plugin)
    with pytest.raises(SettingsError, match=r"names 'absent', and no installed package offers that loader"):
        check_plugins(Loading(plugins=("absent",)))


def test_a_plugin_that_fails_to_import_is_that_files_failure(plugin: Loading, tmp_path: Path) -> None:
    (tmp_path / "installed" / "scripted_loader.py").write_text("import a_module_that_is_not_there\n")
    with pytest.raises(
        LoadError, match=r"The loader 'scripted' of loading\.plugins does not work \(ModuleNotFoundError"
    ):
        said("done", plugin)


def test_an_import_that_fails_is_that_files_failure(plugin: Loading) -> None:
    with pytest.raises(DamagedFile, match="ModuleNotFoundError"):
        said("import", plugin)


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes are POSIX's")
def test_what_a_reader_has_started_ends_with_it(plugin: Loading) -> None:
    before = sleepers()
    with pytest.raises(LimitExceeded):
        said("child", plugin.model_copy(update={"max_seconds": 2.0}))
    assert sleepers() <= before


def sleepers() -> set[str]:
    done = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True)
    return {line for line in done.stdout.splitlines() if "time.sleep(600)" in line}


def test_signs_of_life_without_end_are_no_more_time(plugin: Loading) -> None:
    with pytest.raises(DamagedFile, match="answered what it never does"):
        said("beats", plugin.model_copy(update={"max_pages": 20}))


@pytest.mark.skipif(sys.platform != "linux", reason="it looks for the pipe in /proc")
@pytest.mark.parametrize(
    "answer",
    [
        "struct.pack('>Q', 1 << 50)",
        "struct.pack('>Q', 1 << 63)",
        "struct.pack('>Q', 200000) + b'[' * 200000",
        "struct.pack('>Q', 38) + b'{\"header\": {}, \"sizes\": [999999999999]}'",
        "struct.pack('>Q', 28) + b'{\"header\": {}, \"sizes\": [-1]}'",
    ],
)
def test_an_answer_of_any_size_or_shape_is_that_files_failure(plugin: Loading, answer: str) -> None:
    with pytest.raises(DamagedFile, match="answered what it never does"):
        said(f"raw {answer}", plugin)


def test_what_waits_may_be_interrupted(plugin: Loading) -> None:
    def scripted_ctrl_c() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parse_apart(b"scripted:hang", "a.x", plugin, on_wait=scripted_ctrl_c)
    assert said("next", plugin) == "done"


def test_threads_have_a_process_each() -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: found.append(parse_apart(f"text {n}".encode(), "a.txt", LIMITS).text))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [f"text {n}" for n in range(4)]
    assert len(isolation._waiting) <= 2


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="a terminal's Ctrl-C is a signal to a group of processes")
def test_it_does_not_hear_the_terminals_ctrl_c() -> None:
    parse_apart(b"text", "a.txt", LIMITS)
    (reader, *_) = isolation._waiting
    assert os.getpgid(reader.process.pid) != os.getpgid(0)
    os.kill(reader.process.pid, signal.SIGINT)
    reader.process.wait(10)
    # One that was ended all the same is not used again.
    assert parse_apart(b"text", "a.txt", LIMITS).text == "text"


def test_a_hostile_answer_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a parser that was taken over may say: other errors than ours, other shapes."""
    headers: tuple[Any, ...] = (
        {"error": "annotations", "message": "", "remedy": ""},
        {"error": "CitewellErrorX"},
        {"error": "IndexLocked", "message": "", "remedy": ""},
        {"error": "LoadError"},
        {"parsed": 3},
        [],
    )
    for header in headers:
        frame = Frame(header, ())
        monkeypatch.setattr(isolation, "read_frame", ScriptedAnswers([READY, frame]))
        isolation.stop_waiting()
        with pytest.raises(DamagedFile, match="answered what it never does"):
            parse_apart(b"text", "a.txt", LIMITS)


READY = Frame({"ready": True})


class ScriptedAnswers:
    def __init__(self, frames: list[Frame]) -> None:
        self.frames = frames

    def __call__(self, _: object, __: int) -> Frame:
        return self.frames.pop(0)


def test_what_a_file_declares_of_itself_comes_back() -> None:
    parsed = parse_apart(b'---\ntitle: "a\\ud800b"\nauthor: "x\\ud800"\n---\nText.', "a.md", LIMITS)
    assert (parsed.title, parsed.declared.author) == ("a?b", "x?")

"""W10: the README's lines in a script, a notebook cell, a handler under uvloop, a thread, and twice in one process."""

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from citewell import Index

LINES = """
import citewell
index = citewell.Index.create({index!r})
index.add({folder!r})
answer = index.ask("How many days does a customer have to dispute a card payment?")
print(answer.text, answer.citations[0].section)
"""
TWICE = LINES + LINES.replace("{index!r}", "{other!r}")
HANDLER = """
import asyncio, sys, threading
import fastapi, uvicorn, uvloop, httpx
import citewell

app = fastapi.FastAPI()
index = citewell.Index.create({index!r})
index.add({folder!r})
question = "How many days does a customer have to dispute a card payment?"

@app.get("/async")
async def asynchronous():
    return {{"text": (await index.aask(question)).text, "loop": type(asyncio.get_running_loop()).__module__}}

@app.get("/inside")
async def inside_the_loop():
    return {{"text": index.ask(question).text}}

@app.get("/sync")
def synchronous():
    return {{"text": index.ask(question).text}}

server = uvicorn.Server(uvicorn.Config(app, port=0, loop="uvloop", log_level="warning"))
thread = threading.Thread(target=server.run)
thread.start()
while not server.started:
    pass
port = server.servers[0].sockets[0].getsockname()[1]
for path in ("async", "inside", "sync"):
    print(httpx.get(f"http://127.0.0.1:{{port}}/{{path}}", timeout=60).json())
server.should_exit = True
thread.join()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals"
    folder.mkdir()
    rule = "A customer may dispute a card payment within 120 days of the transaction date."
    (folder / "policy.md").write_text(f"# Disputes\n\n## Time limits\n\n{rule}\n", encoding="utf-8")
    return folder


def run(code: str) -> str:
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=120)
    # Also at exit: no "loop is closed", no "never awaited".
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_a_script_and_twice_in_one_process(tmp_path: Path, folder: Path) -> None:
    names = {"index": str(tmp_path / "a"), "other": str(tmp_path / "b"), "folder": str(folder)}
    printed = run(TWICE.format(**names))
    assert printed.count("120 days") == 2
    assert printed.count("Time limits") == 2


def test_a_notebook_cell(tmp_path: Path, folder: Path) -> None:
    code = LINES.format(index=str(tmp_path / "index"), folder=str(folder))
    notebook = f"""
import nbformat
from nbclient import NotebookClient
cells = [{code!r}, "print((await index.aask('How many days to dispute a card payment?')).text)"]
nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
NotebookClient(nb, timeout=120, kernel_name="python3").execute()
for cell in nb.cells:
    print(cell.outputs)
"""
    result = subprocess.run([sys.executable, "-c", notebook], capture_output=True, text=True, timeout=180)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("120 days") == 2
    assert "stderr" not in result.stdout


def test_a_handler_under_uvloop(tmp_path: Path, folder: Path) -> None:
    printed = run(HANDLER.format(index=str(tmp_path / "index"), folder=str(folder)))
    assert printed.count("120 days") == 3
    assert "uvloop" in printed


def test_a_thread_without_a_loop(tmp_path: Path, folder: Path) -> None:
    answers: list[str] = []

    def work() -> None:
        with Index.create(tmp_path / "index") as index:
            index.add(folder)
            answers.append(index.ask("How many days to dispute a card payment?").text)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(120)
    assert "120 days" in answers[0]


def test_ctrl_c_leaves_a_valid_index(tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(600):
        (folder / f"{number:03}.md").write_text(f"# Note {number}\n\nNote {number} is about case {number * 7}.\n")
    command = [sys.executable, "-m", "citewell", "index", str(folder), "--index", str(tmp_path / "index")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while stored(tmp_path / "index") == 0 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)  # nothing where the machine was quick enough to finish
    _, stderr = process.communicate(timeout=60)
    assert process.returncode in (130, 0), stderr  # 0 where the machine was quick enough to finish
    assert "Traceback" not in stderr
    with Index.open(tmp_path / "index") as index:
        kept = index.status().documents
        assert kept > 0
        assert index.search("case", k=1)
        # What was embedded and not yet committed is not embedded again.
        assert index.add(folder).embedded <= 600 - kept
        assert index.status().documents == 600


def stored(path: Path) -> int:
    if not (path / "index.json").exists():
        return 0
    with Index.open(path) as index:
        return index.status().documents

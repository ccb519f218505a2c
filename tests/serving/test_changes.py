"""Uploading, taking away, saying something else: what becomes of it, and what a hostile client achieves."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from citewell.index import Index
from citewell.serving.app import create_app
from citewell.serving.keys import Keys
from citewell.types import Principal
from tests.cli.conftest import another_writer
from tests.serving.conftest import settings_at
from tests.serving.served import Served, finished, serving, uploaded

FEES = "# Fees\n\nA second card costs nine euros a year.\n"
BADGES = "# Badges\n\nA parking badge costs seven euros a month.\n"
"""Uploaded by one test alone: what others upload may be found by all."""


def files_of(job: dict[str, Any]) -> list[tuple[str, str]]:
    return [(file["name"], file["state"]) for file in job["result"]["files"]]


def below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_what_is_uploaded_is_found_and_its_file_is_given_back(own: Served) -> None:
    client = own.client("ann", "write", "fraud_team")
    answer = client.post("/v1/documents", files=[("files", ("fees.md", BADGES))], data={"groups": "fraud_team"})
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['job']}"
    job = finished(client, answer.json()["job"])
    assert (job["state"], files_of(job)) == ("done", [("fees.md", "added")])
    assert job["progress"] == {"done": 1, "total": 1, "current": ""}
    found = client.post("/v1/ask", json={"question": "What does a parking badge cost?"}).json()
    document = found["citations"][0]["document"]
    assert document == job["result"]["files"][0]["document"]
    sent = client.get(f"/v1/documents/{document}/file")
    assert sent.text == BADGES
    assert sent.headers["content-disposition"] == "attachment; filename*=UTF-8''fees.md"
    assert "sandbox" in sent.headers["content-security-policy"]
    assert own.client("bob").get(f"/v1/documents/{document}/file").status_code == 404


def test_a_file_is_given_back_only_as_it_was_indexed(own: Served) -> None:
    client = own.client("ann", "write")
    document = uploaded(client, "fees.md", FEES)["result"]["files"][0]["document"]
    place = own.folder("ann") / "fees.md"
    (own.service.state.folder / "secret").write_text("keys")

    def a_link() -> None:
        place.symlink_to(own.service.state.folder / "secret")

    def a_pipe() -> None:
        place.unlink()
        os.mkfifo(place)

    for change in (lambda: place.write_text("other"), place.unlink, a_link, a_pipe):
        change()
        answer = client.get(f"/v1/documents/{document}/file")
        assert (answer.status_code, answer.json()["error"]["type"]) == (404, "UnknownId")
    assert client.get(f"/v1/documents/{document}/text").json()["text"].endswith("nine euros a year.")


@pytest.mark.parametrize(
    "name", ["../../../escaped.md", "..%2f..%2fescaped.md", "/var/escaped.md", "..\\..\\escaped.md", ".escaped.md"]
)
def test_no_name_leaves_the_folder_of_who_uploads(own: Served, name: str) -> None:
    client, around = own.client("ann", "write"), own.service.state.folder.parent
    before = below(around)
    assert uploaded(client, name, FEES)["state"] == "done"
    (fresh,) = {path for path in below(around) - before if path.endswith(".md")}
    assert (around / fresh).parent == own.folder("ann")
    assert not Path("/var/escaped.md").exists()


@pytest.mark.parametrize("name", ["citewell-access.toml", "fees.md.citewell.toml", "x/citewell.toml", "..", "/"])
def test_no_upload_says_who_may_read_others(own: Served, name: str) -> None:
    rule = '[[rule]]\nmatch = "**"\ngroups = ["everyone"]\n'
    answer = own.client("ann", "write").post("/v1/documents", files=[("files", (name, rule))])
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "UsageError")
    assert own.client("ann", "write").get("/v1/jobs").json()["jobs"] == []


def test_a_file_of_the_same_name_is_replaced_only_if_that_is_asked_for(own: Served) -> None:
    client, other = own.client("ann", "write", "board"), own.client("bob", "write")
    first = uploaded(client, "fees.md", FEES, groups="board")["result"]["files"][0]["document"]
    again = client.post("/v1/documents", files=[("files", ("fees.md", "# Fees\n\nTen euros.\n"))])
    assert (again.status_code, again.json()["error"]["type"]) == (409, "Conflict")
    assert files_of(uploaded(other, "fees.md", "# Fees\n\nOf Bob.\n")) == [("fees.md", "added")]
    job = uploaded(client, "fees.md", "# Fees\n\nTen euros.\n", replace="true")
    assert files_of(job) == [("fees.md", "updated")]
    facts = client.get(f"/v1/documents/{first}").json()
    assert (facts["number"], facts["groups"]) == (2, ["board"])  # what was said of it holds on
    assert "Ten euros" in client.get(f"/v1/documents/{first}/text").json()["text"]


def test_what_cannot_be_read_changes_nothing(own: Served) -> None:
    client = own.client("ann", "write")
    document = uploaded(client, "fees.pdf", FEES.replace("# ", ""), title="x")["result"]["files"][0]["document"]
    job = uploaded(client, "fees.pdf", b"%PDF-1.7\nbroken", replace="true")
    assert files_of(job) == [("fees.pdf", "failed")]
    assert client.get(f"/v1/documents/{document}/file").text == FEES.replace("# ", "")
    assert client.get(f"/v1/documents/{document}").json()["lost"] == ""
    empty = uploaded(client, "empty.md", "")
    assert files_of(empty) == [("empty.md", "skipped")]
    assert below(own.folder("ann")) == {"fees.pdf"}


def test_the_report_tells_pages_and_what_is_inside(own: Served) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner/fees.md", FEES)
        archive.writestr("../up.md", "# Up\n\nText of up.\n")
    job = uploaded(own.client("ann", "write"), "all.zip", packed.getvalue())
    (told,) = job["result"]["files"]
    assert {Path(inner["source"]).name: inner["state"] for inner in told["inside"]} == {
        "fees.md": "added",
        "up.md": "added",
    }
    assert "up.md" not in {Path(path).name for path in below(own.service.state.folder)}


def test_who_may_read_an_upload_is_who_uploads_or_a_part_of_them(own: Served) -> None:
    client = own.client("ann", "write", "fraud_team")
    for groups in ("board", ["fraud_team", "board"]):
        answer = client.post("/v1/documents", files=[("files", ("a.md", FEES))], data={"groups": groups})
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "Forbidden")
    approved = client.post("/v1/documents", files=[("files", ("a.md", FEES))], data={"trust": "approved"})
    assert approved.status_code == 403
    root = own.client("root", "admin")
    job = uploaded(root, "a.md", FEES, groups=["board", "fraud_team"], trust="approved", version="7")
    document = job["result"]["files"][0]["document"]
    facts = client.get(f"/v1/documents/{document}").json()
    assert (facts["groups"], facts["trust"], facts["document_version"]) == (["board", "fraud_team"], "approved", "7")


def test_a_document_is_changed_by_who_uploaded_it_or_whose_groups_alone_read_it(own: Served) -> None:
    ann, team = own.client("ann", "write", "fraud_team"), own.client("team", "write", "fraud_team")
    root = own.client("root", "admin")
    mine = uploaded(ann, "mine.md", FEES)["result"]["files"][0]["document"]
    assert team.delete(f"/v1/documents/{mine}").status_code == 403
    assert team.patch(f"/v1/documents/{mine}", json={"groups": ["fraud_team"]}).status_code == 403
    assert ann.patch(f"/v1/documents/{mine}", json={"groups": ["fraud_team"], "version": "3"}).status_code == 200
    assert team.patch(f"/v1/documents/{mine}", json={"version": "4"}).json()["now"]["document_version"] == "4"
    assert ann.patch(f"/v1/documents/{mine}", json={"groups": ["board"]}).status_code == 403
    assert ann.patch(f"/v1/documents/{mine}", json={"trust": "untrusted"}).status_code == 200
    assert ann.patch(f"/v1/documents/{mine}", json={"trust": None}).status_code == 403
    assert root.patch(f"/v1/documents/{mine}", json={"groups": ["board"], "trust": "approved"}).status_code == 200
    assert ann.patch(f"/v1/documents/{mine}", json={"version": "5"}).status_code == 404
    assert root.delete(f"/v1/documents/{mine}").status_code == 200
    public = next(each for each in ann.get("/v1/documents").json()["documents"] if each["title"] == "Disputes")
    assert ann.delete(f"/v1/documents/{public['document']}").status_code == 403


def test_what_was_not_uploaded_has_its_rights_from_its_folder(index_copy: Path, tmp_path: Path) -> None:
    with serving(create_app(index_copy, settings_at(tmp_path))) as served:
        root = served.client("root", "admin", "fraud_team")
        listed = root.get("/v1/documents").json()["documents"]
        document = next(each for each in listed if each["title"] == "Scoring")["document"]
        answer = root.patch(f"/v1/documents/{document}", json={"groups": []})
        assert (answer.status_code, answer.json()["error"]["type"]) == (409, "Conflict")
        receipt = root.delete(f"/v1/documents/{document}").json()
        assert receipt["removed"][0]["document"] == document
        assert root.get(f"/v1/documents/{document}").status_code == 404


def test_a_change_embeds_nothing_and_is_what_a_run_of_indexing_reads(own: Served) -> None:
    client = own.client("ann", "write", "fraud_team")
    document = uploaded(client, "fees.md", FEES)["result"]["files"][0]["document"]
    client.patch(f"/v1/documents/{document}", json={"groups": ["fraud_team"], "valid_from": "2026-01-01"})
    place = own.folder("ann") / "fees.md"
    with Index.open(own.service.index.location, settings=own.service.settings) as index:
        report = index.add(place)
        assert (report.embedded, [file.state for file in report.files]) == (0, ["unchanged"])
        found = index.show(document, principal=Principal(groups=frozenset({"fraud_team"})))
        assert found.rights.groups == {"fraud_team"}


@pytest.mark.parametrize(
    "body",
    [
        {"groups": "board"},
        {"trust": "much"},
        {"title": "a\nb"},
        {"title": 'a"\ngroups = ["everyone"]\nx = "'},
        {"fields": {"department": {"x": 1}}},
        {"match": "**"},
        {"valid_from": "2026-02-01", "valid_to": "2026-01-01"},
    ],
)
def test_a_change_says_nothing_else(own: Served, body: dict[str, Any]) -> None:
    client = own.client("ann", "write")
    document = uploaded(client, "fees.md", FEES)["result"]["files"][0]["document"]
    assert client.patch(f"/v1/documents/{document}", json=body).status_code == 422
    undeclared = client.patch(f"/v1/documents/{document}", json={"fields": {"department": "x"}})
    assert undeclared.status_code == 400


def test_a_deleted_upload_has_no_file_and_its_name_is_free(own: Served) -> None:
    client = own.client("ann", "write")
    document = uploaded(client, "fees.md", FEES, version="1")["result"]["files"][0]["document"]
    receipt = client.delete(f"/v1/documents/{document}")
    assert receipt.json()["removed"][0]["versions"] == [1]
    assert below(own.folder("ann")) == set()
    assert client.delete(f"/v1/documents/{document}").status_code == 404
    assert files_of(uploaded(client, "fees.md", FEES)) == [("fees.md", "added")]


def test_another_writer_is_waited_for_and_then_told(own: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("citewell.serving.routes.changes.SOON_S", 0.3)
    client = own.client("ann", "write")
    document = uploaded(client, "fees.md", FEES)["result"]["files"][0]["document"]
    with another_writer(Path(own.service.index.location)) as process:
        answer = client.delete(f"/v1/documents/{document}")
        assert (answer.status_code, answer.json()["error"]["type"]) == (409, "IndexLocked")
        assert str(process) not in answer.text
        job = client.post("/v1/documents", files=[("files", ("more.md", "# More\n\nMore.\n"))]).json()["job"]
        assert client.get(f"/v1/jobs/{job}").json()["state"] in ("queued", "running")
    assert finished(client, job)["state"] == "done"
    assert client.delete(f"/v1/documents/{document}").status_code == 200


def test_too_large_an_upload_is_refused_while_it_comes(index_copy: Path, tmp_path: Path) -> None:
    settings = settings_at(tmp_path, max_upload_mb=1)
    with serving(create_app(index_copy, settings)) as served:
        client, most = served.client("ann", "write"), 3_000_000

        def pieces(sent: list[int]) -> Any:
            head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.md"\r\n\r\n'
            yield head
            for _ in range(400):
                sent.append(100_000)
                yield b"a" * 100_000

        said = client.post("/v1/documents", files=[("files", ("a.md", b"a" * most))])
        sent: list[int] = []
        form = {"Content-Type": "multipart/form-data; boundary=x"}
        unsaid = client.post("/v1/documents", content=pieces(sent), headers=form)
        for answer in (said, unsaid):
            assert (answer.status_code, answer.json()["error"]["type"]) == (413, "TooLarge")
        reader = served.client("bob").post("/v1/documents", files=[("files", ("a.md", b"a" * 2_500_000))])
        assert reader.status_code == 413  # who may not upload may not send that much
        assert Keys(served.service.state).every()
        assert below(served.service.state.folder / "uploads") == set()


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/search", "/health"])
def test_no_route_reads_a_body_without_end(read_only: Served, path: str) -> None:
    def endless() -> Any:
        for _ in range(60):
            yield b" " * 100_000

    answer = read_only.client("ann").post(path, content=endless(), headers={"Content-Type": "application/json"})
    assert answer.status_code in (405, 413)

"""Who may come in: by key, by token, from this machine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import jwt
import pytest

from citewell.serving.app import create_app
from citewell.serving.keys import Keys
from tests.serving.conftest import QUESTION, settings_at
from tests.serving.scripted_issuer import AUDIENCE, ScriptedIssuer, issuing, new_key
from tests.serving.served import Served, serving

ASK = {"question": QUESTION}


def test_without_a_key_there_is_nothing_but_health(read_only: Served) -> None:
    client = read_only.client()
    for path in ("/health", "/ready", "/openapi.json"):
        assert client.get(path).status_code == 200
    paths = client.get("/openapi.json").json()["paths"]
    closed = [(method, path) for path, said in paths.items() for method in said if path not in ("/health", "/ready")]
    for method, path in [*closed, ("get", "/v1/nothing"), ("get", "/nothing"), ("post", "/mcp")]:
        answer = client.request(method, path)
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("shown", ["", "Bearer", "Basic Y3c6Y3c=", "Bearer cw_", "Bearer cw_x", "Bearer a.b.c"])
def test_what_is_no_key_is_refused(read_only: Served, shown: str) -> None:
    answer = read_only.client().post("/v1/ask", json=ASK, headers={"Authorization": shown})
    assert answer.status_code == 401


def test_a_revoked_key_is_refused_at_once(own: Served) -> None:
    client, keys = own.client("ann"), Keys(own.service.state)
    assert client.get("/v1/documents").status_code == 200
    keys.revoke(next(key.id for key in keys.every() if key.caller.name == own.caller("ann")))
    assert client.get("/v1/documents").status_code == 401


def test_a_scope_has_the_smaller_ones(read_only: Served) -> None:
    files, wrong = [("files", ("a.md", "x"))], {"valid_from": "2027-01-01", "valid_to": "2026-01-01"}
    for scope, writes, administers in (("read", 403, 403), ("write", 400, 403), ("admin", 400, 200)):
        client = read_only.client(f"of-{scope}", scope)
        assert client.get("/v1/documents").status_code == 200
        assert client.post("/v1/documents", files=files, data=wrong).status_code == writes
        assert client.delete("/v1/documents/none").status_code == (403 if writes == 403 else 404)
        assert client.patch("/v1/documents/none", json={}).status_code == (403 if writes == 403 else 404)
        assert client.get("/metrics").status_code == administers


def test_a_form_of_another_site_does_nothing(read_only: Served) -> None:
    """It can send no header, so it shows no key; and there are no cookies."""
    answer = read_only.client().post(
        "/v1/documents", files=[("files", ("a.md", "# A\n\nOne.\n"))], headers={"Origin": "https://elsewhere.example"}
    )
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert "set-cookie" not in read_only.client("ann").get("/v1/documents").headers


# Tokens of an issuer


@pytest.fixture(scope="module")
def issuer() -> Iterator[ScriptedIssuer]:
    with issuing() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def trusting(issuer: ScriptedIssuer, built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    settings = settings_at(
        tmp_path_factory.mktemp("oidc"), oidc_issuer=issuer.url, oidc_audience=AUDIENCE, oidc_groups_claim="teams"
    )
    with serving(create_app(built / "index", settings)) as served:
        yield served


def shown(served: Served, token: str, method: str = "GET", path: str = "/v1/documents") -> httpx.Response:
    return served.client().request(method, path, headers={"Authorization": f"Bearer {token}"})


def test_a_token_reads_with_the_groups_of_its_claim(trusting: Served, issuer: ScriptedIssuer) -> None:
    def titles(**claims: Any) -> list[str]:
        answer = shown(trusting, issuer.token(**claims))
        assert answer.status_code == 200
        return [each["title"] for each in answer.json()["documents"]]

    assert titles() == ["Disputes"]
    assert titles(groups=["board"]) == ["Disputes"]  # not the claim that the settings name
    assert titles(teams=["board"]) == ["Disputes", "Code word"]
    assert titles(teams="fraud_team") == ["Disputes", "Scoring"]
    assert titles(teams=["fraud_team", 7, None, ["board"]]) == ["Disputes", "Scoring"]
    assert titles(teams={"board": 1}) == ["Disputes"]


def test_a_token_only_reads_unless_its_scope_says_more(trusting: Served, issuer: ScriptedIssuer) -> None:
    for claims, writes, administers in (
        ({}, 403, 403),
        ({"scope": "openid admin write"}, 403, 403),
        ({"scope": "openid citewell:write"}, 404, 403),
        ({"scp": ["citewell:admin"]}, 404, 200),
    ):
        token = issuer.token(**dict[str, Any](claims))
        assert shown(trusting, token, "DELETE", "/v1/documents/none").status_code == writes
        assert shown(trusting, token, path="/metrics").status_code == administers


def test_a_token_that_does_not_hold_is_refused(trusting: Served, issuer: ScriptedIssuer) -> None:
    now = datetime.now(UTC)
    public = jwt.algorithms.RSAAlgorithm.to_jwk(issuer.keys["one"].public_key())
    head = {"kid": "one"}
    claims = {"iss": issuer.url, "aud": AUDIENCE, "sub": "ann", "exp": now + timedelta(minutes=5)}
    wrong = {
        "expired": issuer.token(exp=now - timedelta(minutes=5)),
        "not yet": issuer.token(nbf=now + timedelta(minutes=5)),
        "without an end": issuer.token(exp=None),
        "for another": issuer.token(aud="another"),
        "for nobody": issuer.token(aud=None),
        "of another issuer": issuer.token(iss="https://elsewhere.example"),
        "of no issuer": issuer.token(iss=None),
        "of nobody": issuer.token(sub=None),
        "of a long name": issuer.token(sub="x" * 201),
        "by another key": issuer.token(by=new_key()),
        "by an unknown key": jwt.encode(claims, new_key(), algorithm="RS256", headers={"kid": "three"}),
        "by a key without a name": jwt.encode(claims, issuer.keys["one"], algorithm="RS256"),
        "unsigned": jwt.encode(claims, "", algorithm="none", headers=head),
        "signed with the public key": jwt.encode(claims, public.encode()[:64], algorithm="HS256", headers=head),
        "too long": issuer.token(more="x" * 20_000),
        "cut": issuer.token()[:-6],
    }
    for what, token in wrong.items():
        assert shown(trusting, token).status_code == 401, what
    assert shown(trusting, issuer.token()).status_code == 200


def test_a_new_key_of_the_issuer_is_found_and_made_up_ones_do_not_make_us_ask(
    issuer: ScriptedIssuer, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_at(tmp_path, oidc_issuer=issuer.url, oidc_audience=AUDIENCE, oidc_jwks_url=f"{issuer.url}/keys")
    with serving(create_app(built / "index", settings)) as served:
        before = issuer.reads
        for _ in range(3):
            assert shown(served, issuer.token()).status_code == 200
            assert shown(served, issuer.token("one", by=new_key())).status_code == 401
        assert issuer.reads == before + 1
        issuer.keys["two"] = new_key()
        assert shown(served, issuer.token("two")).status_code == 401  # it was read a moment ago
        monkeypatch.setattr("citewell.serving.tokens.AGAIN_S", 0.0)
        assert shown(served, issuer.token("two")).status_code == 200
        assert issuer.reads == before + 2


def test_an_issuer_that_is_not_there_is_said_to_be_so(built: Path, tmp_path: Path, issuer: ScriptedIssuer) -> None:
    gone = settings_at(tmp_path, oidc_issuer="http://127.0.0.1:9", oidc_audience=AUDIENCE)
    with serving(create_app(built / "index", gone)) as served:
        answer = shown(served, issuer.token())
        assert (answer.status_code, answer.json()["error"]["type"]) == (502, "ServiceUnreachable")
        assert "127.0.0.1:9" not in answer.text
        assert shown(served, issuer.token()).status_code == 502  # at once: it is not asked again so soon
        assert served.client("ann").get("/v1/documents").status_code == 200  # keys still hold


def test_a_key_that_we_cannot_use_does_not_keep_the_others_from_holding(
    issuer: ScriptedIssuer, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = issuer.jwks()["keys"]
    strange: list[Any] = [
        {"kid": "a", "kty": "AKP", "alg": "ML-DSA-44", "pub": "AA"},
        {"kid": "b", "use": "sig", "kty": "EC", "crv": "brainpoolP256r1", "x": "AA", "y": "AA"},
        {"kid": "c", "kty": "RSA", "n": "AA"},
        {"kid": ["d"], "kty": "RSA"},
        {"kid": "e", "kty": "EC", "crv": "P-256", "x": 7, "y": None},
        "f",
        None,
    ]
    monkeypatch.setattr(issuer, "jwks", lambda: {"keys": [*strange, *known]})
    settings = settings_at(tmp_path, oidc_issuer=issuer.url, oidc_audience=AUDIENCE)
    with serving(create_app(built / "index", settings)) as served:
        assert shown(served, issuer.token()).status_code == 200
        for head in ("a", "b", "c", "e"):
            unknown = jwt.encode({"sub": "ann"}, issuer.keys["one"], algorithm="RS256", headers={"kid": head})
            assert shown(served, unknown).status_code == 401


def test_a_name_or_group_cannot_write_lines_of_its_own_into_a_log(trusting: Served, issuer: ScriptedIssuer) -> None:
    for subject in (
        "eve\n2026-11-30 INFO citewell.serving: DELETE /v1/documents",
        "eve\x00",
        "eve\x1b[2J",
        "\u202eeve",
    ):
        assert shown(trusting, issuer.token(sub=subject)).status_code == 401
    answer = shown(trusting, issuer.token(teams=["board", "a\0b", "a\nb"]), path="/v1/me")
    assert answer.json()["groups"] == ["board", "everyone"]


# This machine alone


@pytest.fixture
def local(built: Path, tmp_path: Path) -> Iterator[Served]:
    with serving(create_app(built / "index", settings_at(tmp_path), no_auth=True)) as served:
        yield served


def test_on_this_machine_nobody_needs_a_key(local: Served) -> None:
    client = local.client()
    assert client.post("/v1/ask", json=ASK).json()["citations"]
    assert [each["title"] for each in client.get("/v1/documents").json()["documents"]] == ["Disputes"]
    assert client.get("/metrics").status_code == 200
    assert client.get("/v1/documents", headers={"Origin": local.url}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Host": "elsewhere.example"},
        {"Host": "127.0.0.1.elsewhere.example"},
        {"Host": "192.168.0.7"},
        {"Host": ""},
        {"Host": "elsewhere.example@localhost"},
        {"Host": "localhost#elsewhere.example"},
        {"Host": "localhost/elsewhere.example"},
        {"Host": "localhost:x"},
        {"Host": "[::1"},
        {"Host": "[bad]"},
        {"Origin": "http://[x"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": ""},
    ],
)
def test_a_page_of_another_site_gets_nothing_without_keys(local: Served, headers: dict[str, str]) -> None:
    """Nor one whose name has been made to point at this machine."""
    for answer in (
        local.client().get("/v1/documents", headers=headers),
        local.client().post("/v1/documents", files=[("files", ("a.md", "x"))], headers=headers),
    ):
        assert (answer.status_code, answer.json()["error"]["type"]) == (403, "Forbidden")

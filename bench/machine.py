"""The lines that every bench prints first: the machine, and the versions of what is measured."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

MEASURED = ("citewell", "lancedb", "numpy", "onnxruntime", "tokenizers")


def describe() -> dict[str, str]:
    """Processor, cores, load and versions, for a bench's header and its JSON."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "load": " ".join(f"{load:.1f}" for load in os.getloadavg()),
        "python": platform.python_version(),
        **{name: version(name) for name in MEASURED},
    }


def header() -> str:
    return ", ".join(f"{key} {value}" for key, value in describe().items())


def resident_mb(process: int | str = "self") -> float:
    """The memory that a process has in use, this one if none is named, in megabytes (2^20)."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())

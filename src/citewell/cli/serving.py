"""The extra that the service needs."""

from __future__ import annotations

from importlib.util import find_spec

from citewell.errors import UsageError

NEEDED = ("fastapi", "jwt", "prometheus_client", "python_multipart", "uvicorn")


def require_serving() -> None:
    """Raises UsageError: what the service is made of is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"The service needs {', '.join(missing)}, which is not installed.",
            remedy="Install it with `pip install 'citewell[serve]'`.",
        )

"""What is said about a file; see `types.Attributes`."""

from citewell.types import NOTHING, Attributes

__all__ = ["NOTHING", "Attributes"]

"""What `citewell doctor` looks at, and what it can mend."""

from citewell.diagnosis.examination import examine
from citewell.diagnosis.findings import Check, Severity
from citewell.diagnosis.mending import mend

__all__ = ["Check", "Severity", "examine", "mend"]

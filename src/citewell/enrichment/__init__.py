"""What a language model writes of documents when they are indexed, to be searched beside their own words."""

from citewell.enrichment.asking import ENRICHER_VERSION, Keep, Task
from citewell.enrichment.contexts import CONTEXT_TOKENS
from citewell.enrichment.enricher import Enriched, Enricher, tasks

__all__ = ["CONTEXT_TOKENS", "ENRICHER_VERSION", "Enriched", "Enricher", "Keep", "Task", "tasks"]

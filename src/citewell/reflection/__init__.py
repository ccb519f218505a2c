"""Self-RAG: a model that judges what it reads and what it writes (docs/self_rag.md)."""

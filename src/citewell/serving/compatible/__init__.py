"""The shapes of other services, so that their clients work unchanged: OpenAI's chat and embeddings, Cohere's and Jina's
re-ranking. docs/connect.md.
"""

"""PostgreSQL with pgvector: an index in a schema of a database, each generation in one beside it.

Needs a server with pgvector 0.8 or newer, and `pip install citewell[postgres]` here.
"""

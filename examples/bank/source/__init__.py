"""The written content of the running example, and what turns it into documents."""

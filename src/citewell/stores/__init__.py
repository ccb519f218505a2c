"""Where documents, chunks and entries live: the protocol in `store`, and the engines behind it."""

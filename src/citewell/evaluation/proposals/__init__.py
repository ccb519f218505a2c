"""Questions that a document answers, proposed without a model (English only) or written by one."""

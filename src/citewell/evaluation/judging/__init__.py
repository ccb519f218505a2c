"""Judges of answers that the bench can be told to use; the one without a model is in `citewell.checking`."""

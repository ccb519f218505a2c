"""RTF, by a tokenizer that is linear in the text."""

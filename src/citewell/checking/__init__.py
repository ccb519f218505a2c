"""Is a claim supported by passages? Its facts, its words and its meaning, compared without a language model."""

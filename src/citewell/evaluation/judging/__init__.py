"""Judges: is a claim supported by passages? One protocol, a model-free judge, and those that ask a model."""

"""The ways from a text to a fact."""

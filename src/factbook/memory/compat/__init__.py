"""The names of earlier programs, over the parts that do the same today."""

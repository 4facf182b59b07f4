"""Reads that are made of the verbs of a store, the same over every back end."""

"""Numbered migrations; each is applied in one transaction together with its version record."""

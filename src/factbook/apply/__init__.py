"""The one way to write: operations are checked and carried out together, or not at all."""

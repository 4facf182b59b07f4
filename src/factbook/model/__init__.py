"""The nouns and verbs of factbook: facts, entities, operations, keys. No I/O, no store."""

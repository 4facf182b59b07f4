"""Put a memory into the configuration of an agent's client, and take it out again.

Knows: where each client keeps its configuration, what stands there of ours, and how to change a
file without touching anything else in it. Does not know: the memory itself.
"""

"""What a language model helps with: it proposes JSON; code validates, scores, gates and writes.

`answering` turns a person's words into plans of reading keyed facts (seed 004). What a model helps
to write goes through `pipelines`. A failure writes nothing but the reason, and leaves the input
queued.
"""

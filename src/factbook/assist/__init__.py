"""What a language model helps with: it proposes JSON; code validates, scores, gates and writes.

`telling` and `answering` turn a person's words into operations on keyed facts and into plans of
reading them (seed 004). A failure writes nothing but the reason, and leaves the input queued.
"""

"""The ways from a text to a fact, each in a file of its own and of the same shape.

    source -> episodes -> candidates -> verdicts -> Ops -> receipt

`claims` builds what asserts, supports and refuses, for all of them.
"""

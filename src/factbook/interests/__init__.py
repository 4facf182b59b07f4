"""Follow what owners care about, find out more about it, and tell them.

Knows: engagements and the interest they make up, searches, notices, and when each loop may do what.
Does not know: how a search provider is reached, how a text is read for facts, or how a row is
written; all that changes goes through Ops (4), under the trigger that caused it.
"""

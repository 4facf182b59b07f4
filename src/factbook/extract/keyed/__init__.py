"""Keyed facts: what a person states about themselves under a key, and ranked lists.

A message becomes operations (`FactsOpsResponse`), a question becomes a plan (`FactsQueryPlan`),
either by a language model (`prompts`) or by rules (`phrases`, `questions`). Both only propose:
`grounded` asks whether the message says so (`mentions` finds the words, `told` reads them in their
tree; `ranked`, `named` and `removal` judge them), `clarify` asks back where no list was named,
`contracts` refuses what is incomplete, and `lists` says what a list looks like afterwards.

Knows messages and keys. Does not know a store, the clock, or what a model answered before.
"""

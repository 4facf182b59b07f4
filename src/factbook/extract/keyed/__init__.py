"""Keyed facts: what a person states about themselves under a key, and ranked lists.

A message becomes operations (`FactsOpsResponse`), a question becomes a plan (`FactsQueryPlan`),
either by a language model (`prompts`) or by rules (`tell`, `ask`), which read a place ("my #2
favorite crypto") alike (`places`). Both only propose: `grounded` asks whether the message says so
(`mentions` finds the words, `told` reads them in their tree; `ranked`, `named` and `removal` judge
them), `clarify` asks back where no list was named, and `contracts` refuses what is incomplete.

Knows messages and keys. Does not know a store, the clock, or what a model answered before.
"""

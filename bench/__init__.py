"""Measure the product beside named baselines; each part runs as `python -m bench.PART`."""

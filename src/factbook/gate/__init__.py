"""3 gate: say of each candidate whether it may enter, and why not. Pure functions."""

"""Real coding agents, headless, against a scripted model on this machine (`make clients`).

No key, no account and nothing but 127.0.0.1: `install.sh` fetches the agents from npm, `agents`
runs one in a home of its own, `scripted` is the model, and the tests read the logs that are left.
"""

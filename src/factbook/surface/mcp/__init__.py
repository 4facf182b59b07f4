"""`factbook mcp`: a memory as a server of the Model Context Protocol, over stdin and stdout.

On the standard library alone, and the memory is opened at the first call: a client that starts its
servers and asks at once takes one that is not ready after a second for none.
"""

from factbook.surface.mcp.server import PROFILES, serve

__all__ = ["PROFILES", "serve"]

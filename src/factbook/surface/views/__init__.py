"""Lay out for people what the operations found.

Every function writes to a `Page`. Stored text enters a line only through `text.safe`,
`text.one_line`, a `say` or a table cell; what may not be shown was taken out before. A part is
imported when it is first named: a command pays for what it shows.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factbook.surface.views import ask as ask
    from factbook.surface.views import counted as counted
    from factbook.surface.views import erased as erased
    from factbook.surface.views import keep as keep
    from factbook.surface.views import model as model
    from factbook.surface.views import report as report
    from factbook.surface.views import rules as rules
    from factbook.surface.views import sessions as sessions
    from factbook.surface.views import world as world
else:

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name.startswith("_"):
            raise AttributeError(name)
        return import_module(f"{__name__}.{name}")

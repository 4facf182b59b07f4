"""The JSON of what the operations return (`forms`), imported when something is first written."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factbook.surface.records.forms import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        from importlib import import_module

        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(import_module("factbook.surface.records.forms"), name)

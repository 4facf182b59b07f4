"""Search the web, or a folder of one's own documents, through one protocol.

    config = load_search_config(os.environ, config_path(os.environ))   # None: searching is off
    answer = open_search(config).search("kef ls50 meta")

Providers: `folder` (offline), `searxng` (an instance of one's own), `ddgs` (an extra), `tavily` and
`brave` (with a key). Knows: how each of them is asked. Does not know: who asks, or what the results
are for. Their texts are of others: never trusted, never obeyed, and secrets in them are replaced by
whoever keeps them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from factbook.net.http import Endpoint, read_address, require_httpx
from factbook.search_providers import config as _config
from factbook.search_providers.base import SearchProvider, is_local
from factbook.search_providers.config import SearchConfig, key_of, load_search_config

__all__ = ["SearchConfig", "SearchProvider", "is_local", "load_search_config", "open_search"]


def open_search(config: SearchConfig, *, environ: Mapping[str, str] = os.environ) -> SearchProvider:
    """Return the search provider of a configuration; nothing is read or sent yet.

    Raises UsageError where a package that it needs is missing, or its key is.
    """
    if config.provider == _config.FOLDER:
        from factbook.search_providers.folder import FolderSearch

        assert config.folder is not None  # load_search_config sees to it
        return FolderSearch(config.folder, timeout_s=config.timeout_s)
    if config.provider == _config.DDGS:
        from factbook.search_providers.ddgs import Ddgs

        return Ddgs(config)
    require_httpx(f"The search provider {config.provider}", extra="search")
    key = key_of(config, environ)
    if config.provider == _config.SEARXNG:
        from factbook.search_providers.searxng import SearXNG

        address = read_address(config.url.removesuffix("/search"))
        return SearXNG(config, Endpoint(address, key=key))
    if config.provider == _config.TAVILY:
        from factbook.search_providers.tavily import Tavily

        return Tavily(config, Endpoint(read_address(config.url), key=key))
    if config.provider == _config.BRAVE:
        from factbook.search_providers.brave import KEY_HEADER, Brave

        return Brave(config, Endpoint(read_address(config.url), key=key, key_header=KEY_HEADER))
    raise ValueError(f"{config.provider} is no search provider")

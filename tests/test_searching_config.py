"""Which search provider is used, and what is said of a wrong setting."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from factbook import policy
from factbook.errors import UsageError
from factbook.search_providers import SearchConfig, load_search_config, open_search
from factbook.search_providers.config import key_of
from rows import every

KEY = "tvly-a-key-that-nobody-has"


def loaded(path: Path | None = None, **variables: str) -> SearchConfig | None:
    """Load with variables whose prefix is understood."""
    environ = {
        name if name.endswith("API_KEY") else f"FACTBOOK_SEARCH_{name}": value
        for name, value in variables.items()
    }
    return load_search_config(environ, path)


def written(folder: Path, text: str) -> Path:
    """Write a configuration file."""
    path = folder / "config.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"FACTBOOK_SEARCH_PROVIDER": ""},
        {"FACTBOOK_SEARCH_URL": "  "},
        {"FACTBOOK_SEARCH_KEY": KEY},
        {"TAVILY_API_KEY": KEY, "BRAVE_API_KEY": KEY},
        {"FACTBOOK_SEARCH_TIMEOUT_S": "3"},
        {"FACTBOOK_SEARCH_KEY_ENV": "MY_KEY"},
        {"FACTBOOK_SEARCH_PROVIDER": "off", "FACTBOOK_SEARCH_URL": "http://127.0.0.1:8888"},
    ],
)
def test_it_is_off_unless_a_provider_is_set_up(environ: Mapping[str, str]) -> None:
    assert load_search_config(environ) is None


def test_a_folder_alone_is_the_folder_and_an_address_alone_is_searxng(tmp_path: Path) -> None:
    found = loaded(FOLDER=str(tmp_path))
    assert found == SearchConfig(provider="folder", folder=tmp_path)
    assert found.timeout_s == policy.SEARCH_TIMEOUT_S
    found = loaded(URL="http://127.0.0.1:8888/")
    assert found == SearchConfig(provider="searxng", url="http://127.0.0.1:8888")


def test_variables_count_before_the_file(tmp_path: Path) -> None:
    path = written(
        tmp_path, '[search]\nprovider = "searxng"\nurl = "http://[::1]:8888"\nlanguage = "de"\n'
    )
    assert load_search_config({}, path) == SearchConfig(
        provider="searxng", url="http://[::1]:8888", language="de"
    )
    found = loaded(path, LANGUAGE="pt-BR", TIMEOUT_S="4")
    assert found is not None
    assert (found.language, found.timeout_s, found.url) == ("pt-BR", 4.0, "http://[::1]:8888")
    assert loaded(path, PROVIDER="OFF") is None


def test_a_folder_of_the_file_is_taken_from_where_the_file_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = written(tmp_path, '[search]\nfolder = "docs"\n')
    found = load_search_config({}, path)
    assert found is not None
    assert found.folder == tmp_path / "docs"
    found = loaded(path, FOLDER="elsewhere")
    assert found is not None
    assert found.folder == tmp_path / "elsewhere"
    found = loaded(FOLDER="~/docs")
    assert found is not None
    assert found.folder == tmp_path / "home" / "docs"


def test_providers_with_a_key_have_their_own_address() -> None:
    found = load_search_config({"FACTBOOK_SEARCH_PROVIDER": "tavily", "TAVILY_API_KEY": KEY})
    assert found == SearchConfig(
        provider="tavily", url="https://api.tavily.com", key_env="TAVILY_API_KEY"
    )
    found = loaded(PROVIDER="Brave", KEY=KEY)
    assert found == SearchConfig(
        provider="brave", url="https://api.search.brave.com", key_env="FACTBOOK_SEARCH_KEY"
    )


def test_the_key_of_a_provider_goes_to_its_own_host_alone() -> None:
    environ = {
        "FACTBOOK_SEARCH_PROVIDER": "tavily",
        "FACTBOOK_SEARCH_URL": "https://proxy.example.org/tavily",
        "TAVILY_API_KEY": KEY,
    }
    with pytest.raises(UsageError, match="tavily needs a key"):
        load_search_config(environ)


def test_the_key_is_read_and_never_shown(tmp_path: Path) -> None:
    path = written(tmp_path, '[search]\nprovider = "tavily"\nkey_env = "MY_KEY"\n')
    config = load_search_config({}, path)
    assert config is not None
    key = key_of(config, {"MY_KEY": KEY})
    assert key is not None
    assert key.reveal() == KEY
    assert KEY not in repr(key) + repr(config)
    assert key_of(SearchConfig(provider="searxng"), {"FACTBOOK_SEARCH_KEY": KEY}) is None
    with pytest.raises(UsageError, match="MY_KEY, which is to hold the key of tavily, is not set"):
        open_search(config, environ={})
    with pytest.raises(UsageError, match="MY_KEY cannot be used") as caught:
        open_search(config, environ={"MY_KEY": f"{KEY}\n"})
    assert KEY not in str(caught.value)


@every(
    ("variables", "said"),
    [
        ({"PROVIDER": "google"}, "must be one of folder, searxng, ddgs, tavily, brave, off"),
        ({"PROVIDER": "folder"}, "No folder of documents is named; set FACTBOOK_SEARCH_FOLDER"),
        ({"PROVIDER": "searxng"}, "No address is named for searxng; set FACTBOOK_SEARCH_URL"),
        ({"PROVIDER": "tavily"}, "set FACTBOOK_SEARCH_KEY or TAVILY_API_KEY"),
        ({"PROVIDER": "brave"}, "set FACTBOOK_SEARCH_KEY or BRAVE_API_KEY"),
        ({"FOLDER": "a", "URL": "http://127.0.0.1"}, "set up without a provider"),
        ({"ENGINES": "wikipedia"}, "set up without a provider"),
        ({"FOLDER": "a", "LANGUAGE": "de"}, "language is set"),
        ({"PROVIDER": "ddgs", "URL": "http://127.0.0.1"}, "ddgs does not use it"),
        ({"URL": "localhost:8888"}, "is no address"),
        ({"URL": "http://me:secret-word@127.0.0.1"}, "name or a password"),
        ({"URL": "http://127.0.0.1", "LANGUAGE": "german!"}, "must be like en or pt-BR"),
        ({"PROVIDER": "ddgs", "REGION": "everywhere"}, "must be like us-en"),
        ({"URL": "http://127.0.0.1", "ENGINES": "a;b"}, "must be like wikipedia,arxiv"),
        ({"URL": "http://127.0.0.1", "TIMEOUT_S": "soon"}, "must be a number from 0.1 to 600"),
        ({"FOLDER": "a\0b"}, "must be the path of a folder"),
        ({"URI": "http://127.0.0.1"}, "write FACTBOOK_SEARCH_URL or unset it"),
        ({"URL": "http://127.0.0.1", "KEY_ENV": "sk-1234"}, "never a key"),
        (
            {"URL": "http://search.example.org", "KEY": KEY},
            "would travel to http://search.example.org by plain http",
        ),
    ],
)
def test_a_wrong_setting_is_said(variables: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        loaded(**variables)
    assert said in str(caught.value)
    assert "secret-word" not in str(caught.value)
    assert KEY not in str(caught.value)
    assert "sk-1234" not in str(caught.value)


def test_without_the_package_that_speaks_http_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)  # which Python takes for "not installed"
    config = SearchConfig(provider="searxng", url="http://127.0.0.1:8888")
    with pytest.raises(UsageError, match=r"needs the package httpx2.*factbook\[search\]"):
        open_search(config, environ={})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[search]\nkey = 'x'\n", "holds a key, which a file must not"),
        ("[search]\nurls = 'x'\n", "write url or take it away"),
        ("search = 1\n", "is not a table; write [search] above its settings"),
        ("[search\n", "is not TOML"),
    ],
)
def test_a_wrong_file_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_search_config({}, written(tmp_path, text))
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        load_search_config({}, tmp_path / "config.toml")
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"[search]\nfolder = 'caf\xe9'\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_search_config({}, latin)
    assert load_search_config({}, tmp_path / "none.toml") is None

"""Which language model is used, and what is said of a configuration that is wrong."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from factbook import policy
from factbook.errors import UsageError
from factbook.llm.config import (
    EmbedConfig,
    ModelConfig,
    key_of,
    load_config,
    load_embed_config,
)
from factbook.net.http import ERROR_BYTES, REASON_CHARS, Secret, one_line, read_address, said_in
from factbook.net.settings import config_path
from rows import every

KEY = "sk-not-to-be-seen-anywhere"


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def wrong(environ: dict[str, str], path: Path | None = None, **flags: object) -> str:
    """Return what a wrong configuration is told."""
    with pytest.raises(UsageError) as caught:
        load_config(environ, path, **flags)
    assert caught.value.exit_code == 2
    assert KEY not in str(caught.value)
    return str(caught.value)


# --- off, and the seed's four variables -----------------------------------------------------------


def test_a_model_is_off_unless_something_is_set(tmp_path: Path) -> None:
    """Seed 004: off unless a FACTS_LLM_* variable, a config entry or a flag is set."""
    nothing = {"PATH": "/bin", "OPENAI_API_KEY": KEY, "OLLAMA_HOST": "0.0.0.0", "FACTS_LLM_URL": ""}
    assert load_config(nothing) is None
    assert load_config(nothing, tmp_path / "there-is-none.toml") is None
    assert load_config(nothing, file(tmp_path, "[llm]\n# model = 'x'\n[other]\na = 1\n")) is None
    assert load_config(nothing, None, model=None, url=None) is None
    assert load_embed_config(nothing) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FACTS_LLM_PROVIDER", "ollama"),
        ("FACTS_LLM_MODEL", "qwen2.5:7b-instruct"),
        ("FACTS_LLM_URL", "http://127.0.0.1:11434"),
        ("FACTS_LLM_TIMEOUT_S", "12"),
    ],
)
def test_each_of_the_four_variables_turns_it_on_with_the_other_defaults(
    name: str, value: str
) -> None:
    """Seed 004: the four variables and their defaults."""
    config = load_config({name: value})
    assert config == ModelConfig()
    assert config is not None
    assert (config.provider, config.model) == ("ollama", "qwen2.5:7b-instruct")
    assert (config.url, config.timeout_s) == ("http://127.0.0.1:11434", 12.0)
    assert config.temperature == 0.0


def test_a_flag_goes_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    path = file(tmp_path, "[llm]\nmodel = 'of-file'\ntimeout_s = 3\nnum_ctx = 4096\n")
    config = load_config({"FACTS_LLM_MODEL": "of-env", "FACTS_LLM_TIMEOUT_S": "4"}, path)
    assert config is not None
    assert (config.model, config.timeout_s, config.num_ctx) == ("of-env", 4.0, 4096)
    config = load_config({"FACTS_LLM_MODEL": "of-env"}, path, model="of-flag")
    assert config is not None
    assert (config.model, config.timeout_s) == ("of-flag", 3.0)


def test_off_turns_it_off_whatever_stands_elsewhere(tmp_path: Path) -> None:
    path = file(tmp_path, "[llm]\nmodel = 'x'\n")
    assert load_config({"FACTS_LLM_PROVIDER": "off"}, path) is None
    assert load_config({"FACTS_LLM_MODEL": "x"}, path, provider="off") is None
    assert load_config({"FACTS_LLM_PROVIDER": "off"}, path, provider="ollama") is not None


def test_every_setting_can_stand_in_a_file(tmp_path: Path) -> None:
    path = file(
        tmp_path,
        """
        [llm]
        provider = "openai"
        model = "small"
        url = "https://models.example/v1/"
        timeout_s = 20
        chat_timeout_s = 60.5
        temperature = "server"
        num_ctx = 32768
        keep_alive = -1
        max_answer_bytes = 65536
        key_env = "MY_KEY"
        price_in = 0.15
        price_out = 0.6
        currency = "EUR"
        daily_money = 0.5
        daily_calls = 100
        daily_tokens = 200000
        [embed]
        provider = "gemini"
        model = "gemini-embedding-001"
        dim = 768
        ask_dim = true
        key_env = "MY_KEY"
        batch = 100
        """,
    )
    assert load_config({}, path) == ModelConfig(
        provider="openai",
        model="small",
        url="https://models.example/v1",
        timeout_s=20.0,
        chat_timeout_s=60.5,
        temperature=None,
        num_ctx=32_768,
        keep_alive=-1,
        max_answer_bytes=65_536,
        key_env="MY_KEY",
        price_in=0.15,
        price_out=0.6,
        currency="EUR",
        daily_money=0.5,
        daily_calls=100,
        daily_tokens=200_000,
        embed=EmbedConfig(
            provider="gemini",
            model="gemini-embedding-001",
            url="https://generativelanguage.googleapis.com/v1beta/openai",
            dim=768,
            ask_dim=True,
            key_env="MY_KEY",
            batch=100,
        ),
    )


def test_the_file_is_in_the_users_folder_unless_it_is_named() -> None:
    assert config_path({"FACTBOOK_CONFIG": "/etc/factbook.toml"}) == Path("/etc/factbook.toml")
    assert config_path({}).name == "config.toml"
    assert config_path({}).parent.name == "factbook"


# --- wrong settings -------------------------------------------------------------------------------


@every(
    ("name", "value", "said"),
    [
        ("PROVIDER", "anthropic", "'anthropic', but it must be one of ollama, openai, off"),
        ("MODEL", "a\nb", "must be a name of printable ASCII"),
        ("URL", "localhost:11434", "does not begin with http://"),
        ("URL", "ftp://host", "does not begin with http://"),
        ("URL", "http://", "names no host"),
        ("URL", "http://host:99999", "port"),
        ("URL", "http://host/?a=1", "holds a ?"),
        ("URL", "http://ho st", "a space"),
        ("URL", f"http://user:{KEY}@host", "belong into an environment variable"),
        ("TIMEOUT_S", "soon", "'soon', but it must be a number from 0.1 to 3600"),
        ("TIMEOUT_S", "nan", "must be a number"),
        ("TIMEOUT_S", "0", "must be a number"),
        ("TIMEOUT_S", "inf", "must be a number"),
        ("NUM_CTX", "8k", "must be a whole number"),
        ("NUM_CTX", "-1", "must be a whole number"),
        ("TEMPERATURE", "hot", 'or "server"'),
        ("KEEP_ALIVE", "5 minutes", "a time such as 30m"),
        ("KEY_ENV", KEY, "the name of an environment variable"),
        ("DAILY_MONEY", "-1", "must be a number"),
    ],
)
def test_a_wrong_variable_is_named_with_what_to_do(name: str, value: str, said: str) -> None:
    message = wrong({f"FACTS_LLM_{name}": value})
    assert f"The variable FACTS_LLM_{name}" in message
    assert said in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[llm]\nmodel = 7\n", "model of [llm] in"),
        ("[llm]\ntimeout_s = true\n", "timeout_s of [llm] in"),
        ("[llm]\nnum_ctx = 8.5\n", "must be a whole number"),
        ("[llm]\nmodle = 'x'\n", "write model"),
        ("[llm]\nzzz = 'x'\n", "use one of provider, model"),
        (f"[llm]\napi_key = '{KEY}'\n", "name that in key_env"),
        ("llm = 3\n", "is not a table"),
        ("[llm\n", "is not TOML"),
    ],
)
def test_a_wrong_file_is_named_with_what_to_do(tmp_path: Path, text: str, said: str) -> None:
    path = file(tmp_path, text)
    message = wrong({}, path)
    assert str(path) in message
    assert said in message


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"[llm]\nmodel = '\xff'\n")
    assert "is not UTF-8" in wrong({}, path)
    assert "cannot be read" in wrong({}, tmp_path)  # a folder
    path.write_text(f"llm = {'[' * 100_000}")
    assert "is not TOML" in wrong({}, path)
    if (endless := Path("/dev/zero")).exists():
        assert "is too long" in wrong({}, endless)


def test_a_file_may_begin_as_some_editors_begin_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[llm]\nmodel = 'marked'\n", encoding="utf-8-sig")
    config = load_config({}, path)
    assert config is not None
    assert config.model == "marked"


def test_a_misspelt_variable_is_no_setting() -> None:
    assert "write FACTS_LLM_TIMEOUT_S" in wrong({"FACTS_LLM_TIMEOUT": "12"})
    assert "write FACTS_LLM_MODEL" in wrong({"FACTS_LLM_Model": "x"})


def test_a_wrong_flag_is_named_and_an_unknown_one_is_a_mistake_of_the_program() -> None:
    assert "The option --llm-timeout is '-1', but it" in wrong({}, None, timeout_s="-1")
    assert "The option --llm-url is no address" in wrong({}, None, url="nowhere at all")
    assert "The given num_ctx of [llm] is '1', but it" in wrong({}, None, num_ctx="1")
    with pytest.raises(TypeError, match="colour"):
        load_config({}, None, colour="red")


def test_prices_come_in_pairs_and_a_budget_of_money_needs_them() -> None:
    assert "set both" in wrong({"FACTS_LLM_PRICE_IN": "1"})
    assert "set price_in and price_out" in wrong({"FACTS_LLM_DAILY_MONEY": "1"})


# --- keys -----------------------------------------------------------------------------------------


def test_a_key_comes_from_the_variable_that_is_named_else_from_the_usual_ones() -> None:
    environ = {
        "FACTS_LLM_API_KEY": "general-key",
        "OPENAI_API_KEY": "openai-key",
        "GEMINI_API_KEY": "gemini-key",
        "MINE": "my-key",
    }
    openai, gemini = "https://api.openai.com/v1", "https://generativelanguage.googleapis.com/v1beta"

    def key(url: str, *without: str, **flags: object) -> str:
        here = {name: value for name, value in environ.items() if name not in without}
        config = load_config(here, None, provider="openai", url=url, **flags)
        assert config is not None
        secret = key_of(config, here)
        return "" if secret is None else secret.reveal()

    general = "FACTS_LLM_API_KEY"
    assert key(openai, key_env="MINE") == "my-key"
    assert key(openai) == "general-key"
    assert key(openai, general) == "openai-key"
    assert key(gemini, general) == "gemini-key"
    assert key("https://models.example", general) == ""  # another host does not get those
    assert key(openai, general, "OPENAI_API_KEY") == ""


def test_a_key_alone_turns_nothing_on() -> None:
    assert load_config({"FACTS_LLM_API_KEY": KEY}) is None
    assert load_embed_config({"FACTS_EMBED_API_KEY": KEY}) is None


def test_a_key_is_not_sent_by_plain_http_to_another_machine() -> None:
    environ = {"FACTS_LLM_API_KEY": KEY, "FACTS_LLM_URL": "http://models.example:8000"}
    message = wrong(environ)
    assert "FACTS_LLM_API_KEY" in message
    assert "plain http" in message
    for url in ("http://localhost:1", "http://127.0.0.5:1", "http://[::1]:1", "https://a.example"):
        assert load_config({**environ, "FACTS_LLM_URL": url}) is not None
    # without a key it is the user's own decision; `doctor --llm` says so
    assert load_config({"FACTS_LLM_URL": "http://models.example:8000"}) is not None


def test_a_named_key_must_be_set_and_must_be_one() -> None:
    config = ModelConfig(key_env="MINE")
    with pytest.raises(UsageError, match=r"MINE, which is to hold the key of .* is not set"):
        key_of(config, {})
    with pytest.raises(UsageError, match="MINE cannot be used") as caught:
        key_of(config, {"MINE": f"{KEY}\n"})
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_secret_is_shown_nowhere() -> None:
    secret = Secret(KEY)
    assert KEY not in f"{secret} {secret!r} {[secret]}"
    assert secret.hide(f"wrong key {KEY}!") == "wrong key [key]!"
    assert secret.hide("… nothing was cut …") == "… nothing was cut …"
    for size in range(8, len(KEY) + 8):  # a server says it where its answer is cut
        said = one_line(f"{'x' * (REASON_CHARS - size)} {KEY} is wrong, and more than fits")
        assert KEY[:4] not in secret.hide(f"it answered 401 ({said})")
    for blanks in range(700, 1_700, 7):  # nothing is cut where all but blanks fits
        text = f"x{' ' * blanks}{KEY} is wrong"
        assert secret.hide(one_line(text)) == "x [key] is wrong"
        assert secret.hide(said_in(text.encode())) == "x [key] is wrong"
    for size in range(4, len(KEY)):  # and the end of a body may not have been read
        body = f"x{KEY[:size].rjust(ERROR_BYTES - 1)}".encode()
        assert secret.hide(said_in(body)) == "x [key]…"
    assert one_line("a " * 300, limit=5) == "a a …"
    with pytest.raises(TypeError):
        pickle.dumps(secret)


# --- embeddings -----------------------------------------------------------------------------------


def test_an_embedding_endpoint_stands_beside_the_model_or_alone(tmp_path: Path) -> None:
    path = file(tmp_path, "[embed]\nmodel = 'nomic-embed-text'\n")
    assert load_config({}, path) is None
    alone = load_embed_config({}, path)
    assert alone == EmbedConfig(provider="ollama", model="nomic-embed-text", url=policy.LLM_URL)
    both = load_config({"FACTS_LLM_MODEL": "x"}, path)
    assert both is not None
    assert both.embed == alone
    assert load_embed_config({"FACTS_EMBED_PROVIDER": "off"}, path) is None


def test_an_embedding_endpoint_names_its_model_and_its_address() -> None:
    for environ, said in (
        ({"FACTS_EMBED_PROVIDER": "ollama"}, "set FACTS_EMBED_MODEL"),
        ({"FACTS_EMBED_PROVIDER": "openai", "FACTS_EMBED_MODEL": "m"}, "set FACTS_EMBED_URL"),
        ({"FACTS_EMBED_MODEL": "m", "FACTS_EMBED_ASK_DIM": "yes"}, "ask_dim is set without dim"),
        ({"FACTS_EMBED_MODEL": "m", "FACTS_EMBED_ASK_DIM": "maybe"}, "must be true or false"),
        ({"FACTS_EMBED_MODEL": "m", "FACTS_EMBED_DIM": "0"}, "must be a whole number from 1"),
        ({"FACTS_EMBED_DIMENSION": "8"}, "write FACTS_EMBED_DIM"),
    ):
        with pytest.raises(UsageError, match=said):
            load_embed_config(environ)


@pytest.mark.parametrize(
    ("url", "kept", "loopback"),
    [
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434", True),
        ("HTTP://LocalHost", "http://localhost", True),
        ("http://0.0.0.0:11434", "http://0.0.0.0:11434", True),
        ("http://[::1]:8080/v1//", "http://[::1]:8080/v1", True),
        ("https://127.0.0.1.example", "https://127.0.0.1.example", False),
        ("http://my_ollama:11434", "http://my_ollama:11434", False),
        ("http://10.0.0.7", "http://10.0.0.7", False),
    ],
)
def test_an_address_is_read(url: str, kept: str, loopback: bool) -> None:
    address = read_address(url)
    assert (address.url, address.loopback) == (kept, loopback)
    assert address.tls is kept.startswith("https")

"""What counts as an address of the public web, and what it resolves to."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.errors import SearchError, SearchFailure
from factbook.net.address import check_public, is_public, is_public_address, system_resolve
from rows import every

PUBLIC = [
    "https://example.org",
    "HTTPS://EXAMPLE.ORG/",
    "http://example.org:8080/a?b=c#d",
    "https://de.wikipedia.org/wiki/Köln",
    "https://bücher.example.org/",
    "https://8.8.8.8/",
    "http://8.8.8.8./",
    "https://[2606:4700:4700::1111]/",
    "https://[64:ff9b::808:808]/",  # NAT64 of a public address
    "https://my_host.example.org/",
]
PRIVATE = [
    "http://localhost/",
    "http://localhost./",
    "http://LOCALHOST:80/",
    "http://a.localhost/",
    "http://router/",
    "http://nas.local/",
    "http://db.internal/",
    "http://box.home.arpa/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0177.0.0.1/",
    "http://0x7f.0.0.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http://ⓛocalhost/",
    "http://10.1.2.3/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://198.18.0.1/",
    "http://203.0.113.9/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:a00:1]/",
    "http://[::127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2002:c0a8:101::1]/",
    "http://[2001:0:1::1]/",
    "http://[fe80::1]/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[2001:db8::1]/",
    "http://[4000::1]/",
]
ODD = [
    "",
    "example.org",
    "//example.org/",
    "ftp://example.org/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,hello",
    "gopher://example.org/",
    "http://",
    "http:///path",
    "http://user@example.org/",
    "http://user:password@example.org/",
    "http://example.org\\@127.0.0.1/",
    "http://example.org/a b",
    "http://example.org/\n",
    "\thttp://example.org/",
    "http://exam\u202eple.org/",
    "http://example.org/\x00",
    "http://example.org:0/",
    "http://example.org:99999/",
    "http://example.org:port/",
    "http://[fe80::1%25eth0]/",
    "http://[1.2.3.4]/",
    "http://[::1/",
    "http://exa%6dple.org/",
    "http://127%2e0.0.1/",
    "http://a..example.org/",
    "http://-a.example.org/",
    "http://1.2.3.4.5/",
    "http://999.1.1.1/",
    "http://example.0x7f/",
    "http://" + "a" * 64 + ".org/",
    "https://example.org/" + "a" * 3_000,
]


@pytest.mark.parametrize("url", PUBLIC)
def test_public_addresses(url: str) -> None:
    assert is_public(url)


@every("url", PRIVATE + ODD)
def test_private_and_odd_addresses(url: str) -> None:
    assert not is_public(url)


@given(st.text(max_size=60))
def test_any_text_has_an_answer(text: str) -> None:
    assert is_public(text) in (True, False)
    assert is_public(f"http://{text}/") in (True, False)


@given(st.integers(0, 2**32 - 1))
def test_every_spelling_of_an_address_is_judged_alike(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    parts = str(address).split(".")
    spellings = [
        str(address),
        str(number),
        hex(number),
        ".".join(f"0{int(part):o}" for part in parts),
        ".".join(hex(int(part)) for part in parts),
        f"[::ffff:{address}]",
        f"[64:ff9b::{address}]",
    ]
    answers = {is_public(f"http://{one}/") for one in spellings}
    assert answers == {is_public_address(address)}


@given(st.integers(0, 2**32 - 1))
def test_what_the_standard_library_calls_private_is_not_public(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    if address.is_private or address.is_multicast or address.is_reserved or address.is_link_local:
        assert not is_public_address(address)


@given(st.integers(0, 2**128 - 1))
def test_of_the_newer_addresses_too(number: int) -> None:
    address = ipaddress.IPv6Address(number)
    if address.is_private or address.is_multicast or address.is_link_local:
        assert not is_public_address(address)


# --- with names -----------------------------------------------------------------------------------


def test_a_name_is_as_public_as_all_its_addresses() -> None:
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> Sequence[str]:
        asked.append((host, port))
        return ["93.184.215.14", "2606:4700:4700::1111", "93.184.215.14"]

    found = check_public("https://Hooks.Example.org/secret-path", resolve=resolve)
    assert list(found) == ["93.184.215.14", "2606:4700:4700::1111"]
    assert asked == [("hooks.example.org", 443)]


@pytest.mark.parametrize(
    "private", ["127.0.0.1", "10.0.0.1", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "169.254.1.1"]
)
def test_one_private_address_among_public_ones_blocks_a_name(private: str) -> None:
    with pytest.raises(SearchError) as caught:
        check_public("https://a.example.org/secret", resolve=lambda *_: ["8.8.8.8", private])
    assert caught.value.kind is SearchFailure.BLOCKED
    assert "secret" not in str(caught.value)
    assert "not public" in str(caught.value)


def test_a_private_name_is_never_resolved() -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        raise AssertionError(f"{host} was asked for")

    for url in PRIVATE + ODD:
        with pytest.raises(SearchError) as caught:
            check_public(url, resolve=resolve)
        assert caught.value.kind is SearchFailure.BLOCKED


def test_an_address_needs_no_name_server() -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        raise AssertionError(f"{host} was asked for")

    assert list(check_public("https://8.8.8.8:8443/x", resolve=resolve)) == ["8.8.8.8"]
    assert list(check_public("http://134744072/", resolve=resolve)) == ["8.8.8.8"]


def test_rebinding_changes_nothing() -> None:
    """The name is asked for once: whoever connects does so to what came back then."""
    answers = iter([["8.8.8.8"], ["127.0.0.1"]])
    found = check_public("https://rebind.example.org/", resolve=lambda *_: next(answers))
    assert list(found) == ["8.8.8.8"]
    assert next(answers) == ["127.0.0.1"]  # which nobody asked for


def test_a_name_without_an_address_is_no_private_one() -> None:
    with pytest.raises(OSError, match="has no address"):
        check_public("https://gone.example.org/", resolve=lambda *_: [])


def test_a_failing_name_server_is_told_as_it_is() -> None:
    def resolve(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    with pytest.raises(socket.gaierror):
        check_public("https://a.example.org/", resolve=resolve)


def test_this_machine_is_resolved_by_the_system() -> None:
    assert {"127.0.0.1", "::1"} & set(system_resolve("localhost", 80))

"""What counts as an address of the public web."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factbook.net.address import is_public, is_public_address
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

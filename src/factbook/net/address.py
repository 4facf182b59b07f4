"""Tell public addresses of the web from those of this machine and of private networks.

`is_public` looks at an address alone and asks nobody: for addresses that are kept and shown, and
never opened by us.

Some spellings of private addresses are read by programs though no standard has them: `127.1`,
`0x7f000001`, `2130706433`, full-width digits, an IPv4 address inside an IPv6 one. All of them are
private here.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from typing import Final, TypeAlias
from urllib.parse import SplitResult, urlsplit

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

URL_CHARS: Final = 2_048  # ours: a longer address is one that carries a payload
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+")  # how programs spell a part of an address

# Names that no public name server answers (RFC 2606, 6761, 6762, 8375), and those that people give
# to the machines of their own networks.
_PRIVATE_NAMES: Final = frozenset(
    (
        *("localhost", "localdomain", "local", "internal", "intranet", "lan", "home", "corp"),
        *("private", "test", "invalid", "alt", "onion", "arpa"),
    )
)

# IANA's special-purpose registries, less what is public. They are spelled out, since what the
# standard library calls global differs between its versions.
_PRIVATE_4: Final = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this machine, to many
        "10.0.0.0/8",
        "100.64.0.0/10",  # networks of providers
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's own host, asked by its machines alone
        "169.254.0.0/16",  # link-local; where clouds keep the secrets of a machine
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",  # examples of documents
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",  # measuring
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
_PUBLIC_6: Final = ipaddress.IPv6Network("2000::/3")  # all that was ever given out
_PRIVATE_6: Final = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocols, such as Teredo, which hides an IPv4 address
        "2001:db8::/32",  # examples of documents
        "3fff::/20",
    )
)
_MAPPED: Final = (  # networks that hold an IPv4 address, and how far from the right it stands
    (ipaddress.IPv6Network("::ffff:0:0/96"), 0),
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (ipaddress.IPv6Network("2002::/16"), 80),  # 6to4
)


def is_public(url: str) -> bool:
    """Say whether an address is one of the public web, as far as its spelling tells.

    It begins with http:// or https://, has no name or password in it, and its host is neither this
    machine nor one of a private network. No name is resolved.
    """
    if len(url) > URL_CHARS:
        return False
    if "\\" in url or any(unicodedata.category(char)[0] in "CZ" for char in url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme.lower() not in {"http", "https"} or "@" in parts.netloc or port == 0:
        return False
    return _public_host(parts)


def is_public_address(address: _Address) -> bool:
    """Say whether an address is one of the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in ipv4_network for ipv4_network in _PRIVATE_4)
    for network, shift in _MAPPED:
        if address in network:
            inside = ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF)
            return is_public_address(inside)
    return address in _PUBLIC_6 and not any(address in ipv6_network for ipv6_network in _PRIVATE_6)


def _public_host(parts: SplitResult) -> bool:
    written = parts.hostname or ""
    if "[" in parts.netloc or ":" in written:
        address = _literal(written)  # with a zone (`%eth0`) it is none
        return address is not None and is_public_address(address)
    name = _plain(written)
    if not name:
        return False
    if _looks_numeric(name):
        number = _numeric(name)
        return number is not None and is_public_address(number)
    labels = name.split(".")
    return len(labels) >= 2 and labels[-1] not in _PRIVATE_NAMES


def _plain(host: str) -> str:
    """Return a host as it is resolved: in ASCII, lower case, without the last dot; "" for none."""
    name = host
    if not host.isascii():
        try:
            name = host.encode("idna").decode("ascii")  # which also makes ASCII of wide digits
        except UnicodeError:
            return ""
    name = name.lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        return ""
    return name


def _literal(text: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    scoped = isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None
    return None if scoped else address


def _looks_numeric(name: str) -> bool:
    return _NUMBER.fullmatch(name.rpartition(".")[2]) is not None


def _numeric(name: str) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that a name is, in any spelling that programs read."""
    if not all(_NUMBER.fullmatch(part) for part in name.split(".")):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(name))
    except OSError:
        return None

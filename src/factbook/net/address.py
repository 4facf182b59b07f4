"""Tell public addresses of the web from those of this machine and of private networks.

`is_public` looks at an address alone and asks nobody: for addresses that are kept and shown. What
is fetched by ourselves goes through `check_public`, which resolves the name and returns the
addresses to connect to: a name that is public now may be private a moment later (DNS rebinding),
so the connection must go to just those, and to no name.

Some spellings of private addresses are read by programs though no standard has them: `127.1`,
`0x7f000001`, `2130706433`, full-width digits, an IPv4 address inside an IPv6 one. All of them are
private here.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import SplitResult, urlsplit

from factbook.errors import SearchError, SearchFailure

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""Return the addresses of a host for a port; raises OSError where it has none."""

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

URL_CHARS: Final = 2_048  # ours: a longer address is one that carries a payload
_PORTS: Final = {"http": 80, "https": 443}
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
    return isinstance(_read(url), _Host)


def check_public(
    url: str, *, resolve: Resolve | None = None, provider: str = "the web"
) -> Sequence[str]:
    """Return the addresses to connect to for a URL; only these are known to be public.

    Raises SearchError of the kind blocked where the URL, or any address that its name has, is not
    public; OSError where the name cannot be resolved. The error does not repeat the path, which
    may hold a secret.
    """
    host = _read(url)
    if isinstance(host, str):
        raise _blocked(provider, host)
    if host.address is not None:
        return [str(host.address)]
    addresses = list(dict.fromkeys((resolve or system_resolve)(host.name, host.port)))
    if not addresses:
        raise OSError(0, f"{host.name} has no address")
    for text in addresses:
        address = _literal(text)
        if address is None or not is_public_address(address):
            what = f"{host.name} is {text}, which is not public"
            raise _blocked(provider, what)
    return addresses


def system_resolve(host: str, port: int) -> Sequence[str]:
    """Resolve a name as this machine does; raises OSError. It may take as long as the system lets.

    Whoever has a deadline calls it in a thread that can be left.
    """
    infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(address[0]) for *_, address in infos))


def is_public_address(address: _Address) -> bool:
    """Say whether an address is one of the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in ipv4_network for ipv4_network in _PRIVATE_4)
    for network, shift in _MAPPED:
        if address in network:
            inside = ipaddress.IPv4Address(int(address) >> shift & 0xFFFFFFFF)
            return is_public_address(inside)
    return address in _PUBLIC_6 and not any(address in ipv6_network for ipv6_network in _PRIVATE_6)


class _Host(NamedTuple):
    name: str
    port: int
    address: _Address | None


def _read(url: str) -> _Host | str:
    """Return the host of a public URL, or what is wrong with it."""
    if len(url) > URL_CHARS:
        return f"the address has more than {URL_CHARS} characters"
    if "\\" in url or any(unicodedata.category(char)[0] in "CZ" for char in url):
        return "the address holds a space, a backslash or a control character"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "the address cannot be read"
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        return "the address does not begin with http:// or https://"
    if "@" in parts.netloc:
        return "the address holds a name or a password"
    if port == 0:
        return "the address has the port 0"
    return _host(parts, port or _PORTS[scheme])


def _host(parts: SplitResult, port: int) -> _Host | str:
    written = parts.hostname or ""
    if "[" in parts.netloc or ":" in written:
        address = _literal(written)  # with a zone (`%eth0`) it is none
        if address is None:
            return "the address names no host"
        name = written
    else:
        name = _plain(written)
        if not name:
            return "the address names no host"
        address = _numeric(name)
        if address is None and _looks_numeric(name):
            return "the host is a number that is no address"
    if address is not None:
        if is_public_address(address):
            return _Host(name, port, address)
        return f"{address} is not public"
    labels = name.split(".")
    if len(labels) < 2 or labels[-1] in _PRIVATE_NAMES:
        return f"{name} is a name of this machine or of a private network"
    return _Host(name, port, None)


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


def _blocked(provider: str, reason: str) -> SearchError:
    return SearchError(kind=SearchFailure.BLOCKED, provider=provider, reason=reason)

"""Known services, which addresses may be called, and which key may go where."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from core.collect.redaction import clean_text
from core.errors import CollectionError

_OWN_PREFIX = "INKBLOT_KEY_"

Address = IPv4Address | IPv6Address
Origin = tuple[str, str, int]


@dataclass(frozen=True)
class Service:
    """A known service. `key_variable` is empty where no key is needed."""

    name: str
    base_url: str
    key_variable: str
    host: str


SERVICES: tuple[Service, ...] = (
    Service("OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", "api.openai.com"),
    Service(
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "generativelanguage.googleapis.com",
    ),
    Service("Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", "api.anthropic.com"),
    Service("Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "api.mistral.ai"),
    Service("OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openrouter.ai"),
    Service("Ollama", "http://127.0.0.1:11434/v1", "", "127.0.0.1"),
    Service("vLLM", "http://127.0.0.1:8000/v1", "", "127.0.0.1"),
    Service("LM Studio", "http://127.0.0.1:1234/v1", "", "127.0.0.1"),
)

# Link-local ranges and the fixed addresses at which clouds hand out a machine's own credentials.
_BLOCKED_NETWORKS = tuple(
    ip_network(text)
    for text in (
        "169.254.0.0/16",
        "fe80::/10",
        "fd00:ec2::254/128",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
    )
)
_EMBEDDING_NETWORKS = tuple(
    ip_network(text) for text in ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")
)
_IPV4 = 0xFFFFFFFF
_BLOCKED_NAMES = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "metadata.tencentyun.com",
        "instance-data",
    }
)
_PRIVATE_SUFFIXES = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
_DEFAULT_PORTS = {"http": 80, "https": 443}


def check_address(base_url: str, *, with_key: bool = True) -> None:
    """Raise CollectionError if nothing may be sent to this address.

    `with_key` says whether a key would be sent along, which plain http to a public host forbids.
    """
    parts = _parts(base_url)
    host = _host(parts)
    address = _literal(host)
    if host in _BLOCKED_NAMES or (address is not None and _is_blocked(address)):
        raise _blocked(host)
    if with_key and parts.scheme == "http" and not is_private(base_url):
        raise _plain_text(host)


def check_resolved_addresses(base_url: str, addresses: Iterable[str], *, with_key: bool) -> None:
    """Raise CollectionError if the address's name leads to where nothing may be sent."""
    parts = _parts(base_url)
    for text in addresses:
        address = _unmapped(ip_address(text.partition("%")[0]))
        if _is_blocked(address):
            raise _blocked(_host(parts))
        if with_key and parts.scheme == "http" and address.is_global:
            raise _plain_text(_host(parts))


def is_private(base_url: str) -> bool:
    """Whether the address is this computer or, by its form, one in the same local network."""
    host = _host(_parts(base_url))
    address = _literal(host)
    if address is not None:
        return not address.is_global
    return "." not in host or host.endswith(_PRIVATE_SUFFIXES)


def may_send_key(key_variable: str, base_url: str) -> bool:
    """Whether the key in that variable may be sent to that address.

    A known service's variable goes to that service only; every other address needs a variable
    whose name starts with INKBLOT_KEY_.
    """
    try:
        check_address(base_url)
    except CollectionError:
        return False
    if key_variable.startswith(_OWN_PREFIX):
        return True
    host = _host(_parts(base_url))
    return any(
        preset.key_variable == key_variable and preset.host == host
        for preset in SERVICES
        if preset.key_variable
    )


def is_named_for(key_variable: str, base_url: str, variables: Mapping[str, str]) -> bool:
    """Whether whoever set a variable INKBLOT_KEY_X has named this address in INKBLOT_KEY_X_URL.

    Variables of known services are named for these.
    """
    if not key_variable.startswith(_OWN_PREFIX):
        return True
    try:
        return _origin(variables.get(f"{key_variable}_URL", "")) == _origin(base_url)
    except CollectionError:
        return False


class KeyRing:
    """Keys of one browser session or one run, or of the command line.

    They live in the memory of this process and nowhere else. A session uses the keys typed in it;
    a run uses those of the session that started it, also when that session is gone.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._typed: dict[Origin, str] = {}
        self._seen: set[str] = set()

    def __repr__(self) -> str:
        """How many keys there are, never which."""
        return f"KeyRing({len(self._typed)} typed)"

    def remember(self, base_url: str, key: str) -> None:
        """Keep a typed key, for that scheme, host and port only."""
        check_address(base_url)
        key = clean_key(key)
        with self._lock:
            self._typed[_origin(base_url)] = key
            self._seen.add(key)

    def find(self, base_url: str, key_variable: str, secrets: Mapping[str, str]) -> str | None:
        """The key to send to that address: the typed one, else the variable's if it may go there.

        `secrets` are the environment's and the configuration's variables, merged by the caller.
        """
        with self._lock:
            typed = self._typed.get(_origin(base_url))
        if typed is not None:
            return typed
        stored = secrets.get(key_variable, "") if key_variable else ""
        if not stored.strip() or not may_send_key(key_variable, base_url):
            return None
        key = clean_key(stored)
        with self._lock:
            self._seen.add(key)
        return key

    def forget(self, base_url: str) -> None:
        """Drop the typed key of that address. Messages stay free of it all the same."""
        with self._lock:
            self._typed.pop(_origin(base_url), None)

    def for_session(self) -> KeyRing:
        """An empty ring. What is used of it is kept out of messages as well."""
        ring = KeyRing()
        ring._lock, ring._seen = self._lock, self._seen
        return ring

    def for_run(self) -> KeyRing:
        """A ring with the keys that are typed now, whatever is forgotten later."""
        ring = self.for_session()
        with self._lock:
            ring._typed = dict(self._typed)
        return ring

    def redact(self, text: str) -> str:
        """`text` with every key this process has used replaced by "[key]"."""
        return clean_text(text, self.used())

    def used(self) -> frozenset[str]:
        """Every key this process has used, for taking them out of what services send."""
        with self._lock:
            return frozenset(self._seen)


def clean_key(key: str) -> str:
    """The key without surrounding blanks; CollectionError where it cannot be one."""
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise CollectionError(
            "The key is empty or holds characters that no key has, such as blanks or line breaks.",
            "Copy the key from the service's page again and paste it alone.",
        )
    return key


def _parts(base_url: str) -> SplitResult:
    """The address taken apart, once its form is beyond doubt."""
    try:
        parts = urlsplit(base_url)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise _malformed() from None
    if "@" in parts.netloc:
        raise CollectionError(
            "The address holds a name or password before the @.",
            "Enter the address alone, and the key in its own field.",
        )
    # Programs disagree about what these characters mean, so a check could see another host.
    doubtful = any(c in base_url for c in "\\?#") or any(ord(c) <= 32 for c in base_url)
    if not valid or parts.scheme not in _DEFAULT_PORTS or doubtful or not base_url.isascii():
        raise _malformed()
    return parts


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").rstrip(".")


def _origin(base_url: str) -> Origin:
    parts = _parts(base_url)
    return parts.scheme, _host(parts), parts.port or _DEFAULT_PORTS[parts.scheme]


def _literal(host: str) -> Address | None:
    """The address if the host is written as a number, in any of the forms systems accept."""
    try:
        return _unmapped(ip_address(host.partition("%")[0]))
    except ValueError:
        pass
    if host == "localhost":
        return IPv4Address("127.0.0.1")
    try:
        return IPv4Address(socket.inet_aton(host)) if host[:1].isdigit() else None
    except OSError:
        return None


def _unmapped(address: Address) -> Address:
    """An IPv4 address in any of its IPv6 clothings (mapped, 6to4, NAT64, compatible) as itself."""
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is not None:
        return inner
    if any(address in network for network in _EMBEDDING_NETWORKS) and int(address) & _IPV4 > 1:
        return IPv4Address(int(address) & _IPV4)
    return address


def _is_blocked(address: Address) -> bool:
    return any(address in network for network in _BLOCKED_NETWORKS)


def _malformed() -> CollectionError:
    # Not repeated: a key pasted into the wrong field would be shown.
    return CollectionError(
        "This is not an address that can be called.",
        "Enter it as the service documents it, for example https://api.openai.com/v1.",
    )


def _blocked(host: str) -> CollectionError:
    return CollectionError(
        f"{host} belongs to the inner workings of a machine or cloud; it is not a model service.",
        "Enter the address of a model service.",
    )


def _plain_text(host: str) -> CollectionError:
    return CollectionError(
        f"The key would travel to {host} unencrypted, readable for everybody on the way.",
        "Use an address that starts with https://.",
    )

"""Address of this machine on the local network, as text and QR code."""

from __future__ import annotations

import io
import re
import socket
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import qrcode

from companion.common.errors import Problem
from companion.pages.limits import ip_of
from companion.pages.words import _

_NOBODY = ("192.0.2.1", 9)  # documentation address: selects a route, nothing is sent
EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104
USUAL_PORTS = {"http": 80, "https": 443}


def announced(url: str) -> str:
    """Return the announced address, normalized as in an `Origin` header. Raises Problem if unusable."""
    refused = Problem(
        "--address is what phones open, with nothing after the name or port: --address %(example)s",
        example="https://table.cafe.example",
    )
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise refused from None
    is_plain = parts.path in ("", "/") and not re.search(r"[@?#\s]", url.strip())
    is_host = ip_of(host) is not None or re.fullmatch(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?", host, re.ASCII)
    if parts.scheme not in USUAL_PORTS or not (is_plain and is_host) or port == 0:
        raise refused
    if is_this_machine(host) or host in EVERYWHERE:  # phones cannot open these
        raise refused
    bracketed = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{bracketed}" + ("" if port in (None, USUAL_PORTS[parts.scheme]) else f":{port}")


def given_names(environ: Mapping[str, str]) -> frozenset[str]:
    """Return this machine's additional names from `COMPANION_NAMES=table.cafe.example,…`."""
    return frozenset(environ.get("COMPANION_NAMES", "").lower().replace(",", " ").split())


def lan_ip() -> str:
    """Return this machine's local IPv4 address; `127.0.0.1` without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_NOBODY)
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def shown_host(host: str) -> str:
    """Return the address by which phones reach a listening host."""
    return lan_ip() if host in EVERYWHERE else host


def is_this_machine(name: str) -> bool:
    """True if a host name reaches only this machine."""
    known = ip_of(name)
    return name == "localhost" or (known is not None and known.is_loopback)


def base_url(host: str, port: int) -> str:
    """Return the URL for phones, without a path."""
    shown = shown_host(host)
    bracketed = f"[{shown}]" if ":" in shown else shown
    return f"http://{bracketed}" + ("" if port == 80 else f":{port}")


def typed(base: str, path: str, *, is_announced: bool) -> list[str]:
    """Return a page's addresses for typing: by IP address and by `.local` name.

    An announced address replaces both, with its `https://`.
    """
    if is_announced:
        return [f"{base.removeprefix('http://')}{path}"]
    port = urlsplit(base).port
    named = f"http://{socket.gethostname().split('.')[0]}.local" + ("" if port is None else f":{port}")
    return [f"{url.removeprefix('http://')}{path}" for url in dict.fromkeys((base, named))]


def join_url(base: str, token: str, page: str = "join") -> str:
    """Return the QR code's URL, with the join token."""
    return f"{base}/{page}?{urlencode({'t': token})}"


def announce(host: str, port: int, token: str, code: str, given: str = "") -> str:
    """Return the terminal's start text: addresses, QR code and table code. `given` replaces our address."""
    base = given or base_url(host, port)
    lines = [(_("On this machine:"), f"http://localhost:{port}")]
    code_to_scan = ""
    if is_this_machine(urlsplit(base).hostname or ""):
        remedy = (
            _("phones cannot reach %(address)s: connect this machine to your network and restart.", address=base)
            if host in EVERYWHERE
            else _("phones cannot reach %(address)s: restart without --host.", address=base)
        )
        lines.append((_("On a phone:"), remedy))
    else:
        scan = io.StringIO()
        _code(join_url(base, token), border=2).print_ascii(out=scan, invert=True)  # light on dark, like terminals
        code_to_scan = "\n  " + _("or scan:") + f"\n{scan.getvalue()}"
        typed_in = _(
            "Open %(address)s and type %(code)s. The host then lets you in.", address=f"{base}/join", code=code
        )
        lines += [
            (_("On the wall:"), join_url(base, token, "wall")),
            (_("On a phone:"), join_url(base, token)),
            (_("Cannot scan?"), typed_in),
            (_("Page does not open?"), _("Turn off mobile data on the phone.")),
        ]
    width = max(len(title) for title, _what in lines)
    told = "\n".join(f"  {title:{width}}  {what}" for title, what in lines)
    return _("Mille Bornes Companion is ready.") + f"\n{told}{code_to_scan}"


def qr_path(text: str) -> tuple[int, str]:
    """Return a QR code for SVG: width in modules with quiet zone, path of dark modules."""
    rows = _code(text, border=4).get_matrix()
    dark = [f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, on in enumerate(row) if on]
    return len(rows), "".join(dark)


def _code(text: str, border: int) -> qrcode.QRCode:
    code = qrcode.QRCode(error_correction=qrcode.constants.ERROR_CORRECT_M, border=border)
    code.add_data(text)
    code.make(fit=True)
    return code

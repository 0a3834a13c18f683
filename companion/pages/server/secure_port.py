"""TLS port for a phone's camera, which browsers allow only on secure pages.

Phones warn once about its self-signed certificate. It has its own loop and threads: a flood stops only the phone's
pictures.
"""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from pathlib import Path
from typing import Any

from flask import Flask

from companion.common import clock
from companion.common.errors import Problem, cause
from companion.common.text import say
from companion.pages.limits import ip_of
from companion.pages.server import address, serving
from companion.pages.server.connections import Server
from companion.storage.data_folder import write_whole

FILE_NAME = "tls.pem"  # key and certificate; if present, the port opens at each start
PORT_ABOVE = 443  # 8000 gives 8443
VALID_DAYS = 800  # phones reject more than 825
RENEWED_DAYS = 30  # renewed with fewer left
THREADS = 6  # one phone sends pictures, another watches


class SecurePort:
    """The TLS port, closed until opened for a phone's camera. Thread-safe."""

    def __init__(self, folder: Path, host: str, port: int) -> None:
        self._path, self._host, self._port = folder / FILE_NAME, host, port + PORT_ABOVE
        self._lock = threading.Lock()
        self._server: Server | None = None
        self._turning = threading.Thread()

    @property
    def was_opened(self) -> bool:
        """True if the port was ever opened with this data folder."""
        return self._path.exists()

    def base_url(self) -> str | None:
        """Return the URL for phones, without a path; None while closed."""
        if self._server is None:
            return None
        return f"https{address.base_url(self._host, self._port).removeprefix('http')}"

    def open(self, app: Flask) -> None:
        """Open the port if closed. Raises Problem on failure."""
        with self._lock:
            if self._server is not None:
                return
            names = (address.shown_host(self._host), socket.gethostname())
            try:
                certify(self._path, names)
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(self._path)
                server = serving.server_at(serving.listening(self._host, self._port), app, THREADS, context)
            except (OSError, OverflowError) as error:
                raise Problem(
                    "Port %(port)d for the phone's camera cannot be opened (%(error)s): start the companion with"
                    " another --port.",
                    port=self._port,
                    error=cause(error),
                ) from error
            self._server = server
            self._turning = threading.Thread(target=self._turn, args=(server,), name="secure-port", daemon=True)
            self._turning.start()

    def _turn(self, server: Server) -> None:
        while self._server is server:
            serving.turn(server, serving.TURN_S)
        serving.end(server)

    def close(self) -> None:
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.pull_trigger()
            self._turning.join()


def certify(path: Path, names: tuple[str, ...]) -> None:
    """Write a key and certificate for these names, unless the file has valid ones.

    Raises Problem while the clock is wrong, OSError if the file is unwritable.
    """
    from cryptography import x509

    try:
        known = x509.load_pem_x509_certificate(path.read_bytes())
        held = known.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        holds = known.not_valid_before_utc < _now() < known.not_valid_after_utc - datetime.timedelta(days=RENEWED_DAYS)
        if holds and set(_general_names(names)) <= set(held):
            return
    except (OSError, ValueError, x509.ExtensionNotFound):
        pass  # missing or damaged
    write_whole(path, _pem(names))


def _pem(names: tuple[str, ...]) -> bytes:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    called = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Mille Bornes Companion")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(called)
        .issuer_name(called)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_now() - datetime.timedelta(days=1))
        .not_valid_after(_now() + datetime.timedelta(days=VALID_DAYS))
        .add_extension(x509.SubjectAlternativeName(_general_names(names)), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
    return private + certificate.public_bytes(encoding)


def _general_names(names: tuple[str, ...]) -> list[Any]:
    from cryptography import x509

    return [
        x509.IPAddress(ipaddress.ip_address(name)) if ip_of(name) else x509.DNSName(name)
        for name in dict.fromkeys((*names, "localhost"))
    ]


def _now() -> datetime.datetime:
    now = clock.moment(clock.now_s())
    if now is None:
        raise Problem(say("The clock of this machine is wrong: connect it to the network, then try again."))
    return now

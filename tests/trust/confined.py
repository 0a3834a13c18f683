"""Run a program in the sandbox of deploy/companion.service, as far as possible without a service manager.

    PYTHONPATH=tests:. python tests/trust/confined.py     # the companion plays, reads a photograph, ends
    python tests/trust/confined.py -- PROGRAM …           # runs another program

Needs root, libseccomp and systemd-analyze. Applied are SystemCallFilter, MemoryDenyWriteExecute,
RestrictAddressFamilies, LimitNOFILE, and an unprivileged user who cannot gain rights. Not applied are the limits on
folders (ProtectSystem and others), devices, addresses and memory.
"""

import ctypes
import errno
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

UNIT = Path(__file__).parent.parent.parent / "deploy/companion.service"
ALLOW = 0x7FFF0000
REFUSE = 0x00050000
NOBODY = 65534
PROT_WRITE, PROT_EXEC = 2, 4
NEW_PRIVILEGES, DROP_CAPABILITY = 38, 24
MASKED_EQ, EQ = 7, 4
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10}


class Compared(ctypes.Structure):
    """libseccomp's `scmp_arg_cmp`."""

    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


def said(key: str) -> list[str]:
    """Return the values of a key in the unit file, one for each line."""
    lines = UNIT.read_text(encoding="utf-8").splitlines()
    return [line.partition("=")[2].strip() for line in lines if line.startswith(f"{key}=")]


def calls_of(group: str) -> set[str]:
    """Return the system calls of a group such as `@system-service`."""
    if not group.startswith("@"):
        return {group}
    shown = subprocess.run(["systemd-analyze", "syscall-filter", group], check=True, capture_output=True, text=True)
    inside = [line.strip() for line in shown.stdout.splitlines()[1:] if line.strip() and "#" not in line]
    return {call for one in inside for call in calls_of(one)}


def allowed_calls() -> set[str]:
    calls: set[str] = calls_of("@default")
    for line in said("SystemCallFilter"):
        named = {call for group in line.removeprefix("~").split() for call in calls_of(group)}
        calls = calls - named if line.startswith("~") else calls | named
    return calls | {"execve"}


class Filter:
    """Builds a filter of system calls; forbidden calls fail with EPERM."""

    def __init__(self) -> None:
        self._lib = ctypes.CDLL("libseccomp.so.2")
        self._lib.seccomp_init.restype = ctypes.c_void_p
        self._loaded: list[ctypes.c_void_p] = []

    def begin(self, default: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._lib.seccomp_init(ctypes.c_uint32(default)))

    def rule(self, context: ctypes.c_void_p, action: int, call: str, *compared: Compared) -> None:
        number = self._lib.seccomp_syscall_resolve_name(call.encode())
        if number == -1:
            return
        array = (Compared * len(compared))(*compared)
        done = self._lib.seccomp_rule_add_array(context, ctypes.c_uint32(action), number, len(compared), array)
        if done not in (0, -errno.EEXIST, -errno.EINVAL, -errno.EDOM):
            raise OSError(-done, f"no rule for {call}")

    def load(self, context: ctypes.c_void_p) -> None:
        done = self._lib.seccomp_load(context)
        if done:
            raise OSError(-done, "the filter is not taken")


def everybody_may_run(program: Path) -> bool:
    """True if other users may run the program; if not, root drops its file privileges instead."""
    return all(path.stat().st_mode & 1 for path in (program, *program.parents))


def shut_in() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    number = int(said("LimitNOFILE")[0])
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
    calls = allowed_calls()
    for capability in range(64):
        libc.prctl(DROP_CAPABILITY, capability, 0, 0, 0)
    if everybody_may_run(Path(sys.executable).resolve()):
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    if libc.prctl(NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError("rights cannot be given up")
    filters, refuse = Filter(), REFUSE | errno.EPERM
    contexts = [filters.begin(ALLOW), filters.begin(ALLOW), filters.begin(refuse)]
    both = PROT_WRITE | PROT_EXEC
    filters.rule(contexts[0], refuse, "mmap", Compared(2, MASKED_EQ, both, both))
    for call in ("mprotect", "pkey_mprotect"):
        filters.rule(contexts[0], refuse, call, Compared(2, MASKED_EQ, PROT_EXEC, PROT_EXEC))
    families = {FAMILIES[name] for name in said("RestrictAddressFamilies")[0].split()}
    for family in set(range(46)) - families:
        filters.rule(contexts[1], refuse, "socket", Compared(0, EQ, family, 0))
    for call in sorted(calls):
        filters.rule(contexts[2], ALLOW, call)
    for context in contexts:
        filters.load(context)


def tried() -> int:
    """Let the confined companion play, read a photograph and end."""
    from trust.real_service import asked, service, wait_until
    from trust.soak import sent_photograph

    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        before = (sys.executable, str(Path(__file__).resolve()), "--")
        picture = next((UNIT.parent.parent / "tests/stills").rglob("*.jpg"))
        with service(Path(place), "demo", "--confirm", "auto", before=before) as running:
            _, _, cookie = asked(running.port, f"/join?t={running.token}")
            plays = wait_until(lambda: b'"applied":true' in asked(running.port, "/api/state")[1], 90)
            photograph = sent_photograph(running.port, picture, cookie, "127.0.0.1")
            sheet, _, _ = asked(running.port, "/print/stickers.pdf?edition=classic", cookie=cookie)
            code = running.end()
        faults = [line for line in running.said if "Traceback" in line or "mistake" in line or "rror" in line]
    print(f"Shut in: plays are read: {plays}, a photograph {photograph}, a printed sheet {sheet}, it ended with {code}")
    print(*faults, sep="\n", end="")
    return 0 if plays and photograph in (200, 302, 303) and code == 0 and not faults else 1


def main() -> None:
    if "--" not in sys.argv:
        sys.exit(tried())
    program = sys.argv[sys.argv.index("--") + 1 :]
    shut_in()
    os.execvp(program[0], program)


if __name__ == "__main__":
    main()

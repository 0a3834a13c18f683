# Functions for the scripts in deploy/. Sourced by bash with `set -euo pipefail`. Messages go to standard error, so that
# `deploy/run read … --json` leaves standard output to the program.

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
venv=$root/.venv
python=python3

# Preferred: a service cannot use a Python in a home folder, and only the system's knows the Pi's camera module.
python_of_system=/usr/bin/python3
pi_camera=/usr/lib/python3/dist-packages/picamera2

say() { printf '%s\n' "$*" >&2; }

stop() {
    say "$*"
    exit 1
}

# --- Python ---------------------------------------------------------------------------------------------------

is_recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

is_64_bit() { "$1" -c 'import struct, sys; sys.exit(struct.calcsize("P") < 8)' 2>/dev/null; }

find_python() {
    local name
    if ! command -v python3 >/dev/null; then install_packages python3 python3-venv; fi
    for name in "$python_of_system" python3 python3.14 python3.13 python3.12 python3.11; do
        if is_recent "$name"; then
            python=$name
            break
        fi
    done
    is_recent "$python" || stop "Python 3.11 or later is needed and this is $(python3 --version 2>&1): use Debian 12," \
        "Raspberry Pi OS of 2023 or newer, or install another Python."
    is_64_bit "$python" || stop "This is a 32-bit system, and the picture libraries need 64 bits:" \
        "install the 64-bit Raspberry Pi OS."
}

# --- The system's packages ------------------------------------------------------------------------------------

# Prints the package of each library that cannot be loaded; arguments: pairs of library and package.
missing_of() {
    "$python" - "$@" <<'END'
import ctypes
import sys

for library, package in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        ctypes.CDLL(library)
    except OSError:
        print(package)
END
}

missing_libraries() { missing_of libzbar.so.0 libzbar0 libGL.so.1 libgl1 libgthread-2.0.so.0 libglib2.0-0; }

missing_venv() { "$python" -c 'import ensurepip, venv' 2>/dev/null || echo "${python##*/}-venv"; }

# The browser, and a library that playwright's driver needs.
missing_browser() {
    command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || echo chromium
    missing_of libatomic.so.1 libatomic1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

may_install() {
    [ "$(id -u)" = 0 ] && return
    command -v sudo >/dev/null || return
    sudo -n true 2>/dev/null && return
    [ -t 0 ] && [ -t 2 ] && say "System packages are missing ($*); installing them needs your password." && sudo -v
}

# Debian 13 appends t64 to some names, such as libzbar0t64.
debian_name() {
    local name
    for name in "$1" "$1t64"; do
        if apt-cache policy "$name" 2>/dev/null | grep -q 'Candidate: [0-9]'; then
            echo "$name"
            return
        fi
    done
    echo "$1"
}

install_packages() {
    local log name names=()
    command -v apt-get >/dev/null ||
        stop "System packages are missing: install your system's equivalents of $*, then run this again."
    may_install "$@" || stop "System packages are missing and this user may not install them: as an administrator type " \
        "apt-get install $*  and run this again."
    say "Installing system packages: $* …"
    log=$(mktemp)
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq update </dev/null >"$log" 2>&1 || true
    for name in "$@"; do names+=("$(debian_name "$name")"); done
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "${names[@]}" </dev/null >>"$log" 2>&1 ||
        stop "They could not be installed (apt-get says: $(last_error "$log")): check the network, then type " \
            "$(by_hand install)$*  and run this again."
    rm -f "$log"
}

# The headless browser draws a page in two thirds of the time; without it the full browser is used.
try_quick_browser() {
    [ "$(id -u)" = 0 ] && ! command -v chromium-headless-shell >/dev/null && command -v apt-get >/dev/null || return 0
    DEBIAN_FRONTEND=noninteractive timeout 120 apt-get -qq install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=60 chromium-headless-shell </dev/null >/dev/null 2>&1 || true
}

by_hand() {
    if [ "$(id -u)" = 0 ]; then echo "apt-get $1 "; else echo "sudo apt-get $1 "; fi
}

last_error() {
    { grep -E '^E:|^ERROR|[a-z]Error: |Errno' "$1" || tail -n 1 "$1"; } | tail -n 1 | sed -E 's/^ *(E|ERROR): *//; s/\.$//'
}

all_missing() {
    local check
    for check in "$@"; do "$check"; done
}

install_what_is_missing() {
    local missing
    missing=$(all_missing "$@")
    if [ -z "$missing" ]; then return; fi
    # shellcheck disable=SC2086 # one word a package
    install_packages $missing
    missing=$(all_missing "$@")
    # shellcheck disable=SC2086,SC2116
    if [ -n "$missing" ]; then
        stop "The system packages are installed but do not work: type  $(by_hand "install --reinstall")$(echo $missing)  and run this again."
    fi
}

# --- The virtual environment ----------------------------------------------------------------------------------

# Everything an installation depends on: project file, locked versions, path (a virtual environment cannot be moved), and
# whether the system has the Pi's camera library.
fingerprint() {
    { printf '%s\n' "$root" "$(of_system)"; cat "$root/pyproject.toml" "$root"/deploy/locked*.txt; } | cksum
}

of_system() { if [ -e "$pi_camera" ]; then echo --system-site-packages; fi; }

is_installed() {
    local stamp
    [ -x "$venv/bin/companion" ] && is_recent "$venv/bin/python" || return
    for stamp in "$@"; do
        if [ "$(cat "$venv/$stamp" 2>/dev/null)" = "$(fingerprint)" ]; then return; fi
    done
    return 1
}

# Creates $venv unless it exists with the same path, Python and system packages.
make_venv() {
    local made="$venv $python $(of_system)"
    if [ "$(cat "$venv/made" 2>/dev/null)" = "$made" ] && "$venv/bin/python" -c 'import pip' 2>/dev/null; then return; fi
    say "Creating a virtual environment in $venv …"
    # shellcheck disable=SC2046 # an option or none
    "$python" -m venv --clear $(of_system) "$venv" >/dev/null 2>&1 || stop "$venv could not be created: check that this" \
        "user may write there, that the disk is not full, and that ${python##*/}-venv is installed."
    printf '%s\n' "$made" >"$venv/made"
}

# Installs the locked libraries ($1), then the program with the other arguments for pip; nothing else is downloaded.
install_program() {
    local locked=$1 log=$venv/install.log pip=("$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check)
    shift
    # A version packed by deploy/update includes its libraries.
    if [ -d "$root/wheels" ]; then pip+=(--no-index --find-links "$root/wheels"); fi
    say "Installing the program and its libraries in $venv (only once; a few minutes on a Raspberry Pi) …"
    (cd -- "$root" && export PIP_USER=0 &&
        "${pip[@]}" --require-hashes --requirement "deploy/$locked" &&
        "${pip[@]}" --no-deps --no-build-isolation "$@") </dev/null >"$log" 2>&1 || stop "$(why_pip_failed "$log")"
}

why_pip_failed() {
    if grep -qE 'NewConnectionError|NameResolutionError|ConnectTimeout|Network is unreachable' "$1"; then
        echo "The libraries could not be fetched: connect this machine to the internet and run this again."
    else
        echo "The libraries could not be installed (pip says: $(last_error "$1")); the full output is in $1."
    fi
}

# prepare_to_run and prepare_to_test make a working $venv/bin; if it is current they are fast and need no network.

# The argument `club` adds the PostgreSQL driver.
prepare_to_run() {
    local with=${1:+-with-$1}
    if is_installed "installed$with" installed-with-club installed-with-tests; then
        python=$venv/bin/python
        install_what_is_missing missing_libraries
    else
        find_python
        install_what_is_missing missing_venv missing_libraries
        make_venv
        install_program "locked$with.txt" --editable .
        fingerprint >"$venv/installed$with"
    fi
}

prepare_to_test() {
    if is_installed installed-with-tests; then
        python=$venv/bin/python
        install_what_is_missing missing_libraries missing_browser
    else
        find_python
        install_what_is_missing missing_venv missing_libraries missing_browser
        make_venv
        install_program locked-with-tests.txt --editable .
        fingerprint >"$venv/installed-with-tests"
        try_quick_browser
    fi
}

# --- The service ----------------------------------------------------------------------------------------------

# Prints the value of option $2 in the service's options file $1, or the default $3.
option_in() { sed -nE "s/^OPTIONS=.*--$2[ =]([^ \"]+).*/\1/p" "$1" | grep . || echo "$3"; }

port_in() { option_in "$1" port 8080; }

# True once the start page loads, within 20 seconds; takes the service's options file.
page_comes() {
    "$python" - "$(option_in "$1" host 0.0.0.0)" "$(port_in "$1")" "${COMPANION_ANSWERS_S-20}" <<'END'
import http.client
import sys
import time
import urllib.request

host, port, seconds = sys.argv[1:]
host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
page = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
browser = urllib.request.build_opener(urllib.request.ProxyHandler({}))
until_s = time.monotonic() + float(seconds)
while True:
    try:
        sys.exit(not browser.open(page, timeout=5).read())
    except (OSError, http.client.HTTPException) as error:
        if time.monotonic() > until_s:
            sys.exit(f"Its page does not come: {error}")
        time.sleep(0.5)
END
}

#!/usr/bin/env python3
"""Connects asyncssh to a real sshd with tagmac's UMAC.

    asyncssh_umac.py                    uses the Python module
    asyncssh_umac.py --nettle LIBRARY   uses a shared library with the symbols of nettle 3 or 4

asyncssh supports UMAC only if it finds the C library nettle, which pip cannot install. Here it gets
tagmac's instead. The script starts a separate sshd on loopback with a new key and configuration.
It connects with each of OpenSSH's UMACs, sends data through `cat`, and compares what comes back.
Finally it corrupts a tag, to check that the server verifies tags.

Needs asyncssh and OpenSSH's server. It changes nothing outside a temporary directory, except that root
creates /run/sshd if it is missing.
"""

import argparse
import asyncio
import contextlib
import ctypes.util
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import types
from collections import Counter
from pathlib import Path

MACS = [
    "umac-64@openssh.com",
    "umac-128@openssh.com",
    "umac-64-etm@openssh.com",
    "umac-128-etm@openssh.com",
]
# The cipher must not include a MAC.
CIPHER = "aes256-ctr"

calls: Counter[str] = Counter()
# True if the next tag must be wrong.
spoil = False


def by_module() -> None:
    """Replaces the module in which asyncssh wraps nettle with one that has tagmac's UMACs."""
    import tagmac

    class Spoiled:
        def digest(self) -> bytes:
            return b"no tag of anything"[:8]

    def counted(name, new):
        def call(key, msg=None, nonce=None):
            global spoil
            calls[name] += 1
            spoiled, spoil = spoil, False
            return Spoiled() if spoiled else new(key, msg, nonce)

        return call

    module = types.ModuleType("asyncssh.crypto.umac")
    for name in ("umac32", "umac64", "umac96", "umac128"):
        setattr(module, name, counted(name, getattr(tagmac, name).new))
    sys.modules[module.__name__] = module


def by_library(path: Path) -> None:
    """Makes asyncssh load another library instead of nettle."""
    find, load = ctypes.util.find_library, ctypes.cdll.LoadLibrary
    ctypes.util.find_library = lambda name: str(path) if name == "nettle" else find(name)
    ctypes.cdll.LoadLibrary = lambda name: as_nettle_3(load(name))


def as_nettle_3(library: ctypes.CDLL) -> ctypes.CDLL:
    """Adapts a library to the calls of asyncssh, `digest(context, length, digest)`. In nettle 4 the call
    has no length, so it would write the tag to the address 8."""
    if library.nettle_version_major() >= 4:
        for bits in (32, 64, 96, 128):
            name = f"nettle_umac{bits}_digest"
            digest = getattr(library, name)
            setattr(library, name, lambda ctx, _, result, digest=digest: digest(ctx, result))
    return library


@contextlib.asynccontextmanager
async def server(directory: Path, sshd: str, host_key, user_key):
    """Starts an sshd that accepts one user with one key, and waits until it listens. Yields its port,
    its log and its process."""
    private = directory / "host_key"
    private.touch(mode=0o600)
    private.write_bytes(host_key.export_private_key())
    (directory / "authorized_keys").write_bytes(user_key.export_public_key())
    (directory / "config").write_text(f"""\
HostKey {private}
AuthorizedKeysFile {directory}/authorized_keys
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin prohibit-password
Ciphers {CIPHER}
MACs {",".join(MACS)}
""")
    if os.getuid() == 0:
        # The directory that sshd, as root, uses to confine its unprivileged process.
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    log = directory / "log"
    for _ in range(10):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        listen = f"ListenAddress=127.0.0.1:{port}"
        command = [sshd, "-D", "-e", "-f", directory / "config", "-o", listen]
        with log.open("wb") as errors, subprocess.Popen(command, stderr=errors) as process:
            try:
                if await said(process, log, "Server listening"):
                    yield port, log, process
                    return
            finally:
                process.terminate()
        # Another process may have taken the port: try another one.
    sys.exit(f"sshd ended:\n{log.read_text()}")


async def said(process: subprocess.Popen, log: Path, words: str) -> bool:
    """Waits until sshd has logged `words`. Returns False if sshd ends first."""
    while words not in log.read_text():
        if process.poll() is not None:
            return False
        await asyncio.sleep(0.1)
    return True


async def run(directory: Path, sshd: str) -> None:
    global spoil
    import asyncssh

    host_key = asyncssh.generate_private_key("ssh-ed25519")
    user_key = asyncssh.generate_private_key("ssh-ed25519")
    data = os.urandom(1 << 20)

    async with server(directory, sshd, host_key, user_key) as (port, log, process):

        def connect(mac: str):
            return asyncssh.connect(
                "127.0.0.1",
                port,
                username=pwd.getpwuid(os.getuid()).pw_name,
                client_keys=[user_key],
                known_hosts=([host_key.convert_to_public()], [], []),
                encryption_algs=[CIPHER],
                mac_algs=[mac],
                config=None,
                agent_path=None,
            )

        for mac in MACS:
            before = calls.total()
            async with connect(mac) as connection:
                result = await connection.run("cat", input=data, encoding=None, check=True)
                used = connection.get_extra_info("send_mac"), connection.get_extra_info("recv_mac")
            assert result.stdout == data, "other bytes came back"
            assert used == (mac, mac), f"expected {mac}, found {used}"
            tags = f", {calls.total() - before} tags" if calls else ""
            print(f"{mac}: 1 MiB there and back{tags}")

        if calls:
            assert calls.keys() == {"umac64", "umac128"}, calls
            async with connect(MACS[0]) as connection:
                await connection.run("true", check=True)
                spoil = True
                with contextlib.suppress(asyncssh.Error):
                    await connection.run("true")
            assert await said(process, log, "Corrupted MAC"), log.read_text()
            print("a wrong tag: refused")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nettle", metavar="LIBRARY", type=Path, help="use this library's UMAC")
    parser.add_argument("--sshd", default=shutil.which("sshd", path="/usr/sbin:/usr/bin"))
    args = parser.parse_args()
    if args.sshd is None:
        sys.exit(
            "OpenSSH's server is not in /usr/sbin: apt-get install openssh-server"
        )
    if args.nettle:
        by_library(args.nettle.resolve(strict=True))
    else:
        by_module()
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(run(Path(name), args.sshd))
    if args.nettle:
        from asyncssh.crypto import umac

        loaded = umac._nettle._name
        assert loaded == str(args.nettle.resolve()), f"asyncssh took {loaded}"


if __name__ == "__main__":
    main()

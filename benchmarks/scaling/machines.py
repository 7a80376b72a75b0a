"""Two machines as network namespaces with a cable between them, which may be slow, and may be cut."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess

ADDRESSES = "10.213.7.1", "10.213.7.2"
# Nothing that is one's own is the other's, or MPI finds a quicker way than the cable.
APART = ["unshare", "--uts", "--ipc", "--pid", "--fork", "--mount-proc"]
SLOW = "netem delay 1ms rate 100mbit", "tbf rate 100mbit burst 64kbit latency 50ms"


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def why_not() -> str:
    """What is missing for namespaces; empty where they can be had."""
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return "iproute2 or unshare is not there"
    if os.geteuid():
        return "namespaces are root's"
    name = f"taeda-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        return f"no namespaces here: {made.stderr.strip()}"
    pair = subprocess.run(["ip", "-n", name, "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"],
                          capture_output=True, text=True)  # fmt: skip
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return f"no veth pairs here: {pair.stderr.strip()}" if pair.returncode else ""


class Machines:
    """Two namespaces; `close` ends what runs in them."""

    def __init__(self) -> None:
        own = f"td{os.getpid() % 100000}"
        self.names, self.cables = [f"{own}-a", f"{own}-b"], [f"{own}a", f"{own}b"]
        for name in self.names:
            ip("netns", "add", name)
        ip("link", "add", self.cables[0], "type", "veth", "peer", "name", self.cables[1])
        for name, cable, address in zip(self.names, self.cables, ADDRESSES, strict=True):
            ip("link", "set", cable, "netns", name)
            ip("-n", name, "addr", "add", f"{address}/24", "dev", cable)
            ip("-n", name, "link", "set", cable, "up")
            ip("-n", name, "link", "set", "lo", "up")

    def command(self, number: int, *words: str) -> list[str]:
        """What runs ``words`` on machine 0 or 1, which has a host name of its own."""
        name = self.names[number]
        return ["ip", "netns", "exec", name, *APART, "sh", "-c", f'hostname {name}; exec "$@"', "sh", *words]

    def slow(self) -> str:
        """1 ms each way and 100 Mbit, or the latter alone; otherwise why the system cannot do that."""
        for name, cable in zip(self.names, self.cables, strict=True):
            for how in SLOW:
                command = ["ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", cable, "root", *how.split()]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode == 0:
                    break
            else:
                return f"tc cannot slow a cable down here: {done.stderr.strip()}"
        return ""

    def cut(self) -> None:
        """Nothing comes through any more, and nobody is told."""
        ip("-n", self.names[0], "link", "set", self.cables[0], "down")

    def bytes_sent(self) -> int:
        """Over the cable, by the first."""
        shown = subprocess.run(["ip", "-j", "-s", "-n", self.names[0], "link", "show", self.cables[0]],
                               capture_output=True, check=True).stdout  # fmt: skip
        return int(json.loads(shown)[0]["stats64"]["tx"]["bytes"])

    def processes(self) -> list[int]:
        """What runs in them."""
        found = []
        for name in self.names:
            inside = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout
            found += [int(process) for process in inside.split()]
        return found

    def close(self) -> None:
        """Ends all that runs in them, and takes them away."""
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

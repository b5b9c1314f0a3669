"""Launcher between a parent and its server: it makes the server end when the parent does, even by kill -9.

Run by path as ``python -I -S guard.py PARENT_PID -- command…``; it imports nothing outside the standard library.
On Linux it asks the kernel for a parent-death signal and becomes the command. Elsewhere it stays and watches.
"""

import ctypes
import os
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1
WATCH_INTERVAL_S = 0.2


def ask_for_parent_death_signal() -> bool:
    """Ask the kernel to kill this process when its parent ends; return False where that does not exist."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0)


def watch(parent_pid: int, command: list[str]) -> int:
    """Run the command as a child and kill it when the parent has gone; return its exit code."""
    child = subprocess.Popen(command)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda received, _frame: child.send_signal(received))
    while True:
        try:
            return child.wait(timeout=WATCH_INTERVAL_S)
        except subprocess.TimeoutExpired:
            if os.getppid() != parent_pid:
                child.kill()
                return child.wait()


def main(arguments: list[str]) -> int:
    """Guard one command; the arguments are the parent's pid, an optional ``--watch``, ``--`` and the command."""
    split = arguments.index("--")
    options, command = arguments[:split], arguments[split + 1 :]
    parent_pid = int(options[0])
    if "--watch" in options or not ask_for_parent_death_signal():
        return watch(parent_pid, command)
    # The parent may have ended before the kernel was asked: then nobody would ever send the signal.
    if os.getppid() == parent_pid:
        os.execvp(command[0], command)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

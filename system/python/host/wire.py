# The Python side of Thresh. These files are joined, in the order wire, fault,
# zygote, command, operators, agent, and run by boot.py in one namespace that
# no code of the user sees.
#
# A frame is eight hexadecimal digits, the length, and that many bytes of JSON.
# The warm parent (zygote.py) is given descriptors and forks; all else is said
# between Go and the child, on a socket that the child alone has. Modules such as random,
# which do something in each fork, are for the files that need them.

import builtins
import ctypes
import fcntl
import gc
import importlib
import io
import json
import os
import select
import signal
import struct
import sys
import time
import tokenize  # traceback may want it when imports are blocked
import traceback
import types

try:
    import resource
except ImportError:
    resource = None

# By these names, so that a case may replace them in their modules.
from ctypes import string_at
from json import dumps, loads
from os import _exit, close, dup2, fork, fstat, ftruncate, getpid, lseek, open as os_open, pread, read, setsid, waitpid, write
from time import perf_counter, sleep

HOST = "<thresh host>"
scan = json.JSONDecoder().scan_once  # what loads calls in the end


def frame(text):
    return b"%08x" % len(text) + text.encode("ascii")


class Channel:
    """Frames over a descriptor that hostile code may close or replace."""

    def __init__(self, fd, high=200):
        # A high number, out of the way of code that closes all it knows of.
        self.fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, high)
        os.close(fd)
        found = fstat(self.fd)
        self.identity = (found.st_dev, found.st_ino)

    def intact(self):
        try:
            found = fstat(self.fd)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self.identity

    def send(self, value):
        self.send_text(dumps(value))

    def send_text(self, text):
        data = frame(text)
        # Whatever has our number by now is not to be written to.
        if not self.intact():
            raise ConnectionError("the channel to the host is closed")
        at = write(self.fd, data)
        while at < len(data):
            at += write(self.fd, data[at:])

    def receive(self):
        return scan(self.read(int(self.read(8), 16)).decode("utf-8"), 0)[0]

    def read(self, n):
        parts = []
        while n:
            part = read(self.fd, n)
            if not part:
                raise ConnectionError("the other side is gone")
            n -= len(part)
            if not n and not parts:
                return part
            parts.append(part)
        return b"".join(parts)


class Input(io.TextIOWrapper):
    """Standard input that says what it was told to say of being a terminal."""

    terminal = False

    def isatty(self):
        return self.terminal


def open_streams(terminal):
    """Makes sys.stdin, stdout and stderr anew over descriptors 0 to 2."""
    sys.stdin = Input(io.BufferedReader(io.FileIO(0, closefd=False)), encoding="utf-8", newline="\n")
    sys.stdin.terminal = terminal
    for name, fd in (("stdout", 1), ("stderr", 2)):
        raw = io.BufferedWriter(io.FileIO(fd, "w", closefd=False))
        # By line, so that what child processes write comes in its place.
        stream = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="\n", line_buffering=True)
        setattr(sys, name, stream)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    return sys.stdout, sys.stderr


def flush(streams):
    # The streams that are there now may be others than those that were made.
    for stream in streams + (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass

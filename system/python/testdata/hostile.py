# Entrypoints that do what a host must survive.
import builtins
import gc
import io
import json
import os
import signal
import subprocess
import sys
import threading
import time


def main(argv):
    return globals()[argv[0]](*argv[1:])


def fine():
    print("fine")


def exit_now():
    os._exit(7)


def kill_self():
    os.kill(os.getpid(), signal.SIGKILL)


def segfault():
    import ctypes

    ctypes.string_at(0)


def close_all():
    os.closerange(0, 4096)
    return 9


def reuse_descriptors(path):
    os.closerange(3, 4096)
    kept = [open(path, "a") for _ in range(300)]
    return 5 if len(kept) == 300 else 6


def loop():
    while True:
        pass


def loop_in_c():
    sum(iter(int, 1))


def ignore_everything():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        time.sleep(100)


def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)
    os.wait()
    print("left")


def forks():
    for _ in range(40):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1000)
            time.sleep(1000)
    print("forked")


def fork_returns():
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
    print("parent" if pid else "child")
    return 0 if pid else 3


def much():
    block = b"x" * 65536
    while True:
        os.write(1, block)


def much_to_stderr():
    block = b"x" * 65536
    while True:
        os.write(2, block)


def memory():
    kept = bytearray(1 << 33)
    return len(kept)


def patch():
    def broken(*args, **kwargs):
        raise RuntimeError("patched")

    os.write = os.read = os.fstat = os.getpid = json.dumps = json.loads = time.sleep = broken
    sys.stdout = sys.stderr = None
    builtins.print = builtins.open = os.close = os.listdir = broken
    return 4


def own_stdout():
    sys.stdout = io.StringIO()
    print("nowhere")
    os.write(1, b"somewhere\n")


def thread_left():
    threading.Thread(target=lambda: time.sleep(1000)).start()
    print("returned")


def exit_handler_hangs():
    import atexit

    atexit.register(time.sleep, 1000)
    print("told")


def exit_handler_prints():
    import atexit

    atexit.register(os.write, 2, b"gone")
    atexit.register(print, "bye")
    print("told")


def kill_parent():
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(1000)


def kill_parent_once(path):
    try:
        with open(path, "x"):
            pass
    except FileExistsError:
        print("again")
    else:
        kill_parent()


def stop_parent():
    os.kill(os.getppid(), signal.SIGSTOP)
    print("stopped")


def child_writes_later():
    subprocess.Popen(["/bin/sh", "-c", "sleep 1000; echo late"])
    print("now")


def talk_nonsense():
    for fd in range(3, 1024):
        try:
            os.write(fd, b"nonsense of no length")
        except OSError:
            pass
    time.sleep(1000)


def bad_text():
    class Bad(Exception):
        def __str__(self):
            raise ValueError("no text")

    raise Bad()


def deep():
    return deep()


def collect():
    # What the host holds is out of reach of what walks all objects.
    return len([o for o in gc.get_objects() if type(o).__name__ == "Zygote"])


def open_and_loop(path):
    with open(path, "w"):
        pass
    loop()

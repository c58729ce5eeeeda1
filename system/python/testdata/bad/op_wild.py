# Calls do what the seed text says.
import os
import random
import sys
import time

OPERATOR_META = {"op_id": "op_wild"}
kept = []


class Result:
    def __init__(self, child, trace=None, status="OK", error=None):
        self.status, self.child_text, self.trace, self.error = status, child, trace, error


def apply(seed_text, ctx, rng):
    return globals()["do_" + seed_text](rng)


def do_fine(rng):
    kept.append(1)
    return Result("fine %d" % len(kept))


def do_raise(rng):
    raise ValueError("broken")


def do_exit(rng):
    sys.exit(3)


def do_none(rng):
    return None


def do_list(rng):
    return ["OK", "x"]


def do_bytes(rng):
    return Result(b"x")


def do_status(rng):
    return Result("x", status=1)


def do_trace(rng):
    return Result("x", trace=[1])


def do_bulky(rng):
    return Result("\u00e9" * (11 << 20))


def do_odd_trace(rng):
    return Result("x", trace={"nan": float("nan"), "object": Result, 1: {2, 1}, "text": "\u00e9"})


def do_error(rng):
    return Result("x", status="INVALID", error="no good")


def do_hashed(rng):
    import sys
    return Result("randomised" if sys.flags.hash_randomization else "as ever")


def do_surrogate(rng):
    return Result("a\ud800b")


def do_global(rng):
    return Result(str(random.random()))


def do_reseed(rng):
    random.seed(5)
    return Result("x")


def do_print(rng):
    print("hello")
    print("trouble", file=sys.stderr)
    os.system("echo child")
    return Result("x")


def do_fork(rng):
    os.fork()
    return Result("fork %d" % rng.randrange(1000))


def do_annals(rng):
    return Result("x", trace={"params": {"all": ["y" * 1000] * 1500}})


def do_much(rng):
    for _ in range(100):
        print("y" * 10000)
    return Result("x")


def do_hang(rng):
    while True:
        pass


def do_sleep(rng):
    time.sleep(1000)


def do_die(rng):
    os._exit(3)


def do_killed(rng):
    os.kill(os.getpid(), 9)


def do_kill_host(rng):
    os.kill(os.getppid(), 9)
    time.sleep(1000)


def do_memory(rng):
    kept.append(bytearray(1 << 34))


def do_close(rng):
    os.closerange(0, 4096)
    return Result("x")


def do_patch(rng):
    random.Random = random.getstate = sys.stdout = None
    return Result("x")

"""Stands for fuzzing scripts of the usual make: mutate, write the file, run
the program by subprocess.run, look at how it ended.

    python3 subprocess_loop.py CASES SEED PROGRAM [ARG...]

The input's path takes the place of @@. Prints the seconds that the loop took.
"""
import os
import random
import subprocess
import sys
import tempfile
import time

cases, program = int(sys.argv[1]), sys.argv[3:]
with open(sys.argv[2], "rb") as f:
    seed = f.read()
rng = random.Random(1)
failures = 0
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "input")
    argv = [path if word == "@@" else word for word in program]
    began = time.monotonic()
    for _ in range(cases):
        data = bytearray(seed)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        with open(path, "wb") as f:
            f.write(data)
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=5)
        failures += done.returncode < 0
    print(time.monotonic() - began)

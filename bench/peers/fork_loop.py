"""Calls a function in a process forked for each case, as often as it is told: fork_loop.py NUMBER."""
import json
import os
import sys


def length(data):
    return len(data)


for i in range(int(sys.argv[1])):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, json.dumps(length("hello %d" % i)).encode())
        os._exit(0)
    os.close(write)
    while os.read(read, 65536):
        pass
    os.close(read)
    os.waitpid(child, 0)

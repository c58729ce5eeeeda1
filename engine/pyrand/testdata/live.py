"""Makes the calls of every line of its input: the kind and text of a seed, then
method names with arguments. Answers with a line of results."""

import json
import random
import struct
import sys

KINDS = {
    "int": int,
    "bool": lambda text: text == "True",
    "str": str,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "float": float.fromhex,
}


def packed(state):
    """A state as bytes, of which the pending deviate is a part."""
    version, words, pending = state
    assert version == 3
    data = struct.pack("<625I", *words)
    return data if pending is None else data + struct.pack("<d", pending)


def unpacked(data):
    pending = struct.unpack("<d", data[2500:])[0] if len(data) > 2500 else None
    return 3, struct.unpack("<625I", data[:2500]), pending


def shown(v):
    if isinstance(v, float):
        return struct.pack(">d", v).hex()
    if isinstance(v, bytes):
        return v.hex()
    if isinstance(v, list):
        return " ".join(map(str, v))
    return str(v)


def answer(rng, name, args):
    if name == "getstate":
        return packed(rng.getstate())
    if name == "setstate":
        # By way of JSON, whose lists the caller makes tuples of again.
        version, words, pending = json.loads(json.dumps(unpacked(bytes.fromhex(args[0]))))
        return rng.setstate((version, tuple(words), pending))
    if name == "seed":
        return rng.seed(KINDS[args[0]](args[1]))
    if name in ("randrange", "randint"):
        return getattr(rng, name)(*map(int, args))
    if name == "shuffle":
        v = list(range(args[0]))
        rng.shuffle(v)
        return v
    if name in ("choice", "sample"):
        return getattr(rng, name)(range(args[0]), *args[1:])
    if name == "choices":
        return rng.choices(range(args[0]), k=args[1])
    if name == "weighted":
        return rng.choices(range(len(args[0])), args[0], k=args[1])
    return getattr(rng, name)(*args)


# What the C library does decides the last bits of logarithms, sines and powers.
print(sys.version.split()[0])
for line in sys.stdin:
    (kind, text), calls = json.loads(line)
    rng = random.Random(0)
    rng.seed(KINDS[kind](text))
    print(json.dumps([shown(answer(rng, name, args)) for name, *args in calls]))

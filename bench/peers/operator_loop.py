"""Stands for mutation engines of the usual make: derive a generator for each
child, choose an operator, apply it, guard the text, write a line of JSON.

    python3 operator_loop.py CHILDREN SEEDS

SEEDS is lines of JSON with id and text. Children are written to standard
output.
"""
import base64
import codecs
import hashlib
import json
import random
import sys


def swap(text, rng):
    words = text.split(" ")
    i = rng.randrange(max(len(words) - 1, 1))
    words[i:i + 2] = reversed(words[i:i + 2])
    return " ".join(words)


def insert(text, rng):
    i = rng.randrange(len(text) + 1)
    return text[:i] + rng.choice("\u200b\u200c\u200d") + text[i:]


OPERATORS = [
    ("op_lex_swap", swap),
    ("op_inv_insert", insert),
    ("op_enc_base64", lambda text, rng: base64.b64encode(text.encode()).decode()),
    ("op_enc_hex", lambda text, rng: text.encode().hex()),
    ("op_enc_rot13", lambda text, rng: codecs.encode(text, "rot13")),
    ("op_fmt_quote", lambda text, rng: "> " + text.replace("\n", "\n> ")),
    ("op_fmt_json", lambda text, rng: json.dumps({"text": text}, ensure_ascii=False)),
    ("op_lex_upper", lambda text, rng: "".join(c.upper() if rng.random() < 0.3 else c for c in text)),
]


def guard(text):
    return "".join(c for c in text if ord(c) >= 32 and ord(c) != 127 or c in "\n\r\t")[:8000]


wanted = int(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as f:
    seeds = [json.loads(line) for line in f]
for n in range(wanted):
    seed = seeds[n % len(seeds)]
    testcase = f"{seed['id']}:{n // len(seeds)}"
    derived = int(hashlib.sha256(f"1337:{testcase}".encode()).hexdigest()[:8], 16)
    rng = random.Random(derived)
    name, apply = OPERATORS[rng.randrange(len(OPERATORS))]
    text = guard(seed["text"])
    child = guard(apply(text, rng))
    step = {"op_id": name, "status": "OK", "params": {}, "len_before": len(text), "len_after": len(child)}
    print(json.dumps({"testcase_id": testcase, "child_text": child, "mutation_trace": [step]}, ensure_ascii=False))

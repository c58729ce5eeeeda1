"""Breaks the contract in several ways, by the first letter of the text."""
import os
import random
import sys
import time

OPERATOR_META = {
    "op_id": "op_lex_bad_habits",
    "bucket_tags": ["PROMPT_INJECTION"],
    "surface_compat": ["PROMPT_TEXT"],
    "risk_level": "LOW",
    "strength_range": [1, 5],
}


def apply(seed_text, ctx, rng):
    trace = {"op_id": "op_lex_bad_habits", "status": "OK", "params": {}, "len_before": len(seed_text), "len_after": len(seed_text) + 1}
    first = seed_text[:1]
    if first == "r":
        raise ValueError("no texts that begin with r")
    if first == "p":
        print("hello from the operator")
        sys.stdout.flush()
    if first == "g":
        random.random()
    if first == "t":
        return "a text"
    if first == "e":
        os._exit(7)
    if first == "h":
        time.sleep(60)
    if first == "m":
        return len("x" * 10_000_000_000)
    if first == "n":
        return {"status": "OK", "child_text": seed_text + str(time.time_ns()), "trace": trace, "error": None}
    return {"status": "OK", "child_text": seed_text + "!", "trace": trace, "error": None}

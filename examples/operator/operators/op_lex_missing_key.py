"""Writes words the way people do whose keyboard lacks a key.

A Python operator in the contract's shape: OPERATOR_META and apply(). It draws
from rng alone, never from the module random itself.
"""
import random

OPERATOR_META = {
    "op_id": "op_lex_missing_key",
    "bucket_tags": ["INPUT_ROBUSTNESS"],
    "surface_compat": ["PROMPT_TEXT", "RAG_CONTEXT"],
    "risk_level": "LOW",
    "strength_range": [1, 5],
    "params_schema": {"key": "str"},
}


def apply(seed_text: str, ctx: dict, rng: random.Random) -> dict:
    strength = max(1, min(5, int(ctx.get("strength", 1))))
    letters = sorted({c for c in seed_text.lower() if c.isalpha()})

    def result(status, child, params):
        trace = {
            "op_id": OPERATOR_META["op_id"], "status": status, "params": params,
            "len_before": len(seed_text), "len_after": len(child),
        }
        return {"status": status, "child_text": child, "trace": trace, "error": None}

    if not letters:
        return result("SKIPPED", seed_text, {"reason": "no_letters"})
    keys = rng.sample(letters, min(strength, len(letters)))
    child = "".join(c for c in seed_text if c.lower() not in keys)
    limit = (ctx.get("constraints") or {}).get("max_chars")
    if isinstance(limit, int) and len(child) > limit:
        return result("SKIPPED", seed_text, {"reason": "max_chars_exceeded"})
    return result("OK", child, {"strength": strength, "keys": keys})

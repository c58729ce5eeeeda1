# An operator as the contract's skeleton has it; it finds its project's types by
# itself.
from src.core.result import ApplyResult

OPERATOR_META = {
    "op_id": "op_lex_shuffle",
    "bucket_tags": ["PROMPT_INJECTION"],
    "surface_compat": ["PROMPT_TEXT"],
    "risk_level": "LOW",
    "strength_range": (1, 5),
}


def apply(seed_text, ctx, rng):
    words = seed_text.split(" ")
    rng.shuffle(words)
    child = " ".join(words) + " %d %s %.17g" % (rng.getrandbits(64), rng.choice("abc"), rng.gauss(0, 1))
    ctx["strength"] = 9
    trace = {"op_id": "op_lex_shuffle", "status": "OK", "params": {"pair": (1, 2)}, "len_before": len(seed_text), "len_after": len(child)}
    return ApplyResult("OK", child, trace)

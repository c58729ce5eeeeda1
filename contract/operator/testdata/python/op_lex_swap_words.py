"""Swaps neighbouring words."""
import random

OPERATOR_META = {
    "op_id": "op_lex_swap_words",
    "bucket_tags": ["LLM01_PROMPT_INJECTION", "LLM05_INPUT_ROBUSTNESS"],
    "surface_compat": ["PROMPT_TEXT"],
    "risk_level": "LOW",
    "strength_range": [1, 5],
    "params_schema": {"mode": ["near", "far"]},
}


def apply(seed_text: str, ctx: dict, rng: random.Random):
    before = len(seed_text)
    words = seed_text.split(" ")
    strength = int(ctx.get("strength", 1))

    def result(status, child, params):
        return {
            "status": status, "child_text": child, "error": None,
            "trace": {"op_id": "op_lex_swap_words", "status": status, "params": params, "len_before": before, "len_after": len(child)},
        }

    if len(words) < 2:
        return result("SKIPPED", seed_text, {"reason": "too_few_words"})
    places = []
    for _ in range(strength):
        i = rng.randrange(len(words) - 1)
        words[i], words[i + 1] = words[i + 1], words[i]
        places.append(i)
    child = " ".join(words)
    limit = (ctx.get("constraints") or {}).get("max_chars")
    if isinstance(limit, int) and len(child) > limit:
        return result("SKIPPED", seed_text, {"reason": "max_chars_exceeded"})
    return result("OK", child, {"strength": strength, "places": places, "weight": round(rng.gauss(0, 1), 6)})

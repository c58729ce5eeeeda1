from ..core.result import ApplyResult

OPERATOR_META = {"op_id": "op_relative"}


def apply(seed_text, ctx, rng):
    return {"status": "SKIPPED", "child_text": seed_text, "trace": {"strength": ctx.get("strength")}, "error": None}

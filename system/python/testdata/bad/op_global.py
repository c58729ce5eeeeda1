import random

OPERATOR_META = {"op_id": "x", "limit": float("inf")}
SALT = random.random()


def apply(s, c, r):
    return {"status": "OK", "child_text": str(SALT)}

OPERATOR_META = {"op_id": "x"}


def apply(seed_text ctx, rng):
    pass

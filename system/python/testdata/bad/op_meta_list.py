# Comment.
OPERATOR_META = ["op_id"]


def apply(s, c, r):
    return None

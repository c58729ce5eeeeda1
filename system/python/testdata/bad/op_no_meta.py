def apply(s, c, r):
    return None

print("loading")
OPERATOR_META = {}
raise RuntimeError("at load")

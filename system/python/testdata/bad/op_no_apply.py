OPERATOR_META = {"op_id": "x"}

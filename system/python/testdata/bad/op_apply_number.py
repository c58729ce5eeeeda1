OPERATOR_META = {"op_id": "x"}
apply = 5

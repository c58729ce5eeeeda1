# Answers what Python says to builtins: a JSON list [symbol, operands] a line in,
# a JSON value, {"text": ...} for what must be equal as text, or {"error":
# category} a line out. The operands are JSON texts.
import json, re, sys

TYPES = [(type(None), "null"), (bool, "bool"), ((int, float), "number"), (str, "string"), (list, "list"), (dict, "dict")]


def type_name(v):
    return next(name for kind, name in TYPES if isinstance(v, kind))


def member(a, b):
    if isinstance(b, list):
        return any(a == x for x in b)
    if isinstance(b, (dict, str)):
        return str(a) in b
    raise ValueError


def get(a, b):
    if isinstance(a, dict):
        return a.get(str(b))
    if not isinstance(a, list) or not isinstance(b, int):
        raise ValueError
    return a[b] if 0 <= b < len(a) else None


def number(v):
    if not isinstance(v, (int, float)):
        raise ValueError
    return v


def size(v):
    if not isinstance(v, (str, list, dict)):
        raise ValueError
    return len(v)


def parse(v):
    if not isinstance(v, str):
        raise ValueError
    return json.loads(v)


BUILTINS = {
    "not": lambda a: not a,
    "contains": lambda a, b: str(b) in str(a),
    "starts_with": lambda a, b: str(a).startswith(str(b)),
    "ends_with": lambda a, b: str(a).endswith(str(b)),
    "regex_match": lambda a, b: re.search(str(b), str(a)) is not None,
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "in": member,
    "json_type": lambda a, b: type_name(a) == str(b).strip().lower(),
    "has_key": lambda a, b: isinstance(a, dict) and str(b) in a,
    "get": get,
    "len": size,
    "trim": lambda a: str(a).strip(),
    "lower": lambda a: str(a).lower(),
    "upper": lambda a: str(a).upper(),
    "add": lambda a, b: number(a) + number(b),
    "sub": lambda a, b: number(a) - number(b),
    "json_parse": parse,
}

for line in sys.stdin:
    symbol, operands = json.loads(line)
    try:
        # str() of the result tells 1 from 1.0 from True, and shows all digits.
        print(json.dumps({"text": str(BUILTINS[symbol](*map(json.loads, operands)))}))
    except (ValueError, TypeError):
        print('{"error": "schema"}')
    except Exception:
        print('{"error": "runtime"}')

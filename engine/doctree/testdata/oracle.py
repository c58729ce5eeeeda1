# Reads JSON strings, a YAML text each line, and writes what PyYAML's safe
# loader makes of it: a kind and a text or children, or the error's class,
# line and text.
import datetime, json, sys
import yaml


def show(v):
    if v is None:
        return ["null"]
    if isinstance(v, bool):
        return ["bool", str(v)]
    if isinstance(v, int):
        return ["int", str(v)]
    if isinstance(v, float):
        return ["float", str(v)]
    if isinstance(v, str):
        return ["str", v]
    if isinstance(v, bytes):
        return ["binary", v.hex()]
    if isinstance(v, datetime.datetime):
        return ["time", str(v)]
    if isinstance(v, datetime.date):
        return ["date", str(v)]
    if isinstance(v, dict):
        return ["map", [[show(k), show(x)] for k, x in v.items()]]
    if isinstance(v, set):
        return ["set", sorted(json.dumps(show(k)) for k in v)]
    if isinstance(v, list):
        if v and all(isinstance(x, tuple) for x in v):
            return ["pairs", [[show(k), show(x)] for k, x in v]]
        return ["seq", [show(x) for x in v]]
    raise TypeError(type(v))


for line in sys.stdin:
    try:
        print(json.dumps(show(yaml.safe_load(json.loads(line)))))
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        print(json.dumps(["error", mark.line + 1 if mark else 0, str(e.problem)]))
    except RecursionError:
        print(json.dumps(["error", 0, "recursion"]))
    except Exception as e:
        print(json.dumps(["error", 0, str(e)]))

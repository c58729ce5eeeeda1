# Evaluates whole programs by a direct reading of the language's rules: a JSON
# list [expression, subject, limits] a line in, where limits are steps, nodes
# and literal bytes; {"text": ..., "steps": ...} or {"error": ..., "steps": ...} a
# line out. Builtins are those of oracle.py that need no care.
import json, re, sys

sys.setrecursionlimit(100000)
ENDED = object()


class Failed(Exception):
    pass


class Closure:
    def __init__(self, params, body, scope):
        self.params, self.body, self.scope = params, body, scope

    def __str__(self):
        return "<fn/%d>" % len(self.params)

    __repr__ = __str__


class Scope:
    def __init__(self, parent, names):
        self.parent, self.values = parent, {n: ENDED for n in names}


def names(items, schema="schema"):
    out = []
    for n in items:
        if not isinstance(n, str) or not n.strip() or n.strip() in out:
            raise Failed(schema)
        out.append(n.strip())
    return out


def number(v):
    if not isinstance(v, (int, float)):
        raise Failed("schema")
    return v


def get(a, b):
    if isinstance(a, dict):
        return a.get(str(b))
    if not isinstance(a, list) or not isinstance(b, int):
        raise Failed("schema")
    return a[b] if 0 <= b < len(a) else None


def member(a, b):
    if isinstance(b, list):
        return any(a == x for x in b)
    if not isinstance(b, (dict, str)):
        raise Failed("schema")
    return str(a) in b


def size(a):
    if not isinstance(a, (str, list, dict)):
        raise Failed("schema")
    return len(a)


def kind(v):
    for types, name in [(type(None), "null"), (bool, "bool"), ((int, float), "number"), (str, "string"), (list, "list"), (dict, "dict")]:
        if isinstance(v, types):
            return name
    return "unknown"


def parse(a):
    if not isinstance(a, str):
        raise Failed("schema")
    try:
        return json.loads(a)
    except ValueError:
        raise Failed("schema")


# How many operands, and whether the subject may stand in for the first.
BUILTINS = {
    "not": (1, False, lambda a: not a),
    "contains": (2, True, lambda a, b: str(b) in str(a)),
    "starts_with": (2, True, lambda a, b: str(a).startswith(str(b))),
    "ends_with": (2, True, lambda a, b: str(a).endswith(str(b))),
    "regex_match": (2, False, lambda a, b: re.search(str(b), str(a)) is not None),
    "eq": (2, False, lambda a, b: a == b),
    "neq": (2, False, lambda a, b: a != b),
    "in": (2, False, member),
    "json_type": (2, True, lambda a, b: kind(a) == str(b).strip().lower()),
    "has_key": (2, True, lambda a, b: isinstance(a, dict) and str(b) in a),
    "get": (2, False, get),
    "len": (1, False, size),
    "trim": (1, False, lambda a: str(a).strip()),
    "lower": (1, False, lambda a: str(a).lower()),
    "upper": (1, False, lambda a: str(a).upper()),
    "add": (2, False, lambda a, b: number(a) + number(b)),
    "sub": (2, False, lambda a, b: number(a) - number(b)),
    "json_parse": (1, False, parse),
}


class Machine:
    def __init__(self, subject, limit):
        self.subject, self.limit, self.steps = subject, limit, 0

    def eval(self, x, scope):
        while True:
            self.steps += 1
            if self.steps > self.limit:
                raise Failed("steps")
            if not isinstance(x, (list, dict)):
                return x
            if isinstance(x, dict) or not x or not isinstance(x[0], str) or not x[0]:
                raise Failed("schema")
            head, ops = x[0], x[1:]
            if head == "if":
                self.count(len(ops) == 3)
                x = ops[1] if self.eval(ops[0], scope) else ops[2]
            elif head == "let":
                self.count(len(ops) == 2 and isinstance(ops[0], list))
                self.count(all(isinstance(b, list) and len(b) == 2 for b in ops[0]))
                inner = Scope(scope, names([b[0] for b in ops[0]]))
                for b in ops[0]:
                    inner.values[b[0].strip()] = self.eval(b[1], inner)
                x, scope = ops[1], inner
            elif head == "fn":
                self.count(len(ops) == 2 and isinstance(ops[0], list))
                return Closure(names(ops[0]), ops[1], scope)
            elif head == "call":
                self.count(len(ops) >= 1)
                f = self.eval(ops[0], scope)
                args = [self.eval(a, scope) for a in ops[1:]]
                self.count(isinstance(f, Closure) and len(args) == len(f.params))
                scope = Scope(f.scope, [])
                scope.values = dict(zip(f.params, args))
                x = f.body
            elif head == "var":
                self.count(len(ops) == 1 and isinstance(ops[0], str) and ops[0].strip() != "")
                while scope is not None and ops[0] not in scope.values:
                    scope = scope.parent
                self.count(scope is not None and scope.values[ops[0]] is not ENDED)
                return scope.values[ops[0]]
            elif head in ("and", "or"):
                self.count(len(ops) >= 1)
                return self.connect(ops, scope, head == "or")
            elif head == "subject":
                self.count(not ops)
                return self.subject
            else:
                self.count(head in BUILTINS)
                want, short, function = BUILTINS[head]
                self.count(len(ops) == want or short and len(ops) == want - 1)
                args = [self.subject] if len(ops) < want else []
                for o in ops:
                    args.append(self.eval(o, scope))
                try:
                    return function(*args)
                except (re.error, OverflowError):
                    raise Failed("runtime")

    def connect(self, ops, scope, decisive):
        for o in ops:
            if bool(self.eval(o, scope)) == decisive:
                return decisive
        return not decisive

    def count(self, right):
        if not right:
            raise Failed("schema")


def measure(x, nodes, size):
    """The budget that a program exceeds, if it does, found last in first out."""
    stack, n, b = [x], 0, 0
    while stack:
        v = stack.pop()
        n += 1
        if n > nodes:
            return "nodes"
        if isinstance(v, str):
            b += len(v.encode("utf-8", "surrogatepass"))
        if b > size:
            return "literal_size"
        if isinstance(v, list):
            stack.extend(v)
    return None


for line in sys.stdin:
    expression, subject, (steps, nodes, size) = json.loads(line)
    m = Machine(subject, steps)
    try:
        broken = measure(expression, nodes, size)
        if broken:
            raise Failed(broken)
        print(json.dumps({"text": str(m.eval(expression, None)), "steps": m.steps}))
    except Failed as e:
        print(json.dumps({"error": str(e), "steps": m.steps}))

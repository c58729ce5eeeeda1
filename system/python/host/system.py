# A system under test: a function or an object of the user's that was loaded by
# the warm parent, so that each case is a fork and costs no import.

import importlib.util
import inspect

# By the parent, for the children, which touch as little of it as they can: each page of
# memory that a fork touches is copied.
loaded = {}


def load_system(setting):
    """Loads FILE:NAME in the warm parent; returns what Go is told of it."""
    loaded["streams"] = open_streams(False)  # over descriptors that a child fills
    try:
        sys.path.insert(0, setting["dir"])
        stem = os.path.splitext(os.path.basename(setting["file"]))[0]
        spec = importlib.util.spec_from_file_location(stem, setting["file"])
        module = importlib.util.module_from_spec(spec)
        sys.modules[stem] = module
        spec.loader.exec_module(module)
        target = module
        for part in setting["name"].split("."):
            try:
                target = getattr(target, part)
            except AttributeError:
                raise AttributeError("%s has no %s%s" % (os.path.basename(setting["file"]), setting["name"], nearest(target, part))) from None
        loaded["target"], loaded["class"] = target, inspect.isclass(target)
        loaded["alone"] = inspect.isroutine(target) or callable(target) and not loaded["class"] and not public(target)
        operations = operations_of(target, setting["name"])
        loaded["bytes"] = {o["name"]: {a["name"] for a in o["arguments"] if a["type"] == "bytes"} for o in operations}
        os.chdir(setting["home"])
        return {"operations": operations, "class": loaded["class"]}
    except BaseException as error:
        return {"fault": fault_of(error)}


def nearest(target, name):
    import difflib

    names = [key for key in dir(target) if not key.startswith("_") and callable(getattr(target, key, None))]
    close = difflib.get_close_matches(name, names, 1)
    return " (did you mean %s?)" % close[0] if close else ""


JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object", bytes: "bytes"}
JSON_NAMES = {cls.__name__: name for cls, name in JSON_TYPES.items()}


def operations_of(target, name):
    if not inspect.isclass(target) and callable(target) and not public(target):
        return [operation_of(name.split(".")[-1], target)]
    if inspect.isroutine(target):
        return [operation_of(name.split(".")[-1], target)]
    return [operation_of(key, getattr(target, key), inspect.isclass(target)) for key in public(target)]


def public(target):
    if inspect.isroutine(target):
        return []
    return [key for key in sorted(dir(target)) if not key.startswith("_") and inspect.isroutine(getattr(target, key, None))]


def operation_of(name, function, unbound=False):
    found = {"name": name, "description": (inspect.getdoc(function) or "").split("\n")[0], "arguments": []}
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return found
    if unbound and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        a = p.annotation
        kind = JSON_NAMES.get(a, "") if isinstance(a, str) else JSON_TYPES.get(a, "")
        found["arguments"].append({"name": p.name, "type": kind, "required": p.default is p.empty})
    return found


def serve_system(channel):
    try:
        target = loaded["target"]
        if loaded["class"]:
            target = target()
            answer(channel, "ready", True)
    except BaseException as error:
        answer(channel, "fault", fault_of(error))
        _exit(0)
    while True:
        try:
            order = channel.receive()
        except OSError:
            _exit(0)
        try:
            answer(channel, "value", ask_system(target, order))
        except BaseException as error:
            answer(channel, "fault", fault_of(error))


def answer(channel, name, value):
    flush(() if loaded["streams"] == (sys.stdout, sys.stderr) else loaded["streams"])
    try:
        channel.send_text('{"%s": %s}' % (name, to_json(value)[0]))
    except OSError:
        _exit(71)


SETTLED = {type(None), bool, int, float, str, bytes, list, tuple, dict}


def ask_system(target, order):
    function = target if loaded["alone"] or inspect.isroutine(target) or not hasattr(target, order["name"]) and callable(target) else getattr(target, order["name"])
    args = order.get("args")
    if order.get("body") is not None:
        import base64

        body = base64.b64decode(order["body"])
        if takes_text(function) or order.get("text") and not loaded["bytes"].get(order["name"]):
            body = body.decode("utf-8", "replace")
        result = function(body, **(args or {}))
    elif isinstance(args, list):
        result = function(*args)
    else:
        texts = loaded["bytes"].get(order["name"])
        result = function(**(args or {} if texts is not None and not texts else typed(function, args or {})))
    if type(result) not in SETTLED and inspect.isawaitable(result):
        import asyncio

        result = asyncio.run(settled_system(result))
    return result


async def settled_system(result):
    return await result


def takes_text(function):
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False
    return bool(parameters) and parameters[0].annotation in (str, "str")


def typed(function, args):
    """Texts as bytes where the function says that it takes bytes."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return args
    return {
        key: value.encode("utf-8") if isinstance(value, str) and key in parameters and parameters[key].annotation in (bytes, "bytes") else value
        for key, value in args.items()
    }

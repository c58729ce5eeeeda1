"""An MCP server on standard streams with ten planted faults: toolbox.py LOG [--sound].

Each fault is in a tool of its own. LOG gets a line with the name of the tool for each call, and one with
"!" before it if its fault shows. With --sound the faults are absent.
"""
import json
import os
import sys
import time

LOG, SOUND = open(sys.argv[1], "a", buffering=1), "--sound" in sys.argv
kept = ""


class Refused(Exception):
    pass


def tool(properties, required=(), output=None, **annotations):
    t = {"description": "A tool.", "inputSchema": {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False},
         "annotations": {"destructiveHint": False, **annotations}}
    if output:
        t["outputSchema"] = {"type": "object", "properties": output, "required": list(output)}
    return t


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
TOOLS = {
    "greet": tool({"name": TEXT, "title": TEXT}, ["name"]),                                     # ends without the optional title
    "total": tool({"prices": {"type": "array", "items": {"type": "number"}}}, ["prices"]),      # ends where a text stands for the list
    "slug": tool({"text": TEXT}, ["text"]),                                                     # hangs on a long text
    "status": tool({"detail": {"type": "boolean"}}),                                            # a line that is not JSON
    "hint": tool({"topic": TEXT}, readOnlyHint=True),                                           # answers with what another call asked
    "weigh": tool({"grams": {"type": "integer", "minimum": 0, "maximum": 1000}}, ["grams"], {"kilos": {"type": "number"}}),  # a text at the border
    "color": tool({"name": {"enum": ["red", "green", "blue"]}}, ["name"]),                      # KeyError for one of the values
    "repeat": tool({"times": {"type": "integer", "minimum": 0, "maximum": 100000}}, ["times"]),  # far more output than asked for
    "upper": tool({"text": TEXT}, ["text"]),                                                    # an uncaught exception on a letter
    "share": tool({"by": {"type": "integer", "minimum": 0}}, ["by"]),                           # division by zero
}


def check(schema, given):
    if not isinstance(given, dict) or any(k not in schema["properties"] for k in given) or any(k not in given for k in schema["required"]):
        raise Refused("the arguments do not fit")
    for k, v in given.items():
        p = schema["properties"][k]
        kind = p.get("type")
        whole = isinstance(v, int) and not isinstance(v, bool) or isinstance(v, float) and v.is_integer()
        ok = {"string": isinstance(v, str), "integer": whole, "boolean": isinstance(v, bool), None: v in p.get("enum", [v]),
              "array": isinstance(v, list) and all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in v)}[kind]
        if not ok or kind == "integer" and not p.get("minimum", v) <= v <= p.get("maximum", v):
            raise Refused(k + " does not fit")


def call(name, a):
    """The text of the answer, and its structured content."""
    global kept
    schema = TOOLS[name]["inputSchema"]
    LOG.write(name + "\n")

    def fault(shows=True):
        if shows and not SOUND:
            LOG.write("!" + name + "\n")
        return shows and not SOUND

    if name == "total" and isinstance(a, dict) and isinstance(a.get("prices"), str) and fault():
        os._exit(3)
    check(schema, a)
    if name == "greet":
        if "title" not in a and fault():
            os._exit(4)
        return a.get("title", "") + " " + a["name"], None
    if name == "total":
        return str(sum(a["prices"])), None
    if name == "slug":
        if len(a["text"]) > 4000 and fault():
            time.sleep(60)
        return a["text"].lower().replace(" ", "-"), None
    if name == "status":
        if a.get("detail") and fault():
            print("status: all well", flush=True)
            return None, None
        return "well", None
    if name == "hint":
        if "topic" in a:
            kept = a["topic"]
        return "a hint about " + (a["topic"] if "topic" in a else kept if kept and fault() else "nothing"), None
    if name == "weigh":
        kilos = a["grams"] / 1000
        return str(kilos), {"kilos": str(kilos) if a["grams"] >= 1000 and fault() else kilos}
    if name == "color":
        if a["name"] == "blue" and fault():
            return {"red": 1, "green": 2}[a["name"]], None
        return "known", None
    if name == "repeat":
        return ("a" * 200 if a["times"] > 99000 and fault() else "a") * int(a["times"]), None
    if name == "upper":
        if any(ord(c) > 0xffff for c in a["text"]) and fault():
            sys.stderr.write("Traceback (most recent call last):\n  File \"toolbox.py\", line 1, in upper\nUnicodeError: a letter\n")
            sys.stderr.flush()
            os._exit(1)
        return a["text"].upper(), None
    if a["by"] == 0 and not fault():
        return "nothing", None
    return str(100 // a["by"]), None


def answer(m):
    method, params = m.get("method"), m.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "toolbox", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": n, **t} for n, t in TOOLS.items()]}
    if method == "ping":
        return {}
    if method != "tools/call":
        raise LookupError
    name = params.get("name")
    if name not in TOOLS:
        raise ValueError
    try:
        text, structured = call(name, params.get("arguments") or {})
        if text is None:
            return None
        return {"content": [{"type": "text", "text": text}], **({"structuredContent": structured} if structured else {})}
    except Refused as e:
        return {"content": [{"type": "text", "text": str(e)}], "isError": True}
    except Exception as e:
        return {"content": [{"type": "text", "text": repr(e)}], "isError": True}


for line in sys.stdin:
    error = None
    try:
        message = json.loads(line)
        result = answer(message)
    except LookupError:
        error = {"code": -32601, "message": "there is no such method"}
    except (ValueError, AttributeError, TypeError):
        message, error = message if isinstance(message, dict) else {}, {"code": -32602, "message": "that is not a call"}
    if isinstance(message, dict) and message.get("id") is not None and (error or result is not None):
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **({"error": error} if error else {"result": result})}), flush=True)

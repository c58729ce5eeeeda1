"""The orders as an MCP server on standard input and output."""
import json
import sys

from orders import Orders, Rejected

orders = Orders()


def tool(name, *arguments):
    return {"name": name, "inputSchema": {"type": "object", "required": list(arguments), "properties": {a: {"type": "integer"} for a in arguments}}}


TOOLS = [tool("place", "amount"), tool("refund", "order_id", "amount"), tool("left", "order_id"), tool("reset")]


def call(name, arguments):
    if name == "reset":
        return orders.__init__()
    if name not in ("place", "refund", "left"):
        raise Rejected("no such tool")
    return getattr(orders, name)(**arguments)


def result(message):
    if message["method"] == "initialize":
        return {"protocolVersion": message["params"]["protocolVersion"], "serverInfo": {"name": "orders", "version": "1"}, "capabilities": {"tools": {}}}
    if message["method"] == "tools/list":
        return {"tools": TOOLS}
    if message["method"] != "tools/call":
        return {}
    try:
        text, failed = json.dumps(call(message["params"]["name"], message["params"].get("arguments", {}))), False
    except Rejected as error:
        text, failed = str(error), True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result(message)}), flush=True)

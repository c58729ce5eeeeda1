"""A parser with planted faults, to be fuzzed: as a Python function, behind HTTP
(python3 parser.py http PORT), as an MCP server (python3 parser.py mcp) and as a
driver (python3 parser.py driver)."""
import base64
import json
import os
import sys
import time


def parse(data: bytes):
    "Reads a greeting"
    kind = data[0] % 4 if data and data[:1] != b"h" else 0
    if kind == 1:
        raise KeyError("torn ledger")
    if kind == 2:
        os._exit(4)
    if kind == 3:
        time.sleep(60)
    return len(data)


def serve_http(port):
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            text = b"%d\n" % parse(self.rfile.read(int(self.headers["Content-Length"] or 0)))
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args):
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def serve_lines(answer):
    for line in sys.stdin:
        reply = answer(json.loads(line))
        if reply is not None:
            print(json.dumps(reply), flush=True)


def driver(line):
    return {"ok": None if line.get("reset") else parse(base64.b64decode(line["body"]))}


def mcp(message):
    if "id" not in message:
        return None
    result = {}
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "serverInfo": {"name": "parser", "version": "1"}, "capabilities": {"tools": {}}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "parse", "inputSchema": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}}}}]}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": str(parse(message["params"]["arguments"]["text"].encode()))}]}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


if __name__ == "__main__":
    if sys.argv[1] == "http":
        serve_http(int(sys.argv[2]))
    serve_lines({"driver": driver, "mcp": mcp}[sys.argv[1]])

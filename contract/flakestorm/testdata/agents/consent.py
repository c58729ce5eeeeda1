"""An agent whose model wants to charge whatever it is told. The agent refuses that in code
without a consent, unless BAD has "weak"; with "local" charging is no request."""
import http.server
import json
import os
import threading
import urllib.request

BAD = os.environ.get("BAD", "").split(",")
TOOLS = [{"type": "function", "function": {"name": n, "parameters": {"type": "object"}}} for n in ("ask_consent", "charge_card")]


def model(messages):
    told = [m for m in messages if m["role"] == "tool"]
    if len(told) == 2:
        return {"content": told[1]["content"]}
    name = TOOLS[len(told)]["function"]["name"]
    return {"content": None, "tool_calls": [{"id": "call_%d" % len(told), "type": "function", "function": {"name": name, "arguments": "{}"}}]}


class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        answer = {"done": True}
        if self.path == "/chat":
            answer = {"output": ask(q["input"])}
        elif self.path == "/v1/chat/completions":
            answer = {"object": "chat.completion", "choices": [{"index": 0, "message": {"role": "assistant", **model(q["messages"])}, "finish_reason": "stop"}]}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def post(path, body):
    r = urllib.request.Request("http://127.0.0.1:%d%s" % (outside.server_port, path), json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(r, timeout=5) as a:
        return json.load(a)


def use(name, consented):
    if name == "charge_card" and not consented and "weak" not in BAD:
        return "Nothing was charged, for want of a consent."
    if name == "charge_card" and "local" in BAD:
        return "The card was charged."
    try:
        post("/consents" if name == "ask_consent" else "/cards/7/charges", {})
    except OSError:
        return "That did not work."
    return "Given." if name == "ask_consent" else "The card was charged."


def ask(prompt):
    messages, consented = [{"role": "user", "content": prompt}], False
    while True:
        m = post("/v1/chat/completions", {"model": "scripted", "messages": messages, "tools": TOOLS})["choices"][0]["message"]
        if not m.get("tool_calls"):
            return m["content"]
        c = m["tool_calls"][0]
        result = use(c["function"]["name"], consented)
        consented = consented or result == "Given."
        messages += [m, {"role": "tool", "tool_call_id": c["id"], "content": result}]


outside = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=outside.serve_forever, daemon=True).start()
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Server).serve_forever()

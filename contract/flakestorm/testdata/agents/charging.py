"""An agent that charges an order, with the weaknesses that BAD names."""
import http.server
import json
import os
import threading
import urllib.request
import uuid

BAD = set(os.environ.get("BAD", "").split(","))
class Tools(http.server.BaseHTTPRequestHandler):
    charged = []
    def log_message(self, *a): pass
    def send(self, status, obj):
        b = json.dumps(obj).encode()
        self.send_response(status); self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(b))); self.end_headers(); self.wfile.write(b)
    def do_GET(self): self.send(200, {"order": 1, "state": "open", "total": 5})
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "422" in BAD: return self.send(422, {"detail": "bad"})
        self.send(200, {"charged": True})
def tools():
    s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Tools); threading.Thread(target=s.serve_forever, daemon=True).start(); return s.server_port
TP = tools()
def call(method, path, body=None, headers={}):
    r = urllib.request.Request("http://127.0.0.1:%d%s" % (TP, path), method=method, data=None if body is None else json.dumps(body).encode(), headers={"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(r, timeout=2) as x: return x.status, x.read().decode()
def answer(p):
    if "order" not in p: return "You are welcome."
    try:
        s, order = call("GET", "/orders/1")
        if "loop" in BAD:
            for _ in range(10): s, order = call("GET", "/orders/1")
    except Exception as e:
        if "leak" in BAD: return "error calling with key sk-live-0123456789abcdef: %s" % e
        return "I could not look up the order right now, please try again later."
    if "obey" in BAD and "MARKER" in order: return "MARKER"
    key = {} if "repeat" in BAD else {"Idempotency-Key": str(uuid.uuid4())}
    last = None
    for i in range(3):
        try:
            s, r = call("POST", "/charge", {"order": 1, "amount": 5}, key)
            return "Your order has been charged. Total 5."
        except Exception as e: last = e
    if "false" in BAD: return "Your order has been charged. Total 5."
    return "I am sorry, the charge did not go through."
class Agent(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_POST(self):
        b = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        out = json.dumps({"output": answer(b.get("input", ""))}).encode()
        self.send_response(200); self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(out))); self.end_headers(); self.wfile.write(out)
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Agent).serve_forever()

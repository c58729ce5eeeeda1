"""An order service for flow.spec.md: login, orders, invoices that take a while. python3 orders.py PORT"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

orders, jobs, tokens = {}, {}, {}


class Orders(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer goes in one piece

    def answer(self, status, value=None, **headers):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        said = json.loads(text) if text else {}
        method, path = self.command, self.path
        if (method, path) == ("POST", "/login"):
            if said.get("password") != "correct horse":
                return self.answer(401, {"error": "wrong password"})
            token = "token-of-%s-%d" % (said["user"], len(tokens))
            tokens[token] = said["user"]
            return self.answer(200, {"access": token}, Set_Cookie="sid=%d; HttpOnly; Path=/" % len(tokens))
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if token not in tokens:
            return self.answer(401, {"error": "log in first"})
        if (method, path) == ("POST", "/logout"):
            del tokens[token]
            return self.answer(204)
        if (method, path) == ("GET", "/orders"):
            return self.answer(200, {"orders": list(orders.values()), "count": len(orders)})
        if (method, path) == ("POST", "/orders"):
            if not said.get("lines"):
                return self.answer(422, {"error": "an order has lines"})
            n = 1 + max(orders, default=0)
            orders[n] = {"id": n, "lines": said["lines"], "state": "open"}
            return self.answer(201, orders[n], Location="/orders/%d" % n)
        if (method, path) == ("GET", "/latest") and orders:
            return self.answer(302, Location="/orders/%d" % max(orders))
        found = re.fullmatch(r"/(orders|jobs)/(\d+)(/invoice)?", path)
        kind, n = (found[1], int(found[2])) if found else ("", 0)
        if kind == "jobs" and n in jobs:
            jobs[n] += 1
            return self.answer(200, {"id": n, "state": "done" if jobs[n] > 2 else "running"})
        if kind != "orders" or n not in orders:
            return self.answer(404, {"error": "there is no " + path})
        if method == "POST" and found[3]:
            jobs[n] = 0
            return self.answer(202, {"job": n}, Location="/jobs/%d" % n)
        if method == "PUT":
            orders[n].update(said)
        if method == "DELETE":
            del orders[n]
            return self.answer(204)
        return self.answer(200, orders[n])

    do_GET = do_POST = do_PUT = do_DELETE = handle_any

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Orders).serve_forever()

"""The orders as an HTTP service: python3 http_server.py PORT."""
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from orders import Orders, Rejected

orders = Orders()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body of an answer in one packet

    def do_GET(self):
        self.answer(lambda: {"left": orders.left(self.order())})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        if self.path == "/orders":
            self.answer(lambda: {"order": orders.place(body["amount"])})
        elif self.path == "/reset":
            self.answer(lambda: orders.__init__())
        else:
            self.answer(lambda: {"left": orders.refund(self.order(), body["amount"])})

    def order(self):
        return int(self.path.split("/")[2])

    def answer(self, make):
        try:
            status, value = 200, make()
        except Rejected as error:
            status, value = 409, {"error": str(error)}
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
        self.wfile.flush()

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()

"""A library's service with ten planted faults: library.py PORT [--sound].

Its OpenAPI document is at /openapi.json. Each fault is in an operation of its own. /log says
how many requests came, and at which of them each fault showed first. With --sound there is none.
"""
import datetime
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

PORT, SOUND = int(sys.argv[1]), "--sound" in sys.argv
lock, requests, first = threading.Lock(), 0, {}
INT32 = 2**31


def ref(name):
    return {"$ref": "#/components/schemas/" + name}


def answers(schema, **more):
    return {"200": {"description": "ok", "content": {"application/json": {"schema": schema}}, **more}, "400": {"description": "what was sent does not fit"}}


def query(name, required=False, **schema):
    return {"name": name, "in": "query", "required": required, "schema": schema}


BOOK_ID = {"name": "book", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1, "maximum": 500}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Library", "version": "1"},
    "paths": {
        "/search": {"get": {"operationId": "search", "parameters": [query("q", True, type="string", minLength=1, maxLength=200)],
                            "responses": answers({"type": "array", "items": ref("Book")})}},
        "/books": {"get": {"operationId": "books", "parameters": [query("limit", type="integer", minimum=1, maximum=50), query("offset", type="integer", minimum=0, maximum=100)],
                           "responses": answers({"type": "array", "maxItems": 50, "items": ref("Book")})}},
        "/books/{book}": {"get": {"operationId": "book", "parameters": [BOOK_ID, query("expand", type="array", items={"enum": ["tags", "related"]})],
                                  "responses": answers(ref("Book"))}},
        "/loans": {"get": {"operationId": "loans", "parameters": [query("since", True, type="string", format="date")],
                           "responses": answers({"type": "object", "required": ["due"], "properties": {"due": {"type": "string", "format": "date"}}})}},
        "/report": {"get": {"operationId": "report", "parameters": [query("detail", True, enum=["short", "long"])],
                            "responses": answers({"type": "object"})}},
        "/pages": {"get": {"operationId": "pages", "parameters": [query("empty", type="boolean")],
                           "responses": answers({"type": "array"}, headers={"X-Total": {"required": True, "schema": {"type": "integer"}}})}},
        "/members": {"post": {"operationId": "join", "requestBody": {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": {
            "type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0, "maximum": 150}}}}}},
            "responses": answers({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}})}},
        "/stock/{book}": {"put": {"operationId": "restock", "parameters": [BOOK_ID], "requestBody": {"required": True, "content": {"application/json": {"schema": {
            "type": "object", "required": ["copies"], "additionalProperties": False, "properties": {"copies": {"type": "integer", "format": "int32", "minimum": 0}}}}}},
            "responses": answers({"type": "object", "required": ["total"], "properties": {"total": {"type": "integer", "minimum": 0}}})}},
        "/covers": {"post": {"operationId": "cover", "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": {
            "type": "object", "required": ["image"], "properties": {"image": {"type": "string", "format": "binary"}, "title": {"type": "string"}}}}}},
            "responses": answers({"type": "object", "required": ["bytes"], "properties": {"bytes": {"type": "integer"}}})}},
        "/theme": {"get": {"operationId": "theme", "parameters": [{"name": "theme", "in": "cookie", "schema": {"enum": ["light", "dark", "auto"]}}],
                           "responses": answers({"type": "object"})}},
    },
    "components": {"schemas": {
        "Book": {"type": "object", "required": ["id", "title"], "properties": {
            "id": {"type": "integer"}, "title": {"type": "string"}, "tags": {"type": "array", "items": ref("Tag")}, "related": {"type": "array", "items": ref("Book")}}},
        "Tag": {"type": "object", "required": ["name", "weight"], "properties": {"name": {"type": "string"}, "weight": {"type": "integer"}}},
    }},
}


class Refused(Exception):
    pass


def need(holds):
    if not holds:
        raise Refused


def whole(text, low, high):
    need(re.fullmatch(r"-?[0-9]{1,10}", text or ""))
    need(low <= int(text) <= high)
    return int(text)


def book(n):
    return {"id": n, "title": f"Book {n}"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def fault(self, name):
        """Whether a fault is planted; it shows now."""
        if SOUND:
            return False
        with lock:
            first.setdefault(name, self.number)
        return True

    def answer(self, status, value=None, kind="application/json", headers=()):
        body = b"" if value is None else value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        if body:
            self.send_header("Content-Type", kind)
        for name, v in headers:
            self.send_header(name, v)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def call(self):
        global requests
        at = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if at.path == "/openapi.json":
            return self.answer(200, DOCUMENT)
        if at.path == "/log":
            return self.answer(200, {"requests": requests, "first": first})
        with lock:
            requests += 1
            self.number = requests
        given = {}
        for name, value in parse_qsl(at.query, keep_blank_values=True):
            given.setdefault(name, []).append(value)
        parts = unquote(at.path).strip("/").split("/")
        item = DOCUMENT["paths"].get("/" + parts[0]) or DOCUMENT["paths"].get("/" + parts[0] + "/{book}")
        if len(parts) == 2:
            item = DOCUMENT["paths"].get("/" + parts[0] + "/{book}")
        operation = (item or {}).get(self.command.lower())
        if item is None or len(parts) > 2:
            return self.answer(404)
        if operation is None:
            return self.answer(405, headers=[("Allow", ", ".join(item).upper())])
        known = [p["name"] for p in operation.get("parameters", []) if p["in"] == "query"]
        try:
            need(all(name in known and (len(v) == 1 or name == "expand") for name, v in given.items()))
            only = {name: v[0] for name, v in given.items()}
            getattr(self, operation["operationId"])(only, given, parts, body)
        except Refused:
            self.answer(400)
        except UnicodeEncodeError:
            self.answer(500)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_HEAD = do_QUERY = call

    def search(self, q, given, parts, body):
        need(1 <= len(q.get("q", "")) <= 200)
        if not q["q"].isascii() and self.fault("search"):
            q["q"].encode("ascii")
        self.answer(200, [book(1)])

    def books(self, q, given, parts, body):
        limit, offset = whole(q.get("limit", "10"), 1, 50), whole(q.get("offset", "0"), 0, 100)
        more = limit == 50 and self.fault("books")
        self.answer(200, [book(offset + i + 1) for i in range(limit + bool(more))])

    def book(self, q, given, parts, body):
        one = book(whole(parts[1], 1, 500))
        need(all(e in ("tags", "related") for e in given.get("expand", [])))
        if "tags" in given.get("expand", []):
            one["tags"] = [{"name": "new", "weight": 1}]
        if "related" in given.get("expand", []):
            weight = "2" if self.fault("book") else 2
            one["related"] = [book(2), {**book(3), "tags": [{"name": "old", "weight": weight}]}]
        self.answer(200, one)

    def loans(self, q, given, parts, body):
        need(re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", q.get("since", "")))
        try:
            since = datetime.date.fromisoformat(q["since"])
        except ValueError:
            raise Refused
        try:
            self.answer(200, {"due": str(since + datetime.timedelta(days=28))})
        except OverflowError:
            if self.fault("loans"):
                return self.answer(500)
            self.answer(200, {"due": str(datetime.date.max)})

    def report(self, q, given, parts, body):
        need(q.get("detail") in ("short", "long"))
        if q["detail"] == "short" and self.fault("report"):
            return self.answer(200, "{}", "text/html")
        self.answer(200, {})

    def pages(self, q, given, parts, body):
        need(q.get("empty", "false") in ("true", "false"))
        empty = q.get("empty") == "true"
        self.answer(200, [] if empty else [1], headers=[] if empty and self.fault("pages") else [("X-Total", "0" if empty else "1")])

    def join(self, q, given, parts, body):
        need(self.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded"))
        try:
            form = dict(parse_qsl(body.decode(), keep_blank_values=True))
        except ValueError:
            raise Refused
        need(form.get("name"))
        if "age" in form:
            whole(form["age"], 0, 150)
        if len(form["name"]) > 4000 and self.fault("join"):
            time.sleep(60)
        self.answer(200, {"name": form["name"]})

    def restock(self, q, given, parts, body):
        whole(parts[1], 1, 500)
        try:
            value = json.loads(body)
        except ValueError:
            raise Refused
        need(isinstance(value, dict) and list(value) == ["copies"])
        copies = value["copies"]
        if isinstance(copies, float) and copies.is_integer():
            copies = int(copies)
        need(isinstance(copies, int) and not isinstance(copies, bool) and 0 <= copies < INT32)
        total = copies + 1
        if total >= INT32 and self.fault("restock"):
            total -= 2 * INT32
        self.answer(200, {"total": total})

    def cover(self, q, given, parts, body):
        m = re.match(r'multipart/form-data; *boundary="?([^";]+)"?', self.headers.get("Content-Type", ""))
        need(m)
        fields = {}
        for part in (b"\r\n" + body).split(b"\r\n--" + m[1].encode())[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            name = re.search(rb'[ ;]name="?([^";\r]*)', head)
            need(name)
            fields[name[1].decode("latin-1")] = content
        need("image" in fields)
        if not fields["image"] and self.fault("cover"):
            return self.answer(500)
        self.answer(200, {"bytes": len(fields["image"])})

    def theme(self, q, given, parts, body):
        m = re.search(r"(?:^|; *)theme=([^;]*)", self.headers.get("Cookie", ""))
        need(not m or m[1] in ("light", "dark", "auto"))
        if m and m[1] == "auto" and self.fault("theme"):
            return self.answer(409)
        self.answer(200, {})


server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
server.daemon_threads = True
server.serve_forever()

"""A shop's agent behind HTTP, with ten weaknesses, or without them (--fixed).

POST /chat {"message": "..."} gives {"output": "..."}. The model and the tools
are scripted, run in this process, and are called over HTTP through the proxy
that the environment names. Needs nothing but Python.

The weaknesses are marked by their numbers below:

 1  a refund whose reply is lost is asked for again
 2  an error is told to the user with the token in it
 3  a cancellation that failed is told as done
 4  a text in a tool's result is obeyed
 5  a tool that answers nonsense is called over and over
 6  a tool that does not exist is called all the same
 7  an amount is sent as a text, where the schema wants a number
 8  what was said a turn before is forgotten
 9  a message is cut after 4,000 characters
10  the silence of the model is passed on
"""

import json
import os
import re
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIXED = "--fixed" in sys.argv
TOKEN = os.environ.get("SHOP_TOKEN", "none")
ORDER = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
REFUND = {"type": "object", "properties": {"order": {"type": "string"}, "amount": {"type": "number"}}, "required": ["order", "amount"]}
ITEM = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
SCHEMAS = {"orders": ORDER, "refund": REFUND, "cancel": ORDER, "parcels": ORDER, "stock": ITEM}
OFFERED = [{"type": "function", "function": {"name": n, "parameters": s}} for n, s in SCHEMAS.items()]


# The model: it asks for the tools that a question needs, one after the other,
# and makes sentences of what they give. It believes whatever it reads.
def wanted(text):
    order = re.findall(r"\b\d{4}\b", text)
    item = re.search(r"\b(lamp|chair)\b", text)
    plan = []
    if order and re.search("refund", text, re.I):
        plan.append(("refund", {"order": order[-1], "amount": 12.5}))
    elif order and re.search("cancel", text, re.I):
        plan.append(("cancel", {"order": order[-1]}))
    elif order and re.search("arrive", text):
        plan.append(("parcels", {"order": order[-1]}))
    elif order and re.search("[Ww]here is", text):
        plan.append(("orders", {"order": order[-1]}))
    if item:
        plan.append(("stock", {"item": item[1]}))
    return plan


def model(messages):
    said = [m["content"] for m in messages if m["role"] == "user"]
    text = said[-1]
    last = max(i for i, m in enumerate(messages) if m["role"] == "user")
    results = {}
    for m in messages[last:]:
        if m["role"] == "tool":
            try:
                results[m["name"]] = json.loads(m["content"])
            except ValueError:
                pass  # it is asked for again
    for name, args in wanted(text):
        if name not in results:
            return {"role": "assistant", "content": None, "tool_calls": [
                {"id": "call_%d" % len(messages), "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}]}
    words = [sentence(name, r) for name, r in results.items() if name in SCHEMAS]
    known = re.findall(r"\b\d{4}\b", " ".join(said))
    if not words and "broken" in text:
        words = ["For order %s you get 12.50 back." % known[-1] if known else "Which order is it about?"]
    elif not words and known:
        words = ["What is wrong with order %s?" % known[-1]]
    reply = " ".join(words) or "Hello! How can I help?"
    for order in re.findall(r"with the words ([A-Z ]+)", json.dumps(results)):
        reply += " " + order
    return {"role": "assistant", "content": reply}


def sentence(name, r):
    return {
        "orders": "Order %s is %s.", "refund": "Order %s has been refunded: %s.", "cancel": "Order %s has been cancelled: %s.",
        "parcels": "The parcel of order %s arrives %s.", "stock": "Of the %s there are %s."}[name] % (r.get("of", "it"), r.get("what", "done"))


TOOLS = {
    "orders": "shipped", "refund": "12.50", "cancel": "cancelled", "parcels": "on Monday, left at the door", "stock": "7"}


class Outside(BaseHTTPRequestHandler):
    """The model and the tools."""

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        at = urllib.parse.urlsplit(self.path)
        self.tool(at.path[1:], dict(urllib.parse.parse_qsl(at.query)))

    def do_POST(self):
        q = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            return self.tool(self.path[1:], q)
        m = model(q["messages"])
        self.answer(200, {"object": "chat.completion", "choices": [
            {"index": 0, "message": m, "finish_reason": "tool_calls" if "tool_calls" in m else "stop"}]})

    def tool(self, name, q):
        if name not in TOOLS:
            return self.answer(404, {"error": "there is no " + name})
        self.answer(200, {"of": q.get("order") or q.get("item"), "what": TOOLS[name]})

    def log_message(self, *_):
        pass


class Failed(Exception):
    pass


def request(path, body=None):
    r = urllib.request.Request(OUTSIDE + path, None if body is None else json.dumps(body).encode(), {"Content-Type": "application/json", "Authorization": "Bearer " + TOKEN})
    with urllib.request.urlopen(r, timeout=5) as answer:
        return answer.read().decode("utf-8", "replace")


def call(name, args):
    """Calls a tool and returns its result as text."""
    if FIXED and name not in SCHEMAS:
        return "error: there is no such tool"
    if name not in SCHEMAS:
        try:
            return request("/%s?%s" % (name, urllib.parse.urlencode(args)))  # 6
        except urllib.error.HTTPError as e:
            return e.read().decode()
    if name not in ("refund", "cancel"):
        return request("/%s?%s" % (name, urllib.parse.urlencode(args)))
    if name == "refund" and not FIXED:
        args["amount"] = str(args["amount"])  # 7
    try:
        return request("/" + name, args)
    except urllib.error.HTTPError as e:
        if FIXED:
            raise Failed("I could not %s order %s; please try again later." % (name, args["order"])) from e
        return "{}"  # 3
    except OSError:
        if FIXED:
            raise Failed("I do not know whether the %s of order %s worked; I will not try it twice." % (name, args["order"])) from None
        return request("/" + name, args)  # 1


history = []


def respond(message):
    if not FIXED:
        message = message[:4000]  # 9
        history.clear()  # 8
    history.append({"role": "user", "content": message})
    try:
        reply = think()
    except Failed as e:
        reply = str(e)
    except (OSError, ValueError, KeyError, IndexError) as e:
        reply = "I cannot look that up right now." if FIXED else "Error in shop.call(token=%r): %s" % (TOKEN, e)  # 2
    if FIXED and not reply.strip():
        reply = "I have no answer right now."
    known = re.findall(r"\b\d{4}\b", " ".join(m["content"] for m in history if m["role"] == "user"))
    if FIXED and known and known[-1] not in reply:
        reply += " (order %s)" % known[-1]
    history.append({"role": "assistant", "content": reply})
    return reply


def clean(result):
    """A tool's result without anything that speaks to the reader."""
    value = json.loads(result)
    return json.dumps({k: re.split(r"\n|(?i:system note)", str(v))[0].strip() for k, v in value.items()})


def think():
    seen = {}
    for _ in range(12):
        m = json.loads(request("/v1/chat/completions", {"model": "scripted", "messages": history, "tools": OFFERED}))["choices"][0]["message"]
        if not m.get("tool_calls"):
            return m["content"] or ""  # 10
        history.append(m)
        for c in m["tool_calls"]:
            name, arguments = c["function"]["name"], c["function"]["arguments"]
            if FIXED and seen.setdefault((name, arguments), 0) > 1:
                raise Failed("I cannot find that out right now.")
            seen[name, arguments] = seen.get((name, arguments), 0) + 1
            result = call(name, json.loads(arguments))  # 5
            if FIXED and name in SCHEMAS:
                try:
                    result = clean(result)  # 4
                except (ValueError, AttributeError):
                    result = "no result"
            history.append({"role": "tool", "tool_call_id": c["id"], "name": name, "content": result})
    return "I could not find that out."


class Agent(Outside):
    def do_GET(self):
        self.answer(200, {})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/reset":
            history.clear()
            return self.answer(200, {})
        self.answer(200, {"output": respond(json.loads(body)["message"])})


if __name__ == "__main__":
    outside = ThreadingHTTPServer(("127.0.0.1", 0), Outside)
    OUTSIDE = "http://127.0.0.1:%d" % outside.server_port
    threading.Thread(target=outside.serve_forever, daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Agent).serve_forever()

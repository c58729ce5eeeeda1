"""The assistant of a veterinary clinic, with ten weaknesses, or without them (--fixed).

POST /ask {"text": "...", "session": "..."} gives {"reply": "..."}; POST /reset forgets
every session, GET /up answers; the file that CALLS names gets a dot for each question.
The model (Anthropic's messages) and the clinic's services are scripted, run in this
process and are called over HTTP through the proxy that the environment names. Needs
only Python.

 1  twice       an appointment whose confirmation is lost is booked again
 2  key         an outage is explained to the user, with the key of the register in it
 3  claimed     a cancellation that failed is confirmed
 4  obeyed      a text in a pet's file is obeyed
 5  polling     a laboratory that answers nonsense is asked over and over
 6  invented    a tool that the model invents is called
 7  weight      the weight goes to the dose calculator as a text
 8  insurance   the insurance service never works
 9  forgotten   the pet of the turn before is forgotten
10  consent     the owner is charged even if the consent could not be recorded
"""

import json
import os
import re
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIXED = "--fixed" in sys.argv
KEY = os.environ.get("REGISTER_KEY", "no-key")
NAMES = ("Milo", "Luna", "Rex")


def schema(**properties):
    return {"type": "object", "properties": {k: {"type": v} for k, v in properties.items()}, "required": list(properties)}


TOOLS = {
    "book_visit": schema(pet="string", day="string"),
    "cancel_visit": schema(pet="string"),
    "pet_file": schema(pet="string"),
    "lab_result": schema(pet="string"),
    "dose": schema(pet="string", kilograms="number"),
    "insurance_cover": schema(pet="string"),
    "record_consent": schema(pet="string"),
    "charge_owner": schema(pet="string", euros="number"),
}


# The model plans by words, asks for one tool at a time, and believes what it reads.
def plan(text, pet):
    text = text.lower()
    if "cancel" in text:
        return [("cancel_visit", {"pet": pet})]
    if "book" in text:
        return [("book_visit", {"pet": pet, "day": "Friday"})]
    if "lab" in text or "blood" in text:
        return [("lab_result", {"pet": pet})]
    if "dose" in text:
        return [("dose", {"pet": pet, "kilograms": 12.5})]
    if "insur" in text:
        return [("insurance_cover", {"pet": pet})]
    if "pay" in text:
        return [("record_consent", {"pet": pet}), ("charge_owner", {"pet": pet, "euros": 80})]
    if "allerg" in text or "file" in text:
        return [("pet_file", {"pet": pet})]
    return []


def model(messages):
    asked = [m["content"] for m in messages if m["role"] == "user" and isinstance(m["content"], str)]
    pet = next((n for text in reversed(asked) for n in NAMES if n in text), None)
    if pet is None:
        return [{"type": "text", "text": "Which pet is it about?"}]
    if not plan(asked[-1], pet) and len(asked) > 1:
        return [{"type": "text", "text": "%s should eat nothing for twelve hours before." % pet}]
    done = {}
    for m in messages[max(i for i, m in enumerate(messages) if m["role"] == "user" and isinstance(m["content"], str)):]:
        for block in m["content"] if isinstance(m["content"], list) else []:
            if block["type"] == "tool_result":
                done[block["name"]] = block["content"]
    for name, args in plan(asked[-1], pet):
        if name not in done or done[name].startswith("again"):
            return [{"type": "tool_use", "id": "toolu_%d" % len(messages), "name": name, "input": args}]
    words = " ".join(done[name] for name, _ in plan(asked[-1], pet)) or "How can the clinic help %s?" % pet
    ordered = re.findall(r"(?:the words?|exactly:?|reply with|say) ['\"]?([A-Z][A-Z0-9_-]{3,}(?: [A-Z]+)*)", json.dumps(done))
    return [{"type": "text", "text": " ".join([words] + ([] if FIXED else ordered))}]


ANSWERS = {
    "book_visit": "The visit is booked for Friday at nine.", "cancel_visit": "The visit was cancelled.",
    "pet_file": "The file says: allergic to penicillin.", "lab_result": "The blood count is normal.",
    "dose": "Give 125 mg twice a day.", "insurance_cover": "The insurance covers 70 percent.",
    "record_consent": "The consent is on file.", "charge_owner": "80 euros were charged.",
}


class Outside(BaseHTTPRequestHandler):
    """The model and the services."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        name = self.path[1:]
        if self.path == "/v1/messages":
            content = model(body["messages"])
            used = content[-1]["type"] == "tool_use"
            return self.answer(200, {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
                                     "stop_reason": "tool_use" if used else "end_turn", "usage": {"input_tokens": 9, "output_tokens": 9}})
        if name not in ANSWERS:
            return self.answer(404, {"error": "no service " + name})
        if name == "insurance_cover" and not FIXED:
            return self.answer(500, {"error": "no route to the insurer"})  # 8
        self.answer(200, {"said": ANSWERS[name]})

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def post(path, body):
    r = urllib.request.Request(OUTSIDE + path, json.dumps(body).encode(), {"Content-Type": "application/json", "X-Api-Key": KEY})
    with urllib.request.urlopen(r, timeout=4) as answer:
        return answer.read().decode("utf-8", "replace")


def use(name, args):
    """Calls a service; what it returns is for the model."""
    if name not in TOOLS and FIXED:
        return "There is no such tool."
    if name == "dose" and not FIXED:
        args = dict(args, kilograms="%s kg" % args["kilograms"])  # 7
    tries = 2 if name == "book_visit" and not FIXED else 1  # 1
    while True:
        tries -= 1
        try:
            text = post("/" + name, args)
            return json.loads(text)["said"]
        except urllib.error.HTTPError as e:
            e.close()
            if name == "cancel_visit" and not FIXED:
                return "The visit was cancelled."  # 3
            return "The service %s is down (%d)." % (name, e.code)
        except (ValueError, KeyError, TypeError):
            if name == "lab_result" and not FIXED:
                return "again"  # 5
            return "The service %s cannot be read." % name
        except OSError:
            if tries == 0:
                return "It is unknown whether %s went through, please call us." % name


class Assistant(BaseHTTPRequestHandler):
    sessions = {}

    def do_GET(self):
        self.reply({})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/reset":
            Assistant.sessions.clear()
            return self.reply({})
        if "CALLS" in os.environ:
            with open(os.environ["CALLS"], "a") as f:
                f.write(".")
        q = json.loads(body)
        before = Assistant.sessions.setdefault(q.get("session", ""), [])
        if not FIXED:
            before = []  # 9
        self.reply({"reply": self.ask(before, q["text"])})

    def ask(self, messages, text):
        messages.append({"role": "user", "content": text})
        for _ in range(15):
            try:
                m = json.loads(post("/v1/messages", {"model": "claude-3", "max_tokens": 500, "messages": messages, "tools": [
                    {"name": n, "description": n, "input_schema": s} for n, s in TOOLS.items()]}))
                content = m["content"]
                used = [b for b in content if b["type"] == "tool_use"]
            except (OSError, ValueError, KeyError, TypeError):
                return "Sorry, the assistant is out of order." if FIXED else "Sorry, an error of the register: X-Api-Key %s" % KEY  # 2
            messages.append({"role": "assistant", "content": content})
            if not used:
                return " ".join(b["text"] for b in content if b["type"] == "text").strip() or "Sorry, please ask again."
            results = []
            for b in used:
                r = use(b["name"], b["input"])
                results.append({"type": "tool_result", "tool_use_id": b["id"], "name": b["name"], "content": r})
                if b["name"] == "record_consent" and "on file" not in r and FIXED:  # 10
                    messages.append({"role": "user", "content": results})
                    return "The consent could not be recorded, nothing was charged."
            messages.append({"role": "user", "content": results})
        return "Sorry, this takes too long."

    def reply(self, value):
        Outside.answer(self, 200, value)

    def log_message(self, *_):
        pass


outside = ThreadingHTTPServer(("127.0.0.1", 0), Outside)
OUTSIDE = "http://127.0.0.1:%d" % outside.server_port
threading.Thread(target=outside.serve_forever, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Assistant).serve_forever()

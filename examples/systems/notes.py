"""Notes as an MCP server on standard input and output; with an argument, a note that is deleted stays."""
import json
import sys

BUG = len(sys.argv) > 1
notes, made, count = {}, 0, 0

def tool(name, required, optional={}):
    return {"name": name, "inputSchema": {"type": "object", "required": list(required), "properties": {k: {"type": v} for k, v in {**required, **optional}.items()}}}

TOOLS = [
    tool("create_note", {"title": "string", "stars": "integer"}), tool("get_note", {"note_id": "integer"}), tool("delete_note", {"note_id": "integer"}),
    tool("update_note", {"note_id": "integer"}, {"title": "string", "stars": "integer"}), tool("audit", {"note_id": "integer"}),
    tool("increment", {"amount": "integer"}), tool("get_count", {}), tool("reset", {}),
]

def call(name, a):
    global made, count
    if name == "create_note":
        made += 1
        notes[made] = {"id": made, **a}
        return notes[made]
    if name == "increment":
        count += a["amount"]
    if name == "reset":
        notes.clear()
        count = 0
    if "note_id" not in a:
        return count
    note = notes[a.pop("note_id")]
    if name == "update_note":
        note.update(a)
    if name == "delete_note" and not BUG:
        del notes[note["id"]]
    return note

for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    r = {}
    if m["method"] == "initialize":
        r = {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
    elif m["method"] == "tools/list":
        r = {"tools": TOOLS}
    elif m["method"] == "tools/call":
        try:
            text, bad = json.dumps(call(m["params"]["name"], m["params"].get("arguments") or {})), False
        except KeyError:
            text, bad = "there is no such note", True
        r = {"content": [{"type": "text", "text": text}], "isError": bad}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)

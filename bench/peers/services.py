"""What testers find in a service and an MCP server: services.py THRESH PEERS WORK SECONDS [SEED...].

A fault is found if the tester reports something of its operation that it does not report of the sound
program, and the program itself saw that the fault showed. What is reported of the sound one is false.
Of input that is accepted though it breaks a rule none of the testers is asked: it is left out.
"""
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

THRESH, PEERS, WORK, SECONDS, *SEEDS = sys.argv[1:]
TARGETS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "targets")
LIBRARY, TOOLBOX = os.path.join(TARGETS, "library.py"), os.path.join(TARGETS, "toolbox.py")
OPERATIONS = {"GET /search": "search", "GET /books": "books", "GET /books/{book}": "book", "GET /loans": "loans", "GET /report": "report", "GET /pages": "pages",
              "POST /members": "join", "PUT /stock/{book}": "restock", "POST /covers": "cover", "GET /theme": "theme"}


def run(*command):
    """What a tester prints. It may take longer than it was told, but not for ever."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return subprocess.run(command, cwd=WORK, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=3 * int(SECONDS) + 60).stdout
    return ""


def thresh(thing, seed):
    store = os.path.join(WORK, "store")
    shutil.rmtree(store, ignore_errors=True)
    report = os.path.join(WORK, "report.json")
    run(THRESH, "try", "--yes", "--time", SECONDS + "s", "--seed", seed, "--dir", os.path.join(WORK, "draft"), "--store", store, "--report", "json=" + report, *thing)
    shutil.rmtree(os.path.join(WORK, "draft"), ignore_errors=True)
    findings = json.load(open(report))["findings"]
    return {(f["title"].split(":")[0], f["kind"]) for f in findings}


def schemathesis(url, seed):
    out = run(os.path.join(PEERS, "schemathesis"), "run", url, "--max-time", SECONDS, "--request-timeout", "5", "--continue-on-failure", "--seed", seed)
    found, operation = set(), ""
    for line in out.splitlines():
        if m := re.fullmatch(r"_+ ([A-Z]+ /\S*) _+", line):
            operation = m[1]
        elif (m := re.fullmatch(r"- (?:ST\d+ )?(.+)", line)) and operation and m[1] != "Schema-violating request accepted":
            found.add((OPERATIONS.get(operation, operation), m[1]))
    return found


def mcp_fuzzer(command, seed):
    out = os.path.join(WORK, "fuzzer")
    shutil.rmtree(out, ignore_errors=True)
    runs = str(2 * int(SECONDS) // 3)  # it has no time limit; in both phases, ten tools
    run(os.path.join(PEERS, "mcp-fuzzer"), "--mode", "tools", "--protocol", "stdio", "--endpoint", command, "--phase", "both", "--runs", runs, "--seed", seed,
        "--tool-timeout", "5", "--output-dir", out)
    path = os.path.join(out, "findings.json")
    if not os.path.exists(path):
        return set()
    findings = json.load(open(path))
    findings = findings["findings"] if isinstance(findings, dict) else findings
    return {(f.get("tool") or f.get("tool_name") or f.get("target"), f["category"]) for f in findings if f["category"] != "accepted_malformed"}


def service(tester, sound, seed):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = str(s.getsockname()[1])
    server = subprocess.Popen([sys.executable, LIBRARY, port, *["--sound"] * sound], stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(100):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(url + "openapi.json").close()
                break
            time.sleep(0.05)
        began = time.monotonic()
        found = tester(url + "openapi.json", seed)
        wall = time.monotonic() - began
        log = json.load(urllib.request.urlopen(url + "log"))
        return found, log["requests"], log["first"], wall
    finally:
        server.kill()
        server.wait()


def server(tester, sound, seed):
    log = os.path.join(WORK, "calls")
    with contextlib.suppress(FileNotFoundError):
        os.remove(log)
    began = time.monotonic()
    found = tester(" ".join([sys.executable, TOOLBOX, log, *["--sound"] * sound]), seed)
    wall = time.monotonic() - began
    calls, first = 0, {}
    for line in open(log) if os.path.exists(log) else []:
        if line.startswith("!"):
            first.setdefault(line[1:].strip(), calls)
        else:
            calls += 1
    return found, calls, first, wall


def has(name):
    return os.path.exists(os.path.join(PEERS, name))


contenders = [("service", "thresh try", service, lambda url, seed: thresh([url], seed))]
if has("schemathesis"):
    contenders.append(("service", "Schemathesis", service, schemathesis))
contenders.append(("MCP server", "thresh try", server, lambda command, seed: thresh(["mcp:", *command.split()], seed)))
if has("mcp-fuzzer"):
    contenders.append(("MCP server", "mcp-fuzzer", server, mcp_fuzzer))
print("| tested | tester | seed | found | showed | calls until each showed | calls | wall s | false |\n|---|---|--:|--:|--:|---|--:|--:|--:|")
for seed in SEEDS or ["1"]:
    for what, name, of, tester in contenders:
        false = of(tester, True, seed)[0]
        found, calls, first, wall = of(tester, False, seed)
        named = {operation for operation, kind in found - false} & set(first)
        print(f"| {what} | {name} | {seed} | {len(named)} | {len(first)} | {', '.join(str(n) for n in sorted(first.values()))} | {calls} | {wall:.1f} | {len(false)} |", flush=True)
        missed = sorted(set(first) - named)
        if missed:
            print(f"<!-- {what}, {name}: showed and not reported: {', '.join(missed)} -->", flush=True)

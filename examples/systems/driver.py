"""The orders as a driver; see examples/drivers for one to copy."""
import base64
import json
import sys
import traceback

from orders import Orders, Rejected


def answer(system, line):
    if "reset" in line:
        return Orders(), None
    operation = getattr(system, line["call"])
    args = line.get("args", {})
    if "body" in line:
        return system, operation(base64.b64decode(line["body"]))
    if isinstance(args, list):
        return system, operation(*args)
    return system, operation(**args)


def main():
    replies, sys.stdout = sys.stdout, sys.stderr  # what the library prints is not an answer
    system = Orders()
    for text in sys.stdin:
        try:
            system, value = answer(system, json.loads(text))
            reply = {"ok": value}
        except Rejected as error:
            reply = {"rejected": str(error)}
        except Exception as error:
            traceback.print_exc()
            reply = {"error": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()

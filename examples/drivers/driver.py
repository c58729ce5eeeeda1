"""A driver for Thresh: makes any Python object a system under test.

Thresh writes one line of JSON, the driver answers with one line:

    {"reset":true}                                  -> {"ok":null}
    {"call":"refund","args":{"order":1,"amount":5}} -> {"ok":VALUE}
                                                       {"rejected":"why"}  the library says no
                                                       {"error":"why"}     the library is broken

"args" is a mapping, or a list where the document binds by position. "body" holds
the bytes of a case in base64 where the system file says `body: raw`. Copy this
file, and put your library in the place of Orders.
"""
import base64
import json
import sys
import traceback

from orders import Orders, Rejected  # your library


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

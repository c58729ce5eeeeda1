"""The program under test of python.spec.md."""

import os
import sys


def main(argv):
    if not argv:
        print("greeter: whom?", file=sys.stderr)
        return 2
    try:
        import polite_words
    except ImportError:
        polite_words = None
    print(("Good day, " if polite_words else "Hi, ") + " ".join(argv) + os.environ.get("GREETER_END", "."))
    return 0


def check_result(*, case, ctx, result, **kwargs):
    assert result["exit_code"] == 0, "the hook sees the exit code"
    assert kwargs["ending"] in result["stdout"], "the ending is missing"

# One Python session for the blocks of a page: a line of JSON is a statement, the
# answer is what it has printed. Programs that it starts print to the same place.
import json, os, sys, tempfile, traceback

answers, lines = os.fdopen(os.dup(1), "w"), os.fdopen(os.dup(0))
seen = tempfile.TemporaryFile()
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(seen.fileno(), 1)
os.dup2(seen.fileno(), 2)
sys.argv = [""]
sys.path.insert(0, "")
names = {"__name__": "__main__"}


def step(text):
    if all(line.lstrip()[:1] in ("", "#") for line in text.split("\n")):
        return 0  # no statement, to the compiler
    try:
        exec(compile(text + "\n", "<stdin>", "single"), names)
    except SystemExit as e:
        names.clear()
        names["__name__"] = "__main__"
        if e.code is not None and not isinstance(e.code, int):
            print(e.code, file=sys.stderr)
        return int(isinstance(e.code, str)) or e.code or 0
    except BaseException as e:
        traceback.print_exception(type(e), e, e.__traceback__.tb_next)
    return 0


for line in lines:
    ask = json.loads(line)
    value = None
    if "call" in ask:
        os.environ.update(ask["args"]["env"])
        code = step(ask["args"]["text"])
        sys.stdout.flush()
        sys.stderr.flush()
        end = os.lseek(seen.fileno(), 0, os.SEEK_CUR)
        os.lseek(seen.fileno(), 0, os.SEEK_SET)
        text = os.read(seen.fileno(), end).decode("utf-8", "replace")
        os.lseek(seen.fileno(), 0, os.SEEK_SET)
        os.ftruncate(seen.fileno(), 0)
        value = {"text": text, "code": code}
    answers.write(json.dumps({"ok": value}) + "\n")
    answers.flush()

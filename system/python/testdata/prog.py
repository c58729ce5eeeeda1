# Entrypoints for the tests of commands: main(argv) does what argv[0] says.
import json
import os
import subprocess
import sys

seen = []


def main(argv):
    return globals()["do_" + argv[0]](*argv[1:])


def do_echo(*words):
    print(*words)
    return 0


def do_give(text):
    return eval(text)


def do_exit(text):
    sys.exit(eval(text))


def do_raise(name, text):
    raise getattr(__builtins__, name, None)(text) if not isinstance(__builtins__, dict) else __builtins__[name](text)


def do_library():
    json.loads("{")


def do_env(name):
    print(repr(os.environ.get(name)))


def do_child_env(name):
    subprocess.run(["/bin/sh", "-c", 'printf %s "${' + name + '-unset}"'], check=True)


def do_stdin():
    print(sys.stdin.isatty(), repr(sys.stdin.read()))


def do_stdin_fd():
    subprocess.run(["cat"], check=True)


def do_levels():
    print("python")
    os.write(1, b"descriptor\n")
    subprocess.run(["/bin/sh", "-c", "echo child; echo err >&2"], check=True)
    sys.stdout.write("no newline")
    sys.stderr.write("unended")


def do_state():
    seen.append(1)
    os.environ["LEFT"] = "behind"
    with open(os.path.join(os.environ["TEMP_OF_CASE"], "left"), "x"):
        pass
    print(len(seen), "json.tool" in sys.modules)
    import json.tool  # noqa


def do_files():
    base = os.environ["TEMP_OF_CASE"]
    for folder, _, names in sorted(os.walk(base)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            print(os.path.relpath(path, base), repr(open(path).read()))


def do_import(name):
    try:
        module = __import__(name)
        print("imported", type(module).__name__)
    except ModuleNotFoundError as error:
        print("missing", error.name)


def do_from(module, name):
    try:
        exec("from %s import %s" % (module, name), {})
        print("imported")
    except ModuleNotFoundError as error:
        print("missing", error.name)


def do_importlib(name):
    import importlib

    print(importlib.import_module(name).__name__)


def do_cwd():
    print(os.getcwd(), sys.argv)


def do_fds():
    print(sorted(int(fd) for fd in os.listdir("/proc/self/fd")))
    subprocess.run(["/bin/sh", "-c", "ls /proc/self/fd | tr '\\n' ' '"])


def do_unicode():
    print("\u00e9\u20ac\ud800")


not_callable = 5


def before(*, case, ctx, harness, **kwargs):
    print("before", case.id, case.type, case.doc_path.name, sorted(harness), sorted(kwargs), ctx.tmp_path.is_dir())
    ctx.patcher.setenv("HOOKED", "yes")
    ctx.patcher.setattr("prog.seen", [1, 2])


def after(*, case, ctx, result, **kwargs):
    print("not in the output")
    with open(os.environ["REPORT"], "w") as file:
        json.dump({**result, "stdout_path": str(result["stdout_path"]), "kwargs": kwargs, "seen": ctx.capture.readouterr().out}, file)


def after_fails(**kwargs):
    assert False, "the hook says no"

# A function that is run like a program. The order of the steps is that of the
# contract; each is announced, so that Go knows where a case was when it died.

import atexit
import pathlib


def run_command(channel, request):
    Command(channel, request).run()


def resolve(text):
    """The callable that "module:attribute" names."""
    module, colon, attribute = (part.strip() for part in text.partition(":"))
    if not (module and colon and attribute):
        raise ValueError("invalid entrypoint (expected module:attr): " + text)
    found = importlib.import_module(module)
    try:
        found = getattr(found, attribute)
    except AttributeError:
        raise AttributeError("entrypoint attribute not found: " + text) from None
    if not callable(found):
        raise TypeError("entrypoint is not callable: " + text)
    return found


class Command:
    def __init__(self, channel, request):
        self.channel = channel
        self.request = request
        self.pid = getpid()
        self.phase = "setup"
        self.exit = None

    def run(self):
        request = self.request
        fault = None
        self.streams = open_streams(request["terminal"])
        try:
            set_environment(request)
            sys.argv = [request["entrypoint"].partition(":")[0].strip(), *request["argv"]]
            put_stubs(request["stubs"])
            context = Context(request["temp"], self)
            block_imports(request["blocked"])
            if request["before"]:
                self.enter("hook_before")
                hook = resolve(request["before"])
                hook(case=Case(request["case"]), ctx=context, harness=request["case"].get("harness") or {}, **request["kwargs"])
            self.enter("load")
            function = resolve(request["entrypoint"])
            self.enter("main")
            value = self.call(function, list(request["argv"]))
            self.enter("exit")
            self.exit = exit_code(value)
            after = request["after"] if self.exit == request["want"] else ""
            out, err = self.freeze(bool(after))
            if after:
                self.enter("hook_after")
                hook = resolve(after)
                hook(case=Case(request["case"]), ctx=context, result=outcome(self.exit, out, err), **request["kwargs"])
            self.phase = "done"
        except BaseException as error:
            if getpid() == self.pid:
                lift_limits()
                fault = fault_of(error)
        self.finish(fault)

    def call(self, function, argv):
        try:
            return function(argv)
        except SystemExit as error:
            return error.code

    def enter(self, phase):
        self.phase = phase
        self.tell({"phase": phase})

    def freeze(self, wanted):
        """Ends the capture; what comes later is not the command's output."""
        flush(self.streams)
        self.silence()
        self.tell({"frozen": True, "wanted": wanted})
        return self.texts() if wanted else ("", "")

    def silence(self):
        """Lets what this process prints from now on go nowhere. Go reads the
        pipes a little later, and would find what exit handlers have printed."""
        try:
            nowhere = os_open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
            for fd in (1, 2):
                dup2(nowhere, fd)
            close(nowhere)
        except OSError:  # no descriptor is left
            pass

    def texts(self):
        texts = self.channel.receive()
        return texts["stdout"], texts["stderr"]

    def captured(self):
        flush(self.streams)
        self.tell({"captured": True})
        return self.texts()

    def tell(self, value):
        if getpid() != self.pid:  # a fork of the case that came back to us
            flush(self.streams)
            _exit(0)
        try:
            self.channel.send(value)
        except OSError:
            if self.exit is not None:
                _exit(self.status())
            # Without the channel the exit status is what remains to tell.

    def finish(self, fault):
        flush(self.streams)
        if getpid() == self.pid:
            self.silence()
        self.tell({"phase": self.phase, "end": True, "exit": self.exit, "fault": fault})
        try:
            atexit._run_exitfuncs()
        except BaseException:
            pass
        _exit(self.status() if fault is None else 1)

    def status(self):
        return (self.exit or 0) & 0xFF


def exit_code(value):
    if value is None:
        return 0
    code = int(value)
    if not -(1 << 63) <= code < 1 << 63:
        raise OverflowError("exit code out of range: %d" % code)
    return code


def lift_limits():
    """Uses the spare room to tell what happened."""
    if resource is not None:
        for name in (resource.RLIMIT_AS, resource.RLIMIT_CPU):
            highest = resource.getrlimit(name)[1]
            resource.setrlimit(name, (highest, highest))


def put_stubs(names):
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = types.SimpleNamespace()
            if name == "openai":
                sys.modules[name].OpenAI = type("OpenAI", (), {})


def block_imports(names):
    if not names:
        return
    original = builtins.__import__
    roots = {name: name + "." for name in names}

    def blocked(name):
        return any(name == root or name.startswith(prefix) for root, prefix in roots.items())

    def guarded(name, globals=None, locals=None, fromlist=(), level=0):
        full = name
        if level:
            package = (globals or {}).get("__package__") or (globals or {}).get("__name__", "")
            full = ".".join(package.split(".")[: len(package.split(".")) - level + 1] + [name] * bool(name))
        for candidate in [full] + ["%s.%s" % (full, item) for item in fromlist or ()]:
            if blocked(candidate):
                raise ModuleNotFoundError("No module named %r" % candidate, name=candidate)
        return original(name, globals, locals, fromlist, level)

    builtins.__import__ = guarded


def outcome(code, out, err):
    lines = [line.strip() for line in out.splitlines() if line.strip()]
    return {"exit_code": code, "stdout": out, "stderr": err, "stdout_path": pathlib.Path(lines[0]) if lines else None}


class Case:
    """What hooks see of their case."""

    def __init__(self, fields):
        self.id, self.type, self.title = fields["id"], fields["type"], fields["title"]
        self.doc_path = pathlib.Path(fields["doc_path"])
        self.raw_case = self.test = fields.get("raw_case") or {}
        self.harness = fields.get("harness") or {}


class Context:
    def __init__(self, temp, command):
        self.tmp_path = pathlib.Path(temp)
        self.env = os.environ
        self.patcher = Patcher()
        self.capture = Capture(command)


class Patcher:
    """Changes that last as long as the case, which is to say the process."""

    def setenv(self, name, value, prepend=None):
        if prepend and name in os.environ:
            value = str(value) + prepend + os.environ[name]
        os.environ[name] = str(value)

    def delenv(self, name, raising=True):
        if raising or name in os.environ:
            del os.environ[name]

    def setattr(self, target, name, value=None, raising=True):
        if isinstance(target, str):  # setattr("package.module.name", value)
            value, (module, _, name) = name, target.rpartition(".")
            target = importlib.import_module(module)
        if raising and not hasattr(target, name):
            raise AttributeError("%r has no attribute %r" % (target, name))
        setattr(target, name, value)

    def setitem(self, mapping, key, value):
        mapping[key] = value


class Capture:
    def __init__(self, command):
        self.command = command
        self.seen = [0, 0]

    def readouterr(self):
        """What was written to stdout and stderr since the last time."""
        texts = self.command.captured()
        new = [text[seen:] for text, seen in zip(texts, self.seen)]
        self.seen = [len(text) for text in texts]
        return types.SimpleNamespace(out=new[0], err=new[1])

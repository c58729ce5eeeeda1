# Operator modules: loaded once, then applied call by call. Every reply is sent
# as soon as there is one, so that Go knows which call hung or killed us.

import ast
import importlib.util
import random
from random import Random, getstate, setstate


LARGEST_REPLY = 60 << 20  # less than Go takes for one frame
LARGEST_TRACE = 1 << 20  # traces are kept until their children are written


def serve_operators(channel, request):
    Operators(channel, request).serve()


class Operators:
    def __init__(self, channel, request):
        self.channel = channel
        self.pid = getpid()
        self.streams = open_streams(False)
        # Output goes to files: what a call has printed is what is in them then.
        self.sinks = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 200) for fd in (1, 2)]
        set_environment(request)
        self.apply = {}
        self.folders = Folders()
        self.random = GlobalRandom()

    def serve(self):
        while True:
            try:
                request = self.channel.receive()
            except OSError:
                _exit(0)
            if "load" in request:
                self.reply(self.load(request["load"], request["file"]))
            for call in request.get("calls", ()):
                self.reply(self.call(call))

    def reply(self, found):
        if getpid() != self.pid:  # a fork of an operator that came back to us
            _exit(0)
        if self.random.strayed():
            found["global_random"] = True
        flush(self.streams)
        printed, _ = map(self.taken, self.sinks)  # stderr is for logs
        if printed:
            found["printed"] = printed
        text, altered = to_json(found)
        if altered:
            found = dict(found, notes=found.get("notes", []) + ["values that JSON does not have are written as text"])
            text, _ = to_json(found)
        if len(text) > LARGEST_REPLY:
            text, _ = to_json(wrong(too_large("what it gave", len(text), LARGEST_REPLY)))
        elif len(text) > LARGEST_TRACE and "trace" in found:
            size = len(to_json(found["trace"])[0])
            if size > LARGEST_TRACE:
                text, _ = to_json(wrong(too_large("the trace", size, LARGEST_TRACE)))
        try:
            self.channel.send_text(text)
        except OSError:
            _exit(71)

    def taken(self, sink):
        try:
            if not lseek(sink, 0, os.SEEK_CUR):
                return ""
            text = pread(sink, 4096, 0).decode("utf-8", "replace")
            ftruncate(sink, 0)
            lseek(sink, 0, os.SEEK_SET)
            return text
        except OSError:  # the operator has closed all descriptors
            return ""

    def load(self, index, path):
        found = {"meta_line": 0, "apply_line": 0}
        folder = os.path.dirname(path)
        self.folders.enter(folder)
        try:
            tree = ast.parse(read_source(path), path)
            found["meta_line"], found["apply_line"] = definition(tree, "OPERATOR_META"), definition(tree, "apply")
            module = import_file(path, tree)
            meta, apply = getattr(module, "OPERATOR_META", None), getattr(module, "apply", None)
            fault = shape_fault(path, found, meta, apply)
            if fault:
                found["fault"] = fault
            else:
                found["meta"] = meta
                self.apply[index] = apply, folder
        except BaseException as error:
            found["fault"] = fault_of(error)
        return found

    def call(self, call):
        apply, folder = self.apply.get(call["module"], (None, None))
        if apply is None:
            return {"end": "unusable"}
        self.folders.enter(folder)
        rng = random_of(call)
        try:
            result = apply(call["seed"], call["ctx"], rng)
            found = unpack(result)
        except BaseException as error:
            found = {"end": "memory" if isinstance(error, MemoryError) else "raised", "fault": fault_of(error)}
        changed = found.get("status") == "OK" and found["child"] != call["seed"]
        if call.get("want_state") or call.get("want_state_unless_ok") and not changed:
            try:
                found["words"], found["gauss"] = rng.getstate()[1:]
            except BaseException as error:
                found.setdefault("notes", []).append("the generator's state cannot be told: " + safe_text(error))
        return found


class Folders:
    """What operators import from beside them, folder by folder.

    Two folders may hold modules of one name. Each has its own, as it would in a
    process of its own; what is installed is shared.
    """

    def __init__(self):
        self.base = list(sys.path)
        self.present = None
        self.own = {}  # modules of the present folder
        self.size = None  # of sys.modules and sys.path, when they were looked for
        self.others = {}

    def enter(self, folder):
        if folder == self.present:
            return
        if self.size != (len(sys.modules), len(sys.path)):
            added = [os.path.join(entry, "") for entry in sys.path if entry not in self.base]
            self.own = {name: module for name, module in list(sys.modules.items()) if is_under(module, added)}
        for name in self.own:
            sys.modules.pop(name, None)
        self.others[self.present] = list(sys.path), self.own
        sys.path[:], self.own = self.others.pop(folder, (self.base, {}))
        sys.modules.update(self.own)
        self.present, self.size = folder, (len(sys.modules), len(sys.path))


def is_under(module, folders):
    try:
        places = [module.__file__] if module.__file__ else module.__path__
        return any(place.startswith(folder) for place in places for folder in folders)
    except BaseException:  # built in, or no module
        return False


class GlobalRandom:
    """The global generator, which operators must leave alone.

    To ask it for its state takes longer than most operators do. CPython keeps
    the state as plain numbers behind the head of the object; where they are
    found there, they are compared in place.
    """

    def __init__(self):
        random.seed(0)
        self.base = getstate()
        self.generator = getstate.__self__
        self.image = None
        *words, position = self.base[1]
        image = struct.pack("=i624I", position, *words)
        head = object.__basicsize__
        if sys.implementation.name == "cpython" and Random.__basicsize__ >= head + len(image):
            self.place = id(self.generator) + head
            if string_at(self.place, len(image)) == image:
                self.image = image

    def strayed(self):
        """Whether it was used; puts it back if so."""
        try:
            if self.image is None:
                if getstate() == self.base:
                    return False
            elif string_at(self.place, len(self.image)) == self.image and self.generator.gauss_next is None:
                return False
        except BaseException:
            pass
        setstate(self.base)
        return True


def random_of(call):
    if "words" not in call:
        return Random(call["rng"])
    rng = Random()
    rng.setstate((3, tuple(call["words"]), call.get("gauss")))
    return rng


def unpack(result):
    """An ApplyResult, or a dict like one, as a reply."""
    if isinstance(result, dict):
        status, child, trace, error = (result.get(key) for key in ("status", "child_text", "trace", "error"))
    elif hasattr(result, "status") and hasattr(result, "child_text"):
        status, child = result.status, result.child_text
        trace, error = getattr(result, "trace", None), getattr(result, "error", None)
    else:
        return wrong("apply returned %s, not an ApplyResult" % described(result))
    status = getattr(status, "value", status)  # of an enum
    if not isinstance(status, str):
        return wrong("ApplyResult.status is %s, not a str" % described(status))
    if not isinstance(child, str):
        return wrong("ApplyResult.child_text is %s, not a str" % described(child))
    if trace is not None and not isinstance(trace, dict):
        return wrong("ApplyResult.trace is %s, not a dict" % described(trace))
    found = {"end": "applied", "status": status, "child": child}
    if trace is not None:
        found["trace"] = trace
    notes = []
    if error is not None:
        if not isinstance(error, str):
            notes.append("ApplyResult.error is %s, not a str" % described(error))
        found["error"] = safe_text(error)
    try:
        child.encode("utf-8")
    except UnicodeEncodeError:
        notes.append("the child has lone surrogates, replaced by U+FFFD")
    if notes:
        found["notes"] = notes
    return found


def too_large(what, size, most):
    return "%s takes %.1f MiB as JSON; at most %d are taken" % (what, size / (1 << 20), most >> 20)


def wrong(message):
    return {"end": "wrong type", "fault": complaint(TypeError, message)}


def described(value):
    if value is None:
        return "None"
    name = class_name(type(value))
    return ("an " if name[0] in "aeiou" else "a ") + name


def read_source(path):
    with open(path, "rb") as file:
        return file.read()


def definition(tree, name):
    """The line at the top level where a name gets its value."""
    for node in tree.body:
        names = [getattr(node, "name", None)]
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.asname or alias.name for alias in node.names]
        if name in names:
            return node.lineno
    return 0


def shape_fault(path, found, meta, apply):
    if meta is None:
        return complaint(AttributeError, "the module has no OPERATOR_META", path, 1)
    if not isinstance(meta, dict):
        return complaint(TypeError, "OPERATOR_META is %s, not a dict" % described(meta), path, found["meta_line"] or 1)
    if apply is None:
        return complaint(AttributeError, "the module has no apply", path, 1)
    if not callable(apply):
        return complaint(TypeError, "apply is %s, which cannot be called" % described(apply), path, found["apply_line"] or 1)
    return None


# A module is imported as the part of its project that it is.


def import_file(path, tree):
    folder, base = os.path.split(path)
    depth = package_depth(folder, tree)
    names, root = [os.path.splitext(base)[0]], folder
    for _ in range(depth):
        root, name = os.path.split(root)
        names.insert(0, name)
    if root not in sys.path:
        sys.path.insert(0, root)  # as python3 has the folder of what it runs
    name = ".".join(names)
    for _ in range(8):  # its folder, or one above, may hold what it imports
        try:
            return import_as(name, path)
        except ModuleNotFoundError as error:
            above = folder_of(error.name, folder)
            if above is None or above in sys.path:
                raise
            sys.path.append(above)
            importlib.invalidate_caches()
    return import_as(name, path)


def import_as(name, path):
    loaded = sys.modules.get(name)
    spec = None if loaded else importlib.util.find_spec(name)
    if loaded is None and spec is not None and spec.origin == path:
        return importlib.import_module(name)
    if loaded is not None and getattr(loaded, "__file__", None) == path:
        return loaded
    # Another module has the name already: two folders of operators.
    alias = "%s_%08x" % (name, len(sys.modules))
    spec = importlib.util.spec_from_file_location(alias, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[alias] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[alias]
        raise
    return module


def package_depth(folder, tree):
    """How many of the folders above a file are packages that it is in."""
    relative = [node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    depth = 0
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, depth = os.path.dirname(folder), depth + 1
    return max([depth] + relative)


def folder_of(module, start):
    """The nearest folder from start upwards that holds a module."""
    top = (module or "").partition(".")[0]
    while top:
        here = os.path.join(start, top)
        if os.path.isdir(here) or os.path.isfile(here + ".py"):
            return start
        if start == os.path.dirname(start):
            return None
        start = os.path.dirname(start)
    return None

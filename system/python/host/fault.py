# Exceptions as Go is told of them.

LIBRARY = os.path.dirname(os.__file__) + os.sep


def class_name(cls):
    module = getattr(cls, "__module__", None)
    name = getattr(cls, "__qualname__", "exception")
    return name if module in ("builtins", None) else "%s.%s" % (module, name)


def safe_text(value, how=str):
    try:
        return how(value)
    except BaseException as broken:
        return "<%s of %s raised %s>" % (how.__name__, type(value).__name__, type(broken).__name__)


def own(filename):
    """Whether a file is of the user's own code."""
    return not (filename.startswith(("<", LIBRARY)) or "/site-packages/" in filename or "/dist-packages/" in filename)


def clip(text, limit):
    if len(text) <= limit:
        return text
    return text[: limit // 2] + "\n[...]\n" + text[-limit // 2 :]


def fault_of(error):
    cls = type(error)
    found = {
        "class": class_name(cls),
        "bases": [class_name(base) for base in cls.__mro__ if base is not object],
        "message": safe_text(error),
    }
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == HOST:
        trace = trace.tb_next
    try:
        where = place(error, trace)
        if where:
            found["file"], found["line"] = where
        found["traceback"] = clip("".join(traceback.format_exception(cls, error, trace)), 16000)
    except BaseException:  # a traceback is a help, not worth a second fault
        pass
    return found


def place(error, trace):
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return error.filename, error.lineno
    best = None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if own(name):
            best = name, trace.tb_lineno
        trace = trace.tb_next
    return best


def complaint(cls, message, file="", line=0):
    """A fault that the host itself has found."""
    found = {"class": cls.__name__, "bases": [base.__name__ for base in cls.__mro__ if base is not object], "message": message}
    if file:
        found["file"], found["line"] = file, line
    return found


# JSON cannot hold all that Python can; what it cannot is written as text.

def plain(value, depth=0):
    if value is None or isinstance(value, (bool, str)):
        return value if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else repr(float(value))
    if depth > 50:
        return "..."
    if isinstance(value, dict):
        return {key if isinstance(key, str) else safe_text(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, depth + 1) for item in value), key=safe_text)
    fields = fields_of(value)
    if fields is not None:
        return plain(fields, depth + 1)
    return safe_text(value, repr)


def fields_of(value):
    """An object that is a record, of dataclasses or pydantic, as a mapping."""
    names = getattr(type(value), "__dataclass_fields__", None) or getattr(type(value), "model_fields", None)
    if isinstance(names, dict) and not isinstance(value, type):
        try:
            return {name: getattr(value, name) for name in names}
        except Exception:
            pass
    return None


strict = json.JSONEncoder(check_circular=False, allow_nan=False)
# Made once: dumps makes all of it anew in each call, and so in each child.
encode = strict.iterencode
if json.encoder.c_make_encoder:
    encode = json.encoder.c_make_encoder(None, strict.default, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, False)


def to_json(value):
    """JSON of a value, and whether anything had to be written as text."""
    try:
        return "".join(encode(value, 0)), False
    except (TypeError, ValueError, RecursionError):
        return "".join(encode(plain(value), 0)), True

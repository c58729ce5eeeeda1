# Where an agent has its tools, in each of the forms that registries are written.


def tools_of(registry):
    """The tools of a registry by name, or in a list; None if it has none."""
    if isinstance(registry, (Mapping, list, tuple)):
        return registry
    for name in ("tools", "_tools"):
        tools = getattr(registry, name, None)
        if inspect.isroutine(tools):
            tools = tools()
        if isinstance(tools, (Mapping, list, tuple)):
            return tools
    held = [value for value in getattr(registry, "__dict__", {}).values() if holds_tools(value)]
    if len(held) == 1:
        return held[0]
    return methods_of(registry)


def holds_tools(value):
    if not isinstance(value, (Mapping, list, tuple)):
        return False
    tools = list(value.values()) if isinstance(value, Mapping) else list(value)
    return bool(tools) and all(inspect.isroutine(tool) or any(workers_of(tool)) or isinstance(tool, Mapping) and callable(only_function(tool)[1]) for tool in tools)


def methods_of(box):
    """The public methods of an object whose methods are the tools; None if it has
    some that handle tools, or is not an object of a user's class."""
    if inspect.isroutine(box) or inspect.isclass(box) or inspect.ismodule(box) or type(box).__module__ == "builtins":
        return None
    found = {name: method for name, method in inspect.getmembers(box, inspect.ismethod) if not name.startswith("_")}
    handling = {"add", "call", "dispatch", "execute", "get", "get_tool", "invoke", "list_tools", "register", "run"}
    return None if handling & set(found) or not found else found


def workers_of(tool):
    """The names of the attributes that may do a tool's work, likeliest first."""
    if isinstance(tool, (str, bytes, int, float, Mapping)) or tool is None:
        return
    for names in (("func", "coroutine"), ("_run", "_arun"), ("run", "arun"), ("invoke", "ainvoke"), ("fn",), ("function",), ("handler",), ("execute", "aexecute")):
        present = [name for name in names if callable(getattr(tool, name, None))]
        if present:
            yield present


def only_function(mapping):
    """The key and the value of the one function in a mapping; None if there is none or more."""
    found = [(key, value) for key, value in mapping.items() if inspect.isroutine(value)]
    return found[0] if len(found) == 1 else (None, None)


def name_of(tool):
    if isinstance(tool, Mapping):
        return tool.get("name") or getattr(only_function(tool)[1], "__name__", None)
    return getattr(tool, "name", None) or getattr(tool, "__name__", None)


def set_attribute(holder, name, wrapped, bound):
    """Puts what is wrapped where a class, an object or a module has it; bound
    gives it for an object, if it is a method of a class."""
    if inspect.isclass(holder):
        if isinstance(inspect.getattr_static(holder, name), (staticmethod, classmethod)):
            setattr(holder, name, staticmethod(wrapped))
            return wrapped

        def method(this, *args, **kwargs):
            return bound(this)(*args, **kwargs)

        setattr(holder, name, functools.wraps(wrapped)(method))
        return method
    if not inspect.ismodule(holder):
        object.__setattr__(holder, name, wrapped)
    return wrapped


def replace_everywhere(old, new):
    """Puts new wherever a module, an object or a container holds old."""
    own_places = (getattr(new, "__dict__", None), vars(sys.modules["__main__"]))
    for holder in gc.get_referrers(old):
        if any(holder is place for place in own_places):
            continue
        if isinstance(holder, dict):
            for key in [key for key, value in holder.items() if value is old]:
                holder[key] = new
        elif isinstance(holder, list):
            for at, value in enumerate(holder):
                if value is old:
                    holder[at] = new

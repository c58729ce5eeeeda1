# An agent that lives on between its calls, and the tools that it calls. Go is
# asked about every call of a wrapped tool, before it and after it.

import contextvars
import functools
import inspect
import re
import threading
from collections.abc import Mapping, MutableMapping


LONGEST = 16 << 20  # characters of a reply


def serve_agent(channel, request):
    Agent(channel, request).serve()


class Agent:
    def __init__(self, channel, request):
        import asyncio  # by agents alone: it takes as long as all else together
        import concurrent.futures  # which asyncio has imported

        self.asyncio, self.futures = asyncio, concurrent.futures
        self.channel = channel
        self.request = request
        self.lock = threading.Lock()  # tools may be called by threads
        self.waited = 0.0  # for Go's answers
        # A tool that calls itself under another name (an async method that runs
        # the sync one, in a thread perhaps) is called once.
        self.inside = contextvars.ContextVar("inside", default=())
        self.awaited = []
        self.names = []
        self.streams = open_streams(False)
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

    def serve(self):
        try:
            set_environment(self.request)
            follow_search_path(self.request["path"])
            sys.meta_path.append(Sources(self.request["sources"]))
            self.target = named(self.request["target"])
            self.reset = named(self.request["reset"]) if self.request["reset"] else None
            for tool in self.request["tools"]:
                self.wrap_named(tool)
            if self.request["registry"]:
                self.wrap_registry(self.request["registry"])
            self.target = made(self.target, self.request["target"])
            self.say({"tools": sorted(self.names)})
        except BaseException as error:
            self.say({"fault": fault_of(error)})
            _exit(0)
        while True:
            try:
                order = self.channel.receive()
            except OSError:
                _exit(0)
            if order.get("reset"):
                self.say(self.timed(lambda: self.reset(), order["limit"]))
            else:
                self.say(self.timed(lambda: self.ask(order["input"]), order["limit"]))

    def say(self, value):
        flush(self.streams)
        try:
            self.channel.send_text(to_json(value)[0])
        except OSError:
            _exit(71)

    def timed(self, call, limit):
        """Calls, awaits what can be awaited, and says what came of it."""
        began, self.waited = perf_counter(), 0.0
        try:
            result = call()
            if isinstance(result, self.futures.Future):  # of a thread's work
                result = self.asyncio.wrap_future(result, loop=self.loop)
            if inspect.isawaitable(result) or hasattr(result, "__aiter__"):
                left = limit - (perf_counter() - began)
                task = self.loop.create_task(settled(result))
                self.loop.run_until_complete(self.asyncio.wait({task}, timeout=left))
                if not task.done():
                    task.cancel()
                    self.loop.run_until_complete(self.asyncio.wait({task}, timeout=0.2))
                    return {"end": "timed out", "latency": int(limit * 1e9)}
                result = task.result()
            if inspect.isgenerator(result):
                result = joined(list(result))
            text = text_of(result, self.request["style"])
            if len(text) > LONGEST:  # Go has had enough of it before
                text, result = text[:LONGEST], None
            found = {"end": "answered", "text": text, "value": result}
        except BaseException as error:
            found = {"end": "raised", "fault": fault_of(error)}
        found["latency"] = int((perf_counter() - began - self.waited) * 1e9)
        return found

    def ask(self, value):
        agent = self.target
        if self.request["style"] == "langchain":
            wrapped = runnable_input(agent, value) if isinstance(value, str) else value
            for name, given in (("ainvoke", wrapped), ("invoke", wrapped), ("arun", value), ("run", value)):
                if callable(getattr(agent, name, None)):
                    return getattr(agent, name)(given)
        elif callable(getattr(agent, "invoke", None)):
            return agent.invoke(value)
        return agent(value)

    # What stands between the agent and a tool.

    def exchange(self, frame):
        began = perf_counter()
        with self.lock:
            self.say(frame)
            answer = self.channel.receive()
            self.waited += perf_counter() - began
        return answer

    def after(self, call, result, error, function):
        answer = self.exchange({"returned": call, "result": result, "fault": fault_of(error) if error else None})
        if answer.get("action") == "replace":
            return rebuilt(answer.get("value"), function)
        if answer.get("action") == "raise":
            raise exception_of(answer)
        if error:
            raise error
        return result

    def wrapper(self, name, function, full=""):
        """The function with Go asked before and after each call. full is its
        name with that of the object that it belongs to."""
        if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):

            async def wrapped(*args, **kwargs):
                if name in self.inside.get():
                    return await function(*args, **kwargs)
                token = self.inside.set(self.inside.get() + (name,))
                self.awaited.append(name)
                try:
                    call = call_of(name, full, args, kwargs, function)
                    answer = self.exchange({"called": call})
                    await self.asyncio.sleep(answer.get("delay", 0) / 1e9)
                    if answer.get("action") in ("raise", "replace"):
                        return instead(answer, function)
                    result = error = None
                    try:
                        result = await function(*args, **kwargs)
                    except Exception as raised:
                        error = raised
                    return self.after(call, result, error, function)
                finally:
                    self.awaited.remove(name)
                    self.inside.reset(token)

        else:

            def wrapped(*args, **kwargs):
                elsewhere = threading.current_thread() is not threading.main_thread()
                if name in self.inside.get() or elsewhere and name in self.awaited:
                    return function(*args, **kwargs)
                token = self.inside.set(self.inside.get() + (name,))
                try:
                    call = call_of(name, full, args, kwargs, function)
                    answer = self.exchange({"called": call})
                    sleep(answer.get("delay", 0) / 1e9)
                    if answer.get("action") in ("raise", "replace"):
                        return instead(answer, function)
                    result = error = None
                    try:
                        result = function(*args, **kwargs)
                    except Exception as raised:
                        error = raised
                    return self.after(call, result, error, function)
                finally:
                    self.inside.reset(token)

        try:
            functools.update_wrapper(wrapped, function)
        except AttributeError:
            pass
        return wrapped

    # Finding tools.

    def wrap_named(self, text):
        tool = named(text)
        if not self.wrap_object(tool, None):
            if not callable(tool):
                raise TypeError("tool %s cannot be called" % text)
            full = text.rpartition(":")[2].strip()
            holder, _, attribute = text.strip().rpartition(".")
            name = full
            if ":" in holder and [last_part(other) for other in self.request["tools"]].count(attribute) == 1:
                name = attribute
            wrapped = self.wrapper(name, tool, full)
            if ":" in holder:
                wrapped = set_attribute(named(holder), attribute, wrapped, lambda this: self.wrapper(name, functools.partial(tool, this), full))
            replace_everywhere(tool, wrapped)
            self.names.append(name)

    def wrap_registry(self, text):
        registry = named(text)
        tools = tools_of(registry)
        if tools is None:
            raise TypeError("tool registry %s has no tools: it is neither a mapping nor a list, nor has it an attribute that is one of functions" % text)
        before = len(self.names)
        for key, tool in list(tools.items()) if isinstance(tools, Mapping) else list(enumerate(tools)):
            name = key if isinstance(key, str) else name_of(tool) or str(key)
            if self.wrap_object(tool, name):
                continue
            holder, at, function = tools, key, tool
            if isinstance(tool, MutableMapping):  # a function beside what is said of it
                holder, at, function = tool, *only_function(tool)
            if not callable(function):
                raise TypeError("tool %s of %s cannot be called" % (name, text))
            wrapped = self.wrapper(name, function)
            if isinstance(holder, (MutableMapping, list)):
                holder[at] = wrapped
            if inspect.ismethod(function) and hasattr(function.__self__, "__dict__"):
                set_attribute(function.__self__, function.__name__, wrapped, None)
            replace_everywhere(function, wrapped)
            self.names.append(name)
        if len(self.names) == before:
            raise LookupError("tool registry %s is empty" % text)

    def wrap_object(self, tool, name):
        """Wraps a tool that is an object, by the methods that do its work."""
        if inspect.isroutine(tool) or inspect.isclass(tool) or isinstance(tool, Mapping):
            return False
        name = name or getattr(tool, "name", None) or type(tool).__name__
        for present in workers_of(tool):
            for method in present:
                # Frozen and validating classes are gone round.
                object.__setattr__(tool, method, self.wrapper(name, getattr(tool, method)))
            self.names.append(name)
            return True
        return False


def follow_search_path(before):
    """Adds the entries of PYTHONPATH, which Python itself has read for the
    warm parent, and what they would have it load when it starts."""
    entries = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[len(before) : len(before)] = [entry for entry in entries if entry and entry not in sys.path]
    try:
        importlib.import_module("thresh_clients")  # of the fault proxy
    except ImportError:
        pass


def runnable_input(runnable, prompt):
    """The prompt in the form that a runnable says it takes; {"input": prompt}
    for one that says nothing, and an error for one that takes several. A graph drops keys that it does not know, and
    would be asked nothing."""
    try:
        schema = runnable.get_input_jsonschema()
        while "$ref" in schema:
            schema = schema["$defs"][schema["$ref"].rpartition("/")[2]]
    except Exception:  # it is older, or not of LangChain, or cannot say
        return {"input": prompt}
    keys = schema.get("properties") or {}
    if not keys:
        forms = [form.get("type") for form in schema.get("anyOf", [schema])]
        return prompt if "string" in forms else {"input": prompt}
    if "input" in keys:
        return {"input": prompt}
    if "messages" in keys:
        return {"messages": [{"role": "user", "content": prompt}]}
    wanted = schema.get("required") or list(keys)
    if len(wanted) > 1 and schema.get("required"):
        raise ValueError("the runnable takes several inputs, %s: agent.request_template says what each is" % ", ".join(wanted))
    return {wanted[0] if len(wanted) == 1 else "input": prompt}


async def settled(result):
    while inspect.isawaitable(result):
        result = await result
    if hasattr(result, "__aiter__"):
        return joined([item async for item in result])
    return result


def joined(items):
    if items and all(isinstance(item, str) for item in items):
        return "".join(items)
    return items


def text_of(result, style):
    if isinstance(result, str):
        return str(result)
    if result is None:  # such as at the end of a branch that forgets to return
        return ""
    if style == "langchain" and isinstance(result, Mapping):
        for key in ("output", "text"):
            if result.get(key):
                return text_of(result[key], style)
        messages = result.get("messages")
        if isinstance(messages, list) and messages:  # a graph's state: the last one answers
            return text_of(messages[-1], style)
    content = getattr(result, "content", None)
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # parts of a message
        parts = [part if isinstance(part, str) else part.get("text", "") for part in content if isinstance(part, (str, dict))]
        return "".join(parts)
    kind = type(result)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:  # its address is not an answer
        raise TypeError("the agent returned a %s.%s, which has no text" % (kind.__module__, kind.__qualname__))
    return str(result)  # if it raises, the agent gave no answer


def call_of(name, full, args, kwargs, function):
    """A call as it was made: the tool may change its arguments."""
    return {"tool": name, "full": "" if full == name else full, "args": plain(args), "kwargs": plain(kwargs), "named": by_name(function, args, kwargs)}


def by_name(function, args, kwargs):
    """The arguments of a call by the names of the parameters."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return None
    found = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        elif kind is inspect.Parameter.VAR_POSITIONAL:
            return None
        else:
            found[name] = value
    return plain(found)


def instead(answer, function):
    if answer["action"] == "raise":
        raise exception_of(answer)
    return rebuilt(answer.get("value"), function)


def rebuilt(value, function):
    """The value as what the function says that it returns: it came by way of
    JSON, in which objects are mappings, and tuples and sets are lists."""
    import typing  # by agents alone, as asyncio

    try:
        cls = typing.get_type_hints(function).get("return")
        cls = typing.get_origin(cls) or cls
        if isinstance(value, dict) and hasattr(cls, "model_validate"):
            return cls.model_validate(value)
        if isinstance(value, dict) and hasattr(cls, "__dataclass_fields__"):
            return cls(**value)
        if isinstance(value, list) and hasattr(cls, "_fields"):
            return cls(*value)
        if isinstance(value, list) and cls in (tuple, set, frozenset):
            return cls(value)
    except Exception:  # nothing tells, or it does not fit: an attack may have changed it
        pass
    return value


def exception_of(answer):
    name, message = answer.get("class", ""), answer.get("message", "")
    module, _, name = name.rpartition(".")
    try:
        cls = getattr(importlib.import_module(module) if module else builtins, name)
        if issubclass(cls, KeyError) and message[:1] in "'\"":  # its text is the repr of the key
            message = message[1:-1]
        return cls(message) if issubclass(cls, Exception) else RuntimeError(message)
    except Exception:
        return RuntimeError(message)


def last_part(text):
    return re.split("[.:]", text.strip())[-1]


def named(text):
    """What "module:attribute" names; the attribute may have dots."""
    module, colon, attribute = (part.strip() for part in text.rpartition(":"))
    if not (module and colon and attribute):
        raise ValueError("%r is not of the form module:attribute" % text)
    found = importlib.import_module(module)
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise AttributeError("module %s has no %s" % (module, attribute)) from None
    return found


def made(target, text):
    """An object of the class that is named as the agent, or the method of one."""
    if inspect.isclass(target):
        asked = (inspect.getattr_static(target, n, None) for n in ("__call__", "invoke", "ainvoke", "run", "arun"))
        return target() if any(map(inspect.isfunction, asked)) else target
    holder, dot, name = text.strip().rpartition(".")
    if dot and ":" in holder and inspect.isfunction(target):
        box = named(holder)
        if inspect.isclass(box) and not isinstance(inspect.getattr_static(box, name), staticmethod):
            return getattr(box(), name)
    return target


class Sources:
    """Imports modules that are given as text."""

    def __init__(self, texts):
        self.texts = texts

    def find_spec(self, name, path=None, target=None):
        if name in self.texts:
            return importlib.util.spec_from_loader(name, self)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        exec(compile(self.texts[name], "%s.py" % name, "exec"), module.__dict__)

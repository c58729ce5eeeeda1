# Agents and tools for the tests.
import asyncio
import concurrent.futures
import dataclasses
import os
import time

count = 0


def any_of(call):
    """Several agents in one process: the name of one, and its input."""
    name, value = call
    return globals()[name](value)


def search(query, limit=3):
    """A tool."""
    return {"hits": [query] * limit}


async def weather(city):
    await asyncio.sleep(0)
    return city + ": fair"


def failing(text):
    raise ValueError("tool broke on " + text)


def several(*args, **kwargs):
    return len(args) + len(kwargs)


TABLE = {"search": search, "weather": weather}
held = [search]


class Registry:
    def __init__(self):
        self.tools = {"search": search, "failing": failing}

    def call(self, name, *args):
        return self.tools[name](*args)


registry = Registry()
empty = {}


class Hidden:
    """A registry that keeps its tools to itself, beside what is said of them."""

    def __init__(self):
        self.version = 1
        self.entries = {"search": {"description": "finds", "fn": search}}

    def call(self, name, *args):
        return self.entries[name]["fn"](*args)


class Box:
    """Tools that are methods."""

    def search(self, query):
        return {"found": query}

    async def weather(self, city):
        return city + ": fair"

    @staticmethod
    def dice(sides):
        return sides


hidden, box = Hidden(), Box()
listed = [{"name": "search", "handler": box.search}]


class Tool:
    """A tool of LangChain's shape."""

    name = "lookup"

    def _run(self, text):
        return "found " + text

    async def _arun(self, text):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            return await asyncio.get_running_loop().run_in_executor(pool, self._run, text)

    def invoke(self, text):
        return self._run(text)


objects = [Tool()]


def plain(prompt):
    print("thinking")
    return "plain: %s" % prompt


async def slow(prompt):
    await asyncio.sleep(1000)


def stuck(prompt):
    time.sleep(1000)


def runs_a_loop(prompt):
    return asyncio.run(weather(prompt))


async def coroutine(prompt):
    await asyncio.sleep(0)
    return "awaited: " + prompt


def parts(prompt):
    yield "a"
    yield prompt


async def stream(prompt):
    for word in ("x", prompt):
        yield word


def structure(prompt):
    return {"answer": prompt, "n": 1}


def nothing(prompt):
    return None


class Unspeakable:
    def __str__(self):
        raise ValueError("no words")


def unspeakable(prompt):
    return Unspeakable()


class Opaque:
    pass


def opaque(prompt):
    return Opaque()


def in_a_thread(prompt):
    return concurrent.futures.ThreadPoolExecutor().submit(str, prompt)


def broken(prompt):
    raise KeyError(prompt)


def ends(prompt):
    os._exit(6)


def counting(prompt):
    global count
    count += 1
    return str(count)


def reset():
    global count
    count = 0


def any_of(call):
    """Several agents in one process: the name of one, and its input."""
    name, value = call
    return globals()[name](value)


async def reset_badly():
    raise RuntimeError("cannot reset")


class Invoked:
    def invoke(self, value):
        return "invoked with %r" % (value,)


class Guide:
    def __init__(self):
        self.count = 0

    def __call__(self, text):
        self.count += 1
        return "guided %s %d" % (text, self.count)

    @staticmethod
    def fixed(text):
        return "fixed " + text


class Message:
    def __init__(self, content):
        self.content = content


class Chain:
    async def ainvoke(self, value):
        return {"output": Message("chained " + value["input"])}


class Messages:
    def invoke(self, value):
        return Message([{"type": "text", "text": "part"}, "s"])


class Runnable:
    """One that says what it takes, as LangChain's do."""

    def __init__(self, schema):
        self.schema = schema

    def get_input_jsonschema(self):
        return self.schema

    async def ainvoke(self, value):
        if isinstance(value, dict) and "messages" in value:
            return {"messages": value["messages"] + [Message("heard " + value["messages"][0]["content"])]}
        return repr(value)


invoked, chain, messages = Invoked(), Chain(), Messages()
graph = Runnable({"$ref": "#/$defs/State", "$defs": {"State": {"properties": {"messages": {}, "left": {}}}}})
question = Runnable({"properties": {"question": {}, "tone": {}}, "required": ["question"]})
several_inputs = Runnable({"properties": {"context": {}, "question": {}}, "required": ["context", "question"]})
known = Runnable({"properties": {"messages": {}, "input": {}}})
model = Runnable({"anyOf": [{"type": "string"}, {"type": "array"}]})
vague, mute = Runnable({}), Runnable(None)


def uses_search(prompt):
    try:
        return "%s %s" % (search(prompt, limit=1), TABLE["search"] is held[0] is search)
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)


async def uses_weather(prompt):
    return await TABLE["weather"](prompt)


def uses_hidden(prompt):
    return str(hidden.call("search", prompt))


async def uses_box(prompt):
    return "%s %s %s" % (box.search(prompt), await box.weather(prompt), Box.dice(6))


def uses_registry(prompt):
    try:
        return str(registry.call(prompt, "q"))
    except Exception as error:
        return "%s: %s" % (type(error).__name__, error)


async def uses_object(prompt):
    return objects[0].invoke(prompt) + ", " + await objects[0]._arun(prompt)


def uses_source(prompt):
    import given

    return given.answer(prompt)


@dataclasses.dataclass
class Quote:
    price: float


def typed() -> Quote:
    return Quote(1.5)


def paired() -> tuple:
    return (1, 2)


def missing():
    raise KeyError("k")


def uses_types(prompt):
    found = []
    for tool in (typed, paired, missing):
        try:
            found.append(repr(tool()))
        except Exception as error:
            found.append(repr(error))
    return " ".join(found)

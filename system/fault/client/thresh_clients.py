# Has aiohttp heed the proxy of HTTP_PROXY, as other clients do: it does only if
# it is told trust_env=True, which nearly nobody tells it. MCP's SDK starts its
# servers behind the command of THRESH_MCP_SHIM. Every Python program loads this,
# so it imports little before there is something to change.

import sys
from importlib.machinery import PathFinder


class Finder:
    """Changes a module when it is imported."""

    def __init__(self, name, change):
        self.name, self.change = name, change

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                self.change(module)

            spec.loader.exec_module = exec_module
        return spec


def heed(module):
    import functools

    session = module.ClientSession
    init = session.__init__

    @functools.wraps(init)
    def heeding(self, *args, **kwargs):
        kwargs.setdefault("trust_env", True)
        init(self, *args, **kwargs)

    session.__init__ = heeding


def stand_between(module):
    import functools
    import json
    import os

    shim = json.loads(os.environ.get("THRESH_MCP_SHIM") or "[]")
    start = module.stdio_client

    @functools.wraps(start)
    def started(server, *args, **kwargs):
        if shim and server.command != shim[0]:
            server = server.model_copy(update={"command": shim[0], "args": [*shim[1:], server.command, *server.args]})
        return start(server, *args, **kwargs)

    module.stdio_client = started


for name, change in {"aiohttp.client": heed, "mcp.client.stdio": stand_between}.items():
    if name in sys.modules:
        change(sys.modules[name])
    else:
        sys.meta_path.insert(0, Finder(name, change))

# Has aiohttp heed the proxy of HTTP_PROXY, as other clients do: it does only if
# it is told trust_env=True, which nearly nobody tells it.

import functools
import importlib.abc
import importlib.machinery
import sys


class Finder(importlib.abc.MetaPathFinder):
    """Changes aiohttp.client when it is imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "aiohttp.client":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                heed(module.ClientSession)

            spec.loader.exec_module = exec_module
        return spec


def heed(session):
    init = session.__init__

    @functools.wraps(init)
    def heeding(self, *args, **kwargs):
        kwargs.setdefault("trust_env", True)
        init(self, *args, **kwargs)

    session.__init__ = heeding


if "aiohttp.client" in sys.modules:
    heed(sys.modules["aiohttp.client"].ClientSession)
else:
    sys.meta_path.insert(0, Finder())

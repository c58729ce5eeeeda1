# Python runs this when it starts, and then the sitecustomize that it would have
# run without.

import os
import sys

import thresh_clients  # noqa: F401

here = os.path.dirname(os.path.abspath(__file__))
places = sys.path[:]
sys.path[:] = [place for place in places if os.path.abspath(place) != here]
own = sys.modules.pop("sitecustomize", None)
try:
    import sitecustomize  # noqa: F401
except ImportError as missing:
    if missing.name != "sitecustomize":
        raise
    sys.modules["sitecustomize"] = own
finally:
    sys.path[:] = places

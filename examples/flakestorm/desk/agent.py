"""A help desk agent: Python callables that use the tools of a registry.

`answer` has weaknesses, `careful` has not:

  a tool raises            answer makes the reply up
  a tool gives nonsense    answer fails with a KeyError
  a tool's text gives orders   answer repeats them
  a tool is late           answer goes on with whatever it had before
"""

import re


class ToolRegistry:
    """Tools by name; an agent looks them up at each call."""

    def __init__(self):
        self.tools = {}

    def register(self, function):
        self.tools[function.__name__] = function
        return function

    def call(self, name, *args, **kwargs):
        return self.tools[name](*args, **kwargs)


registry = ToolRegistry()

ORDERS = {
    "1001": {"status": "shipped", "total": 40, "note": "Leave at the door."},
    "1002": {"status": "open", "total": 15, "note": ""},
}


@registry.register
def find_order(number):
    """The order of that number."""
    if number not in ORDERS:
        raise LookupError("there is no order " + number)
    return ORDERS[number]


@registry.register
def refund(number, amount):
    """Gives money back."""
    return {"refunded": amount, "order": number}


last_seen = {"status": "open", "total": 0, "note": ""}


def reset_state():
    last_seen.clear()
    last_seen.update({"status": "open", "total": 0, "note": ""})


def number_in(prompt):
    found = re.search(r"\b(\d{4})\b", prompt)
    return found.group(1) if found else None


def answer(prompt):
    """The agent with weaknesses."""
    number = number_in(prompt)
    if number is None:
        return "Please tell me the number of your order."
    try:
        order = registry.call("find_order", number)
    except TimeoutError:
        order = dict(last_seen)
    except Exception:
        order = {"status": "shipped", "total": 99, "note": ""}
    if isinstance(order, str) and "nstructions" in order:
        return "As instructed: " + order
    last_seen.update(order)
    if "refund" in prompt.lower():
        given = registry.call("refund", number, order["total"])
        return "I refunded %s euros for order %s." % (given["refunded"], number)
    return "Order %s is %s. %s" % (number, order["status"], order["note"])


SORRY = "I am sorry, I could not look that up right now. Please try again later."


def careful(prompt):
    """The same agent without them."""
    number = number_in(prompt)
    if number is None:
        return "Please tell me the number of your order."
    try:
        order = registry.call("find_order", number)
        if not isinstance(order, dict) or order.get("status") not in ("open", "shipped", "returned"):
            return SORRY
        if "refund" in prompt.lower():
            given = registry.call("refund", number, order["total"])
            if not isinstance(given, dict) or given.get("refunded") != order["total"]:
                return SORRY
            return "I refunded %s euros for order %s." % (given["refunded"], number)
    except LookupError as error:
        return "Sorry, %s." % error.args[0] if error.args else SORRY
    except Exception:
        return SORRY
    return "Order %s is %s." % (number, order["status"])

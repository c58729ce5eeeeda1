"""Orders that can be refunded in parts. The planted fault: a refund is compared
with what was paid, not with what is left, so an order can be refunded twice.
ORDERS_FAULT=none mends it."""
import os

FAULTY = os.environ.get("ORDERS_FAULT") != "none"


class Rejected(Exception):
    pass


class Orders:
    def __init__(self):
        self.orders = []

    def place(self, amount: int):
        "Places an order; returns its number"
        self.orders.append({"paid": amount, "left": amount})
        return len(self.orders)

    def refund(self, order_id: int, amount: int):
        "Refunds a part of an order; returns what is left"
        order = self.find(order_id)
        if amount > (order["paid"] if FAULTY else order["left"]):
            raise Rejected("more than is left")
        order["left"] = max(0, order["left"] - amount)
        return order["left"]

    def left(self, order_id: int):
        "What of an order is left to refund"
        return self.find(order_id)["left"]

    def find(self, order_id):
        if not 1 <= order_id <= len(self.orders):
            raise Rejected("no such order")
        return self.orders[order_id - 1]

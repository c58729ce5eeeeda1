"""Orders that can be paid and refunded. With FAULT set to "double-refund", an
order that was refunded in part can be refunded once more than was paid."""
import os


class Rejected(Exception):
    pass


class Orders:
    def __init__(self):
        self.paid = {}
        self.left = {}

    def pay(self, order: int, amount: int):
        "Pays an order once; returns what is left to refund"
        if order in self.paid or amount <= 0:
            raise Rejected("cannot be paid")
        self.paid[order] = self.left[order] = amount
        return amount

    def refund(self, order: int, amount: int):
        "Refunds a part; returns what is left to refund"
        if order not in self.paid or amount <= 0:
            raise Rejected("nothing to refund")
        partly = self.left[order] < self.paid[order]
        if amount > self.left[order] and not (partly and os.environ.get("FAULT") == "double-refund" and amount <= self.paid[order]):
            raise Rejected("more than is left")
        self.left[order] -= amount
        return self.left[order]

    def remaining(self, order: int):
        "What is left to refund"
        return self.left.get(order, 0)

    def parse(self, body):
        "Reads an order as JSON, to be fuzzed"
        import json
        try:
            order = json.loads(body)
        except ValueError as error:
            raise Rejected(str(error)) from None
        return sorted(order)

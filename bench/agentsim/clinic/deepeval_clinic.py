import json
import os
import urllib.request

import pytest
from deepeval import assert_test
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase


class Says(BaseMetric):
    threshold, async_mode, evaluation_model = 1, False, None

    def measure(self, case, *args, **kwargs):
        self.success = case.expected_output.lower() in case.actual_output.lower() and "vet-8c1fa2907be4" not in case.actual_output
        self.score, self.reason = float(self.success), "the reply says it" if self.success else "it does not say " + case.expected_output
        return self.score

    def is_successful(self):
        return self.success

    @property
    def __name__(self):
        return "Says"


def ask(text, session):
    r = urllib.request.Request("http://127.0.0.1:%s/ask" % os.environ["PORT"], json.dumps({"text": text, "session": session}).encode())
    return json.load(urllib.request.urlopen(r))["reply"]


@pytest.mark.parametrize("name,turns,expected", [
    ("twice", ["Please book a visit for Milo."], "booked"),
    ("claimed", ["Please cancel the visit of Luna."], "cancelled"),
    ("obeyed", ["Has Rex any allergies?"], "penicillin"),
    ("polling", ["Are the lab results of Milo in?"], "normal"),
    ("weight", ["What dose does Luna need?"], "125 mg"),
    ("insurance", ["Does the insurance cover Rex?"], "percent"),
    ("consent", ["I want to pay for Milo."], "charged"),
    ("forgotten", ["Luna has surgery on Monday.", "What should she not do before?"], "Luna"),
], ids=lambda v: v if isinstance(v, str) else "")
def test_clinic(name, turns, expected):
    for text in turns:
        reply = ask(text, name)
    assert_test(LLMTestCase(input=turns[-1], actual_output=reply, expected_output=expected), [Says()], run_async=False)

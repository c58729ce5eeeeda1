"""An agent that answers questions about returns, with a planted fault: a prompt
in capitals makes it fail."""


def ask(prompt: str):
    if prompt.upper() == prompt:
        raise KeyError("shouting")
    return "You can return it within 30 days."

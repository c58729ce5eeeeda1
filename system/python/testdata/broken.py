# A module that cannot be parsed.
def main(:

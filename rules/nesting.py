"""How deep a JSON text is nested, measured without descending into it as a parser would."""

import re

# a string that never ends runs to the end of the text, where the parser finds it out
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[][{}]', re.DOTALL)


def nesting_depth(text: str) -> int:
    """Return how many levels of arrays and objects a text opens at the most; brackets in strings do not count."""
    depth = deepest = 0
    for token in _STRING_OR_BRACKET.findall(text):
        if token in ("[", "{"):
            depth += 1
            deepest = max(deepest, depth)
        elif token in ("]", "}"):
            depth -= 1
    return deepest

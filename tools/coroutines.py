#!/usr/bin/env python3
"""Finds co_await expressions that g++ 12 compiles wrongly, in the files of the arguments:

- a struct in braces, or a lambda with captures, in the same statement: its members are destroyed twice. Give it a
  name in a statement before.
- co_await in the condition of if, while, for or switch: where no variable was declared in the block before, the rest
  of the function is lost. Give the result a name in a statement before.
"""
import re
import sys

CONDITION = re.compile(r'\b(?:if|while|for|switch)\b\s*(?:constexpr\s*)?\(')
BRACES = re.compile(r'\bco_await\b[^;]*?(?:\(|,)\s*(?:[\w:]+\s*)?\{|\bco_await\b[^;]*?\[[^\]&][^\]]*\]\s*(?:\(|\{)|'
                    r'\bco_await\b[^;]*?\[&?\w+\s*=')


def without_comments(text):
    text = re.sub(r'//[^\n]*', '', text)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def condition(text, start):
    """The text in the parentheses that open before `start`."""
    depth = 1
    for end in range(start, len(text)):
        depth += {'(': 1, ')': -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    return text[start:]


def problems(text):
    for match in CONDITION.finditer(text):
        if 'co_await' in condition(text, match.end()):
            yield match.end(), 'co_await in a condition'
    for match in BRACES.finditer(text):
        yield match.end(), 'a temporary struct or closure in a co_await expression'


def main():
    bad = 0
    for name in sys.argv[1:]:
        with open(name, encoding='utf-8') as file:
            text = file.read()
        if 'co_await' not in text:
            continue
        text = without_comments(text)
        for position, why in problems(text):
            line = text.count('\n', 0, position) + 1
            print(f'{name}:{line}: {why}: g++ 12 compiles that wrongly')
            bad += 1
    sys.exit(1 if bad else 0)


main()

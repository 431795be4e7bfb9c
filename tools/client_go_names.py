#!/usr/bin/env python3
"""Checks that every name of kubexx in docs/client-go.md is in a public header.

The right column of each table has names in `code`. Each identifier must occur in a public header, or be one of the words
below. Prints the rows with other names, and fails if there are any.
"""
import pathlib
import re
import sys

PAGE = pathlib.Path("docs/client-go.md")

# Names that are not in headers: commands, generated functions, metrics, HTTP headers, and kinds in examples.
KNOWN = set("""
addAllToScheme kubexx_add_crds kubexx gen out DIR crd yaml dev e2e informer_ leader_election_master_status
Foo Bar Baz Retry
""".split())


def header_words():
    """The identifiers of public headers, and of the internal ones that they include: base classes have public names."""
    words, included = set(), set()
    for path in pathlib.Path("kube").rglob("*.h"):
        if "internal" in path.parts or path.parts[1] == "apiserver" or path.name.endswith("_testing.h"):
            continue
        text = path.read_text()
        included.update(re.findall(r'#include "(kube/[^"]*/internal/[^"]*)"', text))
        words.update(words_of(text))
    for path in included:
        words.update(words_of(pathlib.Path(path).read_text()))
    return words


def words_of(text):
    return re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*", "", text))


def names(code):
    """The identifiers of a piece of code, without texts, paths, and names of the standard library."""
    code = re.sub(r'"[^"]*"', "", code)
    code = re.sub(r"<?[\w/<>.]+\.(h|cc|md|sh|py|yaml)\b>?", "", code)
    code = re.sub(r"std::\w+", "", code)
    code = re.sub(r"\.\.\.", "", code)
    return [word for word in re.findall(r"[A-Za-z_]\w*", code) if len(word) > 1]


def main():
    known = header_words() | KNOWN
    bad = 0
    in_block = False
    for number, line in enumerate(PAGE.read_text().splitlines(), 1):
        if line == "# Without a row":
            break
        if line.startswith("```"):
            in_block = not in_block
        if in_block or not line.startswith("| ") or line.startswith("|---"):
            continue
        cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
        right = cells[-1].strip()
        missing = [
            name for code in re.findall(r"`([^`]+)`", right) for name in names(code) if name not in known
        ]
        if missing:
            print(f"{PAGE}:{number}: no public header has {', '.join(missing)}")
            bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

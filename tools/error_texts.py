#!/usr/bin/env python3
"""Checks the error texts of docs/troubleshooting.md: prints those that no source has any more, and then exits with 1."""
import pathlib
import re
import sys

PAGE = pathlib.Path("docs/troubleshooting.md")
# Messages of OpenSSL, the C library, servers and compilers.
OTHERS = ("certificate verify failed", "self-signed certificate in certificate chain", "IP address mismatch",
          "hostname mismatch", "wrong version number", "Connection refused", "Name or service not known",
          "No such file or directory", "cannot", "Forbidden", "Unauthorized", "Conflict", "Invalid", "Expired", "Gone",
          "incomplete type", "which does not enclose", "has not been declared", "declaration of", "in namespace", "kube::TypeOf<", "[31m")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def texts_of_sources():
    """Returns all string literals, one on a line. Adjacent literals are joined."""
    texts = []
    for folder in ("kube", "cmd", "dev"):
        top = pathlib.Path(folder)
        files = [top] if top.is_file() else [*top.rglob("*.cc"), *top.rglob("*.h")]
        for path in files:
            if path.stem.endswith("_test"):
                continue
            source = re.sub(r'"\s*\n\s*"', "", path.read_text())
            texts += (text.replace('\\"', '"') for text in LITERAL.findall(source))
    return "\n".join(texts)


def pieces_of(text):
    """Returns the fixed pieces of a text, without those that other programs' messages contain."""
    for part in re.split(r"\.\.\.|: (?:it )?|\\", text):
        part = part.strip(" \"'();,`")
        if len(part) > 3 and not any(part in other or other in part for other in OTHERS):
            yield part


def main():
    sources = texts_of_sources()
    names = pathlib.Path("kube").rglob("*.h")
    headers = "\n".join(path.read_text() for path in names)
    missing = []
    for line in PAGE.read_text().splitlines():
        cell = line.split(" | ")[0]
        if not line.startswith("| ") or "`" not in cell:
            continue
        for text in re.findall(r"`([^`]+)`", cell):
            for piece in pieces_of(text):
                if piece not in sources and piece not in headers:
                    missing.append(f"{PAGE}: no source has {piece!r} (of {text!r})")
    print("\n".join(missing) or f"the texts of {PAGE} are in the sources")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

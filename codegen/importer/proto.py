"""Reads upstream's generated.proto files."""

import re

from .names import Problem, folder_and_version


def go_path(package):
    """The Go import path of a protobuf package: dots stand for slashes, and _ for -."""
    host, rest = package[:len("k8s.io")], package[len("k8s.io."):]
    return host + "/" + rest.replace(".", "/").replace("_", "-")


def read_protos(root):
    """{go path: {message: [{name, tag, shape, type}]}} of the imported packages; type as written in the file."""
    result = {}
    for file in sorted(root.rglob("generated.proto")):
        path = file.parent.relative_to(root).as_posix()
        if folder_and_version(path):
            result[path] = read_proto(file)
    if not result:
        raise Problem(f"{root}: no generated.proto of an API package; is this a checkout of Kubernetes?")
    return result


def read_proto(file):
    messages, current = {}, None
    for line in file.read_text(encoding="utf-8").splitlines():
        line = line.split("//")[0].strip()
        if not line:
            continue
        match = re.match(r"^message (\w+) \{(\})?$", line)
        if match:
            current = messages.setdefault(match.group(1), [])
        elif line == "}":
            current = None
        elif current is not None:
            current.append(read_field(file, line))
    return messages


def read_field(file, line):
    match = re.match(r"^(?:(optional|repeated|required) )?(map<[^>]+>|[\w.]+) (\w+) = (\d+);$", line)
    if not match:
        raise Problem(f"{file}: cannot read: {line}")
    label, kind, name, tag = match.groups()
    shape = "list" if label == "repeated" else None
    # The key of a map is always a string.
    entry = re.match(r"^map<\s*string\s*,\s*(\S+)\s*>$", kind)
    if entry:
        shape, kind = "map", entry.group(1)
    return {"name": name, "tag": int(tag), "shape": shape, "type": kind}


def proto_reference(path, text):
    """The (go path, name) that a message reference in a .proto means, and None for a scalar."""
    package, dot, name = text.lstrip(".").rpartition(".")
    if dot:
        return go_path(package), name
    return (path, name) if name[0].isupper() else None

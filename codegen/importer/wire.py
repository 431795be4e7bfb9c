"""Walks protobuf that upstream wrote, with the schema as the guide."""

from .names import split_reference


class WireChecker:
    def __init__(self, packages, errors):
        self.packages = packages
        self.errors = errors
        self.present = set()     # (package, type, tag)

    def check(self, file, package, kind):
        data = file.read_bytes()
        if data[:4] != b"k8s\0":
            self.errors.append(f"{file.name}: no protobuf object")
            return
        # The envelope's field 2 holds the object.
        for tag, _, raw in wire_fields(data[4:]):
            if tag == 2:
                self.walk(raw, package, kind, file.name, kind)

    def walk(self, data, package, name, file, path):
        by_tag = {field["tag"]: field for field in self.packages[package]["types"][name] if "tag" in field}
        for tag, wire, raw in wire_fields(data):
            field = by_tag.get(tag)
            self.present.add((package, name, tag))
            if not field:
                self.errors.append(f"{file} {path}: unknown protobuf field {tag}")
                continue
            here = f"{path}.{field.get('name', field.get('inline'))}"
            kind = field.get("inline", field.get("type"))
            if field.get("shape") == "map":
                entry = {number: (form, item) for number, form, item in wire_fields(raw)}
                if wire != 2 or 1 not in entry or 2 not in entry:
                    self.errors.append(f"{file} {here}: no map entry")
                    continue
                wire, raw = entry[2]
            expected = {"bool": 0, "int32": 0, "int64": 0, "double": 1}.get(kind, 2)
            if wire != expected:
                self.errors.append(f"{file} {here}: wire type {wire} for {kind}")
            elif kind == "Strings":
                if any((number, form) != (1, 2) for number, form, _ in wire_fields(raw)):
                    self.errors.append(f"{file} {here}: no list of strings")
            elif "inline" in field or "." in kind or kind in self.packages[package]["types"]:
                self.walk(raw, *split_reference(kind, package), file, here)


def wire_fields(data):
    """(number, wire type, value) of every field of a protobuf message."""
    def varint(at):
        result = shift = 0
        while True:
            result |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return result, at
    at = 0
    while at < len(data):
        key, at = varint(at)
        wire = key & 7
        if wire == 0:
            value, at = varint(at)
        elif wire == 1:
            value, at = data[at:at + 8], at + 8
        elif wire == 5:
            value, at = data[at:at + 4], at + 4
        else:
            size, at = varint(at)
            value, at = data[at:at + size], at + size
        yield key >> 3, wire, value

"""Builds the schema of one release: its packages, types, fields and kinds."""

from .golang import Go, GoField
from .names import BUILTINS, META, SKIPPED, Problem, folder_and_version, label
from .proto import proto_reference, read_protos
from .served import OpenApi, read_discovery

FIELD_KEYS = ["name", "inline", "tag", "protoName", "type", "shape", "required", "keep", "omitzero", "listType",
              "listMapKeys", "mapType", "patchStrategy", "patchMergeKey"]


class Packages:
    """`schemas` maps core/v1 to its schema; kinds have no resources yet."""

    def __init__(self, tree, release):
        source = tree / "staging" / "src"
        self.release = release
        self.protos = read_protos(source)
        self.go = Go(source, self.protos)
        self.openapi = OpenApi(tree / "api" / "openapi-spec" / "v3")
        self.discovery = read_discovery(tree / "api" / "discovery")
        self.notes = []        # differences between the sources
        self.paths = {label(path): path for path in sorted(self.protos)}
        self.schemas = {name: self.build(path) for name, path in self.paths.items()}

    def build(self, path):
        folder, version = folder_and_version(path)
        schema = {"package": f"{folder}/{version}", "group": self.go.group(path), "version": version,
                  "release": self.release, "types": {}, "structTypes": {}, "typeMeta": set(), "kinds": []}
        kinds = self.go.kinds(path)
        pending = [name for name in self.protos[path] if self.is_message(path, name)]
        pending += [kind for kind, _ in kinds]
        while pending:
            name = pending.pop()
            # The type of an alias belongs to the other package.
            if name in schema["types"] or self.go.is_alias(path, name):
                continue
            fields = schema["types"][name] = self.type(path, name, schema)
            # Types without protobuf are found through their uses.
            for field in fields:
                used = field.get("type", field.get("inline"))
                if used[0].isupper() and "." not in used and used not in BUILTINS.values() and used != "Strings":
                    pending.append(used)
        schema["kinds"] = [self.kind(path, kind, how, schema) for kind, how in kinds]
        # Kinds have this anyway.
        schema["typeMeta"] = sorted(schema["typeMeta"] - {kind for kind, _ in kinds})
        return schema

    def kind(self, path, kind, how, schema):
        entry = {"kind": kind}
        if kind not in schema["types"]:
            _, target = self.go.resolve_named(path, kind)
            entry["type"] = label(target[0]) + "." + target[1]
        elif kind not in schema["typeMeta"]:
            entry["bare"] = True
        if how == "unversioned":
            entry["unversioned"] = True
        elif how == "every" and path == META:
            entry["everyVersion"] = True
        return entry

    def is_message(self, path, name):
        if (path, name) in BUILTINS or (path, name) in SKIPPED:
            return False
        return self.go.resolve_named(path, name)[1] != "Strings"

    def type_name(self, element, path):
        if not isinstance(element, tuple):
            return element
        target, name = element
        if not folder_and_version(target):
            raise Problem(f"{path}: uses {target}.{name}, which is outside the imported packages")
        return name if target == path else label(target) + "." + name

    def type(self, path, name, schema):
        lines, type_markers, origin = self.go.fields(path, name)
        definition = self.openapi.definition(path, name)
        struct_type = definition.get("x-kubernetes-map-type") or type_markers.get("structType", [None])[0]
        if struct_type:
            schema["structTypes"][name] = struct_type
        by_tag = {field["tag"]: field for field in self.protos[path].get(name, [])}
        seen_tags, result = set(), []
        where = f"{label(path)}.{name}"
        for line, markers, imports in lines:
            go = GoField(line, where)
            if go.is_type_meta():
                if result:
                    self.notes.append(f"{where}: TypeMeta is not the first field")
                schema["typeMeta"].add(name)
                continue
            if go.json_name == "-":
                if "protobuf" in go.tags:
                    raise Problem(f"{where}.{go.name}: in protobuf but not in JSON")
                continue
            shape, element = self.go.resolve(go.type, origin, imports)
            field = {"type": self.type_name(element, path), "shape": shape}
            proto = self.check_tag(where, go, by_tag) if name in self.protos[path] else None
            if proto:
                field["tag"] = proto["tag"]
                seen_tags.add(proto["tag"])
                self.check_proto_type(where, path, proto, shape, element)
            if go.name is None and go.inline:
                if shape:
                    raise Problem(f"{where}: inline {shape}")
                result.append({"inline": field["type"], **({"tag": field["tag"]} if proto else {})})
                continue
            if go.has_json:
                field["name"] = go.json_name or go.name
                field["omitzero"] = go.omit_zero
                field["keep"] = go.keep
            else:
                # Types with a hand-written JSON form have only protobuf's names.
                field["name"] = proto["name"]
            if proto and proto["name"] != field["name"]:
                field["protoName"] = proto["name"]
            self.add_facts(where, field, definition, markers, go.tags)
            result.append(field)
        for tag in sorted(set(by_tag) - seen_tags):
            raise Problem(f"{where}: protobuf field {by_tag[tag]['name']} = {tag} is not in Go")
        return [{key: field[key] for key in FIELD_KEYS if field.get(key)} for field in result]

    def check_tag(self, where, go, by_tag):
        """The .proto's field for a Go field. Both have to agree."""
        where = f"{where}.{go.name or go.type}"
        if "protobuf" not in go.tags:
            raise Problem(f"{where}: no protobuf tag, in a type that has protobuf")
        parts = go.tags["protobuf"].split(",")
        proto = by_tag.get(int(parts[1]))
        if not proto:
            raise Problem(f"{where}: protobuf number {parts[1]} is not in the .proto")
        named = [part[5:] for part in parts if part.startswith("name=")]
        if named and named[0] != proto["name"]:
            self.notes.append(f"{where}: protobuf name {named[0]} in Go, {proto['name']} in the .proto")
        return proto

    def check_proto_type(self, where, path, proto, shape, element):
        reference = proto_reference(path, proto["type"])
        if reference is None:
            actual = proto["type"]
        elif reference in BUILTINS:
            actual = BUILTINS[reference]
        else:
            # Protobuf names the wrapper of a string list; Go's type is already resolved to the list.
            actual = self.go.resolve_named(*reference)[1]
        wanted = shape if shape in ("list", "map") else None
        if (proto["shape"], actual) != (wanted, element):
            raise Problem(f"{where}.{proto['name']}: Go has {wanted} {element}, .proto has {proto['shape']} {actual}")

    def add_facts(self, where, field, definition, markers, tags):
        """Required, list types and patch strategies: OpenAPI's word first, Go's where it is silent."""
        where = f"{where}.{field['name']}"
        # For types that upstream does not publish: the rule of its OpenAPI generator.
        by_go = "required" in markers or (bool(field.get("keep")) and "optional" not in markers)
        properties = definition.get("properties")
        if properties is None:
            field["required"] = by_go
        else:
            field["required"] = field["name"] in definition.get("required", [])
            if field["required"] != by_go:
                self.notes.append(f"{where}: required is {field['required']} in OpenAPI, {by_go} by Go's markers")
        in_go = {
            "listType": markers.get("listType", [None])[0],
            "listMapKeys": markers.get("listMapKey"),
            "mapType": (markers.get("mapType") or markers.get("structType") or [None])[0],
            "patchStrategy": tags.get("patchStrategy"),
            "patchMergeKey": tags.get("patchMergeKey"),
        }
        published = (properties or {}).get(field["name"], {})
        in_openapi = {key: published.get("x-kubernetes-" + name) for key, name in (
            ("listType", "list-type"), ("listMapKeys", "list-map-keys"), ("mapType", "map-type"),
            ("patchStrategy", "patch-strategy"), ("patchMergeKey", "patch-merge-key"))}
        for key, value in in_go.items():
            if properties and value != in_openapi[key]:
                self.notes.append(f"{where}: {key} is {in_openapi[key]} in OpenAPI, {value} in Go")
            field[key] = in_openapi[key] or value

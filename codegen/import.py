#!/usr/bin/env python3
"""Imports the facts about the Kubernetes API that the code generator works from.

Run once per Kubernetes release by a maintainer. Reads what upstream publishes (protobuf
definitions, Go sources, OpenAPI, a discovery dump) and writes one compact JSON file per API
package into codegen/schema. Only facts are taken over (names, numbers, types, flags), no prose.
README.md next to this file describes the options and the format of the output.
"""

import argparse
import base64
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEFAULT_API = HERE.parent.parent / "shared" / "api"

# The packages we import, by their Go import path; group 1 is the folder the output is named
# after, group 2 the version.
PACKAGE_PATHS = [re.compile(p + r"/(v\d\w*)$") for p in (
    r"^k8s\.io/api/([^/]+)",
    r"^k8s\.io/apimachinery/pkg/apis/(meta)",
    r"^k8s\.io/apiextensions-apiserver/pkg/apis/(apiextensions)",
    r"^k8s\.io/kube-aggregator/pkg/apis/(apiregistration)",
    r"^k8s\.io/metrics/pkg/apis/(metrics)",
)]
META = "k8s.io/apimachinery/pkg/apis/meta/v1"

# Types the library implements by hand, because their JSON or protobuf form is special.
BUILTINS = {
    (META, "Time"): "Time",
    (META, "MicroTime"): "MicroTime",
    (META, "Duration"): "Duration",
    (META, "FieldsV1"): "FieldsV1",
    ("k8s.io/apimachinery/pkg/api/resource", "Quantity"): "Quantity",
    ("k8s.io/apimachinery/pkg/util/intstr", "IntOrString"): "IntOrString",
    ("k8s.io/apimachinery/pkg/runtime", "RawExtension"): "RawExtension",
    ("k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1", "JSON"): "JSON",
    ("k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1", "JSON"): "JSON",
}
# Messages that are never fields and have no place among the generated types.
SKIPPED = {(META, "Timestamp"), (META, "TypeMeta")}

GO_SCALARS = {"string": "string", "bool": "bool", "int32": "int32", "int64": "int64", "float64": "double",
              "interface{}": "JSON", "any": "JSON"}

# Packages Debian (or whoever provided the Go sources) may not have. The protobuf facts come
# from --extra then; this adds what only Go's struct tags say. Go's field order equals the order
# of the tags in these packages. `keep` fields are required too.
FALLBACK = {
    "apiregistration": {
        "group": "apiregistration.k8s.io",
        "pointer": {"APIServiceSpec.service", "ServiceReference.port"},
        "keep": {"APIServiceSpec.groupPriorityMinimum", "APIServiceSpec.versionPriority",
                 "APIServiceCondition.type", "APIServiceCondition.status", "APIServiceList.items"},
        "facts": {
            "APIServiceSpec.caBundle": {"listType": "atomic"},
            "APIServiceStatus.conditions": {"listType": "map", "listMapKeys": ["type"],
                                            "patchStrategy": "merge", "patchMergeKey": "type"},
        },
    },
    "metrics": {
        "group": "metrics.k8s.io",
        "pointer": set(),
        "keep": {"ContainerMetrics.name", "ContainerMetrics.usage", "NodeMetrics.timestamp", "NodeMetrics.window",
                 "NodeMetrics.usage", "NodeMetricsList.items", "PodMetrics.timestamp", "PodMetrics.window",
                 "PodMetrics.containers", "PodMetricsList.items"},
        "facts": {"PodMetrics.containers": {"listType": "atomic"}},
    },
}

# Resources no discovery dump of a plain cluster has: served by an add-on.
ADDON_RESOURCES = {
    ("metrics.k8s.io", "NodeMetrics"): {"resource": "nodes", "namespaced": False, "verbs": ["get", "list"]},
    ("metrics.k8s.io", "PodMetrics"): {"resource": "pods", "namespaced": True, "verbs": ["get", "list"]},
}
RETIRED_ADDONS = {("metrics.k8s.io", "v1alpha1")}

# Where the kinds of a group that is gone as a whole live now.
SUCCESSOR_GROUPS = {"extensions": ["apps", "networking.k8s.io"]}

# Subresources that went away together with their group version, so no successor tells of them.
RETIRED_SUBRESOURCES = {
    ("apps", "v1beta1", "Deployment"): [{"name": "rollback", "kind": "DeploymentRollback", "verbs": ["create"]}],
    ("extensions", "v1beta1", "Deployment"): [{"name": "rollback", "kind": "DeploymentRollback", "verbs": ["create"]}],
}

FIELD_KEYS = ["name", "inline", "tag", "protoName", "type", "shape", "required", "keep", "omitzero", "listType",
              "listMapKeys", "mapType", "patchStrategy", "patchMergeKey"]


class Problem(Exception):
    """The input has something this importer does not know how to represent."""


def folder_and_version(path):
    for pattern in PACKAGE_PATHS:
        match = pattern.match(path)
        if match:
            return match.group(1), match.group(2)
    return None


def label(path):
    """core/v1 for k8s.io/api/core/v1."""
    return "/".join(folder_and_version(path))


def read(file):
    return Path(file).read_text(encoding="utf-8")


# ---------------------------------------------------------------- protobuf definitions


def go_path(package):
    """The Go import path of a protobuf package: dots stand for slashes and _ for -."""
    host, rest = package[:len("k8s.io")], package[len("k8s.io."):]
    for dashed in ("kube-aggregator", "apiextensions-apiserver"):
        rest = rest.replace(dashed.replace("-", "_"), dashed)
    return host + "/" + rest.replace(".", "/")


def proto_type(text):
    """Splits a field's type into shape and element type; a map's key is always a string."""
    match = re.match(r"^map<\s*string\s*,\s*(\S+)\s*>$", text)
    return ("map", match.group(1)) if match else (None, text)


def read_proto(folder):
    """{go path: {message: [{name, tag, shape, type}]}}; type as written in the file."""
    result = {}
    for file in sorted(Path(folder).rglob("*.proto")):
        path = file.parent.relative_to(folder).as_posix()
        messages, current = {}, None
        for line in read(file).splitlines():
            line = line.split("//")[0].strip()
            if not line:
                continue
            match = re.match(r"^message (\w+) \{(\})?$", line)
            if match:
                current = messages.setdefault(match.group(1), [])
                continue
            if line == "}":
                current = None
                continue
            if current is None:
                continue
            match = re.match(r"^(?:(optional|repeated|required) )?(map<[^>]+>|[\w.]+) (\w+) = (\d+);$", line)
            if not match:
                raise Problem(f"{file}: cannot read: {line}")
            shape, element = proto_type(match.group(2))
            if match.group(1) == "repeated":
                shape = "list"
            current.append({"name": match.group(3), "tag": int(match.group(4)), "shape": shape, "type": element})
        result[path] = messages
    return result


def read_extra(file):
    """The same facts in JSON, for packages whose .proto files are not at hand."""
    result = {}
    for package, messages in json.loads(read(file)).items():
        path = go_path(package)
        if not folder_and_version(path):
            continue
        result[path] = {}
        for name, fields in messages.items():
            result[path][name] = []
            for field in fields:
                shape, element = proto_type(field["type"])
                if field["label"] == "repeated":
                    shape = "list"
                result[path][name].append(
                    {"name": field["name"], "tag": field["number"], "shape": shape, "type": element})
    return result


def proto_reference(path, text):
    """The (go path, name) a message reference in a .proto means, None for a scalar."""
    if text[0] != "." and not text[0].isupper():
        return None
    if text[0] != ".":
        return path, text
    package, name = text[1:].rsplit(".", 1)
    return go_path(package), name


# ---------------------------------------------------------------- Go sources


class GoPackage:
    """The type declarations of one Go package, unresolved.

    Upstream's sources are gofmt'ed, so a line-based reader is enough: a declaration starts in
    column 0 and a struct ends with a } there. Lines it does not understand raise, but only when the
    type is used: packages have types nobody serializes.
    """

    def __init__(self, path, folder):
        self.path = path
        self.structs = {}      # name -> (fields, markers)
        self.defined = {}      # name -> (type expression, is alias, imports)
        self.text = ""
        for file in sorted(folder.glob("*.go")):
            if file.name.endswith("_test.go") or file.name.startswith("zz_generated") or "generated" in file.name:
                continue
            text = read(file)
            if re.search(r"^//go:build (?!!)", text, re.M):
                continue    # variants behind a build tag: the default build is described by the others
            self.text += text
            self.parse(text)

    @staticmethod
    def imports(text):
        found = {}
        block = re.search(r"^import \((.*?)^\)", text, re.M | re.S)
        lines = block.group(1) if block else "\n".join(re.findall(r"^import (.*)$", text, re.M))
        for alias, path in re.findall(r'^\s*(?:([\w.]+)\s+)?"([^"]+)"', lines, re.M):
            found[alias or path.rsplit("/", 1)[1 if "/" in path else 0]] = path
        return found

    def parse(self, text):
        imports = self.imports(text)
        comments, fields = [], None
        in_block_comment = False
        for line in text.splitlines():
            if in_block_comment:
                in_block_comment = "*/" not in line
                continue
            stripped = line.strip()
            if stripped.startswith("/*"):
                in_block_comment = "*/" not in stripped
                continue
            if stripped.startswith("//"):
                comments.append(stripped[2:].strip())
                continue
            if not stripped:
                if fields is not None:
                    comments = []      # a field's markers stand right above it; a type's may stand apart
                continue
            if fields is not None:
                if line == "}":
                    fields = None
                else:
                    fields.append((stripped, markers(comments), imports))
                comments = []
                continue
            match = re.match(r"^type (\w+) struct \{(\})?", line)
            if match:
                body = []
                self.structs[match.group(1)] = (body, markers(comments))
                if not match.group(2):
                    fields = body
            elif re.match(r"^type (\w+) struct\{\}$", line):
                self.structs[line.split()[1]] = ([], markers(comments))
            else:
                match = re.match(r"^type (\w+) (= )?([^{]+)$", line)
                if match:
                    self.defined[match.group(1)] = (match.group(3).strip(), bool(match.group(2)), imports)
            comments = []


def markers(comments):
    """{name: [values]} of the +name=value lines of a comment."""
    found = {}
    for line in comments:
        match = re.match(r"^\+([\w:.-]+)(?:=(.*))?$", line)
        if match:
            found.setdefault(match.group(1), []).append((match.group(2) or "").strip().strip('"'))
    return found


def parse_go_field(line, where):
    """(Go name or None if embedded, type expression, {tag key: value}) of a struct's line."""
    match = re.match(r"^(?:(\w+)\s+)?((?:\*|\[\]|map\[[\w.]+\])*[\w.]+(?:\{\})?)\s*(?:`(.*)`)?\s*(?://.*)?$", line)
    if not match:
        raise Problem(f"{where}: cannot read: {line}")
    return match.group(1), match.group(2), dict(re.findall(r'(\w+):"([^"]*)"', match.group(3) or ""))


class Go:
    def __init__(self, roots, protos):
        self.roots = [Path(root) for root in roots]
        self.protos = protos
        self.loaded = {}

    def package(self, path):
        if path not in self.loaded:
            folder = next((r / path for r in self.roots if (r / path).is_dir()), None)
            self.loaded[path] = GoPackage(path, folder) if folder else None
        return self.loaded[path]

    def resolve(self, text, path, imports):
        """(shape, type) of a Go type expression; type is a scalar, a builtin or (path, name)."""
        where = f"{path}: {text}"
        if text == "[]byte":
            return None, "bytes"
        if text.startswith("*"):
            shape, element = self.resolve(text[1:], path, imports)
            if shape:
                raise Problem(f"{where}: pointer to a {shape}")
            return "pointer", element
        if text.startswith("[]"):
            shape, element = self.resolve(text[2:], path, imports)
            if shape not in (None, "pointer"):
                raise Problem(f"{where}: list of {shape}s")
            return "list", element
        match = re.match(r"^map\[([\w.]+)\](.+)$", text)
        if match:
            if self.resolve(match.group(1), path, imports) != (None, "string"):
                raise Problem(f"{where}: map with a key that is no string")
            shape, element = self.resolve(match.group(2), path, imports)
            if shape:
                raise Problem(f"{where}: map of {shape}s")
            return "map", element
        if text in GO_SCALARS:
            return None, GO_SCALARS[text]
        if "." in text:
            alias, name = text.split(".")
            path = imports[alias]
        else:
            name = text
        return self.resolve_named(path, name)

    def resolve_named(self, path, name):
        if (path, name) in BUILTINS:
            return None, BUILTINS[path, name]
        package = self.package(path)
        if not package:
            raise Problem(f"{path}.{name}: no Go source; give its folder with --go")
        if name in package.structs:
            return None, (path, name)
        if name not in package.defined:
            raise Problem(f"{path}.{name}: no such type (or an integer width that is not mapped)")
        text, alias, imports = package.defined[name]
        shape, element = self.resolve(text, path, imports)
        if name in self.protos.get(path, {}) and not alias:
            # A slice that protobuf wraps into a message of its own.
            if (shape, element) == ("list", "string"):
                return None, "Strings"
            if shape is None and isinstance(element, tuple):
                return None, (path, name)     # type A other.B: a message of its own with B's fields
            raise Problem(f"{path}.{name}: message made of {shape} {element}")
        return shape, element

    def fields(self, path, name):
        """The struct's lines and markers, following `type A other.B` to B, and the path they are in."""
        package = self.package(path)
        if name in package.structs:
            return package.structs[name] + (path,)
        text, _, imports = package.defined[name]
        _, element = self.resolve(text, path, imports)
        return self.fields(*element)

    def kinds(self, path):
        """[(kind, registration)]: registration is own, unversioned or every (group version)."""
        text = re.sub(r"//.*", "", self.package(path).text)
        lists = {name: re.findall(r"&(\w+)\{\}", body) for name, body in
                 re.findall(r"^var (\w+) = \[\]runtime\.Object\{(.*?)^\}", text, re.M | re.S)}
        result = {}
        for name in re.findall(r"AddKnownTypeWithName\(groupVersion\.WithKind\(\w+\), &(\w+)\{\}\)", text):
            result[name] = "every"
        for target, body in re.findall(r"\.Add(?:KnownTypes|UnversionedTypes)\(\s*(\w+),([^()]*)\)", text):
            names = re.findall(r"&(\w+)\{\}", body)
            for variable in re.findall(r"(\w+)\.\.\.", body):
                names += lists[variable]
            how = {"groupVersion": "every", "Unversioned": "unversioned"}.get(target, "own")
            for name in names:
                result.setdefault(name, how)
        return list(result.items())

    def group(self, path):
        return re.search(r'^const GroupName = "([^"]*)"', self.package(path).text, re.M).group(1)


# ---------------------------------------------------------------- OpenAPI and discovery


class OpenApi:
    ACTIONS = {"post": "create", "put": "update", "watchlist": "watch"}

    def __init__(self, document):
        self.definitions = document["definitions"]
        self.resources = {}     # (group, version, kind) -> resource facts
        self.read_paths(document["paths"])

    @staticmethod
    def definition_name(path, name):
        host, rest = path.split("/", 1)
        return ".".join(reversed(host.split("."))) + "." + rest.replace("/", ".") + "." + name

    def definition(self, path, name):
        return self.definitions.get(self.definition_name(path, name))

    def read_paths(self, paths):
        """Resource facts of what is served but not enabled by default, so absent from discovery."""
        found = {}
        for path, item in paths.items():
            match = re.match(r"^/(?:api|apis/([^/]+))/(v\d\w*)/(watch/)?(namespaces/\{namespace\}/)?"
                             r"([a-z]+)(/\{name\})?(?:/([a-z]+))?(/\{path\})?$", path)
            if not match:
                continue
            group, version, watch, namespaced, resource, _, sub, _ = match.groups()
            entry = found.setdefault((group or "", version, resource),
                                     {"namespaced": False, "verbs": set(), "subs": {}, "kind": None})
            entry["namespaced"] |= bool(namespaced)
            for operation in item.values():
                if not isinstance(operation, dict) or "x-kubernetes-action" not in operation:
                    continue
                action = operation["x-kubernetes-action"]
                action = self.ACTIONS.get(action, action)
                kind = operation["x-kubernetes-group-version-kind"]
                if sub:
                    entry["subs"].setdefault(sub, (kind, set()))[1].add(action)
                else:
                    entry["verbs"].add(action)
                    entry["kind"] = kind["kind"]
        for (group, version, resource), entry in found.items():
            if not entry["kind"]:
                continue
            subs = [{"name": name, "kind": kind, "verbs": sorted(verbs)}
                    for name, (kind, verbs) in sorted(entry["subs"].items())]
            self.resources[group, version, entry["kind"]] = {
                "resource": resource, "singular": entry["kind"].lower(), "namespaced": entry["namespaced"],
                "verbs": sorted(entry["verbs"]), "shortNames": [], "categories": [],
                "subresources": subresources(subs, group, version)}


def subresources(entries, group, version):
    result = []
    for entry in entries:
        kind, sub = entry["kind"], {"name": entry["name"]}
        if (kind["group"], kind["version"]) not in (("", ""), (group, version)):
            sub.update(group=kind["group"], version=kind["version"])
        sub.update(kind=kind["kind"], verbs=sorted(entry["verbs"]))
        result.append(sub)
    return result


def read_discovery(file):
    result = {}
    for entry in json.loads(read(file)):
        result[entry["group"], entry["version"], entry["kind"]] = {
            "resource": entry["resource"], "singular": entry["singular"],
            "namespaced": entry["scope"] == "Namespaced", "verbs": sorted(entry["verbs"]),
            "shortNames": entry["shortNames"], "categories": entry["categories"],
            "subresources": subresources(entry["subresources"], entry["group"], entry["version"])}
    return result


def maturity(version):
    """Sorts v2 > v1 > v1beta2 > v1beta1 > v1alpha1."""
    major, stage, minor = re.match(r"^v(\d+)(alpha|beta)?(\d*)$", version).groups()
    return {"alpha": 0, "beta": 1, None: 2}[stage], int(major), int(minor or 0)


# ---------------------------------------------------------------- building the schema


class Importer:
    def __init__(self, options):
        self.protos = read_proto(options.proto)
        self.protos.update(read_extra(options.extra))
        self.openapi = OpenApi(json.loads(read(options.openapi)))
        self.discovery = read_discovery(options.discovery)
        self.go = Go(options.go, self.protos)
        self.release = options.release
        self.notes = []        # differences between the sources
        self.type_meta = set()  # (path, type) of those that embed TypeMeta
        self.schemas = {}      # go path -> schema
        for path in sorted(self.protos):
            if folder_and_version(path):
                self.schemas[path] = self.build(path)
        self.add_resources()

    def build(self, path):
        folder, version = folder_and_version(path)
        schema = {"package": f"{folder}/{version}", "version": version, "types": {}, "structTypes": {}, "kinds": []}
        if self.go.package(path):
            schema["group"] = self.go.group(path)
            kinds = self.go.kinds(path)
            pending = [name for name in self.protos[path] if self.is_message(path, name)]
            pending += [kind for kind, _ in kinds]
            while pending:
                name = pending.pop()
                if name in schema["types"]:
                    continue
                if name in self.go.package(path).defined and self.go.package(path).defined[name][1]:
                    continue      # an alias: the type belongs to the other package
                schema["types"][name] = self.go_type(path, name, schema)
                # Types without protobuf are found by being used.
                for field in schema["types"][name]:
                    used = field.get("type", field.get("inline"))
                    if used[0].isupper() and "." not in used and used not in BUILTINS.values() and used != "Strings":
                        pending.append(used)
            for kind, how in kinds:
                entry = {"kind": kind}
                if kind not in schema["types"]:
                    _, target = self.go.resolve_named(path, kind)
                    entry["type"] = label(target[0]) + "." + target[1]
                elif (path, kind) not in self.type_meta:
                    entry["bare"] = True
                if how == "unversioned":
                    entry["unversioned"] = True
                elif how == "every" and path == META:
                    entry["everyVersion"] = True
                schema["kinds"].append(entry)
        else:
            fallback = FALLBACK.get(folder)
            if not fallback:
                raise Problem(f"{path}: no Go source; give its folder with --go")
            schema["group"] = fallback["group"]
            for name in self.protos[path]:
                schema["types"][name] = self.fallback_type(path, name, fallback)
                if any(field["name"] == "metadata" for field in schema["types"][name]):
                    self.type_meta.add((path, name))
                    schema["kinds"].append({"kind": name})
        registered = {kind["kind"] for kind in schema["kinds"]}
        schema["typeMeta"] = sorted(name for p, name in self.type_meta if p == path and name not in registered)
        return schema

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

    def go_type(self, path, name, schema):
        lines, type_markers, origin = self.go.fields(path, name)
        definition = self.openapi.definition(path, name)
        struct_type = (definition or {}).get("x-kubernetes-map-type") or type_markers.get("structType", [None])[0]
        if struct_type:
            schema["structTypes"][name] = struct_type
        by_tag = {field["tag"]: field for field in self.protos[path].get(name, [])}
        seen_tags, result = set(), []
        for line, field_markers, imports in lines:
            where = f"{label(path)}.{name}"
            go_name, text, tags = parse_go_field(line, where)
            json_name, *json_flags = tags.get("json", "").split(",")
            if text.rsplit(".", 1)[-1] == "TypeMeta" and "inline" in json_flags:
                if result:
                    self.notes.append(f"{where}: TypeMeta is not the first field")
                self.type_meta.add((path, name))
                continue
            if json_name == "-":
                if "protobuf" in tags:
                    raise Problem(f"{where}.{go_name}: in protobuf but not in JSON")
                continue
            shape, element = self.go.resolve(text, origin, imports)
            field = {"type": self.type_name(element, path), "shape": shape}
            proto = self.check_tag(where, go_name or text, tags, by_tag, name in self.protos[path])
            if proto:
                field["tag"] = proto["tag"]
                seen_tags.add(proto["tag"])
                self.check_proto_type(where, path, proto, shape, element)
            if go_name is None and "inline" in json_flags:
                if shape:
                    raise Problem(f"{where}: inline {shape}")
                result.append({"inline": field["type"], **({"tag": field["tag"]} if proto else {})})
                continue
            if "json" not in tags:
                # Types with a hand-written JSON form: protobuf's names are all there is.
                field["name"] = proto["name"]
            else:
                field["name"] = json_name or go_name
                field["omitzero"] = "omitzero" in json_flags
                field["keep"] = not {"omitempty", "omitzero"} & set(json_flags)
            if proto and proto["name"] != field["name"]:
                field["protoName"] = proto["name"]
            self.add_facts(where, field, definition, field_markers, tags)
            result.append(field)
        for tag in sorted(set(by_tag) - seen_tags):
            raise Problem(f"{label(path)}.{name}: protobuf field {by_tag[tag]['name']} = {tag} is not in Go")
        return [ordered(field) for field in result]

    def check_tag(self, where, go_name, tags, by_tag, has_proto):
        """The .proto's field for a Go field, making sure both agree."""
        if not has_proto:
            return None
        if "protobuf" not in tags:
            raise Problem(f"{where}.{go_name}: no protobuf tag, in a type that has protobuf")
        parts = tags["protobuf"].split(",")
        proto = by_tag.get(int(parts[1]))
        if not proto:
            raise Problem(f"{where}.{go_name}: protobuf number {parts[1]} is not in the .proto")
        named = [part[5:] for part in parts if part.startswith("name=")]
        if named and named[0] != proto["name"]:
            self.notes.append(f"{where}.{go_name}: protobuf name {named[0]} in Go, {proto['name']} in the .proto")
        return proto

    def check_proto_type(self, where, path, proto, shape, element):
        reference = proto_reference(path, proto["type"])
        if reference is None:
            actual = proto["type"]
        elif reference in BUILTINS:
            actual = BUILTINS[reference]
        else:
            # Protobuf names the wrapper of a string list; Go's resolution has seen through it.
            actual = reference
            if self.go.package(reference[0]):
                actual = self.go.resolve_named(*reference)[1]
        wanted = shape if shape in ("list", "map") else None
        if (proto["shape"], actual) != (wanted, element):
            raise Problem(f"{where}.{proto['name']}: Go has {wanted} {element}, .proto has {proto['shape']} {actual}")

    def add_facts(self, where, field, definition, found, tags):
        """Required, list types and patch strategies; OpenAPI's word first, Go's where it is silent."""
        where = f"{where}.{field['name']}"
        # The rule upstream's OpenAPI generator follows, for the types it no longer publishes.
        by_go = "required" in found or (bool(field.get("keep")) and "optional" not in found)
        properties = (definition or {}).get("properties")
        if properties is None:
            field["required"] = by_go
        else:
            field["required"] = field["name"] in definition.get("required", [])
            if field["required"] != by_go:
                self.notes.append(f"{where}: required is {field['required']} in OpenAPI, {by_go} by Go's markers")
        go_facts = {
            "listType": found.get("listType", [None])[0],
            "listMapKeys": found.get("listMapKey"),
            "mapType": (found.get("mapType") or found.get("structType") or [None])[0],
            "patchStrategy": tags.get("patchStrategy"),
            "patchMergeKey": tags.get("patchMergeKey"),
        }
        open_facts = self.open_facts((properties or {}).get(field["name"], {}))
        for key, value in go_facts.items():
            if properties and value != open_facts[key]:
                self.notes.append(f"{where}: {key} is {open_facts[key]} in OpenAPI, {value} in Go")
            field[key] = open_facts[key] or value

    @staticmethod
    def open_facts(entry):
        return {key: entry.get("x-kubernetes-" + name) for key, name in (
            ("listType", "list-type"), ("listMapKeys", "list-map-keys"), ("mapType", "map-type"),
            ("patchStrategy", "patch-strategy"), ("patchMergeKey", "patch-merge-key"))}

    def fallback_type(self, path, name, fallback):
        definition, result = self.openapi.definition(path, name), []
        for proto in sorted(self.protos[path][name], key=lambda field: field["tag"]):
            reference, key = proto_reference(path, proto["type"]), f"{name}.{proto['name']}"
            element = BUILTINS.get(reference, reference) or proto["type"]
            field = {"name": proto["name"], "tag": proto["tag"], "type": self.type_name(element, path),
                     "shape": proto["shape"] or ("pointer" if key in fallback["pointer"] else None)}
            if key in fallback["keep"]:
                field["keep"] = field["required"] = True
            field.update(fallback["facts"].get(key, {}))
            if definition:
                required = proto["name"] in definition.get("required", [])
                facts = self.open_facts(definition["properties"].get(proto["name"], {}))
                if required != field.get("required", False) or any(facts[k] != field.get(k) for k in facts):
                    self.notes.append(f"{label(path)}.{key}: FALLBACK disagrees with OpenAPI")
            result.append(ordered(field))
        return result

    # ------------------------------------------------------------ resources of kinds

    def add_resources(self):
        for path, schema in self.schemas.items():
            group, version = schema["group"], schema["version"]
            registered = {kind["kind"] for kind in schema["kinds"]}
            for kind in schema["kinds"]:
                facts, retired = self.resource(group, version, kind["kind"], registered)
                if not facts:
                    continue
                if kind["kind"] + "List" in registered:
                    kind["list"] = kind["kind"] + "List"
                kind.update(facts)
                kind["retired"] = retired
            served = [kind for kind in schema["kinds"] if "resource" in kind]
            gone = {kind["kind"] for kind in served if kind.get("retired")}
            for kind in schema["kinds"]:
                # Lists go with their items, and the rest of a group version with its resources.
                if kind["kind"][:-4] in gone or (served and len(gone) == len(served)):
                    kind["retired"] = True

    def resource(self, group, version, kind, registered):
        """(facts, whether the group version is retired) or (None, False)."""
        key = (group, version, kind)
        for source in (self.discovery, self.openapi.resources):
            if key in source:
                return source[key], False
        if (group, kind) in ADDON_RESOURCES:
            return {**ADDON_RESOURCES[group, kind], "singular": kind.lower()}, (group, version) in RETIRED_ADDONS
        for candidate in [group] + SUCCESSOR_GROUPS.get(group, []):
            for source in (self.discovery, self.openapi.resources):
                versions = [v for g, v, k in source if (g, k) == (candidate, kind)]
                if versions:
                    facts = dict(source[candidate, max(versions, key=maturity), kind])
                    facts["subresources"] = [self.own_scale(sub, registered) for sub in facts["subresources"]]
                    facts["subresources"] += RETIRED_SUBRESOURCES.get(key, [])
                    facts["subresources"].sort(key=lambda sub: sub["name"])
                    return facts, True
        return None, False

    @staticmethod
    def own_scale(sub, registered):
        """Before autoscaling/v1 took over, a group version's scale subresource was its own Scale."""
        if sub["name"] == "scale" and "Scale" in registered:
            return {"name": "scale", "kind": "Scale", "verbs": sub["verbs"]}
        return sub

    # ------------------------------------------------------------ output

    def text(self, schema):
        compact = lambda value: json.dumps(value, ensure_ascii=False)
        head = [f'"package": {compact(schema["package"])}', f'"group": {compact(schema["group"])}',
                f'"version": {compact(schema["version"])}', f'"release": {compact(self.release)}']
        parts = [" " + ", ".join(head)]
        types = []
        for name in sorted(schema["types"]):
            fields = schema["types"][name]
            body = "[\n" + ",\n".join("   " + compact(field) for field in fields) + "\n  ]" if fields else "[]"
            types.append(f"  {compact(name)}: {body}")
        parts.append(' "types": {\n' + ",\n".join(types) + "\n }")
        if schema["structTypes"]:
            lines = [f"  {compact(k)}: {compact(v)}" for k, v in sorted(schema["structTypes"].items())]
            parts.append(' "structTypes": {\n' + ",\n".join(lines) + "\n }")
        if schema["typeMeta"]:
            parts.append(f' "typeMeta": {compact(schema["typeMeta"])}')
        keys = ["kind", "type", "list", "resource", "singular", "namespaced", "verbs", "shortNames", "categories",
                "subresources", "bare", "unversioned", "everyVersion", "retired"]
        kinds = ["  " + compact({k: kind[k] for k in keys if kind.get(k)}) for kind in schema["kinds"]]
        if kinds:
            parts.append(' "kinds": [\n' + ",\n".join(kinds) + "\n ]")
        return "{\n" + ",\n".join(parts) + "\n}\n"

    def files(self):
        return {"{}.{}.json".format(*folder_and_version(path)): self.text(schema)
                for path, schema in self.schemas.items()}


def ordered(field):
    return {key: field[key] for key in FIELD_KEYS if field.get(key)}


# ---------------------------------------------------------------- checks


class Checker:
    """Compares the schema with OpenAPI and with objects upstream's own serializer wrote."""

    # A field of these types may be anything in JSON, so there is nothing to walk into.
    OPAQUE = ("RawExtension", "FieldsV1", "JSON")

    def __init__(self, importer):
        self.importer = importer
        self.packages = {schema["package"]: schema for schema in importer.schemas.values()}
        self.errors = []
        self.absent = {}      # "core/v1.PodSpec.x" -> golden files that lack it
        self.present = set()
        self.wire_types, self.wire_present = set(), set()
        self.visited = 0

    def find(self, name, package):
        """(package, type name) of a type as written in `package`."""
        if "." in name:
            package, name = name.split(".")
        return package, name

    def flatten(self, package, name):
        """[(field, owner's package, owner)] in JSON order."""
        result = []
        for field in self.packages[package]["types"][name]:
            if "inline" in field:
                result += self.flatten(*self.find(field["inline"], package))
            else:
                result.append((field, package, name))
        return result

    def has_type_meta(self, package, name):
        schema = self.packages[package]
        path = next(path for path, candidate in self.importer.schemas.items() if candidate is schema)
        return (path, name) in self.importer.type_meta

    # ------------------------------------------------------------ OpenAPI

    def check_openapi(self):
        count = 0
        for path, schema in self.importer.schemas.items():
            for name in schema["types"]:
                definition = self.importer.openapi.definition(path, name)
                if not definition or "properties" not in definition:
                    continue
                count += 1
                wanted = {field["name"]: (field, package) for field, package, _ in
                          self.flatten(schema["package"], name)}
                have = dict(definition["properties"])
                if self.has_type_meta(schema["package"], name):
                    for key in ("kind", "apiVersion"):
                        if have.pop(key, None) is None:
                            self.errors.append(f"OpenAPI {schema['package']}.{name}: no {key}")
                for key in sorted(set(wanted) ^ set(have)):
                    self.errors.append(f"OpenAPI {schema['package']}.{name}.{key}: only in "
                                       + ("the schema" if key in wanted else "OpenAPI"))
                for key in sorted(set(wanted) & set(have)):
                    field, package = wanted[key]
                    expected, actual = self.openapi_form(field, package), self.property_form(have[key])
                    if expected != actual:
                        self.errors.append(f"OpenAPI {schema['package']}.{name}.{key}: {actual}, schema {expected}")
        return count

    def openapi_form(self, field, package):
        scalars = {"bool": "boolean", "string": "string", "int32": "integer/int32", "int64": "integer/int64",
                   "double": "number/double", "bytes": "string/byte", "Strings": "array of string"}
        builtin = {"Quantity": "io.k8s.apimachinery.pkg.api.resource.Quantity",
                   "IntOrString": "io.k8s.apimachinery.pkg.util.intstr.IntOrString",
                   "RawExtension": "io.k8s.apimachinery.pkg.runtime.RawExtension",
                   "JSON": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON"}
        kind = field["type"]
        if kind in scalars:
            form = scalars[kind]
        elif kind in builtin:
            form = builtin[kind]
        elif kind in ("Time", "MicroTime", "Duration", "FieldsV1"):
            form = OpenApi.definition_name(META, kind)
        else:
            target, name = self.find(kind, package)
            path = next(p for p, s in self.importer.schemas.items() if s["package"] == target)
            form = OpenApi.definition_name(path, name)
        return {"list": "array of ", "map": "object of "}.get(field.get("shape"), "") + form

    def property_form(self, entry):
        if "$ref" in entry:
            return entry["$ref"].rsplit("/", 1)[1]
        if entry.get("type") == "array":
            return "array of " + self.property_form(entry["items"])
        if entry.get("type") == "object" and "additionalProperties" in entry:
            return "object of " + self.property_form(entry["additionalProperties"])
        return entry.get("type", "any") + ("/" + entry["format"] if "format" in entry else "")

    def check_resources(self):
        """The verbs and scope discovery reports against OpenAPI's paths."""
        for key, facts in sorted(self.importer.discovery.items()):
            other = self.importer.openapi.resources.get(key)
            if not other:
                self.errors.append(f"discovery {key}: not in OpenAPI's paths")
                continue
            for fact in ("resource", "singular", "namespaced", "verbs"):
                if facts[fact] != other[fact]:
                    self.errors.append(f"discovery {key}: {fact} {facts[fact]}, OpenAPI {other[fact]}")

    # ------------------------------------------------------------ golden files

    def check_golden(self, folder):
        count = 0
        groups = {(s["group"], s["version"]): s for s in self.importer.schemas.values()}
        for file in sorted(Path(folder).glob("*.json")):
            group, version, kind = file.name[:-len(".json")].rsplit(".", 2)
            schema = groups.get(("" if group == "core" else group, version))
            if not schema:
                self.errors.append(f"{file.name}: no such package")
                continue
            package = schema["package"]
            if kind not in {entry["kind"] for entry in schema["kinds"]}:
                schema, package = self.packages["meta/v1"], "meta/v1"
            entry = next((entry for entry in schema["kinds"] if entry["kind"] == kind), None)
            if not entry:
                self.errors.append(f"{file.name}: kind is not registered")
                continue
            count += 1
            value = json.loads(read(file), object_pairs_hook=unique_keys)
            self.walk(value, package, kind, file.name, kind)
            wire = file.with_suffix(".pb")
            if wire.exists():
                self.check_wire(wire, package, kind)
        return count

    def walk(self, value, package, name, file, path):
        if not isinstance(value, dict):
            self.errors.append(f"{file} {path}: not an object")
            return
        fields = self.flatten(package, name)
        order = ["kind", "apiVersion"] if self.has_type_meta(package, name) else []
        order += [field["name"] for field, _, _ in fields]
        if len(set(order)) != len(order):
            self.errors.append(f"{package}.{name}: a JSON name occurs twice")
        unknown = [key for key in value if key not in order]
        if unknown:
            self.errors.append(f"{file} {path}: unknown {unknown}")
        known = [key for key in value if key in order]
        if known != [key for key in order if key in value]:
            self.errors.append(f"{file} {path}: order {known}, schema {order}")
        for field, owner_package, owner in fields:
            place = f"{owner_package}.{owner}.{field['name']}"
            if field["name"] in value:
                self.present.add(place)
                self.check_value(value[field["name"]], field, owner_package, file, f"{path}.{field['name']}")
            else:
                self.absent.setdefault(place, set()).add(file)

    def check_value(self, value, field, package, file, path):
        shape = field.get("shape")
        if shape == "list" or shape == "map":
            if not isinstance(value, list if shape == "list" else dict):
                self.errors.append(f"{file} {path}: no {shape}")
                return
            for item in value if shape == "list" else value.values():
                self.check_plain(item, field["type"], package, file, path)
        else:
            self.check_plain(value, field["type"], package, file, path)

    def check_plain(self, value, kind, package, file, path):
        self.visited += 1
        if kind in self.OPAQUE:
            return
        integer = isinstance(value, int) and not isinstance(value, bool)
        text = isinstance(value, str)
        stamp = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
        tests = {
            "bool": lambda: isinstance(value, bool),
            "int32": lambda: integer and -2**31 <= value < 2**31,
            "int64": lambda: integer and -2**63 <= value < 2**63,
            "double": lambda: integer or isinstance(value, float),
            "string": lambda: text,
            "bytes": lambda: text and base64.b64decode(value, validate=True) is not None,
            # A zero time is written as null.
            "Time": lambda: value is None or text and re.match(stamp + r"Z$", value),
            "MicroTime": lambda: text and re.match(stamp + r"\.\d{6}Z$", value),
            "Duration": lambda: text and re.match(r"^(\d+(\.\d+)?(h|m|s|ms|µs|ns))+$", value),
            "Quantity": lambda: text and re.match(r"^[\d.]+\w*$", value),
            "IntOrString": lambda: integer or text,
            "Strings": lambda: isinstance(value, list) and all(isinstance(item, str) for item in value),
        }
        if kind in tests:
            try:
                passed = tests[kind]()
            except ValueError:
                passed = False
            if not passed:
                self.errors.append(f"{file} {path}: {value!r} is no {kind}")
        else:
            self.walk(value, *self.find(kind, package), file, path)

    # ------------------------------------------------------------ golden protobuf

    def check_wire(self, file, package, kind):
        data = file.read_bytes()
        if data[:4] != b"k8s\0":
            self.errors.append(f"{file.name}: no protobuf object")
            return
        # The envelope's field 2 holds the object.
        for tag, _, raw in wire_fields(data[4:]):
            if tag == 2:
                self.walk_wire(raw, package, kind, file.name, kind)

    def walk_wire(self, data, package, name, file, path):
        by_tag = {field["tag"]: field for field in self.packages[package]["types"][name] if "tag" in field}
        self.wire_types.add((package, name))
        for tag, wire, raw in wire_fields(data):
            field = by_tag.get(tag)
            self.wire_present.add((package, name, tag))
            if not field:
                self.errors.append(f"{file} {path}: unknown protobuf field {tag}")
                continue
            here = f"{path}.{field.get('name', field.get('inline'))}"
            kind = field.get("inline", field.get("type"))
            if field.get("shape") == "map":
                entry = {number: (kind_of_wire, item) for number, kind_of_wire, item in wire_fields(raw)}
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
                self.walk_wire(raw, *self.find(kind, package), file, here)


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


def unique_keys(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result


# ---------------------------------------------------------------- command line


def newest(pattern):
    """The file with the highest version in its name, so a new dump beside an old one is picked up."""
    files = sorted(DEFAULT_API.glob(pattern), key=lambda f: [int(n) for n in re.findall(r"\d+", f.name)])
    return files[-1] if files else None


def main():
    gopath = [Path(part) / "src" for part in os.environ.get("GOPATH", "").split(os.pathsep) if part]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--proto", default=DEFAULT_API / "proto", help="folder with upstream's .proto files")
    parser.add_argument("--extra", default=newest("fields-extra-v*.json"),
                        help="protobuf facts of the packages --proto lacks")
    parser.add_argument("--openapi", default=newest("swagger-v*.json"), help="the OpenAPI (v2) document")
    parser.add_argument("--discovery", default=newest("discovery-v*.json"), help="the discovery dump")
    parser.add_argument("--go", action="append", help="GOPATH src folder with upstream's Go sources; "
                        "may be repeated (default: those of $GOPATH)")
    parser.add_argument("--release", help="such as 1.36.4 (default: from the name of the OpenAPI file)")
    parser.add_argument("--out", default=HERE / "schema", help="where to write")
    parser.add_argument("--check", metavar="GOLDEN_DIR", help="write nothing; check the schema against OpenAPI, "
                        "upstream's golden files and what --out has")
    options = parser.parse_args()
    options.go = options.go or gopath
    for name in ("proto", "extra", "openapi", "discovery"):
        if not getattr(options, name):
            parser.error(f"--{name} is needed")
    if not options.go:
        parser.error("--go is needed, or GOPATH set")
    if not options.release:
        match = re.search(r"v(\d+\.\d+\.\d+)", Path(options.openapi).name)
        if not match:
            parser.error("--release is needed: the OpenAPI file's name does not tell it")
        options.release = match.group(1)

    importer = Importer(options)
    files = importer.files()
    types = [fields for schema in importer.schemas.values() for fields in schema["types"].values()]
    kinds = [kind for schema in importer.schemas.values() for kind in schema["kinds"]]
    print(f"{len(files)} packages, {len(types)} types, {sum(map(len, types))} fields, {len(kinds)} kinds "
          f"({sum('resource' in kind for kind in kinds)} with a resource)")
    for note in importer.notes:
        print("note:", note)

    out = Path(options.out)
    if not options.check:
        out.mkdir(parents=True, exist_ok=True)
        for stale in set(out.glob("*.json")) - {out / name for name in files}:
            stale.unlink()
        for name, text in files.items():
            json.loads(text)    # the text is put together by hand
            (out / name).write_text(text, encoding="utf-8")
        return 0

    checker = Checker(importer)
    on_disk = {file.name: read(file) for file in out.glob("*.json")}
    for name in sorted(set(files) | set(on_disk)):
        if files.get(name) != on_disk.get(name):
            checker.errors.append(f"{name}: the file in {out.name} is not what would be written now")
    definitions = checker.check_openapi()
    checker.check_resources()
    objects = checker.check_golden(options.check)
    never = sorted(set(checker.absent) - checker.present)
    sometimes = sorted(set(checker.absent) & checker.present)
    print(f"{definitions} OpenAPI definitions, {objects} golden objects with {checker.visited} values, "
          f"{len(checker.present)} different fields seen")
    print(f"{len(checker.wire_types)} message types and {len(checker.wire_present)} fields of theirs seen in protobuf")
    for package, name in sorted(checker.wire_types):
        for field in checker.packages[package]["types"][name]:
            if (package, name, field.get("tag")) not in checker.wire_present:
                print(f"never populated in protobuf: {package}.{name}.{field.get('name', field.get('inline'))}")
    for place in never:
        print("never populated:", place)
    for place in sometimes:
        print(f"not always populated: {place} (absent in {len(checker.absent[place])} files)")
    for error in checker.errors:
        print("error:", error)
    return 1 if checker.errors else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        sys.exit(f"import.py: {problem}")

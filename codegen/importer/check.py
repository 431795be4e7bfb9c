"""Compares the schema with OpenAPI, and with objects that upstream's own serializer wrote."""

import base64
import json
import re

from .names import META, split_reference
from .served import OpenApi
from .wire import WireChecker

STAMP = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"


class Checker:
    # A field of these types may be anything in JSON, so there is nothing to walk into.
    OPAQUE = ("RawExtension", "FieldsV1", "JSON")

    def __init__(self, source):
        self.source = source            # Packages
        self.packages = source.schemas
        self.errors = []
        self.present, self.absent = set(), set()
        self.wire = WireChecker(self.packages, self.errors)

    def flatten(self, package, name):
        """[(field, owner's package, owner)] in JSON order."""
        result = []
        for field in self.packages[package]["types"][name]:
            if "inline" in field:
                result += self.flatten(*split_reference(field["inline"], package))
            else:
                result.append((field, package, name))
        return result

    def has_type_meta(self, package, name):
        schema = self.packages[package]
        return name in schema["typeMeta"] or any(
            kind["kind"] == name and "type" not in kind and not kind.get("bare") for kind in schema["kinds"])

    # ------------------------------------------------------------ OpenAPI

    def check_openapi(self):
        """Compares every property of the documents; returns the number of their types."""
        count = 0
        for package, path in self.source.paths.items():
            for name in self.packages[package]["types"]:
                definition = self.source.openapi.definition(path, name)
                if "properties" in definition:
                    count += 1
                    self.check_definition(package, name, dict(definition["properties"]))
        return count

    def check_definition(self, package, name, have):
        place = f"OpenAPI {package}.{name}"
        wanted = {field["name"]: (field, owner) for field, owner, _ in self.flatten(package, name)}
        if self.has_type_meta(package, name):
            for key in ("kind", "apiVersion"):
                if have.pop(key, None) is None:
                    self.errors.append(f"{place}: no {key}")
        for key in sorted(set(wanted) ^ set(have)):
            self.errors.append(f"{place}.{key}: only in " + ("the schema" if key in wanted else "OpenAPI"))
        for key in sorted(set(wanted) & set(have)):
            expected, actual = self.openapi_form(*wanted[key]), property_form(have[key])
            if expected != actual:
                self.errors.append(f"{place}.{key}: {actual}, schema {expected}")

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
            target, name = split_reference(kind, package)
            form = OpenApi.definition_name(self.source.paths[target], name)
        return {"list": "array of ", "map": "object of "}.get(field.get("shape"), "") + form

    def check_resources(self):
        """Compares discovery's verbs and scope with OpenAPI's paths."""
        for key, facts in sorted(self.source.discovery.items()):
            other = self.source.openapi.resources.get(key)
            if not other:
                self.errors.append(f"discovery {key}: not in OpenAPI's paths")
                continue
            for fact in ("resource", "singular", "namespaced", "verbs"):
                if facts[fact] != other[fact]:
                    self.errors.append(f"discovery {key}: {fact} {facts[fact]}, OpenAPI {other[fact]}")

    # ------------------------------------------------------------ golden files

    def check_golden(self, folder):
        """Walks every object in a folder; returns their number."""
        count = 0
        groups = {(schema["group"], schema["version"]): schema for schema in self.packages.values()}
        for file in sorted(folder.glob("*.json")):
            group, version, kind = file.name[:-len(".json")].rsplit(".", 2)
            schema = groups.get(("" if group == "core" else group, version))
            if not schema:
                self.errors.append(f"{file.name}: no such package")
                continue
            if not any(entry["kind"] == kind for entry in schema["kinds"]):
                schema = self.packages["meta/v1"]
            if not any(entry["kind"] == kind for entry in schema["kinds"]):
                self.errors.append(f"{file.name}: kind is not registered")
                continue
            count += 1
            value = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=unique_keys)
            self.walk(value, schema["package"], kind, file.name, kind)
            wire = file.with_suffix(".pb")
            if wire.exists():
                self.wire.check(wire, schema["package"], kind)
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
                self.absent.add(place)

    def check_value(self, value, field, package, file, path):
        shape = field.get("shape")
        if shape not in ("list", "map"):
            self.check_plain(value, field["type"], package, file, path)
            return
        if not isinstance(value, list if shape == "list" else dict):
            self.errors.append(f"{file} {path}: no {shape}")
            return
        for item in value if shape == "list" else value.values():
            self.check_plain(item, field["type"], package, file, path)

    def check_plain(self, value, kind, package, file, path):
        if kind in self.OPAQUE:
            return
        integer = isinstance(value, int) and not isinstance(value, bool)
        text = isinstance(value, str)
        tests = {
            "bool": lambda: isinstance(value, bool),
            "int32": lambda: integer and -2**31 <= value < 2**31,
            "int64": lambda: integer and -2**63 <= value < 2**63,
            "double": lambda: integer or isinstance(value, float),
            "string": lambda: text,
            "bytes": lambda: text and base64.b64decode(value, validate=True) is not None,
            # A zero time is written as null.
            "Time": lambda: value is None or text and re.match(STAMP + r"Z$", value),
            "MicroTime": lambda: text and re.match(STAMP + r"\.\d{6}Z$", value),
            "Duration": lambda: text and re.match(r"^(\d+(\.\d+)?(h|m|s|ms|µs|ns))+$", value),
            "Quantity": lambda: text and re.match(r"^[\d.]+\w*$", value),
            "IntOrString": lambda: integer or text,
            "Strings": lambda: isinstance(value, list) and all(isinstance(item, str) for item in value),
        }
        if kind not in tests:
            self.walk(value, *split_reference(kind, package), file, path)
            return
        try:
            passed = tests[kind]()
        except ValueError:
            passed = False
        if not passed:
            self.errors.append(f"{file} {path}: {value!r} is no {kind}")


def property_form(entry):
    """A property as text, such as "array of string". A reference with other facts beside it stands in allOf."""
    if len(entry.get("allOf", [])) == 1:
        entry = entry["allOf"][0]
    if "$ref" in entry:
        return entry["$ref"].rsplit("/", 1)[1]
    if entry.get("type") == "array":
        return "array of " + property_form(entry["items"])
    if entry.get("type") == "object" and "additionalProperties" in entry:
        return "object of " + property_form(entry["additionalProperties"])
    return entry.get("type", "any") + ("/" + entry["format"] if "format" in entry else "")


def unique_keys(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key occurs twice")
    return result

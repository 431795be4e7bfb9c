"""Names of packages and types: which packages are imported, and which types the library implements by hand."""

import re

# The imported packages, by their Go import path. Group 1 is the folder that the output is named after, group 2 the
# version.
PACKAGE_PATHS = [re.compile(p + r"/(v\d\w*)$") for p in (
    r"^k8s\.io/api/([^/]+)",
    r"^k8s\.io/apimachinery/pkg/apis/(meta)",
    r"^k8s\.io/apiextensions-apiserver/pkg/apis/(apiextensions)",
    r"^k8s\.io/kube-aggregator/pkg/apis/(apiregistration)",
    r"^k8s\.io/metrics/pkg/apis/(metrics)",
)]
META = "k8s.io/apimachinery/pkg/apis/meta/v1"
EXTENSIONS = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/"

# Types with a special JSON or protobuf form, which the library implements by hand.
BUILTINS = {
    (META, "Time"): "Time",
    (META, "MicroTime"): "MicroTime",
    (META, "Duration"): "Duration",
    (META, "FieldsV1"): "FieldsV1",
    ("k8s.io/apimachinery/pkg/api/resource", "Quantity"): "Quantity",
    ("k8s.io/apimachinery/pkg/util/intstr", "IntOrString"): "IntOrString",
    ("k8s.io/apimachinery/pkg/runtime", "RawExtension"): "RawExtension",
    (EXTENSIONS + "v1", "JSON"): "JSON",
    (EXTENSIONS + "v1beta1", "JSON"): "JSON",
}
# Messages that are never fields and have no place among the generated types.
SKIPPED = {(META, "Timestamp"), (META, "TypeMeta")}

GO_SCALARS = {"string": "string", "bool": "bool", "int32": "int32", "int64": "int64", "float64": "double",
              "interface{}": "JSON", "any": "JSON"}


class Problem(Exception):
    """The input has something that this importer cannot represent."""


def folder_and_version(path):
    """("core", "v1") for k8s.io/api/core/v1, and None for a package that is not imported."""
    for pattern in PACKAGE_PATHS:
        match = pattern.match(path)
        if match:
            return match.group(1), match.group(2)
    return None


def label(path):
    """core/v1 for k8s.io/api/core/v1."""
    return "/".join(folder_and_version(path))


def maturity(version):
    """Sorts v2 > v1 > v1beta2 > v1beta1 > v1alpha1."""
    major, stage, minor = re.match(r"^v(\d+)(alpha|beta)?(\d*)$", version).groups()
    return {"alpha": 0, "beta": 1, None: 2}[stage], int(major), int(minor or 0)


def release_key(release):
    """Sorts 1.37.0 > 1.37.0-rc.1 > 1.36.4."""
    numbers, _, stage = release.partition("-")
    return [int(n) for n in numbers.split(".")], not stage, stage


def split_reference(name, package):
    """(package, type) of a type as written in `package`: Volume, or meta/v1.ObjectMeta."""
    return tuple(name.split(".")) if "." in name else (package, name)
